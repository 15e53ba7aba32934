"""How long `lupi compare` takes: defaults and --quick, on a table of numbers.

    python benchmarks/bench_compare.py [--rows 20000] [--columns 20] [--quick-only]
    python benchmarks/bench_compare.py --small

Prints processor time and wall time of the whole command, from the start of Python to
the written report, with two processes. On a busy machine the processor time counts:
half of it is what two quiet cores need at least.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from small import parsed


def table(n_rows, n_columns, seed=0):
    """Four hidden causes; a fifth of the columns measure them late and well."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_rows, 4))
    n_late = n_columns // 5
    early = 0.5 * causes @ rng.normal(size=(4, n_columns - n_late - 1))
    early += rng.normal(size=early.shape)
    late = causes @ rng.normal(size=(4, n_late)) + 0.3 * rng.normal(
        size=(n_rows, n_late)
    )
    outcome = causes @ [1.0, 0.5, -0.5, 0.2] + rng.normal(size=n_rows) > 0
    return pd.concat(
        [
            pd.DataFrame(early).add_prefix("early"),
            pd.DataFrame(late).add_prefix("late"),
            pd.Series(outcome.astype(int), name="outcome"),
        ],
        axis=1,
    )


def measure(folder, *options):
    """Return processor and wall time of one command."""
    words = ["compare", "table.csv", "-t", "outcome", "-p", "late*", "-j", "2"]
    program = "import sys, lupi.cli; sys.exit(lupi.cli.main())"
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", program, *words, "--force", *options],
        cwd=folder,
        env={**os.environ, **one_thread},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = sum(
        getattr(after, name) - getattr(before, name)
        for name in ("ru_utime", "ru_stime")
    )
    return cpu, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--quick-only", action="store_true")
    asked = parsed(parser, rows=200, columns=10, quick_only=True)
    with tempfile.TemporaryDirectory() as folder:
        data = table(asked.rows, asked.columns)
        data.round(4).to_csv(Path(folder) / "table.csv", index=False)
        print(f"{asked.rows} rows, {asked.columns} columns with the outcome")
        for options in [["--quick"], *([] if asked.quick_only else [[]])]:
            cpu, wall = measure(folder, *options)
            name = " ".join(["lupi compare", *options])
            print(f"{name:22} {cpu:7.1f} s processor {wall:8.1f} s wall", flush=True)


if __name__ == "__main__":
    main()
