"""Estimators built from other estimators.

- `PrivilegedColumns`: one table in; some of its columns are privileged
- `TransformedPrivileged`: preprocessing of its own for the privileged table
- `LUFeClassifier`: features that selection left out become privileged
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lupi.compose._columns import PrivilegedColumns
from lupi.compose._transformed import TransformedPrivileged

if TYPE_CHECKING:
    from lupi.compose._lufe import LUFeClassifier

__all__ = ["LUFeClassifier", "PrivilegedColumns", "TransformedPrivileged"]


def __getattr__(name: str) -> Any:
    # Its feature selection loads a good deal that the two wrappers do not need.
    if name == "LUFeClassifier":
        from lupi.compose._lufe import LUFeClassifier

        return LUFeClassifier
    raise AttributeError(f"module 'lupi.compose' has no attribute {name!r}")
