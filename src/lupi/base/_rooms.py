"""The models that the files of a package declare."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

from lupi.base._info import declared_models


def models_in(package: str, path: Iterable[str]) -> dict[str, type]:
    """Import the files of a package and return the models that they declare.

    So a new model is one new file: the ``__init__`` of its package finds it.

    Parameters
    ----------
    package : str
        Name of the package.
    path : iterable of str
        Its ``__path__``. Packages inside it are left alone.

    Returns
    -------
    dict from str to type
        The classes that have a ``__lupi_info__``, by name, in the order of lists.
    """
    for found in pkgutil.iter_modules(path):
        if not found.ispkg:
            importlib.import_module(f"{package}.{found.name}")
    return {
        kind.__name__: kind
        for kind in declared_models()
        if kind.__module__.startswith(f"{package}.")
    }
