"""Boosted trees with privileged information: IPL, sparse IPL and GB+."""

from lupi.boosting._gbplus import GBPlusClassifier
from lupi.boosting._ipl_classifier import IPLClassifier
from lupi.boosting._ipl_regressor import IPLRegressor

__all__ = ["GBPlusClassifier", "IPLClassifier", "IPLRegressor"]
