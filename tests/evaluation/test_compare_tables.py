"""`compare` on the tables and targets people have."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import make_scorer, mean_absolute_error

from lupi.datasets import make_mediator
from lupi.evaluation import Method, compare
from tests.evaluation.test_compare import TAUGHT, quick, scores
from tests.toys import TaughtRegressor


@pytest.fixture(scope="module")
def data():
    return make_mediator(120, random_state=0)


def test_regression(data):
    data = make_mediator(120, task="regression", random_state=0)
    method = Method(
        "Taught",
        "regression",
        estimator=TaughtRegressor(),
        space={"alpha": [0.1, 1.0, 10.0]},
    )
    result = quick(data, methods=[method], scoring=None)
    assert result.settings["task"] == "regression"
    assert result.settings["scoring"] == "r2"
    assert result.settings["classes"] is None
    assert (scores(result, "oracle") > scores(result, "without")).all()
    loss = quick(data, methods=[method], scoring="neg_mean_absolute_error")
    assert loss.settings["optimum"] == 0.0
    own = quick(
        data,
        methods=[method],
        scoring=make_scorer(mean_absolute_error, greater_is_better=False),
    )
    assert own.settings["scoring"] == "mean_absolute_error"
    np.testing.assert_allclose(scores(own, "with"), scores(loss, "with"))


def test_more_than_two_classes_and_words_for_labels(data):
    rank = np.digitize(data.data[:, 0], [-0.5, 0.5])
    labels = np.array(["low", "middle", "high"])[rank]
    result = compare(
        data.data, labels, data.privileged, methods=TAUGHT, cv=2, n_candidates=1
    )
    assert result.settings["scoring"] == "roc_auc_ovr"
    assert result.settings["classes"] == ["high", "low", "middle"]
    assert scores(result, "without").mean() > 0.6


def test_sparse_tables(data):
    X, P = sp.csr_matrix(data.data), sp.csr_matrix(data.privileged)
    result = compare(
        X, data.target, P, methods=TAUGHT, cv=2, n_candidates=2, inner_cv=2
    )
    assert not result.failures
    dense = quick(data, n_candidates=2)
    assert np.abs(scores(result, "with") - scores(dense, "with")).max() < 0.2


def test_tables_as_people_have_them(data):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(data.data[:, :3], columns=["a", "b", "c"])
    X["town"] = rng.choice(["Ulm", "Bern", None], size=120)
    X.loc[::7, "a"] = np.nan
    P = pd.DataFrame(data.privileged, columns=["later", "much later"])
    P["note"] = np.where(data.target == 1, "went well", "went badly")
    P.loc[::5] = None
    P.loc[1::9, "later"] = np.nan
    y = pd.Series(data.target, name="outcome")
    result = compare(
        X, y, P, methods=TAUGHT, train_size=80, cv=2, n_candidates=2, inner_cv=2
    )
    assert result.failures == {}
    assert result.settings["target"] == "outcome"
    assert result.settings["n_privileged_rows"] == 96
    assert result.settings["features"] == ["a", "b", "c", "town"]
    assert scores(result, "oracle").mean() > scores(result, "without").mean()
    model = result.best_estimator(method="Taught")
    assert set(model.predict(X.head(10))) <= {0, 1}


def test_numbers_with_many_values_are_regression():
    data = make_mediator(60, task="regression", random_state=0)
    whole = np.arange(60)
    for y, task in ((data.target, "regression"), (whole, "regression")):
        method = Method("T", "regression", estimator=TaughtRegressor())
        result = compare(
            data.data, y, data.privileged, methods=method, cv=2, n_candidates=1
        )
        assert result.settings["task"] == task
