"""The figure of the guide: what defaults of the SVM+ family lose and what they gain."""

import matplotlib as mpl

from evidence.figure import THEMES

TEACHER = "slack_teacher"
SHADES = (1.0, 0.75, 0.5, 0.3)
PANELS = ("SVCDeltaPlus", "LinearSVCDeltaPlus", "SVCPlus")


def draw(found, folder):
    """Write ``defaults-light.svg`` and ``defaults-dark.svg``."""
    for theme, colors in THEMES.items():
        figure = _figure(found["lines"], colors)
        figure.savefig(folder / f"defaults-{theme}.svg", transparent=True)


def _figure(lines, colors):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.size": 8, "svg.hashsalt": "lupi"}):
        figure, axes = plt.subplots(1, len(PANELS), figsize=(9.5, 3.2), sharey=True)
        for axis, name in zip(axes, PANELS, strict=True):
            part = [line for line in lines if line["model"] == name]
            _curves(axis, part, colors)
            best = max(line[TEACHER] for line in part)
            axis.axvline(-0.01, color=colors["faint"], lw=0.7, linestyle=":")
            axis.axvline(0, color=colors["faint"], lw=0.7)
            axis.axhline(best / 2, color=colors["faint"], lw=0.7, linestyle=":")
            axis.set_title(name, color=colors["ink"], fontsize=9)
            axis.set_xlabel("mean gain over the tables", color=colors["ink"])
            axis.tick_params(colors=colors["ink"], length=2)
            for side in ("top", "right"):
                axis.spines[side].set_visible(False)
            for side in ("bottom", "left"):
                axis.spines[side].set_color(colors["faint"])
            axis.legend(frameon=False, labelcolor=colors["ink"], fontsize=7)
        axes[0].set_ylabel("gain on make_slack_teacher", color=colors["ink"])
        figure.tight_layout()
        plt.close(figure)
    return figure


def _curves(axis, part, colors):
    """Draw one curve per privileged_reg over delta, or one over privileged_reg."""
    key = "delta" if "delta" in part[0] else "privileged_reg"
    groups = {}
    for line in part:
        group = line["privileged_reg"] if key == "delta" else None
        groups.setdefault(group, []).append(line)
    for (group, each), shade in zip(
        sorted(groups.items(), key=str), SHADES, strict=False
    ):
        each = sorted(each, key=lambda line: line[key])
        label = f"over {key}" if group is None else f"privileged_reg={group:g}"
        axis.plot(
            [line["mean"] for line in each],
            [line[TEACHER] for line in each],
            marker="o",
            ms=3,
            lw=1,
            color=colors["mark"],
            alpha=shade,
            label=label,
        )
        if group in (None, 1.0):
            for line in each:
                place = (line["mean"], line[TEACHER])
                axis.annotate(
                    f"{line[key]:g}",
                    place,
                    xytext=(3, 3),
                    textcoords="offset points",
                    fontsize=6,
                    color=colors["faint"],
                )
    for line in part:
        if line["default"]:
            axis.plot(
                [line["mean"]],
                [line[TEACHER]],
                marker="o",
                ms=8,
                mfc="none",
                mec=colors["bad"],
            )
