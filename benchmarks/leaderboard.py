"""How often does privileged information help? All tables, all methods, all controls.

    python benchmarks/leaderboard.py                      # prepare, run, write pages
    python benchmarks/leaderboard.py --quick              # ten minutes on two cores
    python benchmarks/leaderboard.py my_module:MyEstimator   # your estimator, its line
    python benchmarks/leaderboard.py my_table.py          # your table, its lines

The run falls into units (part, table, number of labels, split), the most important
first (`evidence.work.FULL`). Finished units are kept in a file, one JSON line each; a
run that was stopped continues there, as long as the code is the same. After `--minutes`
no unit is begun, and the result says how many splits each line has. It can be moved to
another machine, which needs numpy, scipy, scikit-learn and joblib only:

    python benchmarks/leaderboard.py --prepare tables     # here: needs lupi[evidence]
    LUPI_COMMIT=... python benchmarks/leaderboard.py --tables tables --out run --jobs 16
    python benchmarks/leaderboard.py --page run           # here: writes the pages

An estimator has `fit(X, y, privileged=)` and `decision_function` or `predict`; one
whose `__lupi_tags__` say `uses_unlabelled` is given rows with y missing too. A file
`my_table.py` has a function `load()` that returns a dict with `data`, `privileged` and
`target`.
"""

import argparse
import hashlib
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from evidence import summary, tables, work
from joblib import Parallel, delayed

from lupi.evaluation._running import Checkpoint

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_FOLDER = ROOT / "build" / "evidence"
LINES = "units.jsonl"
CODE = ("noise", "recipes", "work")
PACKAGES = ("numpy", "scipy", "sklearn", "joblib")


def commit():
    """Return the commit of the checkout, or what was noted when it was copied."""
    noted = os.environ.get("LUPI_COMMIT")
    if noted:
        return noted
    try:
        asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
        return subprocess.run(
            asked, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def versions():
    """Return the versions that the numbers depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        found[name] = importlib.import_module(name).__version__
    return found


def source():
    """Return a digest of the code that the numbers depend on."""
    files = sorted((ROOT / "src" / "lupi").rglob("*.py"))
    files += [ROOT / "benchmarks" / "evidence" / f"{name}.py" for name in CODE]
    content = b"".join(path.read_bytes() for path in files)
    return hashlib.sha256(content).hexdigest()[:16]


def identity(known, budget):
    """Return what the units of a file must have in common."""
    return json.dumps(
        [source(), budget.n_candidates]
        + [[table.name, table.digest] for table in known.values()]
    )


def one(unit, table, n_candidates, deadline):
    """Do a unit, unless the time is over."""
    if time.time() > deadline:
        return unit.key, None
    return unit.key, work.run(unit, table, n_candidates)


def run(known, budget, out, n_jobs, minutes):
    """Do the units that are not in the file yet; return all that are."""
    out.mkdir(parents=True, exist_ok=True)
    file = Checkpoint(out / LINES, identity(known, budget), ("lines",))
    planned = work.units(known, budget)
    kept = file.read()
    done = {each.key: kept[each.key] for each in planned if each.key in kept}
    todo = [each for each in planned if each.key not in done]
    deadline = time.time() + 60 * minutes
    print(f"{len(done)} units done, {len(todo)} to do, {n_jobs} jobs", flush=True)
    results = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs
    )(
        delayed(one)(unit, known[unit.table], budget.n_candidates, deadline)
        for unit in todo
        if time.time() <= deadline
    )
    start, count = time.time(), 0
    for key, result in results:
        if result is None:
            continue
        file.append(key, result)
        done[key] = result
        count += 1
        if count % 50 == 0:
            print(f"{time.time() - start:6.0f} s, {count} units, {key}", flush=True)
    facts = {
        "commit": commit(),
        "source": source(),
        "versions": versions(),
        "machine": f"{os.cpu_count()} cores, {n_jobs} jobs",
        "seed": work.SEED,
        "n_candidates": budget.n_candidates,
        "inner_folds": work.INNER_FOLDS,
        "units": [len(done), len(planned)],
        "core_minutes": round(sum(each["seconds"] for each in done.values()) / 60, 1),
    }
    return summary.collect(known, done, facts)


def write_json(path, content):
    """Write atomically."""
    partial = path.with_suffix(".part")
    partial.write_text(summary.dumps(content), encoding="utf-8")
    os.replace(partial, path)


def write_page(folder):
    """Write docs/evidence.json and what is made of it."""
    from evidence import page

    path = folder / "evidence.json"
    run = json.loads(path.read_text(encoding="utf-8"))["run"]
    if run.get("source") != source():
        print(f"The results are of commit {run['commit']}, whose code is not this one.")
    page.write(path, ROOT / "docs")


def prepared(folder):
    """Return the tables of a folder, prepared first where there is none."""
    if not (folder / tables.LIST).exists():
        tables.prepare(folder)
    return tables.read(folder)


def yours(words, known, n_jobs, n_splits):
    """Run somebody's estimator on all tables, or the first methods on a table."""
    if words.endswith(".py"):
        table = tables.from_file(words)
        known, part, extra = {table.name: table}, "core", {}
    else:
        module, _, name = words.partition(":")
        sys.path.insert(0, os.getcwd())
        kind = getattr(importlib.import_module(module), name)
        part, extra = "yours", work.methods_from(kind)
    units = [
        work.Unit(part, name, 60, split)
        for split in range(n_splits)
        for name, table in known.items()
        if len(table.y) >= 60 + work.FEWEST_TEST_ROWS
        and (part == "core" or table.task in extra)
    ]
    results = Parallel(n_jobs=n_jobs)(
        delayed(work.run)(
            unit,
            known[unit.table],
            work.FULL.n_candidates,
            extra.get(known[unit.table].task, ()),
        )
        for unit in units
    )
    done = {unit.key: result for unit, result in zip(units, results, strict=True)}
    print(summary.text(summary.collect(known, done, {"n_splits": n_splits})))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("yours", nargs="?", help="my_module:MyEstimator or my_table.py")
    parser.add_argument("--prepare", metavar="DIR", type=Path)
    parser.add_argument("--tables", metavar="DIR", type=Path)
    parser.add_argument("--out", metavar="DIR", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--page", metavar="DIR", type=Path, help="write the pages")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=360.0)
    parser.add_argument("--splits", type=int, default=10, help="for yours")
    parser.add_argument("--only", help="tables, separated by commas")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.prepare:
        tables.prepare(asked.prepare)
        return
    if asked.page:
        write_page(asked.page)
        return
    folder = asked.tables or DEFAULT_FOLDER / "tables"
    known = prepared(folder)
    if asked.only:
        known = {name: known[name] for name in asked.only.split(",")}
    if asked.yours:
        yours(asked.yours, known, asked.jobs, asked.splits)
        return
    budget = work.QUICK if asked.quick else work.FULL
    out = asked.out / "quick" if asked.quick else asked.out
    minutes = min(asked.minutes, 9.0) if asked.quick else asked.minutes
    found = run(known, budget, out, asked.jobs, minutes)
    write_json(out / "evidence.json", found)
    print(summary.text(found))
    if not (asked.quick or asked.tables):
        write_page(out)


if __name__ == "__main__":
    main()
