"""Draw the figure of the README: what privileged information is, and a measured gain.

    python docs/readme_figure.py

writes ``docs/images/lupi-at-a-glance-light.svg`` and ``-dark.svg``, and their halves
``lupi-idea-…`` and ``lupi-gain-…`` for the start page, and prints what the right half
shows: on ACTG 175, with the blood counts of week 20 as X*, the AUC that hedged
distillation gains over the same model without X*, and what it gains when the rows of
X* are shuffled among the training rows. The splits are the 40 of the program in README:
1060 patients to train, of whom the outcome is known for some or for all, and the others
to test. Means and standard errors are written to ``docs/readme_figure.json``; a test
compares the numbers of README and start page with them.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from sklearn.metrics import roc_auc_score

from lupi import HedgedDistillationClassifier
from lupi.datasets import load_actg175

FOLDER = Path(__file__).parent / "images"
FOUND = Path(__file__).parent / "readme_figure.json"
N_TRAIN = 1060
KNOWN = (60, 120, 240, 480, N_TRAIN)
N_SPLITS = 40
ARMS = ("without", "with", "shuffled")
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


def measure() -> np.ndarray:
    """Return the AUC by number of known outcomes, split and arm."""
    trial = load_actg175()
    X, P, y = trial.data, trial.privileged, trial.target
    model = HedgedDistillationClassifier()
    scores = np.empty((len(KNOWN), N_SPLITS, len(ARMS)))
    for split in range(N_SPLITS):
        rng = np.random.default_rng(split)
        rows = rng.permutation(len(y))
        train, test = rows[:N_TRAIN], rows[N_TRAIN:]
        tables = (None, P[train], P[rng.permutation(train)])
        for place, n_known in enumerate(KNOWN):
            known = np.where(np.arange(N_TRAIN) < n_known, y[train], np.nan)
            scores[place, split] = [
                roc_auc_score(
                    y[test],
                    model.fit(X[train], known, privileged=table).decision_function(
                        X[test]
                    ),
                )
                for table in tables
            ]
    return scores


def summarize(scores: np.ndarray) -> dict[str, list]:
    """Return mean scores, mean gains over *without*, and the errors of the gains."""
    means = dict(zip(ARMS, scores.mean(axis=1).T, strict=True))
    found: dict[str, list] = {"known": list(KNOWN)}
    found |= {name: np.round(mean, 4).tolist() for name, mean in means.items()}
    for place, name in ((1, "with"), (2, "shuffled")):
        gain = scores[:, :, place] - scores[:, :, 0]
        error = gain.std(axis=1, ddof=1) / np.sqrt(N_SPLITS)
        found[f"gain_{name}"] = np.round(gain.mean(axis=1), 4).tolist()
        found[f"error_{name}"] = np.round(error, 4).tolist()
    for values in zip(KNOWN, *(means[name] for name in ARMS), strict=True):
        print(
            "{:4d} known outcomes: AUC {:.3f} without X*, {:.3f} with X*, {:.3f} with "
            "shuffled X*".format(*values)
        )
    return found


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
    box(ax, 0, 2.65, 3.3, 0.6, "y:  outcome, if known", **outcome)
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


def draw_gain(ax: Axes, found: dict[str, list], theme: dict[str, str]) -> None:
    """Draw gain against the number of known outcomes."""
    ink = theme["ink"]
    ax.axhline(0, color=theme["faint"], linewidth=1)
    series = (
        ("with", "with x*", theme["orange"], "o-"),
        ("shuffled", "with x* shuffled", theme["faint"], "s--"),
    )
    for name, label, color, marker in series:
        mean, error = found[f"gain_{name}"], found[f"error_{name}"]
        ax.errorbar(
            KNOWN, mean, error, fmt=marker, color=color, capsize=3, linewidth=2, ms=6
        )
        ax.annotate(
            label,
            (KNOWN[1], mean[1]),
            xytext=(6, 14 if name == "with" else -18),
            textcoords="offset points",
            color=color if name == "with" else ink,
            fontsize=11,
        )
    ax.set_xscale("log")
    ax.set_xticks(KNOWN, [str(n_known) for n_known in KNOWN])
    ax.minorticks_off()
    ax.set_ylim(-0.012, 0.049)
    ax.set_xlabel(
        f"known outcomes, of {N_TRAIN} patients (ACTG 175)", color=ink, fontsize=11
    )
    ax.set_title(
        "AUC gained by hedged distillation",
        color=ink,
        fontsize=12,
        loc="left",
        fontweight="bold",
    )
    ax.tick_params(colors=ink, labelsize=10)
    ax.yaxis.set_major_formatter(
        lambda x, _: f"{x:+.2f}".replace("-", "−") if abs(x) > 1e-9 else "0"
    )
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme["faint"])


def main() -> None:
    """Measure, then draw the figure for light and for dark pages."""
    found = summarize(measure())
    lines = (f"{json.dumps(name)}: {values}" for name, values in found.items())
    FOUND.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    # The same figure gives the same file, so that a change means something.
    plt.rcParams.update({"svg.hashsalt": "lupi", "font.family": "DejaVu Sans"})
    for name, theme in THEMES.items():
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(11, 3.8), width_ratios=(1.2, 1), layout="constrained"
        )
        draw_idea(left, theme)
        draw_gain(right, found, theme)
        write(figure, f"lupi-at-a-glance-{name}")
        # The halves apart, for pages that set them one below the other on a phone.
        figure, ax = plt.subplots(figsize=(5.6, 3.5), layout="constrained")
        draw_idea(ax, theme)
        write(figure, f"lupi-idea-{name}")
        figure, ax = plt.subplots(figsize=(5.6, 3.5), layout="constrained")
        draw_gain(ax, found, theme)
        write(figure, f"lupi-gain-{name}")


def write(figure: Figure, name: str) -> None:
    """Write one figure and say so."""
    figure.savefig(FOLDER / f"{name}.svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {name}.svg")


if __name__ == "__main__":
    main()
