"""Packages that only some parts of the library need."""

from __future__ import annotations

import importlib
from typing import Any


def require(package: str, extra: str) -> Any:
    """Import a package, or say in a sentence which extra brings it.

    Parameters
    ----------
    package : str
        Name of the module to import.
    extra : str
        The extra of this library that installs it.

    Returns
    -------
    module
        The package.

    Examples
    --------
    >>> require("nowhere_to_be_found", "compare")
    Traceback (most recent call last):
    ...
    ImportError: nowhere_to_be_found is not installed. Install it with: pip install
    'lupi[compare]'
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != name:
            raise
        raise ImportError(missing(name, extra)) from error


def missing(package: str, extra: str) -> str:
    """Return the sentence about a package that is not installed."""
    return f"{package} is not installed. Install it with: pip install 'lupi[{extra}]'"
