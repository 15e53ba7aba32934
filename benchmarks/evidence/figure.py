"""The forest plot of the evidence page: gains by table and method, light and dark."""

import matplotlib as mpl
import numpy as np

from evidence import summary
from evidence.findings import HEDGED, SVM, TASKS

THEMES = {
    "light": {
        "ink": "#1f2328",
        "faint": "#757d86",
        "mark": "#0072B2",
        "bad": "#D55E00",
    },
    "dark": {"ink": "#f0f3f6", "faint": "#9aa2ab", "mark": "#56B4E9", "bad": "#E69F00"},
}
# Title, names of the method, number of labels, regime.
PANELS = (
    ("hedged, 60 outcomes\n+ rows without y", HEDGED, 60, "unlabelled"),
    ("hedged, 200 outcomes\n+ rows without y", HEDGED, 200, "unlabelled"),
    ("SVM+, 60 outcomes", SVM, 60, "labelled"),
)
# Gains beyond the edge are drawn on it.
EDGE = 0.16


def draw(content, folder):
    """Write ``evidence-light.svg`` and ``evidence-dark.svg``."""
    lines = content["lines"]
    gaps = {x["table"]: x["gap"] for x in summary.pick(lines, HEDGED, 60, "unlabelled")}
    tasks = {each["name"]: each["task"] for each in content["tables"]}
    # Regression below, and the largest gap on top.
    order = sorted(gaps, key=lambda name: (tasks[name] == "classification", gaps[name]))
    with mpl.rc_context({"font.size": 10, "svg.hashsalt": "lupi"}):
        for theme, colors in THEMES.items():
            figure = _figure(lines, order, tasks, colors)
            path = folder / f"evidence-{theme}.svg"
            figure.savefig(path, transparent=True, metadata={"Date": None})


def _figure(lines, order, tasks, colors):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(PANELS), figsize=(8, 0.24 * len(order) + 1.2), sharey=True
    )
    for axis, (title, *which) in zip(axes, PANELS, strict=True):
        for line in summary.pick(lines, *which):
            if line["table"] in order:
                _mark(axis, line, order.index(line["table"]), colors)
        axis.axvline(0, color=colors["faint"], linewidth=0.8)
        axis.set_xlim(-EDGE * 1.02, EDGE * 1.02)
        axis.set_xticks([-0.1, 0, 0.1], ["−0.1", "0", "+0.1"])
        axis.set_title(title, color=colors["ink"], fontsize=10)
        axis.tick_params(colors=colors["ink"], length=2)
        axis.tick_params(axis="y", length=0)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        axis.spines["bottom"].set_color(colors["faint"])
        border = sum(tasks[name] == "regression" for name in order) - 0.5
        axis.axhline(border, color=colors["faint"], linewidth=0.5, linestyle=":")
    names = [f"{name.replace('_', ' ')} ({TASKS[tasks[name]]})" for name in order]
    axes[0].set_yticks(range(len(order)), names)
    axes[0].set_ylim(-0.7, len(order) - 0.3)
    figure.tight_layout()
    plt.close(figure)
    return figure


def _mark(axis, line, place, colors):
    verdict = line["verdict"]
    color = {"helps": colors["mark"], "hurts": colors["bad"]}.get(
        verdict, colors["faint"]
    )
    gain, reach = line["gain"], line["gain_reach"]
    if line.get("room") is not None:
        end = float(np.clip(line["room"], -EDGE, EDGE))
        axis.barh(place, end, height=0.72, color=colors["faint"], alpha=0.25, lw=0)
    ends = np.clip([gain - reach, gain + reach], -EDGE, EDGE)
    axis.plot(ends, [place, place], color=color, lw=1.3)
    face = "none" if verdict == "no evidence" else color
    axis.plot(
        [float(np.clip(gain, -EDGE, EDGE))],
        [place],
        marker="X" if verdict == "hurts" else "o",
        ms=6 if verdict == "hurts" else 5,
        mec=color,
        mfc=face,
        mew=1,
    )
