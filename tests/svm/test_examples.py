"""The examples of the SVM family show what they say they show."""

import importlib.util
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    path = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_disparity_shrinks_with_the_threshold_on_german_credit():
    table = load("tasks/plot_fair_german_credit").frontier((1.0, 0.0), n_splits=4)
    free, fair = table.loc[1.0], table.loc[0.0]
    assert fair["training covariance"] <= 1e-6
    assert free["training covariance"] > 0.03
    assert fair["parity difference"] < 0.8 * free["parity difference"]
    assert fair["p-% rule"] > free["p-% rule"]


def test_nystroem_svm_plus_in_a_pipeline_learns_the_rings():
    example = load("tasks/plot_large_scale_nystroem")
    X, y, P = example.rings(3000)
    model = example.nystroem_svm_plus(50)
    step = model.steps[-1][0]
    model.fit(X[:2000], y[:2000], **{f"{step}__privileged": P[:2000]})
    radius = np.hypot(X[2000:, 0], X[2000:, 1])
    best = max(np.mean((radius > r) == y[2000:]) for r in np.linspace(1, 2, 50))
    assert model.score(X[2000:], y[2000:]) > best - 0.02
