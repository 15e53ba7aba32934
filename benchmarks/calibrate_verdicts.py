"""How often does `compare` reject what is true, and how often does it find a gain?

    python benchmarks/calibrate_verdicts.py [--comparisons 60] [--jobs 2] [--only WORD]
                                            [--log FILE]

With ``--log``, every result is appended to a file of JSON lines, and those that stand
there are not computed again.

Calibration: X* is a random permutation of the rows of the privileged columns, so the
arms *with* and *shuffled* are two independent shuffles of the same X*, and the mean of
their difference is exactly zero. Every comparison draws rows of its table anew; the
method is distillation by ridge regression in closed form, with imitation weights from
0.3 to 1 (a student of pure noise) and three strengths of regularization; with
``labelled``, the rows without y train the student as well. Reported are
the share of comparisons rejected one-sided at 5 %, above and below, and the standard
deviation of z, the p-value as a quantile of the normal distribution; both are 5 %, 5 %
and 1 for an exact test. "published" is the test of Nadeau and Bengio (2003). The table
"failing splits" has columns with rare huge values, by which a few of the scores are far
below those of the other splits; these splits are left out, as `compare` does.

Oracles: the share of 95 % intervals of the gain of the oracle, which has X* when
predicting, that contain it, on folds of 200 rows of larger tables; the gain itself is
the mean over all comparisons.

Verdicts: the share of verdicts "helps" on `make_mediator`, and on shuffled X*, where it
must not exceed 5 %, and the share of 95 % intervals of the gain that contain it. The
gain itself is the smallest of the mean differences of all comparisons to each control.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score

from lupi.base import PrivilegedTags, missing_targets
from lupi.datasets import (
    load_actg175,
    load_breast_cancer_privileged,
    load_german_credit,
    load_pima,
    make_mediator,
)
from lupi.evaluation import Method, compare
from lupi.evaluation._statistics import corrected_contrast, outlying_splits
from lupi.evaluation._study import plan

WEIGHTS, ALPHAS = (0.3, 0.5, 0.7, 1.0), (3.0, 10.0, 30.0)


def ridge(A, t, alpha):
    mean = A.mean(axis=0)
    B = A - mean
    coef = np.linalg.solve(B.T @ B + alpha * np.eye(A.shape[1]), B.T @ (t - t.mean()))
    return lambda rows: (rows - mean) @ coef + t.mean()


class Distillation(BaseEstimator):
    """A ridge student of a cross-fitted ridge teacher."""

    def __lupi_tags__(self):
        return PrivilegedTags(uses_unlabelled=True)

    def __init__(self, weight=0.5, alpha=10.0):
        self.weight = weight
        self.alpha = alpha

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        known = ~missing_targets(y)
        target = self._encode(y, known)
        if privileged is not None:
            said = np.empty(len(y))
            for fold in range(3):
                out = np.arange(len(y)) % 3 == fold
                taught = known & ~out
                teacher = ridge(privileged[taught], target[taught], 1.0)
                said[out] = teacher(privileged[out])
            blend = (1 - self.weight) * target + self.weight * said
            target = np.where(known, blend, said)
        self.student_ = ridge(X, target, self.alpha)
        return self


class DistillationClassifier(ClassifierMixin, Distillation):
    def _encode(self, y, known):
        self.classes_ = np.unique(y[known].tolist())
        return (y == self.classes_[1]).astype(float)

    def decision_function(self, X):
        return self.student_(X) - 0.5

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class DistillationRegressor(RegressorMixin, Distillation):
    def _encode(self, y, known):
        return y

    def predict(self, X):
        return self.student_(X)


def fast_auc(model, X, y):
    """The area under the curve without scikit-learn's checks, which take longer."""
    scores, positive = model.decision_function(X), y == model.classes_[1]
    ranks = stats.rankdata(scores)
    n = positive.sum()
    return (ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(y) - n))


def fast_r2(model, X, y):
    return r2_score(y, model.predict(X))


TABLES = {
    "make_mediator": None,
    "ACTG 175": load_actg175,
    "Pima": load_pima,
    "German credit": load_german_credit,
    "breast cancer": load_breast_cancer_privileged,
    "CD4, week 96": lambda: load_actg175(target="cd4-week-96"),
    "failing splits": None,
}
NUMBERS = ("CD4, week 96", "failing splits")
# (rows of the table, options of compare)
DESIGNS = {
    "folds": ((150, 500), {}),
    "train_size, disjoint": ((1000,), {"train_size": 40}),
    "train_size, overlapping": ((200, 400), {"train_size": 60}),
    "labelled, disjoint": ((1000,), {"labelled": 40}),
    "labelled, overlapping": ((200, 400), {"labelled": 60}),
    "time, expanding": ((600,), {"time": "rows"}),
    "time, labelled": ((600,), {"time": "rows", "labelled": 60}),
}


def draw(name, n_rows, seed, *, shuffle=True):
    """Return some rows of a table, X* shuffled as a whole or not."""
    rng = np.random.default_rng([seed, n_rows])
    if name == "failing splits":
        X, P = rng.normal(size=(n_rows, 4)), rng.normal(size=(n_rows, 2))
        y = X.sum(axis=1) + rng.normal(size=n_rows)
        X[rng.random(n_rows) < 0.01] *= 30.0
        return X, y, P
    if TABLES[name] is None:
        data = make_mediator(n_rows, random_state=seed)
    else:
        data = TABLES[name]()
    X, P = np.asarray(data.data, float), np.asarray(data.privileged, float)
    y = np.asarray(data.target)
    known = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), bool)
    rows = rng.permutation(np.flatnonzero(known))[:n_rows]
    source = rng.permutation(rows) if shuffle else rows
    return X[rows], y[rows], P[source]


def method(name, seed):
    rng = np.random.default_rng(seed)
    options = {"weight": rng.choice(WEIGHTS), "alpha": rng.choice(ALPHAS)}
    if name in NUMBERS:
        model, task = DistillationRegressor(**options), "regression"
    else:
        model, task = DistillationClassifier(**options), "classification"
    return Method("distillation", task, estimator=model)


def contrast(name, design, seed):
    """Return the p-values of with > shuffled, and whether splits are left out."""
    sizes, options = DESIGNS[design]
    X, y, P = draw(name, sizes[seed % len(sizes)], seed)
    score = fast_r2 if name in NUMBERS else fast_auc
    chosen = method(name, seed)
    options = {"n_candidates": 1, "scoring": score, "random_state": seed} | options
    if "time" in options:
        options["time"] = np.arange(len(y))
    study = plan(X, y, P, methods=chosen, **options)
    with config_context(skip_parameter_validation=True, assume_finite=True):
        pairs = [
            [study.run_arm(chosen, arm, split) for arm in ("with", "shuffled")]
            for split in range(len(study.splits))
        ]
    levels = [[arm["score"] for arm in pair] for pair in pairs]
    constants = study.constant_scores()
    lowest = None if constants is None else [score for score, _ in constants]
    left_out = outlying_splits(np.transpose(levels), lowest)
    pairs = [pair for split, pair in enumerate(pairs) if split not in left_out]
    scores, groups = (
        np.array([np.subtract(one[key], other[key]) for one, other in pairs])
        for key in ("score", "group_scores")
    )
    ours, published = (
        corrected_contrast(scores, study.design, table) for table in (groups, None)
    )
    return ours.p_greater, published.p_greater, len(left_out) > 0


class Log:
    """Results by what was computed, kept in a file of JSON lines if there is one."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if path is not None and path.exists():
            lines = map(json.loads, path.read_text().splitlines())
            self.known = {json.dumps(line["what"]): line["result"] for line in lines}

    def results(self, function, tasks, jobs):
        """Return ``function(*task)`` for every task, those not known computed."""
        tasks = [list(task) for task in tasks]
        missing = [task for task in tasks if json.dumps(task) not in self.known]
        runs = Parallel(jobs, return_as="generator")(
            delayed(function)(*task) for task in missing
        )
        for task, found in zip(missing, runs, strict=True):
            result = [float(value) for value in found]
            self.known[json.dumps(task)] = result
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps({"what": task, "result": result}) + "\n")
        return np.array([self.known[json.dumps(task)] for task in tasks])


def calibrate(comparisons, jobs, word, log):
    print(
        "| design | table | comparisons | left out | rejected above, below | sd of z "
        "| published |"
    )
    print("|---|---|---|---|---|---|---|")
    for design in (name for name in DESIGNS if word in name):
        everything = []
        for name in TABLES:
            tasks = [(name, design, seed) for seed in range(comparisons)]
            p = log.results(contrast, tasks, jobs)
            everything.append(p)
            show(design, name, p)
        show(f"**{design}**", "all", np.concatenate(everything))


def show(design, name, p):
    scores = (stats.norm.isf(np.clip(column, 1e-12, 1 - 1e-12)) for column in p.T[:2])
    line = stats.norm.isf(0.05)
    cells = [design, name, str(len(p)), f"{p[:, 2].mean():.1%}"]
    for z in scores:
        cells.append(f"{np.mean(z > line):.1%}, {np.mean(z < -line):.1%}")
        cells.append(f"{z.std():.2f}")
    print("| " + " | ".join([*cells[:6], ", ".join(cells[6:])]) + " |", flush=True)


def oracle(name, n_rows, seed):
    """Return the gain of the oracle of a table on folds, with its interval."""
    X, y, P = draw(name, n_rows, seed, shuffle=False)
    score = fast_r2 if name in NUMBERS else fast_auc
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare(
            X,
            y,
            P,
            methods=method(name, seed),
            n_candidates=1,
            scoring=score,
            random_state=seed,
            progress=False,
        )
    return result.summary.loc[0, ["gap", "gap_low", "gap_high"]]


def oracles(comparisons, jobs, log):
    print("\n| oracle, 200 rows | comparisons | gain | covered, below, above |")
    print("|---|---|---|---|")
    for name in ("ACTG 175", "CD4, week 96", "German credit"):
        tasks = [(name, 200, seed) for seed in range(comparisons)]
        gap, low, high = log.results(oracle, tasks, jobs).T
        gain = gap.mean()
        below, above = np.mean(high < gain), np.mean(low > gain)
        print(
            f"| {name} | {comparisons} | {gain:+.3f} | {1 - below - above:.1%}, "
            f"{below:.1%}, {above:.1%} |",
            flush=True,
        )


def verdict(n_rows, train_size, n_splits, shuffle, seed):
    """Return whether `compare` says "helps", the gain's interval and differences."""
    X, y, P = draw("make_mediator", n_rows, seed, shuffle=shuffle)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare(
            X,
            y,
            P,
            methods=Method(
                "distillation",
                "classification",
                estimator=DistillationClassifier(weight=0.7, alpha=30.0),
            ),
            n_candidates=1,
            train_size=train_size,
            cv=n_splits,
            scoring=fast_auc,
            random_state=seed,
            progress=False,
        )
    line = result.summary.loc[0]
    controls = [line["with"] - line[arm] for arm in ("without", "shuffled", "self")]
    said = result.verdict.kind == "helps"
    return said, line["gain_low"], line["gain_high"], *controls


def verdicts(comparisons, jobs, log):
    print(
        "\n| make_mediator | X* | comparisons | helps | gain | covered, below, above |"
    )
    print("|---|---|---|---|---|---|")
    settings = ((150, 20, 8), (400, 20, 8), (200, None, None), (400, None, None))
    for n_rows, train_size, n_splits in settings:
        for shuffle in (False, True):
            setting = (n_rows, train_size, n_splits, shuffle)
            tasks = [(*setting, seed) for seed in range(comparisons)]
            found = log.results(verdict, tasks, jobs)
            said, low, high = found[:, :3].T
            gain = found[:, 3:].mean(axis=0).min()
            size = "5 folds, twice"
            if train_size is not None:
                size = f"{n_splits} training sets of {train_size}"
            what = "shuffled" if shuffle else "as it is"
            above, below = np.mean(gain < low), np.mean(gain > high)
            print(
                f"| {n_rows} rows, {size} | {what} | {comparisons} | {said.mean():.1%} "
                f"| {gain:+.3f} | {1 - above - below:.1%}, {below:.1%}, {above:.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=60, help="per table")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="designs whose name has this word")
    parser.add_argument("--log", type=Path, help="file of results to resume from")
    arguments = parser.parse_args()
    log = Log(arguments.log)
    calibrate(arguments.comparisons, arguments.jobs, arguments.only, log)
    if arguments.only in ("", "oracle"):
        oracles(3 * arguments.comparisons, arguments.jobs, log)
    if not arguments.only:
        verdicts(2 * arguments.comparisons, arguments.jobs, log)
