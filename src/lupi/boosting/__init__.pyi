# Written by .ci/stubs.py: run `make format`.
from lupi.boosting._gbplus import GBPlusClassifier
from lupi.boosting._ipl_classifier import IPLClassifier
from lupi.boosting._ipl_regressor import IPLRegressor

_MODELS: dict[str, type]

__all__ = [
    "GBPlusClassifier",
    "IPLClassifier",
    "IPLRegressor",
]
