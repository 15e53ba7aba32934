"""Tables as people have them: files of many kinds, columns named on the way.

Reading guesses what a person would see at a glance (separator, decimal comma,
encoding, a forgotten row counter) and says in a sentence when it cannot. What the
values mean (text, categories, dates, missing numbers) is left to skrub's
``TableVectorizer``, which learns it from the training rows alone.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import fnmatch
import gzip
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lupi._formats import (
    TableError,
    read_json,
    reader_of,
    refuse_markup,
    split_name,
)
from lupi._optional import optional
from lupi._words import listed

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Reading tables")

_SEPARATORS = ",;\t|"


def read_table(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, list[str]]:
    """Read a table from a file, whose kind is told by its content.

    Parameters
    ----------
    path : str or path-like
        A CSV file (separated by comma, semicolon, tab or bar; plain or gzipped; UTF-8
        or Windows' encoding), a Parquet file, JSON lines or a JSON list of records, an
        Excel workbook, a SQLite or a DuckDB file. ``FILE::NAME`` names one of several
        sheets or tables.

    Returns
    -------
    table : pandas.DataFrame
    notes : list of str
        What was done to the file on the way, one sentence each.

    Raises
    ------
    TableError
        If there is no table in the file.
    """
    notes: list[str] = []
    path, name = split_name(Path(path))
    reader = reader_of(_read_head(path), path)
    if reader is not None:
        table = reader(path, name)
    elif name is not None:
        raise TableError(f"{path} holds one table; write {path}, without ::{name}.")
    else:
        table = _read_one_table(_read_bytes(path), path, notes)
    table = _with_names(table)
    _check_shape(table, path)
    _check_names(table, path)
    return _tidy(table, notes), notes


def _read_head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(16)
    except FileNotFoundError:
        raise TableError(f"No such file: {path}") from None
    except IsADirectoryError:
        raise TableError(f"{path} is a folder, not a file with a table.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None


def _read_one_table(data: bytes, path: Path, notes: list[str]) -> pd.DataFrame:
    if data[:4] == b"PAR1":
        return _read_parquet(data, path)
    text = _decode(data, path, notes)
    table = read_json(text, path)
    return _read_csv(text, path) if table is None else table


def _read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise TableError(f"{path} is a damaged gzip file: {error}") from None
    if not data.strip():
        raise TableError(f"{path} is empty.")
    return data


def _read_parquet(data: bytes, path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(io.BytesIO(data))
    except Exception as error:  # pyarrow has a dozen kinds for a damaged file
        reason = str(error).splitlines()[0]
        raise TableError(f"{path} is a damaged Parquet file: {reason}") from None


def _decode(data: bytes, path: Path, notes: list[str]) -> str:
    if data[:2] == b"PK":
        raise TableError(
            f"{path} is not a table: it is a zip archive and no workbook. Unpack it "
            "first."
        )
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    if b"\0" in data:
        raise TableError(
            f"{path} is not a table: it is neither text nor a "
            "kind of file that is known here."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _decode_lines(data.removeprefix(codecs.BOM_UTF8), notes)


def _decode_lines(data: bytes, notes: list[str]) -> str:
    """Decode UTF-8 with lines in Windows' encoding, or a file in that encoding."""
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
            f"{len(others)} lines are not in UTF-8 as the others are, first line "
            f"{others[0]}; they are read in the encoding Windows-1252."
        )
    return "\n".join(lines)


def _read_csv(text: str, path: Path) -> pd.DataFrame:
    header = next(line for line in text.splitlines() if line.strip())
    refuse_markup(header, path)
    separator = _separator(header)
    if separator is None:
        raise TableError(
            f"{path} is not a table: its first line has no comma, semicolon, tab or "
            "bar, so there is only one column."
        )
    names = next(csv.reader([header], delimiter=separator))
    repeated = sorted({name for name in names if name and names.count(name) > 1})
    if repeated:
        raise TableError(f"{path} has two columns called {repeated[0]!r}.")
    try:
        # Where the semicolon separates, the comma is the decimal point: that is how
        # spreadsheets write CSV in half of the world.
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
        raise TableError(f"{path} is not a table: {reason}") from None


def _separator(header: str) -> str | None:
    """Find the separator that cuts the header into the most columns."""
    counts = {
        mark: len(next(csv.reader([header], delimiter=mark))) for mark in _SEPARATORS
    }
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] > 1 else None


def _with_names(table: pd.DataFrame) -> pd.DataFrame:
    """Write the numbers that spreadsheets have for names, such as years, as text."""
    names = [
        str(name) if isinstance(name, int | float | np.integer) else name
        for name in table.columns
    ]
    return table if names == list(table.columns) else table.set_axis(names, axis=1)


def _check_shape(table: pd.DataFrame, path: Path) -> None:
    if table.shape[1] < 2:
        raise TableError(
            f"{path} has {table.shape[1]} column(s); a target, a feature and a "
            "privileged column are needed."
        )
    if len(table) == 0:
        raise TableError(f"{path} has column names but no rows.")


def _check_names(table: pd.DataFrame, path: Path) -> None:
    for name in table.columns:
        if not isinstance(name, str):
            raise TableError(
                f"{path} has a column called {name!r}, which is not text; rename it."
            )


def _tidy(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    first = table.columns[0]
    if first in ("", "Unnamed: 0") and _counts_rows(table[first]):
        table = table.drop(columns=first)
        notes.append("The first column has no name and counts the rows; left out.")
    numbers = table.select_dtypes("number").columns
    infinite = np.isinf(table[numbers].to_numpy(float, na_value=np.nan))
    if infinite.any():
        table = table.copy()
        table[numbers] = table[numbers].replace([np.inf, -np.inf], np.nan)
        notes.append(f"{int(infinite.sum())} infinite values are taken as missing.")
    return table


def _counts_rows(column: pd.Series) -> bool:
    count = np.arange(len(column))
    return pd.api.types.is_integer_dtype(column) and any(
        np.array_equal(column, count + start) for start in (0, 1)
    )


def resolve_columns(
    patterns: Iterable[str], columns: Sequence[str], option: str
) -> list[str]:
    """Turn what a user typed into column names, in the order of the table.

    Parameters
    ----------
    patterns : iterable of str
        Each a name, a glob (``cd4*``), a range of neighbors (``age:weight``, either
        end may be left out) or several of these separated by commas. A column that
        is really called so wins over every other reading.
    columns : sequence of str
        The columns of the table.
    option : str
        Where the pattern came from, for the message.

    Returns
    -------
    list of str

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
        start = columns.index(column_named(ends[0], columns, option)) if ends[0] else 0
        stop = (
            columns.index(column_named(ends[1], columns, option))
            if ends[1]
            else len(columns) - 1
        )
        if start > stop:
            raise TableError(
                f"{option} {part}: {ends[0]!r} comes after {ends[1]!r} in the table; "
                f"write {ends[1]}:{ends[0]}."
            )
        return list(columns[start : stop + 1])
    if any(mark in part for mark in "*?["):
        found = [name for name in columns if fnmatch.fnmatchcase(name, part)]
        if not found:
            raise TableError(f"{option} {part}: no column matches.")
        return found
    return [column_named(part, columns, option)]


def column_named(name: str, columns: Sequence[str], option: str) -> str:
    """Return the column called so, or raise a sentence with the nearest name."""
    if name in columns:
        return name
    near = nearest(name, columns)
    hint = (
        f"did you mean {near!r}?"
        if near
        else f"the columns are {listed(columns, most=8)}."
    )
    raise TableError(f"{option}: there is no column {name!r}; {hint}")


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the most similar of the names, whatever the case of its letters."""
    folded = {other.casefold(): other for other in reversed(names)}
    found = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
    return folded[found[0]] if found else None


def to_csv(table: pd.DataFrame) -> str:
    """Write a table whose text no spreadsheet takes for a formula.

    Text that begins with =, +, -, @, a tab or a carriage return gets an apostrophe in
    front, unless it is a number.

    Examples
    --------
    >>> print(to_csv(pd.DataFrame({"id": ["=1+1", "-5", "a"], "p": [-0.5, 1, 0]})))
    id,p
    '=1+1,-0.5
    -5,1.0
    a,0.0
    <BLANKLINE>
    """
    safe = table.rename(columns=_neutral)
    for place, (_, column) in enumerate(table.items()):
        if not pd.api.types.is_numeric_dtype(column):
            safe.isetitem(place, column.astype(object).map(_neutral))
    return safe.to_csv(index=False)


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
    """Return the target as a plain array: text stays text, whole numbers whole.

    With empty cells it is an array of objects, None where a cell is empty.
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
