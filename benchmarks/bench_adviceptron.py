"""Streaming speed: rows a second through Adviceptron.partial_fit, in batches.

The yardstick is scikit-learn's Perceptron.partial_fit in the same run: the same rows,
the same batches. Run with ``OMP_NUM_THREADS=1`` for one core.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.linear_model import Perceptron
from small import parsed

from lupi.advice import Adviceptron


def stream(n_rows: int, n_features: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = (X @ rng.normal(size=n_features) + rng.normal(size=n_rows) > 0).astype(int)
    return X, y


def rows_per_second(model, X, y, batch: int, repeats: int) -> float:
    model.partial_fit(X[:batch], y[:batch], classes=[0, 1])
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        for start in range(0, len(X), batch):
            model.partial_fit(X[start : start + batch], y[start : start + batch])
        best = min(best, time.perf_counter() - begin)
    return len(X) / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    options = parsed(parser, rows=2_000, features=5, repeats=1)
    X, y = stream(options.rows, options.features)
    rules = ["x0 >= 1 and x1 >= 1 => 1", "x0 <= -1 and x1 <= -1 => 0"]
    models = {
        "Perceptron (scikit-learn)": Perceptron,
        "Adviceptron, no advice": Adviceptron,
        "Adviceptron, 2 rules": lambda: Adviceptron(advice=rules),
    }
    print(
        f"{options.rows} rows x {options.features} features, best of {options.repeats}"
    )
    print(f"{'batch':>7}  {'model':<26} {'rows/s':>12}  ratio")
    for batch in (100_000, 10_000, 1_000, 100):
        base = None
        for name, make in models.items():
            speed = rows_per_second(make(), X, y, batch, options.repeats)
            base = base or speed
            print(f"{batch:>7}  {name:<26} {speed:>12,.0f}  {speed / base:.2f}")


if __name__ == "__main__":
    main()
