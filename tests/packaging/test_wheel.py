"""The wheel holds everything, and works in an environment without the source tree.

The environment is clean but for the dependencies, which it borrows from the one that
runs the tests; so nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import lupi

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "lupi"


def run(*command: str | Path, folder: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder,
        folder=ROOT,
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel installed; returns its folder of programs."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False)
    place = Path(
        sysconfig.get_path("purelib", vars={"base": str(folder)}, scheme="venv")
    )
    programs = Path(
        sysconfig.get_path("scripts", vars={"base": str(folder)}, scheme="venv")
    )
    # A path listed here is searched, but the .pth files in it, by which the source tree
    # may be installed there, are not read.
    dependencies = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (place / "dependencies.pth").write_text("\n".join(dependencies) + "\n")
    run(
        sys.executable, "-m", "pip", "--python", folder, "--no-input",
        "install", "--quiet", "--no-deps", "--no-index", "--no-cache-dir",
        "--force-reinstall", wheel,
        folder=folder,
    )  # fmt: skip
    return programs


def test_wheel_holds_every_file_of_the_package(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in {".nbi", ".nbc", ".pyc"}
    }
    assert {name for name in inside if name.startswith("lupi/")} == source
    assert "lupi/py.typed" in inside
    assert any(name.startswith("lupi/datasets/data/") for name in inside)
    assert any(name.endswith("licenses/LICENSE") for name in inside)
    assert {name.split("/")[0] for name in inside} == {
        "lupi",
        f"lupi-{lupi.__version__}.dist-info",
    }


def test_wheel_says_what_it_is(wheel):
    archive = zipfile.ZipFile(wheel)
    info = f"lupi-{lupi.__version__}.dist-info"
    metadata = archive.read(f"{info}/METADATA").decode()
    assert f"Version: {lupi.__version__}\n" in metadata
    assert "Requires-Python: >=3.11\n" in metadata
    assert "License-Expression: BSD-3-Clause\n" in metadata
    assert "lupi = lupi.cli:main" in archive.read(f"{info}/entry_points.txt").decode()


# The content of the wheel is compared with the source by the tests above.
@pytest.mark.slow
def test_wheel_works_in_a_clean_environment(clean):
    program = """
import lupi
from lupi.datasets import load_actg175
data = load_actg175()
rows = slice(0, 120)
X, P = data.data[rows], data.privileged[rows]
X, P = (t.to_numpy(dtype=float, na_value=0.0) if hasattr(t, "to_numpy") else t
        for t in (X, P))
model = lupi.SVCPlus().fit(X, data.target[rows], privileged=P)
print(lupi.__file__, len(model.predict(X)))
"""
    place, n_predicted = run(
        clean / "python", "-I", "-c", program, folder=clean
    ).split()
    assert clean.parent in Path(place).parents
    assert n_predicted == "120"


@pytest.mark.slow
def test_command_line_is_installed(clean):
    shown = run(clean / "lupi", "--version", folder=clean)
    assert lupi.__version__ in shown


def test_metadata_files_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {lupi.__version__}\n" in citation
    assert re.search(r"^license: BSD-3-Clause$", citation, re.MULTILINE)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changelog
    assert f"## [{lupi.__version__.partition('.dev')[0]}]" in changelog
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert (ROOT / project["license-files"][0]).exists()
