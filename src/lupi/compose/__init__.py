"""Estimators built from other estimators.

- `PrivilegedColumns`: one table in; some of its columns are privileged
- `TransformedPrivileged`: preprocessing of its own for the privileged table
- `LUFeClassifier`: features that selection left out become privileged
"""

from lupi.base._info import models_in

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = list(_MODELS)
