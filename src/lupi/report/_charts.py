"""Where the marks of the report's charts go.

Charts are inline SVG whose horizontal positions are percentages and whose heights are
pixels: they take the width of the screen, from phone to print, while text and marks
keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """A stretch of numbers laid over 0 to 100 percent."""

    low: float
    high: float
    ticks: tuple[Tick, ...] = ()

    def at(self, value: float) -> float:
        """Return where a value stands, in percent, kept inside the frame."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)


def nice_scale(values: Iterable[float], *, around_zero: bool = False) -> Scale:
    """Lay a scale with round ticks over the values, with a little air at both ends.

    Examples
    --------
    >>> [tick.label for tick in nice_scale([0.62, 0.71]).ticks]
    ['0.62', '0.64', '0.66', '0.68', '0.70']
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if around_zero:
        finite.append(0.0)
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    spread = (high - low) or abs(high) or 1.0
    low, high = low - 0.06 * spread, high + 0.06 * spread
    step = _round_step(high - low)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    scale = Scale(low, high)
    ticks = tuple(
        # Adding zero turns -0.0 into 0.0, which would be written with its sign.
        Tick(scale.at(k * step), f"{k * step + 0.0:.{digits}f}")
        for k in range(first, last + 1)
    )
    return Scale(low, high, ticks)


def _round_step(spread: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that cuts in 4 or more."""
    power = 10.0 ** math.floor(math.log10(spread))
    steps = (factor * power for factor in (1, 0.5, 0.2, 0.1))
    return next(step for step in steps if spread / step >= 4)


@dataclass(frozen=True)
class Mark:
    """One score with its standard error, as a dot between whiskers."""

    kind: str
    at: float
    low: float
    high: float
    text: str


def marks(
    scores: Sequence[tuple[str, str, float | None, float | None]], scale: Scale
) -> list[Mark]:
    """Place (kind, label, mean, standard error) on the scale; absent ones are left out.

    Examples
    --------
    >>> scale = nice_scale([0.5, 0.7])
    >>> marks([("without", "without", 0.6, 0.02)], scale)[0].text
    'without: 0.600 ± 0.020'
    """
    placed = []
    for kind, label, mean, error in scores:
        if mean is None or not math.isfinite(mean):
            continue
        spread = error if error is not None and math.isfinite(error) else 0.0
        placed.append(
            Mark(
                kind,
                scale.at(mean),
                scale.at(mean - spread),
                scale.at(mean + spread),
                f"{label}: {mean:.3f} ± {spread:.3f}",
            )
        )
    return placed


@dataclass(frozen=True)
class Line:
    """A straight piece of a curve: percent across, pixels down."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Curve:
    """One kind of score over the number of training rows."""

    kind: str
    label: str
    lines: tuple[Line, ...]
    points: tuple[tuple[float, float, str], ...]


def learning_curves(
    curves: Sequence[tuple[str, str, Sequence[tuple[float, float]]]], height: float
) -> tuple[list[Curve], list[Tick], tuple[Tick, ...]]:
    """Lay curves of (training rows, score) out; rows on a logarithmic axis.

    Returns the curves, the ticks of the rows (percent) and of the scores (pixels).
    """
    sizes = sorted({size for _, _, points in curves for size, _ in points})
    logs = [math.log(size) for size in sizes]
    across = Scale(logs[0] - 0.08, logs[-1] + 0.08)
    up = nice_scale(score for _, _, points in curves for _, score in points)

    def down(percent: float) -> float:
        return round(height * (1 - percent / 100), 1)

    drawn = []
    for kind, label, points in curves:
        placed = [
            (
                across.at(math.log(size)),
                down(up.at(score)),
                f"{label}, {size:g} rows: {score:.3f}",
            )
            for size, score in points
        ]
        lines = tuple(Line(a[0], a[1], b[0], b[1]) for a, b in pairwise(placed))
        drawn.append(Curve(kind, label, lines, tuple(placed)))
    row_ticks = [Tick(across.at(math.log(size)), f"{size:g}") for size in sizes]
    score_ticks = tuple(Tick(down(tick.at), tick.label) for tick in up.ticks)
    return drawn, row_ticks, score_ticks
