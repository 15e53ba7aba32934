"""y in every container that can say missing, and what is refused."""

import datetime

import numpy as np
import pandas as pd
import pytest

from lupi import (
    GeneralizedDistillationClassifier,
    HedgedDistillationClassifier,
    LUFeClassifier,
    PrivilegedColumns,
    SVCPlus,
    SVRPlus,
    TransformedPrivileged,
)
from lupi.base import Training, missing_targets, read_target, uses_unlabelled

ABSENT = [False, True, False, True, False]
NUMBERS = {
    "floats": np.array([0.0, np.nan, 1.0, np.nan, 0.0]),
    "float32": np.array([0.0, np.nan, 1.0, np.nan, 0.0], dtype=np.float32),
    "list with None": [0.0, None, 1.0, None, 0.0],
    "list with NaN": [0.0, float("nan"), 1.0, np.nan, 0.0],
    "objects": np.array([0.0, None, 1.0, np.nan, 0.0], dtype=object),
    "NA": np.array([0.0, pd.NA, 1.0, pd.NaT, 0.0], dtype=object),
    "masked": np.ma.masked_array([0.0, 9.0, 1.0, 9.0, 0.0], ABSENT),
    "masked and NaN": np.ma.masked_array(
        [0.0, np.nan, 1.0, 9.0, 0.0], [False, False, False, True, False]
    ),
    "Series": pd.Series([0.0, None, 1.0, None, 0.0], index=[9, 8, 7, 6, 5]),
    "Float64": pd.Series([0.0, None, 1.0, None, 0.0], dtype="Float64"),
    "column": np.array([[0.0], [np.nan], [1.0], [np.nan], [0.0]])[:, 0],
}
LABELS = {
    "integers": ([0, None, 1, None, 0], int),
    "integers as objects": (np.array([0, None, 1, None, 0], dtype=object), int),
    "Int64": (pd.Series([0, None, 1, None, 0], dtype="Int64"), int),
    "Int8": (pd.Series([0, None, 1, None, 0], dtype="Int8"), int),
    "masked integers": (np.ma.masked_array([0, 5, 1, 5, 0], ABSENT), int),
    "boolean": (pd.Series([False, None, True, None, False], dtype="boolean"), bool),
    "booleans": ([False, None, True, None, False], bool),
    "words": (["a", None, "b", None, "a"], str),
    "words and NaN": (["a", np.nan, "b", float("nan"), "a"], str),
    "word objects": (np.array(["a", None, "b", np.nan, "a"], dtype=object), str),
    "string": (pd.Series(["a", None, "b", None, "a"], dtype="string"), str),
    "category": (pd.Series(["a", None, "b", None, "a"], dtype="category"), str),
    "category of integers": (
        pd.Series([3, None, 4, None, 3]).astype("category"),
        float,
    ),
    "empty text and nan": (["", None, "nan", None, ""], str),
}


@pytest.mark.parametrize("name", [*NUMBERS, *LABELS])
def test_what_is_missing(name):
    y = NUMBERS[name] if name in NUMBERS else LABELS[name][0]
    assert missing_targets(y).tolist() == ABSENT


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_float_and_nan(name):
    target = read_target(NUMBERS[name], 5, "Toy", numeric=True, missing=True)
    assert target.values.dtype == np.float64
    np.testing.assert_array_equal(target.values, NUMBERS["floats"])
    assert target.unlabelled.tolist() == ABSENT


@pytest.mark.parametrize("name", LABELS)
def test_classes_have_the_type_they_have_without_missing_values(name):
    y, kind = LABELS[name]
    target = read_target(y, 5, "Toy", numeric=False, missing=True)
    known = target.values[~target.unlabelled]
    assert all(type(value) is kind for value in np.unique(known).tolist())
    assert len(np.unique(known)) == 2
    assert len(np.unique(target.values)) == 2


def test_polars():
    polars = pytest.importorskip("polars")
    words = polars.Series(["a", None, "b", None, "a"])
    whole = polars.Series([3, None, 4, None, 3])
    for y, kind in ((words, str), (whole, int)):
        target = read_target(y, 5, "Toy", numeric=False, missing=True)
        assert target.unlabelled.tolist() == ABSENT
        known = np.unique(target.values[~target.unlabelled]).tolist()
        assert all(type(value) is kind for value in known)
    numbers = polars.Series([0.5, None, 1.0, float("nan"), 0.5])
    target = read_target(numbers, 5, "Toy", numeric=True, missing=True)
    np.testing.assert_array_equal(target.values, [0.5, np.nan, 1.0, np.nan, 0.5])


@pytest.mark.parametrize(
    "y",
    [
        [-1, 0, 1],
        ["nan", "", "None"],
        np.array([-1.0, 0.0, 1.0]),
        pd.Series(["NA", "", "<NA>"]),
        [0, 1, 2],
    ],
)
def test_codes_and_words_are_labels(y):
    assert not missing_targets(y).any()
    assert read_target(y, 3, "Toy", numeric=False).unlabelled is None


def test_dates_that_are_not_a_time_are_missing():
    day = datetime.date(2020, 1, 1)
    assert missing_targets([day, pd.NaT]).tolist() == [False, True]
    assert missing_targets(np.array(["2020", "NaT"], "M8[Y]")).tolist() == [False, True]


@pytest.mark.parametrize("y", [[1.0, np.inf, 2.0], [1.0, np.inf, None]])
def test_infinite_y_is_refused(y):
    with pytest.raises(ValueError, match="infinity"):
        read_target(y, 3, "Toy", numeric=True, missing=True)


def test_no_y_at_all_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"Toy got y without a value for any of the 3"):
        read_target([None, np.nan, None], 3, "Toy", numeric=False, missing=True)


def test_a_model_that_cannot_use_such_rows_says_how_many_and_what_can():
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(
        ValueError, match=r"missing in 2 of 6 rows \(rows 1 and 4\).*Class"
    ):
        SVCPlus().fit(X, [0, None, 1, 0, None, 1], privileged=X)
    with pytest.raises(ValueError, match=r"use an estimator .*DistillationRegressor"):
        SVRPlus().fit(X, [0.5, np.nan, 1, 0, 2, 1], privileged=X)


def test_wrong_length_and_wrong_shape_are_refused_as_ever():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        read_target([0, None], 3, "Toy", numeric=False, missing=True)
    with pytest.raises(ValueError, match="1d array"):
        read_target(np.full((3, 2), np.nan), 3, "Toy", numeric=True, missing=True)


def test_the_tag_is_found_inside_pipelines_searches_and_wrappers():
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    uses, not_so = GeneralizedDistillationClassifier(), SVCPlus()
    for wrap in (
        lambda inner: inner,
        lambda inner: make_pipeline(StandardScaler(), inner),
        lambda inner: GridSearchCV(inner, {}),
        lambda inner: PrivilegedColumns(inner, columns=[0]),
        lambda inner: TransformedPrivileged(inner, StandardScaler()),
        lambda inner: PrivilegedColumns(make_pipeline(inner), columns=[0]),
    ):
        assert uses_unlabelled(wrap(uses))
        assert not uses_unlabelled(wrap(not_so))
    assert uses_unlabelled(HedgedDistillationClassifier())
    assert not uses_unlabelled(LUFeClassifier())
    assert not uses_unlabelled(StandardScaler())


def test_learnable_rows():
    from lupi.base import Privileged

    unlabelled = np.array([False, True, True, False, True])
    known = Privileged(np.ones((3, 1)), np.array([0, 1, 4]), 5)
    weight = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    rows = np.arange(5)
    training = Training(
        np.eye(5), np.zeros(5), known, weight, rows, unlabelled=unlabelled
    )
    assert training.learnable().rows.tolist() == [0, 1, 3]
    assert training.labelled.tolist() == [0, 3]
    assert training.take(np.array([0, 3])).unlabelled is None
