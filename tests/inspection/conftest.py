"""Figures are closed after each test; matplotlib warns of many open ones."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
