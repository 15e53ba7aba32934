"""`PrivilegedColumns`: the model equals the one trained on two tables by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lupi.compose import PrivilegedColumns, TransformedPrivileged
from tests.toys import TaughtClassifier, TaughtRegressor

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(60, 5))
DATA[::7, [1, 4]] = np.nan
TABLE = pd.DataFrame(DATA, columns=["age", "later_a", "bmi", "dose", "later_b"])
TWICE = TABLE.set_axis(["age", "dose", "bmi", "dose", "later_b"], axis=1)
X, P = DATA[:, [0, 2, 3]], DATA[:, [1, 4]]
Y = np.where(X[:, 0] + np.nan_to_num(P[:, 0]) > 0, "ill", "well")
BY_HAND = TaughtClassifier().fit(X, Y, privileged=P).decision_function(X)


def last_of_many(table):
    """The last column of a table of three or more."""
    return [-1] if table.shape[1] > 2 else []


@pytest.mark.parametrize(
    "estimator",
    [
        PrivilegedColumns(TaughtClassifier(), last_of_many),
        PrivilegedColumns(TaughtRegressor(), last_of_many),
        PrivilegedColumns(TaughtRegressor()),
    ],
    ids=lambda model: type(model.estimator).__name__,
)
def test_scikit_learn_checks(estimator):
    check_estimator(estimator)


@pytest.mark.parametrize(
    "columns",
    [
        ["later_a", "later_b"],
        ("later_b", "later_a"),
        pd.Index(["later_a", "later_b"]),
        [1, 4],
        [1, -1],
        np.array([4, 1]),
        slice(1, None, 3),
        [False, True, False, False, True],
        np.array([False, True, False, False, True]),
        make_column_selector("later_.*"),
        lambda table: [c for c in table.columns if c.startswith("later")],
        lambda table: slice(1, 5, 3),
    ],
)
def test_every_way_to_choose_columns(columns):
    model = PrivilegedColumns(TaughtClassifier(), columns).fit(TABLE, Y)
    assert model.privileged_columns_.tolist() == [1, 4]
    assert model.decision_columns_.tolist() == [0, 2, 3]
    np.testing.assert_allclose(model.decision_function(TABLE), BY_HAND)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("dose", [3]),
        (np.int64(-2), [3]),
        (slice("later_a", "dose"), [1, 2, 3]),
        (slice("dose", None), [3, 4]),
        (slice(None, "later_a"), [0, 1]),
        (slice(None, 1), [0]),
        (slice("age", "dose", 2), [0, 2]),
        ([], []),
        (np.array([]), []),
        (np.array([0, 3], dtype=object), [0, 3]),
        (None, []),
        (["dose", "dose"], [3]),
    ],
)
def test_single_columns_slices_and_none(columns, expected):
    model = PrivilegedColumns(TaughtClassifier(), columns)
    complete = TABLE.fillna(0.0)
    assert model.fit(complete, Y).privileged_columns_.tolist() == expected


@pytest.mark.parametrize(
    ("columns", "table", "sentence"),
    [
        (
            "cd4",
            TABLE,
            r"which has the columns \['age', .*: .*not.* columns? of the dataframe",
        ),
        ("age", DATA, r"5 unnamed columns: .*strings is only supported for dataframes"),
        (
            slice("age", "cd4"),
            TABLE,
            r"'cd4' is not in list|not a column of the dataframe|: 'cd4'\.",
        ),
        ("dose", TWICE, r"2 columns have the name 'dose'|'dose' 2 times|not unique"),
        (5, TABLE, r"columns=5 does not .*: all features must be in \[0, 4\]"),
        ([-6], TABLE, r"columns=\[-6\] .*: all features must be in \[0, 4\]"),
        ([True, False], TABLE, r"columns=\[True, False\] .*: the mask has 2 entries"),
        (["age", 1], TABLE, r"columns=\['age', 1\] does not choose columns of X"),
        ([np.True_, 1], TABLE, r"it mixes a mask with positions"),
        (True, TABLE, r"columns=True does not .*: it is one boolean"),
        ([True, 1], TABLE, r"it mixes a mask with positions"),
        (1.5, TABLE, r"Give names, positions, a mask, a slice, or a function"),
        (slice(None), TABLE, r"makes all of them privileged\. Leave at least one"),
    ],
)
def test_impossible_columns(columns, table, sentence):
    with pytest.raises(ValueError, match=sentence):
        PrivilegedColumns(TaughtClassifier(), columns).fit(table, Y)


@pytest.mark.parametrize(
    "shown",
    [
        TABLE,
        TABLE[["age", "bmi", "dose"]],
        TABLE[["later_b", "age", "bmi", "dose"]],
        TABLE.assign(later_a="not even a number"),
    ],
)
def test_privileged_columns_are_absent_or_ignored_when_predicting(shown):
    model = PrivilegedColumns(TaughtClassifier(), ["later_a", "later_b"])
    model.fit(TABLE, Y)
    np.testing.assert_allclose(model.decision_function(shown), BY_HAND)


@pytest.mark.parametrize("container", [np.array, sp.csr_matrix, sp.coo_array, list])
def test_arrays_are_told_apart_by_their_width(container):
    model = PrivilegedColumns(TaughtClassifier(), [1, 4]).fit(container(DATA), Y)
    np.testing.assert_allclose(model.decision_function(container(DATA)), BY_HAND)
    np.testing.assert_allclose(model.decision_function(container(X)), BY_HAND)
    with pytest.raises(ValueError, match="X has 4 features, but PrivilegedColumns is"):
        model.predict(container(DATA[:, :4]))


def test_wrong_tables_when_predicting():
    model = PrivilegedColumns(TaughtClassifier(), ["later_a", "later_b"])
    model.fit(TABLE, Y)
    with pytest.raises(ValueError, match="yet now missing:\n- bmi"):
        model.predict(TABLE.drop(columns="bmi"))
    with pytest.raises(ValueError, match="unseen at fit time:\n- height"):
        model.predict(TABLE.assign(height=1.0))
    with pytest.raises(ValueError, match="same order as they were in fit"):
        model.predict(TABLE[["bmi", "age", "dose"]])
    with pytest.raises(NotFittedError):
        clone(model).predict(TABLE)


def test_in_searches_and_pipelines_with_no_routing():
    weak = PrivilegedColumns(TaughtClassifier(), ["later_a", "later_b"])
    grid = {"model__estimator__alpha": [0.01, 1.0, 100.0]}
    pipeline = make_pipeline(
        FunctionTransformer(lambda table: table * 1.0, feature_names_out=None), weak
    )
    pipeline.steps[-1] = ("model", weak)
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            search = GridSearchCV(pipeline, grid, cv=3).fit(TABLE, Y)
            alpha = search.best_params_["model__estimator__alpha"]
            hand = TaughtClassifier(alpha).fit(X, Y, privileged=P)
            np.testing.assert_allclose(
                search.decision_function(TABLE), hand.decision_function(X)
            )


def test_folds_are_sliced():
    scores = cross_val_score(
        PrivilegedColumns(TaughtClassifier(), [1, 4]), DATA, Y, cv=3
    )
    from sklearn.model_selection import StratifiedKFold

    by_hand = [
        TaughtClassifier()
        .fit(X[train], Y[train], privileged=P[train])
        .score(X[test], Y[test])
        for train, test in StratifiedKFold(3).split(X, Y)
    ]
    np.testing.assert_allclose(scores, by_hand)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: GridSearchCV(make_pipeline(StandardScaler(), model), {}, cv=3),
        lambda model: make_pipeline(make_pipeline(StandardScaler(), model)),
        lambda model: make_pipeline(StandardScaler(), TransformedPrivileged(model)),
    ],
)
def test_the_estimator_may_be_a_pipeline_or_a_search(wrap, routing):
    scaled = StandardScaler().fit(X)
    hand = TaughtClassifier().fit(scaled.transform(X), Y, privileged=P)
    with config_context(enable_metadata_routing=routing):
        model = PrivilegedColumns(wrap(TaughtClassifier()), [1, 4]).fit(DATA, Y)
        np.testing.assert_allclose(
            model.decision_function(DATA),
            hand.decision_function(scaled.transform(X)),
        )


def test_weights_are_passed_on():
    weight = RNG.uniform(0.1, 3.0, size=60)
    model = PrivilegedColumns(TaughtClassifier(), [1, 4])
    model.fit(DATA, Y, sample_weight=weight)
    hand = TaughtClassifier().fit(X, Y, privileged=P, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(DATA), hand.decision_function(X))
    assert model.score(DATA, Y, sample_weight=weight) == pytest.approx(
        hand.score(X, Y, sample_weight=weight)
    )


def test_it_is_what_its_estimator_is():
    classifier = PrivilegedColumns(TaughtClassifier(), [1])
    regressor = PrivilegedColumns(TaughtRegressor(), [1])
    assert is_classifier(classifier)
    assert not is_regressor(classifier)
    assert is_regressor(regressor)
    assert hasattr(classifier, "decision_function")
    assert not hasattr(regressor, "decision_function")
    assert not hasattr(classifier, "predict_proba")
    assert classifier.fit(DATA[:, :3][1:7], Y[1:7]).classes_.tolist() == ["ill", "well"]


def test_without_privileged_columns_any_estimator_will_do():
    y = X[:, 0]
    model = PrivilegedColumns(Ridge(), []).fit(X, y)
    np.testing.assert_allclose(model.predict(X), Ridge().fit(X, y).predict(X))
