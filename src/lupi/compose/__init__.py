"""Estimators built from other estimators.

- `PrivilegedColumns`: some columns of a single table are privileged
- `TransformedPrivileged`: preprocessing of the privileged table
- `LUFeClassifier`: the features that a selection leaves out are privileged
"""

from lupi.compose._lufe import LUFeClassifier
from lupi.compose._wrappers import PrivilegedColumns, TransformedPrivileged

__all__ = ["LUFeClassifier", "PrivilegedColumns", "TransformedPrivileged"]
