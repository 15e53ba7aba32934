"""How large the parts are, for the scheduler, which moves what is small."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from dask.sizeof import sizeof

from lupi._convex.interior.blocks.local import LocalRows
from lupi.base import Privileged, Training
from lupi.dask._reading import ReadPart
from lupi.transfer._hedge.rows import HedgedRows

# Vectors of the length of the multipliers that the rows of a problem keep.
_KEPT = 12


@sizeof.register(Privileged)
@sizeof.register(Training)
@sizeof.register(ReadPart)
@sizeof.register(HedgedRows)
def _size_of_fields(part: Any) -> int:
    return sum(sizeof(getattr(part, field.name)) for field in fields(part))


@sizeof.register(LocalRows)
def _size_of_rows(rows: LocalRows) -> int:
    spaces = [f.space for f in rows.parts.functions if f.space is not None]
    return sum(sizeof(s.matrix) for s in spaces) + 8 * _KEPT * rows.parts.size
