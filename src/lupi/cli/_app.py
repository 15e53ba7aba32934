"""The commands and their options: names and help texts, no work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from lupi.cli._options import (
    FILE_HELP,
    Candidates,
    Drop,
    File,
    Force,
    Group,
    InnerCv,
    Jobs,
    Key,
    Metric,
    Privileged,
    PrivilegedFile,
    Seed,
    Target,
    Task,
)

# Typer brings click with it under one name or another; the public BadParameter leads
# to the class that all usage errors share.
ClickException: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


class _NoType:
    """Write --help as the other flags are written, without the type of a value."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option; its metavar is what stands for the type."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option


class Command(_NoType, TyperCommand):
    """A command of lupi."""


class Commands(_NoType, TyperGroup):
    """The commands of lupi."""


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help=(
        "Learning with privileged information: columns that exist for the training "
        "rows but not when predicting."
    ),
)


@app.command(cls=Command)
def compare(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            help=f"{FILE_HELP}. Without one: a demonstration on a real trial.",
            show_default=False,
        ),
    ] = None,
    target: Target = None,
    privileged: Privileged = None,
    privileged_file: PrivilegedFile = None,
    key: Key = None,
    drop: Drop = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="NAMES…",
            help="default, all, or names (see: lupi methods).",
        ),
    ] = None,
    metric: Metric = None,
    group: Group = None,
    train_size: Annotated[
        int | None,
        typer.Option(
            "--train-size",
            metavar="N",
            min=2,
            help="Train on N rows drawn many times, test on the rest.",
        ),
    ] = None,
    labelled: Annotated[
        int | None,
        typer.Option(
            "--labelled",
            metavar="N",
            min=2,
            help="Let N rows keep their outcome; others train without it.",
        ),
    ] = None,
    unlabelled: Annotated[
        int | None,
        typer.Option(
            "--unlabelled",
            metavar="N",
            min=0,
            help="With --labelled: the most rows that train without it (1000).",
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Repeat the comparison of a results.json; other options change it.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            metavar="",
            help="A first answer: hedged distillation alone, no learning curves.",
        ),
    ] = False,
    columns: Annotated[
        bool,
        typer.Option(
            "--columns",
            metavar="",
            help="Also say which privileged column the gain comes from.",
        ),
    ] = False,
    column_group: Annotated[
        list[str] | None,
        typer.Option(
            "--column-group",
            metavar="NAME=COLS",
            help="Privileged columns that --columns takes together; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where results go.")
    ] = Path("lupi-report"),
    force: Force = False,
    cv: Annotated[
        int | None,
        typer.Option(
            "--cv",
            metavar="N",
            min=2,
            help="Folds (5), dealt twice; splits (20) with --train-size, --labelled.",
        ),
    ] = None,
    n_candidates: Candidates = 12,
    inner_cv: InnerCv = 3,
    task: Task = None,
    no_model: Annotated[
        bool,
        typer.Option(
            "--no-model",
            metavar="",
            help="Do not fit the best model on all rows and save it.",
        ),
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Say whether the privileged information helps, and write a report.

    Every method runs without it, with it, with its rows shuffled, with the known
    columns in its place, and with it available when predicting, on the same splits.
    Interrupted runs resume.
    """
    asked = locals()
    from lupi.cli._again import recall, without_place
    from lupi.cli._compare import run_compare

    fingerprint = None
    asked = without_place(asked)
    if again is not None:
        given = [name for name in asked if _is_given(context, name)]
        asked, fingerprint = recall(again, asked, given)
    run_compare(asked, jobs=jobs, out=out, force=force, fingerprint=fingerprint)


@app.command(cls=Command)
def columns(
    file: File,
    target: Target = None,
    drop: Drop = None,
    metric: Metric = None,
    group: Group = None,
    task: Task = None,
    privileged_file: PrivilegedFile = None,
    key: Key = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Also write a CSV file."),
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """List the columns: type, missing values, how well each predicts on its own.

    Marks those that predict the target suspiciously well. If such a column is not
    known when predicting, it is privileged.
    """
    request = _request(locals())
    from lupi.cli._columns import run_columns

    run_columns(
        request,
        metric=metric,
        seed=seed,
        jobs=jobs,
        out=out,
        force=force,
    )


@app.command(cls=Command)
def fit(
    file: File,
    target: Target = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="Hedged distillation when not given; see: lupi methods.",
        ),
    ] = None,
    privileged: Privileged = None,
    privileged_file: PrivilegedFile = None,
    key: Key = None,
    drop: Drop = None,
    metric: Metric = None,
    group: Group = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="MODEL", help="The file to write.")
    ] = Path("model.skops"),
    force: Force = False,
    n_candidates: Candidates = 12,
    inner_cv: InnerCv = 3,
    task: Task = None,
    seed: Seed = 0,
) -> None:
    """Fit one method on all rows, tuned by cross-validation, and save it.

    Rows without an outcome train methods that learn from them. Without --privileged the
    method's own counterpart without it is fitted.
    """
    request = _request(locals())
    from lupi.cli._fit import run_fit

    run_fit(
        request,
        method=method,
        options={
            "scoring": metric,
            "n_candidates": n_candidates,
            "inner_cv": inner_cv,
            "random_state": seed,
        },
        out=out,
        force=force,
    )


@app.command(cls=Command)
def predict(
    model: Annotated[
        Path, typer.Argument(help="A model saved by lupi.", show_default=False)
    ],
    file: File,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="CSV or Parquet; - is the standard output.",
        ),
    ] = Path("predictions.csv"),
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", metavar="COLS…", help="Columns to copy, such as identifiers."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Predict with a saved model; the privileged columns are not needed."""
    from lupi.cli._predict import run_predict

    run_predict(model, file, out=out, keep=keep or [], force=force)


@app.command(cls=Command)
def methods() -> None:
    """List the methods: what each needs and where it comes from."""
    from lupi.cli._methods import show_methods

    show_methods()


def _request(asked: dict[str, Any]) -> Any:
    from lupi.cli._data import Request

    return Request.of(asked)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _print_version(asked: bool) -> None:
    if asked:
        from lupi import __version__

        typer.echo(f"lupi {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar="",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Learn with columns that exist for the training rows but not when predicting."""
