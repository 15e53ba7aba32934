"""Displays of models and results, with the interface of scikit-learn's displays.

``from_estimator`` or ``from_results`` computes and draws; ``plot`` draws again, on
given axes or on a new figure. The computed values are attributes of the display.
"""

from lupi.inspection._comparison import (
    ColumnGainDisplay,
    GainDisplay,
    PrivilegedLearningCurveDisplay,
)
from lupi.inspection._spaces import SpacesDisplay

__all__ = [
    "ColumnGainDisplay",
    "GainDisplay",
    "PrivilegedLearningCurveDisplay",
    "SpacesDisplay",
]
