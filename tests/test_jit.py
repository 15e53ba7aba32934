"""Compiled functions work, and are cached, wherever something can be written.

Permission bits do not stop the superuser, so folders are made unwritable by putting a
plain file in their place or by pointing into /proc.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import posix

pytestmark = posix

SOURCE = Path(__file__).parents[1] / "src"
MODULE = """
from lupi._jit import jit

@jit
def triangle(n):
    total = 0
    for i in range(n + 1):
        total += i
    return total
"""
PROGRAM = """
import numba
from folder_of_code import triangle
print(triangle(100), sum(triangle.stats.cache_hits.values()), numba.config.CACHE_DIR)
"""


def run(folder: Path, *, writable_source: bool, temporary: Path) -> list[str]:
    if not writable_source:
        (folder / "__pycache__").write_text("in the way of a folder")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(SOURCE), str(folder)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/proc/nowhere",
        "XDG_CACHE_HOME": "/proc/nowhere",
        "TMPDIR": str(temporary),
    }
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def places(tmp_path):
    code, temporary = tmp_path / "code", tmp_path / "temporary"
    code.mkdir()
    temporary.mkdir()
    (code / "folder_of_code.py").write_text(MODULE)
    return code, temporary


def compiled_files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.nbi"))


def test_plain_numba_would_fail_here(places):
    code, temporary = places
    module = MODULE.replace("from lupi._jit import jit", "import numba").replace(
        "@jit", "@numba.njit(cache=True)"
    )
    (code / "folder_of_code.py").write_text(module)
    (code / "__pycache__").write_text("in the way of a folder")
    done = subprocess.run(
        [sys.executable, "-c", "import folder_of_code"],
        env=os.environ
        | {"PYTHONPATH": str(code), "HOME": "/proc/nowhere", "TMPDIR": str(temporary)}
        | {"XDG_CACHE_HOME": "/proc/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot cache function" in done.stderr


def test_cached_beside_the_source(places):
    code, temporary = places
    assert run(code, writable_source=True, temporary=temporary)[0] == "5050"
    assert len(compiled_files(code)) == 1
    assert compiled_files(temporary) == []


def test_cached_in_a_private_folder_when_nothing_else_is_writable(places):
    code, temporary = places
    first = run(code, writable_source=False, temporary=temporary)
    second = run(code, writable_source=False, temporary=temporary)
    assert first[:2] == ["5050", "0"]
    assert second[:2] == ["5050", "1"]
    assert first[2:] == second[2:] == []  # numba's own setting is left as it was
    (index,) = compiled_files(temporary)
    private = index.relative_to(temporary).parts[0]
    assert (temporary / private).stat().st_mode & 0o077 == 0


def test_compiled_without_cache_when_the_private_folder_is_not_ours(places):
    code, temporary = places
    taken = temporary / f"lupi-numba-{os.getuid()}"
    taken.mkdir()
    taken.chmod(0o777)  # anyone could plant compiled code here
    assert run(code, writable_source=False, temporary=temporary)[:2] == ["5050", "0"]
    assert compiled_files(temporary) == []


def test_compiled_without_cache_when_nothing_is_writable(places):
    code, temporary = places
    (temporary / f"lupi-numba-{os.getuid()}").write_text("in the way of a folder")
    assert run(code, writable_source=False, temporary=temporary)[:2] == ["5050", "0"]
    assert compiled_files(temporary) == []


def test_options_reach_numba():
    from lupi._jit import jit

    @jit(fastmath=True, boundscheck=False)
    def third(x):
        return x / 3

    assert third(6.0) == 2.0
    assert third.targetoptions["fastmath"] is True
