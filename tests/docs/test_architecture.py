"""The page on the architecture names files that exist and layers that are enforced."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import lupi

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = Path(lupi.__file__).parent
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")


def named_files():
    """Files in the first columns of the tables; `_x.py` is beside the one before."""
    for line in PAGE.splitlines():
        folder = ""
        for name in re.findall(
            r"`([\w/]+\.py)`", line.split("|")[1] if "|" in line else ""
        ):
            if "/" in name:
                folder = name.rpartition("/")[0] + "/"
            yield name if "/" in name else folder + name


def test_files_that_are_named_exist():
    files = list(named_files())
    assert len(files) > 40
    at_top = [name.removeprefix("lupi/") for name in files]
    assert [name for name in at_top if not (SOURCE / name).exists()] == []
    # In the text, names without their folder.
    known = {path.name for path in (*SOURCE.rglob("*.py"), *DOCS.glob("*.py"))}
    assert set(re.findall(r"(\w+\.py)\b", PAGE)) <= known


def test_the_picture_shows_the_layers_that_are_enforced():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    figure = runpy.run_path(str(DOCS / "architecture_figure.py"))
    drawn = [{name for name, _ in layer} for layer in figure["LAYERS"]]
    assert drawn == [set(re.findall(r"\w+", layer)) for layer in layers]
    for name, colors in figure["THEMES"].items():
        path = DOCS / "images" / f"lupi-architecture-{name}.svg"
        assert path.read_text(encoding="utf-8") == figure["draw"](colors)
