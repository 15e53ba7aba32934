"""The fitted state changes in one step: a refit that is interrupted changes nothing."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import StandardScaler

import lupi
from lupi.base import atomic_fit
from tests.toys import TaughtClassifier, TaughtRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
P = X[:, :2] + RNG.normal(size=(40, 2))
Y = (P.sum(axis=1) > 0).astype(int)
Z = np.array(["a", "b"])[(RNG.random(40) > 0.5).astype(int)]
# Another width, other labels, no X*: whatever of these is left behind would be seen.
OTHER = RNG.normal(size=(30, 4))
LABELS = np.array(["no", "perhaps", "yes"])[np.arange(30) % 3]
TREES = {"n_estimators": 3, "random_state": 0}


class Interrupted(BaseException):
    """As KeyboardInterrupt is: no handler of ordinary errors may catch it."""


def run(action, at):
    """Call `action`, interrupted at the call number `at` of a function of lupi.

    Returns how many calls there were.
    """
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        if event != "call" or "lupi" not in frame.f_globals.get("__name__", ""):
            return
        # What ends a `with` block is left alone, as it must be in any program.
        if frame.f_code.co_flags & 0x20 or frame.f_code.co_name == "__exit__":
            return
        calls += 1
        if calls == at:
            raise Interrupted

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


def snapshot(model):
    """What can be seen of a model from outside."""
    seen = dict(vars(model))
    outputs = [model.predict(X)]
    if hasattr(model, "decision_function"):
        outputs.append(model.decision_function(X))
    return seen, outputs


CASES = [
    (TaughtClassifier(), {"privileged": P}),
    (TaughtRegressor(), {"privileged": P}),
    *[
        (getattr(lupi, name)(), {"privileged": P})
        for name in (
            "SVCPlus",
            "MarginTransferSVC",
            "SVRPlus",
            "LinearSVCPlus",
            "KnowledgeTransferClassifier",
            "GeneralizedDistillationClassifier",
        )
    ],
    # They share `fit` with one of those above.
    *[
        pytest.param(getattr(lupi, name)(), {"privileged": P}, marks=pytest.mark.slow)
        for name in (
            "SVCDeltaPlus",
            "DeviationSVCPlus",
            "UnifiedSVC",
            "L2SVCPlus",
            "LinearSVCDeltaPlus",
            "LinearSVRPlus",
            "GeneralizedDistillationRegressor",
        )
    ],
    (lupi.FairSVCDeltaPlus(), {"privileged": P, "sensitive_features": Z}),
    (lupi.HardMarginSVC(gamma=100.0), {}),
    (lupi.IPLClassifier(**TREES), {"privileged": P}),
    (lupi.IPLClassifier(**TREES, warm_start=True), {"privileged": P}),
    (lupi.IPLRegressor(**TREES), {"privileged": P}),
    (lupi.GBPlusClassifier(**TREES), {"privileged": P}),
    (lupi.LUFeClassifier(selector=SelectKBest(k=2)), {"privileged": P}),
    (lupi.TransformedPrivileged(lupi.SVCPlus(), PCA(1)), {"privileged": P}),
    (lupi.PrivilegedColumns(lupi.SVCPlus(), columns=[1]), {}),
    (lupi.KnowledgeBasedSVC(advice="x0 >= 2 => 1"), {}),
    (lupi.Adviceptron(advice="x0 >= 2 => 1"), {}),
]


@pytest.mark.parametrize(
    ("estimator", "arguments"),
    CASES,
    ids=lambda v: "" if isinstance(v, dict) else repr(v),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_interrupted_refit_leaves_the_model_as_it_was(estimator, arguments):
    y = X[:, 0] if type(estimator).__name__.endswith(("SVRPlus", "Regressor")) else Y
    model = estimator.fit(X, y, **arguments)
    if getattr(model, "warm_start", False):
        model.set_params(n_estimators=6)
        again = (X, y, arguments)
    elif y is not Y:
        again = (OTHER, OTHER[:, 0], {})
    elif getattr(model, "advice", None):
        again = (OTHER, np.arange(30) % 2, {})
    else:
        again = (OTHER, LABELS, {})
    attributes, expected = snapshot(model)
    copy = pickle.loads(pickle.dumps(model))
    copy.fit(*again[:2], **again[2])  # what is imported or compiled is so from here on
    copy = pickle.loads(pickle.dumps(model))
    total = run(lambda: copy.fit(*again[:2], **again[2]), 0)
    for at in np.unique(np.linspace(1, 0.95 * total, 3).astype(int)):
        with pytest.raises(Interrupted):
            run(lambda: model.fit(*again[:2], **again[2]), at)
        now, outputs = snapshot(model)
        assert now.keys() == attributes.keys()
        assert all(now[name] is value for name, value in attributes.items())
        for output, value in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(output, value)
    # The model is not stuck: the same refit goes through when nobody interrupts.
    model.fit(*again[:2], **again[2])
    fresh = clone(model)
    if not getattr(model, "warm_start", False):
        fresh.fit(*again[:2], **again[2])
        assert vars(model).keys() == vars(fresh).keys()
        np.testing.assert_array_equal(model.predict(again[0]), fresh.predict(again[0]))


def test_partial_fit_is_interrupted_between_batches():
    model = lupi.Adviceptron().partial_fit(X[:20], Y[:20], classes=[0, 1])
    weights = model._weights.copy()
    total = run(lambda: lupi.Adviceptron().fit(X, Y), 0)
    for at in range(1, total):
        try:
            run(lambda: model.partial_fit(X[20:], Y[20:]), at)
        except Interrupted:
            np.testing.assert_array_equal(model._weights, weights)
            assert model.n_rows_seen_ == 20
        else:
            break
    assert at > 3
    assert model.n_rows_seen_ == 40


def test_nothing_of_an_earlier_fit_survives():
    model = lupi.KnowledgeTransferClassifier().fit(X, Y, privileged=P)
    assert hasattr(model, "_frame_means")
    fresh = lupi.KnowledgeTransferClassifier().fit(X, Y)
    assert vars(model.fit(X, Y)).keys() == vars(fresh).keys()


class Scaled(BaseEstimator):
    """An author's estimator whose fit calls that of its base."""

    @atomic_fit
    def fit(self, X, y=None):
        self.scaler_ = StandardScaler().fit(X)


class Named(Scaled):
    @atomic_fit
    def fit(self, X, y=None, name=None):
        if name is not None:
            self.name_ = name
        super().fit(X)


class Marked(Scaled):
    def fit(self, X, y=None):
        self.mark_ = "before"
        return super().fit(X)


def test_a_fit_may_call_the_fit_of_its_base():
    model = Named().fit(X, name="first")
    assert model.name_ == "first"
    assert model.scaler_.n_features_in_ == 3
    assert not hasattr(model.fit(OTHER), "name_")
    assert model.scaler_.n_features_in_ == 4
    # What an undecorated fit sets before it calls the base is not lost.
    assert Marked().fit(X).mark_ == Marked().fit(X).fit(X).mark_ == "before"


def test_what_the_user_set_stays():
    model = Scaled()
    model.note = "mine"
    assert model.fit(X).fit(X).note == "mine"
