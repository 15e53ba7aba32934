"""The parts of the page, as the template reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lupi.report._charts import Curve, Mark, Scale, Tick
from lupi.report._words import MEANINGS

# Per method, the points of its learning curve: ``n_train`` and the score of each row.
Curves = Mapping[str, Sequence[Mapping[str, float]]]


@dataclass(frozen=True)
class Usage:
    """How the reader gets from the page to predictions.

    Attributes
    ----------
    source : str
        What was compared: a file, or the name of a data set.
    model : str or None
        Path of the saved model as the reader would write it; None when none is saved.
    commands : mapping of str to str
        Per method, the command that fits and saves it, for the reader to copy.

    Examples
    --------
    >>> from lupi.report import Usage
    >>> Usage("patients.csv", model="model.skops").source
    'patients.csv'
    """

    source: str = "data"
    model: str | None = None
    commands: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Dot:
    """One split of the rows in the chart of differences."""

    at: float
    y: float
    text: str


@dataclass(frozen=True)
class FoldChart:
    """The paired difference of every split, and their mean."""

    scale: Scale
    zero: float
    dots: list[Dot]
    mean: Mark | None
    caption: str
    note: str
    summary: str


@dataclass(frozen=True)
class CurveChart:
    """Scores with and without X* over the number of training rows."""

    height: int
    curves: list[Curve]
    row_ticks: list[Tick]
    score_ticks: tuple[Tick, ...]
    note: str
    summary: str


@dataclass(frozen=True)
class Column:
    """A column of the printed table."""

    name: str
    number: bool = True


@dataclass(frozen=True)
class CodePart:
    """How to save a model and use it."""

    sentences: list[str]
    command: str | None
    code: str


@dataclass(frozen=True)
class MethodPart:
    """Everything the page says about one method."""

    name: str
    verdict: str
    verdict_class: str
    paper: str
    failure: str | None
    warnings: list[str]
    marks: list[Mark]
    folds: FoldChart | None
    curve: CurveChart | None
    parameters: list[tuple[str, str]]
    timing: str
    splits: list[list[str]]
    usage: CodePart | None


@dataclass(frozen=True)
class Page:
    """Everything the template prints."""

    title: str
    headline: str
    support: list[str]
    verdict_class: str
    warnings: list[str]
    facts: list[tuple[str, str]]
    legend: list[tuple[str, str]]
    axis: str
    chart_caption: str
    scale: Scale
    methods: list[MethodPart]
    rows: list[list[str]]
    usage: CodePart
    footer: str
    parameters_heading: str
    test_note: str
    columns: Sequence[Column] = ()
    table_notes: list[str] = field(default_factory=list)
    reading: Sequence[tuple[str, str]] = MEANINGS
