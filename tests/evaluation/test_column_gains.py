"""Which privileged column the gain comes from."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lupi.datasets import make_mediator
from lupi.evaluation import Comparison, compare
from tests.evaluation.test_compare import TAUGHT

OPTIONS = {
    "methods": TAUGHT,
    "train_size": 24,
    "cv": 2,
    "n_candidates": 2,
    "inner_cv": 2,
}
N = 300
DATA = make_mediator(N, random_state=0)
X, Y = pd.DataFrame(DATA.data), DATA.target
MEDIATOR = DATA.privileged[:, 0]
rng = np.random.default_rng(0)
LATER = pd.DataFrame(
    {
        "mediator": MEDIATOR,
        "copy": MEDIATOR + 0.01 * MEDIATOR.std() * rng.normal(size=N),
        "noise": rng.normal(size=N),
    }
)


@pytest.fixture(scope="module")
def comparison():
    return compare(X, Y, LATER, **OPTIONS)


@pytest.fixture(scope="module")
def gains(comparison):
    return comparison.columns()


def arm(comparison, name):
    folds = comparison.folds[comparison.folds["arm"] == name]
    return folds.sort_values("split")["score"]


def test_each_variant_is_the_comparison_on_its_columns(gains):
    """The same splits and candidates as a comparison that has no other columns."""
    for kind, chosen in (("alone", ["noise"]), ("left out", ["mediator", "copy"])):
        direct = arm(compare(X, Y, LATER[chosen], **OPTIONS), "with")
        own = (gains.folds["group"] == "noise") & (gains.folds["kind"] == kind)
        found = gains.folds[own].sort_values("split")
        np.testing.assert_allclose(found["score"], direct)


def test_gains_are_paired_differences(comparison, gains):
    table = gains.table.set_index("group")
    scores = gains.folds.query("group == 'copy'").pivot(
        index="split", columns="kind", values="score"
    )
    without, all_of_it = (arm(comparison, name).mean() for name in ("without", "with"))
    line = table.loc["copy"]
    assert line["gain_alone"] == pytest.approx(scores["alone"].mean() - without)
    assert line["gain_left_out"] == pytest.approx(scores["left out"].mean() - without)
    assert line["contribution"] == pytest.approx(all_of_it - scores["left out"].mean())
    summary = comparison.summary.iloc[0]
    assert gains.total.mean == pytest.approx(summary["difference"])
    assert gains.total.std_error == pytest.approx(summary["difference_std_error"])
    assert (table.filter(like="std_error") >= 0).all(axis=None)


def test_noise_is_last_and_a_copy_is_not_missed(gains):
    table = gains.table.set_index("group")
    assert table["gain_alone"].is_monotonic_decreasing
    assert table.index[-1] == "noise"
    for column in ("mediator", "copy"):
        assert table.at[column, "contribution"] < table.at[column, "gain_alone"]


def test_groups_are_taken_together(comparison, gains):
    named = comparison.columns({"both": ["mediator", "copy"]})
    assert named.groups == {"both": ["mediator", "copy"], "noise": ["noise"]}
    table = named.table.set_index("group")
    # Two groups: what one has alone, the other has left out.
    assert table.at["both", "gain_left_out"] == table.at["noise", "gain_alone"]
    whole = comparison.columns({"all": list(LATER)}).table.iloc[0]
    assert whole["gain_alone"] == pytest.approx(gains.total.mean)
    assert whole["gain_left_out"] == 0.0


def test_missing_values_arrays_and_a_checkpoint(tmp_path):
    holes = LATER.to_numpy(copy=True)
    holes[::3, 0] = np.nan
    result = compare(X.to_numpy(), Y, holes, **OPTIONS | {"n_candidates": 1})
    file = tmp_path / "columns.jsonl"
    first = result.columns(checkpoint=file)
    assert set(first.groups) == {"x*0", "x*1", "x*2"}
    pieces = [
        json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert len(pieces) == 2 * 3 * 2
    again = result.columns(checkpoint=file)
    pd.testing.assert_frame_equal(again.table, first.table)


def test_the_words_and_the_chart(gains):
    first = gains.table.iloc[0]["group"]
    assert gains.sentence.startswith(f"Alone, {first} gains most, +0.")
    display = gains.plot()
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == gains.table["group"].tolist()
    drawn = display.intervals_["alone"].lines[0].get_xdata()
    np.testing.assert_allclose(drawn, gains.table["gain_alone"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"groups": {"a": ["copi"]}}, "'copi', which is not a privileged"),
        ({"groups": {"a": ["copy"], "b": ["copy"]}}, "give it to one of them"),
        ({"groups": {"a": []}}, "'a' has no column"),
        ({"method": "SVCPlus"}, "method='SVCPlus' was not compared"),
    ],
)
def test_what_cannot_be_measured_is_refused(comparison, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        comparison.columns(**arguments)


def test_a_comparison_read_from_a_file_has_no_data(comparison, tmp_path):
    comparison.to_json(tmp_path / "results.json")
    with pytest.raises(ValueError, match="does not contain the data"):
        Comparison.from_json(tmp_path / "results.json").columns()


def test_gains_of_columns_are_not_called_those_of_x_star_without_a_verdict(
    comparison, gains
):
    said = "over all controls X* is not shown to help"
    assert gains.helped == (comparison.verdict.kind == "helps")
    for helped in (True, False):
        assert (said in replace(gains, helped=helped).sentence) != helped
