"""One comparison that all tests of the command line look at."""

import pytest

from tests.cli.tables import PLAIN, SHORT, clinic, lupi_here


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    """Return the folder of a comparison with all its outputs, and what it printed."""
    folder = tmp_path_factory.mktemp("compared")
    clinic().to_csv(folder / "table.csv", index=False)
    words = ["compare", "table.csv", *PLAIN, *SHORT, "--columns", "--seed", "3"]
    return folder, lupi_here(*words, cwd=folder)
