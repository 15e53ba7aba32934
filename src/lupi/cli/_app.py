"""The commands and their options: names and help texts."""

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

# The name of the click package differs between versions of Typer; the base class of all
# usage errors is found by way of the public BadParameter.
ClickException: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


class _NoType:
    """Show --help like the other flags, without a type."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option without its metavar, which shows the type."""
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
            help=f"{FILE_HELP}. Without a file: a demonstration on a real trial.",
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
            help="Number of training rows, in repeated splits; the rest is tested.",
        ),
    ] = None,
    labelled: Annotated[
        int | None,
        typer.Option(
            "--labelled",
            metavar="N",
            min=2,
            help="Number of training rows with an outcome; others are used without.",
        ),
    ] = None,
    unlabelled: Annotated[
        int | None,
        typer.Option(
            "--unlabelled",
            metavar="N",
            min=0,
            help="With --labelled: maximum of training rows without outcome (1000).",
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Repeat the comparison of a results.json, changed by other options.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            metavar="",
            help="A fast first answer: hedged distillation, no learning curves.",
        ),
    ] = False,
    columns: Annotated[
        bool,
        typer.Option(
            "--columns",
            metavar="",
            help="Also measure the gains of single privileged columns.",
        ),
    ] = False,
    column_group: Annotated[
        list[str] | None,
        typer.Option(
            "--column-group",
            metavar="NAME=COLS",
            help="Privileged columns that --columns uses together; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the results.")
    ] = Path("lupi-report"),
    force: Force = False,
    cv: Annotated[
        int | None,
        typer.Option(
            "--cv",
            metavar="N",
            min=2,
            help="Folds (5), repeated twice; splits (20) of --train-size, --labelled.",
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
    """Measure whether the privileged information helps, and write a report.

    Every method is run without it, with it, with its rows shuffled, with the known
    columns in its place, and with it available when predicting, on the same splits.
    An interrupted run can be resumed.
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
        typer.Option("--out", "-o", metavar="FILE", help="CSV file to write as well."),
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """List the columns: type, missing values, how well each predicts on its own.

    Columns that predict the target suspiciously well are marked. If such a column is
    not known when predicting, it is privileged.
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
            help="Hedged distillation by default; see: lupi methods.",
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

    Rows without an outcome are used by the methods that can use them. Without
    --privileged, the method is fitted without X*.
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
    """List the methods: the requirements and the paper of each."""
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
