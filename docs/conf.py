"""Sphinx configuration. `make docs` builds the site, runs the gallery, checks links."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# Where the "?" of HTML representations leads, seen from the pages of the gallery.
os.environ["LUPI_DOCS_URL"] = "../.."

import lupi

project = "lupi"
author = "The lupi developers"
project_copyright = "The lupi developers"
release = version = lupi.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    # Puts MathJax beside the pages: formulas need no network.
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_parser",
    "sphinxcontrib.bibtex",
    "sphinx_gallery.gen_gallery",
    "name_links",
    "model_pages",
]

templates_path = ["_templates"]
# The gallery's tables of run times sort themselves by scripts from the network.
exclude_patterns = [
    "_build",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
]
nitpicky = True
# Other people's names: their pages are on the network, and this build is not.
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib)\..*")]

# -- Docstrings -----------------------------------------------------------------------
# `name` in a docstring is code; `name_links` makes it a link where it is a public name.
default_role = "literal"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# -- Markdown and formulas ------------------------------------------------------------
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline", "substitution"]
# The numbers of errata.md, which the tests read too.
myst_substitutions = {
    "errata": tomllib.loads(
        (Path(__file__).parent / "errata.toml").read_text(encoding="utf-8")
    )
}
myst_heading_anchors = 3
math_number_all = False
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

# -- Gallery --------------------------------------------------------------------------
# `-D sphinx_gallery_conf.filename_pattern=plot_pima` runs a part of it.
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"[\\/]plot_",
    # Helpers that scripts share, and the plain quickstart, are no pages.
    "ignore_pattern": r"(^|[\\/])(?!plot_)[^\\/]*\.py$",
    "doc_module": ("lupi",),
    "backreferences_dir": "api/generated/examples",
    "subsection_order": [
        f"../examples/{room}"
        for room in (
            "tutorial",
            "tasks",
            "inspection",
            "transfer",
            "svm",
            "boosting",
            "advice",
        )
    ],
    "within_subsection_order": "gallery_order.TasksFirst",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "parallel": int(os.environ.get("GALLERY_JOBS", "1")),
}

# -- Pages ----------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "lupi"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_domain_indices = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "lupi"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without pages below them have nothing to navigate to.
html_sidebars = {
    name: []
    for name in (
        "index",
        "install",
        "choosing",
        "evidence",
        "evidence-details",
        "benchmarks",
        "errata",
        "contributing",
        "architecture",
        "bibliography",
        "changelog",
    )
}


def _references_as_rubric(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Let several module docstrings, each with References, stand on one page."""
    if what != "module":
        return
    for i in range(len(lines) - 1):
        if lines[i] == "References" and set(lines[i + 1]) == {"-"}:
            lines[i : i + 2] = [".. rubric:: References", ""]


def setup(app: Any) -> None:
    """Connect what this file defines."""
    app.connect("autodoc-process-docstring", _references_as_rubric)
