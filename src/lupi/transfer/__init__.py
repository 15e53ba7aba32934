"""Knowledge transfer and distillation: a model of X* trains a model of X.

A teacher, or a set of functions of X*, is learned on the rows that have X*; a student
learns to predict its outputs from x. Both may be any scikit-learn estimators.
"""

from lupi.base._info import models_in
from lupi.transfer._propensity import LabelPropensity, label_propensity

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = ["LabelPropensity", "label_propensity", *_MODELS]
