"""Output to a file or a pipe whose encoding lacks letters that are printed."""

import io
import sys

import pytest

from lupi.cli import main


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_letters_that_cannot_be_encoded_are_replaced(encoding, monkeypatch):
    """As with ``lupi methods > file`` on Windows."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    assert main(["methods"]) == 0
    sys.stdout.flush()
    said = written.getvalue().decode(encoding)
    assert "svc-delta-plus" in said
    # No markup of docstrings.
    assert "\\" not in said
