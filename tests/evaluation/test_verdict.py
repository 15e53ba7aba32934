"""Verdicts on fold scores made by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from lupi.evaluation import Comparison
from lupi.evaluation._comparison import FOLD_COLUMNS

RNG = np.random.default_rng(0)
JITTER = RNG.normal(0, 0.01, size=(8, 10))


def comparison(levels, *, optimum=1.0, n_splits=10, failed=()):
    """Build a comparison from a level per method and arm, with a little jitter."""
    lines = []
    for m, (method, scores) in enumerate(levels.items()):
        for r, arm in enumerate(("without", "with", "shuffled", "oracle")):
            for split in range(n_splits):
                score = scores[r] + JITTER[(4 * m + r) % 8, split]
                if method in failed:
                    score = np.nan
                lines.append(
                    {
                        "method": method,
                        "arm": arm,
                        "split": split,
                        "score": score,
                        "inner_score": None,
                        "params": {"C": 1.0},
                        "n_train": 90,
                        "n_test": 10,
                        "seconds": 0.5,
                        "group_scores": None,
                    }
                )
    splits = {"kind": "folds", "n_splits": n_splits, "n_train": 90.0, "n_test": 10.0}
    splits |= {"train_overlap": 0.0, "train_size": None}
    splits |= {"grouped": False, "weighted": False}
    settings = {
        "task": "classification",
        "scoring": "accuracy",
        "optimum": optimum,
        "target": "y",
        "classes": [0, 1],
        "n_rows": 100,
        "n_privileged_rows": 100,
        "features": ["x0"],
        "privileged": ["x*0"],
        "splits": splits,
        "search": {"n_candidates": 1, "inner_cv": 3},
        "random_state": 0,
        "seconds": 1.0,
    }
    folds = pd.DataFrame(lines, columns=list(FOLD_COLUMNS))
    failures = {name: "ValueError: no" for name in failed}
    return Comparison(folds, settings, failures)


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ((0.70, 0.80, 0.69, 0.90), "helps"),
        # Extra freedom: shuffled X* does the same.
        ((0.70, 0.80, 0.80, 0.90), "no evidence"),
        ((0.70, 0.70, 0.60, 0.90), "no evidence"),
        ((0.70, 0.60, 0.60, 0.90), "hurts"),
        ((0.70, 0.70, 0.70, 0.70), "no evidence"),
    ],
)
def test_one_method(rows, kind):
    result = comparison({"A": rows})
    assert result.verdict.kind == kind
    assert result.summary["verdict"].tolist() == [kind]
    words = {
        "helps": "helps: A gains",
        "no evidence": "No evidence that it helps",
        "hurts": "hurts",
    }
    assert words[kind] in str(result.verdict)


@pytest.mark.parametrize(("oracle", "nothing"), [(0.70, True), (0.90, False)])
def test_no_evidence_says_whether_there_was_anything_to_gain(oracle, nothing):
    result = comparison({"A": (0.70, 0.70, 0.70, oracle)})
    assert result.verdict.kind == "no evidence"
    assert str(result.verdict).startswith("No evidence that it helps")
    assert (
        "nothing to gain: X* adds nothing measurable" in str(result.verdict)
    ) is nothing
    assert result.verdict.nothing_to_gain is nothing
    assert result.summary["nothing_to_gain"].tolist() == [nothing]


def test_one_oracle_that_gains_is_something_to_gain():
    result = comparison({"A": (0.7, 0.7, 0.7, 0.7), "B": (0.7, 0.7, 0.7, 0.9)})
    assert result.summary["nothing_to_gain"].tolist() == [True, False]
    assert not result.verdict.nothing_to_gain


def test_the_published_test_decides_on_folds():
    summary = comparison({"A": (0.7, 0.8, 0.7, 0.9), "B": (0.7, 0.7, 0.7, 0.9)}).summary
    pd.testing.assert_series_equal(
        summary["p_helps"], summary["p_helps_nadeau_bengio"], check_names=False
    )


def test_the_claim_is_the_weaker_of_both_differences_corrected_over_methods():
    result = comparison({"A": (0.7, 0.8, 0.79, 0.9), "B": (0.7, 0.71, 0.5, 0.9)})
    summary = result.summary.set_index("method")
    claims = summary[["p_without", "p_shuffled"]].max(axis=1)
    small, large = claims.min(), claims.max()
    expected = {
        claims.idxmin(): min(1, 2 * small),
        claims.idxmax(): max(large, min(1, 2 * small)),
    }
    for method, value in expected.items():
        assert summary.loc[method, "p_helps"] == pytest.approx(value)


def test_one_helping_method_is_enough_and_losers_are_named():
    result = comparison({"A": (0.7, 0.6, 0.6, 0.9), "B": (0.7, 0.8, 0.7, 0.9)})
    assert result.verdict.kind == "helps"
    assert result.verdict.method == "B"
    assert result.verdict.methods == {"A": "hurts", "B": "helps"}
    assert "It hurts A." in str(result.verdict)


def test_the_share_of_the_gap_is_told_when_there_is_a_gap():
    with_gap = comparison({"A": (0.70, 0.80, 0.70, 0.90)}).summary
    scores = with_gap.iloc[0]
    share = (scores["with"] - scores["without"]) / (
        scores["oracle"] - scores["without"]
    )
    assert scores["gap_closed"] == pytest.approx(share)
    without_gap = comparison({"A": (0.70, 0.80, 0.70, 0.70)}).summary
    assert np.isnan(without_gap.loc[0, "gap_closed"])


def test_a_perfect_oracle_is_flagged_as_a_leak():
    result = comparison({"A": (0.7, 0.7, 0.7, 1.0)})
    folds = result.folds
    folds.loc[folds["arm"] == "oracle", "score"] = 1.0
    assert result.verdict.leak
    assert "leak" in str(result.verdict)


def test_an_easy_problem_is_not_a_leak():
    result = comparison({"A": (1.0, 1.0, 1.0, 1.0)})
    result.folds["score"] = 1.0
    assert not result.verdict.leak
    assert result.verdict.kind == "no evidence"
    assert result.verdict.nothing_to_gain


def test_a_leak_is_seen_in_a_negated_loss_too():
    result = comparison({"A": (-3.0, -3.0, -3.0, 0.0)}, optimum=0.0)
    result.folds.loc[result.folds["arm"] == "oracle", "score"] = -1e-6
    assert result.verdict.leak


def test_failed_methods_stay_in_the_tables_and_out_of_the_verdict():
    result = comparison(
        {"A": (0.7, 0.8, 0.7, 0.9), "B": (0.7, 0.8, 0.7, 0.9)}, failed=["B"]
    )
    assert result.verdict.methods == {"A": "helps", "B": "failed"}
    assert result.table["score"].isna().sum() == 4
    everything = comparison({"B": (0.7, 0.8, 0.7, 0.9)}, failed=["B"])
    assert everything.verdict.kind == "failed"


def test_json_holds_everything_and_reads_back(tmp_path):
    result = comparison(
        {"A": (0.7, 0.8, 0.7, 0.9), "B": (0.7, 0.8, 0.7, 0.9)}, failed=["B"]
    )
    path = result.to_json(tmp_path / "results.json")
    stored = json.loads(path.read_text())
    assert stored["verdict"]["kind"] == "helps"
    assert stored["summary"][1]["gain"] is None
    assert {line["arm"] for line in stored["folds"]} == {
        "without",
        "with",
        "shuffled",
        "oracle",
    }
    again = Comparison.from_json(path)
    pd.testing.assert_frame_equal(again.summary, result.summary)
    pd.testing.assert_frame_equal(again.table, result.table)
    assert again.verdict == result.verdict
    assert again.failures == result.failures


def test_other_files_are_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"format": "lupi-comp')
    with pytest.raises(ValueError, match="not valid JSON"):
        Comparison.from_json(tmp_path / "a.json")
    (tmp_path / "a.json").write_text('{"format": "other"}')
    with pytest.raises(ValueError, match="not a comparison"):
        Comparison.from_json(tmp_path / "a.json")
    stored = comparison({"A": (0.7, 0.8, 0.7, 0.9)}).to_dict() | {"version": 9}
    (tmp_path / "b.json").write_text(json.dumps(stored, default=str))
    with pytest.raises(ValueError, match="version 9"):
        Comparison.from_json(tmp_path / "b.json")
    stored = comparison({"A": (0.7, 0.8, 0.7, 0.9)}).to_dict()
    for change, words in (
        ({"folds": []}, "holds no scores"),
        ({"settings": None}, "lacks settings"),
    ):
        part = {k: v for k, v in (stored | change).items() if v is not None}
        (tmp_path / "c.json").write_text(json.dumps(part, default=str))
        with pytest.raises(ValueError, match=words):
            Comparison.from_json(tmp_path / "c.json")


def test_a_comparison_from_a_file_has_no_model(tmp_path):
    path = comparison({"A": (0.7, 0.8, 0.7, 0.9)}).to_json(tmp_path / "a.json")
    with pytest.raises(ValueError, match="does not hold the data"):
        Comparison.from_json(path).best_estimator()
