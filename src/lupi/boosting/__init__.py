"""Boosted trees with privileged information: IPL, sparse IPL and GB+."""

from lupi.base._info import models_in

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = list(_MODELS)
