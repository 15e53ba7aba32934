"""Every script of the gallery runs, without a warning, and belongs to a section."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*/plot_*.py"))
THESIS = {
    *(f"figure_{n}" for n in ("1_1", "3_1", "3_2", "3_3", "4_1", "4_2")),
    *(f"figure_{n}" for n in ("6_1", "6_2", "7_1", "8_1")),
    *(f"table_{n}" for n in ("7_1", "7_2")),
}


def name(script):
    return f"{script.parent.name}/{script.stem}"


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_script_runs_without_a_warning(script, tmp_path):
    environment = os.environ | {
        "MPLBACKEND": "Agg",
        "PYTHONPATH": str(ROOT / "src"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    # With a screen around, showing a figure of Agg is a warning.
    environment.pop("DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_script_begins_with_a_title(script):
    lines = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))).split("\n")
    assert lines[1] == "=" * len(lines[0])
    assert len(lines) > 3


def test_every_section_has_a_header():
    folders = {script.parent for script in SCRIPTS} | {EXAMPLES}
    assert [f for f in folders if not (f / "GALLERY_HEADER.rst").exists()] == []


def test_the_order_of_the_tasks_names_scripts_that_exist():
    pytest.importorskip("sphinx_gallery")
    order = runpy.run_path(str(ROOT / "docs" / "_ext" / "gallery_order.py"))
    tasks = {script.name for script in SCRIPTS if script.parent.name == "tasks"}
    assert set(order["TASKS"]) <= tasks


def test_every_figure_and_table_of_the_thesis_has_its_script():
    stems = {script.stem for script in SCRIPTS}
    assert {f"plot_thesis_{part}" for part in THESIS} <= stems


def test_pictures_of_the_guide_all_come_from_the_gallery():
    folder = ROOT / "docs" / "guide" / "images"
    pictures = runpy.run_path(str(folder / "make_images.py"))["PICTURES"]
    assert {f"examples/{script}.py" for script in pictures} <= {
        script.relative_to(ROOT).as_posix() for script in SCRIPTS
    }
    drawn = [name for names in pictures.values() for name in names]
    assert sorted(drawn) == sorted(path.stem for path in folder.glob("*.png"))
