"""A table as a clinic would export it, and the command that reads it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from lupi.cli import main

SOURCE = Path(__file__).parents[2] / "src"


def clinic(n=160, seed=0):
    """Text, categories, dates and gaps; a tenth of the rows lack the later columns.

    The later count is a noisy step from the severity at the first visit to the
    outcome, as privileged information is in nature.
    """
    rng = np.random.default_rng(seed)
    severity = rng.normal(size=n)
    later = severity + 0.5 * rng.normal(size=n)
    table = pd.DataFrame(
        {
            "patient": [f"P{i:04d}" for i in range(n)],
            "age": (60 + 12 * severity + 8 * rng.normal(size=n)).round(1),
            "ward": rng.choice(["north", "south", "east"], n),
            "admitted": pd.date_range("2021-03-01", periods=n, freq="D").astype(str),
            "complaint": [
                f"{'severe' if s > 0 else 'mild'} {rng.choice(['pain', 'cough'])} "
                f"since {rng.integers(1, 9)} days"
                for s in severity
            ],
            "count_week_20": (500 - 120 * later).round(0),
            "remark_week_20": np.where(later > 0, "worse", "stable"),
            "outcome": np.where(
                later + 0.4 * rng.normal(size=n) > 0, "event", "none of it"
            ),
        }
    )
    table.loc[rng.choice(n, n // 12, replace=False), "age"] = np.nan
    table.loc[rng.choice(n, n // 12, replace=False), "complaint"] = None
    lacking = rng.choice(n, n // 10, replace=False)
    table.loc[lacking, ["count_week_20", "remark_week_20"]] = None
    return table


ROLES = ["--target", "outcome", "--privileged", "*_week_20", "--drop", "patient"]
# Without text and dates, whose encoding takes most of the time.
PLAIN = [*ROLES, "complaint", "admitted"]
# Two splits and no search, in this process.
SHORT = [
    *("--methods", "generalized-distillation-classifier", "--n-candidates", "1"),
    *("--train-size", "100", "--cv", "2", "--jobs", "1"),
]
# The same without learning curves and without a model.
SWIFT = [*SHORT, "--quick", "--no-model"]


def environment():
    """The environment of a child: this source, one thread, nothing of the tests."""
    quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "100"}
    return {**os.environ, **quiet, "PYTHONPATH": str(SOURCE)}


def command():
    """The installed ``lupi`` beside this Python, or the same entry point without it."""
    script = Path(sys.executable).with_name("lupi")
    if script.exists():
        return [str(script)]
    return [sys.executable, "-c", "import sys, lupi.cli; sys.exit(lupi.cli.main())"]


def lupi(*arguments, cwd):
    """Run ``lupi`` as a user would."""
    return subprocess.run(
        [*command(), *map(str, arguments)],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def lupi_here(*arguments, cwd):
    """Run the same in this process, which has its libraries loaded already."""
    out, err = io.StringIO(), io.StringIO()
    with (
        chdir(cwd),
        redirect_stdout(out),
        redirect_stderr(err),
        patch.dict(os.environ, COLUMNS="100"),
    ):
        code = main([*map(str, arguments)])
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
