"""The leaderboard: lines as `compare` has them, files that resume, its page."""

from __future__ import annotations

import json
from pathlib import Path

import leaderboard
import numpy as np
import pytest
from evidence import page, summary, tables, work
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from lupi import HedgedDistillationClassifier
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


def hedged():
    """Return the first of the methods, with few folds."""
    model = HedgedDistillationClassifier(cv=2, n_repeats=1)
    return Method("HedgedDistillationClassifier", work.CLASSES, estimator=model)


def lines_of(table, methods, n_splits, part="yours"):
    done = {}
    for split in range(n_splits):
        unit = work.Unit(part, table.name, 60, split)
        done[unit.key] = work.run(unit, table, 2, methods, n_splits)
    return summary.collect({table.name: table}, done, {})["lines"]


def test_a_line_is_what_compare_says(table):
    method = hedged()
    found = {line["regime"]: line for line in lines_of(table, (method,), 4)}
    line = found["unlabelled"]
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
    assert line["gain"] == pytest.approx(expected["difference"], abs=2e-6)
    error = expected["difference_std_error"]
    assert line["gain_se"] == pytest.approx(error, rel=1e-2)
    assert line["p_helps"] == pytest.approx(expected["p_helps"], rel=0.05)
    assert line["gap"] == pytest.approx(expected["gap"], abs=2e-6)
    assert found["labelled"]["arms"]["without"] == line["arms"]["without"]
    assert found["labelled"]["n_unlabelled"] == 0 < line["n_unlabelled"]


def test_the_ceiling_is_the_model_without_privileged_columns_on_all_labels(table):
    method = hedged()
    line = lines_of(table, (method,), 3)[-1]
    splits = work._study(work.Job(table, (method,)), "yours", 60, 2, 3).splits
    scores = []
    for train, test, unlabelled in splits:
        rows = np.r_[train, unlabelled]
        model = (
            method.build().set_params(random_state=0).fit(table.X[rows], table.y[rows])
        )
        scores.append(
            roc_auc_score(table.y[test], model.decision_function(table.X[test]))
        )
    assert line["arms"]["ceiling"] == pytest.approx(np.mean(scores), abs=2e-3)
    room = line["arms"]["ceiling"] - line["arms"]["without"]
    assert line["room"] == pytest.approx(room, abs=1e-6)
    if line["share"] is not None:
        assert line["share"] == pytest.approx(line["gain"] / line["room"], rel=1e-6)


def test_labels_are_wrong_in_training_rows_only(table):
    study = work.labels_only(work._study(work.Job(table), "noise-six", 200, 2, 3))
    noisy = work.with_wrong_labels(study, "six", 1)
    wrong = np.flatnonzero(noisy.y != study.y)
    split = study.splits[1]
    assert np.isin(wrong, split.train).all()
    # Rates of 2 to 45 % have the mean 24 %; 200 labels have a deviation of 3 %.
    assert 0.12 < len(wrong) / len(split.train) < 0.37
    # The first of six annotators is wrong least often.
    by_whom = noisy.privileged[split.train].argmax(axis=1)
    rate = [np.isin(split.train[by_whom == k], wrong).mean() for k in (0, 5)]
    assert rate[0] < rate[1]


def test_the_median_share_counts_tables_with_informative_columns():
    lines = [
        {"share": 0.2, "gap": 0.1},
        {"share": 0.6, "gap": 0.1},
        {"share": 5.0, "gap": 0.001},
        {"share": None, "gap": 0.1},
        {"gap": 0.1},
    ]
    found = summary.of_ceiling(lines)
    assert found["median"] == pytest.approx(0.4)
    assert found["n_tables"] == 2
    assert 0.2 <= found["low"] <= found["high"] <= 0.6
    assert summary.of_ceiling(lines[2:]) is None


def test_a_method_that_ignores_privileged_columns_never_helps(table):
    methods = work.methods_from(Constant)[work.CLASSES]
    (line,) = lines_of(table, methods, 3)
    assert line["gain"] == 0
    assert line["verdict"] == "no evidence"
    assert line["n_unlabelled"] == 0


def test_the_two_shuffles_differ(table):
    methods = [m for m in work._methods("core", work.CLASSES, 60) if "PAST" in m.name]
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


def test_a_run_continues_where_it_stopped(table, tmp_path):
    budget = work.Budget(2, (("core", 60, range(2)),))
    known = {table.name: table}
    stopped = leaderboard.run(known, budget, tmp_path, 1, 0)
    assert stopped["run"]["units"] == [0, 2]
    whole = leaderboard.run(known, budget, tmp_path, 1, 10)
    assert whole["run"]["units"] == [2, 2]
    path = tmp_path / leaderboard.LINES
    content = path.read_bytes()
    path.write_bytes(content[: content.rfind(b"\n", 0, -1) + 20])
    again = leaderboard.run(known, budget, tmp_path, 1, 10)
    drop = ("seconds",)
    for one, other in zip(whole["lines"], again["lines"], strict=True):
        assert {k: v for k, v in one.items() if k not in drop} == {
            k: v for k, v in other.items() if k not in drop
        }
    assert whole["run"]["source"] == leaderboard.source()


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
        "core:one:60:0",
        "core:other:60:0",
        "core:one:60:1",
    ]
    assert len({unit.key for unit in units}) == len(units)
    assert all(unit.n_labels <= 200 for unit in units)  # 300 rows


def test_intervals_of_shares():
    # Clopper and Pearson: 0 of n has the upper end 1 - 0.025^(1/n).
    assert summary.share(0, 20)["high"] == pytest.approx(1 - 0.025 ** (1 / 20))
    assert summary.share(20, 20)["low"] == pytest.approx(0.025 ** (1 / 20))
    half = summary.share(5, 10)
    assert half["low"] + half["high"] == pytest.approx(1)


def test_the_pages_are_written_from_the_numbers():
    docs = ROOT / "docs"
    content = json.loads((docs / page.NAME).read_text(encoding="utf-8"))
    for name in page.PAGES:
        text = (docs / name).read_text(encoding="utf-8")
        assert text == page.render(content, name)
    for path, before, after, words in page.PLACES:
        text = (docs / path).read_text(encoding="utf-8")
        assert before + words(content["lines"]) + after in text
    for theme in ("light", "dark"):
        assert (docs / "images" / f"evidence-{theme}.svg").exists()
