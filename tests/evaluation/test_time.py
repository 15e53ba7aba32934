"""Splits by time, columns that depend on the order of rows, X* that follows from X."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lupi.evaluation import compare
from lupi.evaluation._verdict import training_rows
from lupi.report import render_html
from tests.comparisons import FirstColumn, FirstColumnOfAll, FirstNumber

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def rows():
    """120 rows in random order of time, of 40 groups whose rows are neighbours."""
    rng = np.random.default_rng(0)
    time = rng.permutation(120).astype(float)
    return {
        "X": rng.normal(size=(120, 2)),
        "y": np.tile([0, 1], 60),
        "privileged": rng.normal(size=(120, 1)),
        "time": time,
        "groups": (time // 3).astype(int),
    }


def run(rows, model=None, **options):
    chosen = {"methods": model or FirstColumn(), "progress": False} | options
    return compare(rows["X"], rows["y"], rows["privileged"], **chosen)


def test_every_split_trains_on_the_past(rows):
    result = run(rows, time=rows["time"], groups=rows["groups"])
    splits = result.study.splits
    assert len(splits) == 5
    time, groups = rows["time"], rows["groups"]
    sizes = []
    for train, test, unlabelled in splits:
        assert time[train].max() < time[test].min()
        assert not np.isin(groups[train], groups[test]).any()
        assert len(unlabelled) == 0
        sizes.append(len(train))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    tested = np.concatenate([split.test for split in splits])
    assert len(tested) == len(set(tested)) == 100
    assert result.settings["splits"]["kind"] == "time"
    assert "trained on the past and tested on the future" in result.verdict.sentence
    said = f"{sizes[0]} to {sizes[-1]} earlier training rows"
    assert said in render_html(result)
    # The windows reach the size of the final model by themselves.
    assert result.at_full_size() is None
    small = run(rows, time=rows["time"], train_size=10)
    assert "the latest 10 earlier training rows" in render_html(small)


def test_dates_in_any_notation_are_times(rows):
    days = pd.Timestamp("2024-01-31") + pd.to_timedelta(rows["time"], unit="D")
    expected = run(rows, time=rows["time"]).study.splits
    noon = (days + pd.Timedelta("12h")).tz_localize("Europe/Berlin")
    for dates in (
        days,
        days.strftime("%d.%m.%Y %H:%M"),
        days.strftime("%Y/%m/%d"),
        noon.map(pd.Timestamp.isoformat),  # +01:00 in winter, +02:00 in summer
        noon.map(lambda day: day.isoformat(sep=" ")[:-3]),
    ):
        found = run(rows, time=pd.Series(dates, name="visit"))
        assert found.settings["splits"]["time"] == "visit"
        assert ": 2024-02-20 to\n2024-03-10</td>" in render_html(found)
        for split, other in zip(found.study.splits, expected, strict=True):
            np.testing.assert_array_equal(split.test, other.test)


def test_equal_times_are_not_divided(rows):
    months = rows["time"] // 30
    splits = run(rows, time=months).study.splits
    assert len(splits) == 3
    for train, test, _ in splits:
        assert months[train].max() < months[test].min()


@pytest.mark.parametrize("counts", [[30, 10, 10, 40, 10, 20], [40, *[5] * 16]])
def test_there_are_as_many_windows_as_asked_for_where_there_are_times(rows, counts):
    """Equal shares of the rows begin twice in one year, or in the first one."""
    years = np.repeat(np.arange(len(counts)), counts)[rows["time"].astype(int)]
    result = run(rows, time=years)
    begin = [int(years[split.test].min()) for split in result.study.splits]
    assert len(set(begin)) == 5
    assert min(begin) > 0
    if len(counts) == 6:
        assert begin == [1, 2, 3, 4, 5]
        page = render_html(run(rows, time=years, cv=6))
        assert "5 windows, not 6 (there are 6 distinct times), by time" in page
    else:  # each begins at the year nearest to an equal share
        sizes = [len(split.train) for split in result.study.splits]
        assert sizes == [40, 45, 60, 80, 100]


def test_windows_without_enough_earlier_rows_are_dropped_with_the_reason(rows):
    result = run(rows, time=rows["time"], train_size=50)
    assert [len(split.train) for split in result.study.splits] == [50] * 3
    said = "3 windows, not 5 (others have too few earlier rows with an outcome), by"
    assert said in render_html(result)
    # The last time has one row, which are too few to test on.
    late = np.where(rows["time"] == 119, 200, rows["time"] // 20)
    said = "5 windows, not 6 (others have a single test row), by"
    assert said in render_html(run(rows, time=late, cv=6))
    # A share is one of the earlier rows.
    half = run(rows, time=rows["time"], train_size=0.5)
    assert [len(split.train) for split in half.study.splits] == [10, 20, 30, 40, 50]
    # The first window has all groups of the rows before it.
    groups = np.where(rows["time"] < 40, rows["time"] % 20, rows["time"])
    result = run(rows, time=rows["time"], groups=groups)
    assert len(result.study.splits) == 4
    said = "4 windows, not 5 (others have too few earlier rows with an outcome whose"
    assert said in render_html(result)


def test_one_holdout_has_an_interval_of_blocks_of_its_test_rows(rows):
    result = run(rows, time=rows["time"], cv=1)
    (split,) = result.study.splits
    assert len(split.test) == 30
    blocks = result.study.group_of_row[split.test]
    # Neighbours in time are in one block.
    assert (np.diff(blocks[np.argsort(rows["time"][split.test])]) >= 0).all()
    part = result.folds.set_index("arm")["group_scores"]
    values = np.array(part["oracle"])
    error = values.std(ddof=1) / np.sqrt(len(values))
    line = result.table.set_index("arm").loc["oracle"]
    assert line["std_error"] == pytest.approx(error)
    # The ends of the 95 % interval of two blocks are those of the AUC, 0 and 1.
    shown = result.intervals(confidence=0.5).set_index("arm")
    low, high = shown.loc["oracle", ["low", "high"]]
    reach = stats.t.ppf(0.75, len(values) - 1) * error
    assert (high - low) / 2 == pytest.approx(reach)


def test_every_block_of_test_rows_has_a_row_of_a_rare_class(rows):
    # In every window three rows of the class, one after the other.
    y = np.isin(rows["time"] % 20, [12, 13, 14]).astype(int)
    result = run(rows | {"y": y}, time=rows["time"])
    assert len(result.study.splits) == 5
    for _, test, _ in result.study.splits:
        blocks = result.study.group_of_row[test]
        assert (np.diff(blocks[np.argsort(rows["time"][test])]) >= 0).all()
        assert sorted(blocks[y[test] == 1]) == [0, 1, 2]
        assert set(blocks[y[test] == 0]) == {0, 2}
    part = result.folds[result.folds["arm"] == "with"]
    assert not np.isnan(part["group_scores"].tolist()).any()


def test_two_windows_have_an_interval_of_blocks_and_their_number_is_explained(rows):
    result = run(rows, time=rows["time"] // 40)
    assert len(result.study.splits) == 2
    part = result.folds[result.folds["arm"] == "oracle"]
    values = np.array(part["group_scores"].tolist())
    line = result.table.set_index("arm").loc["oracle"]
    assert line["std_error"] == pytest.approx(stats.sem(values.ravel()))
    page = render_html(result)
    assert "2 windows, not 5 (there are 3 distinct times), by time" in page
    assert "by a t-test over blocks of consecutive test rows" in page
    said = "Intervals and p are for these two training sets only: they come from"
    assert f"{said} {values.size} blocks of test rows." in result.verdict.notes
    assert "training sets only" not in str(run(rows, time=rows["time"]).verdict)
    one = run(rows, time=rows["time"], cv=1)
    n = len(one.folds["group_scores"].iloc[0])
    said = f"for this training set only: they come from {n} blocks of test rows."
    assert said in str(one.verdict)
    # The verdict on one training set says so first.
    assert one.verdict.headline.startswith("In one split, there is no evidence that")
    said = "Compare with cv=5: one split says nothing about other training sets."
    assert said in one.next_steps()
    assert said not in " ".join(run(rows, time=rows["time"]).next_steps())
    few = run(rows, time=rows["time"], cv=1, train_size=30).verdict.headline
    assert few.startswith("In one split, with 30 known outcomes (15 of class 0), there")


def test_outcomes_that_come_later_are_hidden(rows):
    FirstColumn.seen.clear()
    late = rows["time"] + np.where(np.arange(120) % 3 == 0, 1000.0, 0.0)
    result = run(rows, FirstColumnOfAll(), time=rows["time"], outcome_time=late, cv=2)
    for train, test, unlabelled in result.study.splits:
        assert (late[train] < rows["time"][test].min()).all()
        assert (np.arange(120)[unlabelled] % 3 == 0).all()
        assert len(unlabelled) > 0
        assert rows["time"][unlabelled].max() < rows["time"][test].min()
    assert result.folds.loc[result.folds["arm"] == "with", "n_unlabelled"].min() > 0


def test_a_class_that_no_window_has_is_named():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) < 20, "old", np.where(np.arange(200) % 2, "a", "b"))
    given = rng.normal(size=(200, 2)), y, rng.normal(size=(200, 1))
    options = {"methods": FirstColumn(), "time": np.arange(200), "progress": False}
    with pytest.raises(ValueError, match="of class old among its 40 training rows"):
        compare(*given, train_size=40, cv=1, **options)


def test_the_saved_model_has_the_scores_of_windows_with_every_earlier_outcome(rows):
    late = rows["time"] + np.where(np.arange(120) % 3, 1000.0, 0.0)
    options = {"time": rows["time"], "outcome_time": late, "cv": 2}
    result = run(rows, FirstColumnOfAll(), **options)
    assert result.settings["splits"]["n_train_range"][1] < 40
    full = result.at_full_size()
    assert full["splits"]["outcome_time"] is None
    assert full["splits"]["n_train_range"] == (60, 90)
    assert (result.full_size.folds["n_unlabelled"] == 0).all()
    # Every test row of these windows has its block.
    windows = run(rows, FirstColumnOfAll(), time=rows["time"], cv=2)
    columns = ["score", "low", "high"]
    same = result.full_size.table[columns], windows.table[columns]
    np.testing.assert_allclose(*same)
    said = str(result.full_size.verdict)
    each = "60 to 90 of them in training in each split"
    known = "known at the time of the split or not"
    few = training_rows(result.settings["splits"])
    start = f"In two windows, with all 120 outcomes ({each}, {known}) instead of {few},"
    assert said.startswith(start)
    assert "as if it were known" not in said
    page = " ".join(render_html(result).split())
    assert "were not measured" not in page
    # The outcomes that came too late are counted.
    few_late, many = (
        int((late[s.train] > 120).sum()) for s in result.study.full_splits
    )
    counted = f", {few_late} to {many} of them not known at the time"
    assert f"{counted} of the split, in training" in said
    assert f"{counted} of the split, in training" in page
    # Without that comparison, the scores are not called those of the model.
    page = render_html(run(rows, FirstColumnOfAll(), **options))
    assert "Models trained on all 120 outcomes were not measured; the AUC of" in page
    assert "Its expected AUC" not in page
    # Rows whose outcome comes later are used already.
    assert "can be used for training" not in page


@pytest.mark.parametrize("cv", [1, 3])
def test_the_second_comparison_tests_the_windows_of_the_first(rows, cv):
    small = run(rows, time=rows["time"], train_size=50, cv=cv)
    # The first of three windows has too few earlier rows.
    tested = {1: [[90, 119]], 3: [[60, 89], [90, 119]]}[cv]
    assert small.settings["splits"]["windows"] == tested
    full = small.at_full_size()["settings"]["splits"]
    assert full["windows"] == tested
    assert full["n_train_range"] == (tested[0][0], 90)


def test_few_labels_are_older_than_the_rows_whose_outcome_is_hidden(rows):
    result = run(
        rows,
        FirstColumnOfAll(),
        time=rows["time"],
        labelled=20,
        unlabelled=30,
        cv=3,
    )
    time = rows["time"]
    for train, test, hidden in result.study.splits:
        assert len(train) == 20
        assert len(hidden) <= 30
        if len(hidden):
            assert time[train].max() < time[hidden].min()
        assert max(time[train].max(), *time[hidden], 0) < time[test].min()
    counts = [len(split.unlabelled) for split in result.study.splits]
    page = render_html(result)
    said = "20 earlier training rows with an outcome (the latest before those whose"
    assert said in page
    assert "outcome is hidden, at most half of the earlier outcomes)" in page
    assert f" and {min(counts)} to {max(counts)} with X* and without one, and" in page
    assert "and, with X*, " in result.verdict.sentence


def test_windows_of_few_labels_are_trained_on_different_rows(rows):
    # There are fewer rows than are hidden at most.
    result = run(rows, FirstColumnOfAll(), time=rows["time"], labelled=10)
    splits = result.study.splits
    for train, _, hidden in splits:
        earlier = (rows["time"] < rows["time"][hidden].max()).sum() + 1
        assert len(train) == 10
        assert len(hidden) == earlier // 2
    assert len({tuple(split.train) for split in splits}) == len(splits) == 5
    assert result.settings["splits"]["overlap"] < 0.2
    expanding = run(rows, FirstColumnOfAll(), time=rows["time"])
    assert expanding.settings["splits"]["overlap"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": ["soon"] * 120}, "neither a number nor a date"),
        ({"time": np.r_[np.nan, np.arange(119.0)]}, "1 row has no time"),
        ({"time": np.ones(120)}, "same in every row"),
        ({"time": np.arange(3)}, "3 values and X has 120 rows"),
        ({"outcome_time": np.arange(120)}, "without time"),
        ({"time": np.arange(120), "labelled": 115}, "No split by time"),
        ({"time": np.arange(120), "train_size": 105}, "At most 100 earlier rows have"),
        ({"time": np.arange(120), "train_size": 1}, "1 training rows of 120"),
        ({"time": np.arange(120), "groups": np.arange(120) % 5}, "leave groups out"),
        (
            {"time": np.arange(120), "outcome_time": np.full(120, 118)},
            "At most 0 earlier rows have y, by outcome_time",
        ),
    ],
    ids=[
        "text",
        "missing",
        "constant",
        "short",
        "alone",
        "small",
        "long",
        "one-row",
        "lasting-groups",
        "known-late",
    ],
)
def test_times_that_cannot_be_used(rows, options, message):
    with pytest.raises(ValueError, match=message):
        run(rows, **options)


def test_a_class_that_comes_late_is_named(rows):
    rows["y"] = (rows["time"] > 70).astype(int)
    with pytest.raises(ValueError, match="rows of class 1 among its"):
        run(rows, time=rows["time"])


def test_windows_that_share_a_day_have_times_of_day(rows):
    hours = pd.Series(pd.date_range("2026-01-01", periods=120, freq="h"), name="at")
    # The first of five windows begins after a sixth of the rows.
    page = render_html(run(rows, time=hours))
    assert "2026-01-01 20:00 to 2026-01-02 15:00" in page
    days = pd.Series(pd.date_range("2026-01-01", periods=120), name="at")
    assert "2026-01-21 to 2026-02-09" in render_html(run(rows, time=days))


def test_outcomes_that_are_known_later_are_counted(rows):
    later = pd.Series(np.arange(120) + 15, name="reported")
    result = run(rows, FirstColumnOfAll(), time=np.arange(120), outcome_time=later)
    # An outcome that is known with the first test row comes too late.
    table = result.folds[result.folds["arm"] == "with"].sort_values("split")
    assert (table["n_train"] + table["n_unlabelled"] == 20 * np.arange(1, 6)).all()
    assert set(table["n_unlabelled"]) == {15}
    assert "(those not known yet, by “reported”, included)" in render_html(result)
    assert "not known yet, by “reported”, is used as if it were known" in str(
        result.verdict
    )


def test_a_year_of_two_digits_is_refused(rows):
    days = pd.date_range("1958-01-01", periods=120, freq="61D")
    with pytest.raises(ValueError, match="century is not known"):
        run(rows, time=pd.Series(days.strftime("%m/%d/%y")))
    assert run(rows, time=pd.Series(days.strftime("%m/%d/%Y"))).verdict


def test_equal_times_are_not_divided_by_the_order_of_the_file(rows):
    """Sixty rows of one time, of which forty have y: not the last ones."""
    time = np.repeat([0, 1], 60)
    (split,) = run(rows, time=time, cv=1, train_size=40).study.splits
    assert len(split.train) == 40
    assert set(split.train) != set(range(20, 60))


def test_a_class_that_is_rare_in_training_is_named_though_it_is_frequent_later():
    rng, late = np.random.default_rng(0), np.arange(120) >= 80
    y = np.where(late, np.arange(120) % 4 > 0, np.arange(120) % 40 == 0).astype(int)
    given = (rng.normal(size=(120, 2)), y, rng.normal(size=(120, 1)))
    options = {"methods": FirstColumn(), "time": np.arange(120), "progress": False}
    result = compare(*given, cv=1, train_size=80, **options)
    early, tested = y[result.study.splits[0].train], y[result.study.splits[0].test]
    assert early.mean() < 0.5 < tested.mean()
    n_few = int(early.sum())
    assert result.settings["splits"]["rarest"] == ("1", n_few, n_few)
    assert f"known outcomes ({n_few} of class 1) in training" in str(result.verdict)
    page = render_html(result)
    assert "most frequent class of the earlier rows" in page
    # The largest number of windows that can be drawn is named.
    for number in (5, 3):
        with pytest.raises(ValueError, match=r"rows; use cv=2\."):
            compare(*given, cv=number, **options)
    assert len(compare(*given, cv=2, **options).study.splits) == 2


def test_a_split_by_time_of_all_rows_is_suggested_where_few_labels_have_none():
    """A class that is rare in one window leaves no few labels of it there."""
    rng = np.random.default_rng(0)
    y = (np.arange(400) % 100 < 5).astype(int)
    X = pd.DataFrame({"x": rng.normal(size=400)})
    X["date"] = pd.date_range("2020-01-01", periods=400).astype(str)
    result = compare(
        X, y, rng.normal(size=(400, 1)), methods=FirstColumn(), labelled=40, cv=2
    )
    assert result.settings["possible"]["time"] == "all rows"
    step = result.next_steps(command_line=True)[0]
    assert "--time date, without --labelled 40." in step


def test_fewer_windows_are_suggested_where_five_have_too_few_rows_of_a_class():
    rng = np.random.default_rng(0)
    y = np.zeros(400, dtype=int)
    y[[20, 30, 40, 350, 360, 370]] = 1
    X = pd.DataFrame({"x": rng.normal(size=400)})
    X["date"] = pd.date_range("2020-01-01", periods=400).astype(str)
    given = X, y, rng.normal(size=(400, 1))
    step = compare(*given, methods=FirstColumn()).next_steps(command_line=True)[0]
    assert "--time date, with --cv 1." in step
    with pytest.raises(ValueError, match=r"use cv=1\."):
        compare(*given, methods=FirstColumn(), time=X["date"], cv=2)
    assert len(compare(*given, methods=FirstColumn(), time=X["date"], cv=1).folds) == 5


def test_months_as_fractions_of_years_are_suggested_before_years():
    rng = np.random.default_rng(0)
    month = np.arange(240)
    X = pd.DataFrame({"year": 2000 + month // 12, "x": rng.normal(size=240)})
    X["date"] = 2000 + month / 12
    given = X, rng.integers(0, 2, size=240), rng.normal(size=(240, 1))
    result = compare(*given, methods=FirstColumn(), cv=2)
    assert "--time date." in result.next_steps(command_line=True)[0]


def test_a_split_by_time_without_groups_is_suggested_where_all_groups_go_on():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=200)})
    X["date"] = pd.date_range("2020-01-01", periods=200).astype(str)
    y, privileged = np.tile([0, 1], 100), rng.normal(size=(200, 1))
    options = {"methods": FirstColumn(), "groups": np.arange(200) % 7}
    result = compare(X, y, privileged, cv=2, **options)
    assert result.settings["possible"]["time"] == "no groups"
    step = result.next_steps(command_line=True)[0]
    assert "--time date, without --group: each group has early and late" in step
    with pytest.raises(ValueError, match="group"):
        compare(X, y, privileged, time=X["date"], **options)
    options.pop("groups")
    assert len(compare(X, y, privileged, time=X["date"], **options).study.splits) > 1


def test_known_outcomes_without_x_star_are_counted(rows):
    missing = rows["privileged"].copy()
    missing[::4] = np.nan
    result = run(rows | {"privileged": missing}, cv=2)
    there = [int((split.train % 4 > 0).sum()) for split in result.study.splits]
    few, many = min(there), max(there)
    number = str(few) if few == many else f"{few} to {many}"
    said = f"known outcomes, {number} of them with X*, in training"
    assert said in str(result.verdict)
    assert "of them with X*" not in str(run(rows, cv=2).verdict)


def test_the_earliest_complete_date_is_the_time():
    days = pd.Series(pd.date_range("2020-01-01", periods=200))
    columns = {
        "left": days.astype(str).where(np.arange(200) % 2 == 0),
        "posted": (days + pd.Timedelta(days=30)).astype(str),
        "entered": days.astype(str),
    }
    assert ordered(**columns).settings["order"]["time"] == "entered"


def ordered(**columns):
    """Return a comparison of 200 rows whose columns are given; others are noise."""
    rng = np.random.default_rng(0)
    table = {name: rng.normal(size=200) for name in ("x", "later", "y")} | columns
    return compare(
        pd.DataFrame(
            {name: table[name] for name in table if name not in ("y", "later")}
        ),
        pd.Series(table["y"], name="y"),
        pd.DataFrame({"later": table["later"]}),
        methods=FirstNumber(),
        cv=2,
        progress=False,
    )


def order_of(result):
    """Return the columns that depend on the order of the rows, and the time."""
    return {name: result.settings["order"][name] for name in ("columns", "time")}


def test_training_rows_with_equal_privileged_information_are_named():
    result = ordered(later=np.zeros(200))
    assert result.settings["constant_in"] == 4
    assert "In 4 of 4 splits X* is the same in all training rows" in str(result.verdict)
    assert ordered().settings["constant_in"] == 0


def test_noise_does_not_depend_on_the_order_of_rows():
    result = ordered()
    assert order_of(result) == {"columns": [], "time": None}
    assert "order" not in str(result.verdict)


def test_a_trend_and_autocorrelation_name_the_split_by_time():
    rng = np.random.default_rng(1)
    walk = np.cumsum(rng.normal(size=200))
    result = ordered(admitted=np.arange(200.0), y=walk)
    assert order_of(result) == {"columns": ["admitted", "y"], "time": None}
    assert "y and admitted depend on the order of the rows" in str(result.verdict)
    assert "--time row-number." in result.next_steps(command_line=True)[0]
    assert "time=range(len(y))." in result.next_steps()[0]
    # So is a column of few times. Identifiers are none; they can number the rows.
    waves = ordered(wave=np.arange(200) // 40, y=walk)
    assert "--time row-number." in waves.next_steps(command_line=True)[0]
    numbered = ordered(patientid=np.arange(200), y=walk)
    assert numbered.settings["order"]["time"] is None
    assert "--time row-number." in numbered.next_steps(command_line=True)[0]
    groups = ordered(patientid=np.arange(200) // 9, y=walk)
    assert "--time" not in " ".join(groups.next_steps(command_line=True))
    # A privileged column cannot be the time.
    later = ordered(later=np.arange(200.0), y=walk)
    assert order_of(later) == {"columns": ["later", "y"], "time": None}
    # Without a column that is the order, the number of the row is.
    waves = ordered(y=np.sin(np.arange(200) / 5))
    assert order_of(waves) == {"columns": ["y"], "time": None}
    assert "--time row-number." in waves.next_steps(command_line=True)[0]
    # Rows that are sorted by something else are not ordered in time.
    by_size = ordered(area=np.geomspace(1e6, 1.5, 200), y=walk)
    assert order_of(by_size) == {"columns": ["area", "y"], "time": None}
    assert "--time" not in " ".join(by_size.next_steps(command_line=True))
    # Where y does not depend on it, random splits are not too optimistic.
    sorted_x = ordered(x=np.sin(np.arange(200) / 5))
    said = "x depends on the order of the rows, y does not or weakly."
    assert sorted_x.verdict.notes[-1] == said
    assert "--time" not in " ".join(sorted_x.next_steps(command_line=True))


def test_the_target_is_tested_for_the_order_of_rows_by_itself():
    drift = np.linspace(-1, 1, 200)
    noise = {f"x{k}": np.random.default_rng(k).normal(size=200) for k in range(20)}
    late = noise | {"x": np.arange(200.0)}

    def said(strength):
        y = strength * drift + np.random.default_rng(51).normal(size=200)
        result = ordered(**late, y=y)
        # Two tests, of the trend and of neighbours.
        return 2 * stats.spearmanr(y, drift).pvalue, str(result.verdict)

    # Over 23 columns the limit would be p = 0.0004.
    p, words = said(0.5)
    assert 0.0005 < p < 0.01
    assert "Careful: y and x depend on the order of the rows" in words
    p, words = said(0.0)
    assert p > 0.05
    assert "x depends on the order of the rows, y does not or weakly." in words


def test_the_order_of_rows_is_tested_for_every_category(rows):
    # The second of three categories is replaced by both others: ranks have no trend.
    rng = np.random.default_rng(0)
    late = rng.choice([0, 2], 200)
    late[:100] = rng.choice([0, 1, 1, 1, 2], 100)
    result = ordered(ward=np.array(["a", "b", "c"])[late], size=late)
    assert result.settings["order"]["columns"] == ["ward"]
    # So are neighbouring rows of one category among many; two of a rare one are chance.
    runs, rare = np.array(list("abcdefghijklmnop"))[rng.integers(0, 16, (2, 200))]
    runs[(np.arange(200) // 8 % 4 == 0) & (rng.random(200) < 0.8)] = "a"
    rare[:2] = "q"
    assert order_of(ordered(runs=runs, rare=rare))["columns"] == ["runs"]
    # Classes are categories, whatever their names.
    result = run(rows | {"y": late[40:160]}, cv=2)
    assert result.settings["order"]["columns"] == ["y"]


def test_a_date_suggests_the_split_by_time():
    dates = pd.Series(pd.date_range("2024-01-01", periods=200).astype(str))
    result = ordered(admitted=dates)
    assert order_of(result) == {"columns": ["admitted"], "time": "admitted"}
    # Dates that the rows are not in the order of, such as those of birth, are named.
    result = ordered(born=dates.sample(frac=1, random_state=0, ignore_index=True))
    assert order_of(result) == {"columns": [], "time": None}
    assert "born has dates, and the rows are not in its order" in str(result.verdict)
    assert "--time" not in " ".join(result.next_steps(command_line=True))
    mixed = np.random.default_rng(0).permutation(dates)
    assert order_of(ordered(born=mixed, admitted=dates))["time"] == "admitted"
    # So does a column of years, if they are those of the rows.
    years = np.random.default_rng(0).integers(1990, 2010, size=200)
    assert order_of(ordered(year=years))["time"] == "year"
    assert order_of(ordered(birth_year=years))["time"] is None
    both = ordered(year_built=years, year_sold=2001 + np.arange(200) // 20)
    assert order_of(both)["time"] == "year_sold"
    assert order_of(ordered(years_employed=years - 1990))["time"] is None


@pytest.mark.parametrize("kind", [str, "category"])
def test_rows_sorted_by_text_have_no_order_in_time(kind):
    wards = pd.Series(np.sort([f"w{k % 30:02}" for k in range(200)])).astype(kind)
    result = ordered(ward=wards)
    assert order_of(result) == {"columns": ["ward"], "time": None}


def test_a_time_with_gaps_is_not_suggested():
    dates = pd.Series(pd.date_range("2024-01-01", periods=200).astype(str))
    assert order_of(ordered(day=dates))["time"] == "day"
    assert order_of(ordered(day=dates.where(np.arange(200) % 9 > 0)))["time"] is None


def test_what_can_be_computed_from_x_is_named():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    result = ordered(x=x, later=3 * x + 1)
    assert list(result.settings["computable"]) == ["later"]
    assert "later can nearly be computed from X (cross-" in str(result.verdict)
    noisy = ordered(x=x, later=x + 0.3 * rng.normal(size=200))
    assert noisy.settings["computable"] == {}
    # Also by a step function, among other columns.
    others = {f"other{k}": rng.normal(size=200) for k in range(20)}
    steps = ordered(x=x, later=np.floor(2 * x.clip(-1, 1)), **others)
    assert list(steps.settings["computable"]) == ["later"]


def test_a_single_window_of_few_rows_has_blocks_of_five():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    result = compare(X, y, X, methods=FirstNumber(), time=np.arange(100), cv=1)
    assert len(result.study.splits[0].test) == 25
    assert "they come from 5 blocks of test rows." in str(result.verdict)


def test_two_blocks_of_test_rows_have_no_interval_and_no_verdict():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    result = compare(X, y, X, methods=FirstNumber(), time=np.arange(40), cv=1)
    assert len(result.study.splits[0].test) == 10
    said = "they come from 2 blocks of test rows, too few for intervals and p."
    assert said in str(result.verdict)
    assert result.table[["low", "high", "p_gain"]].isna().all(axis=None)
    assert result.verdict.kind == "no evidence"
    assert said in render_html(result)
    assert "nan" not in str(result.verdict)


def test_whether_x_star_follows_from_x_is_tried_on_other_groups():
    """A number of each group is known within the groups, and not for new ones."""
    rng = np.random.default_rng(0)
    firm = np.repeat(np.arange(40), 5)
    size = rng.normal(size=40)[firm]
    near = size + 0.3 * rng.normal(size=40)[firm]
    X = pd.DataFrame({"firm": rng.permutation(40)[firm] * 1.0, "near": near})
    found = [
        compare(
            X,
            rng.normal(size=200),
            pd.DataFrame({"size": size}),
            methods=FirstNumber(),
            groups=groups,
            progress=False,
        ).settings["computable"]
        for groups in (None, firm)
    ]
    assert [list(each) for each in found] == [["size"], []]


def test_rows_in_groups_are_in_the_order_of_time_unless_sorted_by_group():
    """A trend over the rows is not that of a few rows of the same group."""
    rng = np.random.default_rng(0)
    X, later = rng.normal(size=(200, 2)), rng.normal(size=(200, 1))
    y, options = (
        np.arange(200) + 20 * rng.normal(size=200),
        {"cv": 3, "progress": False},
    )
    said = "depends on the order of the rows"
    for groups, named in (
        (rng.integers(0, 50, 200), True),
        (np.arange(200) // 4, False),
    ):
        result = compare(X, y, later, methods=FirstNumber(), groups=groups, **options)
        assert (said in str(result.verdict)) == named
        assert ("train on the past" in " ".join(result.next_steps())) == named


def test_a_split_by_time_is_suggested_without_classes_that_windows_lack():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"])[np.arange(200) % 2].astype(object)
    y[5:17:4], y[150:162:4] = "early", "late"
    table = pd.DataFrame({"year": 1900 + np.arange(200), "x": rng.normal(size=200)})
    later = pd.DataFrame({"later": rng.normal(size=200)})
    options = {"methods": FirstColumn(), "cv": 3, "progress": False}
    result = compare(table, y, later, **options)
    assert sorted(result.settings["possible"]["left_out"]) == ["early", "late"]
    (step,) = (each for each in result.next_steps() if "table['year']" in each)
    assert step.endswith(" out.")
    kept = np.where(np.isin(y, ["early", "late"]), None, y)
    compare(table[["x"]], kept, later, time=table["year"], **options)
