"""Which estimators take an argument, with metadata routing on and off."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SequentialFeatureSelector,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi.compose import TransformedPrivileged
from lupi.transfer import GeneralizedDistillationClassifier

LINE = LogisticRegression()


class OwnRFECV(RFECV):
    """Somebody's refinement of a selector."""


def answered(kind):
    """A wrapper whose scorer has been told to take weights, where it can be told."""
    scorer = get_scorer("f1")
    if sklearn.get_config()["enable_metadata_routing"]:
        scorer.set_score_request(sample_weight=True)
    return kind(clone(LINE), cv=2, scoring=scorer)


WRAPPERS = {
    "search": (GridSearchCV(LINE, {"C": [1.0, 2.0]}, cv=2), True, True),
    "rfe": (RFE(LINE), True, True),
    "from model": (SelectFromModel(LINE), True, True),
    "frozen": (
        lambda: FrozenEstimator(LogisticRegression().fit(*draw())),
        True,
        True,
    ),
    # Whether its scorer wants to be asked first depends on scikit-learn's version.
    "rfecv": (RFECV(LINE, cv=2), False, None),
    "own rfecv": (OwnRFECV(LINE, cv=2), False, None),
    "rfecv with an answer for its scorer": (lambda: answered(RFECV), False, True),
    "sequential": (SequentialFeatureSelector(LINE, cv=2), False, True),
    "one against the rest": (OneVsRestClassifier(LINE), False, True),
    "of neighbours": (GridSearchCV(KNeighborsClassifier(), {}), False, False),
    "pipeline": (make_pipeline(StandardScaler(), RFE(LINE)), True, True),
}


def draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, (X[:, 0] + rng.normal(size=40) > 0).astype(int)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_what_accepts_weights_can_be_fitted_with_them(wrapper, routing):
    wrapper, *answers = wrapper
    X, y = draw()
    with sklearn.config_context(enable_metadata_routing=routing):
        wrapper = wrapper() if callable(wrapper) else clone(wrapper)
        model = TransformedPrivileged(wrapper)
        if answers[routing] is False:
            with pytest.raises(ValueError, match="takes no 'sample_weight'"):
                model.fit(X, y, sample_weight=np.ones(40))
        elif answers[routing]:
            model.fit(X, y, sample_weight=np.ones(40))


def test_the_refusal_says_that_routing_would_help():
    X, y = draw()
    model = TransformedPrivileged(OneVsRestClassifier(LINE))
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        model.fit(X, y, sample_weight=np.ones(40))


def test_a_step_that_takes_no_weights_is_passed_by():
    """The weights reach the model at the end; the selection before it has none."""
    X, y = draw()
    student = make_pipeline(RFECV(LINE, cv=2), LINE)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=40)
    model = GeneralizedDistillationClassifier(student=student, imitation_weight=0)
    model.fit(X, y, sample_weight=weight)
    chosen = RFECV(LINE, cv=2).fit(X, y).transform(X)
    by_hand = clone(LINE).fit(chosen, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), by_hand.predict_proba(chosen))
