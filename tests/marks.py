"""Marks for tests and for some of their parameters."""

import signal
import sys

import pytest

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="needs the signals and permissions of POSIX"
)

# Ends a process without warning; Windows has one way, and calls it SIGTERM.
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def slow(*values):
    """Return values of one parameter, left to ``make test-slow``."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
