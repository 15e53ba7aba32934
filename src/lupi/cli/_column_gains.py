"""``lupi compare --columns``: the gains of single privileged columns."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lupi._tables import TableError, resolve_columns
from lupi.cli._data import Data
from lupi.cli._errors import InputError, refusing
from lupi.evaluation import ColumnGains, Comparison
from lupi.evaluation._followups import column_groups
from lupi.evaluation._scoring import metric_name
from lupi.report._columns import HEADINGS, gain_lines

CHECKPOINT = "unfinished-columns.jsonl"
WIDE = 72


@refusing(TableError, ValueError)
def read_groups(
    asked: bool, words: list[str], data: Data
) -> dict[str, list[str]] | None:
    """Return the groups of privileged columns to measure; None if not requested."""
    if not (asked or words) or data.privileged is None:
        return None
    names = list(data.privileged.columns)
    groups: dict[str, list[str]] = {}
    for word in words:
        name, mark, patterns = word.partition("=")
        if not (mark and name.strip() and patterns.strip(" ,")):
            raise InputError(
                f"--column-group {word}: write NAME=COLS, such as labs=cd4*,cd8*."
            )
        name = name.strip()
        if name in groups:
            raise InputError(
                f"--column-group: the name {name!r} is given twice; use another name."
            )
        groups[name] = resolve_columns([patterns], names, f"--column-group {name}")
    column_groups(names, groups)
    return groups


def measure_columns(
    console: Console,
    comparison: Comparison,
    groups: dict[str, list[str]] | None,
    out: Path,
    jobs: int,
) -> ColumnGains | None:
    """Measure and print the gains of single columns."""
    if groups is None:
        return None
    gains = comparison.columns(groups, n_jobs=jobs, checkpoint=out / CHECKPOINT)
    show_gains(console, gains)
    return gains


def show_gains(console: Console, gains: ColumnGains) -> None:
    """Print the gains of single columns."""
    console.print(Text("\nWhich privileged column helps?", "bold"))
    console.print(
        Text(
            f"Gain of {gains.method} in {metric_name(gains.scoring)} over the same "
            "model without X*: with each column alone, and with it left out.",
            "dim",
        )
    )
    wide = console.width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("privileged", overflow="fold")
    for heading in HEADINGS[: 3 if wide else 2]:
        table.add_column(heading, justify="right", no_wrap=True)
    for group, *cells in gain_lines(gains):
        table.add_row(Text(group), *(cells if wide else cells[:2]))
    console.print(table)
    console.print(Text(gains.sentence))
