"""Read tables from CSV, Parquet, Excel, JSON, SQLite and DuckDB; write CSV.

The format is detected from the first bytes. Separator, decimal mark and encoding of CSV
are detected as well. Conversion of text, categories and dates is left to skrub's
``TableVectorizer``, which is fitted to the training rows alone.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import fnmatch
import gzip
import io
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lupi._optional import optional, require
from lupi._words import counted, listed
from lupi.cli import InputError

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Reading tables")

_SEPARATORS = ",;\t|"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_MARKUP = re.compile(r"<(!doctype|!--|\?xml|html|head|body|table|svg|rss)\b", re.I)


def read_table(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a file, and a sentence for every change of its content.

    Its format is detected from the content: CSV (separated by comma, semicolon, tab or
    bar; plain or gzipped; UTF-8 or Windows-1252), Parquet, JSON lines or a list of
    records, an Excel workbook, a SQLite or a DuckDB file. ``FILE::NAME`` names one of
    several sheets or tables.
    """
    notes: list[str] = []
    path, name = _split_name(Path(path))
    reader = _reader_of(_read_head(path), path)
    if reader is not None:
        table = reader(path, name)
    elif name is not None:
        raise InputError(f"{path} holds one table; write {path}, without ::{name}.")
    else:
        data = _read_bytes(path)
        if data[:4] == b"PAR1":
            # pyarrow raises a dozen different types
            with _reading(f"{path} is a damaged Parquet file", Exception):
                table = pd.read_parquet(io.BytesIO(data))
        else:
            text = _decode(data, path, notes)
            records = _read_json(text, path)
            table = _read_csv(text, path) if records is None else records
    # Names that are numbers, such as years, become text.
    names = [
        str(each) if isinstance(each, int | float | np.integer) else each
        for each in table.columns
    ]
    if len(names) < 2:
        raise InputError(
            f"{path} has {'one column' if names else 'no columns'}; a target, a "
            "feature and a privileged column are needed."
        )
    if len(table) == 0:
        raise InputError(f"{path} has column names but no rows; add rows to it.")
    for each in names:
        if not isinstance(each, str):
            raise InputError(
                f"{path} has a column called {each!r}, which is not text; rename it."
            )
    return _tidy(table.set_axis(names, axis=1), notes), notes


@contextmanager
def _reading(what: str, *kinds: type[Exception]) -> Iterator[None]:
    """Convert errors of a reader to an `InputError` that gives the reason."""
    try:
        yield
    except kinds as error:
        reason = (str(error) or "of unknown cause").splitlines()[0]
        raise InputError(f"{what}: {reason}") from None


def _read_head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(16)
    except FileNotFoundError:
        raise InputError(f"No such file: {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file with a table.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        with _reading(f"{path} is a damaged gzip file", OSError, EOFError):
            data = gzip.decompress(data)
    if not data.strip():
        raise InputError(f"{path} is empty; give a file with a header and rows.")
    return data


def _decode(data: bytes, path: Path, notes: list[str]) -> str:
    if data[:2] == b"PK":
        raise InputError(
            f"{path} is not a table: it is a zip archive and no workbook. Unpack it "
            "first."
        )
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    if b"\0" in data:
        raise InputError(
            f"{path} is not a table: it is neither text nor a file of a known format."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _decode_lines(data.removeprefix(codecs.BOM_UTF8), notes)


def _decode_lines(data: bytes, notes: list[str]) -> str:
    """Decode line by line: UTF-8 where it is valid, Windows-1252 elsewhere."""
    lines, others = [], []
    n_utf8 = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            lines.append(line.decode("utf-8"))
            n_utf8 += not line.isascii()
        except UnicodeDecodeError:
            lines.append(line.decode("cp1252", errors="replace"))
            others.append(number)
    if n_utf8:
        notes.append(
            f"Not UTF-8: {len(others)} of {len(lines)} lines, first line {others[0]}; "
            "read as Windows-1252."
        )
    return "\n".join(lines)


def _read_csv(text: str, path: Path) -> pd.DataFrame:
    header = next(line for line in text.splitlines() if line.strip())
    if _MARKUP.match(header.lstrip()):  # a column named <50k is allowed
        raise InputError(
            f"{path} is not a table: it begins with {header.lstrip()[:16]!r}, as HTML "
            "and XML do. CSV, Parquet, Excel, JSON lines, SQLite or DuckDB is expected."
        )
    # The separator is the one that gives the header the most columns.
    found = {mark: next(csv.reader([header], delimiter=mark)) for mark in _SEPARATORS}
    separator = max(found, key=lambda mark: len(found[mark]))
    names = found[separator]
    if len(names) < 2:
        raise InputError(
            f"{path} is not a table: it is text (no Parquet file or workbook), and its "
            "first line has no comma, semicolon, tab or bar between names of columns. "
            "Give a file with two columns or more."
        )
    repeated = sorted({name for name in names if name and names.count(name) > 1})
    if repeated:
        raise InputError(
            f"{path} has two columns called {repeated[0]!r}; rename one of them."
        )
    try:
        # Spreadsheets that write a decimal comma separate by semicolons.
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            decimal="," if separator == ";" else ".",
            skipinitialspace=True,
            index_col=False,
            na_values=["?", "..."],
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise InputError(
            f"{path} is not a table: {reason.rstrip('.')}. Correct the file: every "
            "line needs as many cells as the first one."
        ) from None


def _split_name(path: Path) -> tuple[Path, str | None]:
    """Split ``FILE::NAME`` into the file and the name of a table, None without it."""
    file, mark, name = str(path).rpartition("::")
    if not mark or path.exists():
        return path, None
    return Path(file), name


def _reader_of(head: bytes, path: Path) -> Callable[..., pd.DataFrame] | None:
    """Return the reader of a format that can have several tables, None for others."""
    if head.startswith(b"SQLite format 3\0"):
        return _read_sqlite
    if head[8:12] == b"DUCK":
        return _read_duckdb
    if head.startswith(_OLD_EXCEL) or (head.startswith(b"PK") and _is_workbook(path)):
        return _read_workbook
    return None


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
    return any(name.startswith("xl/workbook") for name in names) or (
        "content.xml" in names
    )


def _read_workbook(path: Path, name: str | None) -> pd.DataFrame:
    _require("python_calamine", "An Excel workbook")
    # calamine has exceptions of its own
    with _reading(f"{path} is a damaged workbook", Exception):
        sheets = pd.read_excel(path, sheet_name=None, engine="calamine")
    filled = [sheet for sheet, table in sheets.items() if table.shape[1]]
    return sheets[_chosen(path, filled, name, "sheet")]


def _read_sqlite(path: Path, name: str | None) -> pd.DataFrame:
    # Read-only, because a database opened for writing creates files next to it.
    address = f"{path.resolve().as_uri()}?mode=ro"
    found = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
    with (
        _reading(f"{path} is a damaged SQLite file", sqlite3.DatabaseError),
        closing(sqlite3.connect(address, uri=True)) as connection,
    ):
        tables = [row[0] for row in connection.execute(found)]
        own = [table for table in tables if not table.startswith("sqlite_")]
        chosen = _chosen(path, own, name, "table")
        return pd.read_sql_query(f"SELECT * FROM {_quoted(chosen)}", connection)


def _read_duckdb(path: Path, name: str | None) -> pd.DataFrame:
    duckdb = _require("duckdb", "A DuckDB file")
    with (
        _reading(f"{path} cannot be read by DuckDB", duckdb.Error),
        duckdb.connect(str(path), read_only=True) as connection,
    ):
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables ORDER BY table_name"
        )
        tables = [row[0] for row in found.fetchall()]
        chosen = _chosen(path, tables, name, "table")
        return connection.execute(f"SELECT * FROM {_quoted(chosen)}").df()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _chosen(path: Path, names: list[str], name: str | None, kind: str) -> str:
    """Return the name of the requested table, or of the only one."""
    if not names:
        raise InputError(f"{path} holds no {kind} with columns.")
    if name in names:
        return str(name)
    one = f"write {path}::{names[0]} for one of them."
    if name is not None:
        raise InputError(
            f"{path} has no {kind} {name!r}; there is {listed(names, most=8)}: {one}"
        )
    if len(names) > 1:
        raise InputError(
            f"{path} holds {len(names)} {kind}s ({listed(names, most=8)}): {one}"
        )
    return names[0]


def _read_json(text: str, path: Path) -> pd.DataFrame | None:
    """Read JSON lines or a JSON list of records; return None for other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        records = json.loads(text)
    except ValueError:
        try:
            records = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return None
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise InputError(
            f"{path} is JSON, but no list of records: one object per line is "
            'expected, such as {"age": 31, "cd4": 300}.'
        )
    return pd.DataFrame(records)


def _require(name: str, what: str) -> Any:
    try:
        return require(name, what)
    except ModuleNotFoundError as error:
        raise InputError(str(error)) from None


def _tidy(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    first, count = table.columns[0], np.arange(len(table))
    if (
        first in ("", "Unnamed: 0")
        and pd.api.types.is_integer_dtype(table[first])
        and any(np.array_equal(table[first], count + start) for start in (0, 1))
    ):
        table = table.drop(columns=first)
        notes.append("The first column has no name and counts the rows; left out.")
    numbers = table.select_dtypes("number").columns
    infinite = np.isinf(table[numbers].to_numpy(float, na_value=np.nan))
    if infinite.any():
        table = table.copy()
        table[numbers] = table[numbers].replace([np.inf, -np.inf], np.nan)
        said = counted(int(infinite.sum()), "infinite values are")
        notes.append(f"{said} taken as missing.")
    return table


def resolve_columns(
    patterns: Iterable[str], columns: Sequence[str], option: str
) -> list[str]:
    """Return the columns that patterns select, in the order of the table.

    A pattern is a name, a glob (``cd4*``), a range (``age:weight``, either end may be
    left out) or several of these separated by commas. An exact name has precedence.
    `option` is the option with the patterns, for messages.

    Examples
    --------
    >>> resolve_columns(["cd*", "age:sex"], ["age", "bmi", "sex", "cd4", "cd8"], "-p")
    ['age', 'bmi', 'sex', 'cd4', 'cd8']
    """
    chosen: set[str] = set()
    for pattern in patterns:
        if pattern in columns:
            chosen.add(pattern)
            continue
        for part in pattern.split(","):
            if part.strip():
                chosen.update(_resolve_one(part.strip(), columns, option))
    return [name for name in columns if name in chosen]


def _resolve_one(part: str, columns: Sequence[str], option: str) -> list[str]:
    if part in columns:
        return [part]
    if ":" in part:
        ends = part.split(":", 1)
        start, stop = (
            columns.index(column_named(end or last, columns, option))
            for end, last in zip(ends, (columns[0], columns[-1]), strict=True)
        )
        if start > stop:
            raise InputError(
                f"{option} {part}: {ends[0]!r} comes after {ends[1]!r} in the table; "
                f"write {ends[1]}:{ends[0]}."
            )
        return list(columns[start : stop + 1])
    if any(mark in part for mark in "*?["):
        found = [name for name in columns if fnmatch.fnmatchcase(name, part)]
        if not found:
            raise InputError(f"{option} {part}: no column matches.")
        return found
    return [column_named(part, columns, option)]


def column_named(name: str, columns: Sequence[str], option: str) -> str:
    """Return an existing name, or raise an InputError that suggests the nearest."""
    if name in columns:
        return name
    near = nearest(name, columns)
    hint = (
        f"did you mean {near!r}?"
        if near
        else f"the columns are {listed(columns, most=8)}."
    )
    raise InputError(f"{option}: there is no column {name!r}; {hint}")


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the most similar name, ignoring case, or None."""
    folded = {other.casefold(): other for other in reversed(names)}
    found = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
    return folded[found[0]] if found else None


def to_csv(table: pd.DataFrame) -> str:
    """Return CSV in which no text is evaluated as a formula by a spreadsheet.

    Text that begins with =, +, -, @, a tab or a carriage return is prefixed with an
    apostrophe unless it is a number.

    Examples
    --------
    >>> print(to_csv(pd.DataFrame({"id": ["=1+1", "-5", "a"], "p": [-0.5, 1, 0]})))
    id,p
    '=1+1,-0.5
    -5,1.0
    a,0.0
    <BLANKLINE>
    """
    return neutral(table).to_csv(index=False)


def neutral(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which no text begins like a formula."""
    safe = table.rename(columns=_neutral)
    for place, (_, column) in enumerate(table.items()):
        if not pd.api.types.is_numeric_dtype(column):
            safe.isetitem(place, column.astype(object).map(_neutral))
    return safe


def _neutral(cell: Any) -> Any:
    begins = ("=", "+", "-", "@", "\t", "\r")
    if not isinstance(cell, str) or not cell.startswith(begins):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def target_values(target: pd.Series) -> np.ndarray[Any, Any]:
    """Return the target as an array of bool, int, float or str.

    With missing values it is an array of objects, with None for them.
    """
    known = target.notna()
    if not known.all():
        values = np.full(len(target), None, dtype=object)
        values[known.to_numpy()] = target_values(target[known].infer_objects())
        return values
    if pd.api.types.is_bool_dtype(target):
        return target.to_numpy(bool)
    if pd.api.types.is_numeric_dtype(target):
        values = target.to_numpy(float)
        whole = np.all(np.mod(values, 1) == 0)
        return values.astype(np.int64) if whole else values
    return target.astype(str).to_numpy(object).astype(str)
