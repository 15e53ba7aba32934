"""Methods that carry knowledge from X* over to a model of X.

A teacher, or a set of functions, is learned where X* is known; a student learns
from x what the teacher knows. The student may be any scikit-learn estimator.
"""

from lupi.base._info import models_in
from lupi.transfer._propensity import LabelPropensity, label_propensity

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = ["LabelPropensity", "label_propensity", *_MODELS]
