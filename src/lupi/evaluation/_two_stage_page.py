"""The two tables of a two-stage search as the source prints them, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

LABELS = {"accuracy": "Accuracy (%)", "f1": "F-Score"}
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Two-stage search</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1.5rem auto; max-width: 60rem; padding: 0 1rem;
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }}
div {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
caption {{ text-align: left; padding: .3rem 0; }}
th, td {{ padding: .2rem .8rem; text-align: left; border-bottom: 1px solid #8886; }}
td.number {{ text-align: right; font-variant-numeric: tabular-nums; }}
</style>
</head>
<body>
<h1>Two-stage search</h1>
{tables}
</body>
</html>
"""


def score_form(table: pd.DataFrame, metrics: Sequence[str], by: str) -> pd.DataFrame:
    """Return classifiers as rows and, for each data set, one column per metric."""
    chosen = table[table["select_by"] == by]
    if chosen.empty:
        raise ValueError(
            f"Nothing was selected by {by!r}; choose from {', '.join(metrics)}."
        )
    columns = {}
    for dataset, part in chosen.groupby("dataset", sort=False):
        scores = part.set_index("classifier")
        for metric in metrics:
            scale = 100.0 if metric == "accuracy" else 1.0
            label = LABELS.get(metric, metric)
            columns[dataset, label] = scale * scores[metric]
    form = pd.DataFrame(columns)
    form.columns = pd.MultiIndex.from_tuples(form.columns, names=["dataset", "score"])
    # Rows in the order the classifiers were asked for, whatever the join did.
    return form.loc[list(dict.fromkeys(chosen["classifier"]))]


def page(kernels: pd.DataFrame, forms: dict[str, pd.DataFrame]) -> str:
    """Return both tables as one self-contained page; names are escaped."""
    spaces = [name for name in kernels.columns if name != "classifier"]
    heads = ["Classifier", *(f"{space} kernel" for space in spaces)]
    parts = [
        _table(
            "Best kernels of each classifier over all data sets (stage one).",
            heads,
            [[escape(str(cell)) for cell in line] for line in kernels.to_numpy()],
        )
    ]
    for by, form in forms.items():
        label = escape(LABELS.get(by, by).removesuffix(" (%)"))
        for dataset in form.columns.unique("dataset"):
            parts.append(
                _scores(
                    f"{escape(str(dataset))}: scores on the outer folds, parameters "
                    f"selected by {label}; the best in bold.",
                    form[dataset],
                )
            )
    return PAGE.format(tables="\n".join(parts))


def _scores(caption: str, form: pd.DataFrame) -> str:
    lines = []
    for classifier, scores in form.iterrows():
        cells = [escape(str(classifier))]
        for label, value in scores.items():
            text = f"{value:.3f}" if np.isfinite(value) else "–"
            best = value == form[label].max()
            cells.append(f"<b>{text}</b>" if best else text)
        lines.append(cells)
    heads = ["Classifier", *(str(label) for label in form.columns)]
    return _table(caption, heads, lines, numbers=True)


def _table(
    caption: str, heads: list[str], lines: list[list[Any]], *, numbers: bool = False
) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    style = ' class="number"' if numbers else ""
    body = "\n".join(
        f"<tr><th>{first}</th>"
        + "".join(f"<td{style}>{cell}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in lines
    )
    return (
        f"<div><table>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )
