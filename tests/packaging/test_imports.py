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


def test_every_declared_model_is_listed():
    declared = [
        (path.parent.name, node.name)
        for path in SOURCE.glob("*/_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        and any("__lupi_info__ = " in ast.unparse(statement) for statement in node.body)
    ]
    assert len(declared) > 20
    for package, name in declared:
        assert name in importlib.import_module(f"lupi.{package}").__all__
        assert name in lupi.__all__


def test_type_checkers_see_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name: statement.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        for alias in statement.names
    }
    assert {*seen, "__version__"} == set(lupi.__all__)
    for name, module in seen.items():
        assert getattr(importlib.import_module(module), name) is getattr(lupi, name)
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
