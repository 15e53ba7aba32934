"""All models: those of this library, and others that were declared in the same way."""

from __future__ import annotations

import importlib
from typing import Any

# The packages whose files declare models.
ROOMS = ("svm", "transfer", "advice", "boosting", "compose")


def load_models() -> list[type]:
    """Import every model of the library and return all that are declared.

    Returns
    -------
    list of type
        In the order of lists: see `lupi.base.ModelInfo`.
    """
    for room in ROOMS:
        importlib.import_module(f"lupi.{room}")
    from lupi.base._info import declared_models

    return declared_models()


def public_names() -> dict[str, str]:
    """Return what can be imported from `lupi` itself, with the module it lives in.

    Returns
    -------
    dict from str to str
        The models of the library, and `Rule`, which two of them are given.
    """
    names = {"Rule": "lupi.advice"}
    for room in ROOMS:
        module = importlib.import_module(f"lupi.{room}")
        names |= dict.fromkeys(module._MODELS, module.__name__)
    return names


def model_named(name: str) -> Any:
    """Return what can be imported from `lupi` itself under this name.

    Parameters
    ----------
    name : str
        Name of a class.

    Returns
    -------
    type
        The class.

    Raises
    ------
    AttributeError
        If there is none.
    """
    for room in ROOMS:
        module = importlib.import_module(f"lupi.{room}")
        if name in module._MODELS:
            return module._MODELS[name]
    if name == "Rule":
        return importlib.import_module("lupi.advice").Rule
    raise AttributeError(f"module 'lupi' has no attribute {name!r}")
