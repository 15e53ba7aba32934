"""The output of a comparison in a terminal."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lupi._words import listed
from lupi.evaluation._methods import ARMS
from lupi.evaluation._scoring import metric_name
from lupi.report._words import (
    counted_splits,
    method_verdict,
    outside_words,
    searched_words,
    split_words,
    summary_cells,
    warning_words,
)

if TYPE_CHECKING:
    from lupi.cli._data import Data
    from lupi.evaluation import Comparison
    from lupi.evaluation._study import Study

STYLES = {"helps": "green", "hurts": "red", "failed": "red"}
_WIDE = 116


def make_console(*, stderr: bool = False) -> Console:
    """Return a console; output to a file is wide enough for the tables."""
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=stderr, highlight=False, width=_WIDE)
    return console


def show_data(console: Console, data: Data, study: Study) -> None:
    """Print what is compared, and the number of fits."""
    console.print()
    console.print(Text("Does the privileged information help?", style="bold"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    known = list(data.X.columns)
    table.add_row("data", Text(f"{data.source}, {len(data.X):,} rows"))
    if not data.has_y.all():
        count = int(data.has_y.sum())
        known_rows = f"{count:,} of {len(data.y):,} rows"
        auc = study.settings["labels"]["auc"]
        if np.isfinite(auc):
            known_rows += f"; AUC against the others {auc:.2f} (0.5 means alike)"
        table.add_row("with an outcome", Text(known_rows))
    table.add_row("target", Text(f"{data.target} ({data.task})"))
    table.add_row(
        "known when predicting", Text(f"{len(known)}: {listed(known, most=10)}")
    )
    if data.privileged is not None:
        names = list(data.privileged.columns)
        table.add_row("privileged", Text(f"{len(names)}: {listed(names, most=10)}"))
    table.add_row("budget", Text(_budget(study)))
    console.print(table)
    if data.about:
        console.print(Text(f"\n{data.about}", style="italic"))
    show_notes(console, data.notes)
    console.print()


def _budget(study: Study) -> str:
    """Return the number of fits in words."""
    counts = {
        method.name: max(len(study.candidates(method, arm)) for arm in ARMS)
        for method in study.methods
    }
    fits = sum(
        1 if count == 1 else count * study.inner_cv + 1 for count in counts.values()
    )
    searched = sorted({count for count in counts.values() if count > 1})
    search = "no parameters to search"
    if searched:
        search = (
            f"up to {searched[-1]} candidates on {study.inner_cv} inner folds of "
            f"{searched_words(study.settings['search'])}"
        )
    names = f"{len(counts)} methods" if len(counts) > 1 else next(iter(counts))
    return (
        f"{names} in {len(ARMS)} arms on {counted_splits(study.settings)}, {search}: "
        f"at most {fits * len(ARMS) * len(study.splits):,} fits"
    )


def outcome_note(data: Data, use: str) -> str:
    """Return a note on the rows without an outcome."""
    count = int((~data.has_y).sum())
    return (
        f"{count:,} of {len(data.y):,} rows have no outcome (the cell of "
        f"{data.target!r} is empty): {use}."
    )


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the distinct warnings raised inside, instead of printing them."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said.extend(dict.fromkeys(str(item.message) for item in caught))


def show_notes(console: Console, notes: list[str]) -> None:
    """Print notes."""
    for note in notes:
        console.print(Text(f"note: {note}", style="yellow"))


def show_comparison(console: Console, comparison: Comparison) -> None:
    """Print the table and the verdict."""
    settings = comparison.settings
    metric = metric_name(settings["scoring"])
    console.print(Text(f"{metric}, higher is better; {split_words(settings)}.", "dim"))
    console.print(_table(comparison, wide=console.width >= _WIDE))
    for name, why in comparison.failures.items():
        console.print(Text(f"{name} could not be fitted: {why}", style="red"))
    verdict = comparison.verdict
    body = Text(verdict.headline, style="bold")
    body.append("\n\n" + verdict.sentence, style="not bold")
    style = STYLES.get(verdict.kind, "cyan")
    console.print(
        Panel(body, title="verdict", border_style=style, padding=(1, 2), expand=False)
    )
    for step in comparison.next_steps(command_line=True):
        console.print(Text.assemble(("next    ", "dim"), step))
    for item in comparison.warnings:
        said = warning_words(item)
        if not said.startswith(item["method"]):
            said = f"{item['method']}: {said}"
        console.print(Text(f"note: {said}", style="dim yellow"))


def show_outside(console: Console, comparison: Comparison) -> None:
    """Print the external baseline."""
    if comparison.settings.get("outside"):
        said = outside_words(comparison.settings["outside"])
        console.print(Text.assemble(("baseline ", "dim"), said))


def _table(comparison: Comparison, *, wide: bool) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1) if wide else (0, 1, 0, 0),
        pad_edge=wide,
        header_style="bold",
    )
    table.add_column("method", no_wrap=True)
    for arm in ARMS:
        table.add_column(arm, justify="right", no_wrap=True)
    for heading in ("gain", "p", "gap closed")[: 3 if wide else 2]:
        table.add_column(heading, justify="right", no_wrap=True)
    for line in comparison.summary.to_dict("records"):
        verdict = line["verdict"]
        width = 26 if wide else 20
        name = Text(_in_lines(line["method"], width))
        said = "\n".join(textwrap.wrap(method_verdict(line), width))
        name.append(f"\n{said}", style=STYLES.get(verdict, "dim"))
        _, *cells = summary_cells(line)
        cells = cells if wide else cells[:-1]
        table.add_row(name, *cells, style="bold" if verdict == "helps" else "")
    return table


def _in_lines(name: str, width: int = 20) -> str:
    r"""Return a class name with line breaks between its words.

    Examples
    --------
    >>> _in_lines("KnowledgeTransferClassifier")
    'KnowledgeTransfer\nClassifier'
    """
    lines = [""]
    for word in re.findall(r".+?(?<![A-Z])(?=[A-Z])|.+", name):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)
