"""`import lupi` is light, and every public name is where it should be."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import lupi

SOURCE = Path(lupi.__file__).parent
HEAVY = {
    "numba",
    "llvmlite",
    "matplotlib",
    "pandas",
    "pyarrow",
    "skrub",
    "skops",
    "typer",
    "rich",
    "jinja2",
    "clarabel",
    "cvxpy",
    "cvxopt",
    "xgboost",
    "torch",
    "dask",
}
ROOMS = ("svm", "transfer", "advice", "boosting", "compose")


@cache
def loaded_by(program: str) -> set[str]:
    """Top-level modules, and those of SciPy, that a fresh interpreter ends up with."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\n{program}\nprint(*list(sys.modules), sep='\\n')",
        ],
        env=os.environ | {"PYTHONPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_import_loads_nothing_but_itself():
    modules = loaded_by("import lupi")
    assert not {name.split(".")[0] for name in modules} & (
        HEAVY | {"sklearn", "scipy", "numpy"}
    )
    assert {name for name in modules if name.startswith("lupi")} == {"lupi"}


def test_rooms_load_little_more_than_scikit_learn():
    # Newer scikit-learn loads pandas by itself when it is there.
    rooms = "lupi.svm, lupi.compose, lupi.transfer, lupi.boosting, lupi.testing"
    ours = loaded_by(
        f"import sklearn.svm\ntheirs = set(sys.modules)\nimport {rooms}\n"
        "for name in theirs: del sys.modules[name]"
    )
    assert "lupi.svm" in ours
    assert not {name.split(".")[0] for name in ours} & HEAVY


def test_every_public_name_resolves():
    for name in lupi.__all__:
        assert getattr(lupi, name) is not None
    assert dir(lupi) == sorted(lupi.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'SVMPlus'"):
        _ = lupi.SVMPlus


@pytest.mark.parametrize("room", ROOMS)
def test_every_estimator_of_a_room_is_importable_from_lupi(room):
    module = importlib.import_module(f"lupi.{room}")
    for name in module.__all__:
        thing = getattr(module, name)
        if hasattr(thing, "fit"):
            assert getattr(lupi, name) is thing


def test_type_checkers_see_the_same_names():
    done = subprocess.run(
        [sys.executable, str(SOURCE.parents[1] / ".ci" / "stubs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + "Run make format."
    tree = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    seen = {
        alias.name
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen | {"__version__"} == set(lupi.__all__)
    assert (SOURCE / "py.typed").exists()


def test_versions_are_shown(capsys):
    lupi.show_versions()
    shown = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert shown["lupi"] == lupi.__version__
    import sklearn

    assert shown["scikit-learn"] == sklearn.__version__
    assert shown["python"].startswith(".".join(map(str, sys.version_info[:3])))


def test_lupi_dask_names_the_command_that_installs_dask():
    program = "import sys; sys.modules['dask'] = None; import lupi.dask"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'pip install "lupi[dask]"' in done.stderr.splitlines()[-1]
