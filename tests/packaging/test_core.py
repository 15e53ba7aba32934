"""With the core dependencies alone, models learn, predict, are saved and loaded."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lupi._optional import EXTRAS

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("core_only.py")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
CORE = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "skops"}
# Beside scikit-learn and its dependencies, whose sizes change with their releases.
MOST_MEGABYTES = 20

# Stands before a program: some packages cannot be imported.
BLOCK = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
"""
RUN = """
import runpy
sys.argv = ["core_only.py", {folder!r}]
runpy.run_path({script!r}, run_name="__main__")
"""
DOCUMENTED = """
from tests.docs.public import modules, objects
print(len(modules()), "modules,", len(list(objects())), "documented objects")
"""


def names(requirements):
    return {
        line.split(";")[0].split(">=")[0].split("[")[0].strip() for line in requirements
    }


def test_the_core_is_small():
    assert names(PROJECT["dependencies"]) <= CORE


def test_every_optional_package_has_the_extra_that_is_named_in_messages():
    extras = PROJECT["optional-dependencies"]
    for package, extra in EXTRAS.items():
        # A package is imported with underscores where its name has dashes.
        brought = {name.replace("-", "_") for name in names(extras[extra])}
        # dask[distributed] brings the package of that name.
        brought |= set(re.findall(r"\w+", " ".join(extras[extra])))
        assert package in brought, (package, extra)
    listed = " ".join(extras["all"])
    # The command line brings two along; PyTorch is larger than all others together.
    for extra in set(EXTRAS.values()) - {"compare", "plot", "gpu"}:
        assert extra in listed
    assert "lupi[compare,plot]" in extras["cli"]


def run_without(blocked, program):
    """Run a program in which some packages cannot be imported; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCK.format(blocked=blocked) + program],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def brought_by(extra):
    """The optional packages of an extra, and of the extras that it names."""
    requirements = PROJECT["optional-dependencies"][extra]
    own = {package for package, known in EXTRAS.items() if known == extra}
    own |= {name.removesuffix("-cpu") for name in names(requirements)}
    for other in re.findall(r"lupi\[(.*?)\]", " ".join(requirements)):
        own |= set().union(*map(brought_by, other.split(",")))
    return own


# `make docs` in a new environment, a part of `.ci/run`, sees the same.
@pytest.mark.slow
def test_every_documented_module_is_imported_with_the_extra_of_the_site():
    found = run_without(set(EXTRAS) - brought_by("docs"), DOCUMENTED)
    assert "documented objects" in found


@pytest.mark.parametrize(
    "allowed",
    [
        set(),
        pytest.param({"polars"}, marks=pytest.mark.slow),
        pytest.param({"pandas"}, marks=pytest.mark.slow),
    ],
    ids=["neither", "polars", "pandas"],
)
def test_every_model_works_without_the_optional_packages(tmp_path, allowed):
    blocked = (set(EXTRAS) | {"polars"}) - allowed
    found = run_without(blocked, RUN.format(folder=str(tmp_path), script=str(SCRIPT)))
    assert "models with the core alone" in found


def megabytes(folder: Path) -> float:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.lstat().st_size for path in files) / 1e6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_in_an_environment_with_the_core_alone(tmp_path, kind):
    """Built, installed where there is nothing else, and checked; needs the network."""

    def run(*command):
        done = subprocess.run(
            list(map(str, command)),
            cwd=tmp_path,
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    dist = tmp_path / "dist"
    run(sys.executable, "-m", "build", f"--{kind}", "--outdir", dist, ROOT)
    (built,) = dist.iterdir()
    folder = tmp_path / "bare"
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "scikit-learn")
    before = megabytes(folder)
    run(python, "-m", "pip", "install", "--quiet", "--no-cache-dir", built)
    listed = run(python, "-m", "pip", "list", "--format=freeze").lower()
    assert "pandas" not in listed
    assert "matplotlib" not in listed
    assert megabytes(folder) - before <= MOST_MEGABYTES
    assert "models with the core alone" in run(python, SCRIPT, tmp_path)
    run(
        python,
        "-c",
        "from sklearn.utils.estimator_checks import check_estimator\n"
        "import lupi\n"
        "for model in (lupi.SVCPlus(), lupi.LinearSVCPlus(), lupi.SVRPlus(),\n"
        "              lupi.GeneralizedDistillationClassifier(),\n"
        "              lupi.IPLRegressor(n_estimators=5)):\n"
        "    check_estimator(model)",
    )
