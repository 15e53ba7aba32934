"""The forest plot of the evidence page: gains by table and method, light and dark."""

import matplotlib as mpl
import numpy as np

from evidence import summary

THEMES = {
    "light": {
        "ink": "#1f2328",
        "faint": "#757d86",
        "mark": "#0072B2",
        "bad": "#D55E00",
    },
    "dark": {"ink": "#f0f3f6", "faint": "#9aa2ab", "mark": "#56B4E9", "bad": "#E69F00"},
}
SCORES = {"classification": "AUC", "regression": "R²"}
# Title, names of the method, and whether it has rows without y.
PANELS = (
    ("hedged\n+ rows without y", ("HedgedDistillation",), True),
    ("hedged", ("HedgedDistillation",), False),
    ("PAST\n+ rows without y", ("PAST",), True),
    ("distillation\n+ rows without y", ("GeneralizedDistillation",), True),
    ("SVM+", ("SVCPlus", "SVRPlus"), False),
    ("SVMΔ+", ("SVCDeltaPlus",), False),
)
# Gains beyond the edge are drawn on it.
EDGE = 0.16


def draw(content, folder):
    """Write ``evidence-light.svg`` and ``evidence-dark.svg``."""
    lines = [
        line for line in summary.tested(content["lines"]) if line["n_labels"] == 60
    ]
    gaps = {
        line["table"]: line["gap"]
        for line in lines
        if summary.base(line["method"]) == "HedgedDistillation"
        and not line["n_unlabelled"]
    }
    order = {}
    for task in ("regression", "classification"):
        named = [t["name"] for t in content["tables"] if t["task"] == task]
        for name in sorted((n for n in named if n in gaps), key=gaps.get):
            order[name] = len(order)
    for theme, colors in THEMES.items():
        figure = _figure(lines, order, content["tables"], colors)
        figure.savefig(folder / f"evidence-{theme}.svg", transparent=True)


def _figure(lines, order, tables, colors):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    tasks = {table["name"]: table["task"] for table in tables}
    with plt.rc_context({"font.size": 8, "svg.hashsalt": "lupi"}):
        figure, axes = plt.subplots(
            1, len(PANELS), figsize=(10.5, 0.2 * len(order) + 1.2), sharey=True
        )
        for axis, (title, names, hidden) in zip(axes, PANELS, strict=True):
            for line in lines:
                right = summary.base(line["method"]) in names
                if right and bool(line["n_unlabelled"]) == hidden:
                    _mark(axis, line, order[line["table"]], colors)
            axis.axvline(0, color=colors["faint"], linewidth=0.8)
            axis.set_xlim(-EDGE, EDGE)
            axis.set_title(title, color=colors["ink"], fontsize=8)
            axis.tick_params(colors=colors["ink"], length=2)
            for side in ("top", "right", "left"):
                axis.spines[side].set_visible(False)
            axis.spines["bottom"].set_color(colors["faint"])
            border = sum(tasks[name] == "regression" for name in order) - 0.5
            axis.axhline(border, color=colors["faint"], linewidth=0.5, linestyle=":")
        axes[0].set_yticks(range(len(order)))
        axes[0].set_yticklabels(
            f"{name} ({'R²' if tasks[name] == 'regression' else 'AUC'})"
            for name in order
        )
        axes[0].set_ylim(-0.7, len(order) - 0.3)
        figure.tight_layout()
        plt.close(figure)
    return figure


def _mark(axis, line, place, colors):
    verdict = line["verdict"]
    color = {"helps": colors["mark"], "hurts": colors["bad"]}.get(
        verdict, colors["faint"]
    )
    gain = float(np.clip(line["gain"], -EDGE, EDGE))
    low, high = line["gain"] - line["gain_reach"], line["gain"] + line["gain_reach"]
    axis.plot(np.clip([low, high], -EDGE, EDGE), [place, place], color=color, lw=1.1)
    marker = {"helps": "o", "hurts": "X"}.get(verdict, "o")
    face = "none" if verdict == "no evidence" else color
    axis.plot(
        [gain], [place], marker=marker, ms=4, mec=color, mfc=face, color=color, mew=0.9
    )
