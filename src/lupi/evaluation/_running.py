"""Parallel execution of many tasks, with a progress bar and a checkpoint.

The checkpoint is a text file: the first line identifies the study, and each finished
piece of work appends one line, which is forced to disk at once. A run that is killed
loses the unfinished pieces only; an incomplete last line is ignored when the file is
read again.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from lupi.base._rows import is_data_frame

CHECKPOINT_FORMAT = "lupi-checkpoint-1"
SECONDS_BETWEEN_LINES = 10.0
# When a line was printed, if several works are the parts of one run.
_printed: ContextVar[list[float] | None] = ContextVar("lupi_printed", default=None)


def fingerprint(*parts: Any) -> str | None:
    """Return a digest of tables, estimators, functions and plain values.

    Functions and classes are identified by their names; the result is None if one of
    them has none (a lambda), or if an object cannot be pickled.
    """
    try:
        return joblib.hash([_content(part) for part in parts])
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _content(part: Any) -> Any:
    """Return the content of a table, whatever its layout in memory."""
    if is_data_frame(part):
        import pandas as pd

        rows = pd.util.hash_pandas_object(part, index=False)
        return list(map(str, part)), list(map(str, part.dtypes)), rows.to_numpy()
    if sp.issparse(part):
        return part.shape, part.data, part.indices, part.indptr
    return part


def run_all(
    work: Callable[[Any], dict[str, Any]],
    pieces: Mapping[str, Any],
    *,
    identity: str | None,
    fields: tuple[str, ...],
    title: str,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> dict[str, dict[str, Any]]:
    """Run ``work`` on every piece that is not in the checkpoint yet.

    The keys of the pieces are the same in every run. ``work`` returns plain data with
    the entries ``fields``, and is pickled unless ``n_jobs`` is 1. The results are
    returned in the order of the pieces.
    """
    file = None if checkpoint is None else Checkpoint(checkpoint, identity, fields)
    done = {} if file is None else file.read()
    waiting = {key: piece for key, piece in pieces.items() if key not in done}
    if joblib.effective_n_jobs(n_jobs) > 1:
        work = _sent_once(work)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    results = parallel(
        delayed(_run_one)(work, key, piece) for key, piece in waiting.items()
    )
    n_done = len(pieces) - len(waiting)
    with _progress_bar(title, len(pieces), n_done, progress) as step:
        for key, result in results:
            if file is not None:
                file.append(key, result)
            done[key] = result
            step()
    return {key: done[key] for key in pieces}


def _sent_once(work: Any) -> Any:
    """Return the work itself, or a future of it where joblib's backend is Dask.

    Joblib would send the work, with its data, with every piece. Scattered data would
    be lost with the worker that holds it; the result of a task can be recomputed.
    """
    client = getattr(get_active_backend()[0], "client", None)
    if client is None:
        return work
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(lambda sent: sent, work, pure=False)


def _run_one(
    work: Callable[[Any], Any], key: str, piece: Any
) -> tuple[str, dict[str, Any]]:
    # Plain data even without a checkpoint, so that results do not depend on it.
    return key, to_plain(work(piece))


def to_plain(value: Any) -> Any:
    """Convert numpy scalars and arrays to JSON's types, NaN and infinity to null."""
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [to_plain(item) for item in value]
    if isinstance(value, np.bool_ | np.number):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    plain = value is None or isinstance(value, bool | int | str)
    return value if plain else str(value)


class Checkpoint:
    """A file of the finished pieces of one study."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: str | None,
        fields: tuple[str, ...] = (),
    ):
        if identity is None:
            raise ValueError(
                "A checkpoint needs a scorer and estimators that can be recognized "
                "when the run is resumed; at least one is, or contains, a lambda, a "
                "function inside a function or an object that cannot be pickled. "
                "Define it in a module, or leave checkpoint out."
            )
        self.path = Path(path)
        self.identity = identity
        self.fields = fields

    def read(self) -> dict[str, dict[str, Any]]:
        """Return the finished pieces, and prepare the file for appending."""
        header = {"format": CHECKPOINT_FORMAT, "study": self.identity}
        content = self.path.read_bytes() if self.path.exists() else b""
        complete = content[: content.rfind(b"\n") + 1]
        lines = complete.splitlines()
        if not lines and json.dumps(header).encode().startswith(content):
            self._write("wb", header)
            return {}
        try:
            first, *rest = [json.loads(line) for line in lines]
            known = first["format"] == CHECKPOINT_FORMAT
            done = {entry["piece"]: entry["result"] for entry in rest}
            whole = all(set(self.fields) <= set(part) for part in done.values())
        except (ValueError, TypeError, KeyError):
            known = False
        if not known or not whole:
            raise ValueError(
                f"{self.path} is not a checkpoint of lupi, or it is damaged; name "
                "another file, or remove this one."
            )
        if first["study"] != self.identity:
            raise ValueError(
                f"{self.path} belongs to other data, methods or settings, and its "
                "results cannot be used here. Name another file, or remove it to start "
                "again."
            )
        if len(complete) < len(content):
            os.truncate(self.path, len(complete))
        return done

    def append(self, key: str, result: dict[str, Any]) -> None:
        """Add a finished piece and force it to disk."""
        self._write("ab", {"piece": key, "result": result})

    def _write(self, mode: str, entry: dict[str, Any]) -> None:
        with open(self.path, mode) as file:
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def _progress_bar(
    title: str, total: int, completed: int, show: bool | None
) -> Iterator[Callable[[], None]]:
    """Show a progress bar with the remaining time, on the standard error.

    Where that is not a terminal, there is a line every ten seconds instead.
    """
    if show is False:
        yield lambda: None
        return
    if not (sys.stderr.isatty() and find_spec("rich") is not None):
        yield _progress_lines(title, total, completed, last=bool(show))
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    counts = (MofNCompleteColumn(), TimeElapsedColumn(), "left", TimeRemainingColumn())
    columns = ("{task.description}", BarColumn(), *counts)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, completed=completed)
        yield lambda: bar.advance(task)


@contextmanager
def one_run() -> Iterator[None]:
    """Count the seconds between lines over all works of this block."""
    token = _printed.set([time.monotonic()])
    try:
        yield
    finally:
        _printed.reset(token)


def _progress_lines(
    title: str, total: int, completed: int, *, last: bool
) -> Callable[[], None]:
    """Return a function that counts a finished piece, and prints the count at times.

    The ``last`` count is printed in any case, or only if it is time.
    """
    done, start = completed, time.monotonic()
    printed = _printed.get() or [start]

    def step() -> None:
        nonlocal done
        done += 1
        now = time.monotonic()
        if now - printed[0] >= SECONDS_BETWEEN_LINES or (last and done == total):
            printed[0] = now
            left = (now - start) / (done - completed) * (total - done)
            said = f"{title}: {done} of {total}, about {left:.0f} s left"
            print(said, file=sys.stderr, flush=True)

    return step
