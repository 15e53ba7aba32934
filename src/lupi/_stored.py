"""`stored`: which classes a model file may hold.

`lupi.load` builds the classes that were declared here by the modules of the running
process, and no others; what a file asks for never adds to them.
"""

from __future__ import annotations

from typing import TypeVar

Kind = TypeVar("Kind", bound=type)

STORED: dict[str, type] = {}


def stored(kind: Kind) -> Kind:
    """Declare a class whose instances are part of fitted models.

    Parameters
    ----------
    kind : type
        Plain data: attributes that are arrays, numbers, text, containers of these, or
        instances of other classes declared so. Building it from the attributes in a
        file must be harmless, whatever they are.

    Returns
    -------
    type
        The class itself.
    """
    STORED[f"{kind.__module__}.{kind.__name__}"] = kind
    return kind
