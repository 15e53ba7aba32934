"""Linear models for many rows, against LinearSVC without privileged data.

Prints, for each size, the time of `LinearSVCPlus` with X* over the time of
``LinearSVC(loss="hinge")`` without it on the same rows in the same run, the relative
duality gap, ‖w‖ and the memory taken in units of the input; then the exponents with
which the times of all three linear models grow, and that of the interior point method
for kernels.

Targets: ratio ≤ 1 at 1 000 000 × (20 + 20), ≤ 2 at 200 000 × (200 + 200), gap ≤ 1e-6,
memory ≤ 3 × the input, exponent ≤ 1.1 from 1e4 to 1e6; ≤ 3 for kernels.

    python benchmarks/bench_linear.py                 # all
    python benchmarks/bench_linear.py --rows 100000 --features 20
"""

import argparse
import resource
import sys
import time
import warnings

import numpy as np
from sklearn.svm import LinearSVC

from lupi.svm import LinearSVCDeltaPlus, LinearSVCPlus, LinearSVRPlus, SVCPlus

SIZES, KERNEL_SIZES = [10_000, 100_000, 1_000_000], [500, 1000, 2000, 4000]


def teacher_data(n_rows, n_features, seed=0):
    """X in which every row has noise, X* that reveals the slack of an ideal teacher."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    direction = rng.normal(size=n_features)
    direction *= 2.0 / np.linalg.norm(direction)
    margin = X @ direction
    y = np.where(margin + rng.logistic(size=n_rows) > 0, 1, -1)
    slack = np.maximum(1.0 - y * margin, 0.0)
    # The slack is a linear function of X*, spread over all its columns.
    mixing = rng.normal(size=n_features)
    mixing /= mixing @ mixing
    P = rng.normal(size=(n_rows, n_features))
    P += np.outer(slack - P @ mixing, mixing) / (mixing @ mixing)
    return X, P, y


def peak_bytes():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def run(n_rows, n_features, model, *, rival=False):
    X, P, y = teacher_data(n_rows, n_features)
    before = peak_bytes()
    start = time.perf_counter()
    model.fit(X, y, privileged=P)
    ours = time.perf_counter() - start
    memory = (peak_bytes() - before) / (X.nbytes + P.nbytes)
    ratio = float("nan")
    if rival:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it does not converge; that is its time
            LinearSVC(loss="hinge").fit(X, y)
        ratio = ours / (time.perf_counter() - start)
    gap = np.max(model.duality_gap_ / model.objective_)
    weights = model.coef_ if hasattr(model, "coef_") else model.dual_coef_
    norm = np.linalg.norm(weights)
    print(
        f"{type(model).__name__:18} {n_rows:>9,} × ({n_features} + {n_features})  "
        f"lupi {ours:8.2f} s ({np.max(model.n_iter_)} steps)  "
        f"ratio to LinearSVC {ratio:6.2f}  gap {gap:.1e}  "
        f"‖w‖ {norm:.3f}  extra memory {memory:.2f} × input",
        flush=True,
    )
    return ours


def grows(sizes, times, target):
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    verdict = "reached" if exponent <= target else "MISSED"
    print(
        f"  time grows as n^{exponent:.2f} (target ≤ {target}: {verdict})", flush=True
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--features", type=int, default=20)
    arguments = parser.parse_args()
    if arguments.rows:
        run(arguments.rows, arguments.features, LinearSVCPlus(), rival=True)
        return
    for model in (LinearSVCPlus(), LinearSVCDeltaPlus(), LinearSVRPlus()):
        first = isinstance(model, LinearSVCPlus)
        times = [run(n, 20, model, rival=first and n == SIZES[-1]) for n in SIZES]
        grows(SIZES, times, 1.1)
    run(200_000, 200, LinearSVCPlus(), rival=True)
    model = SVCPlus(solver="interior")
    times = [run(n, 20, model) for n in KERNEL_SIZES]
    grows(KERNEL_SIZES, times, 3)


if __name__ == "__main__":
    main()
