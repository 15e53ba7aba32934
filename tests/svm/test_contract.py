"""Checks of scikit-learn and of the privileged contract, for the whole family."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

import lupi.svm
from lupi.svm import HardMarginSVC, MarginTransferSVC, SVCDeltaPlus
from lupi.testing import check_privileged_estimator

VARIANTS = [
    SVCDeltaPlus(slack="hinge"),
    MarginTransferSVC(method="sharmanska"),
]
# Nothing to be privileged about: its slacks come as fit(X, y, slacks=...).
WITHOUT_PRIVILEGED = (HardMarginSVC,)
# With its default delta it finds no use for X* on the data of the checks.
SETTINGS = {"MarginTransferSVC": {"delta": 10.0}}
ESTIMATORS = [
    getattr(lupi.svm, name)(**SETTINGS.get(name, {})) for name in lupi.svm.__all__
] + [pytest.param(variant, marks=pytest.mark.slow) for variant in VARIANTS]

_INSEPARABLE = "No hard margin exists: the labels of this check are random."
EXCUSED = {
    HardMarginSVC: dict.fromkeys(
        (
            "check_estimator_sparse_tag",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
            "check_fit_check_is_fitted",
            "check_n_features_in",
        ),
        _INSEPARABLE,
    )
}


@pytest.mark.filterwarnings("ignore:.*no sensitive_features")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_scikit_learn(estimator):
    results = check_estimator(
        estimator,
        expected_failed_checks=EXCUSED.get(type(estimator)),
        on_fail=None,
        on_skip=None,
    )
    failed = {
        r["check_name"]: r["exception"] for r in results if r["status"] == "failed"
    }
    assert not failed
    assert len(results) > 40


@pytest.mark.parametrize(
    "estimator",
    [e for e in ESTIMATORS if not isinstance(e, WITHOUT_PRIVILEGED)],
    ids=repr,
)
def test_privileged_contract(estimator):
    check_privileged_estimator(estimator)
