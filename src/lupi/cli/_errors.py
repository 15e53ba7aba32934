"""Errors of the command line, and their messages."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

WRONG_INPUT = 2
INTERRUPTED = 130

_P = ParamSpec("_P")
_R = TypeVar("_R")


class InputError(Exception):
    """Input that cannot be used; the message is one sentence for the user."""


class Interrupted(Exception):
    """An interrupt by the user; the message says what is kept."""


# Options of the arguments of `lupi.evaluation.compare` that occur in messages.
OPTIONS = {
    "cv": "--cv",
    "groups": "--group",
    "inner_cv": "--inner-cv",
    "labelled": "--labelled",
    "methods": "--methods",
    "n_candidates": "--n-candidates",
    "random_state": "--seed",
    "scoring": "--metric",
    "task": "--task",
    "train_size": "--train-size",
    "unlabelled": "--unlabelled",
}
_NAMES = "|".join(OPTIONS)
_GIVEN = re.compile(rf"\b({_NAMES})=(?:([\"'])(.*?)\2|([^\s,;:)]*[^\s,;:).]))?")
# Arguments without a value; "labelled" is one only after these words.
_NAMED = re.compile(
    r"\b(train_size|n_candidates|inner_cv|random_state|cv)\b"
    r"|(?<=leave )labelled\b|(?<=larger )labelled\b|(?<=smaller )labelled\b"
)


def in_options(sentence: str) -> str:
    """Replace arguments of Python by options of the command line in a message.

    Examples
    --------
    >>> from lupi.cli._errors import in_options
    >>> in_options('train_size=9 leaves 2 groups; use n_candidates=1.')
    '--train-size 9 leaves 2 groups; use --n-candidates 1.'
    >>> in_options('Set task="regression", or use a larger train_size.')
    'Set --task regression, or use a larger --train-size.'
    """

    def given(found: re.Match[str]) -> str:
        value = found[3] or found[4]
        return f"{OPTIONS[found[1]]} {value}" if value else OPTIONS[found[1]]

    return _NAMED.sub(
        lambda found: (
            found[0]
            if found.start() and found.string[found.start() - 1] == "-"
            else OPTIONS[found[0]]
        ),
        _GIVEN.sub(given, sentence),
    )


def refusing(*kinds: type[Exception]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Convert errors of these types, raised by a function, to `InputError`.

    It is for functions that only check input of the user: elsewhere a ValueError is a
    bug and must show its traceback.
    """

    def wrap(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except kinds as error:
                raise InputError(in_options(str(error))) from error

        return wrapped

    return wrap
