"""The SVM+ family, one file per paper."""

from lupi.base._info import models_in

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = list(_MODELS)
