"""Every estimator learns from one or two rows, or says why it does not."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.preprocessing import StandardScaler

from lupi import LinearSVRPlus, PrivilegedColumns, SVRPlus, TransformedPrivileged
from tests.models import MODELS

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
PRIVILEGED = np.array([[1.0, 3.0], [-2.0, 0.5]])
ESTIMATORS = {
    kind.__name__: kind()
    for kind in MODELS
    if kind not in (PrivilegedColumns, TransformedPrivileged)
} | {
    "PrivilegedColumns": PrivilegedColumns(SVRPlus(), columns=[2]),
    "TransformedPrivileged": TransformedPrivileged(SVRPlus(), StandardScaler()),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_few_rows_are_learned_or_refused(name):
    estimator = ESTIMATORS[name]
    tables = [PRIVILEGED, np.where([[True], [False]], PRIVILEGED, np.nan), None]
    if "privileged" not in inspect.signature(estimator.fit).parameters:
        tables = [None]
    learned = 0
    for y in ([0, 1], [1, 1], [1]):
        n = len(y)
        for table in tables:
            given = {} if table is None else {"privileged": table[:n]}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    estimator.fit(X[:n], y, **given)
            except ValueError:  # a sentence; any other error fails the test
                continue
            learned += 1
            assert np.isfinite(estimator.predict(X[:n])).all()
    assert learned > (len(tables) if is_regressor(estimator) else 0)


@pytest.mark.parametrize("kind", [SVRPlus, LinearSVRPlus])
@pytest.mark.parametrize("privileged", [True, False], ids=["with X*", "without X*"])
def test_targets_inside_the_tube_give_a_constant(kind, privileged):
    rng = np.random.default_rng(0)
    X, P, y = rng.normal(size=(9, 2)), rng.normal(size=(9, 1)), rng.uniform(3, 4, 9)
    y[-1] = 100.0
    given = {"privileged": P} if privileged else {}
    weight = np.r_[np.ones(8), 0.0]
    model = kind(epsilon=0.5).fit(X, y, sample_weight=weight, **given)
    middle = (y[:8].min() + y[:8].max()) / 2
    np.testing.assert_allclose(model.predict(X), middle, rtol=1e-15)
    assert model.objective_ == model.duality_gap_ == 0.0
    assert model.converged_
    if privileged:
        assert not model.correction(P).any()
