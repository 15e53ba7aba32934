"""Draw the figure of the README: what privileged information is, and a measured gain.

    python docs/readme_figure.py

writes ``docs/images/lupi-at-a-glance-light.svg`` and ``-dark.svg``, and their halves
``lupi-idea-…`` and ``lupi-gain-…`` for the start page, and prints what the right half
shows: on ACTG 175, with the blood counts of week 20 as X*, the AUC that
distillation gains over the same model without X*, and what it gains when the rows of X*
are shuffled among the training rows; means and standard errors over 24 random training
sets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from lupi import GeneralizedDistillationClassifier
from lupi.datasets import load_actg175

FOLDER = Path(__file__).parent / "images"
SIZES = (60, 100, 200, 400, 800)
N_SPLITS = 24
# Okabe and Ito's colors, which readers of all eyes can tell apart.
BLUE, ORANGE = "#0072B2", "#D55E00"
THEMES = {
    "light": {"ink": "#1f2328", "faint": "#757d86", "blue": BLUE, "orange": ORANGE},
    "dark": {
        "ink": "#f0f3f6",
        "faint": "#9aa2ab",
        "blue": "#56B4E9",
        "orange": "#E69F00",
    },
}


def measure() -> dict[str, np.ndarray]:
    """Return gains over *without*: sizes by splits, with X* and with shuffled X*."""
    trial = load_actg175()
    X, P, y = trial.data, trial.privileged, trial.target
    model = GeneralizedDistillationClassifier()
    rng = np.random.default_rng(0)

    def auc(train: np.ndarray, test: np.ndarray, privileged: Any) -> float:
        model.fit(X[train], y[train], privileged=privileged)
        return roc_auc_score(y[test], model.decision_function(X[test]))

    gains: dict[str, list[np.ndarray]] = {"with": [], "shuffled": []}
    for size in SIZES:
        splits = StratifiedShuffleSplit(N_SPLITS, train_size=size, random_state=0)
        scores = np.array(
            [
                (
                    auc(train, test, None),
                    auc(train, test, P[train]),
                    auc(train, test, P[rng.permutation(train)]),
                )
                for train, test in splits.split(X, y)
            ]
        )
        gains["with"].append(scores[:, 1] - scores[:, 0])
        gains["shuffled"].append(scores[:, 2] - scores[:, 0])
        without, taught, shuffled = scores.mean(axis=0)
        print(
            f"{size:4d} patients: AUC {without:.3f} without X*, {taught:.3f} with it, "
            f"{shuffled:.3f} with its rows shuffled"
        )
    return {name: np.array(rows) for name, rows in gains.items()}


def box(
    ax: Axes, x: float, y: float, width: float, height: float, text: str, **style: str
) -> None:
    """Draw a rounded box with words in it."""
    ax.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=style["fill"],
            edgecolor=style["edge"],
            linestyle=style.get("line", "-"),
            linewidth=1.6,
        )
    )
    ax.text(
        x + width / 2,
        y + height / 2,
        text,
        ha="center",
        va="center",
        color=style["ink"],
        fontsize=10.5,
        linespacing=1.35,
    )


def arrow(ax: Axes, start: tuple, end: tuple, color: str) -> None:
    """Draw an arrow between two points."""
    ax.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=14,
            linewidth=1.6,
            color=color,
            shrinkA=0,
            shrinkB=0,
        )
    )


def draw_idea(ax: Axes, theme: dict[str, str]) -> None:
    """Draw the two situations: training with X*, predicting without."""
    ink, blue, orange = theme["ink"], theme["blue"], theme["orange"]
    faint = theme["faint"]
    known = {"fill": blue + "22", "edge": blue, "ink": ink}
    privileged = {"fill": orange + "22", "edge": orange, "ink": ink}
    outcome = {"fill": "none", "edge": faint, "ink": ink}
    model = {"fill": "none", "edge": ink, "ink": ink}
    absent = {"fill": "none", "edge": faint, "ink": faint, "line": ":"}

    for y, title in ((5.1, "training"), (1.95, "predicting")):
        ax.text(0, y, title, color=ink, fontsize=13, fontweight="bold", va="bottom")
    box(ax, 0, 4.2, 3.3, 0.75, "x:  known on day 0", **known)
    box(ax, 0, 3.35, 3.3, 0.75, "x*:  blood counts, week 20", **privileged)
    box(ax, 0, 2.65, 3.3, 0.6, "y:  outcome", **outcome)
    box(ax, 4.6, 3.22, 1.6, 1.0, "model", **model)
    for y in (4.57, 3.72, 2.95):
        arrow(ax, (3.4, y), (4.55, 3.72), faint)

    box(ax, 0, 1.05, 3.3, 0.75, "x:  known on day 0", **known)
    box(ax, 0, 0.2, 3.3, 0.75, "x*:  not measured yet", **absent)
    box(ax, 4.6, 0.92, 1.6, 1.0, "model", **model)
    arrow(ax, (3.4, 1.42), (4.55, 1.42), faint)
    arrow(ax, (5.4, 3.12), (5.4, 2.02), faint)
    arrow(ax, (6.3, 1.42), (7.05, 1.42), faint)
    ax.text(7.15, 1.42, "y?", color=ink, fontsize=15, va="center")
    ax.set(xlim=(-0.05, 7.65), ylim=(0.1, 5.6))
    ax.set_axis_off()


def draw_gain(ax: Axes, gains: dict[str, np.ndarray], theme: dict[str, str]) -> None:
    """Draw gain against the number of training rows."""
    ink = theme["ink"]
    ax.axhline(0, color=theme["faint"], linewidth=1)
    series = (
        ("with", "with x*", theme["orange"], "o-"),
        ("shuffled", "with x* shuffled", theme["faint"], "s--"),
    )
    for name, label, color, marker in series:
        mean = gains[name].mean(axis=1)
        error = gains[name].std(axis=1, ddof=1) / np.sqrt(N_SPLITS)
        ax.errorbar(
            SIZES, mean, error, fmt=marker, color=color, capsize=3, linewidth=2, ms=6
        )
        ax.annotate(
            label,
            (SIZES[1], mean[1]),
            xytext=(6, 12 if name == "with" else -18),
            textcoords="offset points",
            color=color if name == "with" else ink,
            fontsize=11,
        )
    ax.set_xscale("log")
    ax.set_xticks(SIZES, [str(size) for size in SIZES])
    ax.minorticks_off()
    ax.set_ylim(-0.015, 0.045)
    ax.set_xlabel("patients to learn from", color=ink, fontsize=11)
    ax.set_title(
        "measured: AUC gained (trial ACTG 175)",
        color=ink,
        fontsize=12,
        loc="left",
        fontweight="bold",
    )
    ax.tick_params(colors=ink, labelsize=10)
    ax.yaxis.set_major_formatter(lambda x, _: f"{x:+.2f}" if abs(x) > 1e-9 else "0")
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme["faint"])


def main() -> None:
    """Measure, then draw the figure for light and for dark pages."""
    gains = measure()
    FOLDER.mkdir(exist_ok=True)
    # The same figure gives the same file, so that a change means something.
    plt.rcParams.update({"svg.hashsalt": "lupi", "font.family": "DejaVu Sans"})
    for name, theme in THEMES.items():
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(11, 3.8), width_ratios=(1.2, 1), layout="constrained"
        )
        draw_idea(left, theme)
        draw_gain(right, gains, theme)
        write(figure, f"lupi-at-a-glance-{name}")
        # The halves apart, for pages that set them one below the other on a phone.
        figure, ax = plt.subplots(figsize=(5.6, 3.5), layout="constrained")
        draw_idea(ax, theme)
        write(figure, f"lupi-idea-{name}")
        figure, ax = plt.subplots(figsize=(5.6, 3.5), layout="constrained")
        draw_gain(ax, gains, theme)
        write(figure, f"lupi-gain-{name}")


def write(figure: Figure, name: str) -> None:
    """Write one figure and say so."""
    figure.savefig(FOLDER / f"{name}.svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {name}.svg")


if __name__ == "__main__":
    main()
