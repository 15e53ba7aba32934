"""Lists, signed numbers and arguments in messages."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# Smaller numbers are rounding errors.
TINY = 1e-6


def signed(value: float, *beside: float, most: int = 9) -> str:
    """Return a difference with its sign, to three decimals; a dash for NaN.

    A smaller value has as many decimals as its first digit needs. Beside others, as in
    an interval, it has those that the smallest needs, or a tenth of their range, and at
    most so many.

    Examples
    --------
    >>> from lupi._words import signed, together
    >>> signed(0.0312), signed(-0.00032), signed(-1234.5), signed(float("nan"))
    ('+0.031', '−0.0003', '−1,234', '–')
    >>> signed(0.0), signed(-1e-9)
    ('+0.000', '+0.000')
    >>> together(0.0005, -0.0007, 0.0011), together(-0.002, -0.004, 0.0003)
    (['+0.0005', '−0.0007', '+0.0011'], ['−0.0020', '−0.0040', '+0.0003'])
    >>> together(-0.00046, -0.0047, 0.0034), together(0.0001, float("nan"), None)
    (['−0.0005', '−0.0047', '+0.0034'], ['+0.0001', '–', '–'])
    >>> together(-0.00002, -0.0053, 0.0050), together(-0.0005, -0.0016, 0.000008)
    (['−0.00002', '−0.0053', '+0.0050'], ['−0.0005', '−0.0016', '+0.0000'])
    """
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= 100:
        text = f"{value:+,.4g}"
    else:
        known = [each for each in beside if each is not None and not math.isnan(each)]
        values = known or [value]
        sizes = [*map(abs, values), (max(values) - min(values)) / 10]
        small = [each for each in sizes if TINY <= each < 0.0005]
        digits = -int(f"{min(small):.0e}".partition("e")[2]) if small else 3
        digits = min(digits, most)
        # A small loss keeps its sign: with p above 0.5, +0.000 would be misread.
        text = f"{value if abs(value) >= TINY else 0.0:+.{digits}f}"
    return text.replace("-", "−")


def together(value: float, *ends: float) -> list[str]:
    """Return a difference and its interval, whose ends have one number of decimals.

    One near zero does not give the others five; the difference keeps its first digit.
    """
    values = (value, *ends)
    large = any(each is not None and abs(each) >= 0.001 for each in values)
    said = [signed(each, *values, most=4 if large else 9) for each in values]
    small = large and TINY <= abs(value) < 0.00005
    return [signed(value), *said[1:]] if small else said


def number(value: float, *beside: float) -> str:
    """Return a score as `signed` does, without the sign +.

    Examples
    --------
    >>> from lupi._words import number
    >>> number(0.71234), number(-0.0001), number(float("nan"))
    ('0.712', '−0.0001', '–')
    >>> number(0.71234, 0.71234, 0.71261)
    '0.71234'
    """
    return signed(value, *beside).removeprefix("+")


def numbers(*values: float) -> list[str]:
    """Return scores that stand together, to three decimals unless all are small.

    Examples
    --------
    >>> from lupi._words import numbers
    >>> numbers(0.782, -0.00002), numbers(-0.0004, -0.00002)
    (['0.782', '0.000'], ['−0.0004', '−0.00002'])
    """
    visible = any(abs(each) >= 0.01 for each in values)
    return [number(round(each, 3) if visible else each) for each in values]


def percent(share: float, less: str = "less than") -> str:
    """Return a share in per cent; one that is not zero is not rounded to it.

    Examples
    --------
    >>> from lupi._words import percent
    >>> percent(0.47), percent(0.004), percent(0.004, "<"), percent(0)
    ('47 %', 'less than 1 %', '< 1 %', '0 %')
    """
    return f"{round(100 * share) or (f'{less} 1' if share else 0)} %"


def counted(count: int, words: str, total: int | None = None) -> str:
    """Return a number and words such as "rows have", which agree with it.

    Examples
    --------
    >>> from lupi._words import counted
    >>> counted(1, "rows have"), counted(2000, "rows have"), counted(1, "rows have", 30)
    ('1 row has', '2,000 rows have', '1 of 30 rows has')
    """
    if count == 1:
        words = re.sub(r"\bare$", "is", re.sub(r"\bhave$", "has", words))
        words = words if total else re.sub(r"s\b", "", words, count=1)
    return f"{count:,} {'' if total is None else f'of {total:,} '}{words}"


def listed(names: Iterable[Any], word: str = "and", most: int | None = None) -> str:
    """Return names separated by commas, with a word before the last one.

    Of more than `most` names the others are counted.

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


def listed_columns(names: Iterable[Any], most: int | None = None) -> str:
    """Return names of columns as `listed` does; those with a comma are in quotes.

    Examples
    --------
    >>> from lupi._words import listed_columns
    >>> listed_columns(["size, cm", "age"])
    '“size, cm” and age'
    """
    return listed(
        (f"“{name}”" if "," in str(name) else name for name in names), most=most
    )


# Messages about arguments of `lupi.evaluation.compare` name options of the command
# line where they are shown there.
_in_options: ContextVar[bool] = ContextVar("lupi_in_options", default=False)
_OPTIONS = {
    "test_quality": "clean",
    "groups": "group",
    "random_state": "seed",
    "scoring": "metric",
}


@contextmanager
def option_names(in_options: bool = True) -> Iterator[None]:
    """Name arguments as options of the command line in messages of this block."""
    token = _in_options.set(in_options)
    try:
        yield
    finally:
        _in_options.reset(token)


def argument(name: str, value: Any = None) -> str:
    """Return an argument of `lupi.evaluation.compare`, with its value, for a message.

    Examples
    --------
    >>> from lupi._words import argument, option_names
    >>> argument("train_size", 60), argument("task", "regression")
    ('train_size=60', "task='regression'")
    >>> with option_names():
    ...     argument("train_size", 60), argument("scoring")
    ('--train-size 60', '--metric')
    """
    if not _in_options.get():
        return name if value is None else f"{name}={value!r}"
    option = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
    return option if value is None else f"{option} {value}"


def classes_left_out(names: Collection[Any]) -> str:
    """Return the advice to leave classes out, with the option for it, if there is one.

    Examples
    --------
    >>> from lupi._words import classes_left_out, option_names
    >>> classes_left_out(["W", "I"])
    'leave classes W and I out'
    >>> with option_names():
    ...     classes_left_out(["W"])
    'leave class W out (--missing W: its rows then have no outcome)'
    """
    several = len(names) > 1
    advice = f"leave class{'es' * several} {listed(names, most=9)} out"
    # A number can be a value of other columns, too.
    if (
        len(names) > 9
        or not _in_options.get()
        or not all(isinstance(name, str) for name in names)
    ):
        return advice
    values, whose = " ".join(map(shlex.quote, names)), "their" if several else "its"
    return f"{advice} (--missing {values}: {whose} rows then have no outcome)"


# Symbols for the control characters of ASCII, and one for those of Latin-1.
_SYMBOLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
_SYMBOLS |= {127: 0x2421} | dict.fromkeys(range(128, 160), 0xFFFD)


def printable(text: str) -> str:
    r"""Return text that cannot control a terminal.

    Examples
    --------
    >>> from lupi._words import printable
    >>> printable("\x1b[31mage")
    '␛[31mage'
    """
    return text.translate(_SYMBOLS)
