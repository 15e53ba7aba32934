"""What tests and examples of docstrings share, wherever they stand."""

import sys
from importlib.util import find_spec

import pytest

collect_ignore = []
if find_spec("torch") is None:
    collect_ignore.append("src/lupi/_convex/torch_linalg.py")


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    """Close figures after every test: matplotlib warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
