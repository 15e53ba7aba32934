"""Iterative privileged learning on a cluster: the trees of one machine."""

import time
from threading import Thread

import dask.array as da
import numpy as np
import pytest

pytest.importorskip("xgboost")

import lupi
import lupi.dask
from tests.dask.conftest import kill_one

# Of very different size, one that is empty, one without X*.
CHUNKS = (5, 390, 0, 205)


def draw(n=600):
    """Rows of few distinct values: then histograms are cut the same everywhere."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, 4)), 1)
    P = X[:, :2] + rng.normal(size=(n, 2))
    score = P[:, 0] + X[:, 3] + rng.normal(size=n)
    P[rng.random(n) < 0.2] = np.nan
    P[:5] = np.nan
    return X, P, score, rng.integers(1, 3, n).astype(float)


def in_chunks(table):
    width = () if table.ndim == 1 else (table.shape[1],)
    return da.from_array(table, chunks=(CHUNKS, *width))


def fitted(client, name, X, y, P, weight, **parameters):
    """The model of one machine, and that of a cluster."""
    parameters = {"n_estimators": 15, "random_state": 0, **parameters}
    local = getattr(lupi, name)(engine="xgboost", **parameters)
    local.fit(X, y, privileged=P, sample_weight=weight)
    model = getattr(lupi.dask, name)(client=client, **parameters).fit(
        in_chunks(X),
        in_chunks(y),
        privileged=None if P is None else in_chunks(P),
        sample_weight=in_chunks(weight),
    )
    return model, local


def same(model, expected):
    """As far as the single precision of XGBoost goes."""
    np.testing.assert_allclose(
        model.privileged_coef_, expected.privileged_coef_, atol=1e-5
    )
    np.testing.assert_allclose(model.train_score_, expected.train_score_, atol=1e-6)
    assert set(vars(model.to_local())) == set(vars(expected))


def test_numbers_on_workers_of_this_process(client):
    """The client is not the default client."""
    X, P, score, weight = draw()
    how = {"n_estimators": 3}
    same(*fitted(client, "IPLRegressor", X, score, P, weight, **how))


@pytest.mark.slow
def test_classes(processes):
    X, P, score, weight = draw()
    y = np.array(["a", "b"])[(score > 0).astype(int)]
    model, expected = fitted(
        processes, "IPLClassifier", X, y, P, weight, class_weight={"b": 2.0}
    )
    same(model, expected)
    dX = in_chunks(X)
    found = model.predict_proba(dX).compute()
    np.testing.assert_allclose(found, expected.predict_proba(X), atol=1e-5)
    labels = np.array(["a", "b"])[found.argmax(axis=1)]
    assert np.array_equal(model.predict(dX).compute(), labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("IPLRegressor", {}),
        ("IPLRegressor", {"n_atoms": 5}),
        ("IPLRegressor", {"min_weight_fraction_leaf": 0.05, "max_depth": 2}),
        ("IPLRegressor", {"standardize_privileged": False}),
        ("IPLClassifier", {"loss": "log_loss"}),
    ],
)
def test_all_kinds_of_comments(processes, name, parameters):
    X, P, score, weight = draw()
    y = np.where(score > 0, 1, 0) if name == "IPLClassifier" else score
    model, expected = fitted(processes, name, X, y, P, weight, **parameters)
    same(model, expected)
    method = "predict" if name == "IPLRegressor" else "decision_function"
    ours, theirs = (getattr(one, method)(X) for one in (model.to_local(), expected))
    np.testing.assert_allclose(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.slow
def test_without_privileged_information(processes):
    X, _, score, weight = draw()
    model, expected = fitted(processes, "IPLRegressor", X, score, None, weight)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-5)


@pytest.mark.slow
def test_a_client_that_knows_of_no_workers_is_no_worker_lost(processes, monkeypatch):
    """The client renews what it knows of the scheduler, at times without workers."""
    monkeypatch.setattr(processes, "scheduler_info", lambda **_: {"workers": {}})
    X, _, score, _ = draw()
    model = lupi.dask.IPLRegressor(n_estimators=2, client=processes)
    assert model.fit(in_chunks(X), in_chunks(score)).n_estimators_ == 2


@pytest.mark.slow
def test_a_worker_that_dies_ends_the_fit_with_a_sentence(processes):
    X, P, score, _ = draw()
    given = [in_chunks(X), in_chunks(score)]

    def kill_during_boosting():
        # A worker that is lost before is replaced, and its part is done again.
        while " ".join(map(str, processes.processing().values())).count("_boosted") < 2:
            time.sleep(0.05)
        time.sleep(1.0)
        kill_one(processes)

    thread = Thread(target=kill_during_boosting)
    thread.start()
    with pytest.raises(RuntimeError, match="Start the fit again"):
        lupi.dask.IPLRegressor(n_estimators=100_000, client=processes).fit(
            *given, privileged=in_chunks(P)
        )
    thread.join()
    processes.wait_for_workers(2)
    model = lupi.dask.IPLRegressor(n_estimators=2, client=processes).fit(*given)
    assert model.n_estimators_ == 2


def test_what_cannot_be_boosted_is_refused_in_a_sentence(client):
    X, P, score, _ = draw()
    for how, match in [
        ({"engine": "cart"}, "engine='xgboost' alone"),
        ({"warm_start": True}, "warm_start=False alone"),
        ({"n_iter_no_change": 5}, "n_iter_no_change=None alone"),
        ({"n_estimators": 0}, "n_estimators"),
    ]:
        model = lupi.dask.IPLRegressor(client=client, **how)
        with pytest.raises(ValueError, match=match):
            model.fit(in_chunks(X), in_chunks(score), privileged=in_chunks(P))
