"""Marks for some of the parameters of a test."""

import pytest


def slow(*values):
    """Return values of one parameter, left to ``make test-slow``."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
