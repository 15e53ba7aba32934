"""Comparison of models with and without X*, nested cross-validation, quality of X*.

This package needs pandas and skrub: ``pip install 'lupi[compare]'``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lupi._optional import require

if TYPE_CHECKING:
    from lupi.evaluation._compare import (
        ColumnGains,
        Comparison,
        LearningCurve,
        Worth,
        compare,
    )
    from lupi.evaluation._labels import LabelCheck, check_labels
    from lupi.evaluation._measures import (
        CCAQuality,
        NestedResult,
        cca_quality,
        column_scores,
        nested_cross_validate,
    )
    from lupi.evaluation._methods import Method
    from lupi.evaluation._splits import LabelledSplits
    from lupi.evaluation._verdict import Verdict

__all__ = [
    "CCAQuality",
    "ColumnGains",
    "Comparison",
    "LabelCheck",
    "LabelledSplits",
    "LearningCurve",
    "Method",
    "NestedResult",
    "Verdict",
    "Worth",
    "cca_quality",
    "check_labels",
    "column_scores",
    "compare",
    "nested_cross_validate",
]

# Names are imported when they are first used: the displays of `lupi.inspection` use
# modules of this package that need no pandas.
_HOMES = ("_methods", "_splits", "_verdict", "_compare", "_measures", "_labels")


def __getattr__(name: str) -> Any:
    if name in __all__:
        require("pandas", "lupi.evaluation")
        homes = (importlib.import_module(f"{__name__}.{home}") for home in _HOMES)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
