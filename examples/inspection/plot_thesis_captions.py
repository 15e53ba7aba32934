"""
Do the captions hold? Two spaces while γ, Δ and the fairness threshold move
==========================================================================

O. Thomas, "Learning Using Privileged Information: A Unified Approach" (University of
Sussex, 2017) explains its machines by pictures of X and X* for several values of the
hyper-parameters. Its data are not published; these are clouds of the same shapes, drawn
ten times (or as often as the first argument says), and what a caption says of one
picture is measured on all of them. The pictures go to the folder given second, if any.
The guide page on inspection says which captions hold.
"""

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from lupi import FairSVCDeltaPlus, HardMarginSVC, SVCDeltaPlus, SVCPlus, UnifiedSVC
from lupi.datasets import make_biased_hiring, make_plane
from lupi.inspection import SpacesDisplay

# Trivial solutions are part of what is looked at.
warnings.filterwarnings("ignore", message=".*trivial solution.*")
warnings.filterwarnings("ignore", message="Mean of empty slice")
LINEAR = {"kernel": "linear", "privileged_kernel": "linear"}


def fitted(model, data):
    return model.fit(data.data, data.target, privileged=data.privileged)


def angle(direction, other):
    """Degrees between two boundaries."""
    cosine = direction @ other / np.linalg.norm(direction) / np.linalg.norm(other)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def linear_correction(model, width):
    """w* and b* of a correcting function with a linear kernel."""
    values = model.correction(np.vstack([np.zeros(width), np.eye(width)]))
    return values[1:] - values[0], values[0]


def show(title, lines):
    """Print means over the draws, one line per setting."""
    print(f"\n{title}")
    for setting, draws in lines.items():
        means = {key: np.nanmean([draw[key] for draw in draws]) for key in draws[0]}
        print(f"  {setting:18s}", *(f"{key} {m:.3g};" for key, m in means.items()))


def figure_3_2(n_draws):
    draws = []
    for seed in range(n_draws):
        data = make_plane("separable", 60, random_state=seed)
        model = HardMarginSVC(kernel="linear").fit(data.data, data.target)
        margins = data.target * model.decision_function(data.data)
        support = margins[model.support_]
        draws.append(
            {
                "smallest y f": margins.min(),
                "largest |y f - 1| of a support vector": np.abs(support - 1).max(),
                "support vectors": len(support),
                "margin": 1 / np.linalg.norm(model.coef_),
            }
        )
    show("3.2, hard margin", {"": draws})


def figure_3_3(n_draws):
    lines = {}
    for C in (0.01, 1.0, 100.0):
        lines[f"C = {C:g}"] = draws = []
        for seed in range(n_draws):
            data = make_plane("overlapping", 60, random_state=seed)
            model = SVCPlus(C=C, kernel="linear").fit(data.data, data.target)
            margins = data.target * model.decision_function(data.data)
            draws.append(
                {
                    "margin": 1 / np.linalg.norm(model.coef_),
                    "sum of slacks": np.maximum(1 - margins, 0).sum(),
                    "violations": np.sum(margins < 1 - 1e-3),
                    "support vectors": len(model.support_),
                }
            )
    show("3.3, soft margin", lines)


def figure_4_1(n_draws):
    for kernel in ("linear", "rbf"):
        lines = {}
        for reg in (10.0, 1.0, 0.1, 0.01):
            lines[f"γ = {reg:g}"] = draws = []
            for seed in range(n_draws):
                data = make_plane("overlapping", 60, random_state=seed)
                model = SVCPlus(
                    kernel="linear", privileged_kernel=kernel, privileged_reg=reg
                )
                fitted(model, data)
                f_star = model.correction(data.privileged)
                outside = np.setdiff1d(np.arange(60), model.support_)
                norm = np.linalg.norm(model.coef_)
                inside = np.abs(model.decision_function(data.data)) < 1
                draws.append(
                    {
                        "‖w‖": norm,
                        "rows between the unit lines of X": inside.sum(),
                        "smallest f*": f_star.min(),
                        "largest f*": f_star.max(),
                        "range of f*": np.ptp(f_star),
                        "cost share of other rows": f_star[outside].sum()
                        / f_star.sum(),
                    }
                )
        show(f"4.1, SVM+, C = 1, {kernel} kernel on X*", lines)


def figure_4_2(n_draws):
    lines = {}
    settings = ((1.0, 10.0), (0.5, 10.0), (0.5, 1.0), (10.0, 10.0), (100.0, 10.0))
    base = {}
    for reg, delta in settings:
        lines[f"γ = {reg:g}, Δ = {delta:g}"] = draws = []
        for seed in range(n_draws):
            data = make_plane("separable-privileged", 60, random_state=seed)
            model = SVCDeltaPlus(delta=delta, privileged_reg=reg, **LINEAR)
            fitted(model, data)
            y = data.target
            f = y * model.decision_function(data.data)
            f_star = y * model.correction(data.privileged)
            weights, bias = linear_correction(model, 2)
            norm = np.linalg.norm(weights)
            base.setdefault(seed, (weights, bias / norm, np.abs(f_star)))
            first, offset, distance = base[seed]
            wrong = f < 0
            violated = f < 1 - 1e-3
            draws.append(
                {
                    "‖w*‖ (1 / unit length)": norm,
                    # A function that vanished has no zero line.
                    "degrees turned": angle(weights, first) if norm > 1e-6 else np.nan,
                    "moved": abs(bias / norm - offset) if norm > 1e-6 else np.nan,
                    "share of rows further away": np.mean(
                        np.abs(f_star) > distance + 1e-6
                    ),
                    "wrong in X*": np.sum(f_star < -1e-6),
                    "wrong in X": wrong.sum(),
                    "of these beyond +1 in X*": np.sum(f_star[wrong] > 1 - 1e-3),
                    "right in X, beyond +1": np.sum(f_star[~wrong] > 1 - 1e-3),
                    "rank correlation of slack and y f*": spearmanr(
                        1 - f[violated], f_star[violated]
                    ).statistic,
                }
            )
    show("4.2, SVMΔ+, C = 1", lines)


def both_functions_of_svm_u(n_draws):
    """No figure of the source shows SVMu; these are its two functions on X*."""
    lines = {}
    for reg, similarity_reg in ((1.0, 1.0), (0.1, 1.0), (0.01, 1.0), (0.1, 100.0)):
        lines[f"γ = {reg:g}, Γ = {similarity_reg:g}"] = draws = []
        for seed in range(n_draws):
            data = make_plane("separable-privileged", 60, random_state=seed)
            model = UnifiedSVC(
                kernel="linear",
                similarity_kernel="linear",
                privileged_reg=reg,
                similarity_reg=similarity_reg,
            )
            fitted(model, data)
            slack, similar = model.correction(data.privileged).T
            draws.append(
                {
                    "‖w‖": np.linalg.norm(model.coef_),
                    "smallest f*": slack.min(),
                    "range of f*": np.ptp(slack),
                    "range of f**": np.ptp(similar),
                    "wrong side of f**": np.sum(data.target * similar < -1e-6),
                }
            )
    show("SVMu, C = 1, Δ = 10", lines)


def figure_8_1(n_draws, bias, delta):
    lines = {}
    for threshold in (0.0, 0.1, 0.3, 1.0):
        lines[f"c = {threshold:g}"] = draws = []
        for seed in range(n_draws):
            data = make_biased_hiring(120, bias=bias, random_state=seed)
            model = FairSVCDeltaPlus(
                covariance_threshold=threshold, delta=delta, **LINEAR
            ).fit(data.data, data.target, sensitive_features=data.privileged)
            group = data.privileged[:, 0]
            hired = model.predict(data.data) == 1
            f = model.decision_function(data.data)
            weights, _ = linear_correction(model, 1)
            norm = np.linalg.norm(model.coef_)
            draws.append(
                {
                    # 45: merit; -45: the group; 0: experience alone.
                    "direction of w": np.degrees(np.arctan2(*model.coef_[0, ::-1]))
                    if norm > 1e-6
                    else np.nan,
                    "‖w‖": norm,
                    "covariance": np.abs(np.mean((group - group.mean()) * f)),
                    "accuracy": np.mean(model.predict(data.data) == data.target),
                    "disparity": abs(hired[group > 0].mean() - hired[group < 0].mean()),
                    "slope of f*": abs(weights[0]),
                    "constant f": float(norm < 1e-6),
                }
            )
    show(f"8.1, fair SVMΔ+, C = 1, Δ = {delta:g}, bias = {bias}", lines)


def pictures(models, data):
    """Both spaces for several settings, one above the other."""
    figure, grid = plt.subplots(
        len(models), 2, figsize=(10, 3.6 * len(models)), layout="constrained"
    )
    for axes, (setting, model) in zip(grid, models.items(), strict=True):
        if isinstance(model, FairSVCDeltaPlus):
            model.fit(data.data, data.target, sensitive_features=data.privileged)
        else:
            fitted(model, data)
        SpacesDisplay.from_estimator(
            model, data.data, data.target, data.privileged, max_numbers=10, ax=axes
        )
        axes[0].set_title(f"{setting}: X", loc="left", fontweight="bold")
        axes[1].set_title("X*", loc="left", fontweight="bold")
        axes[1].get_legend().remove()
    return figure


def soft_margins():
    """Figures 3.2 and 3.3: no X* at all, so one panel each."""
    figure, axes = plt.subplots(1, 4, figsize=(16, 4), layout="constrained")
    data = make_plane("separable", 60, random_state=1)
    model = HardMarginSVC(kernel="linear").fit(data.data, data.target)
    SpacesDisplay.from_estimator(model, data.data, data.target, ax=axes[0])
    axes[0].set_title("hard margin", loc="left", fontweight="bold")
    data = make_plane("overlapping", 60, random_state=1)
    for ax, C in zip(axes[1:], (0.01, 1.0, 100.0), strict=True):
        model = SVCPlus(C=C, kernel="linear").fit(data.data, data.target)
        SpacesDisplay.from_estimator(
            model, data.data, data.target, max_numbers=0, ax=ax
        )
        ax.set_title(f"C = {C:g}", loc="left", fontweight="bold")
    for ax in axes:
        ax.get_legend().remove()
    return figure


if __name__ == "__main__":
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    figure_3_2(n_draws)
    figure_3_3(n_draws)
    figure_4_1(n_draws)
    figure_4_2(n_draws)
    both_functions_of_svm_u(n_draws)
    figure_8_1(n_draws, bias=0.5, delta=1.0)
    figure_8_1(n_draws, bias=0.9, delta=1.0)
    figure_8_1(n_draws, bias=0.5, delta=10.0)

    # %%
    # The pictures: one line of two panels per setting.
    plane = make_plane("overlapping", 60, random_state=1)
    figures = {
        "3-3": soft_margins(),
        "4-1": pictures(
            {
                f"γ = {reg:g}": SVCPlus(kernel="linear", privileged_reg=reg)
                for reg in (1.0, 0.1, 0.01)
            },
            plane,
        ),
    }
    plane = make_plane("separable-privileged", 60, random_state=3)
    figures["4-2"] = pictures(
        {
            f"γ = {reg:g}, Δ = {delta:g}": SVCDeltaPlus(
                delta=delta, privileged_reg=reg, **LINEAR
            )
            for reg, delta in ((1.0, 10.0), (0.5, 10.0), (0.5, 1.0))
        },
        plane,
    )
    hiring = make_biased_hiring(120, bias=0.5, random_state=0)
    figures["8-1"] = pictures(
        {
            f"c = {threshold:g}": FairSVCDeltaPlus(
                covariance_threshold=threshold, delta=1.0, **LINEAR
            )
            for threshold in (0.0, 0.1, 0.3, 1.0)
        },
        hiring,
    )
    if len(sys.argv) > 2:
        for name, figure in figures.items():
            figure.savefig(Path(sys.argv[2]) / f"captions-{name}.png", dpi=80)
    plt.show()
