"""Pages that are plain text until built: citations, links, tables of contents."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.docs.test_reference import MODEL_PAGES, filled

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if "_build" not in path.parts and "auto_examples" not in path.parts
)
CHECKER = runpy.run_path(str(DOCS / "check_links.py"))


def keys() -> list[str]:
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    return re.findall(r"^@\w+\{([^,]+),$", text, re.M)


def test_keys_of_the_bibliography_are_unique():
    assert len(keys()) == len(set(keys())) >= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_citations_are_in_the_bibliography(page):
    text = filled(page)
    cited = {
        key.strip()
        for group in re.findall(r"\{cite:\w+\}`([^`]+)`", text)
        for key in group.split(",")
    }
    assert cited <= set(keys())


def test_everything_in_the_bibliography_is_cited():
    text = "".join(map(filled, PAGES))
    cited = ",".join(re.findall(r"\{cite:\w+\}`([^`]+)`", text)).split(",")
    assert set(keys()) == {key.strip() for key in cited}


@pytest.mark.parametrize(
    "page",
    [*PAGES, *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY"))],
    ids=str,
)
def test_local_links_lead_to_files(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    targets += re.findall(r"(?:src|srcset)=\"([^\":]+)\"", text)
    for target in targets:
        # Written when the site is built.
        if target.startswith("auto_examples"):
            continue
        place = page.parent / target
        written = place.parent.name == "api" and place.stem in MODEL_PAGES["PACKAGES"]
        found = place.exists() or place.with_suffix(".rst").exists() or written
        assert found, f"{page.name}: {target}"


def test_the_text_on_adding_a_model_is_included_not_copied():
    page = (DOCS / "contributing.md").read_text(encoding="utf-8")
    assert "{include} ../CONTRIBUTING.md" in page
    assert "## How to add a model, in steps" in (ROOT / "CONTRIBUTING.md").read_text(
        encoding="utf-8"
    )


def site(folder: Path, index: str, other: str = "<h1 id='there'>x</h1>") -> list[str]:
    (folder / "index.html").write_text(index)
    (folder / "other.html").write_text(other)
    return CHECKER["check"](folder)[1]


@pytest.mark.parametrize(
    "line",
    [
        "<a href='other.html'>x</a>",
        "<a href='other.html#there'>x</a>",
        "<p id='a b'></p><a href='#a%20b'>x</a>",
        "<a href='https://example.org/none'>followed by a reader alone</a>",
        "<a href='mailto:nobody'>x</a>",
        "<img src='data:image/png;base64,AAAA'>",
    ],
)
def test_links_that_hold(tmp_path, line):
    assert site(tmp_path, line) == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("<a href='none.html'>x</a>", "none.html: no such file"),
        ("<a href='other.html#none'>x</a>", "other.html#none: no such anchor"),
        ("<a href='#none'>x</a>", "#none: no such anchor"),
        ("<img src='none.png'>", "none.png: no such file"),
        ("<img src='https://example.org/x.png'>", "loaded from the network"),
        ("<script src='//example.org/x.js'></script>", "loaded from the network"),
        (
            "<link rel='stylesheet' href='https://example.org/x.css'>",
            "loaded from the network",
        ),
        ("<img srcset='none.png 2x'>", "none.png: no such file"),
    ],
)
def test_links_that_do_not(tmp_path, line, fault):
    (found,) = site(tmp_path, line)
    assert found.startswith("index.html: ")
    assert found.endswith(fault)


def test_style_sheets_are_read_too(tmp_path):
    (tmp_path / "style.css").write_text("@font-face{src:url(https://e.org/f.woff)}")
    (found,) = site(tmp_path, "<p>")
    assert found == "style.css: https://e.org/f.woff: loaded from the network"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=str)
def test_scripts_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    for script in re.findall(r"\b((?:examples|benchmarks|docs)/[\w/]+\.py)\b", text):
        assert (ROOT / script).is_file(), f"{page.name}: {script}"
