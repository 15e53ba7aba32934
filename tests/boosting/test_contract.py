"""Checks of scikit-learn and of the privileged contract."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from lupi.boosting import GBPlusClassifier, IPLClassifier, IPLRegressor
from lupi.testing import check_privileged_estimator
from tests.contract import check_core, check_own
from tests.marks import slow

_TIES = (
    "A weight and a repeated row add up in another order; where two splits of a tree "
    "are equally good, the last digit decides between them."
)
_DENSE = "check_sample_weight_equivalence_on_dense_data"
_SPARSE = "check_sample_weight_equivalence_on_sparse_data"
OTHERS = [
    IPLRegressor(n_estimators=5),
    GBPlusClassifier(n_estimators=5),
]
ESTIMATORS = [
    IPLClassifier(n_estimators=5),
    *slow(IPLClassifier(n_estimators=5, loss="log_loss"), *OTHERS),
]


@pytest.mark.parametrize("estimator", OTHERS, ids=repr)
def test_core(estimator):
    check_core(estimator, left_out=(_DENSE, _SPARSE))


def test_own_checks_of_xgboost():
    check_own(IPLClassifier(n_estimators=2, engine="xgboost", n_jobs=1))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_scikit_learn(estimator):
    excused = {_DENSE: _TIES, _SPARSE: _TIES}
    results = check_estimator(
        estimator, expected_failed_checks=excused, on_fail=None, on_skip=None
    )
    assert len(results) > 50
    failed = {
        r["check_name"]: r["exception"] for r in results if r["status"] == "failed"
    }
    assert not failed


@pytest.mark.parametrize(
    "estimator",
    [
        *ESTIMATORS,
        *slow(
            IPLClassifier(n_estimators=5, engine="xgboost", n_jobs=1),
            GBPlusClassifier(n_estimators=5, schedule="teacher_first"),
            IPLRegressor(n_estimators=5, engine="xgboost", n_jobs=1),
        ),
    ],
    ids=repr,
)
def test_privileged_contract(estimator):
    check_privileged_estimator(estimator)
