"""Files that hold several tables, or records: workbooks, databases, JSON.

Each is told by its content. Of a file with several tables, ``FILE::NAME`` names one.
"""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lupi._optional import optional, require
from lupi._words import listed

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Reading tables")

_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_MARKUP = re.compile(r"<(!doctype|!--|\?xml|html|head|body|table|svg|rss)\b", re.I)


class TableError(ValueError):
    """Input that cannot be used, in one sentence for the person who gave it."""


def split_name(path: Path) -> tuple[Path, str | None]:
    """Return the file and the table in it that was asked for.

    Examples
    --------
    >>> from pathlib import Path
    >>> from lupi._formats import split_name
    >>> split_name(Path("clinic.xlsx::March"))[1], split_name(Path("clinic.csv"))[1]
    ('March', None)
    """
    file, mark, name = str(path).rpartition("::")
    if not mark or path.exists():
        return path, None
    return Path(file), name


def reader_of(head: bytes, path: Path) -> Callable[..., pd.DataFrame] | None:
    """Return what reads a file of several tables, told by its first bytes."""
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
    try:
        sheets = pd.read_excel(path, sheet_name=None, engine="calamine")
    except Exception as error:  # calamine has kinds of its own for a damaged file
        reason = (str(error) or "of unknown cause").splitlines()[0]
        raise TableError(f"{path} is a damaged workbook: {reason}") from None
    filled = [sheet for sheet, table in sheets.items() if table.shape[1]]
    return sheets[_chosen(path, filled, name, "sheet")]


def _read_sqlite(path: Path, name: str | None) -> pd.DataFrame:
    # By address, because a database opened for writing leaves files beside itself.
    address = f"{path.resolve().as_uri()}?mode=ro"
    found = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
    connection = sqlite3.connect(address, uri=True)
    try:
        tables = [row[0] for row in connection.execute(found)]
        own = [table for table in tables if not table.startswith("sqlite_")]
        chosen = _chosen(path, own, name, "table")
        return pd.read_sql_query(f"SELECT * FROM {_quoted(chosen)}", connection)
    except sqlite3.DatabaseError as error:
        raise TableError(f"{path} is a damaged SQLite file: {error}") from None
    finally:
        connection.close()


def _read_duckdb(path: Path, name: str | None) -> pd.DataFrame:
    duckdb = _require("duckdb", "A DuckDB file")
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute(
                "SELECT table_name FROM information_schema.tables ORDER BY table_name"
            )
            tables = [row[0] for row in found.fetchall()]
            chosen = _chosen(path, tables, name, "table")
            return connection.execute(f"SELECT * FROM {_quoted(chosen)}").df()
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{path} cannot be read by DuckDB: {reason}") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _chosen(path: Path, names: list[str], name: str | None, kind: str) -> str:
    """Return the table to read: the one asked for, or the only one."""
    if not names:
        raise TableError(f"{path} holds no {kind} with columns.")
    if name in names:
        return str(name)
    one = f"write {path}::{names[0]} for one of them."
    if name is not None:
        raise TableError(
            f"{path} has no {kind} {name!r}; there is {listed(names, most=8)}: {one}"
        )
    if len(names) > 1:
        raise TableError(
            f"{path} holds {len(names)} {kind}s ({listed(names, most=8)}): {one}"
        )
    return names[0]


def read_json(text: str, path: Path) -> pd.DataFrame | None:
    """Read JSON lines, or a JSON list of records; None for what is no JSON.

    Examples
    --------
    >>> from pathlib import Path
    >>> from lupi._formats import read_json
    >>> text = '{"age": 31, "cd4": 300}' + chr(10) + '{"age": 45, "cd4": null}'
    >>> read_json(text, Path("t.jsonl")).shape
    (2, 2)
    >>> read_json("[age],[cd4]", Path("t.csv")) is None
    True
    """
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return None
    records = _records(text)
    if records is None:
        return None
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise TableError(
            f"{path} is JSON, but no list of records: one object per line is "
            'expected, such as {"age": 31, "cd4": 300}.'
        )
    return pd.DataFrame(records)


def _records(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return None


def refuse_markup(header: str, path: Path) -> None:
    """Refuse a page; a column may be called ``<50k`` all the same."""
    if _MARKUP.match(header.lstrip()):
        raise TableError(
            f"{path} is not a table: it begins with {header.lstrip()[:16]!r}, as HTML "
            "and XML do. CSV, Parquet, Excel, JSON lines, SQLite or DuckDB is expected."
        )


def _require(name: str, what: str) -> Any:
    try:
        return require(name, what)
    except ModuleNotFoundError as error:
        raise TableError(str(error)) from None
