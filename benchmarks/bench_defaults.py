"""Do the default parameters do harm? AUC against the SVM, over all real tables.

    python benchmarks/bench_defaults.py                     # prints the defaults alone
    python benchmarks/bench_defaults.py --grid              # and writes the page's data
    python benchmarks/bench_defaults.py --grid --tables DIR --out FOLDER --jobs 16
    python benchmarks/bench_defaults.py --page FOLDER       # the guide from its results
    python benchmarks/bench_defaults.py --small             # one split of made tables

Nobody tunes: every model has its defaults but for delta and privileged_reg. For each
table of `lupi.datasets.list_tables`, and for an ideal X* (the latent score with a
little noise), 60 rows train and up to 1000 others test, in 20 splits; targets that are
numbers are cut at their median. The rival is the same SVM without X*. Beside it stands
the gain on `make_slack_teacher`, where X* is the margin violation itself. Wanted: the
models with a slack of their own lose at most 0.01 in the mean, and keep half of the
best gain that any of their parameters has on make_slack_teacher.

Tables are read from a folder that `benchmarks/leaderboard.py --prepare` writes. Splits
that are done are kept in the folder of `--out`, where a stopped run continues.
"""

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from evidence import summary, tables
from joblib import Parallel, delayed
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ParameterGrid, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small import parsed

import lupi
from lupi.datasets import make_slack_teacher
from lupi.evaluation._running import Checkpoint
from lupi.kernels import gram_cache

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_FOLDER = ROOT / "build" / "evidence"
FOUND = ROOT / "docs" / "defaults.json"
GUIDE = ROOT / "docs" / "guide" / "svm.md"
MARKS = ("<!-- written by bench_defaults.py -->", "<!-- end -->")
N_TRAIN, N_TEST, N_SPLITS = 60, 1000, 20
TEACHER = "slack_teacher"
WITH_SLACK = ("SVCDeltaPlus", "LinearSVCDeltaPlus", "MarginTransferSVC", "UnifiedSVC")
WITHOUT_SLACK = ("SVCPlus", "LinearSVCPlus", "DeviationSVCPlus", "L2SVCPlus")
AXES = {
    "privileged_reg": (0.001, 0.1, 1.0, 10.0),
    "delta": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
}
LARGEST_LOSS, SMALLEST_SHARE = 0.01, 0.5


def ideal(seed=0, n=N_TRAIN + N_TEST):
    """Return data whose X* is the latent score that decides y, and a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    score = X @ rng.normal(size=10) / np.sqrt(10) + 0.5 * rng.normal(size=n)
    X = X + rng.normal(size=X.shape)
    return X, (score + 0.1 * rng.normal(size=n))[:, None], score > 0


def data_of(known):
    """Return X, X* and two classes of every table, by name."""
    taught = make_slack_teacher(N_TRAIN + N_TEST, random_state=0)
    found = {
        TEACHER: (taught.data, taught.privileged, taught.target > 0),
        "ideal": ideal(),
    }
    for name, table in known.items():
        y = table.y > (np.median(table.y) if table.task == "regression" else 0.5)
        if len(y) >= N_TRAIN + 20:
            found[name] = table.X, table.privileged, y
    return found


def candidates(grid):
    """Return every model with the parameters to try, its defaults first."""
    found = []
    for name in (*WITH_SLACK, *WITHOUT_SLACK):
        known = getattr(lupi, name)().get_params()
        default = {key: known[key] for key in AXES if key in known}
        tried = [default]
        if grid:
            axes = {key: AXES[key] for key in default}
            if name == "UnifiedSVC":  # which has a third axis
                axes["privileged_reg"] = (default["privileged_reg"],)
            tried += ParameterGrid(axes)
        for place, params in enumerate(tried):
            if params not in tried[:place]:
                found.append((name, params))
    return found


def prepared(table, train):
    """Return the training rows and a function of other rows, as `compare` does."""
    steps = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    return steps.fit_transform(table[train]), lambda rows: steps.transform(table[rows])


def one_split(data, key, models, deadline):
    """Return the key and the gain in AUC of every model over its SVM without X*."""
    if time.time() > deadline:
        return key, None
    X, P, y = data
    n_test = min(N_TEST, len(y) - N_TRAIN)
    splitter = StratifiedShuffleSplit(
        N_SPLITS, train_size=N_TRAIN, test_size=n_test, random_state=0
    )
    train, test = list(splitter.split(np.zeros(len(y)), y))[int(key.split(":")[1])]
    X_train, of_rows = prepared(X, train)
    X_test, P_train = of_rows(test), prepared(P, train)[0]
    P_train = np.where(np.isnan(P[train]).all(axis=1)[:, None], np.nan, P_train)
    gains, baselines = [], {}
    with warnings.catch_warnings(), gram_cache():
        warnings.simplefilter("ignore")
        for kind, params in models:
            model = getattr(lupi, kind)(**params)
            family = "linear" if kind.startswith("Linear") else "kernel"
            family = "l2" if kind == "L2SVCPlus" else family

            def score(model):
                return roc_auc_score(y[test], model.decision_function(X_test))

            if family not in baselines:
                baselines[family] = score(model.fit(X_train, y[train]))
            with_X_star = score(model.fit(X_train, y[train], privileged=P_train))
            gains.append(round(with_X_star - baselines[family], 6))
    return key, {"gains": gains, "without": baselines}


def measure(data, models, folder, n_jobs, minutes, n_splits=N_SPLITS):
    """Return gains by table and split; those that are in the folder are not run."""
    folder.mkdir(parents=True, exist_ok=True)
    identity = json.dumps([N_TRAIN, N_TEST, N_SPLITS, sorted(data), models])
    file = Checkpoint(folder / "defaults.jsonl", identity, ("gains",))
    done = file.read()
    todo = [
        f"{name}:{number}"
        for number in range(n_splits)
        for name in data
        if f"{name}:{number}" not in done
    ]
    deadline = time.time() + 60 * minutes

    results = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs
    )(
        delayed(one_split)(data[key.split(":")[0]], key, models, deadline)
        for key in todo
        if time.time() <= deadline
    )
    for key, result in results:
        if result is not None:
            file.append(key, result)
            done[key] = result
    return done


def summarize(done, models):
    """Return one entry per model and parameters."""
    gains = {}
    for key, result in done.items():
        gains.setdefault(key.split(":")[0], []).append(result["gains"])
    means = {name: np.mean(each, axis=0) for name, each in gains.items()}
    real = [name for name in means if name != TEACHER]
    if not real or TEACHER not in means:
        raise SystemExit("No table has a split that is done; give it more --minutes.")
    entries = []
    for place, (kind, params) in enumerate(models):
        by_table = {name: float(means[name][place]) for name in real}
        worst = min(by_table, key=by_table.get)
        default = getattr(lupi, kind)().get_params()
        entries.append(
            {
                "model": kind,
                **params,
                "default": all(default[key] == value for key, value in params.items()),
                "mean": float(np.mean(list(by_table.values()))),
                "worst": by_table[worst],
                "worst_table": worst,
                "ideal": by_table["ideal"],
                TEACHER: float(means[TEACHER][place]),
            }
        )
    facts = {
        "n_tables": len(real),
        "n_train": N_TRAIN,
        "n_splits": min(map(len, gains.values())),
    }
    return {"run": facts, "lines": entries}


def judge(found):
    """Print the defaults, and what was wanted of models with a slack of their own."""
    for name in (*WITH_SLACK, *WITHOUT_SLACK):
        part = [each for each in found["lines"] if each["model"] == name]
        best = max(each[TEACHER] for each in part)
        default = next((each for each in part if each["default"]), None)
        if default is None:
            continue
        line = (
            f"{name}: {default['mean']:+.3f} in the mean, {default['worst']:+.3f} at "
            f"worst ({default['worst_table']}), {default[TEACHER]:+.3f} on "
            f"make_slack_teacher, where its best is {best:+.3f}"
        )
        if name in WITH_SLACK:
            good = default["mean"] >= -LARGEST_LOSS
            good = good and default[TEACHER] >= SMALLEST_SHARE * best
            line += ": met" if good else ": MISSED"
        print(line)


def rows_of(found):
    """Return the table of the guide: the defaults, and what else was tried."""
    rows = [
        "| model | default | tables, mean | worst | ideal X\\* | make_slack_teacher "
        "| best there |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in (*WITH_SLACK, *WITHOUT_SLACK):
        part = [each for each in found["lines"] if each["model"] == name]
        best = max(each[TEACHER] for each in part)
        for line in part:
            if line["default"]:
                values = ", ".join(
                    f"{key}={line[key]:g}" for key in AXES if key in line
                )
                cells = [
                    line["mean"],
                    line["worst"],
                    line["ideal"],
                    line[TEACHER],
                    best,
                ]
                shown = [f"{round(x, 3) + 0.0:+.3f}".replace("-", "−") for x in cells]
                shown[1] += f" ({line['worst_table']})"
                rows.append(f"| `{name}` | {values} | {' | '.join(shown)} |")
    return "\n".join(rows)


def mark_defaults(found):
    """Say anew which lines are the defaults, which a run may have helped to choose."""
    for line in found["lines"]:
        known = getattr(lupi, line["model"])().get_params()
        line["default"] = all(line[key] == known[key] for key in AXES if key in line)
    return found


def write_page(folder):
    """Copy the results into the docs folder; write table and figure of the guide."""
    from evidence import tradeoff

    found = json.loads((folder / FOUND.name).read_text(encoding="utf-8"))
    mark_defaults(found)
    FOUND.write_text(summary.dumps(found), encoding="utf-8")
    start, _, rest = GUIDE.read_text(encoding="utf-8").partition(MARKS[0])
    _, _, end = rest.partition(MARKS[1])
    text = f"{start}{MARKS[0]}\n\n{rows_of(found)}\n\n{MARKS[1]}{end}"
    GUIDE.write_text(text, encoding="utf-8")
    tradeoff.draw(found, ROOT / "docs" / "images")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--grid", action="store_true", help="every delta and reg")
    parser.add_argument("--tables", type=Path, default=DEFAULT_FOLDER / "tables")
    parser.add_argument("--out", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--only", help="tables, separated by commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--page", type=Path, help="write the guide from this folder")
    asked = parsed(parser)
    if asked.page:
        write_page(asked.page)
        return
    if asked.small:
        data, models = data_of({}), candidates(grid=False)
        with tempfile.TemporaryDirectory() as folder:
            judge(summarize(measure(data, models, Path(folder), 1, 60.0, 1), models))
        return
    if not (asked.tables / tables.LIST).exists():
        tables.prepare(asked.tables)
    data = data_of(tables.read(asked.tables))
    if asked.only:
        data = {name: data[name] for name in (TEACHER, "ideal", *asked.only.split(","))}
    models = candidates(asked.grid)
    out = asked.out if asked.grid else asked.out / "defaults_alone"
    found = summarize(measure(data, models, out, asked.jobs, asked.minutes), models)
    judge(found)
    if asked.grid:
        (out / "defaults.json").write_text(summary.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
