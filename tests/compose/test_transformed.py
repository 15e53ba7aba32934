"""`TransformedPrivileged`: preprocessing of X* that leaves missing rows missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lupi.compose import TransformedPrivileged
from lupi.testing import check_privileged_estimator
from tests.toys import TaughtClassifier, TaughtRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
P = RNG.normal(size=(40, 4)) * [1, 10, 100, 1000]
Y = (X[:, 0] + P[:, 0] > 0).astype(int)
GONE = np.arange(0, 40, 6)
HOLES = P.copy()
HOLES[GONE] = np.nan
HERE = np.setdiff1d(np.arange(40), GONE)


class Recording(TaughtClassifier):
    """Keeps what it is given."""

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        self.given_ = privileged
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


@pytest.mark.parametrize(
    "estimator",
    [
        TransformedPrivileged(TaughtClassifier(), StandardScaler()),
        TransformedPrivileged(TaughtRegressor()),
    ],
    ids=repr,
)
def test_scikit_learn_checks(estimator):
    check_estimator(estimator)


@pytest.mark.parametrize(
    ("transformer", "off"),
    [
        (None, set()),
        (
            StandardScaler(),
            {
                "check_refuses_text",
                "check_refuses_partly_missing_rows",
                "check_refuses_infinite_values",
                "check_sparse_privileged_equals_dense",
            },
        ),
        (
            make_pipeline(SimpleImputer(), StandardScaler()),
            {
                "check_refuses_text",
                "check_refuses_partly_missing_rows",
                "check_refuses_infinite_values",
                "check_sparse_privileged_equals_dense",
                "check_weight_two_is_a_repeated_row",
            },
        ),
    ],
)
@pytest.mark.parametrize("inner", [TaughtClassifier(), TaughtRegressor()], ids=repr)
def test_privileged_checks(transformer, off, inner):
    results = check_privileged_estimator(TransformedPrivileged(inner, transformer))
    assert {r.name for r in results if r.status == "cannot hold"} == off


def test_the_transformer_sees_the_rows_that_are_there():
    model = TransformedPrivileged(Recording(), StandardScaler())
    model.fit(X, Y, privileged=HOLES)
    scaler = StandardScaler().fit(P[HERE])
    np.testing.assert_allclose(model.transformer_.mean_, scaler.mean_)
    given = model.estimator_.given_
    assert np.isnan(given[GONE]).all()
    np.testing.assert_allclose(given[HERE], scaler.transform(P[HERE]))


def test_single_values_are_imputed_and_whole_rows_are_not():
    raw = HOLES.copy()
    raw[1, 2] = raw[2, 0] = np.nan
    model = TransformedPrivileged(Recording(), SimpleImputer())
    given = model.fit(X, Y, privileged=raw).estimator_.given_
    np.testing.assert_array_equal(np.isnan(given).all(axis=1), np.isin(range(40), GONE))
    assert given[1, 2] == pytest.approx(np.nanmean(raw[:, 2]))
    with pytest.raises(ValueError, match=r"part of a privileged row: Rows 1 and 2 of"):
        TransformedPrivileged(TaughtClassifier()).fit(X, Y, privileged=raw)
    with pytest.raises(ValueError, match=r"part of a privileged row: Rows 1 and 2 of"):
        TransformedPrivileged(TaughtClassifier(), StandardScaler()).fit(
            X, Y, privileged=raw
        )


def test_text_columns_through_an_encoder():
    raw = pd.DataFrame({"grade": ["low", None, "high", "low"] * 10, "cd4": P[:, 0]})
    raw.loc[5] = None
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=True), ["grade"]),
        remainder="passthrough",
        sparse_threshold=1.0,
    )
    model = TransformedPrivileged(Recording(), encoder).fit(X, Y, privileged=raw)
    given = model.estimator_.given_
    assert sp.issparse(given)
    given = given.toarray()
    assert np.isnan(given[5]).all()
    others = np.delete(np.arange(40), 5)
    np.testing.assert_array_equal(given[others, 0], raw["grade"][others] == "high")
    np.testing.assert_array_equal(given[others, -1], P[others, 0])
    assert model.privileged_feature_names_in_.tolist() == ["grade", "cd4"]


def test_names_survive_a_transformer_that_gives_tables():
    frame = pd.DataFrame(HOLES, columns=list("abcd"), index=np.arange(40)[::-1])
    scaler = StandardScaler().set_output(transform="pandas")
    model = TransformedPrivileged(Recording(), scaler).fit(X, Y, privileged=frame)
    assert model.estimator_.privileged_feature_names_in_.tolist() == list("abcd")
    plain = TransformedPrivileged(Recording(), StandardScaler())
    given = plain.fit(X, Y, privileged=HOLES).estimator_.given_
    np.testing.assert_allclose(model.estimator_.given_.to_numpy(), given)


def test_a_supervised_transformer_gets_y():
    model = TransformedPrivileged(TaughtClassifier(), SelectKBest(k=1))
    model.fit(X, Y, privileged=HOLES)
    assert model.transformer_.get_support().tolist() == [True, False, False, False]


def test_rows_of_weight_zero_do_not_reach_the_transformer():
    weight = np.ones(40)
    weight[:10] = 0.0
    model = TransformedPrivileged(TaughtClassifier(), SimpleImputer())
    model.fit(X, Y, privileged=HOLES, sample_weight=weight)
    np.testing.assert_allclose(
        model.transformer_.statistics_, np.nanmean(HOLES[10:], axis=0)
    )


def test_weights_reach_a_transformer_that_takes_them():
    weight = RNG.uniform(0.5, 2.0, size=40)
    model = TransformedPrivileged(TaughtClassifier(), StandardScaler())
    model.fit(X, Y, privileged=P, sample_weight=weight)
    np.testing.assert_allclose(
        model.transformer_.mean_, np.average(P, axis=0, weights=weight)
    )


@pytest.mark.parametrize("nothing", [None, np.full((40, 4), np.nan)])
def test_no_privileged_rows_at_all(nothing):
    model = TransformedPrivileged(TaughtClassifier(), StandardScaler())
    model.fit(X, Y, privileged=nothing)
    plain = TaughtClassifier().fit(X, Y)
    assert model.transformer_ is None
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X))


def test_only_rows_of_weight_zero_have_privileged_information():
    weight = np.ones(40)
    weight[HERE[5:]] = 0.0
    raw = P.copy()
    raw[weight > 0] = np.nan
    model = TransformedPrivileged(TaughtClassifier(), StandardScaler())
    model.fit(X, Y, privileged=raw, sample_weight=weight)
    plain = TaughtClassifier().fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X))


def test_wrong_length():
    with pytest.raises(ValueError, match="privileged with 39 rows for 40 rows of X"):
        TransformedPrivileged(TaughtClassifier(), StandardScaler()).fit(
            X, Y, privileged=P[:-1]
        )


def test_the_transformer_is_refitted_in_every_fold():
    search = GridSearchCV(
        TransformedPrivileged(TaughtClassifier(), SelectKBest()),
        {"transformer__k": [1, 2], "estimator__alpha": [0.1, 1.0]},
        cv=3,
        error_score="raise",
    )
    search.fit(X, Y, privileged=HOLES)
    assert search.best_estimator_.transformer_.n_features_in_ == 4


class Correcting(TaughtClassifier):
    def correction(self, privileged):
        read = self._validate_privileged(privileged)
        return np.nan_to_num(read.dense_full()).sum(axis=1) if read else None


def test_correction_is_that_of_the_transformed_rows():
    model = TransformedPrivileged(Correcting(), StandardScaler())
    model.fit(X, Y, privileged=HOLES)
    expected = np.zeros(40)
    expected[HERE] = StandardScaler().fit_transform(P[HERE]).sum(axis=1)
    np.testing.assert_allclose(model.correction(HOLES), expected)
    assert model.correction(HOLES[GONE]) is None
    assert not hasattr(TransformedPrivileged(TaughtClassifier()), "correction")
