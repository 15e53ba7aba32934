"""The commands and their options: names and help texts."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# The name of the click package differs between versions of Typer; the base class of all
# usage errors is found by way of the public BadParameter.
ClickException: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

# Options whose metavar ends in this take several values.
LIST = "…"
FILE_ENDINGS = (
    *(".csv", ".tsv", ".txt", ".gz", ".parquet", ".pq", ".skops", ".json", ".jsonl"),
    *(".xlsx", ".xls", ".ods", ".db", ".sqlite", ".sqlite3", ".duckdb"),
)


# The type of an option by the name of its value: text, unless it is one of these.
KINDS = {"": bool, "N": int, "P": float, "FILE": Path, "DIR": Path, "MODEL": Path}
TABLES = "CSV, Parquet, Excel, JSON lines, SQLite or DuckDB"


def _option(words: str, help: str, default: Any = None, **more: Any) -> Parameter:
    """Return an option: its names, and the name of its value if it has one.

    The parameter has the first of the names; one without a value is a flag.
    """
    names = [word for word in words.split() if word.startswith("-")]
    metavar = "".join(word for word in words.split() if word not in names)
    kind: Any = KINDS.get(metavar, str)
    if metavar.endswith((LIST, "=COLS")):
        kind = list[str]
    default = False if kind is bool else default
    option = typer.Option(default, *names, metavar=metavar, help=help, **more)
    name = names[0].removeprefix("--").replace("-", "_")
    return _parameter({"from": "again"}.get(name, name), option, kind | None)


def _file(name: str, help: str, default: Any = ...) -> Parameter:
    given = typer.Argument(default, help=help, show_default=False)
    return _parameter(name, given, Path | None if default is None else Path)


def _parameter(name: str, default: Any, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("give a number of processes, or -1 for all cores")
    return jobs


# The parameters of more than one command; others are given where they are used.
SHARED = (
    _file("file", f"{TABLES}."),
    _file("model", "A model saved by lupi."),
    _option("--target -t COL", "The column to predict; required with a FILE."),
    _option(
        f"--privileged -p COLS{LIST}",
        "Columns known for training rows only: names, globs (cd4*) and ranges "
        "(age:weight).",
    ),
    _option(
        "--privileged-file FILE",
        "A second file, whose columns are privileged; needs --key.",
    ),
    _option(
        "--key COL", "The column that identifies the rows in both files; not a feature."
    ),
    _option(f"--drop COLS{LIST}", "Columns to leave out, such as row numbers."),
    _option(
        f"--missing VALUES{LIST}",
        'Values that mean missing, such as "." or -99 (written --missing=-99).',
    ),
    _option(
        "--clean COL",
        "A column of yes and no: whether the outcome is known to be right.",
    ),
    _option(
        "--task TASK",
        "classification or regression; by default derived from the target.",
    ),
    _option("--metric NAME", "A scikit-learn score: roc_auc, accuracy, f1, r2, ..."),
    _option(
        "--group COL", "Rows with the same value are in the same part of every split."
    ),
    _option(
        "--n-candidates N",
        "Candidate parameters to try for each model; 1 means the defaults.",
        12,
        min=1,
    ),
    _option(
        "--inner-cv N",
        "Folds of the training rows on which candidates are scored.",
        3,
        min=2,
    ),
    _option("--seed N", "Seed of all random choices.", 0, min=0, max=2**32 - 1),
    _option(
        "--jobs -j N",
        "Number of processes; -1 means all cores.",
        -1,
        callback=_check_jobs,
    ),
    _option("--force", "Replace an older result or file of the same name."),
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
    """A command whose options may have several values: ``--privileged a b c``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before every value of a list, as Click expects it.

        A list ends at the next option, so that it could include a FILE that follows it.
        If a FILE is missing, values that look like one are taken from the ends of the
        lists.
        """
        options = {name: param for param in self.params for name in param.opts}
        words, files, others = list(args), [], []
        lists: list[tuple[str, list[str]]] = []
        # An option without its value comes last, for the error message of Click.
        last: list[str] = []
        while words and words[0] != "--":
            word = words.pop(0)
            param = options.get(word)
            if not _is_option(word):
                files.append(word)
            elif str(getattr(param, "metavar", "")).endswith(LIST):
                values: list[str] = []
                while words and not _is_option(words[0]):
                    values.append(words.pop(0))
                lists.append((word, values))
                last += [] if values else [word]
            elif getattr(param, "is_flag", word == "--help") or "=" in word:
                others.append(word)
            elif words:
                others += [word, words.pop(0)]
            else:
                last.append(word)
        n_files = sum(param.param_type_name == "argument" for param in self.params)
        missing = n_files - len(files) - len(words)
        taken: list[str] = []
        for _, values in reversed(lists):
            while missing > len(taken) and len(values) > 1 and _is_file(values[-1]):
                taken.insert(0, values.pop())
        others += [w for option, values in lists for v in values for w in (option, v)]
        return super().parse_args(ctx, [*files, *taken, *others, *last, *words])


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1


def _is_file(word: str) -> bool:
    file = word.partition("::")[0]
    return Path(file).is_file() or file.lower().endswith(FILE_ENDINGS)


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


Run = Callable[[dict[str, Any]], None]


def command(names: str, *own: Parameter) -> Callable[[Run], Run]:
    """Make a command of a function that takes the values of its parameters by name.

    ``names`` has all parameters, in the order of the help; ``own`` are those that are
    not shared, or not as they are here.
    """
    known = {each.name: each for each in (*SHARED, *own)}
    chosen = [known[name] for name in names.split()]

    def register(function: Run) -> Run:
        def call(**asked: Any) -> None:
            function(asked)

        call.__name__, call.__doc__ = function.__name__, function.__doc__
        call.__annotations__ = {each.name: each.annotation for each in chosen}
        call.__signature__ = Signature(chosen)  # type: ignore[attr-defined]
        app.command(cls=Command)(call)
        return function

    return register


@command(
    "context file target privileged privileged_file key drop missing methods metric "
    "group time outcome_time clean train_size labelled unlabelled again quick columns "
    "column_group out force cv n_candidates inner_cv task no_model seed jobs",
    _parameter("context", Parameter.empty, typer.Context),
    _file("file", f"{TABLES}. Without a file: a demonstration on a real trial.", None),
    _option(f"--methods -m NAMES{LIST}", "default, all, or names (see: lupi methods)."),
    _option(
        "--time COL",
        "Train on earlier rows and test on later ones; row-number is the file's order.",
    ),
    _option(
        "--outcome-time COL",
        "With --time: when the outcome is known; until then the row has X* only.",
    ),
    _option(
        "--train-size N",
        "Number of training rows, in repeated splits; the rest is tested. With "
        "--group, whole groups are drawn: N rows or more.",
        min=2,
    ),
    _option(
        "--labelled N",
        "Number of training rows with an outcome; other training rows are used without "
        "theirs. With --group, whole groups are drawn: N rows or more.",
        min=2,
    ),
    _option(
        "--unlabelled N",
        "With --labelled: maximum of training rows whose outcome is hidden (1000).",
        min=0,
    ),
    _option(
        "--from FILE",
        "Repeat the comparison of a results.json, changed by other options.",
    ),
    _option("--quick", "A fast first answer: hedged distillation, no learning curves."),
    _option("--columns", "Also measure the gains of single privileged columns."),
    _option(
        "--column-group NAME=COLS",
        "Privileged columns that --columns uses together; repeatable.",
    ),
    _option("--out -o DIR", "Folder of the results.", Path("lupi-report")),
    _option(
        "--cv N",
        "Folds (5), repeated twice; splits (20) of --train-size and --labelled; "
        "windows (5) of --time.",
        min=1,
    ),
    _option("--no-model", "Do not fit the best model on all rows and save it."),
)
def compare(asked: dict[str, Any]) -> None:
    """Measure whether the privileged information helps, and write a report.

    Every method is run without it, with it, with its rows shuffled, with the known
    columns in its place, and with it available when predicting, on the same splits.
    An interrupted run can be resumed.
    """
    from lupi.cli._compare import recall, run_compare

    # These do not concern what is compared.
    context, again = asked.pop("context"), asked.pop("again")
    how = {name: asked.pop(name) for name in ("out", "force", "jobs")}
    fingerprint = None
    if again is not None:
        given = [
            name
            for name in asked
            if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        ]
        asked, fingerprint = recall(again, asked, given)
    run_compare(asked, fingerprint=fingerprint, **how)


@command(
    "file target drop missing metric group task privileged_file key out force seed "
    "jobs",
    _option("--out -o FILE", "CSV file to write as well."),
)
def columns(asked: dict[str, Any]) -> None:
    """List the columns: type, missing values, how well each predicts on its own.

    Columns that predict the target suspiciously well are marked. If such a column is
    not known when predicting, it is privileged.
    """
    from lupi.cli._commands import run_columns
    from lupi.cli._io import Request

    run_columns(**Request.apart(asked))


@command(
    "file target method privileged privileged_file key drop missing metric group out "
    "force n_candidates inner_cv task seed",
    _option("--method -m NAME", "Hedged distillation by default; see: lupi methods."),
    _option("--out -o MODEL", "The file to write.", Path("model.skops")),
)
def fit(asked: dict[str, Any]) -> None:
    """Fit one method on all rows, tuned by cross-validation, and save it.

    Rows without an outcome are used by the methods that can use them. Without
    --privileged, the method is fitted without X*.
    """
    from lupi.cli._commands import run_fit
    from lupi.cli._io import Request

    run_fit(**Request.apart(asked))


@command(
    "model file out keep force",
    _option(
        "--out -o FILE",
        "CSV or Parquet; - is the standard output.",
        Path("predictions.csv"),
    ),
    _option(f"--keep COLS{LIST}", "Columns to copy, such as identifiers."),
)
def predict(asked: dict[str, Any]) -> None:
    """Predict with a saved model; the privileged columns are not needed.

    Values that mean missing are those of the training, which the model has.
    """
    from lupi.cli._commands import run_predict

    run_predict(**asked)


@command(
    "file target privileged privileged_file key drop clean names noise threshold keep "
    "group task missing out chart force seed jobs",
    _option(
        f"--names COLS{LIST}",
        "Privileged numbers that are names, as of people. By default whole numbers "
        "with at most 30 values.",
    ),
    _option(
        "--noise KIND", "symmetric, or classwise: a rate for each class.", "symmetric"
    ),
    _option(
        "--threshold P",
        "Probability of an error from which a label is listed.",
        0.5,
        min=0,
        max=1,
    ),
    _option(
        f"--keep COLS{LIST}",
        "Columns to copy, such as identifiers. They are features too, unless they "
        "are in --drop.",
    ),
    _option("--out -o FILE", "The list of labels, as CSV.", Path("labels.csv")),
    _option("--chart FILE", "The rates, as SVG or PNG; by default beside it."),
)
def labels(asked: dict[str, Any]) -> None:
    """List the labels that are probably wrong, most suspicious first, with reasons.

    The privileged columns say how each label was made: by whom, from which source, in
    how many seconds. How often labels are wrong is learned from them.
    """
    from lupi.cli._commands import run_labels
    from lupi.cli._io import Request

    run_labels(**Request.apart(asked))


@command(
    "model out force",
    _option("--out -o FILE", "The file to write.", Path("model-card.md")),
)
def card(asked: dict[str, Any]) -> None:
    """Write a model card: data, outcomes, X*, verdict, scores, limits."""
    from lupi.cli._commands import run_card

    run_card(**asked)


@command("")
def methods(asked: dict[str, Any]) -> None:
    """List the methods: the requirements and the paper of each."""
    from lupi.cli._commands import show_methods

    show_methods()


def _print_version(asked: bool) -> None:
    if asked:
        from lupi import __version__

        typer.echo(f"lupi {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False,
        "--version",
        metavar="",
        help="Show the version and exit.",
        callback=_print_version,
        is_eager=True,
    ),
) -> None:
    """Learn with columns that exist for the training rows but not when predicting."""
