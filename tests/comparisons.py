"""Comparisons of given scores, and a model that costs nothing to fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from lupi.base import PrivilegedTags, missing_targets
from lupi.evaluation import Comparison, LearningCurve

ARMS = ("without", "with", "shuffled", "self", "oracle")


def of_scores(scores, groups=None, *, failures=None, splits=None, **settings):
    """Return a comparison of ``scores[method][arm]``, one score per split.

    An arm that is left out has the scores of *without*. ``groups`` has the
    pseudo-values of the scores, in the same way; ``splits`` and ``settings`` replace
    what the comparison says of itself.
    """
    lines = []
    for method, arms in scores.items():
        pseudo = None if groups is None else groups[method]
        for arm in ARMS:
            values = arms.get(arm, arms["without"])
            for split, score in enumerate(values):
                table = pseudo and pseudo.get(arm, pseudo["without"])
                lines.append(
                    {
                        "method": method,
                        "arm": arm,
                        "split": split,
                        "score": score,
                        "inner_score": None,
                        "params": {"C": 10.0 if split < 7 else 1.0, "kernel": "rbf"},
                        "n_train": 90,
                        "n_unlabelled": 0,
                        "n_test": 10,
                        "seconds": 0.5,
                        "group_scores": table and list(table[split]),
                    }
                )
    n_splits = len(next(iter(scores.values()))["without"])
    if "constant" in settings:
        settings = {"constants": [settings["constant"]] * n_splits} | settings
    described = {
        "task": "classification",
        "scoring": "roc_auc",
        "optimum": 1.0,
        "target": "event",
        "classes": [0, 1],
        "n_rows": 100,
        "labels": {
            "n_labelled": 100,
            "n_unlabelled": 0,
            "n_train_unlabelled": 0.0,
            "auc": None,
        },
        "n_privileged_rows": 100,
        "features": ["age", "weight"],
        "privileged": ["cd4"],
        "splits": {
            "kind": "folds",
            "n_splits": n_splits,
            "n_train": 90.0,
            "n_test": 10.0,
            "train_size": None,
            "labelled": None,
            "grouped": False,
            "weighted": False,
        }
        | (splits or {}),
        "search": {"n_candidates": 12, "inner_cv": 3, "has_parameters": True},
        "negligible": 0.01,
        "random_state": 0,
        "seconds": 41.2,
    }
    return Comparison(pd.DataFrame(lines), described | settings, failures or {})


def of_gains(gains=None, *, splits=None, **settings):
    """Return a comparison on 10 splits: without and self 0.65, with 0.65 + gain."""
    gains = {"SVCPlus": 0.0, "GBPlusClassifier": 0.05} if gains is None else gains
    rng = np.random.default_rng(0)
    means = {"without": 0.65, "with": 0.65, "shuffled": 0.63, "self": 0.65}
    means["oracle"] = 0.75
    scores = {}
    for method, gain in gains.items():
        common = rng.normal(scale=0.01, size=10)
        scores[method] = {
            arm: mean + gain * (arm == "with") + common + 0.003 * rng.normal(size=10)
            for arm, mean in means.items()
        }
    sizes = {"n_train": 180.0, "n_test": 20.0}
    settings = {"n_rows": 200, "n_privileged_rows": 190} | settings
    return of_scores(scores, splits=sizes | (splits or {}), **settings)


def learning_curve(method, *, tuned=True):
    """Return a curve of three sizes and ten splits, 0.05 better with X*."""
    sizes = np.array([50, 100, 180])
    without = np.array([0.60, 0.63, 0.65])[:, None] + np.linspace(-0.01, 0.01, 10)
    scores = {"without": without, "with": without + 0.05}
    groups = {
        arm: table[:, :, None] + 0.05 * np.sin(np.arange(5))
        for arm, table in scores.items()
    }
    design = of_gains().design
    designs = [replace(design, n_train=size) for size in sizes]
    return LearningCurve(method, "roc_auc", 100, sizes, scores, groups, designs, tuned)


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Ranks rows by the first column of X, and keeps what it is given to learn."""

    seen: list = []  # noqa: RUF012

    def __init__(self, alpha=1.0, strength=1.0):
        self.alpha = alpha
        self.strength = strength

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        FirstColumn.seen.append((X, y, privileged, sample_weight))
        self.classes_ = np.unique(np.asarray(y)[~missing_targets(y)].tolist())
        return self

    def decision_function(self, X):
        first = X[:, [0]].toarray() if sp.issparse(X) else X[:, [0]]
        return self.strength * first.ravel()

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class FirstNumber(RegressorMixin, BaseEstimator):
    """Predicts the first column of X, whatever it is given to learn."""

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]


class FirstColumnOfAll(FirstColumn):
    """Says that it learns from rows without y."""

    def __lupi_tags__(self):
        return PrivilegedTags(uses_unlabelled=True)
