"""The models of the library."""

from __future__ import annotations

import lupi

MODELS: list[type] = [
    getattr(lupi, name)
    for name in lupi.__all__
    if hasattr(getattr(lupi, name), "__lupi_info__")
]
