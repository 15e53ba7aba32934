"""``lupi columns``: how well each column predicts the target on its own."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lupi._atomic import write_atomically
from lupi._tables import to_csv
from lupi._words import listed
from lupi.cli._data import Data, Request, check_metric, read_data
from lupi.cli._errors import refusing
from lupi.cli._out import prepare_file
from lupi.cli._terminal import make_console, show_notes
from lupi.evaluation import column_scores
from lupi.evaluation._measures import MOST_ROWS
from lupi.evaluation._scoring import choose_scorer, metric_name
from lupi.report._words import number

MOST_FOLDS = 5
WIDE = 76


def run_columns(
    request: Request,
    *,
    metric: str | None,
    seed: int,
    jobs: int,
    out: Path | None,
    force: bool,
) -> None:
    """Score every column on its own, and mark suspiciously good ones."""
    data = read_data(request, methods=[], need_privileged=False)
    if out is not None:
        prepare_file(out, force=force)
    console = make_console()
    with console.status(f"Scoring {data.X.shape[1]} columns"):
        scores = _scores(data, metric, seed, jobs)
    _show(console, data, metric, scores)
    if out is not None:
        write_atomically(out, to_csv(scores))
        console.print(Text.assemble(("table   ", "dim"), str(out)))
    _show_next(console, request, data, scores)


@refusing(ValueError)
def _scores(data: Data, metric: str | None, seed: int, jobs: int) -> pd.DataFrame:
    parts = [data.X] if data.privileged is None else [data.X, data.privileged]
    return column_scores(
        pd.concat(parts, axis=1),
        data.y,
        scoring=check_metric(metric),
        groups=data.groups,
        task=data.task,
        random_state=seed,
        n_jobs=jobs,
    )


def _show(
    console: Console, data: Data, metric: str | None, scores: pd.DataFrame
) -> None:
    name = metric_name(choose_scorer(metric, data.task, data.y[data.has_y])[0])
    console.print()
    console.print(
        Text(f"How well does each column predict {data.target} ({data.task})?", "bold")
    )
    show_notes(console, data.notes)
    drawn = f" of {MOST_ROWS:,} rows drawn" if len(data.y) > MOST_ROWS else ""
    console.print(
        Text(
            f"{len(data.y):,} rows. Score: {name} of a small tree on this column only, "
            f"in {MOST_FOLDS} folds{drawn}; higher is better.",
            "dim",
        )
    )
    wide = console.width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("column", overflow="fold")
    table.add_column("type", no_wrap=True)
    table.add_column("missing", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("")
    for line in scores.to_dict("records"):
        marked = line["suspicious"]
        said = "known when predicting?" if wide else "?"
        table.add_row(
            Text(line["column"]),
            _type(line),
            f"{line['missing']:.0%}" if line["missing"] else "",
            number(line["score"]),
            Text(said if marked else "", "yellow"),
            style="bold" if marked else "",
        )
    console.print(table)


def _type(line: dict[str, object]) -> str:
    if line["type"] == "category":
        return f"{line['n_values']} categories"
    return str(line["type"])


def _show_next(
    console: Console, request: Request, data: Data, scores: pd.DataFrame
) -> None:
    """Print the suspicious columns and the next command."""
    marked = scores.loc[scores["suspicious"], "column"].tolist()
    useless = scores.loc[scores["type"].isin(("identifier", "constant")), "column"]
    if marked:
        verb = "predicts" if len(marked) == 1 else "predict"
        said = Text(listed(marked, most=4), "bold")
        said.append(
            f" {verb} {data.target} suspiciously well. Columns that are not known when "
            "predicting are privileged, and must not be used as features.",
            "not bold",
        )
        console.print(said)
    else:
        console.print(
            Text(
                "No column is suspicious. Give the columns that are known only later "
                "as privileged."
            )
        )
    words = ["lupi", "compare", str(request.file), "--target", data.target]
    if request.privileged_file is not None:
        words += ["--privileged-file", str(request.privileged_file)]
        words += ["--key", str(request.key)]
    else:
        words += ["--privileged", *(marked or ["COLS"])]
    dropped = [*request.drop, *useless.head(8)]
    words += ["--drop", *dropped] if dropped else []
    words += ["--group", request.group] if request.group else []
    words += ["--task", request.task] if request.task else []
    console.print(Text.assemble(("\nnext    ", "dim"), shlex.join(words)))
