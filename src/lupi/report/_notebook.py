"""A comparison in a notebook: verdict, table and next steps as an HTML fragment."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from lupi.report._words import SUMMARY_COLUMNS, summary_cells

if TYPE_CHECKING:
    from markupsafe import Markup

    from lupi.evaluation import Comparison

# Positions between the words of a name: HedgedDistillation, cd4_week_20.
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z+])(?=[A-Z][a-z])|(?<=_)(?=[^_])")
_LONG = re.compile(r"\w{13,}")


def breakable(text: object) -> Markup:
    """Return text as HTML with possible line breaks inside long names.

    Examples
    --------
    >>> from lupi.report._notebook import breakable
    >>> str(breakable("HedgedDistillationClassifier < oracle"))
    'Hedged<wbr>Distillation<wbr>Classifier &lt; oracle'
    """
    from markupsafe import Markup

    safe = escape(str(text))
    broken = _LONG.sub(lambda name: _SEAM.sub("<wbr>", name.group()), safe)
    return Markup(broken)


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
    parts += [f"<li>{escape(step)}</li>" for step in comparison.next_steps()]
    return "".join([*parts, "</ul></div>"])
