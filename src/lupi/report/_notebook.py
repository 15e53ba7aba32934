"""A comparison in a notebook: verdict, table and next steps, without a page around."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from lupi.evaluation._arms import ARMS
from lupi.report._words import number, p_value, score_with_error, share

if TYPE_CHECKING:
    from markupsafe import Markup

    from lupi.evaluation import Comparison

# Between the words of a name: HedgedDistillation, cd4_week_20.
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z+])(?=[A-Z][a-z])|(?<=_)(?=[^_])")
_LONG = re.compile(r"\w{13,}")


def breakable(text: object) -> Markup:
    """Return text as HTML whose long names may break between their words.

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
        What `lupi.evaluation.compare` returned.

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
    ...     data.data,
    ...     data.target,
    ...     data.privileged,
    ...     methods="hedged-distillation",
    ...     cv=2,
    ... )
    >>> notebook_html(result)[:8]
    '<div><p>'
    """
    verdict = comparison.verdict
    heads = ["method", *(arm.label for arm in ARMS.values()), "gain", "p", "gap closed"]
    parts = [
        f"<div><p><strong>{escape(verdict.headline)}</strong></p>",
        f"<p>{escape(verdict.sentence)}</p>",
        "<table><thead><tr>",
        *(f"<th>{escape(head)}</th>" for head in heads),
        "</tr></thead><tbody>",
    ]
    for line in comparison.summary.to_dict("records"):
        cells = [
            str(line["method"]),
            *(number(line[arm]) for arm in ARMS),
            score_with_error(line["gain"], line["gain_std_error"], sign=True),
            p_value(line["p_helps"]),
            share(line["gap_closed"]),
        ]
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        parts.append(f"<tr>{row}</tr>")
    parts.append("</tbody></table><ul>")
    parts += [f"<li>{escape(step)}</li>" for step in comparison.next_steps()]
    return "".join([*parts, "</ul></div>"])
