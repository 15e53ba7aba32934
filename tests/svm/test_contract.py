"""Checks of scikit-learn and of the privileged contract, for the whole family."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

import lupi.svm
from lupi.svm import FairSVCDeltaPlus, HardMarginSVC, MarginTransferSVC, SVCDeltaPlus
from lupi.testing import check_privileged_estimator
from tests.contract import check_own, check_scikit_learn_core
from tests.marks import slow

VARIANTS = [
    SVCDeltaPlus(slack="hinge"),
    MarginTransferSVC(method="sharmanska"),
]
# With its default delta it finds no use for X* on the data of the checks.
SETTINGS = {"MarginTransferSVC": {"delta": 10.0}}
# One for each template of fit: the others only define their problem.
THOROUGH = ("SVCPlus", "SVRPlus")
OTHERS = [
    getattr(lupi.svm, name)(**SETTINGS.get(name, {}))
    for name in lupi.svm.__all__
    if name not in THOROUGH
]
ESTIMATORS = [
    *(getattr(lupi.svm, name)() for name in THOROUGH),
    *slow(*OTHERS, *VARIANTS),
]

# Nothing to be privileged about: its slacks come as fit(X, y, slacks=...).
PRIVILEGED = [each for each in OTHERS if not isinstance(each, HardMarginSVC)]
# Its core is checked.
ONLY_PROBLEMS = [each for each in PRIVILEGED if not isinstance(each, FairSVCDeltaPlus)]

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


@pytest.mark.parametrize("estimator", ONLY_PROBLEMS, ids=repr)
def test_own_checks(estimator):
    check_own(estimator)


@pytest.mark.filterwarnings("ignore:.*no sensitive_features")
def test_core_of_the_fair_model():
    """It has a fit of its own, which passes one more argument on."""
    check_scikit_learn_core(FairSVCDeltaPlus())
    check_own(FairSVCDeltaPlus())


@pytest.mark.slow
def test_core_of_the_hard_margin():
    check_scikit_learn_core(HardMarginSVC(), left_out=EXCUSED[HardMarginSVC])


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
    [*ESTIMATORS[: len(THOROUGH)], *slow(*PRIVILEGED, *VARIANTS)],
    ids=repr,
)
def test_privileged_contract(estimator):
    check_privileged_estimator(estimator)
