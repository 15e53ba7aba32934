"""Boosted trees with privileged information: IPL, sparse IPL and GB+."""

from lupi.boosting._gbplus import GBPlusClassifier
from lupi.boosting._ipl import IPLClassifier, IPLRegressor

__all__ = ["GBPlusClassifier", "IPLClassifier", "IPLRegressor"]
