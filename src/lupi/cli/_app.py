"""The commands and their options: names and help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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


def _option(words: str, help: str, **more: Any) -> Any:
    """Return an option: its names, and the name of its value if it has one."""
    names = [word for word in words.split() if word.startswith("-")]
    metavar = "".join(word for word in words.split() if word not in names)
    return typer.Option(*names, metavar=metavar, help=help, **more)


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("give a number of processes, or -1 for all cores")
    return jobs


TABLES = "CSV, Parquet, Excel, JSON lines, SQLite or DuckDB"
File = Annotated[Path, typer.Argument(help=f"{TABLES}.", show_default=False)]
Target = Annotated[
    str | None, _option("--target -t COL", "The column to predict. Required.")
]
Privileged = Annotated[
    list[str] | None,
    _option(
        f"--privileged -p COLS{LIST}",
        "Columns known for training rows only: names, globs (cd4*) and ranges "
        "(age:weight).",
    ),
]
PrivilegedFile = Annotated[
    Path | None,
    _option(
        "--privileged-file FILE",
        "A second file, whose columns are privileged; needs --key.",
    ),
]
Key = Annotated[
    str | None,
    _option(
        "--key COL", "The column that identifies the rows in both files; not a feature."
    ),
]
Drop = Annotated[
    list[str] | None,
    _option(f"--drop COLS{LIST}", "Columns to leave out, such as row numbers."),
]
Missing = Annotated[
    list[str] | None,
    _option(
        f"--missing VALUES{LIST}",
        'Values that mean missing, such as "." or -99 (written --missing=-99).',
    ),
]
Clean = Annotated[
    str | None,
    _option(
        "--clean COL",
        "A column of yes and no: whether the outcome is known to be right.",
    ),
]
Task = Annotated[
    str | None,
    _option(
        "--task TASK",
        "classification or regression; by default derived from the target.",
    ),
]
Metric = Annotated[
    str | None,
    _option("--metric NAME", "A scikit-learn score: roc_auc, accuracy, f1, r2, ..."),
]
Group = Annotated[
    str | None,
    _option(
        "--group COL", "Rows with the same value are in the same part of every split."
    ),
]
Time = Annotated[
    str | None,
    _option(
        "--time COL",
        "Train on earlier rows and test on later ones; row-number is the file's order.",
    ),
]
OutcomeTime = Annotated[
    str | None,
    _option(
        "--outcome-time COL",
        "With --time: when the outcome is known; until then the row has none.",
    ),
]
Candidates = Annotated[
    int,
    _option(
        "--n-candidates N",
        "Candidate parameters to try for each model; 1 means the defaults.",
        min=1,
    ),
]
InnerCv = Annotated[
    int,
    _option(
        "--inner-cv N",
        "Folds of the training rows on which candidates are scored.",
        min=2,
    ),
]
Seed = Annotated[
    int, _option("--seed N", "Seed of all random choices.", min=0, max=2**32 - 1)
]
Jobs = Annotated[
    int,
    _option(
        "--jobs -j N", "Number of processes; -1 means all cores.", callback=_check_jobs
    ),
]
Force = Annotated[bool, _option("--force", "Replace the result of an older run.")]


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


@app.command(cls=Command)
def compare(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            help=f"{TABLES}. Without a file: a demonstration on a real trial.",
            show_default=False,
        ),
    ] = None,
    target: Target = None,
    privileged: Privileged = None,
    privileged_file: PrivilegedFile = None,
    key: Key = None,
    drop: Drop = None,
    missing: Missing = None,
    methods: Annotated[
        list[str] | None,
        _option(
            f"--methods -m NAMES{LIST}", "default, all, or names (see: lupi methods)."
        ),
    ] = None,
    metric: Metric = None,
    group: Group = None,
    time: Time = None,
    outcome_time: OutcomeTime = None,
    clean: Clean = None,
    train_size: Annotated[
        int | None,
        _option(
            "--train-size N",
            "Number of training rows, in repeated splits; the rest is tested.",
            min=2,
        ),
    ] = None,
    labelled: Annotated[
        int | None,
        _option(
            "--labelled N",
            "Number of training rows with an outcome; others are used without.",
            min=2,
        ),
    ] = None,
    unlabelled: Annotated[
        int | None,
        _option(
            "--unlabelled N",
            "With --labelled: maximum of training rows without outcome (1000).",
            min=0,
        ),
    ] = None,
    again: Annotated[
        Path | None,
        _option(
            "--from FILE",
            "Repeat the comparison of a results.json, changed by other options.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        _option(
            "--quick", "A fast first answer: hedged distillation, no learning curves."
        ),
    ] = False,
    columns: Annotated[
        bool,
        _option("--columns", "Also measure the gains of single privileged columns."),
    ] = False,
    column_group: Annotated[
        list[str] | None,
        _option(
            "--column-group NAME=COLS",
            "Privileged columns that --columns uses together; repeatable.",
        ),
    ] = None,
    out: Annotated[Path, _option("--out -o DIR", "Folder of the results.")] = Path(
        "lupi-report"
    ),
    force: Force = False,
    cv: Annotated[
        int | None,
        _option(
            "--cv N",
            "Folds (5), repeated twice; splits (20) of --train-size and --labelled; "
            "windows (5) of --time.",
            min=1,
        ),
    ] = None,
    n_candidates: Candidates = 12,
    inner_cv: InnerCv = 3,
    task: Task = None,
    no_model: Annotated[
        bool,
        _option("--no-model", "Do not fit the best model on all rows and save it."),
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
    # These do not concern what is compared.
    for name in ("context", "again", "out", "force", "jobs"):
        del asked[name]
    from lupi.cli._compare import recall, run_compare

    fingerprint = None
    if again is not None:
        given = [
            name
            for name in asked
            if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        ]
        asked, fingerprint = recall(again, asked, given)
    run_compare(asked, jobs=jobs, out=out, force=force, fingerprint=fingerprint)


@app.command(cls=Command)
def columns(
    file: File,
    target: Target = None,
    drop: Drop = None,
    missing: Missing = None,
    metric: Metric = None,
    group: Group = None,
    task: Task = None,
    privileged_file: PrivilegedFile = None,
    key: Key = None,
    out: Annotated[
        Path | None, _option("--out -o FILE", "CSV file to write as well.")
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """List the columns: type, missing values, how well each predicts on its own.

    Columns that predict the target suspiciously well are marked. If such a column is
    not known when predicting, it is privileged.
    """
    asked = locals()
    from lupi.cli._commands import run_columns
    from lupi.cli._io import Request

    run_columns(**Request.apart(asked))


@app.command(cls=Command)
def fit(
    file: File,
    target: Target = None,
    method: Annotated[
        str | None,
        _option(
            "--method -m NAME", "Hedged distillation by default; see: lupi methods."
        ),
    ] = None,
    privileged: Privileged = None,
    privileged_file: PrivilegedFile = None,
    key: Key = None,
    drop: Drop = None,
    missing: Missing = None,
    metric: Metric = None,
    group: Group = None,
    out: Annotated[Path, _option("--out -o MODEL", "The file to write.")] = Path(
        "model.skops"
    ),
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
    asked = locals()
    from lupi.cli._commands import run_fit
    from lupi.cli._io import Request

    run_fit(**Request.apart(asked))


@app.command(cls=Command)
def predict(
    model: Annotated[
        Path, typer.Argument(help="A model saved by lupi.", show_default=False)
    ],
    file: File,
    out: Annotated[
        Path, _option("--out -o FILE", "CSV or Parquet; - is the standard output.")
    ] = Path("predictions.csv"),
    keep: Annotated[
        list[str] | None,
        _option(f"--keep COLS{LIST}", "Columns to copy, such as identifiers."),
    ] = None,
    force: Force = False,
) -> None:
    """Predict with a saved model; the privileged columns are not needed."""
    from lupi.cli._commands import run_predict

    run_predict(model, file, out=out, keep=keep or [], force=force)


@app.command(cls=Command)
def labels(
    file: File,
    target: Target = None,
    privileged: Privileged = None,
    privileged_file: PrivilegedFile = None,
    key: Key = None,
    drop: Drop = None,
    clean: Clean = None,
    names: Annotated[
        list[str] | None,
        _option(
            f"--names COLS{LIST}",
            "Privileged numbers that are names, as of people. By default whole numbers "
            "with at most 30 values.",
        ),
    ] = None,
    noise: Annotated[
        str, _option("--noise KIND", "symmetric, or classwise: a rate for each class.")
    ] = "symmetric",
    threshold: Annotated[
        float,
        _option(
            "--threshold P",
            "Probability of an error from which a label is listed.",
            min=0,
            max=1,
        ),
    ] = 0.5,
    keep: Annotated[
        list[str] | None,
        _option(
            f"--keep COLS{LIST}",
            "Columns to copy, such as identifiers. They are features too, unless they "
            "are in --drop.",
        ),
    ] = None,
    group: Group = None,
    task: Task = None,
    missing: Missing = None,
    out: Annotated[
        Path, _option("--out -o FILE", "The list of labels, as CSV.")
    ] = Path("labels.csv"),
    chart: Annotated[
        Path | None,
        _option("--chart FILE", "The rates, as SVG or PNG; by default beside it."),
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """List the labels that are probably wrong, most suspicious first, with reasons.

    The privileged columns say how each label was made: by whom, from which source, in
    how many seconds. How often labels are wrong is learned from them.
    """
    asked = locals()
    from lupi.cli._commands import run_labels
    from lupi.cli._io import Request

    run_labels(**Request.apart(asked))


@app.command(cls=Command)
def card(
    model: Annotated[
        Path, typer.Argument(help="A model saved by lupi.", show_default=False)
    ],
    out: Annotated[Path, _option("--out -o FILE", "The file to write.")] = Path(
        "model-card.md"
    ),
    force: Force = False,
) -> None:
    """Write a model card: data, outcomes, X*, verdict, scores, limits."""
    from lupi.cli._commands import run_card

    run_card(model, out=out, force=force)


@app.command(cls=Command)
def methods() -> None:
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
    version: Annotated[
        bool,
        _option(
            "--version",
            "Show the version and exit.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Learn with columns that exist for the training rows but not when predicting."""
