"""``--small`` of every benchmark, and packages that may be missing."""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType
from typing import Any


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
