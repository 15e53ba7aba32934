"""Errors of the command line, and their messages."""

from __future__ import annotations

import functools
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
                raise InputError(str(error)) from error

        return wrapped

    return wrap
