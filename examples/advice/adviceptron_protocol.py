"""
The experiments behind these pages
==================================

The pages of this folder follow the slides of G. Kunapuli, K. P. Bennett, A. Shabbeer,
R. Maclin and J. Shavlik on *Online Knowledge-Based Support Vector Machines*, 2010. One
page per result that is shown there. What they share is here: save this file beside a
page to run it.

The slides name neither the learning rate λ nor the scale of the columns. Here columns
are standardized by the training rows, rules along with them, and there is no bias, as
in the source. μ (the weight of the advice) and λ are varied; the legends of the source
show a few μ of 0.001 or less.
"""

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from lupi.advice import Adviceptron, Rule

N_RUNS = 25
SHOWN = [0, 1, 10, 50, 100, 200]


def errors_by_round(model, X, y, train, test, classes):
    """Test error after 0, 1, 2, … training rows."""
    model.partial_fit(X[:0], y[:0], classes=classes)  # the advice alone
    planes = [(model.coef_[0], model.intercept_[0])]
    for row in train:
        model.partial_fit(X[[row]], y[[row]])
        planes.append((model.coef_[0], model.intercept_[0]))
    # All hypotheses are tested at once, by one product.
    w, b = map(np.array, zip(*planes, strict=True))
    wrong = (X[test] @ w.T + b > 0) != (y[test] == classes[1])[:, None]
    return wrong.mean(axis=0)


def shown(errors):
    """Mean errors at a few rounds, as a table."""
    means = {name: np.mean(runs, axis=0) for name, runs in errors.items()}
    return pd.DataFrame(means).T[SHOWN].rename_axis(columns="rows seen").round(3)


def draw_errors(ax, errors, label):
    """Draw the mean error of every learner over its runs, with a 95 % band."""
    colors = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
    for color, (name, runs) in zip(colors, errors.items(), strict=False):
        runs = np.asarray(runs)
        rounds, mean = np.arange(runs.shape[1]), runs.mean(axis=0)
        reach = stats.t.ppf(0.975, len(runs) - 1) * stats.sem(runs, axis=0)
        ax.plot(rounds, mean, color=color, lw=2, label=name)
        ax.fill_between(rounds, mean - reach, mean + reach, color=color, alpha=0.13)
    ax.set(xlabel="training rows", ylabel=f"{label} (95 % band)", ylim=(0, None))
    ax.grid(color="#E6E6E6")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)


# %%
# Digits
# ------
# The source has USPS (16 x 16) and ten drawings of each digit by experts, which were
# not published. Here the data are scikit-learn's digits (8 x 8), and the ten images
# closest to the mean of their digit stand in for drawings. They take part in neither
# training nor testing.
images, digits = load_digits(return_X_y=True)


def canonical(digit):
    """The ten images of a digit that look most like it."""
    own = np.flatnonzero(digits == digit)
    distance = np.linalg.norm(images[own] - images[own].mean(axis=0), axis=1)
    return own[np.argsort(distance)[:10]]


def box_rule(digit, components):
    """Who lies where the drawings lie, along the components, is that digit."""
    projections = images[canonical(digit)] @ components.T
    D = np.vstack([components, -components])
    d = np.concatenate([projections.max(axis=0), -projections.min(axis=0)])
    return Rule(D, d, digit, name=f"canonical {digit}")


def split(pair, seed, n_train=200):
    """Training rows in random order, and test rows; no drawings among them."""
    drawings = np.concatenate([canonical(digit) for digit in pair])
    rows = np.setdiff1d(np.flatnonzero(np.isin(digits, pair)), drawings)
    rows = np.random.default_rng(seed).permutation(rows)
    return rows[:n_train], rows[n_train:]


def digit_errors(pair):
    """Errors by round of a perceptron and of Adviceptrons, in each of the runs."""
    settings = {
        "no advice": (0.0, 1.0),
        "μ = 0.001, λ = 1": (0.001, 1.0),
        "μ = 0.001, λ = 0.01": (0.001, 0.01),
        "μ = 0.01, λ = 0.01": (0.01, 0.01),
        "μ = 0.1, λ = 0.01": (0.1, 0.01),
    }
    errors = {name: [] for name in settings}
    for run in range(N_RUNS):
        train, test = split(pair, run)
        pca = PCA(4).fit(images[train])
        rules = [box_rule(digit, pca.components_) for digit in pair]
        for name, (advice_weight, learning_rate) in settings.items():
            model = Adviceptron(
                advice=rules,
                advice_weight=advice_weight,
                learning_rate=learning_rate,
                fit_intercept=False,
                standardize=(pca.mean_, images[train].std()),
            )
            errors[name].append(
                errors_by_round(model, images, digits, train, test, pair)
            )
    return errors
