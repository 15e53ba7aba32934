"""The base class: one set of checks for all arguments of ``fit``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context, get_config
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

import lupi
from lupi.base import PrivilegedEstimator, Training, check_weight
from lupi.testing import check_privileged_estimator
from tests.toys import TaughtClassifier, TaughtRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
P = RNG.normal(size=(30, 2))
Y = (X[:, 0] + P[:, 0] > 0).astype(int)

TOYS = [
    TaughtClassifier(),
    TaughtClassifier(multi_class="ovr", class_weight="balanced"),
    TaughtRegressor(),
]


@pytest.mark.parametrize("estimator", TOYS, ids=repr)
def test_scikit_learn_checks(estimator):
    check_estimator(estimator)


@pytest.mark.parametrize("estimator", TOYS, ids=repr)
def test_privileged_checks(estimator):
    results = check_privileged_estimator(estimator)
    assert {result.status for result in results} == {"passed"}


def test_import_leaves_the_configuration_alone():
    assert get_config()["enable_metadata_routing"] is False


def test_training_holds_what_was_given():
    training = TaughtClassifier()._validate_fit(X, Y, P, None)
    assert training.n_rows == 30
    np.testing.assert_array_equal(training.X, X)
    np.testing.assert_array_equal(training.weight, np.ones(30))
    np.testing.assert_array_equal(training.privileged.values, P)


def test_rows_of_weight_zero_stay_until_counted():
    weight = np.ones(30)
    weight[[3, 5]] = 0.0
    holes = P.copy()
    holes[4] = np.nan
    training = TaughtClassifier()._validate_fit(X, Y, holes, weight)
    assert training.n_rows == 30
    kept = training.counted()
    rows = np.flatnonzero(weight)
    np.testing.assert_array_equal(kept.X, X[rows])
    np.testing.assert_array_equal(kept.y, Y[rows])
    np.testing.assert_array_equal(kept.privileged.dense_full(), holes[rows])
    assert kept.counted() is kept


def test_sparse_rows_can_be_taken():
    rows = np.arange(30)
    training = Training(sp.csr_matrix(X), Y, None, np.ones(30), rows)
    part = training.take(np.array([4, 4, 2]))
    np.testing.assert_array_equal(part.X.toarray(), X[[4, 4, 2]])


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (np.ones(29), r"sample_weight of shape \(29,\) for 30 rows of X"),
        (np.ones((30, 1)), r"shape \(30, 1\) for 30 rows"),
        (["much"] * 30, "could not read sample_weight as numbers"),
        (np.full(30, np.nan), "NaN or infinite sample_weight: Rows 0, 1, 2, 3, 4 and"),
        (-np.ones(30), "negative sample_weight: Rows 0, 1, 2, 3, 4 and 25 more"),
        (np.zeros(30), "zero for every row"),
        (sp.csr_matrix(np.ones(30)), "as an array, not sparse"),
    ],
)
def test_impossible_weights(weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        TaughtClassifier().fit(X, Y, privileged=P, sample_weight=weight)


def test_weights_may_be_a_scalar_or_a_series():
    assert check_weight(2, 3, "Toy").tolist() == [2.0, 2.0, 2.0]
    assert check_weight(pd.Series([1, 2]), 2, "Toy").tolist() == [1.0, 2.0]


def test_X_may_hold_nan_when_the_estimator_says_so():
    class Reader(PrivilegedEstimator):
        def fit(self, X, y, *, privileged=None):
            raise AssertionError("not called here")

    holes = X.copy()
    holes[0, 0] = np.nan
    reader = Reader()
    training = reader._validate_fit(holes, Y, allow_nan_X=True, accept_sparse=False)
    assert np.isnan(training.X[0, 0])
    reader.fitted_ = True
    assert np.isnan(reader._validate_X(holes)[0, 0])
    with pytest.raises(TypeError, match="Sparse data was passed"):
        reader._validate_X(sp.csr_matrix(X))
    with pytest.raises(ValueError, match="contains NaN"):
        reader._validate_fit(holes, Y)


def test_privileged_rows_after_fit_must_look_as_in_fit():
    frame = pd.DataFrame(P, columns=["cd4", "cd8"])
    model = TaughtClassifier().fit(X, Y, privileged=frame)
    assert model.n_privileged_features_in_ == 2
    assert model._validate_privileged(frame).complete
    assert model._validate_privileged(np.full((2, 2), np.nan)) is None
    with pytest.raises(ValueError, match="fitted with 2 privileged features, but got"):
        model._validate_privileged(P[:, :1])
    with pytest.raises(ValueError, match=r"columns \['cd4', 'cd8'\], but got \['cd8'"):
        model._validate_privileged(frame[["cd8", "cd4"]])
    with pytest.raises(ValueError, match="fitted without privileged information"):
        TaughtClassifier().fit(X, Y)._validate_privileged(P)
    with pytest.raises(NotFittedError):
        TaughtClassifier()._validate_privileged(P)


def test_fitting_costs_what_the_toy_says():
    """The regressor is, without X*, ridge regression as scikit-learn has it."""
    y = X[:, 0] + RNG.normal(size=30)
    weight = RNG.uniform(0.5, 2.0, size=30)
    ours = TaughtRegressor(alpha=0.7).fit(X, y, sample_weight=weight).predict(X)
    theirs = Ridge(alpha=0.7, tol=1e-12).fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


class Recording(TaughtClassifier):
    """Keeps what the template hands to the model and to the hooks."""

    def _begin(self, training):
        self.begun_, self.log_ = training, []
        return "settled"

    def _fit_binary(self, part):
        self.log_.append(part)
        return super()._fit_binary(part)

    def _attributes(self, fitted):
        return {"fitted_": fitted}


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_the_model_gets_matching_rows(multi_class):
    labels = np.array(["a", "b", "c"])[np.arange(30) % 3]
    holes = P.copy()
    holes[::4] = np.nan
    weight = np.linspace(0.0, 2.0, 30)
    model = Recording(multi_class=multi_class, class_weight={"c": 5.0})
    model.fit(X, labels, privileged=holes, sample_weight=weight)
    fitted = model.fitted_
    assert fitted.training is model.begun_
    assert fitted.training.n_rows == 30
    assert len(fitted.models) == len(fitted.parts) == len(model.log_) == 3
    for part, logged in zip(fitted.parts, model.log_, strict=True):
        assert part is logged
        assert part.settled == "settled"
        rows = part.rows
        assert 0 not in rows  # its weight is zero
        np.testing.assert_array_equal(part.X, X[rows])
        assert set(part.y) == {-1.0, 1.0}
        assert len(set(labels[rows][part.y > 0])) == 1
        np.testing.assert_array_equal(part.privileged.dense_full(), holes[rows])
        expected = weight[rows] * np.where(labels[rows] == "c", 5.0, 1.0)
        np.testing.assert_allclose(part.weight, expected)


def test_extras_follow_their_rows():
    extra = {"age": np.arange(30.0)}
    training = Training(X, Y, None, np.ones(30), np.arange(30), extra)
    part = training.take(np.array([7, 3, 3])).take(np.array([2, 0]))
    assert part.extra["age"].tolist() == [3.0, 7.0]
    assert part.rows.tolist() == [3, 7]


def test_a_problem_without_privileged_rows_gets_none():
    labels = np.arange(30) % 3
    holes = np.where((labels == 2)[:, None], P, np.nan)
    model = Recording().fit(X, labels, privileged=holes)
    assert [part.privileged is None for part in model.log_] == [True, False, False]


def test_a_model_without_its_method_says_so():
    from lupi.base import PrivilegedClassifierBase, PrivilegedRegressorBase

    class Classifier(PrivilegedClassifierBase):
        multi_class, class_weight = "ovo", None

    class Regressor(PrivilegedRegressorBase):
        pass

    with pytest.raises(TypeError, match="Classifier does not define _fit_binary"):
        Classifier().fit(X, Y)
    with pytest.raises(TypeError, match="Regressor does not define _fit_real"):
        Regressor().fit(X, Y)


def test_request_can_be_changed_by_the_user():
    with config_context(enable_metadata_routing=True):
        model = TaughtClassifier().set_fit_request(privileged="later")
        assert model.get_metadata_routing().fit.requests["privileged"] == "later"


def test_html_links_to_the_reference_where_its_address_is_known(monkeypatch):
    monkeypatch.delenv("LUPI_DOCS_URL", raising=False)
    assert "api/generated" not in lupi.SVCPlus()._repr_html_()
    monkeypatch.setenv("LUPI_DOCS_URL", "https://pages.test/lupi/")
    link = "https://pages.test/lupi/api/generated/lupi.svm.SVCPlus.html"
    assert link in lupi.SVCPlus()._repr_html_()
