"""What is public: the modules, their names, and the members of their classes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import lupi

# A program, not a library.
PRIVATE = {"cli"}


def modules() -> list[str]:
    """Every public module, the package itself first."""
    rooms = [
        module.name
        for module in pkgutil.iter_modules(lupi.__path__)
        if not module.name.startswith("_") and module.name not in PRIVATE
    ]
    return ["lupi", *(f"lupi.{room}" for room in rooms)]


def names(module: str) -> list[str]:
    """The public names of a module that live there, sub-modules left out."""
    loaded = importlib.import_module(module)
    found = []
    for name in loaded.__all__:
        value = getattr(loaded, name)
        borrowed = module == "lupi" and not inspect.isroutine(value)
        if not inspect.ismodule(value) and not borrowed:
            found.append(name)
    return found


def objects() -> Iterator[tuple[str, Any]]:
    """Every public class and function with the name to import it by."""
    for module in modules():
        for name in names(module):
            value = getattr(importlib.import_module(module), name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield f"{module}.{name}", value


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that this library defines for a class."""
    for name in sorted(dir(owner)):
        home = next((base for base in owner.__mro__ if name in vars(base)), object)
        value = inspect.getattr_static(owner, name)
        ours = home.__module__.startswith("lupi")
        # Methods that scikit-learn makes for every class, each with its own words.
        made = name.startswith("set_") and name.endswith("_request")
        described = isinstance(value, property) or hasattr(value, "__get__")
        if ours and described and not name.startswith("_") and not made:
            yield name, value
