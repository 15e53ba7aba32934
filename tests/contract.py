"""Parts of both contracts, for estimators that share their code with others.

All checks of `check_estimator` and `check_privileged_estimator` take hundreds of fits.
One estimator per template of ``fit`` has to pass all of them; the others pass `OWN`,
where their own code decides, or all but `OF_THE_FAMILY`. `make test-slow` runs all
checks on all estimators.
"""

from __future__ import annotations

from unittest import SkipTest

from sklearn.utils.estimator_checks import estimator_checks_generator

from lupi.testing import privileged_estimator_checks

OF_THE_FAMILY = {
    # Twenty sparse containers, each with four classes.
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    # Seventeen containers of y.
    "check_complete_y_in_any_container",
    "check_missing_y_in_any_container",
    "check_unlabelled_rows_are_refused_or_used",
    # Tools of scikit-learn that slice X* and pass it on.
    "check_calibration",
    "check_grid_search",
    "check_pipeline",
}
# What a model that only defines its problem can get wrong.
OWN = {
    "check_all_rows_missing_equals_none",
    "check_clone_and_pickle",
    "check_many_classes",
    "check_missing_rows_are_legal",
    "check_permuted_rows",
    "check_privileged_has_an_effect",
    "check_trains_without_privileged",
    "check_weight_two_is_a_repeated_row",
    "check_weight_zero_is_an_absent_row",
}


def check_own(estimator):
    """Run the checks of `OWN`."""
    checks = dict(privileged_estimator_checks(estimator))
    for name in sorted(OWN & set(checks)):
        checks[name](estimator)
    assert len(OWN & set(checks)) >= 5


def check_core(estimator, left_out=()):
    """Run both contracts without the checks of the family and those `left_out`."""
    check_scikit_learn_core(estimator, left_out)
    for name, check in privileged_estimator_checks(estimator):
        if name not in {*OF_THE_FAMILY, *left_out}:
            check(estimator)


def check_scikit_learn_core(estimator, left_out=()):
    """Run scikit-learn's contract without the checks of the family."""
    asked = 0
    for candidate, check in estimator_checks_generator(estimator):
        if check.func.__name__ in {*OF_THE_FAMILY, *left_out}:
            continue
        asked += 1
        try:
            check(candidate)
        except SkipTest:
            continue
    assert asked > 30
