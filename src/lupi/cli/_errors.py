"""What can go wrong through no fault of the program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

WRONG_INPUT = 2
INTERRUPTED = 130

_P = ParamSpec("_P")
_R = TypeVar("_R")


class InputError(Exception):
    """Input that cannot be used, in one sentence for the person who gave it."""


class Interrupted(Exception):
    """The user stopped the run; says what is kept."""


def refusing(*kinds: type[Exception]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Turn errors of these kinds, raised by a function, into `InputError`.

    Only for functions that do nothing but check what a user gave: elsewhere a
    ValueError is a bug and must show its traceback.
    """

    def wrap(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except kinds as error:
                raise InputError(str(error)) from error

        return wrapped

    return wrap
