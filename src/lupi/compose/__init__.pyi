# Written by .ci/stubs.py: run `make format`.
from lupi.compose._columns import PrivilegedColumns
from lupi.compose._lufe import LUFeClassifier
from lupi.compose._transformed import TransformedPrivileged

_MODELS: dict[str, type]

__all__ = [
    "LUFeClassifier",
    "PrivilegedColumns",
    "TransformedPrivileged",
]
