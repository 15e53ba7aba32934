"""Does it help? Protocols, controls and statistics that answer honestly."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lupi._optional import require

if TYPE_CHECKING:
    from lupi.evaluation._cca import cca_quality
    from lupi.evaluation._compare import compare
    from lupi.evaluation._comparison import Comparison
    from lupi.evaluation._methods import Method
    from lupi.evaluation._nested import nested_cross_validate
    from lupi.evaluation._protocol import count_candidates
    from lupi.evaluation._two_stage import two_stage_search
    from lupi.evaluation._verdict import Verdict

_HOMES = {
    "Comparison": "_comparison",
    "Method": "_methods",
    "Verdict": "_verdict",
    "cca_quality": "_cca",
    "compare": "_compare",
    "count_candidates": "_protocol",
    "nested_cross_validate": "_nested",
    "two_stage_search": "_two_stage",
}

__all__ = [
    "Comparison",
    "Method",
    "Verdict",
    "cca_quality",
    "compare",
    "count_candidates",
    "nested_cross_validate",
    "two_stage_search",
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
