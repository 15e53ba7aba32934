"""Every test asserts something, itself or through a function that it calls."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parent
# Functions that raise where what they are given is wrong: those of pytest, NumPy,
# scikit-learn and this library, and helpers that are imported from another file.
CHECKING = ("assert", "check_", "raises", "warns", "fail", "page_says")


def asserts(function: ast.AST, helpers: set[str]) -> bool:
    """Return whether a function has an assertion or calls one that has."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2].lstrip("_")
        if name.startswith(CHECKING) or name in helpers:
            return True
        if any(
            k.arg == "check" and ast.unparse(k.value) == "True" for k in node.keywords
        ):
            return True  # subprocess.run
    return False


def idle(source: str) -> list[str]:
    """Return the names of the tests in a file that assert nothing."""
    functions = {
        node.name: node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    }
    helpers: set[str] = set()
    while (
        more := {
            name.lstrip("_")
            for name, function in functions.items()
            if not name.startswith("test_") and asserts(function, helpers)
        }
        - helpers
    ):
        helpers |= more
    return [
        name
        for name, function in functions.items()
        if name.startswith("test_") and not asserts(function, helpers)
    ]


def test_a_test_that_asserts_nothing_is_found():
    source = """
def agree(a, b): assert a == b
def both(a): agree(a, 1)
def test_one(): print(1)
def test_two(): both(1)
"""
    assert idle(source) == ["test_one"]


def test_every_test_asserts_something():
    found = {
        path.relative_to(TESTS).as_posix(): names
        for path in TESTS.rglob("test_*.py")
        if (names := idle(path.read_text(encoding="utf-8")))
    }
    assert found == {}
