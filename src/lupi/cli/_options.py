"""Options of several commands: names and help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _check_seed(seed: int) -> int:
    if not 0 <= seed < 2**32:
        raise typer.BadParameter(f"{seed} is not a number from 0 to {2**32 - 1}")
    return seed


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("give a number of processes, or -1 for all cores")
    return jobs


COLUMNS_HELP = "names, globs (cd4*) and ranges (age:weight)"

FILE_HELP = "CSV, Parquet, Excel, JSON lines, SQLite or DuckDB"

File = Annotated[Path, typer.Argument(help=f"{FILE_HELP}.", show_default=False)]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="The column to predict. Required.", metavar="COL"
    ),
]
Privileged = Annotated[
    list[str] | None,
    typer.Option(
        "--privileged",
        "-p",
        metavar="COLS…",
        help=f"Columns known for training rows only: {COLUMNS_HELP}.",
    ),
]
PrivilegedFile = Annotated[
    Path | None,
    typer.Option(
        "--privileged-file",
        metavar="FILE",
        help="A second file, whose columns are privileged; needs --key.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="COL",
        help="The column that identifies the rows in both files; not a feature.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop", metavar="COLS…", help="Columns to leave out, such as row numbers."
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="TASK",
        help="classification or regression; by default derived from the target.",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="A scikit-learn score: roc_auc, accuracy, f1, r2, ...",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COL",
        help="Rows with the same value are in the same part of every split.",
    ),
]
Candidates = Annotated[
    int,
    typer.Option(
        "--n-candidates",
        metavar="N",
        min=1,
        help="Candidate parameters to try for each model; 1 means the defaults.",
    ),
]
InnerCv = Annotated[
    int,
    typer.Option(
        "--inner-cv",
        metavar="N",
        min=2,
        help="Folds of the training rows on which candidates are scored.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        callback=_check_seed,
        help="Seed of all random choices.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        callback=_check_jobs,
        help="Number of processes; -1 means all cores.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", metavar="", help="Replace the result of an older run."),
]
