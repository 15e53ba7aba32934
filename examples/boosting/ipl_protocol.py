"""
The data and the methods behind these pages
===========================================

The pages of this folder follow X. Li, B. Du, Y. Zhang, C. Xu and D. Tao: *Iterative
Privileged Learning*, IEEE Transactions on Neural Networks and Learning Systems, 2018.
One page per figure or table. What they share is here: save this file beside a page to
run it. Of the five data sets of the paper one ships with this library. For the others
something stands in:

============== ========================= =========================================
paper          here                      what X and X* are
============== ========================= =========================================
Pima           the same table            as printed: attributes 1, 4, 5, 7 and
                                         2, 3, 6, 8
Galaxy         generated                 20 columns (paper: 100 or 127), a blurred
                                         image of the 21 of X*
MNIST+         scikit-learn's digits,    4 x 4 pixels, and 8 x 8 instead of a poet's
               5 or 8                    description
a-Yahoo        scikit-learn's digits,    the same, instead of attributes
               one against the rest
RGB-D Face     rendered heads            16 principal components of a gray image with
                                         light from anywhere, and of its depth image
============== ========================= =========================================

So the pages can say whether a claim about the *method* holds elsewhere. They cannot
say whether a number of the paper is right, except on Pima.
"""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import lupi
from lupi.datasets import load_digits_lowres, load_pima, make_similarity_teacher


# %%
# Data
# ----
def pima():
    """The roles as printed; see the errata about them."""
    return load_pima(roles="seed")


def galaxy():
    """505 rows whose X* separates the classes better than X does."""
    return make_similarity_teacher(
        505, n_features=20, n_privileged=21, separation=1.5, noise=1.0, random_state=0
    )


def digits():
    """356 images of 5 and 8."""
    return load_digits_lowres(digits=(5, 8), size=4)


# %%
# Heads that look at thirteen points on a wall: where each point lies, and how the paper
# groups them. The camera stands at point 7.
POINTS = {
    1: (0, 2), 2: (0, 1), 3: (-1, 1), 4: (1, 1), 5: (-2, 0), 6: (-1, 0), 7: (0, 0),
    8: (1, 0), 9: (2, 0), 10: (-1, -1), 11: (1, -1), 12: (0, -1), 13: (0, -2),
}  # fmt: skip
CLASSES = {1: (1, 2, 12, 13), 2: (5, 6, 8, 9), 3: (3, 4, 10, 11)}


def head(point, person, rng, size=16):
    """A gray image and a depth image of one person looking at one point."""
    # People turn the head only part of the way and never twice the same.
    turn = np.deg2rad([20.0, 16.0]) * POINTS[point] + rng.normal(scale=0.07, size=2)
    (cy, cp), (sy, sp) = np.cos(turn), np.sin(turn)
    rotation = np.array(
        [[cy, 0, sy], [-sp * sy, cp, sp * cy], [-cp * sy, -sp, cp * cy]]
    )
    shift = rng.normal(scale=0.05, size=2)
    v, u = np.meshgrid(
        np.linspace(1, -1, size), np.linspace(-1, 1, size), indexing="ij"
    )
    u, v = u - shift[0], v - shift[1]
    # Where the ray through each pixel meets the head, an ellipsoid.
    shape = rotation @ np.diag(person["axes"] ** -2.0) @ rotation.T
    b = shape[0, 2] * u + shape[1, 2] * v
    c = shape[0, 0] * u**2 + 2 * shape[0, 1] * u * v + shape[1, 1] * v**2 - 1
    root = b**2 - shape[2, 2] * c
    hit = root > 0
    depth = np.where(hit, (-b + np.sqrt(np.maximum(root, 0))) / shape[2, 2], 0.0)
    # The face turns with the head: nose, eyes and mouth in its own coordinates.
    own = np.einsum("ji,j...->i...", rotation, np.array([u, v, depth]))

    def spot(x, y, width):
        return np.exp(-((own[0] - x) ** 2 + (own[1] - y) ** 2) / width**2) * hit

    depth = depth + person["nose"] * spot(0, -0.05, 0.18)
    skin = 1 - 0.7 * (
        spot(-0.3, 0.25, 0.13) + spot(0.3, 0.25, 0.13) + spot(0, -0.45, 0.2)
    )
    slope = np.gradient(depth, 2 / size)
    normal = np.array([-slope[1], slope[0], np.ones_like(depth)])
    light = 0.7 * rng.normal(size=3) + [0, 0, 2]
    shade = np.maximum(
        np.tensordot(light, normal, 1) / np.linalg.norm(normal, axis=0), 0
    )
    grey = (skin * shade / np.linalg.norm(light)) * hit
    return (
        grey + rng.normal(scale=0.06, size=grey.shape),
        depth + rng.normal(scale=0.05, size=depth.shape),
    )


def face_images(random_state=0):
    """31 people, 3 images of each of the 12 points of the three classes."""
    rng = np.random.default_rng(random_state)
    grey, depth, label, point = [], [], [], []
    for _ in range(31):
        person = {
            "axes": np.array([0.65, 0.85, 0.75]) * rng.uniform(0.9, 1.1, size=3),
            "nose": rng.uniform(0.2, 0.4),
        }
        for group, members in CLASSES.items():
            for here in np.repeat(members, 3):
                images = head(here, person, rng)
                grey.append(images[0])
                depth.append(images[1])
                label.append(group)
                point.append(here)
    return SimpleNamespace(
        grey=np.array(grey),
        depth=np.array(depth),
        target=np.array(label),
        point=np.array(point),
    )


def faces(classes=(1, 3), n_components=16):
    """Two classes of poses; X and X* are principal components of the images."""
    images = face_images()
    keep = np.isin(images.target, classes)

    def components(table):
        return PCA(n_components, random_state=0).fit_transform(
            table[keep].reshape(keep.sum(), -1)
        )

    return SimpleNamespace(
        data=components(images.grey),
        privileged=components(images.depth),
        target=images.target[keep],
    )


# %%
# Methods
# -------
# Those of the paper, each with a thinned grid of parameters. GBDT is IPL without X*.
TREES = {"n_estimators": 50, "learning_rate": 0.2, "max_depth": 2, "random_state": 0}
LINEAR = {"kernel": "linear", "privileged_kernel": "linear", "privileged_reg": 1.0}
COST = {"C": [1.0, 10.0]}
COMMENTS = {"privileged_weight": [0.3, 3.0], "privileged_reg": [0.1, 10.0]}
METHODS = {
    "GBDT": (lupi.IPLClassifier(**TREES), {}, False),
    "SVM": (SVC(), COST, False),
    "SVM+(linear)": (lupi.SVCPlus(**LINEAR), COST, True),
    "SVM+(rbf)": (lupi.SVCPlus(privileged_reg=1.0), COST, True),
    "L2-SVM+": (lupi.L2SVCPlus(privileged_reg=1.0), COST, True),
    "GB+": (lupi.GBPlusClassifier(**TREES), {"imitation_weight": [0.3, 1.0]}, True),
    "IPL": (lupi.IPLClassifier(**TREES), COMMENTS, True),
}
SPARSE = (
    lupi.IPLClassifier(n_atoms=15, **TREES),
    {"privileged_weight": [1.0, 10.0], "privileged_reg": [0.01, 0.1]},
    True,
)


def accuracy_of(method, data, train, test, folds, shuffled_by=None):
    """Choose parameters on the folds, fit on the training rows, count right answers.

    With a generator as `shuffled_by`, the rows of X* are permuted among the training
    rows first: what remains of a gain did not come from the content of X*.
    """
    model, grid, takes_privileged = method
    X = StandardScaler().fit(data.data[train]).transform(data.data)
    P = StandardScaler().fit(data.privileged[train]).transform(data.privileged)
    if shuffled_by is not None:
        P[train] = P[shuffled_by.permutation(train)]
    y = data.target
    with warnings.catch_warnings():
        # Where SVM+ finds only its trivial solution, that is part of the result.
        warnings.filterwarnings("ignore", message=".*trivial solution")
        if grid:
            extra = {"privileged": P} if takes_privileged else {}
            search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X, y, **extra)
            model = clone(model).set_params(**search.best_params_)
        extra = {"privileged": P[train]} if takes_privileged else {}
        model.fit(X[train], y[train], **extra)
    return model.score(X[test], y[test])


def three_parts(rows, y, seed):
    """40 % of the rows to train, 30 % to choose parameters, 30 % to test."""
    train, rest = train_test_split(
        rows, train_size=0.4, stratify=y[rows], random_state=seed
    )
    valid, test = train_test_split(
        rest, train_size=0.5, stratify=y[rest], random_state=seed
    )
    return train, valid, test


def table(scores):
    """Per cent right: mean ± standard deviation, of scores[case][method]."""
    return pd.DataFrame(
        {
            case: {
                name: f"{100 * np.mean(found):.1f} ± {100 * np.std(found):.1f}"
                for name, found in methods.items()
            }
            for case, methods in scores.items()
        }
    ).T


def draw_table(ax, found, printed=None):
    """Means and deviations of one case, beside what the paper prints."""
    names = list(found)
    heights = np.arange(len(names))
    means = [100 * np.mean(found[name]) for name in names]
    spread = [100 * np.std(found[name]) for name in names]
    ax.errorbar(means, heights, xerr=spread, fmt="o", color="#0072B2", label="here")
    if printed is not None:
        shown = [printed.get(name, np.nan) for name in names]
        ax.plot(shown, heights, "x", color="#D55E00", label="printed", markersize=8)
    ax.set_yticks(heights, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("accuracy (%)")
    ax.grid(axis="x", color="#E6E6E6")
    ax.spines[["top", "right"]].set_visible(False)


# %%
# Figures of a fit
# ----------------
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
STYLES = ("-", "--", "-.", ":")
# Pale enough for numbers on every color.
GAINS = LinearSegmentedColormap.from_list("gains", ["#E69F00", "#FFFFFF", "#3C93C9"])


def tidy(ax, title):
    """A title on the left, a light grid, and no frame above and on the right."""
    ax.set_title(title, loc="left", fontweight="bold")
    ax.grid(color="#E6E6E6")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def draw_traces(axes, models, X_test, y_test):
    """Draw objective, passes and score of fitted models, on three axes.

    The objective is that of the end of each round; the passes within a round are
    relative to the first and averaged over the rounds; the score is that of the test
    rows after each tree. Objectives and scores are returned, by model.
    """
    traces = {}
    for (name, model), color, style in zip(
        models.items(), COLORS, STYLES, strict=False
    ):
        rounds = model.objective_trace_
        objective = np.array([each[-1] for each in rounds])
        # A round that stopped keeps its last value; one that starts at 0 has no other.
        longest = max(map(len, rounds))
        passes = np.mean(
            [
                np.pad(each / each[0], (0, longest - len(each)), mode="edge")
                if each[0] > 0
                else np.ones(longest)
                for each in rounds
            ],
            axis=0,
        )
        metric = accuracy_score if hasattr(model, "classes_") else r2_score
        score = np.array([metric(y_test, p) for p in model.staged_predict(X_test)])
        for ax, values in zip(axes, (objective, passes, score), strict=True):
            steps = np.arange(1, len(values) + 1)
            ax.plot(steps, values, color=color, linestyle=style, lw=2, label=name)
        traces[name] = objective, score
    axes[0].set(xlabel="round (trees)", ylabel="objective", ylim=(0, None))
    axes[1].set(xlabel="pass", ylabel="objective, relative to the first pass")
    axes[2].set(xlabel="number of trees", ylabel=metric.__name__.replace("_", " "))
    axes[2].legend(frameon=False)
    tidy(axes[0], "Objective of each round")
    tidy(axes[1], "Passes within a round")
    tidy(axes[2], "Test rows")
    return traces


def draw_surface(ax, model, X, y, privileged, grid, **how):
    """Cross-validate over C1 and C2, and draw the difference to the model without X*.

    Scores (one row per C2, one column per C1) and that of the model without X* on the
    same folds are returned; ``how`` are arguments of `cross_val_score`.
    """
    baseline = cross_val_score(model, X, y, **how).mean()
    scores = np.array(
        [
            [
                cross_val_score(
                    clone(model).set_params(privileged_weight=c1, privileged_reg=c2),
                    X,
                    y,
                    params={"privileged": privileged},
                    **how,
                ).mean()
                for c1 in grid
            ]
            for c2 in grid
        ]
    )
    gain = scores - baseline
    reach = np.abs(gain).max() or 1.0
    image = ax.imshow(
        gain, cmap=GAINS, vmin=-reach, vmax=reach, origin="lower", aspect="auto"
    )
    for (line, column), score in np.ndenumerate(scores):
        ax.text(column, line, f"{score:.3f}", ha="center", va="center", fontsize=9)
    ax.set_xticks(range(len(grid)), [f"{value:g}" for value in grid])
    ax.set_yticks(range(len(grid)), [f"{value:g}" for value in grid])
    ax.set(xlabel="C1 (privileged_weight)", ylabel="C2 (privileged_reg)")
    ax.set_title(f"Without X*: {baseline:.3f}", loc="left", fontweight="bold")
    ax.figure.colorbar(image, ax=ax, label="gained over the model without X*")
    return scores, baseline


SPACES = {
    "GB_EF": "common space, trained on X",
    "GB_PF": "common space, trained on X*",
    "GB_CCA": "common space, trained on both",
}


def draw_quality(ax, quality):
    """Draw the result of `cca_quality`: a dot per split, and the means."""
    scores = quality.scores
    for height, name in enumerate(scores):
        ax.plot(scores[name], np.full(len(scores), height), "o", color="0.5", alpha=0.5)
    heights = np.arange(scores.shape[1])
    ax.plot(scores.mean(), heights, "D", color="#0072B2", markersize=8, label="mean")
    ax.set_yticks(heights, [SPACES.get(name, name) for name in scores])
    ax.set_ylim(scores.shape[1] - 0.5, -0.5)
    ax.set_xlabel("score on test rows")
    largest = ", ".join(f"{c:.2f}" for c in quality.correlations.mean(axis=0)[:3])
    tidy(ax, f"Canonical correlations of X and X*: {largest}")
