"""Seeing what a model does: displays in the manner of scikit-learn's.

``from_estimator`` or ``from_results`` computes and draws; ``plot`` draws again, on axes
of your own if you give them; what was computed stays on the display as arrays.
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
