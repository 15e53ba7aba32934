"""What the README shows is what happens."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lupi
from lupi.datasets import load_actg175
from lupi.evaluation import compare

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
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


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "index.md"], ids=str)
def test_the_gains_are_those_of_the_figure(page):
    found = json.loads((DOCS / "readme_figure.json").read_text(encoding="utf-8"))
    gains = dict(zip(found["known"], found["gain_with"], strict=True))
    text = " ".join(page.read_text(encoding="utf-8").split())
    shown = re.findall(r"\+(0\.\d{3}) with (\d+)", text)
    assert len(shown) >= 6
    for gain, known in shown:
        assert float(gain) == pytest.approx(gains[int(known)], abs=1e-3)
    assert "none with x* shuffled" in text
    np.testing.assert_allclose(found["gain_shuffled"], 0, atol=2e-3)


def test_the_figure_starts_with_the_ten_lines():
    found = json.loads((DOCS / "readme_figure.json").read_text(encoding="utf-8"))
    shown = [float(number) for number in re.findall(r"[\d.]+", blocks("text")[0])]
    drawn = [found[arm][0] for arm in ("without", "with")]
    assert found["known"][0] == 60
    np.testing.assert_allclose(drawn, shown, atol=2e-3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("logistic regression, defaults", "regression scores {} with its defaults"),
        ("oracle", "also when predicting, scores {} "),
    ],
)
def test_the_baselines_are_those_of_the_script(name, words):
    text = " ".join(README.split())
    (shown,) = re.findall(words.replace("{}", r"(0\.\d+)"), text)
    script = runpy.run_path(str(DOCS / "readme_baselines.py"))
    assert script["score"](name) == pytest.approx(float(shown), abs=2e-3)


@pytest.mark.slow
def test_the_demonstration_has_the_numbers_of_the_pages():
    def shown(page: str, words: str) -> list[float]:
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        pattern = re.escape(words).replace(r"\{\}", r"([\d.]*\d)")
        (found,) = re.findall(pattern, text)
        return [float(number) for number in found]

    trial = load_actg175(as_frame=True)
    tables = trial.data, trial.target, trial.privileged
    result = compare(*tables, methods="hedged-distillation", labelled=60)
    few = result.summary.iloc[0]
    (curve,) = result.learning_curves().values()
    worth = curve.worth()
    result.at_full_size()
    many = result.full_size.summary.iloc[0]
    equal = [worth.labels, worth.low, worth.high]
    scores = few[["without", "with"]].tolist()
    ends = few[["gain_low", "gain_high"]].tolist()

    guide, terminal = "docs/guide/evaluation.md", "docs/guide/command-line.md"
    for page, words, numbers in (
        (guide, "is +{} (AUC {} without X\\*, {} with X", [few["gain"], *scores]),
        (
            guide,
            "it is +{} (95 % interval +{} to +{})",
            many[["gain", "gain_low", "gain_high"]].tolist(),
        ),
        (
            terminal,
            "HedgedDistillation {} {} {} {} {} +{} < 0.001",
            few[["without", "with", "shuffled", "self", "oracle", "gain"]].tolist(),
        ),
        (terminal, "Classifier (+{} to +{})", ends),
    ):
        np.testing.assert_allclose(numbers, shown(page, words), atol=2e-3)
    for page, words, numbers in (
        ("README.md", "to {} more known outcomes (95 % interval {} to {}; ", equal),
        (guide, "about {} additional known outcomes (95 % interval {} to {}): ", equal),
    ):
        np.testing.assert_allclose(numbers, shown(page, words), rtol=0.03)


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
