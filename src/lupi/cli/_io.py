"""Input and output of the commands: tables, roles of columns, notes, files."""

from __future__ import annotations

import io
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from lupi._atomic import write_atomically
from lupi._optional import require
from lupi._persistence import parts_of, without_privileged
from lupi._words import counted, listed, percent, printable
from lupi.base import missing_targets
from lupi.base._rows import dense, with_iso_date
from lupi.cli import InputError
from lupi.cli._tables import (
    column_named,
    read_table,
    resolve_columns,
    target_values,
)
from lupi.evaluation._measures import mostly_numbers
from lupi.evaluation._methods import Task, read_task
from lupi.evaluation._order import is_text
from lupi.evaluation._prepare import TrainingRows
from lupi.evaluation._study import Study, plan
from lupi.evaluation._verdict import ROW_NUMBER

MOST_UNSURE = 30
# Number of values of a column that a model file keeps.
MOST_VALUES = 100
YES, NO = ("yes", "true", "1", "y", "t"), ("no", "false", "0", "n", "f")
# Width of output to a file, and of a terminal that shows all columns of the tables.
WIDE = 116


@contextmanager
def refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Convert errors of these types to `InputError`, as a block or as a decorator.

    It is for code that only checks input of the user: elsewhere a ValueError is a bug
    and must show its traceback.
    """
    try:
        yield
    except kinds as error:
        raise InputError(str(error)) from error


@dataclass(frozen=True)
class Request:
    """The table and the roles of its columns, as given on the command line."""

    file: Path | None = None
    target: str | None = None
    privileged: Sequence[str] = ()
    privileged_file: Path | None = None
    key: str | None = None
    drop: Sequence[str] = ()
    group: str | None = None
    time: str | None = None
    outcome_time: str | None = None
    clean: str | None = None
    task: str | None = None
    missing: Sequence[str] = ()

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Request:
        """Return the part of a command's parameters that concerns the table."""
        names = [one.name for one in fields(cls)]
        return cls(
            **{name: asked[name] for name in names if asked.get(name) is not None}
        )

    @classmethod
    def apart(cls, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return a command's parameters, with one request for those of the table."""
        names = {one.name for one in fields(cls)}
        others = {name: asked[name] for name in asked if name not in names}
        return {"request": cls.of(asked), **others}


def command_words(asked: Mapping[str, Any]) -> list[str]:
    """Return the words of a command that gives these parameters."""
    words = []
    for name, value in asked.items():
        option = f"--{name.replace('_', '-')}"
        if value is None or value is False or value == [] or value == ():
            continue
        if name == "file":
            words.append(str(value))
        elif value is True:
            words.append(option)
        elif name == "missing":
            words += [f"{option}={each}" for each in value]
        elif name == "column_group":
            words += [word for group in value for word in (option, group)]
        elif isinstance(value, list | tuple):
            words += [option, *value]
        else:
            words += [option, str(value)]
    return words


@dataclass(frozen=True)
class InputTable:
    """A table split into X, y, X* and groups."""

    X: pd.DataFrame
    y: np.ndarray
    privileged: pd.DataFrame | None
    groups: np.ndarray | None
    target: str
    task: Task
    source: str
    time: pd.Series | None = None
    outcome_time: pd.Series | None = None
    missing: Sequence[str] = ()
    unused: Mapping[str, str] = field(default_factory=dict)
    clean: np.ndarray | None = None
    about: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def has_y(self) -> np.ndarray:
        """Mask of the rows that have an outcome."""
        return ~missing_targets(self.y)

    @property
    def details(self) -> dict[str, Any]:
        """Details of the table that are saved with a model."""
        privileged = [] if self.privileged is None else list(self.privileged.columns)
        shares = {}
        if self.task == "classification":
            labels = pd.Series(self.y[self.has_y]).astype(str)
            shares = labels.value_counts(normalize=True).to_dict()
        return {
            "target": self.target,
            "task": self.task,
            "features": list(self.X.columns),
            "numbers": list(self.X.select_dtypes("number").columns),
            "privileged": privileged,
            "shares": shares,
            "missing": list(self.missing),
            "unused": dict(self.unused),
            "n_rows": len(self.y),
            "n_known": int(self.has_y.sum()),
            "source": self.source,
            "schema": schema_of(self.X),
        }


def read_data(
    request: Request, *, methods: list[str], need_privileged: bool
) -> InputTable:
    """Read the file and assign every column to its role."""
    if request.file is None:
        raise InputError("No FILE was given; name a table.")
    if request.target is None:
        raise InputError("No target was given; name the column with --target COL.")
    wanted = [word for word in request.privileged if word.strip(" ,")]
    if len(wanted) < len(request.privileged):
        raise InputError("--privileged is empty; give columns: --privileged COLS.")
    if request.key is not None and request.privileged_file is None:
        raise InputError(
            f"--key {request.key} was given without a second file; name it with "
            "--privileged-file."
        )
    if need_privileged and not wanted and request.privileged_file is None:
        raise InputError(
            "No privileged columns were given; name the columns that are known for "
            "training rows only with --privileged COLS or --privileged-file FILE."
        )
    asked: Any = request.task
    if asked not in (None, "classification", "regression"):
        raise InputError(f"--task is {asked!r}; write classification or regression.")
    table, notes = read_table(request.file)
    table = without_values(table, request.missing, notes)
    later: list[str] = []
    if request.privileged_file is not None:
        table, later = _join(
            table, request.file, request.privileged_file, request.key, notes
        )
    columns = list(table.columns)
    target = column_named(request.target, columns, "--target")
    privileged = resolve_columns(wanted, columns, "--privileged")
    dropped = resolve_columns(request.drop, columns, "--drop")
    if request.time == ROW_NUMBER and ROW_NUMBER not in columns:
        table = table.assign(**{ROW_NUMBER: np.arange(1, len(table) + 1)})
        columns = list(table.columns)
    # The columns that make splits; they are not features.
    splitting = {
        f"--{role.replace('_', '-')}": getattr(request, role)
        for role in ("group", "time", "outcome_time", "clean")
        if getattr(request, role) is not None
    }
    for option, name in splitting.items():
        column_named(name, columns, option)
    for option, names in (("--privileged", privileged), ("--drop", dropped)):
        if target in names:
            raise InputError(
                f"The target {target!r} is among the columns of {option}; remove it "
                "there."
            )
    for option, name in splitting.items():
        if name in (target, *privileged):
            raise InputError(
                f"{option} {name}: this column is the target or privileged; name "
                "another."
            )
    apart = {target, *splitting.values()}
    privileged += [name for name in later if name not in (*apart, *privileged)]
    privileged = [name for name in privileged if name not in dropped]
    taken = {*apart, *privileged, *dropped}
    known = [name for name in columns if name not in taken]
    if not known:
        raise InputError(
            "All columns are the target, privileged, dropped, the group or a time; "
            "leave at least one to predict from."
        )
    if need_privileged and not privileged:
        raise InputError(
            "--drop leaves no privileged column; drop fewer, or name others."
        )
    _check_values(table.drop(columns=dropped))
    y = target_values(table[target])
    task = _read_task(table[target].dropna(), asked, methods, notes)
    return InputTable(
        X=table[known],
        y=y,
        privileged=_privileged(table[privileged], notes) if privileged else None,
        groups=_groups(table[splitting["--group"]]) if "--group" in splitting else None,
        target=target,
        task=task,
        source=request.file.name,
        time=table.get(splitting.get("--time")),
        outcome_time=table.get(splitting.get("--outcome-time")),
        missing=request.missing,
        unused=dict.fromkeys(dropped, "--drop")
        | {name: option for option, name in splitting.items()},
        clean=_clean(table[splitting["--clean"]]) if "--clean" in splitting else None,
        notes=notes,
    )


def without_values(
    table: pd.DataFrame, words: Sequence[str], notes: list[str] | None = None
) -> pd.DataFrame:
    """Return a table in which some values are missing; text may become numbers."""
    if not words:
        return table
    numbers = pd.to_numeric(pd.Series(list(words)), errors="coerce").dropna()
    table = table.copy()
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column):
            found = column.isin(numbers)
        else:
            found = column.astype(str).str.strip().isin(words)
        if not found.any():
            continue
        column = column.mask(found)
        if is_text(column):
            as_numbers = pd.to_numeric(column, errors="coerce")
            if as_numbers.notna().sum() == column.notna().sum():
                column = as_numbers
        table[name] = column
        if notes is not None:
            said = counted(int(found.sum()), f"values of {name} are")
            notes.append(f"{said} taken as missing.")
    return table


def _read_task(
    outcomes: pd.Series, asked: Task | None, methods: list[str], notes: list[str]
) -> Task:
    """Return the task, with a note if outcomes could be classes or numbers."""
    name, values = outcomes.name, outcomes.unique()
    if outcomes.empty:
        raise InputError(
            f"The target {name!r} is missing or infinite in every row; name another "
            "column."
        )
    task = asked or read_task(target_values(outcomes), methods)
    if len(values) == 1:
        raise InputError(
            f"The target {name!r} is {values[0]!s} in every row; name a target that "
            "varies."
        )
    numeric = pd.api.types.is_numeric_dtype(outcomes)
    many = asked is None and not numeric and len(values) > MOST_UNSURE
    if many and mostly_numbers(outcomes) is not None:
        odd = outcomes[pd.to_numeric(outcomes, errors="coerce").isna()].unique()
        raise InputError(
            f"The target {name!r} has numbers, but is text because of "
            f"{listed(map(repr, odd), most=3)}: write numbers there, or add --missing "
            "with the values that mean no outcome. Classes need --task classification."
        )
    if task == "regression" and not numeric:
        raise InputError(
            f"The target {name!r} has text such as {str(values[0])!r}; regression "
            "needs numbers."
        )
    unsure = asked is None and numeric and 2 < len(values) <= MOST_UNSURE
    if unsure and not (np.asarray(values, dtype=float) % 1).any():
        said = {
            "classification": "classes; use --task regression to treat them as numbers",
            "regression": "numbers; use --task classification to treat them as classes",
        }
        notes.append(
            f"{name} has {len(values)} distinct whole numbers, which are treated as "
            f"{said[task]}."
        )
    return task


def _check_values(table: pd.DataFrame) -> None:
    """Raise an error for cells with several values, as Parquet allows them."""
    several = list | dict | set | np.ndarray
    for name, column in table.items():
        cells = column if pd.api.types.is_object_dtype(column) else ()
        if any(isinstance(cell, several) for cell in cells):
            raise InputError(
                f"The column {name!r} has lists or records, which no model accepts; "
                "use one column per value, or leave it out with --drop."
            )


@refusing(ValueError)
def plan_study(data: InputTable, methods: list[str], options: dict[str, Any]) -> Study:
    """Check all arguments and return the study of some methods."""
    return plan(
        data.X,
        pd.Series(data.y, name=data.target),
        data.privileged,
        groups=data.groups,
        time=data.time,
        outcome_time=data.outcome_time,
        test_quality=data.clean,
        task=data.task,
        methods=methods,
        **options,
    )


def _privileged(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    lacking = int(table.isna().all(axis=1).sum())
    if lacking == len(table):
        raise InputError(
            f"The privileged columns ({listed(table.columns, most=8)}) are empty in "
            "every row; name columns that have values."
        )
    if lacking:
        notes.append(
            f"{counted(lacking, 'rows have', len(table))} no privileged information; "
            "used without it where there is an outcome."
        )
    return table


def _groups(column: pd.Series) -> np.ndarray:
    if column.isna().any():
        raise InputError(
            f"--group {column.name}: {counted(column.isna().sum(), 'rows have')} no "
            "group; fill these cells, or name another column."
        )
    if column.nunique() < 2:
        raise InputError(
            f"--group {column.name}: all rows are in one group; name another column."
        )
    return column.astype(str).to_numpy(str)


def _clean(column: pd.Series) -> np.ndarray:
    """Return which labels are known to be right, from a column of yes and no."""
    words = column.map(lambda value: _word(value).lower(), na_action="ignore")
    strange = column[words.notna() & ~words.isin((*YES, *NO))]
    if len(strange):
        raise InputError(
            f"--clean {column.name}: the column has {str(strange.iloc[0])!r}; write "
            "yes or no (or true and false, 1 and 0), empty for no."
        )
    clean = words.isin(YES).to_numpy()
    if not clean.any():
        raise InputError(
            f"--clean {column.name}: no label is known to be right; name another "
            "column, or leave --clean out."
        )
    return clean


def _join(
    table: pd.DataFrame, file: Path, later_file: Path, key: str | None, notes: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Add the columns of a second file to the rows that have the same key.

    The key is removed. The names of the added columns are returned as well.
    """
    if key is None:
        raise InputError(
            f"Rows of {file} and {later_file} are matched by a column of both files; "
            "name it with --key COL."
        )
    later, more = read_table(later_file)
    notes += [f"{later_file}: {note}" for note in more]
    key = column_named(key, list(table.columns), f"--key, in {file}")
    column_named(key, list(later.columns), f"--key, in {later_file}")
    ours, theirs = table[key], later[key]
    if not all(map(pd.api.types.is_numeric_dtype, (ours, theirs))):
        ours, theirs = (
            each.astype(object).where(each.notna()).map(_word, na_action="ignore")
            for each in (ours, theirs)
        )
    known = theirs.notna()
    again = theirs[known & theirs.duplicated()]
    if len(again):
        raise InputError(
            f"{later_file} has several rows with {key} {again.iloc[0]!s}; expected one "
            f"row per {key}."
        )
    found = ours.isin(theirs[known])
    if not found.any():
        raise InputError(
            f"No {key} of {file} ({ours.iloc[0]!s}, ...) is in {later_file} "
            f"({theirs.iloc[0]!s}, ...). Name another column with --key."
        )
    unused = int((~theirs[known].isin(ours)).sum())
    if unused:
        said = counted(unused, f"rows of {later_file} have")
        notes.append(f"{said} no row in {file}; left out.")
    source = later_file.name.rpartition("::")[2]
    source = source.partition(".")[0] or source
    names = {
        name: f"{name} ({source})" if name in table.columns else name
        for name in later.columns
        if name != key
    }
    renamed = [name for name, new in names.items() if name != new]
    if renamed:
        notes.append(
            f"Both files have {renamed[0]!r}; that of {later_file} is renamed to "
            f"{names[renamed[0]]!r}."
        )
    matched = later[known].drop(columns=key).rename(columns=names)
    matched = matched.set_axis(theirs[known], axis=0).reindex(ours)
    matched = matched.set_axis(table.index, axis=0)
    return pd.concat([table.drop(columns=key), matched], axis=1), list(names.values())


def _word(value: object) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value).strip()  # type: ignore[call-overload]


class PlainConsole(Console):
    """A console that shows control characters of names and values as symbols.

    Output to a file is wide enough for the tables.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False)
        if not self.is_terminal:
            self.width = WIDE

    def say(
        self, words: str, style: str = "", *, label: str = "", in_one_line: bool = False
    ) -> None:
        """Print text that has no markup, after a label in its own column.

        A command is in one line: a part of it could be a command, too.
        """
        start = f"{label:<7} " if label else ""
        said = Text.assemble((start, "dim"), (words, style))
        self.print(said, soft_wrap=in_one_line)

    def notes(self, notes: Iterable[str]) -> None:
        """Print notes."""
        for note in notes:
            self.say(f"note: {note}", "yellow")

    def facts(self, pairs: Iterable[tuple[str, str]], style: str = "") -> None:
        """Print names and what is said of them, in two columns."""
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), style=style)
        table.add_column(style="dim", no_wrap=True)
        for name, words in pairs:
            table.add_row(name, Text(words))
        self.print(table)

    def render(self, *args: Any, **kwargs: Any) -> Iterator[Segment]:
        """Yield the segments of an object, those of text without control characters."""
        for text, style, control in super().render(*args, **kwargs):
            yield Segment(text if control else printable(text), style, control)


def schema_of(X: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return what each column has: a share of missing values, a range, or categories.

    Dates have the format in which the model reads them, None if they are no text.
    """
    schema: dict[str, dict[str, Any]] = {}
    for name, column in X.items():
        values, numeric = column.dropna(), pd.api.types.is_numeric_dtype(column)
        if values.empty:
            continue
        known = schema[str(name)] = {"missing": float(column.isna().mean())}
        if numeric and not pd.api.types.is_bool_dtype(column):
            known |= {"low": float(values.min()), "high": float(values.max())}
            continue
        encoder = require("skrub", "A table with text or dates").ToDatetime()
        try:
            dates = encoder.fit_transform(_with_iso_dates(values))
        except ValueError:  # no dates
            if len(words := sorted(values.astype(str).unique())) <= MOST_VALUES:
                known["values"] = words
        else:
            dates = pd.to_datetime(dates, utc=True)
            ends = {"first": str(dates.min()), "last": str(dates.max())}
            known |= {"format": encoder.format_, **ends}
    return schema


def _with_iso_dates(column: pd.Series) -> pd.Series:
    return column.map(with_iso_date) if is_text(column) else column


def drift_notes(X: pd.DataFrame, schema: Any) -> list[str]:
    """Return notes on values that are missing, far away or new, unlike in training."""
    return [
        f"{counted(number, 'rows have', len(X))} {said}."
        for name, column in X.items()
        if name in (schema or {})
        for number, said in _drift(column, schema[name])
        if number
    ]


def _drift(column: pd.Series, known: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield how many values of a column are not as in training, and what they are."""
    name, missing = column.name, column.isna()
    # Older files have no share of missing values, and no dates.
    share = known.get("missing", 1.0)
    if share == 0 or (share < 1 and missing.all()):
        before = f"{percent(share)} of the training rows had none"
        yield int(missing.sum()), f"no value of {name} ({before})"
    if missing.all():
        return
    if "values" in known:
        words = column[~missing].astype(str)
        new = words[~words.isin(map(str, known["values"]))]
        shown = listed(sorted(new.unique()), most=4)
        yield len(new), f"categories that were never seen in training ({shown}): {name}"
        return
    if "first" in known:
        options: Any = {"format": known["format"], "errors": "coerce", "utc": True}
        values: Any = pd.to_datetime(_with_iso_dates(column), **options)
        low, high = map(pd.Timestamp, (known["first"], known["last"]))
        unread = values.isna() & ~missing
        said = f"text in {name} that is not a date as in training, such as "
        example = repr(next(iter(column[unread].astype(str)), ""))
        yield int(unread.sum()), f"{said}{example}, and is taken as missing"
        shown = f"{low:%Y-%m-%d} to {high:%Y-%m-%d}"
    elif "low" in known:
        values = pd.to_numeric(column, errors="coerce")
        low, high = known["low"], known["high"]
        shown = f"{low:g} to {high:g}"
    else:
        return
    far = (values < low) | (values > high)
    yield int(far.sum()), f"values outside of the training range of {name} ({shown})"


def training_details(
    model: Any, X: pd.DataFrame, method: str, arm: str, rows: TrainingRows
) -> dict[str, Any]:
    """Return how a model was trained, and what it holds of X, for its file."""
    parts = list(parts_of(without_privileged(model)))
    known, *tables = (
        {row.tobytes() for row in table.astype(np.float32) + 0}
        for table in [dense(model[:-1].transform(X)), *parts]
        if isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype.kind == "f"
    )
    return {
        "rows_inside": max((len(own) for own in tables if own <= known), default=0),
        "pieces_inside": sum(len(getattr(each, "vocabulary_", ())) for each in parts),
        "method": method,
        "with_privileged": arm == "with",
        "n_outcomes": rows.n_labelled,
        "n_without_outcome": len(rows.rows) - rows.n_labelled,
    }


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the distinct warnings raised inside, instead of printing them."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said.extend(dict.fromkeys(str(item.message) for item in caught))


def prepare_file(path: Path, *, force: bool) -> None:
    """Check that a file can be written and that no older one is replaced."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write.")
    if path.exists() and not force:
        raise InputError(
            f"{path} exists; choose another --out, or replace it with --force."
        )
    try_to_write(path, path.parent)


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib in the format of the name of its file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:].lower(), dpi=150)
    write_atomically(path, buffer.getvalue())


def try_to_write(path: Path, folder: Path) -> None:
    """Raise an error if no file can be written: disks may be full, mounts read-only.

    The path is the file, or the folder itself, which is made if it is not there.
    """
    try:
        if path == folder:
            folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".lupi-")
    except OSError as error:
        raise InputError(f"{path} cannot be written to: {error.strerror}.") from error
    os.close(handle)
    with suppress(FileNotFoundError):
        os.unlink(name)
