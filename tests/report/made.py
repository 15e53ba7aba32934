"""A comparison made by hand: every number on its page can be known beforehand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lupi.evaluation import Comparison, LearningCurve
from lupi.evaluation._json import FOLD_COLUMNS
from lupi.evaluation._statistics import Design

SCRIPT = "<script>document.title='run'</script>"


def made_comparison(
    gains=None, *, features=("age", "weight"), privileged=("cd4",), target="event"
):
    """Scores on 10 splits: without and self 0.65, oracle 0.75, with 0.65 + gain."""
    gains = {"SVCPlus": 0.0, "GBPlusClassifier": 0.05} if gains is None else gains
    rng = np.random.default_rng(0)
    lines = []
    for method, gain in gains.items():
        for split in range(10):
            shift, noise = rng.normal(scale=0.01), rng.normal(scale=0.003, size=5)
            means = {"without": 0.65, "with": 0.65 + gain, "shuffled": 0.63}
            means |= {"self": 0.65, "oracle": 0.75}
            for (arm, mean), wobble in zip(means.items(), noise, strict=True):
                lines.append(
                    {
                        "method": method,
                        "arm": arm,
                        "split": split,
                        "score": mean + shift + wobble,
                        "inner_score": mean,
                        "params": {"C": 10.0 if split < 7 else 1.0, "kernel": "rbf"},
                        "n_train": 180,
                        "n_unlabelled": 0,
                        "n_test": 20,
                        "seconds": 0.5,
                        "group_scores": None,
                    }
                )
    folds = pd.DataFrame(lines, columns=list(FOLD_COLUMNS))
    settings = {
        "task": "classification",
        "scoring": "roc_auc",
        "optimum": 1.0,
        "target": target,
        "classes": [0, 1],
        "n_rows": 200,
        "labels": {
            "n_labelled": 200,
            "n_unlabelled": 0,
            "n_train_unlabelled": 0.0,
            "auc": None,
        },
        "n_privileged_rows": 190,
        "features": list(features),
        "privileged": list(privileged),
        "splits": {
            "kind": "folds",
            "n_splits": 10,
            "n_train": 180.0,
            "n_test": 20.0,
            "train_size": None,
            "labelled": None,
            "grouped": False,
            "weighted": False,
        },
        "search": {"n_candidates": 12, "inner_cv": 3, "has_parameters": True},
        "negligible": 0.01,
        "random_state": 0,
        "seconds": 41.2,
    }
    return Comparison(folds, settings)


def curve(method):
    """A learning curve of three sizes and ten splits, 0.05 better with X*."""
    sizes = np.array([50, 100, 180])
    without = np.array([0.60, 0.63, 0.65])[:, None] + np.linspace(-0.01, 0.01, 10)
    designs = [Design(size, 20) for size in sizes]
    scores = {"without": without, "with": without + 0.05}
    groups = {
        arm: table[:, :, None] + 0.05 * np.sin(np.arange(5))
        for arm, table in scores.items()
    }
    return LearningCurve(method, "roc_auc", 100, sizes, scores, groups, designs)


CURVES = {"GBPlusClassifier": curve("GBPlusClassifier")}
