"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lupi

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_ten_lines_print_what_is_printed(capsys):
    (program,) = (block for block in blocks("python") if "import" in block)
    lines = [line for line in program.splitlines() if line and "import" not in line]
    assert len(lines) <= 10
    exec(compile(program, "README.md", "exec"), {})
    printed, shown = (
        [float(number) for number in re.findall(r"[\d.]+", text)]
        for text in (capsys.readouterr().out, blocks("text")[0])
    )
    # The last digit may differ between versions of the packages underneath.
    np.testing.assert_allclose(printed, shown, atol=2e-3)


def test_every_name_in_the_table_exists():
    table = README[README.index("| task |") : README.index("All estimators have")]
    names = re.findall(r"`(?:lupi\.)?([A-Z]\w+|save|load)`", table)
    assert len(names) >= 12
    for name in names:
        assert name in lupi.__all__
        assert hasattr(lupi, name)


def test_the_two_ways_to_start_are_named():
    assert "make demo" in README
    assert "make test" in README
    targets = re.findall(
        r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {"demo", "test", "lint", "bench", "test-slow", "test-oldest"} <= set(targets)
    assert "make --no-print-directory test" in (ROOT / ".ci" / "run").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_the_way_from_a_file_to_a_saved_model(tmp_path):
    (commands,) = (block for block in blocks("sh") if "lupi predict" in block)
    install, rest = commands.split("\n", 1)
    assert install == 'pip install ".[cli]"'
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", rest],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "he privileged information helps" in done.stdout
    predicted = pd.read_csv(tmp_path / "predictions.csv")
    assert len(predicted) == 2139
    model = lupi.load(tmp_path / "lupi-report/model.skops")
    assert not {"cd420", "cd820", "event"} & set(model.feature_names_in_)
