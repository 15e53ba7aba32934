"""Estimators built from other estimators.

- `PrivilegedColumns`: some columns of a single table are privileged
- `TransformedPrivileged`: preprocessing of the privileged table
- `LUFeClassifier`: the features that a selection leaves out are privileged
"""

from lupi.base._info import models_in

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = list(_MODELS)
