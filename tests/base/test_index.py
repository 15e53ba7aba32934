"""Rows of X and X* that carry labels: matched by them, or refused, never guessed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from lupi import (
    GeneralizedDistillationClassifier,
    IPLClassifier,
    LinearSVCDeltaPlus,
    SVCPlus,
    TransformedPrivileged,
)
from lupi.evaluation import compare
from tests.comparisons import FirstColumn

rng = np.random.default_rng(0)
X = pd.DataFrame(
    rng.normal(size=(60, 2)), columns=["age", "bmi"], index=[f"P{i}" for i in range(60)]
)
y = (X["age"] + 0.5 * rng.normal(size=60) > 0).to_numpy().astype(int)
P = pd.DataFrame({"later": y + 0.3 * rng.normal(size=60)}, index=X.index)
OTHER = P.sample(frac=1, random_state=0)

MODELS = [
    SVCPlus(),
    LinearSVCDeltaPlus(),
    IPLClassifier(n_estimators=2),
    GeneralizedDistillationClassifier(),
    GeneralizedDistillationClassifier(LogisticRegression(), LogisticRegression()),
    TransformedPrivileged(SVCPlus(), SimpleImputer()),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fit_refuses_another_index_and_takes_what_it_names(model):
    name = type(model).__name__
    with pytest.raises(ValueError, match=rf"{name} got privileged with another") as no:
        clone(model).fit(X, y, privileged=OTHER)
    assert f"row 0 is 'P0' in X and {OTHER.index[0]!r} in privileged" in str(no.value)
    assert "privileged.loc[X.index]" in str(no.value)
    named = clone(model).fit(X, y, privileged=OTHER.loc[X.index])
    plain = clone(model).fit(X, y, privileged=P)
    np.testing.assert_array_equal(named.predict(X), plain.predict(X))


def test_rows_that_are_not_there_are_named_with_reindex():
    some = P.iloc[5:]
    with pytest.raises(ValueError, match=r"5 of the 60 labels of X .* 'P0' for one"):
        SVCPlus().fit(X, y, privileged=some)
    model = SVCPlus().fit(X, y, privileged=some.reindex(X.index))
    assert model.n_privileged_features_in_ == 1


def test_labels_that_have_nothing_in_common():
    counted = P.reset_index(drop=True)
    with pytest.raises(ValueError, match=r"privileged\.set_axis\(X\.index\)"):
        SVCPlus().fit(X, y, privileged=counted)
    SVCPlus().fit(X, y, privileged=counted.set_axis(X.index))


def test_labels_that_are_not_unique_cannot_be_matched():
    """Neither loc nor reindex gives one row for each of X."""
    twice = P.set_axis(["P1", *X.index[1:]])
    with pytest.raises(ValueError, match=r"Give both the same labels, each once") as no:
        SVCPlus().fit(X, y, privileged=twice)
    assert "loc[" not in str(no.value)
    with pytest.raises(ValueError, match=r"59 rows for 60 rows of X") as no:
        SVCPlus().fit(X, y, privileged=P.iloc[1:])
    assert "set_axis" not in str(no.value)


def test_what_has_no_index_is_matched_by_position():
    # Tables of another memory order are summed in another order.
    tight = SVCPlus(tol=1e-10)
    expected = tight.fit(X, y, privileged=P).decision_function(X)
    for table in (P.to_numpy(), pl.from_pandas(P.reset_index(drop=True))):
        values = tight.fit(X, y, privileged=table).decision_function(X)
        np.testing.assert_allclose(values, expected, atol=1e-4)
    expected = tight.fit(X, y, privileged=OTHER.to_numpy()).decision_function(X)
    model = tight.fit(X.to_numpy(), y, privileged=OTHER)
    values = model.decision_function(X.to_numpy())
    np.testing.assert_allclose(values, expected, atol=1e-4)


def test_cross_validation_slices_both_alike():
    scores = cross_val_score(SVCPlus(), X, y, params={"privileged": P}, cv=3)
    assert np.isfinite(scores).all()


def test_compare_matches_rows_by_label():
    def study(privileged):
        options = {"methods": FirstColumn(), "cv": 2, "n_candidates": 1}
        return compare(X, y, privileged, **options).study

    np.testing.assert_array_equal(study(OTHER).privileged, P)
    some = study(OTHER.drop(index=["P3", "P7"]))
    assert np.flatnonzero(~some.has_privileged).tolist() == [3, 7]
    more = pd.concat([OTHER, P.set_axis(P.index + "b")])
    np.testing.assert_array_equal(study(more).privileged, P)


def test_compare_refuses_labels_that_do_not_say_which_rows_belong_together():
    with pytest.raises(ValueError, match=r"60 of the 60 labels of X are not in"):
        compare(X, y, P.reset_index(drop=True))
    twice = pd.concat([P.iloc[1:], P.iloc[1:2]])
    with pytest.raises(ValueError, match="privileged has two rows labelled 'P1'"):
        compare(X, y, twice)


@pytest.mark.parametrize("series", [P["later"], pl.Series("later", P["later"])])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_series_gets_a_sentence_that_a_series_can_follow(model, series):
    with pytest.raises(ValueError, match=r"a Series\. Pass privileged\.to_frame\(\)"):
        clone(model).fit(X, y, privileged=series)
    clone(model).fit(X, y, privileged=series.to_frame())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_in_X_is_named_with_its_column(library):
    table = X.reset_index(drop=True).assign(sex=[None, *["female", "male"] * 29, None])
    table = table if library == "pandas" else pl.from_pandas(table)
    for model in (SVCPlus(), GeneralizedDistillationClassifier()):
        with pytest.raises(ValueError, match="the column 'sex' holds 'female'"):
            model.fit(table, y)
    fitted = SVCPlus().fit(table[["age", "bmi"]], y)
    wrong = X.assign(age="n/a")
    with pytest.raises(ValueError, match="the column 'age' holds 'n/a'"):
        fitted.predict(wrong)


def test_columns_that_hold_numbers_as_objects_are_read():
    model = SVCPlus(tol=1e-10).fit(X.astype(object), y)
    expected = SVCPlus(tol=1e-10).fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)
