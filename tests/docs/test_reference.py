"""The API reference lists every public name once, and the guide knows every model."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import lupi
from tests.docs.public import modules, names, objects

DOCS = Path(__file__).parents[2] / "docs"
MODEL_PAGES = runpy.run_path(str(DOCS / "_ext" / "model_pages.py"))


def filled(page: Path) -> str:
    """A Markdown page with what the models say in place of the markers."""
    return MODEL_PAGES["fill"](page.read_text(encoding="utf-8"))


def text_of(module: str) -> str:
    """The page of a module, as it is or as the site writes it."""
    page = "index" if module == "lupi" else module.removeprefix("lupi.")
    if page in MODEL_PAGES["PACKAGES"]:
        return MODEL_PAGES["api_page"](module, DOCS)
    return (DOCS / "api" / f"{page}.rst").read_text(encoding="utf-8")


def listed(text: str) -> list[str]:
    """The entries of the autosummary tables of a page."""
    found, inside = [], False
    for line in text.splitlines():
        if line.startswith(".. "):
            inside = line == ".. autosummary::"
        elif inside and re.fullmatch(r"   \w+", line):
            found.append(line.strip())
    return found


@pytest.mark.parametrize("module", modules())
def test_the_page_of_a_module_lists_its_public_names(module):
    assert sorted(listed(text_of(module))) == sorted(names(module))


def test_every_module_has_a_page_in_the_table_of_contents():
    index = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    rooms = {module.removeprefix("lupi.") for module in modules()} - {"lupi"}
    assert rooms == set(re.findall(r"^   (\w+)$", index.split("toctree::")[1], re.M))
    pages = {path.stem for path in (DOCS / "api").glob("*.rst")}
    assert rooms == pages.union(MODEL_PAGES["PACKAGES"]) - {"index"}


def test_every_room_of_the_package_is_public():
    values = [getattr(lupi, name) for name in lupi.__all__]
    rooms = {value.__name__ for value in values if inspect.ismodule(value)}
    assert rooms <= set(modules())


def estimators() -> set[str]:
    return {
        name.rsplit(".", 1)[1]
        for name, value in objects()
        if isinstance(value, type)
        and issubclass(value, BaseEstimator)
        and not name.startswith("lupi.base")
    }


def test_how_to_choose_names_every_estimator():
    page = filled(DOCS / "choosing.md")
    rows = re.findall(r"^\| `(\w+)`.*\|$", page, re.M)
    assert sorted(rows) == sorted(estimators())
    for line in re.findall(r"^\| `\w+`.*\|$", page, re.M):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == 4, line
        assert all(cells), line


def test_every_estimator_has_its_formulas_or_is_a_wrapper():
    pages = "".join(map(filled, (DOCS / "models").glob("*.md")))
    wrappers = {"PrivilegedColumns", "TransformedPrivileged"}
    missing = {name for name in estimators() - wrappers if f"`{name}`" not in pages}
    assert not missing
