"""Rows without y: who learns from them, and that none of them is tested."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_validate,
    learning_curve,
)
from sklearn.preprocessing import StandardScaler

from lupi.base import missing_targets
from lupi.compose import TransformedPrivileged
from lupi.datasets import make_mediator
from lupi.evaluation import Comparison, LabelledSplits, LearningCurve, Method, compare
from lupi.report import render_html
from lupi.transfer import (
    GeneralizedDistillationClassifier,
    HedgedDistillationClassifier,
    HedgedDistillationRegressor,
)
from tests.comparisons import FirstColumn, FirstColumnOfAll, of_scores

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def data():
    return make_mediator(120, random_state=0)


@pytest.fixture(scope="module")
def partly(data):
    """The target, missing in two rows of three."""
    y = data.target.astype(object)
    y[np.arange(120) % 3 > 0] = None
    return y


def run(data, y, method=None, **options):
    FirstColumn.seen.clear()
    options = {"cv": 2, "n_candidates": 1, "scoring": "accuracy"} | options
    return compare(
        data.data, y, data.privileged, methods=method or FirstColumnOfAll(), **options
    )


def test_rows_without_y_train_in_the_arms_with_privileged_information(data, partly):
    result = run(data, partly)
    labels = result.settings["labels"]
    assert (labels["n_labelled"], labels["n_unlabelled"]) == (40, 80)
    for split in result.study.splits:
        assert not missing_targets(partly[split.train]).any()
        assert not missing_targets(partly[split.test]).any()
        assert missing_targets(partly[split.unlabelled]).all()
        assert len(split.unlabelled) == 80
    counts = result.folds.groupby("arm")["n_unlabelled"].unique()
    for arm, found in counts.items():
        assert found.tolist() == [0 if arm in ("without", "oracle") else 80]
    # Per split: without, oracle, then with, shuffled and self.
    for place, (X, y, privileged, _) in enumerate(FirstColumn.seen):
        arm = place % 5
        assert missing_targets(y).sum() == (80 if arm > 1 else 0)
        assert (privileged is not None) == (arm > 1)
        assert X.shape[0] == len(y) == (100 if arm > 1 else 20)


def test_other_methods_get_the_rows_with_y_alone(data, partly):
    some = run(data, partly, FirstColumn())
    known = ~missing_targets(partly)
    FirstColumn.seen.clear()
    labelled = compare(
        data.data[known],
        data.target[known],
        data.privileged[known],
        methods=FirstColumn(),
        cv=2,
        n_candidates=1,
        scoring="accuracy",
    )
    assert not any(missing_targets(y).any() for _, y, _, _ in FirstColumn.seen)
    drop = ["seconds"]
    pd.testing.assert_frame_equal(
        some.folds.drop(columns=drop), labelled.folds.drop(columns=drop)
    )


def test_every_way_to_write_a_missing_outcome_gives_the_same(data, partly):
    expected = run(data, partly, FirstColumn()).folds["score"]
    floats = np.array([np.nan if v is None else float(v) for v in partly])
    for y in (floats, pd.Series(partly, dtype="Int64"), partly.tolist()):
        result = run(data, y, FirstColumn())
        assert result.settings["classes"] == [0, 1]
        pd.testing.assert_series_equal(result.folds["score"], expected)
    words = np.array(["no", "yes"])[data.target].astype(object)
    words[missing_targets(partly)] = None
    assert run(data, words).settings["classes"] == ["no", "yes"]


def test_rows_without_y_of_a_tested_group_are_left_out(data, partly):
    groups = np.arange(120) // 6
    result = run(data, partly, groups=groups)
    for split in result.study.splits:
        assert not np.intersect1d(groups[split.test], groups[split.unlabelled]).size
        assert 0 < len(split.unlabelled) < 80


class Watching(FirstColumnOfAll):
    """Notices test rows of the groups it was fitted on, the second column of X."""

    met = 0

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        self.groups_ = np.unique(X[:, 1])
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)

    def decision_function(self, X):
        Watching.met += int(np.isin(X[:, 1], self.groups_).any())
        return super().decision_function(X)


@pytest.mark.parametrize("grouped", [True, False])
def test_inner_folds_keep_groups_apart_from_rows_without_y(data, partly, grouped):
    groups = np.arange(120) // 6
    X = np.column_stack([data.data[:, 0], groups])
    space = {"alpha": [0.1, 100.0]}
    method = Method("Watching", "classification", Watching(), space)
    Watching.met = 0
    compare(
        X,
        partly,
        data.privileged,
        methods=method,
        groups=groups if grouped else None,
        cv=2,
        n_candidates=2,
        inner_cv=2,
    )
    assert (Watching.met == 0) is grouped


def test_inner_folds_split_the_rows_with_y(data, partly):
    space = {"alpha": [0.1, 100.0]}
    method = Method("All", "classification", FirstColumnOfAll(), space)
    run(data, partly, method, n_candidates=2, inner_cv=2)
    sizes = {len(y): missing_targets(y).sum() for _, y, _, _ in FirstColumn.seen}
    # 20 rows with y train, 10 in each inner fold; 80 without y.
    assert sizes == {10: 0, 20: 0, 90: 80, 100: 80}


def test_weights_and_missing_privileged_rows_follow_their_rows(data, partly):
    privileged = data.privileged.copy()
    privileged[::4] = np.nan
    weight = np.arange(1.0, 121.0)
    FirstColumn.seen.clear()
    result = compare(
        data.data,
        partly,
        privileged,
        methods=FirstColumnOfAll(),
        cv=2,
        n_candidates=1,
        sample_weight=weight,
    )
    there = ~np.isnan(privileged).all(axis=1)
    split = result.study.splits[0]
    _, y, given, weights = FirstColumn.seen[2]
    # A row with neither y nor X* is not passed on.
    rows = np.r_[split.train, split.unlabelled[there[split.unlabelled]]]
    np.testing.assert_array_equal(weights, weight[rows])
    np.testing.assert_array_equal(np.isnan(given).all(axis=1), ~there[rows])
    assert missing_targets(y).sum() == len(rows) - len(split.train)


def test_few_labels(data):
    result = run(data, data.target, labelled=12, cv=6)
    assert result.settings["splits"]["kind"] == "few labels"
    assert result.settings["labels"]["n_train_unlabelled"] == 54
    taken = np.concatenate([split.train for split in result.study.splits])
    assert len(np.unique(taken)) == 72
    for split in result.study.splits:
        rows = np.concatenate(split)
        assert len(np.unique(rows)) == len(rows) == 120
        assert [len(part) for part in split] == [12, 54, 54]
    # Their outcome is hidden from the model.
    for _, y, privileged, _ in FirstColumn.seen:
        if privileged is not None:
            assert missing_targets(y).sum() == 54
    # Rows with y differ; splits that share them are corrected for it.
    assert result.settings["splits"]["shared"] == 0
    many = run(data, data.target, labelled=48, cv=3)
    shares = []
    for one, other in combinations(many.study.splits, 2):
        common = len(set(one.train) & set(other.train)) / 48
        sets = ({*each.train, *each.unlabelled} for each in (one, other))
        shares.append(common * len(set.intersection(*sets)) / 84)
    assert many.settings["splits"]["shared"] == pytest.approx(np.mean(shares))
    assert max(shares) > 0
    few = run(data, data.target, labelled=12, unlabelled=10, cv=3)
    assert [len(part) for part in few.study.splits[0]] == [12, 98, 10]
    assert len(run(data, data.target, labelled=6, cv=None).study.splits) == 20


def test_few_labels_beside_rows_without_y(data, partly):
    result = run(data, partly, labelled=8, cv=3)
    for split in result.study.splits:
        assert [len(part) for part in split] == [8, 16, 16 + 80]
        assert missing_targets(partly[split.unlabelled]).sum() == 80


def test_few_labels_of_whole_groups(data):
    groups = np.arange(120) // 4
    result = run(data, data.target, labelled=12, cv=4, groups=groups)
    for split in result.study.splits:
        for one, other in ((0, 1), (0, 2), (1, 2)):
            assert not np.intersect1d(groups[split[one]], groups[split[other]]).size
        assert len(split.unlabelled) == 52


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labelled": 12, "train_size": 12}, "both draw training rows"),
        ({"labelled": 12, "cv": StratifiedKFold(2)}, "draws its own splits"),
        ({"labelled": 119}, "at least 2 must be left"),
        ({"labelled": 1}, "asks for 1 training rows"),
        ({"labelled": 2}, "rows; use labelled=4\\."),
        ({"labelled": 0.5}, "as an integer"),
        ({"labelled": 12, "unlabelled": -1}, "unlabelled=-1"),
        ({"labelled": 12, "cv": 1}, "no standard error"),
    ],
)
def test_refusals(data, options, words):
    with pytest.raises(ValueError, match=words):
        run(data, data.target, **options)


def test_no_outcome_at_all_is_refused(data):
    with pytest.raises(ValueError, match="y without a value for any"):
        run(data, np.full(120, np.nan))


def test_rows_that_differ_from_the_labelled_ones_are_told(data):
    later = np.arange(120) >= 60
    X = data.data + 3.0 * later[:, None]
    y = np.where(later, None, data.target)
    options = {"methods": FirstColumnOfAll(), "cv": 2, "n_candidates": 1}
    with pytest.warns(UserWarning, match="are not alike.* may be more recent"):
        result = compare(X, y, data.privileged, **options)
    assert result.settings["labels"]["auc"] > 0.9
    assert "may be more recent" in render_html(result)
    # A column of dates tells.
    days = pd.date_range("2021-03-01", periods=120).astype(str)
    table = pd.DataFrame(X).add_prefix("x").assign(day=days)
    with pytest.warns(UserWarning, match="100 % of the rows without y are later than"):
        result = compare(table.iloc[:, [-1, 0]], y, data.privileged, **options)
    assert "100 % of the rows without y are later than" in render_html(result)


def test_the_final_model_learns_from_rows_without_y(data, partly):
    result = run(data, partly, HedgedDistillationClassifier(n_repeats=1))
    name = "HedgedDistillationClassifier"
    model = result.best_estimator(method=name)
    # By hand: both tables standardized on all rows.
    known = ~missing_targets(partly)
    order = np.r_[np.flatnonzero(known), np.flatnonzero(~known)]
    scaler = StandardScaler().fit(data.data[order])
    X = scaler.transform(data.data)
    P = StandardScaler().fit_transform(data.privileged[order])
    seed = model.named_steps["model"].estimator.random_state
    plain = HedgedDistillationClassifier(n_repeats=1, random_state=seed)
    plain.fit(X[order], partly[order], privileged=P)
    np.testing.assert_allclose(
        model.predict_proba(data.data), plain.predict_proba(X), rtol=1e-8
    )
    assert model.classes_.tolist() == [0, 1]
    # The model without X* learns from rows with y alone.
    alone = result.study.final_rows(name, "without")
    assert len(alone.rows) == alone.n_labelled == 40


def test_regression(data):
    y = data.data[:, 0] + data.privileged[:, 0]
    y[::2] = np.nan
    model = HedgedDistillationRegressor(n_repeats=1)
    result = compare(data.data, y, data.privileged, methods=model, cv=3)
    assert result.failures == {}
    assert result.settings["task"] == "regression"
    assert result.folds["score"].notna().all()


def test_json_keeps_what_is_known_of_the_labels(data, partly, tmp_path):
    result = run(data, partly)
    again = Comparison.from_json(result.to_json(tmp_path / "a.json"))
    assert again.settings["labels"]["n_unlabelled"] == 80
    pd.testing.assert_frame_equal(again.summary, result.summary)


# LabelledSplits


def test_rows_without_y_come_first_and_are_never_tested(partly):
    X = np.zeros((120, 1))
    tested = []
    for train, test in LabelledSplits(4).split(X, partly):
        assert missing_targets(partly[np.asarray(train)[:80]]).all()
        assert not missing_targets(partly[np.asarray(train)[80:]]).any()
        assert not np.intersect1d(train, test).size
        tested.append(test)
    np.testing.assert_array_equal(
        np.sort(np.concatenate(tested)), np.flatnonzero(~missing_targets(partly))
    )
    assert LabelledSplits(4).get_n_splits(X, partly) == 4
    assert LabelledSplits(StratifiedKFold(3)).get_n_splits(X, partly) == 3


def test_folds_are_stratified_for_classes_and_not_for_numbers(partly):
    X, known = np.zeros((120, 1)), ~missing_targets(partly)
    share = np.mean(partly[known].astype(int))
    for _, test in LabelledSplits(4).split(X, partly):
        assert np.mean(partly[test].astype(int)) == pytest.approx(share, abs=0.06)
    numbers = np.where(known, np.arange(120.0), np.nan)
    first = next(LabelledSplits(4).split(X, numbers))[1]
    np.testing.assert_array_equal(first, np.flatnonzero(known)[:10])
    plain = next(LabelledSplits(4, stratify=False).split(X, partly))[1]
    np.testing.assert_array_equal(plain, first)


def test_groups_stay_on_one_side(partly):
    X, groups = np.zeros((120, 1)), np.arange(120) // 6
    for train, test in LabelledSplits(4).split(X, partly, groups):
        waiting = train[missing_targets(partly[train])]
        assert not np.intersect1d(groups[waiting], groups[test]).size


def test_it_serves_the_searches_of_scikit_learn(data, partly):
    partly = partly.astype(float)
    search = GridSearchCV(
        GeneralizedDistillationClassifier(student=Ridge()),
        {"imitation_weight": [0.0, 1.0]},
        cv=LabelledSplits(3),
    )
    search.fit(data.data, partly, privileged=data.privileged)
    assert search.score(data.data, data.target) > 0.5
    found = cross_validate(
        HedgedDistillationClassifier(),
        data.data,
        partly,
        cv=LabelledSplits(3),
        params={"privileged": data.privileged},
    )
    # The same by hand.
    train, test = next(LabelledSplits(3).split(data.data, partly))
    model = HedgedDistillationClassifier()
    model.fit(data.data[train], partly[train], privileged=data.privileged[train])
    expected = model.score(data.data[test], data.target[test])
    assert found["test_score"][0] == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["numbers", "words", "targets"])
def test_rows_without_y_are_not_scored_and_the_splits_for_them_are_named(data, kind):
    y, model = data.target.astype(float), HedgedDistillationClassifier()
    y[30:] = np.nan
    if kind == "words":
        y = np.array(["no", "yes", None], dtype=object)[
            np.nan_to_num(y, nan=2).astype(int)
        ]
    elif kind == "targets":
        y[:30], model = data.data[:30, 0], HedgedDistillationRegressor()
    given = {"params": {"privileged": data.privileged}, "error_score": "raise"}
    model.fit(data.data, y, privileged=data.privileged)
    with pytest.raises(ValueError, match=r"in 90 of 120 rows, .*LabelledSplits"):
        model.score(data.data, y)
    wrapped = TransformedPrivileged(model, StandardScaler())
    wrapped.fit(data.data, y, privileged=data.privileged)
    with pytest.raises(ValueError, match=r"score got y without .*LabelledSplits"):
        wrapped.score(data.data, y)
    mixed = KFold(3, shuffle=True, random_state=0)
    with pytest.raises(ValueError, match=r"score got y without .*LabelledSplits"):
        cross_validate(model, data.data, y, cv=mixed, **given)
    # All rows with y are in one fold, and its model has none to learn from.
    with pytest.raises(ValueError, match=r"y without a value for any .*LabelledSplits"):
        cross_validate(model, data.data, y, cv=KFold(3), **given)
    found = cross_validate(model, data.data, y, cv=LabelledSplits(3), **given)
    assert np.isfinite(found["test_score"]).all()


# The training rows are scored as well, which has no meaning without y.
@pytest.mark.filterwarnings("ignore:Scoring failed")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_a_learning_curve_counts_the_rows_without_y(data, partly):
    partly = partly.astype(float)
    arguments = [HedgedDistillationClassifier(), data.data, partly]
    options = {"cv": LabelledSplits(2), "params": {"privileged": data.privileged}}
    sizes, _, scores = learning_curve(*arguments, train_sizes=[90, 100], **options)
    assert sizes.tolist() == [90, 100]
    assert np.isfinite(scores).all()
    # The first 80 training rows have no y.
    with pytest.raises(ValueError, match="y without a value for any"):
        learning_curve(
            *arguments, train_sizes=[50, 100], error_score="raise", **options
        )


def test_labelled_splits_need_y():
    with pytest.raises(ValueError, match="was given no y"):
        next(LabelledSplits(2).split(np.zeros((4, 1))))


# X* is worth k labels


def curve(without, gain, *, noise=0.001, sizes=(15, 30, 60, 120, 240)):
    """Scores of four splits and five groups that wobble by a little noise."""
    wobble = noise * np.array([-1.0, 1.0, -1.0, 1.0])
    groups = noise * np.array([2.0, -1.0, 0.0, 1.0, -2.0])
    base = np.array([without(size) for size in sizes])[:, None] + 0 * wobble
    scores = {"without": base, "with": base + gain + wobble}
    pseudo = {arm: table[:, :, None] + groups for arm, table in scores.items()}
    design = of_scores({"A": {"without": np.zeros(2)}}).design
    designs = [
        replace(design, n_train=size, n_test=500, kind="few labels") for size in sizes
    ]
    return LearningCurve("A", "roc_auc", 30, np.array(sizes), scores, pseudo, designs)


def test_labels_are_read_off_the_curve():
    def score(size):
        return 0.5 + 0.05 * np.log2(size / 15)

    # One doubling is worth 0.05, so 0.1 is worth two: from 30 to 120 rows.
    worth = curve(score, 0.1).worth()
    assert worth.labels == pytest.approx(90, rel=1e-6)
    assert worth.low < 90 < worth.high
    assert worth.low > 80
    assert worth.high < 100
    wide = curve(score, 0.1, noise=0.02).worth()
    assert wide.low < worth.low
    assert wide.high > worth.high
    assert "equivalent to about 90 additional known outcomes" in str(worth)
    assert "120 score as much without X* as 30 with X*" in str(worth)


def test_what_the_curve_does_not_reach_is_said():
    far = curve(lambda size: 0.5 + 1e-6 * size, 0.1).worth()
    assert far.labels == far.low == far.high == np.inf
    assert str(far).startswith("X* is equivalent to more than 210 additional known")
    none = curve(lambda size: 0.5 + 0.001 * size, -0.1).worth()
    assert none.labels == none.low == none.high == 0
    assert str(none).startswith("X* is equivalent to no additional known outcome")


def test_the_interval_holds_the_sizes_that_do_not_differ(data):
    model = HedgedDistillationClassifier(cv=2, n_repeats=1)
    result = run(data, data.target, model, labelled=24, cv=3)
    (found,) = result.learning_curves().values()
    assert found.compared == 24
    worth = found.worth()
    # The model with X* has rows without y as well, fewer where more have y.
    hidden = int(result.folds.loc[result.folds["arm"] == "with", "n_unlabelled"].max())
    words = f"X* and {hidden} rows without an outcome are equivalent to"
    assert hidden > 0
    # An interval that begins at 0 makes no claim.
    start = "Whether " if worth.low <= 0 else ""
    assert str(worth).startswith(start + words)
    table = found.table.set_index(["arm", "n_train"])["n_unlabelled"]
    assert table[("with", 24)] == hidden
    assert table[("with", 48)] == hidden - 24
    assert (table["without"] == 0).all()
    assert worth.low <= worth.labels <= worth.high
    # At the compared size the interval is that of the comparison itself.
    gain = result.intervals("difference").set_index("arm").loc["with"]
    assert (worth.low > 0) == (gain["low"] > 0)
