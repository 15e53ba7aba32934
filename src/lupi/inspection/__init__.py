"""Displays of models and results, with the interface of scikit-learn's displays.

``from_estimator`` or ``from_results`` computes and draws; ``plot`` draws again, on
given axes or on a new figure. The computed values are attributes of the display.
"""

from lupi.inspection._boosting_surface import BoostingSurfaceDisplay
from lupi.inspection._boosting_trace import BoostingTraceDisplay
from lupi.inspection._cca_quality import CCAQualityDisplay
from lupi.inspection._column_gains import ColumnGainDisplay
from lupi.inspection._fairness_frontier import FairnessFrontierDisplay
from lupi.inspection._gain import GainDisplay
from lupi.inspection._learning_curve import PrivilegedLearningCurveDisplay
from lupi.inspection._online_error import OnlineErrorDisplay
from lupi.inspection._spaces import SpacesDisplay

__all__ = [
    "BoostingSurfaceDisplay",
    "BoostingTraceDisplay",
    "CCAQualityDisplay",
    "ColumnGainDisplay",
    "FairnessFrontierDisplay",
    "GainDisplay",
    "OnlineErrorDisplay",
    "PrivilegedLearningCurveDisplay",
    "SpacesDisplay",
]
