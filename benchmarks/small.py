"""What benchmarks share: ``--small``, packages that may be missing, clocks, rows."""

from __future__ import annotations

import argparse
import importlib
import time
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def two_tables(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 20 features, 20 privileged ones, and labels 0 and 1, 5 % of them wrong."""
    table, target = make_classification(
        n_samples=n_rows,
        n_features=40,
        n_informative=20,
        n_redundant=5,
        n_clusters_per_class=4,
        flip_y=0.05,
        random_state=seed,
    )
    table = StandardScaler().fit_transform(table)
    return table[:, ::2].copy(), table[:, 1::2].copy(), target


def parsed(parser: argparse.ArgumentParser, **small: Any) -> argparse.Namespace:
    """Parse the arguments; with --small, the defaults are those of `small`."""
    parser.add_argument(
        "--small",
        action="store_true",
        help="sizes that take seconds, to see that it runs; the targets do not apply",
    )
    if parser.parse_known_args()[0].small:
        parser.set_defaults(**small)
    return parser.parse_args()


def part_of(package: str, what: str) -> ModuleType | None:
    """Import a package that a part of a benchmark needs; None, with a line, without."""
    try:
        return importlib.import_module(package)
    except ImportError:
        print(f"Skipped: {what}, which needs {package}.")
        return None


def needed(package: str) -> ModuleType:
    """Import a package that the whole benchmark needs, or end it with a line."""
    found = part_of(package, "the whole benchmark")
    if found is None:
        raise SystemExit(0)
    return found
