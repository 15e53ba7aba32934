"""The checks of `lupi.testing`, checked: each fails on an estimator that breaks it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from lupi.base import PrivilegedTags
from lupi.testing import (
    CheckResult,
    check_privileged_estimator,
    privileged_estimator_checks,
)
from tests.broken_toys import BROKEN, ImputesSilently, TrustsTheFirstRows
from tests.toys import LearnsFromAllRows, Line, TaughtClassifier, TaughtRegressor

CHECKS = dict(privileged_estimator_checks(TaughtClassifier()))


def test_every_check_has_an_estimator_that_breaks_it():
    assert set(BROKEN) == set(CHECKS)
    assert len(CHECKS) >= 15


@pytest.mark.parametrize("name", CHECKS)
def test_the_check_sees_the_fault(name):
    with pytest.raises((AssertionError, ValueError)):
        CHECKS[name](BROKEN[name]())


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize(
    "estimator", [TaughtClassifier(), TaughtRegressor(), LearnsFromAllRows()], ids=repr
)
def test_a_correct_estimator_passes(name, estimator):
    checks = dict(privileged_estimator_checks(estimator))
    assert (name in checks) or isinstance(estimator, RegressorMixin)
    if name in checks:
        checks[name](estimator)


def test_all_failures_are_reported_together():
    results = check_privileged_estimator(ImputesSilently(), on_fail="report")
    failed = [result.name for result in results if result.status == "failed"]
    assert failed == ["check_refuses_partly_missing_rows"]
    with pytest.raises(AssertionError, match=r"fails 1 of \d+ checks:\n- check_refu"):
        check_privileged_estimator(ImputesSilently())


class Tagged(TrustsTheFirstRows):
    cannot_hold = {  # noqa: RUF012
        "check_permuted_rows": "early rows count less",
        "check_missing_rows_in_any_order": "early rows count less",
        "check_weight_two_is_a_repeated_row": "early rows count less",
        "check_weight_zero_is_an_absent_row": "early rows count less",
    }

    def __lupi_tags__(self):
        return PrivilegedTags(cannot_hold=self.cannot_hold)


def test_tags_switch_checks_off_by_name_and_reason():
    results = check_privileged_estimator(Tagged())
    off = {r.name: r.reason for r in results if r.status == "cannot hold"}
    assert off == Tagged.cannot_hold
    assert CheckResult(
        "check_permuted_rows", "cannot hold", "early rows count less"
    ) in (results)
    yielded = dict(privileged_estimator_checks(Tagged()))
    assert set(yielded) == set(CHECKS) - set(off)


def test_a_tag_that_names_no_check_is_an_error():
    class Misspelt(TaughtClassifier):
        def __lupi_tags__(self):
            return PrivilegedTags(cannot_hold={"check_permutation": "why not"})

    with pytest.raises(ValueError, match=re.escape("['check_permutation']")):
        check_privileged_estimator(Misspelt())


def test_tolerance_is_the_estimators_own():
    class Rough(TaughtClassifier):
        def _fit_binary(self, part):
            line = super()._fit_binary(part)
            return Line(
                np.round(line.coef, 4), round(line.intercept, 4) + 1e-4 * part.n_rows
            )

    class Allowed(Rough):
        def __lupi_tags__(self):
            return PrivilegedTags(tolerance=0.1)

    name = "check_weight_zero_is_an_absent_row"
    CHECKS[name](Allowed())
    grown = "check_weight_two_is_a_repeated_row"
    with pytest.raises(AssertionError, match="outputs differ by"):
        CHECKS[grown](Rough())
    CHECKS[grown](Allowed())


class Foreign(ClassifierMixin, BaseEstimator):
    """Someone else's estimator, of none of this library's classes."""

    __metadata_request__fit = {"privileged": True}  # noqa: RUF012

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        inner = TaughtClassifier(self.alpha)
        self.inner_ = inner.fit(
            X, y, privileged=privileged, sample_weight=sample_weight
        )
        self.classes_ = self.inner_.classes_
        for name in (
            "n_features_in_",
            "feature_names_in_",
            "n_privileged_features_in_",
            "privileged_feature_names_in_",
        ):
            if hasattr(self.inner_, name):
                setattr(self, name, getattr(self.inner_, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


def test_other_peoples_estimators_can_be_checked():
    results = check_privileged_estimator(Foreign())
    assert {result.status for result in results} == {"passed"}
