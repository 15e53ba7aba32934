"""Checks of scikit-learn and of the privileged contract."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from lupi.boosting import GBPlusClassifier, IPLClassifier, IPLRegressor
from lupi.testing import check_privileged_estimator

_TIES = (
    "A weight and a repeated row add up in another order; where two splits of a tree "
    "are equally good, the last digit decides between them."
)
_DENSE = "check_sample_weight_equivalence_on_dense_data"
_SPARSE = "check_sample_weight_equivalence_on_sparse_data"
ESTIMATORS = [
    IPLClassifier(n_estimators=20),
    IPLClassifier(n_estimators=20, loss="log_loss"),
    IPLRegressor(n_estimators=20),
    GBPlusClassifier(n_estimators=20),
]


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
        GBPlusClassifier(n_estimators=20, schedule="teacher_first"),
        IPLClassifier(n_estimators=5, engine="xgboost", n_jobs=1),
        IPLRegressor(n_estimators=5, engine="xgboost", n_jobs=1),
    ],
    ids=repr,
)
def test_privileged_contract(estimator):
    check_privileged_estimator(estimator)
