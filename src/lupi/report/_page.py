"""The report: the values of its template, and its charts as inline SVG.

Text of a chart stays text, and every color of the displays is replaced by a variable of
the stylesheet, so that charts follow light and dark color schemes.
"""

from __future__ import annotations

import io
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from lupi._optional import require
from lupi._words import number, numbers
from lupi.evaluation._methods import ARMS, find_method
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._study import unlike_words
from lupi.evaluation._verdict import training_rows
from lupi.inspection import (
    ColumnGainDisplay,
    GainDisplay,
    PrivilegedLearningCurveDisplay,
)
from lupi.inspection._style import ARM_COLORS, BLACK, tidy
from lupi.report import _words as wording
from lupi.transfer._propensity import WARN_ABOVE

if TYPE_CHECKING:
    from lupi.evaluation import ColumnGains, Comparison, LearningCurve

Curves = Mapping[str, "LearningCurve"]

SAVED = "model.skops"
# Widths and heights of charts, in pixels. Charts of half a page have the width of a
# phone, where their text stays legible, and are enlarged on wider screens.
WIDE, NARROW, HALF, ENLARGED = 900, 340, 350, 430
HEIGHT_OF_ARM, HEIGHT_OF_GROUP, HEIGHT_OF_AXIS = 26, 34, 48
# Values of a parameter that are listed.
MOST_VALUES = 5
LONGEST_NAME = {WIDE: 40, NARROW: 16}

# Colors that are replaced by a variable of the stylesheet.
SOFT, LINE, PANEL = "#5b666d", "#e6e6e6", "#f2f4f3"
VARIABLES = {color.lower(): f"--{arm}" for arm, color in ARM_COLORS.items()} | {
    BLACK: "--ink",
    SOFT: "--soft",
    LINE: "--line",
    PANEL: "--panel",
}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lupi",
    "font.size": 12,
    "text.color": SOFT,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": SOFT,
    "axes.facecolor": PANEL,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "axes.labelsize": 12,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


@dataclass(frozen=True)
class Usage:
    """Source of the data and path of the saved model, for the report.

    Attributes
    ----------
    source : str
        Name of the file or of the data set.
    model : str or None
        Path of the saved model; None if no model is saved.
    commands : mapping of str to str
        Commands that fit and save each method, by method.

    Examples
    --------
    >>> from lupi.report import Usage
    >>> Usage("patients.csv", model="model.skops").source
    'patients.csv'
    """

    source: str = "data"
    model: str | None = None
    commands: Mapping[str, str] = field(default_factory=dict)


def build_page(
    comparison: Comparison,
    usage: Usage,
    curves: Curves,
    gains: ColumnGains | None = None,
) -> dict[str, Any]:
    """Return the values of the template."""
    from lupi import __version__

    settings, verdict = comparison.settings, comparison.verdict
    labels, made = settings["labels"], settings.get("made", {})
    warnings = []
    if labels["auc"] is not None and labels["auc"] > WARN_ABOVE:
        warnings.append(unlike_words(labels))
    charts = [] if gains is None else [_gains_chart(gains, w) for w in (WIDE, NARROW)]
    return {
        "title": f"Does the privileged information help? {usage.source}",
        "comparison": comparison,
        "settings": settings,
        "verdict": verdict,
        "wording": wording,
        "css": _css,
        "warnings": warnings,
        "methods": [
            _method(comparison, name, index, usage, curves)
            for index, name in enumerate(comparison.methods)
        ],
        "column_gains": gains,
        "gains_charts": charts,
        "usage": usage,
        "saved": repr(usage.model or SAVED),
        "commands": _commands(usage, comparison),
        "arms": list(ARMS.values()),
        "fewest_in_bin": wording.FEWEST_IN_BIN,
        "next_steps": comparison.next_steps(command_line="command" in made),
        "made": made,
        "version": __version__,
    }


def _css(kind: str) -> str:
    return kind if kind in ("helps", "hurts") else "plain"


def _method(
    comparison: Comparison, name: str, index: int, usage: Usage, curves: Curves
) -> dict[str, Any]:
    line = comparison.summary.set_index("method").loc[name]
    folds = comparison.folds[comparison.folds["method"] == name]
    table = comparison.table.set_index(["method", "arm"]).loc[name]
    paper = ""
    with suppress(ValueError):  # an estimator of the user has no declared paper
        paper = find_method(name).paper
    part: dict[str, Any] = {
        "name": name,
        "line": line,
        "paper": paper,
        "parameters": _parameters(folds),
        "seconds": table["seconds"],
    }
    if line["verdict"] == "failed":
        return part | {"charts": [], "gains": None, "curve": None, "reliability": None}
    reliability = wording.reliability_table(comparison, name)
    chart = _reliability_chart(reliability, index, comparison.settings)
    tables = _split_tables(comparison, name)
    if chart is not None:
        tables["The reliability curve in numbers"] = _reliability_lines(reliability)
    wide = folds.pivot(index="split", columns="arm", values="score")
    used = wide.drop(index=comparison.left_out)
    return part | {
        "charts": _score_charts(comparison, name, index),
        "gains": _gain_chart(comparison, name, index),
        "better": used["with"] > used["without"],
        "tables": tables,
        "reliability": chart,
        **_curve_chart(curves.get(name), comparison.settings["splits"], index),
    }


def _split_tables(comparison: Comparison, method: str) -> dict[str, list[list[str]]]:
    """Return the scores of all splits at every size: headings and lines, by title."""
    scores = wording.split_scores(comparison)
    labels = [arm.label for arm in ARMS.values()]
    tables = {}
    for size, part in scores[scores["method"] == method].groupby("size", sort=False):
        baselines = part[[wording.CONSTANT, wording.EXTERNAL]]
        columns = labels + list(baselines.dropna(axis=1, how="all"))
        by_time = "window" in part
        which = f"all {len(part)} splits" if len(part) > 1 else "the split"
        tables[f"The scores of {which}, {size}"] = [
            ["split", *columns],
            *(
                [
                    f"{line['split']}{wording.MARK * line['left_out']}"
                    + f": {line.get('window')}".replace(" to ", " to\n") * by_time,
                    *numbers(*(line[name] for name in columns)),
                ]
                for line in part.to_dict("records")
            ),
        ]
    return tables


def _score_charts(comparison: Comparison, name: str, index: int) -> list[str]:
    """Draw the scores of one method, for wide screens and for phones."""
    table = comparison.intervals()
    # Few blocks of test rows have no intervals.
    ends = table[["low", "value", "high"]]
    low, high = ends.min(axis=None), ends.max(axis=None)
    margin = 0.05 * (high - low) or 0.01
    own = table[table["method"] == name]
    said = "; ".join(
        f"{ARMS[line['arm']].label} {line['value']:.3f}"
        for line in own.to_dict("records")
    )

    def draw(ax: Any) -> None:
        GainDisplay.from_results(comparison, methods=[name], ax=ax)
        ax.set_xlim(low - margin, high + margin)

    height = HEIGHT_OF_AXIS + HEIGHT_OF_ARM * len(ARMS)
    return [
        _inline_svg(draw, (width, height), f"{name}: {said}", f"scores-{index}-{width}")
        for width in (WIDE, NARROW)
    ]


def _gain_chart(comparison: Comparison, name: str, index: int) -> str:
    def draw(ax: Any) -> None:
        GainDisplay.from_results(
            comparison, kind="difference", methods=[name], splits=True, ax=ax
        )

    height = HEIGHT_OF_AXIS + (HEIGHT_OF_ARM + 8) * (len(ARMS) - 1)
    label = f"Differences of {name} to the same model without X*, split by split"
    return _inline_svg(draw, (HALF, height), label, f"gains-{index}")


def _curve_chart(
    curve: LearningCurve | None, splits: Mapping[str, Any], index: int
) -> dict[str, str | None]:
    """Return the values of the template for a learning curve."""
    if curve is None or len(curve.train_sizes) < 2:
        return {"curve": None}
    cut: list[Any] = []

    def draw(ax: Any) -> list[Any]:
        display = PrivilegedLearningCurveDisplay.from_results(curve, ax=ax)
        ax.set_xscale("log")
        ax.set_xticks(curve.train_sizes, [f"{size}" for size in curve.train_sizes])
        ax.set_xticks([], minor=True)
        ax.set_ylabel(metric_name(curve.scoring))
        if curve.tuned:
            rows = training_rows(splits)
            ax.set_xlabel(f"training rows with y; parameters chosen with {rows}")
        cut.extend(display.cut_)
        return cut

    means = "; ".join(
        f"{ARMS[arm].label}, {size} rows: {score:.3f}"
        for arm, scores in curve.scores.items()
        for size, score in zip(curve.train_sizes, scores.mean(axis=1), strict=True)
    )
    label = f"Learning curve. {means}"
    chart = _inline_svg(draw, (HALF, 210), label, f"curve-{index}")
    said = "Scores on test rows, with 95 % bands."
    if cut:
        said += (
            " The axis ends above scores of few rows that are far below the others; "
            "means that it leaves out are written at its edge (↓)."
        )
    return {
        "curve": chart,
        "curve_note": f"{wording.curve_words(curve, splits)} {said}",
    }


def _reliability_chart(
    table: pd.DataFrame, index: int, settings: Mapping[str, Any]
) -> str | None:
    """Draw observed shares over predicted probabilities, over all test rows."""
    if table.empty or not table["shown"].any():
        return None
    points = table[table["shown"]]

    def draw(ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1.0, linestyle=":")
        for arm, part in points.groupby("arm"):
            line = "--" if arm == "without" else "-"
            color, weight = ARM_COLORS[str(arm)], part["weight"]
            at = part["predicted"], part["observed"]
            ax.plot(*at, color=color, linestyle=line, linewidth=1.5)
            ax.scatter(*at, s=4 + 80 * weight / weight.sum(), color=color)
        ax.set_xlabel(f"predicted probability of {settings['classes'][1]}")
        ax.set_ylabel("observed share")
        tidy(ax)

    means = "; ".join(
        f"{ARMS[line['arm']].label}, predicted {line['predicted']:.2f}: observed "
        f"{line['observed']:.2f}"
        for line in points.to_dict("records")
    )
    label = f"Reliability of the probabilities. {means}"
    return _inline_svg(draw, (HALF, 220), label, f"reliability-{index}")


def _reliability_lines(table: pd.DataFrame) -> list[list[str]]:
    """Return the headings and cells of the reliability curve in numbers."""
    return [
        ["arm", "tenth", "predicted", "observed", "predictions"],
        *(
            [
                ARMS[line["arm"]].label + wording.MARK * (not line["shown"]),
                f"{line['tenth']:.1f} to {line['tenth'] + 0.1:.1f}",
                number(line["predicted"]),
                number(line["observed"]),
                f"{line['weight']:,.0f}",
            ]
            for line in table.to_dict("records")
        ),
    ]


def _parameters(folds: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the values of each parameter, with the number of splits that chose it."""
    chosen: dict[str, Counter[str]] = {}
    for params in folds.loc[folds["arm"] == "with", "params"]:
        for name, value in (params or {}).items():
            rounded = isinstance(value, float) and math.isfinite(value)
            words = f"{value:.4g}" if rounded else str(value)
            chosen.setdefault(name, Counter())[words] += 1
    said = []
    for name, found in chosen.items():
        counts = found.most_common()
        if len(counts) > MOST_VALUES:
            others = counts[MOST_VALUES - 1 :]
            total = sum(n for _, n in others)
            counts[MOST_VALUES - 1 :] = [(f"{len(others)} other values", total)]
        said.append((name, ", ".join(f"{value} ({n}×)" for value, n in counts)))
    return said


def _gains_chart(gains: ColumnGains, width: int) -> str:
    """Draw the gains, for wide screens or for phones."""
    groups = gains.table["group"].tolist()
    said = "; ".join(
        f"{line['group']} alone {line['gain_alone']:+.3f}, left out "
        f"{line['gain_left_out']:+.3f}"
        for line in gains.table.to_dict("records")
    )

    def draw(ax: Any) -> None:
        ColumnGainDisplay.from_results(gains, ax=ax)
        most = LONGEST_NAME[width]
        names = [g if len(g) <= most else f"{g[: most - 1]}…" for g in groups]
        ax.set_yticks(range(len(names)), names)
        if width == NARROW:
            ax.set_xlabel("gain (95 % interval)")
            ax.locator_params(axis="x", nbins=4)

    height = HEIGHT_OF_AXIS + 8 + HEIGHT_OF_GROUP * len(gains.groups)
    return _inline_svg(draw, (width, height), f"Gains: {said}", f"columns-{width}")


def _commands(usage: Usage, comparison: Comparison) -> tuple[list[str], list[str]]:
    """Return the commands that fit and use the model, and those of other methods."""
    if comparison.verdict.kind == "failed":
        return [], []
    chosen = comparison.choice
    own = {(name, "with"): command for name, command in usage.commands.items()}
    fitted = own.pop(chosen, None)
    predict = shlex.join(["lupi", "predict", usage.model or SAVED, "new.csv"])
    if usage.model:
        return [predict], list(own.values())
    return [fitted, predict] if fitted else [], list(own.values())


def _inline_svg(
    draw: Callable[[Any], Any], size: tuple[int, int], label: str, name: str
) -> str:
    """Return a drawing on matplotlib axes as an SVG element.

    ``draw`` may return artists that end at the axes. The size is in pixels, the label a
    text alternative for screen readers, and the name a prefix of the identifiers,
    unique on the page.
    """
    matplotlib = require("matplotlib", "The report")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        # 72 units are an inch, so that one unit is one pixel.
        figure = Figure(figsize=(size[0] / 72, size[1] / 72), layout="constrained")
        ax = figure.subplots()
        cut = draw(ax) or ()
        ax.set_title("", loc="left")
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
        for artist in ax.findobj():
            artist.set_clip_on(artist in cut)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    body = svg[svg.index("<g id=") : svg.rindex("</svg>")]
    body = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    for color, variable in VARIABLES.items():
        body = re.sub(color, f"var({variable})", body, flags=re.IGNORECASE)
    # Older versions of matplotlib write "font: 12px …", newer ones "font-family: …".
    family = r"((?:font: [\d.]+px|font-family:) )[^;\"]*"
    body = re.sub(family, r"\1system-ui, sans-serif", body)
    body = re.sub(r"<!--.*?-->|\n\s*", "\n", body)
    width, height = size
    most = max(width, ENLARGED)
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" '
        f'style="max-width: {most}px" aria-label="{escape(label, quote=True)}">\n'
        f"{body}</svg>"
    )
