"""Lists and signed numbers in messages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def signed(value: float) -> str:
    """Return a difference with its sign, to three decimals; a dash for NaN.

    Examples
    --------
    >>> from lupi._words import signed
    >>> signed(0.0312), signed(-0.00001), signed(-1234.5), signed(float("nan"))
    ('+0.031', '+0.000', '−1,234', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    # Adding zero turns −0.0 into 0.0.
    text = f"{round(value, 3) + 0.0:+.3f}" if abs(value) < 100 else f"{value:+,.4g}"
    return text.replace("-", "−")


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
