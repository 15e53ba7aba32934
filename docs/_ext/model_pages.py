"""Write what the classes of the models say into the pages.

- ``<!-- table of lupi.svm -->`` in a Markdown page becomes the rows of a table: when X*
  helps, what it costs, what to tune (after a header of four columns);
- ``<!-- formulas of lupi.svm -->`` becomes a section per model, with the docstring of
  its file;
- ``api/svm.rst`` and the pages of the other packages of models are written whole.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lupi

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PACKAGES = lupi._MODEL_PACKAGES
MARKER = re.compile(r"^<!-- (table|formulas) of (lupi\.\w+) -->$", re.M)


def models(package: str) -> list[type]:
    """Return the models of a package, in the order of lists."""
    module = importlib.import_module(package)
    kinds = [getattr(module, name) for name in module.__all__]
    return sorted(
        (kind for kind in kinds if hasattr(kind, "__lupi_info__")),
        key=lambda kind: (kind.__lupi_info__.rank, kind.__name__),
    )


def citation(kind: Any) -> str:
    """Return the papers of a model as a citation, or nothing."""
    keys = kind.__lupi_info__.cite
    return f" {{cite:p}}`{keys}`" if keys else ""


def table(package: str) -> str:
    """Return one row per model: name, when it helps, cost, what to tune."""
    rows = []
    for kind in models(package):
        info: Any = kind.__lupi_info__  # type: ignore[attr-defined]
        cells = (f"`{kind.__name__}`{citation(kind)}", info.helps, info.cost, info.tune)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def formulas(package: str) -> str:
    """Return a section per title, with the docstring of its file."""
    sections: dict[tuple[str, str], list[Any]] = {}
    for kind in models(package):
        info: Any = kind.__lupi_info__  # type: ignore[attr-defined]
        place = (info.title, info.formulas or kind.__module__)
        sections.setdefault(place, []).append(kind)
    parts = []
    for (title, module), kinds in sections.items():
        names = ", ".join(f"`{kind.__name__}`" for kind in kinds)
        parts.append(
            f"## {title}\n\n{names}{citation(kinds[0])}\n\n"
            f"```{{eval-rst}}\n.. automodule:: {module}\n   :no-index:\n```"
        )
    return "\n\n".join(parts)


def fill(text: str) -> str:
    """Replace the markers of a Markdown page."""
    write = {"table": table, "formulas": formulas}
    return MARKER.sub(lambda found: write[found[1]](found[2]), text)


def api_page(package: str, docs: Path) -> str:
    """Return the page of a package in the API reference."""
    module = importlib.import_module(package)
    room = package.removeprefix("lupi.")
    title = f"``{package}``"
    links = [f"Guide: :doc:`/guide/{room}`"]
    if (docs / "models" / f"{room}.md").exists():
        links.append(f"formulas: :doc:`/models/{room}`")
    names = "\n".join(f"   {name}" for name in module.__all__)
    return (
        f".. _api-{room}:\n\n{title}\n{'=' * len(title)}\n\n"
        f".. module:: {package}\n   :no-index-entry:\n\n"
        f".. currentmodule:: {package}\n\n{inspect.getdoc(module)}\n\n"
        f"{'; '.join(links)}.\n\n"
        f".. autosummary::\n   :toctree: generated\n\n{names}\n"
    )


def write_api_pages(app: Sphinx, config: Any) -> None:
    """Write the API pages before Sphinx looks which pages there are."""
    docs = Path(app.srcdir)
    for room in PACKAGES:
        text = api_page(f"lupi.{room}", docs)
        page = docs / "api" / f"{room}.rst"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def fill_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the markers of a page before it is parsed."""
    source[0] = fill(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both."""
    app.connect("config-inited", write_api_pages)
    app.connect("source-read", fill_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
