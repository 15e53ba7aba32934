"""The leaderboard: lines as `compare` has them, files that resume, its page."""

from __future__ import annotations

import json
from pathlib import Path

import leaderboard
import numpy as np
import pytest
from evidence import findings, generators, page, summary, tables, work
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from lupi.datasets import make_mediator
from lupi.evaluation import Method, compare

ROOT = Path(__file__).parents[2]


class Constant(ClassifierMixin, BaseEstimator):
    """A classifier of somebody's own that does not look at X*."""

    def fit(self, X, y, *, privileged=None):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X):
        return self.model_.decision_function(X)

    def predict(self, X):
        return self.model_.predict(X)


@pytest.fixture(scope="module")
def table():
    data = make_mediator(300, random_state=0)
    data["task"] = work.CLASSES
    return tables.from_bunch(data, "mediator")


def lines_of(table, methods, n_splits, part="yours"):
    done = {}
    for split in range(n_splits):
        unit = work.Unit(part, table.name, 60, split)
        done[unit.key] = work.run(unit, table, 2, methods, n_splits)
    return summary.collect({table.name: table}, done, {})["lines"]


def test_a_line_is_what_compare_says(table):
    (method,) = (
        each
        for each in work._methods("first", work.CLASSES, 60)
        if each.name == "HedgedDistillationClassifier"
    )
    found = {line["n_unlabelled"] > 0: line for line in lines_of(table, (method,), 4)}
    line = found[True]
    result = compare(
        table.X,
        table.y,
        table.privileged,
        methods=[method],
        labelled=60,
        cv=4,
        n_candidates=2,
    )
    expected = result.summary.iloc[0]
    assert line["gain"] == pytest.approx(expected["gain"], abs=2e-6)
    assert line["gain_se"] == pytest.approx(expected["gain_std_error"], rel=1e-2)
    assert line["p_helps"] == pytest.approx(expected["p_helps"], rel=0.05)
    assert line["gap"] == pytest.approx(expected["gap"], abs=2e-6)
    assert set(found) == {True, False}
    assert found[False]["arms"]["without"] == line["arms"]["without"]


def test_a_method_that_ignores_privileged_columns_never_helps(table):
    methods = work.methods_from(Constant)[work.CLASSES]
    (line,) = lines_of(table, methods, 3)
    assert line["gain"] == 0
    assert line["verdict"] == "no evidence"
    assert line["n_unlabelled"] == 0


def test_the_two_shuffles_differ(table):
    methods = [m for m in work._methods("first", work.CLASSES, 60) if "PAST" in m.name]
    result = work.run(work.Unit("yours", "mediator", 60, 0), table, 2, methods)
    scores = {
        x["arm"]: x["score"] for x in result["lines"] if x["regime"] == "labelled"
    }
    assert scores["shuffled"] != scores["reshuffled"]
    assert result["errors"] == {}


def test_an_estimator_that_fails_is_named(table):
    class Failing(Constant):
        def fit(self, X, y, *, privileged=None):
            raise RuntimeError("no")

    result = work.run(
        work.Unit("yours", "mediator", 60, 0),
        table,
        2,
        work.methods_from(Failing)[work.CLASSES],
    )
    assert result["errors"]["Failing (labelled)"] == "RuntimeError: no"


def test_a_run_continues_where_it_stopped(table, tmp_path, monkeypatch):
    budget = work.Budget(2, (("first", 60, range(3)),))
    only = [m for m in work._methods("first", work.CLASSES, 60) if "PAST" in m.name]
    monkeypatch.setattr(work, "_methods", lambda *_: only)
    outside = Method(work.OUTSIDE, work.CLASSES, estimator=LogisticRegression())
    monkeypatch.setattr(work, "boosting", lambda _: outside)
    work._study.cache_clear()
    known = {table.name: table}
    stopped = leaderboard.run(known, budget, tmp_path, 1, 0)
    assert stopped["run"]["units"] == [0, 3]
    whole = leaderboard.run(known, budget, tmp_path, 1, 10)
    assert whole["run"]["units"] == [3, 3]
    path = tmp_path / leaderboard.LINES
    content = path.read_bytes()
    path.write_bytes(content[: content.rfind(b"\n", 0, -1) + 20])
    again = leaderboard.run(known, budget, tmp_path, 1, 10)
    drop = ("seconds",)
    for one, other in zip(whole["lines"], again["lines"], strict=True):
        assert {k: v for k, v in one.items() if k not in drop} == {
            k: v for k, v in other.items() if k not in drop
        }
    work._study.cache_clear()


def test_prepared_tables_are_read_back(tmp_path, monkeypatch):
    import lupi.datasets

    monkeypatch.setattr(lupi.datasets, "list_tables", lambda: ["pima", "actg175"])
    known = tables.read(tables.prepare(tmp_path))
    assert list(known) == ["pima", "actg175"]
    assert known["pima"].X.shape == (768, 6)
    assert set(np.unique(known["pima"].y)) == {0, 1}
    with pytest.raises(ValueError, match="--prepare"):
        tables.read(tmp_path / "nowhere")


def test_a_table_of_ones_own(tmp_path):
    path = tmp_path / "my_table.py"
    path.write_text(
        "import numpy as np\n"
        "def load():\n"
        "    X = np.arange(60.0).reshape(20, 3)\n"
        "    return {'data': X, 'privileged': X[:, 0], 'target': X[:, 1] > 30}\n"
    )
    table = tables.from_file(path)
    assert table.name == "my_table"
    assert table.task == "classification"
    assert table.privileged.shape == (20, 1)
    path.write_text("x = 1\n")
    with pytest.raises(ValueError, match="no function load"):
        tables.from_file(path)


def test_units_begin_with_the_first_methods_on_all_tables(table):
    known = {"one": table, "other": table}
    units = work.units(known, work.FULL)
    assert [unit.key for unit in units[:3]] == [
        "first:one:60:0",
        "first:other:60:0",
        "first:one:60:1",
    ]
    assert len({unit.key for unit in units}) == len(units)
    assert all(unit.n_labels <= 200 for unit in units)  # 300 rows


def test_intervals_of_shares():
    # Clopper and Pearson: 0 of n has the upper end 1 - 0.025^(1/n).
    assert summary.share(0, 20)["high"] == pytest.approx(1 - 0.025 ** (1 / 20))
    assert summary.share(20, 20)["low"] == pytest.approx(0.025 ** (1 / 20))
    half = summary.share(5, 10)
    assert half["low"] + half["high"] == pytest.approx(1)


def test_the_page_is_written_from_the_numbers():
    docs = ROOT / "docs"
    content = json.loads((docs / page.NAME).read_text(encoding="utf-8"))
    assert (docs / "evidence.md").read_text(encoding="utf-8") == page.render(content)
    told = findings.sentence(content["lines"])
    for path, before, after in page.PLACES:
        text = (docs / path).read_text(encoding="utf-8")
        assert before + told + after in text
    for theme in ("light", "dark"):
        assert (docs / "images" / f"evidence-{theme}.svg").exists()


@pytest.mark.slow
def test_power_on_generated_tables():
    found = {
        (x["data"], x["n_unlabelled"] > 0): x["helps"]
        for x in generators.power(1, n_draws=4)
    }
    assert found["make_mediator, HedgedDistillationClassifier", True] >= 2
    assert found["make_useless, HedgedDistillationClassifier", True] <= 1
