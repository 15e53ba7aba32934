"""Data frames reach the user's own teacher and student as they came."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from lupi.compose import PrivilegedColumns
from lupi.testing import check_privileged_estimator
from lupi.transfer import (
    GeneralizedDistillationClassifier,
    GeneralizedDistillationRegressor,
)
from tests.marks import slow

MODELS = [GeneralizedDistillationClassifier, GeneralizedDistillationRegressor]


class Witness(RegressorMixin, BaseEstimator):
    """Predicts 0 and remembers what it was shown."""

    def fit(self, X, y, sample_weight=None):
        self.shown_ = X
        return self

    def predict(self, X):
        self.asked_ = X
        return np.zeros(len(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def encoder(numbers, words):
    """Impute and scale the numbers, encode the words, each found by its name."""
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), words),
    )


def reads_X(last):
    return make_pipeline(encoder(["age"], ["sex"]), last)


def reads_P(last):
    return make_pipeline(encoder(["cd4"], ["note"]), last)


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    n = 90
    age = rng.normal(40, 10, size=n)
    sex = rng.choice(["f", "m"], size=n)
    cd4 = age / 10 + (sex == "m") + 0.3 * rng.normal(size=n)
    note = np.where(cd4 + 0.5 * rng.normal(size=n) > 4.5, "bad", "fair")
    X = pd.DataFrame({"age": age, "sex": pd.Categorical(sex)})
    X.index = np.arange(n)[::-1] + 1000
    X.loc[X.index[::11], "age"] = np.nan
    P = pd.DataFrame({"cd4": cd4, "note": note.astype(object)})
    P.loc[::7, "cd4"] = np.nan  # known in part
    P.loc[::5] = np.nan  # not known at all
    P.index = X.index
    return X, (cd4 > 4.5).astype(int), P


@pytest.mark.parametrize("last", [Ridge(), DecisionTreeRegressor(max_depth=3)])
def test_the_regressor_is_its_two_estimators_on_the_two_tables(tables, last):
    X, y, P = tables
    y = y + 0.1 * np.arange(len(y))
    teacher, student = reads_P(last), reads_X(last)
    model = GeneralizedDistillationRegressor(teacher, student, cv=None)
    model.fit(X, y, privileged=P)
    known = P.notna().any(axis=1).to_numpy()
    opinion = clone(teacher).fit(P[known], y[known]).predict(P[known])
    target = y.copy()
    target[known] = (y[known] + opinion) / 2
    by_hand = clone(student).fit(X, target)
    np.testing.assert_allclose(model.soft_targets_, opinion)
    np.testing.assert_allclose(model.predict(X), by_hand.predict(X))
    assert model.n_features_in_ == 2
    assert list(model.feature_names_in_) == ["age", "sex"]
    assert model.n_privileged_features_in_ == 2
    assert list(model.privileged_feature_names_in_) == ["cd4", "note"]


def test_the_classifier_is_its_two_estimators_on_the_two_tables(tables):
    X, y, P = tables
    precise = LogisticRegression(tol=1e-10, max_iter=10_000)
    teacher, student = reads_P(precise), reads_X(precise)
    model = GeneralizedDistillationClassifier(
        teacher, student, cv=None, imitation_weight=1.0, clip=1e-9
    ).fit(X, y, privileged=P)
    known = P.notna().any(axis=1).to_numpy()
    soft = np.eye(2)[y]
    soft[known] = clone(teacher).fit(P[known], y[known]).predict_proba(P[known])
    # Every row once for each class that is possible, weighted by its probability.
    copy = np.flatnonzero(soft.T.ravel())
    copies = pd.concat([X, X]).iloc[copy]
    line = clone(precise).fit(
        student[0].fit_transform(copies),
        np.repeat([0, 1], len(y))[copy],
        sample_weight=soft.T.ravel()[copy],
    )
    np.testing.assert_allclose(
        model.predict_proba(X), line.predict_proba(student[0].transform(X)), atol=1e-5
    )
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("model", MODELS)
def test_the_student_is_shown_the_table_as_it_came(tables, model):
    X, y, P = tables
    model = model(student=Witness()).fit(X, y, privileged=P[["cd4"]].fillna(0.0))
    pd.testing.assert_frame_equal(model.student_.shown_, X)
    model.predict(X[:5])
    pd.testing.assert_frame_equal(model.student_.asked_, X[:5])


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_weight_zero_are_not_shown(tables, model):
    X, y, P = tables
    weight = np.arange(len(y)) % 3
    model = model(Witness(), Witness(), teacher_view="both", cv=None)
    model.fit(X, y, privileged=P, sample_weight=weight)
    pd.testing.assert_frame_equal(model.student_.shown_, X[weight > 0])
    counted = P.notna().any(axis=1).to_numpy() & (weight > 0)
    shown = model.teacher_.shown_
    for part in (X, P):
        pd.testing.assert_frame_equal(
            shown[part.columns], part[counted].reset_index(drop=True)
        )


@pytest.mark.parametrize("cv", [None, 4])
def test_rows_repeated_dropped_and_reordered(tables, cv):
    X, y, P = tables
    rng = np.random.default_rng(2)
    times = rng.integers(0, 4, size=len(y))
    trees = DecisionTreeRegressor(max_depth=2, random_state=0)
    words = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["note"]), ("passthrough", ["cd4"])
    )
    model = GeneralizedDistillationClassifier(
        make_pipeline(words, trees),
        make_pipeline(make_column_transformer(("passthrough", ["age"])), trees),
        cv=cv,
    )
    weighted = clone(model).fit(X, y, privileged=P, sample_weight=times)
    rows = rng.permutation(np.arange(len(y)).repeat(times))
    repeated = clone(model).fit(X.iloc[rows], y[rows], privileged=P.iloc[rows])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-8
    )


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_trees_that_tolerate_missing_numbers(container):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    P = X[:, :1] + 0.1
    X[rng.random(X.shape) < 0.2] = np.nan
    X = container(X)
    for trees in (
        DecisionTreeClassifier(max_depth=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
        HistGradientBoostingRegressor(max_iter=5),
        GridSearchCV(DecisionTreeRegressor(random_state=0), {"max_depth": [2]}, cv=2),
        make_pipeline(SimpleImputer(), LogisticRegression()),
    ):
        model = GeneralizedDistillationClassifier(student=trees)
        assert model.fit(X, y, privileged=P).score(X, y) > 0.6
    for cannot in (None, LogisticRegression(), Ridge()):
        with pytest.raises(ValueError, match="contains NaN"):
            GeneralizedDistillationClassifier(student=cannot).fit(X, y, privileged=P)


def test_who_may_leave_single_values_of_the_privileged_table_out(tables):
    X, y, P = tables
    P = P[["cd4"]].assign(cd8=1.0)
    P.loc[::5] = np.nan
    part = int(np.flatnonzero(P.isna().sum(axis=1) == 1)[0])
    X = X[["age"]].fillna(40.0)
    trees = HistGradientBoostingRegressor(max_iter=3)
    model = GeneralizedDistillationRegressor(trees, cv=None).fit(X, y, privileged=P)
    known = P.notna().any(axis=1).to_numpy()
    np.testing.assert_allclose(
        model.soft_targets_, clone(trees).fit(P[known], y[known]).predict(P[known])
    )
    for teacher in (None, Ridge()):
        for table in (P, P.to_numpy()):
            with pytest.raises(ValueError, match=f"part of a privileged row.* {part}"):
                GeneralizedDistillationRegressor(teacher).fit(X, y, privileged=table)
    # An array stays under the contract of arrays, whoever the teacher is.
    with pytest.raises(ValueError, match="part of a privileged row"):
        GeneralizedDistillationRegressor(trees).fit(X, y, privileged=P.to_numpy())


def test_a_table_without_a_single_value_is_no_privileged_information(tables):
    X, y, P = tables
    model = GeneralizedDistillationClassifier(
        reads_P(LogisticRegression()), reads_X(LogisticRegression())
    )
    alone = clone(model).fit(X, y).predict_proba(X)
    nothing = P.iloc[np.zeros(len(y), dtype=int)].set_axis(X.index)
    model.fit(X, y, privileged=nothing)
    np.testing.assert_array_equal(model.predict_proba(X), alone)
    assert not hasattr(model, "teacher_")
    assert model.n_privileged_features_in_ == 0


@pytest.mark.parametrize(
    ("change_X", "change_P", "names"),
    [
        (None, None, ["age", "sex", "cd4", "note"]),
        (np.asarray, None, ["x0", "x1", "cd4", "note"]),
        (None, np.asarray, ["age", "sex", "privileged0", "privileged1"]),
    ],
)
def test_both_tables_lie_side_by_side(tables, change_X, change_P, names):
    X, y, P = tables
    X = X.assign(sex=np.arange(len(y)), age=1.0)
    P = P.assign(note=2.0 * np.arange(len(y)), cd4=3.0)
    model = GeneralizedDistillationRegressor(Witness(), Witness(), teacher_view="both")
    model.set_params(cv=None).fit(
        X if change_X is None else change_X(X),
        y,
        privileged=P if change_P is None else change_P(P),
    )
    shown = model.teacher_.shown_
    assert list(shown.columns) == names
    np.testing.assert_array_equal(shown, np.hstack([X, P]))


def test_columns_without_names_are_counted_through(tables):
    y = tables[1]
    left = pd.DataFrame(np.ones((len(y), 2)))
    right = pd.DataFrame(np.zeros((len(y), 3)))
    model = GeneralizedDistillationRegressor(Witness(), teacher_view="both", cv=None)
    model.fit(left, y, privileged=right)
    assert list(model.teacher_.shown_.columns) == list(range(5))


def test_a_name_on_both_sides_is_refused(tables):
    X, y, P = tables
    model = GeneralizedDistillationClassifier(
        reads_P(LogisticRegression()), reads_X(Ridge()), teacher_view="both"
    )
    with pytest.raises(ValueError, match="both have a column 'age'"):
        model.fit(X, y, privileged=P.rename(columns={"cd4": "age"}))


def test_the_default_estimators_read_numbers(tables):
    X, y, P = tables
    with pytest.raises(ValueError, match="the column 'sex' holds 'm'"):
        GeneralizedDistillationClassifier().fit(X, y)
    with pytest.raises(ValueError, match="expected privileged to hold numbers only"):
        GeneralizedDistillationClassifier().fit(X[["age"]].fillna(0), y, privileged=P)
    both = GeneralizedDistillationClassifier(
        student=reads_X(Ridge()), teacher_view="both"
    )
    with pytest.raises(ValueError, match="default teacher needs X as numbers"):
        both.fit(X, y, privileged=P[["cd4"]].fillna(0.0))


@pytest.mark.parametrize("model", MODELS)
def test_another_table_is_refused_when_predicting(tables, model):
    X, y, _ = tables
    model = model(student=reads_X(Ridge())).fit(X, y)
    for other in (X[["sex", "age"]], X[["age"]], X.rename(columns={"age": "years"})):
        with pytest.raises(ValueError, match="feature names should match those"):
            model.predict(other)


def test_an_array_in_place_of_the_table_is_missed_its_names_once(tables):
    X, y, _ = tables
    model = GeneralizedDistillationClassifier(student=reads_X(Ridge())).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        decision = model.decision_function(X.to_numpy())
    assert len(caught) == 1
    assert "does not have valid feature names" in str(caught[0].message)
    np.testing.assert_allclose(decision, model.decision_function(X))


def test_tables_of_the_wrong_shape_are_refused(tables):
    X, y, P = tables
    model = GeneralizedDistillationClassifier(reads_P(Ridge()), reads_X(Ridge()))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X[1:], y, privileged=P[1:])
    with pytest.raises(ValueError, match="89 rows for 90 rows of X"):
        model.fit(X, y, privileged=P[1:])
    with pytest.raises(ValueError, match="0 columns"):
        model.fit(X, y, privileged=P[[]])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        model.fit(X[[]], y, privileged=P)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.fit(X[:0], y[:0])


@pytest.mark.parametrize("routing", [False, True])
def test_searches_slice_the_tables(tables, routing):
    X, y, P = tables
    model = GeneralizedDistillationClassifier(
        reads_P(LogisticRegression()), reads_X(LogisticRegression()), cv=2
    )
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(model, {"imitation_weight": [0.0, 0.5]}, cv=2)
        assert search.fit(X, y, privileged=P).best_score_ > 0.6
        scores = cross_val_score(model, X, y, params={"privileged": P}, cv=2)
        assert scores.mean() > 0.6


def test_one_table_whose_columns_are_taken_apart(tables):
    X, y, P = tables
    table = pd.concat([X, P], axis=1).reset_index(drop=True)
    model = GeneralizedDistillationClassifier(
        reads_P(LogisticRegression()), reads_X(LogisticRegression())
    )
    split = PrivilegedColumns(model, columns=["cd4", "note"]).fit(table, y)
    apart = clone(model).fit(X, y, privileged=P)
    np.testing.assert_allclose(
        split.predict_proba(X.reset_index(drop=True)), apart.predict_proba(X)
    )


@pytest.mark.parametrize(
    "estimator",
    slow(
        GeneralizedDistillationClassifier(
            student=DecisionTreeClassifier(min_weight_fraction_leaf=0.01)
        ),
        GeneralizedDistillationRegressor(Ridge(), Ridge(), teacher_view="both"),
    ),
    ids=["trees", "lines"],
)
def test_scikit_learn_contract(estimator):
    check_estimator(estimator, on_skip=None)


@pytest.mark.parametrize(
    "estimator",
    slow(
        GeneralizedDistillationClassifier(
            LogisticRegression(tol=1e-10), Ridge(tol=1e-10), teacher_view="both", cv=2
        ),
        GeneralizedDistillationRegressor(Ridge(), Ridge(), cv=2),
    ),
    ids=["classes", "numbers"],
)
def test_privileged_contract(estimator):
    check_privileged_estimator(estimator)
