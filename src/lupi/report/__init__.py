"""The report of a comparison as one self-contained HTML page."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from lupi._atomic import write_atomically
from lupi._optional import require
from lupi.report._page import Curves, Usage, build_page
from lupi.report._words import SUMMARY_COLUMNS, breakable, summary_cells

if TYPE_CHECKING:
    from lupi.evaluation import ColumnGains, Comparison

__all__ = ["Usage", "notebook_html", "render_html", "write_html"]


def render_html(
    comparison: Comparison,
    usage: Usage | None = None,
    curves: Curves | None = None,
    columns: ColumnGains | None = None,
) -> str:
    """Return the report of a comparison as one self-contained HTML page.

    Parameters
    ----------
    comparison : Comparison
        Result of `lupi.evaluation.compare`.
    usage : Usage, default=None
        Source of the data and path of the saved model, which the page shows.
    curves : mapping of str to LearningCurve, default=None
        Learning curves by method: ``comparison.learning_curves()``.
    columns : ColumnGains, default=None
        Gains of single privileged columns: ``comparison.columns()``.

    Returns
    -------
    str
        The page. It has no external resources and no scripts; names and values from
        the data are escaped.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> from lupi.report import render_html
    >>> data = make_mediator(60, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier", cv=2, n_candidates=1,
    ... )
    >>> render_html(result)[:15]
    '<!DOCTYPE html>'
    """
    require("jinja2", "The report")
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("lupi.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["words"] = breakable
    folder = Path(__file__).parent / "templates"
    style = Markup((folder / "style.css").read_text(encoding="utf-8"))
    page = build_page(comparison, usage or Usage(), curves or {}, columns)
    return environment.get_template("page.html.j2").render(page, style=style)


def write_html(
    comparison: Comparison,
    path: str | os.PathLike[str],
    usage: Usage | None = None,
    curves: Curves | None = None,
    columns: ColumnGains | None = None,
) -> Path:
    """Write the report of a comparison to a file, atomically.

    Parameters
    ----------
    comparison : Comparison
        Result of `lupi.evaluation.compare`.
    path : path-like
        The file to write.
    usage : Usage, default=None
        As in `render_html`.
    curves : mapping of str to LearningCurve, default=None
        As in `render_html`.
    columns : ColumnGains, default=None
        As in `render_html`.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import os, tempfile
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> from lupi.report import write_html
    >>> data = make_mediator(60, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier", cv=2, n_candidates=1,
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_html(result, os.path.join(folder, "report.html")).name
    'report.html'
    """
    return write_atomically(path, render_html(comparison, usage, curves, columns))


def notebook_html(comparison: Comparison) -> str:
    """Return the verdict, the table and the next steps as a fragment of HTML.

    Parameters
    ----------
    comparison : Comparison
        Result of `lupi.evaluation.compare`.

    Returns
    -------
    str
        The fragment; names that come from the data are escaped.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> from lupi.report import notebook_html
    >>> data = make_mediator(60, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="hedged-distillation", cv=2,
    ... )
    >>> notebook_html(result)[:8]
    '<div><p>'
    """
    verdict = comparison.verdict
    parts = [
        f"<div><p><strong>{escape(verdict.headline)}</strong></p>",
        f"<p>{escape(verdict.sentence)}</p>",
        "<table><thead><tr>",
        *(f"<th>{escape(name)}</th>" for name in SUMMARY_COLUMNS),
        "</tr></thead><tbody>",
    ]
    for line in comparison.summary.to_dict("records"):
        row = "".join(f"<td>{escape(cell)}</td>" for cell in summary_cells(line))
        parts.append(f"<tr>{row}</tr>")
    parts.append("</tbody></table><ul>")
    steps = comparison.next_steps()
    parts += [f"<li>{escape(words)}</li>" for words in (*verdict.notes, *steps)]
    return "".join([*parts, "</ul></div>"])
