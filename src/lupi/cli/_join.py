"""``--privileged-file later.csv --key patient``: the columns of a second file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from lupi._tables import column_named, read_table
from lupi.cli._errors import InputError


def join_later(
    table: pd.DataFrame, file: Path, later_file: Path, key: str | None, notes: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Add the columns of a second file to the rows that have the same key.

    Parameters
    ----------
    table : pandas.DataFrame
        The first file.
    file, later_file : Path
        Both files, for messages.
    key : str or None
        The column that identifies the rows in both files.
    notes : list of str
        Notes are appended here.

    Returns
    -------
    table : pandas.DataFrame
        The rows of the first file, without the key, with all columns.
    added : list of str
        The columns of the second file.
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
    ours, theirs = _comparable(table[key], later[key])
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
        notes.append(f"{unused} rows of {later_file} have no row in {file}; left out.")
    place = _own_name(later_file)
    names = {
        name: f"{name} ({place})" if name in table.columns else name
        for name in later.columns
        if name != key
    }
    renamed = [name for name, new in names.items() if name != new]
    if renamed:
        notes.append(
            f"Both files have {renamed[0]!r}; that of {later_file} is renamed to "
            f"{names[renamed[0]]!r}."
        )
    matched = (
        later[known]
        .drop(columns=key)
        .rename(columns=names)
        .set_axis(theirs[known], axis=0)
        .reindex(ours)
        .set_axis(table.index, axis=0)
    )
    return pd.concat([table.drop(columns=key), matched], axis=1), list(names.values())


def _comparable(ours: pd.Series, theirs: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return both keys as numbers, or both as text."""
    if pd.api.types.is_numeric_dtype(ours) and pd.api.types.is_numeric_dtype(theirs):
        return ours, theirs
    return tuple(  # type: ignore[return-value]
        key.astype(object).where(key.notna()).map(_word, na_action="ignore")
        for key in (ours, theirs)
    )


def _word(value: object) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value).strip()  # type: ignore[call-overload]


def _own_name(file: Path) -> str:
    name = file.name.rpartition("::")[2]
    return name.partition(".")[0] or name
