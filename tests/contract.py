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
# How X, X* and y are read, for a family whose members do not override `fit`.
READING = {
    "check_classifier_data_not_an_array",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_feature_names",
    "check_float32_input",
    "check_labels_of_any_type",
    "check_lists_and_data_frames",
    "check_readonly_input",
    "check_sparse_X_equals_dense",
    "check_sparse_privileged_equals_dense",
    "check_supervised_y_2d",
}


def check_core(estimator, left_out=()):
    """Ask for both contracts, less what is asked of the family and `left_out`."""
    check_scikit_learn_core(estimator, left_out)
    for name, check in privileged_estimator_checks(estimator):
        if name not in {*OF_THE_FAMILY, *left_out}:
            check(estimator)


def check_scikit_learn_core(estimator, left_out=()):
    """Ask for scikit-learn's contract alone."""
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
