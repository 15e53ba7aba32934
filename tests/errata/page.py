"""The numbers of docs/errata.md, for comparison with what a test computes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

DOCS = Path(__file__).parents[2] / "docs"
PRINTED: dict[str, list[str]] = tomllib.loads(
    (DOCS / "errata.toml").read_text(encoding="utf-8")
)


def page_says(key, *values, within=0.0):
    """Check numbers of the page, to the digits that it prints.

    ``values`` are those under ``key`` in docs/errata.toml, which the page shows, when
    rounded. The last digit may be off by one: half of it is the rounding of the page,
    the rest is for the accuracy of solvers, and for a case that they put on the other
    side of a threshold. Trees may differ a little from one release of scikit-learn to
    the next: their numbers may be off by ``within``.
    """
    for number, value in zip(PRINTED[key], values, strict=True):
        plain = number.replace("−", "-").replace(" ", "")
        unit = 10.0 ** -len(plain.partition(".")[2])
        difference = abs(float(plain) - np.asarray(value).item())
        assert difference <= 1.001 * unit + within, (key, number, value)
