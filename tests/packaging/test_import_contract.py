"""Imports go one way, and a breach would be seen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as c; c()",
            "--no-cache",
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_imports_go_one_way():
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout
    assert "2 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("_convex", "import lupi.base"),
        ("_convex", "import lupi.svm"),
        ("base", "import lupi.evaluation"),
        ("testing", "import lupi.svm"),
    ],
)
def test_a_breach_is_seen(tmp_path, room, line):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "src",
        tmp_path / "src",
        ignore=lambda folder, names: [n for n in names if not _is_code(folder, n)],
    )
    (tmp_path / "src" / "lupi" / room / "breach.py").write_text(f"{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"lupi.{room}.breach -> {line.split()[1]}" in done.stdout


def _is_code(folder: str, name: str) -> bool:
    return (Path(folder) / name).is_dir() or name.endswith(".py")
