"""Linear models for many rows, against linear classifiers without privileged data.

Prints, for each model and size, seconds and processor time with X*, both over those of
``LinearSVC(loss="hinge")`` without it on the same rows in the same run, the processor
time over those of ``LinearSVC(dual=False)`` and ``LogisticRegression()``, which a user
would take, the relative duality gap, ‖w‖ and the memory taken in units of the input;
then the exponents with which the processor times grow, and that of the interior point
method for kernels.

Targets at 1 000 000 × (20 + 20): ratio ≤ 0.1 (SVM+), ≤ 0.2 (SVMΔ+); ≤ 2 for SVM+ at
200 000 × (200 + 200); gap ≤ 1e-6, memory ≤ 3 × the input, exponent ≤ 1.1 from 1e5 to
1e6; ≤ 3 for kernels.

    python benchmarks/bench_linear.py                 # all
    python benchmarks/bench_linear.py --linear        # without the wide and the kernels
    python benchmarks/bench_linear.py --rows 100000 --features 20
"""

import argparse
import time
import tracemalloc
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from small import parsed

from lupi.svm import LinearSVCDeltaPlus, LinearSVCPlus, LinearSVRPlus, SVCPlus

SIZES, KERNEL_SIZES = [100_000, 300_000, 1_000_000], [500, 1000, 2000, 4000]


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


def extra_memory(model, X, P, y):
    """Return what another fit takes, in units of the input; not the peak so far."""
    tracemalloc.start()
    model.fit(X, y, privileged=P)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (X.nbytes + P.nbytes)


def timed(work, *arguments, **options):
    """Return seconds and processor time."""
    start = time.perf_counter(), time.process_time()
    work(*arguments, **options)
    return time.perf_counter() - start[0], time.process_time() - start[1]


RIVALS = (LinearSVC(loss="hinge"), LinearSVC(dual=False), LogisticRegression())
NONE = ((np.nan, np.nan),) * len(RIVALS)


def rivals(n_rows, n_features):
    """Return the times of the three, on X alone."""
    X, _, y = teacher_data(n_rows, n_features)
    times = []
    for model in RIVALS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first does not converge
            times.append(timed(model.fit, X, y))
        seconds, processor = times[-1]
        print(f"{model} {seconds:.2f} s, processor time {processor:.2f} s", flush=True)
    return times


def run(n_rows, n_features, model, rivals=NONE):
    X, P, y = teacher_data(n_rows, n_features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the correction vanishes
        ours, processor = timed(model.fit, X, y, privileged=P)
        memory = extra_memory(model, X, P, y)
    gap = np.max(model.duality_gap_ / model.objective_)
    weights = model.coef_ if hasattr(model, "coef_") else model.dual_coef_
    print(
        f"{type(model).__name__:18} {n_rows:>9,} × ({n_features} + {n_features})  "
        f"{ours:7.2f} s, processor time {processor:7.2f} s "
        f"({np.max(model.n_iter_)} steps)  ratio to LinearSVC with the hinge loss "
        f"{ours / rivals[0][0]:.3f}, processor time {processor / rivals[0][1]:.3f}, to "
        f"LinearSVC(dual=False) {processor / rivals[1][1]:.2f}, to LogisticRegression "
        f"{processor / rivals[2][1]:.2f}  gap {gap:.1e}  "
        f"‖w‖ {np.linalg.norm(weights):.3f}  extra memory {memory:.2f} × input",
        flush=True,
    )
    return processor


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
    parser.add_argument("--linear", action="store_true")
    arguments = parsed(parser, rows=3_000, features=5)
    if arguments.rows:
        size = arguments.rows, arguments.features
        run(*size, LinearSVCPlus(), rivals(*size))
        return
    # Loads what is loaded once.
    run(3000, 20, LinearSVCPlus())
    against = rivals(SIZES[-1], 20)
    for model in (LinearSVCPlus(), LinearSVCDeltaPlus(), LinearSVRPlus()):
        beside = [NONE] * (len(SIZES) - 1) + [against]
        times = [run(n, 20, model, b) for n, b in zip(SIZES, beside, strict=True)]
        grows(SIZES, times, 1.1)
    if arguments.linear:
        return
    run(200_000, 200, LinearSVCPlus(), rivals(200_000, 200))
    model = SVCPlus(solver="interior")
    times = [run(n, 20, model) for n in KERNEL_SIZES]
    grows(KERNEL_SIZES, times, 3)


if __name__ == "__main__":
    main()
