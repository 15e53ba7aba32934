"""Comparison of models with and without X*, nested cross-validation, quality of X*.

This package needs pandas and skrub: ``pip install 'lupi[compare]'``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lupi._optional import require

if TYPE_CHECKING:
    from lupi.evaluation._cca import CCAQuality, cca_quality
    from lupi.evaluation._column_gains import ColumnGains
    from lupi.evaluation._column_scores import column_scores
    from lupi.evaluation._compare import compare
    from lupi.evaluation._comparison import Comparison
    from lupi.evaluation._curve import LearningCurve, Worth
    from lupi.evaluation._labels import LabelledSplits
    from lupi.evaluation._methods import Method
    from lupi.evaluation._nested import NestedResult, nested_cross_validate
    from lupi.evaluation._verdict import Verdict

_HOMES = {
    "CCAQuality": "_cca",
    "ColumnGains": "_column_gains",
    "Comparison": "_comparison",
    "LabelledSplits": "_labels",
    "LearningCurve": "_curve",
    "Method": "_methods",
    "NestedResult": "_nested",
    "Verdict": "_verdict",
    "Worth": "_curve",
    "cca_quality": "_cca",
    "column_scores": "_column_scores",
    "compare": "_compare",
    "nested_cross_validate": "_nested",
}

__all__ = [
    "CCAQuality",
    "ColumnGains",
    "Comparison",
    "LabelledSplits",
    "LearningCurve",
    "Method",
    "NestedResult",
    "Verdict",
    "Worth",
    "cca_quality",
    "column_scores",
    "compare",
    "nested_cross_validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("pandas", "lupi.evaluation")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
