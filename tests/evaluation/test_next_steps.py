"""After every verdict there is something to do, in the words of the interface."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.model_selection import KFold

from lupi.evaluation import Verdict, compare
from lupi.report import render_html
from tests.comparisons import FirstColumn, FirstNumber, of_scores

HEDGED = "HedgedDistillationClassifier"


def steps(kind, *, methods=(HEDGED,), shell=False, n=1000, splits=None, **fields):
    result = of_scores(
        {name: {"without": np.zeros(2)} for name in methods},
        splits={"n_train": 800.0} | (splits or {}),
        labels={"n_labelled": n, "n_unlabelled": 0},
        privileged=["cd4", "cd8"],
        possible={"all": True, "search": True}
        | ({} if splits else {"train_size": n // 4, "labelled": n // 4}),
    )
    result.verdict = Verdict(kind, "A.", "B.", HEDGED, {}, **fields)
    return result.next_steps(command_line=shell)


@pytest.mark.parametrize("kind", ["helps", "no evidence", "hurts", "failed"])
@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("splits", [None, {"train_size": 60}, {"labelled": 60}])
@pytest.mark.parametrize("shell", [True, False])
def test_there_is_a_next_step_in_the_words_of_the_interface(kind, n, splits, shell):
    found = steps(kind, n=n, splits=splits, shell=shell)
    assert found
    for sentence in found:
        assert sentence.endswith(".")
        strange = r"\w=" if shell else r"--\w"
        assert not re.search(strange, sentence)


def test_no_evidence_on_folds_asks_for_fewer_rows_or_labels():
    assert "--labelled 60" in " ".join(steps("no evidence", shell=True, n=240))
    assert "labelled=60" in " ".join(steps("no evidence", n=240))
    result = of_scores({HEDGED: {"without": np.zeros(2)}}, possible={"train_size": 60})
    assert "few training rows: try train_size=60." in " ".join(result.next_steps())


def test_rows_without_outcome_that_are_used_are_not_asked_for():
    result = of_scores(
        {HEDGED: {"without": np.zeros(2)}},
        labels={"n_labelled": 1000, "n_unlabelled": 500},
        possible={"labelled": 60},
    )
    result.verdict = Verdict("no evidence", "A.", "B.", HEDGED, {})
    assert "labelled" not in " ".join(result.next_steps())


def test_too_few_rows_come_with_their_number():
    assert (
        "about 5,000 are needed to know what"
        in steps("no evidence", rows_needed=5000)[0]
    )


def test_models_below_a_constant_prediction_need_other_columns():
    scores = {HEDGED: {"without": np.full(2, -3.0)}}
    possible = {"train_size": 60, "labelled": 60}
    settings = {"scoring": "r2", "constant": -1.0, "possible": possible}
    result = of_scores(scores, **settings)
    (step,) = result.next_steps()
    assert step.startswith("Look for other columns that are known when predicting")
    # Nor does a mean above the constant say that X predicts, if its interval does not.
    spread = {"without": -1.0 + np.array([0.5, -0.4, 0.3, -0.3])}
    assert of_scores({HEDGED: spread}, **settings).next_steps() == [step]
    # Rows that change with time may be predicted from the latest ones.
    by_time = of_scores(scores, splits={"kind": "time", "time": "day"}, **settings)
    assert "train on the latest: try train_size=60" in by_time.next_steps()[0]


def test_few_outcomes_that_are_better_than_all_are_to_be_used():
    splits = {"kind": "time", "time": "day", "train_size": 60, "n_train": 60.0}
    settings = {"scoring": "r2", "constant": 0.0}
    good, bad = ({"without": np.full(4, score)} for score in (0.7, -0.1))
    wide = 0.3 + np.array([1.0, -1.0, 1.0, -1.0])
    result = of_scores({HEDGED: good | {"with": wide}}, splits=splits, **settings)
    result.settings["full_size"] = of_scores({HEDGED: bad}, **settings).to_dict()
    # The model that is better is named: that with X* is not shown to be.
    (step,) = result.next_steps()
    fit = f"Fit {HEDGED} without X* to the latest 60 rows"
    assert step.startswith(f"{fit}: it is then better than a constant prediction")
    (step,) = result.next_steps(command_line=True)
    file = "with lupi fit on a file of their target and X alone"
    assert step.startswith(f"{fit}, {file}: it is")
    (note,) = (each for each in result.verdict.notes if "Not shown" in each)
    assert note.endswith(": with X*.")
    # X* that is not shown to help is not used, be it better than a constant as well.
    above = of_scores({HEDGED: good | {"with": 0.71 + 0.1 * wide}}, splits=splits)
    above.settings |= settings | {"constants": [0.0] * 4}
    above.settings["full_size"] = result.settings["full_size"]
    assert above.next_steps()[0].startswith(fit)
    # Rows with an outcome beside hidden ones are not the latest.
    result.settings["splits"] |= {"train_size": None, "labelled": 60}
    (step,) = result.next_steps()
    assert step.startswith("Look for other columns that are known when predicting: ")
    assert "with all 100 outcomes no method, with X* or without, is shown to be" in step


def test_few_labels_are_advised_instead_of_a_small_training_set():
    splits = {"train_size": 30, "n_train": 30.0}
    result = of_scores(
        {HEDGED: {"without": np.zeros(2)}}, splits=splits, possible={"labelled": 30}
    )
    result.verdict = Verdict("no evidence", "A.", "B.", HEDGED, {})
    assert "try labelled=30 instead of train_size=30." in result.next_steps()[0]


def test_a_gain_of_models_that_predict_nothing_is_not_to_be_used():
    noise = np.linspace(-0.1, 0.1, 9)
    scores = {"without": noise - 2.0, "with": noise - 1.0}
    result = of_scores({HEDGED: scores}, scoring="r2", constant=-0.5)
    assert result.verdict.kind == "helps"
    (step,) = result.next_steps()
    assert step.startswith("Look for other columns that are known when predicting")


@pytest.mark.parametrize("drawn", ["labelled", "train_size", None])
def test_models_that_fail_in_some_splits_need_more_outcomes(drawn):
    scores = {"without": np.array([0.5, 0.6, -3.0, 0.7, 0.6])}
    scores["with"] = np.array([0.5, 0.6, 0.5, 0.7, 0.6])
    splits = {"n_train": 60.0} | ({drawn: 60} if drawn else {})
    known = {"scoring": "r2", "constant": 0.0, "constants": [0.0] * 5}
    result = of_scores({HEDGED: scores}, splits=splits, **known)
    assert "say little about X*" in str(result.verdict)
    (step,) = result.next_steps()
    how = f"Compare with a larger {drawn}" if drawn else "Collect more"
    assert step.startswith(f"{how}: with 60 known outcomes in training a model is far")
    # The oracle is no model that can be used.
    scores = {"without": np.full(5, 0.6), "oracle": scores["without"]}
    oracle = of_scores({HEDGED: scores}, splits=splits, **known)
    assert "say little about X*" in str(oracle.verdict)
    assert how not in " ".join(oracle.next_steps())


def test_columns_that_identify_groups_are_named():
    result = of_scores(
        {HEDGED: {"without": np.zeros(2)}},
        possible={"groups": "firm id", "group": "firm id"},
    )
    said = result.next_steps(command_line=True)[0]
    assert said.endswith("new values of firm id, compare with --group 'firm id'.")
    assert result.next_steps()[0].endswith("compare with groups=table['firm id'].")
    assert "Careful: firm id identifies groups of rows" in str(result.verdict)
    # It is said also where the folds that were asked for cannot be drawn.
    result.settings["possible"]["group_cv"] = 2
    assert result.next_steps()[0].endswith("with groups=table['firm id'] and cv=2.")
    del result.settings["possible"]["group"]
    assert "Careful: firm id identifies groups of rows" in str(result.verdict)
    assert "firm id" not in " ".join(result.next_steps())


def test_no_other_columns_are_looked_for_where_the_oracle_gains():
    noise = np.linspace(-0.01, 0.01, 10)
    scores = {"without": np.full(10, 0.7), "oracle": 0.9 + noise}
    assert of_scores({HEDGED: scores}).next_steps() == ["Try methods='all'."]
    nothing = of_scores({HEDGED: scores | {"oracle": 0.7 + 10 * noise}})
    assert "look for other columns" in nothing.next_steps()[0]


def test_a_model_without_x_star_is_called_so_where_few_outcomes_are_helped():
    few = {"without": np.zeros(9), "with": np.ones(9)}
    result = of_scores({HEDGED: few}, splits={"labelled": 60, "n_train": 60.0})
    full = of_scores({HEDGED: {"without": np.zeros(9)}})
    result.settings["full_size"] = full.to_dict()
    use, few = result.next_steps()[:2]
    assert "it is trained without X*, because with all 100 known outcomes there" in use
    assert few == f"Where only 60 are known, fit {HEDGED} with X*."


def test_models_that_are_no_better_than_a_constant_are_not_to_be_used():
    splits = {"labelled": 60, "n_train": 60.0}
    settings = {"scoring": "r2", "constant": 0.0, "task": "regression"}
    wide, narrow = np.linspace(-0.3, 0.3, 9), np.linspace(0.1, 0.101, 9)
    few = {"without": wide, "with": wide + narrow}
    result = of_scores({HEDGED: few}, splits=splits, **settings)
    full = of_scores({HEDGED: {"without": wide}}, **settings)
    outside = {"name": "Boosting", "score": 0.6, "over_without_low": 0.2}
    for own in ({}, {"outside": outside | {"over_constant_low": 0.3}}):
        full.settings |= own
        result.settings["full_size"] = full.to_dict()
        assert result.verdict.kind == "helps"
        said = " ".join(result.next_steps())
        assert "Use the model" not in said
        assert "fit Hedged" not in said
        assert ("Boosting makes more of X" in said) == bool(own)
        assert ("Look for other columns" in said) != bool(own)


def test_boosting_that_makes_more_of_x_is_advised_where_splits_do_not_flatter_it():
    """It is better than the model of the verdict, and than a constant prediction."""
    better = {"over_without_low": 0.1, "over_constant_low": 0.3}
    scores = {HEDGED: {"without": np.full(4, 0.3)}}
    more = f"Boosting makes more of X than {HEDGED} does"

    def said(outside=better, **settings):
        outside = {"name": "Boosting", "score": 0.6} | outside
        return " ".join(of_scores(scores, outside=outside, **settings).next_steps())

    assert said().startswith(more)
    assert more not in said(better | {"over_without_low": -0.1})
    assert more not in said(better | {"over_constant_low": -0.1})
    # Random splits of rows in groups, or in the order of time, flatter trees.
    assert more not in said(possible={"groups": "firm"})
    drifting = {"target": "y", "order": {"columns": ["y"]}}
    assert more not in said(**drifting)
    windows = {"kind": "time", "time": "day", "n_splits": 2}
    assert more not in said(splits=windows)
    assert more in said(splits=windows | {"n_splits": 4})
    # The size of the model that is kept counts.
    few = of_scores(scores, splits={"labelled": 60, "n_train": 60.0})
    full = of_scores(scores, outside={"name": "Boosting", "score": 0.6} | better)
    few.settings["full_size"] = full.to_dict()
    assert f"With all 100 outcomes, {more}" in " ".join(few.next_steps())
    # A model that it clearly exceeds is not to be used, be splits flattering or not.
    few = {"without": np.zeros(9), "with": np.ones(9)}
    helped = of_scores({HEDGED: few}, splits={"labelled": 60, "n_train": 60.0})
    for settings in ({}, drifting):
        full = of_scores({HEDGED: {"without": np.zeros(9)}}, **settings)
        for own in ({}, {"outside": {"name": "Boosting", "score": 0.6} | better}):
            full.settings |= own
            helped.settings |= settings | {"full_size": full.to_dict()}
            assert ("Use the model" in " ".join(helped.next_steps())) != bool(own)


def test_columns_that_boosting_makes_something_of_are_not_to_be_replaced():
    """It is better than a constant, and not shown to be better than the model."""
    outside = {"name": "Boosting", "score": 0.8, "over_without_low": -0.6}
    scores = {HEDGED: {"without": 0.5 + np.array([0.6, -0.9, 0.7, -0.9])}}
    for low in (0.3, -0.3):
        own = outside | {"over_constant_low": low}
        result = of_scores(scores, constant=0.0, scoring="r2", outside=own)
        said = " ".join(result.next_steps())
        assert ("Boosting is better than a constant prediction, as" in said) == (
            low > 0
        )
        assert ("Look for other columns" in said) == (low < 0)


def test_two_windows_do_not_ask_for_other_columns():
    splits = {"kind": "time", "time": "day", "n_splits": 2}
    scores, windows = {HEDGED: {"without": np.full(2, -0.1)}}, {"windows": 4}
    result = of_scores(scores, constant=0.0, splits=splits, possible=windows)
    (step,) = result.next_steps()
    assert step.startswith("Compare with cv=4: two windows say nothing")


@pytest.mark.parametrize(("p", "near"), [(0.03, True), (0.09, True), (0.001, False)])
def test_another_seed_is_advised_where_p_is_near_the_level(p, near):
    noise = np.linspace(-1, 1, 10)
    error = np.sqrt((1 / 10 + 10 / 90) * noise.var(ddof=1))
    gain = 0.01 * (noise + stats.t.isf(p, 9) * error)
    result = of_scores({HEDGED: {"without": np.full(10, 0.7), "with": 0.7 + gain}})
    said = f"p = {p:.3f} is near 0.05, so that the verdict can depend on the seed: "
    said += "compare with random_state=1 as well."
    assert (result.next_steps()[-1] == said) == near
    shell = result.next_steps(command_line=True)[-1]
    assert shell.endswith("compare with --seed 1 as well.") == near
    result.settings["same"] = ["p"]
    assert result.next_steps() == ["Leave p out: p has the same content as the target."]


def test_a_loss_with_any_privileged_information_is_not_said_of_x_star():
    noise = np.linspace(-0.001, 0.001, 9)
    few = {"without": np.full(9, 0.6) + noise, "with": np.full(9, 0.7)}
    losing = {name: 0.65 + noise for name in ("with", "shuffled")}
    full = of_scores({HEDGED: {"without": np.full(9, 0.7)} | losing})
    assert full.verdict.kind == "hurts"
    result = of_scores({HEDGED: few}, splits={"labelled": 60, "n_train": 60.0})
    result.settings["full_size"] = full.to_dict()
    page = render_html(result)
    for said in (" ".join(result.next_steps()), page):
        assert "the method loses with X*, with shuffled X* as well" in said
        assert "X* hurts" not in said


def test_a_model_that_is_helped_with_all_outcomes_is_to_be_used():
    result = of_scores({HEDGED: {"without": np.zeros(2)}})
    better = of_scores({HEDGED: {"without": np.zeros(9), "with": np.ones(9)}})
    result.settings["full_size"] = better.to_dict()
    expected = "Use the model: with all 100 outcomes X* helps."
    assert result.next_steps() == [expected]


def test_columns_that_were_measured_are_not_asked_for():
    result = of_scores({HEDGED: {"without": np.zeros(2)}}, privileged=["cd4", "cd8"])
    result.verdict = Verdict("helps", "A.", "B.", HEDGED, {})
    assert "columns()" in " ".join(result.next_steps())
    result.settings["column_gains"] = True
    assert "columns()" not in " ".join(result.next_steps())


def test_nothing_to_gain_asks_for_other_columns():
    assert "other columns" in steps("no evidence", nothing_to_gain=True)[0]


def test_a_gain_on_few_rows_is_not_promised_for_all():
    found = steps("helps", splits={"train_size": 60, "n_train": 60.0}, shell=True)
    assert found[0].startswith("This result is for 60 rows with an outcome. Compare")
    assert "Compare without --train-size" in found[0]
    assert "all 1,000" in found[0]


def test_the_hedge_is_offered_to_those_who_did_not_try_it():
    found = " ".join(steps("hurts", methods=["SVCPlus"], shell=True))
    assert "--methods hedged-distillation" in found
    assert "hedged" not in " ".join(steps("hurts"))
    # Boosted trees are tried after it.
    assert "hedged" not in " ".join(steps("hurts", methods=["IPLClassifier"]))


def test_a_method_without_a_search_is_not_searched_longer():
    found = steps("no evidence", splits={"labelled": 60})
    assert found == ["Try methods='all', or look for other columns."]
    found = steps("no evidence", splits={"labelled": 60}, methods=[HEDGED, "SVCPlus"])
    assert "n_candidates=30" in found[0]


def test_a_gain_asks_for_its_column():
    assert "--columns" in steps("helps", shell=True)[-1]
    assert "comparison.columns()" in steps("helps")[-1]


def test_a_leak_comes_first():
    assert (
        "almost perfectly, as columns that contain it" in steps("helps", leak=True)[0]
    )


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_column_that_is_the_target_is_named_and_left_out_first(task):
    rng = np.random.default_rng(0)
    y = pd.Series(rng.normal(size=160))
    same = 2 * y + 1
    if task == "classification":
        y, same = y > 0, np.where(y > 0, "ill", "well")
    later = pd.DataFrame({"same": same, "other": rng.normal(size=160)})
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    options = {"methods": "hedged-distillation", "cv": 2, "progress": False}
    result = compare(X, y, later, **options)
    assert result.verdict.leak
    said = "same has the same content as the target"
    assert f"Careful: {said} (a leak)." in str(result.verdict)
    assert "that this model does not get from X" not in str(result.verdict)
    assert result.next_steps() == [f"Leave same out: {said}."]
    assert f"{said} (a leak)" in render_html(result)
    # A column of X that has it is found by its score.
    known = compare(X.assign(same=2.0 * y), y, later[["other"]], **options)
    assert not known.verdict.leak
    assert "without X* is almost perfect: a column of X may" in str(known.verdict)
    (step,) = known.next_steps()
    assert step.startswith("Check the columns of X with column_scores")
    # Five values are that of both classes, or on one line, by chance.
    later["same"] = later["same"].where(later.index < 5)
    without = compare(X, y, later, **options)
    assert not without.verdict.leak
    assert said not in str(without.verdict)


def possible(y, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(len(y), 2))
    options = {"methods": FirstColumn(), "progress": False, "cv": 2} | options
    settings = compare(X, y, X, **options).settings
    return settings["possible"]


def test_suggested_sizes_have_splits():
    y = np.arange(400) % 2
    assert possible(y) == {
        **{"search": True, "train_size": 60, "labelled": 60},
        **{"time": True, "all": True},
    }
    # A quarter of a small table.
    assert possible(y[:100])["train_size"] == 25
    # Rows without outcome may help where as many rows with one do not.
    small = possible(y, train_size=30)
    assert small["labelled"] == 30
    assert "train_size" not in small
    assert "labelled" not in possible(y, labelled=30)
    # Of a class of ten rows in 400, 60 rows have one or two, and 120 rows three.
    rare = np.r_[np.ones(10, dtype=int), np.zeros(390, dtype=int)]
    assert possible(rare)["train_size"] is None
    assert possible(np.tile(rare, 2))["train_size"] == 120
    # The first of five windows has 50 earlier rows, the others have enough.
    assert possible(y[:300], time=np.arange(300), cv=5)["train_size"] == 60
    # Rows that are sorted by class are not ordered in time.
    assert not possible(np.sort(y))["time"]


def test_columns_of_text_are_groups_unless_they_are_numbers():
    rng = np.random.default_rng(0)
    twice, y = rng.permutation(200) // 2, rng.integers(0, 2, 200)
    options = {"methods": FirstColumn(), "progress": False, "cv": 2}
    for words, group in (
        ([f"{k}{'ABC'[k % 3]}" for k in twice], "0"),
        ([f"${1000 + k:,}" for k in twice], None),
    ):
        table = pd.DataFrame({0: words, 1: rng.normal(size=200)})
        result = compare(table, y, rng.normal(size=200), **options)
        assert result.settings["possible"].get("group") == group


def test_given_splits_are_not_combined_with_others():
    y = np.arange(400) % 2
    assert possible(y, cv=KFold(4)) == {"search": True}
    assert possible(y, cv=iter(KFold(4).split(y))) == {"search": True}


@pytest.mark.parametrize("options", [{}, {"time": np.arange(200)}, {"labelled": 30}])
def test_groups_on_both_sides_of_the_splits_are_named(options):
    """Visits of a patient are before and after most times, too."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(40), 5))
    table = pd.DataFrame({"id": [f"p{k}x" for k in patient], "x": rng.normal(size=200)})
    later, y = pd.DataFrame({"later": rng.normal(size=200)}), patient % 2
    common = {
        "methods": FirstNumber(),
        "cv": 3,
        "progress": False,
        "task": "regression",
    }
    result = compare(table, y, later, **common, **options)
    assert "Careful: id identifies groups of rows" in str(result.verdict)
    (step,) = (each for each in result.next_steps() if "new values of id" in each)
    assert "compare with groups=table['id']" in step
    apart = compare(table, y, later, groups=table["id"], **common, **options)
    assert "identifies groups" not in str(apart.verdict)
