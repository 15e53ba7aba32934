"""Output files: checked before the work, written atomically, never overwritten."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lupi._atomic import write_atomically
from lupi._optional import require
from lupi._tables import to_csv
from lupi.cli._errors import InputError

if TYPE_CHECKING:
    from lupi.evaluation import ColumnGains, Comparison
    from lupi.report import Usage

CHECKPOINT = "unfinished.jsonl"
RESULTS = (
    *("report.html", "results.csv", "results.json", "columns.csv", "model.skops"),
    "figures",
)


def prepare_folder(folder: Path, *, force: bool) -> None:
    """Create the folder if needed, and check that it is writable."""
    if folder.is_file():
        raise InputError(f"{folder} is a file; give a folder as --out.")
    older = [name for name in RESULTS if (folder / name).exists()]
    if older and not force:
        raise InputError(
            f"{folder} has the result of an older run ({', '.join(older)}); choose "
            "another --out, or replace it with --force."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _try_to_write(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}.") from error


def prepare_file(path: Path, *, force: bool) -> None:
    """Check that a file can be written and that no older one is replaced."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write.")
    if path.exists() and not force:
        raise InputError(
            f"{path} exists; choose another --out, or replace it with --force."
        )
    try:
        _try_to_write(path.parent)
    except OSError as error:
        raise InputError(f"{path} cannot be written to: {error.strerror}.") from error


def _try_to_write(folder: Path) -> None:
    # Permissions are not enough: disks may be full, and mounts read-only.
    handle, name = tempfile.mkstemp(dir=folder, prefix=".lupi-")
    os.close(handle)
    with suppress(FileNotFoundError):
        os.unlink(name)


def write_results(
    folder: Path,
    comparison: Comparison,
    usage: Usage,
    curves: Any,
    model: bytes | None,
    columns: ColumnGains | None = None,
) -> None:
    """Write all output files, the report last."""
    from lupi.report import write_html

    if model is not None:
        write_atomically(folder / "model.skops", model)
    else:
        # The file of an older run would not belong to this report.
        (folder / "model.skops").unlink(missing_ok=True)
    if columns is not None:
        write_atomically(folder / "columns.csv", to_csv(columns.table))
    else:
        (folder / "columns.csv").unlink(missing_ok=True)
    comparison.to_json(folder / "results.json")
    write_atomically(folder / "results.csv", to_csv(comparison.table))
    _write_figures(folder / "figures", comparison, columns)
    write_html(comparison, folder / "report.html", usage, curves, columns)


def _write_figures(
    folder: Path, comparison: Comparison, columns: ColumnGains | None
) -> None:
    matplotlib = require("matplotlib", "The report")
    matplotlib.use("Agg")
    folder.mkdir(exist_ok=True)
    figures = {"comparison": comparison.plot().figure_}
    if columns is not None:
        figures["columns"] = columns.plot().figure_
    for name, figure in figures.items():
        for suffix in ("svg", "png"):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix, dpi=150)
            write_atomically(folder / f"{name}.{suffix}", buffer.getvalue())
