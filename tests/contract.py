"""The core of both contracts, for estimators that share their code with others.

What `check_estimator` and `check_privileged_estimator` ask costs hundreds of fits. One
member of a family is asked everything; of the others, the ordinary tests leave out the
checks below, which depend on the shared reading of the input or on scikit-learn's
tools alone. `make test-slow` asks everything of everyone.
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
    "check_cross_validate",
    "check_grid_search",
    "check_learning_curve",
    "check_pipeline",
}


def check_core(estimator, excused=()):
    """Ask for both contracts, less what is asked of the family.

    `excused` has the names of the checks of scikit-learn that cannot hold.
    """
    check_scikit_learn_core(estimator, excused)
    for name, check in privileged_estimator_checks(estimator):
        if name not in OF_THE_FAMILY:
            check(estimator)


def check_scikit_learn_core(estimator, excused=()):
    """Ask for scikit-learn's contract alone, less what is asked of the family."""
    asked = 0
    for candidate, check in estimator_checks_generator(estimator):
        if check.func.__name__ in {*OF_THE_FAMILY, *excused}:
            continue
        asked += 1
        try:
            check(candidate)
        except SkipTest:
            continue
    assert asked > 35
