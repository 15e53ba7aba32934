"""Lists in words, for messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def listed(names: Iterable[Any], word: str = "and", most: int | None = None) -> str:
    """Return names in words, separated by commas and, at the end, a word.

    Parameters
    ----------
    names : iterable
        What to list, in its order.
    word : str, default="and"
        What stands before the last one.
    most : int, default=None
        How many are written out; the others are counted.

    Returns
    -------
    str
        The list.

    Examples
    --------
    >>> from lupi._words import listed
    >>> listed(["age"]), listed(["age", "sex", "bmi"]), listed("ab", "or")
    ('age', 'age, sex and bmi', 'a or b')
    >>> listed(range(10), most=2)
    '0, 1 and 8 more'
    """
    shown = [str(name) for name in names]
    if most is not None and len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
        word = "and"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}"
