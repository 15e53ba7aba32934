"""``lupi predict``: predictions of a saved model for a table."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.text import Text

from lupi._atomic import write_atomically
from lupi._persistence import load_with_details
from lupi._tables import TableError, nearest, read_table, resolve_columns, to_csv
from lupi._words import listed
from lupi.cli._errors import InputError, refusing
from lupi.cli._out import prepare_file
from lupi.cli._terminal import make_console, show_notes
from lupi.exceptions import ModelFileError, ModelVersionWarning


def run_predict(
    model_path: Path, file: Path, *, out: Path, keep: list[str], force: bool
) -> None:
    """Write one prediction per row of the file."""
    to_pipe = str(out) == "-"
    console = make_console(stderr=to_pipe)
    model, details, notes = _read_model(model_path)
    table, kept, more = _read_rows(file, keep)
    X = _take_features(table, _features(model, details, model_path), file)
    _check_numbers(X, details.get("numbers", []), file)
    if not to_pipe:
        prepare_file(out, force=force)
    predictions = _predict(model, X)
    written = pd.concat([kept, predictions], axis=1)
    show_notes(console, notes + more)
    if to_pipe:
        sys.stdout.write(to_csv(written))
        return
    _write(written, out)
    console.print(Text(f"{len(predictions):,} predictions written to {out}"))


def _read_model(path: Path) -> tuple[Any, dict[str, Any], list[str]]:
    if not path.exists():
        raise InputError(f"No such file: {path}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelVersionWarning)
        try:
            model, details = load_with_details(path)
        except ModelFileError as error:
            raise InputError(str(error)) from error
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    return model, details, [str(item.message) for item in caught]


@refusing(TableError)
def _read_rows(
    file: Path, keep: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    table, notes = read_table(file)
    return table, table[resolve_columns(keep, list(table.columns), "--keep")], notes


def _features(model: Any, details: dict[str, Any], path: Path) -> list[str]:
    features = details.get("features") or list(getattr(model, "feature_names_in_", ()))
    if not features:
        raise InputError(
            f"{path} was fitted on an array without column names, so that the columns "
            "it needs are not known; predict with it in Python."
        )
    return features


def _take_features(
    table: pd.DataFrame, features: list[str], file: Path
) -> pd.DataFrame:
    missing = [name for name in features if name not in table.columns]
    if missing:
        near = nearest(missing[0], [each for each in table if each not in features])
        hint = f" (is it {near!r} there?)" if near else ""
        raise InputError(
            f"{file} does not have {listed(missing, most=8)}{hint}, which the model "
            "needs. Add the missing columns."
        )
    return table[features]


def _check_numbers(X: pd.DataFrame, numbers: list[str], file: Path) -> None:
    """Raise an error for text in a column of numbers, which would become missing."""
    for name in set(numbers) & set(X.columns):
        column = X[name]
        if pd.api.types.is_numeric_dtype(column):
            continue
        wrong = pd.to_numeric(column, errors="coerce").isna() & column.notna()
        if wrong.any():
            raise InputError(
                f"{file}: the column {name!r} has {str(column[wrong].iloc[0])!r}, but "
                "the model was fitted on numbers. Correct the values, or leave these "
                "cells empty."
            )


def _predict(model: Any, X: pd.DataFrame) -> pd.DataFrame:
    # A ValueError here means that a column has changed since the training, such as
    # text in place of numbers; its message names the column.
    try:
        columns: dict[str, Any] = {"prediction": np.asarray(model.predict(X))}
        if hasattr(model, "predict_proba"):
            for label, values in zip(
                model.classes_, model.predict_proba(X).T, strict=True
            ):
                columns[f"probability of {label}"] = values
        elif hasattr(model, "decision_function"):
            scores = np.asarray(model.decision_function(X))
            if scores.ndim == 1:
                columns[f"score of {model.classes_[1]}"] = scores
            else:
                for label, values in zip(model.classes_, scores.T, strict=True):
                    columns[f"score of {label}"] = values
    except ValueError as error:
        raise InputError(f"The model cannot use these rows: {error}") from error
    return pd.DataFrame(columns, index=X.index)


def _write(predictions: pd.DataFrame, out: Path) -> None:
    if out.suffix.lower() in (".parquet", ".pq"):
        buffer = io.BytesIO()
        predictions.to_parquet(buffer, index=False)
        write_atomically(out, buffer.getvalue())
    else:
        write_atomically(out, to_csv(predictions))
