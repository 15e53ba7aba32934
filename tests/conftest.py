"""Settings for all tests: nothing random between runs, nothing drawn on a screen."""

import os
import re

import pytest
from hypothesis import settings

from tests.drawing import undrawn as nothing_is_drawn

os.environ.setdefault("MPLBACKEND", "Agg")

# Timing on a shared machine says nothing, and a failure must come back on the next run.
settings.register_profile("lupi", derandomize=True, deadline=None, database=None)
settings.load_profile("lupi")


def pytest_collection_modifyitems(items):
    """Refuse names that change from run to run: workers would disagree about them."""
    changing = [
        item.nodeid for item in items if re.search(r" at 0x[0-9a-f]+", item.nodeid)
    ]
    if changing:
        raise pytest.UsageError(f"Give these parameters an id: {', '.join(changing)}")


@pytest.fixture(scope="module")
def undrawn():
    """Leave the figures of a file of tests undrawn."""
    with nothing_is_drawn():
        yield
