"""Models do not learn from rounding, and say when they have learned nothing."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

import lupi
from lupi.kernels import settle_kernel
from tests.marks import slow
from tests.models import MODELS

RNG = np.random.default_rng(0)


def scale(rows):
    rows = rows if sp.issparse(rows) else np.asarray(rows)
    return settle_kernel("rbf", "scale", 3, 0.0, rows, np.ones(rows.shape[0])).gamma


@pytest.mark.parametrize("value", [0.1, 1e-10, 1e10, 1 / 3])
def test_a_constant_has_no_scale(value):
    table = np.full((97, 3), value)
    assert scale(table) == scale(sp.csr_matrix(table)) == 1.0
    # Nor has what differs from it by rounding alone.
    assert scale(table * (1 + 1e-16 * RNG.integers(-9, 9, size=table.shape))) == 1.0
    # Half of the values a millionth larger is variation.
    table[::2] *= 1 + 1e-6
    spread = 0.25 * (1e-6 * value) ** 2
    np.testing.assert_allclose(scale(table), 1 / (3 * spread), rtol=0.05)


def separated(n=50):
    """X* that an SVM of its kernel separates with every row on the margin."""
    X = RNG.normal(size=(n, 2))
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X[:, 0] += 0.5 * y
    return X, y, RNG.normal(size=(n, 3))


@pytest.mark.parametrize("change", ["order", "thirteenth digit"])
def test_deviations_that_are_rounding_are_not_learned_from(change):
    X, y, P = separated()
    fixed = {"privileged_gamma": 50.0, "privileged_C": 10.0, "tol": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = lupi.DeviationSVCPlus(**fixed).fit(X, y, privileged=P)
        order = RNG.permutation(len(y)) if change == "order" else np.arange(len(y))
        other = P * (1 + 1e-13) if change != "order" else P
        again = lupi.DeviationSVCPlus(**fixed)
        again.fit(X[order], y[order], privileged=other[order])
    new = RNG.normal(size=(50, 2))
    np.testing.assert_allclose(
        again.decision_function(new), expected.decision_function(new), atol=1e-4
    )


def trivial(n=160):
    """Rows on which a positive linear function of X* cannot follow the violations."""
    X = RNG.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.3 * RNG.normal(size=n) > 0, 1, -1)
    return X, y, RNG.normal(size=(n, 2))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_a_constant_decision_function_is_exactly_constant(container):
    X, y, P = trivial()
    with pytest.warns(UserWarning, match="constant decision function"):
        model = lupi.LinearSVCPlus().fit(container(X), y, privileged=P)
    assert np.ptp(model.decision_function(container(X))) == 0.0
    assert len(set(model.predict(container(X)))) == 1
    assert not model.coef_.any()


@pytest.mark.parametrize("C", [1e-7, 1e-9])
@pytest.mark.parametrize("name", ["SVCPlus", "LinearSVCPlus", "SVCDeltaPlus"])
def test_a_small_cost_makes_a_small_function_and_not_a_trivial_one(name, C):
    X, y, _ = trivial()
    violation = np.maximum(0, 1 - y * X[:, 0])[:, None]
    kernels = {} if name == "LinearSVCPlus" else {"kernel": "linear"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*correcting function is zero")
        model = getattr(lupi, name)(C=C, **kernels).fit(X, y, privileged=violation)
    assert roc_auc_score(y, model.decision_function(X)) > 0.8


MACHINES = [
    kind
    for kind in MODELS
    if kind.__name__ in lupi.svm.__all__
    and kind not in (lupi.FairSVCDeltaPlus, lupi.HardMarginSVC)
]
EVERY_PARAMETER = {
    name for kind in MODELS for name in kind.__init__.__annotations__
} - {"return"}


@pytest.mark.parametrize("kind", MACHINES, ids=lambda kind: kind.__name__)
def test_advice_in_a_warning_names_parameters_that_the_estimator_has(kind):
    X, y, P = trivial(60)
    target = X[:, 0] if kind.__name__.endswith("SVRPlus") else y
    said = []
    for options in (
        {"max_iter": 1, "tol": 1e-16},
        {"privileged_reg": 1e12},
        {"C": 1e-3},
    ):
        if set(options) - set(kind().get_params()):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kind(**options).fit(X, target, privileged=P)
        said += [str(warning.message) for warning in caught]
    assert said
    words = {word for text in said for word in re.findall(r"\b[a-zA-Z_]+\b", text)}
    named = (words & EVERY_PARAMETER) - {"slack", "method", "kernel"}
    assert named <= set(kind().get_params())


@pytest.mark.parametrize("name", ["MarginTransferSVC", "DeviationSVCPlus"])
def test_every_stage_is_certified(name):
    X, y, P = trivial(80)
    model = getattr(lupi, name)().fit(X, y, privileged=P)
    relative = model.privileged_duality_gap_ / model.privileged_objective_
    assert relative.shape == (1,)
    assert relative <= 1e-6
    assert model.converged_.all()
    assert model.privileged_converged_.all()
    # The stage on X* is the C-SVM there.
    alone = lupi.SVCPlus().fit(P, y)
    np.testing.assert_allclose(model.privileged_objective_, alone.objective_, rtol=2e-6)
    without = getattr(lupi, name)().fit(X, y)
    assert not hasattr(without, "privileged_objective_")


@pytest.mark.parametrize("name", ["MarginTransferSVC", "DeviationSVCPlus"])
def test_a_first_stage_that_has_not_converged_is_not_passed_over(name, monkeypatch):
    X, y, P = trivial(80)
    kind = getattr(lupi, name)
    solve, stages = kind._solve, []

    def stop_early(self, problem):
        self.max_iter, kept = (1 if not stages else self.max_iter), self.max_iter
        stages.append(problem)
        try:
            return solve(self, problem)
        finally:
            self.max_iter = kept

    monkeypatch.setattr(kind, "_solve", stop_early)
    with pytest.warns(ConvergenceWarning):
        model = kind(solver="interior").fit(X, y, privileged=P)
    assert len(stages) == 2
    assert model.privileged_converged_.tolist() == [False]
    assert model.converged_.tolist() == [False]


def test_fairness_without_sensitive_features_is_said():
    X, y, P = trivial(40)
    with pytest.warns(UserWarning, match="given no sensitive_features"):
        lupi.FairSVCDeltaPlus().fit(X, y, privileged=P)


@pytest.mark.filterwarnings("ignore:.*trivial solution")
def test_privileged_rows_that_are_all_missing_are_none_for_the_fair_model():
    X, y, _ = trivial(60)
    group = np.where(X[:, 1] > 0, "a", "b")
    nothing = np.full((60, 2), np.nan)
    one = lupi.FairSVCDeltaPlus().fit(X, y, sensitive_features=group)
    other = lupi.FairSVCDeltaPlus()
    other.fit(X, y, sensitive_features=group, privileged=nothing)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert other.n_privileged_features_in_ == 1


WITHOUT = [
    kind
    for kind in MODELS
    if isinstance(getattr(kind, "predict_proba", None), property)
]


@pytest.mark.parametrize("kind", WITHOUT, ids=lambda kind: kind.__name__)
def test_a_classifier_without_probabilities_says_how_to_get_them(kind):
    with pytest.raises(AttributeError, match="CalibratedClassifierCV") as refusal:
        _ = kind().predict_proba
    assert kind.__name__ in str(refusal.value)


def test_that_line_gives_probabilities():
    from sklearn.calibration import CalibratedClassifierCV

    X, y, P = trivial(60)
    model = CalibratedClassifierCV(lupi.SVCPlus()).fit(X, y, privileged=P)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "name", ["SVCPlus", "DeviationSVCPlus", *slow("SVCDeltaPlus", "UnifiedSVC")]
)
def test_the_interior_point_has_the_support_vectors_of_the_others(name):
    """Above the size up to which problems are solved to the last digit, too."""
    model = getattr(lupi.svm, name)
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(510, 5))
    y = np.where(hidden[:, 0] + 0.5 * rng.normal(size=510) > 0, 1, -1)
    X = hidden + rng.normal(size=(510, 5))
    other = model().fit(X, y, privileged=hidden)
    for tol in (1e-6, 1e-10):
        interior = model(solver="interior", tol=tol).fit(X, y, privileged=hidden)
        assert interior.converged_.all()
        # Up to rows whose margin, or whose coefficient, is within what the gap leaves.
        assert len(interior.support_) == pytest.approx(len(other.support_), rel=0.1)
        more = ~np.isin(interior.support_, other.support_)
        share = np.abs(interior.dual_coef_[0])[more].sum()
        assert share <= 1e-3 * np.abs(interior.dual_coef_).sum()


@pytest.mark.parametrize("model", [lupi.SVCPlus(), lupi.UnifiedSVC(C=10.0)], ids=repr)
def test_the_proximal_method_needs_no_start(model):
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(700, 4))
    signal = np.sin(2.0 * latent[:, 0]) + latent[:, 1] * latent[:, 2] + latent[:, 3]
    y = np.where(signal + rng.normal(size=700) > 0, 1, -1)
    X = latent @ rng.normal(size=(4, 20)) / 2.0 + 0.3 * rng.normal(size=(700, 20))
    P = signal[:, None] * rng.normal(size=20) / 2.0 + rng.normal(size=(700, 20))
    model = clone(model).set_params(gamma=0.05, privileged_gamma=0.05)
    model.set_params(solver="proximal").fit(X, y, privileged=P)
    assert model.duality_gap_[0] <= model.tol * model.objective_[0]
