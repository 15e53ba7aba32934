"""Hedged distillation on a cluster: the model of one machine, whatever happens."""

import pickle
from functools import partial
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

import lupi
import lupi.dask
from lupi.dask import HedgedDistillationClassifier, HedgedDistillationRegressor
from tests.dask.conftest import close_one, kill_one, start_cluster

N = 600
# Of very different size, and one that is empty.
CHUNKS = (5, 390, 0, 205)


def draw(n=N, seed=0):
    """Rows without X*, rows without y, missing cells; y of the first chunk is 'a'."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 100, 0, 5]
    P = X[:, :2] * [1, 0.1] + rng.normal(size=(n, 2))
    score = P[:, 0] + X[:, 3] + rng.normal(size=n)
    y = np.array(["a", "b", "c"], dtype=object)[np.digitize(score, [4.5, 6.0])]
    y[:3] = "a"
    y[3:5] = None
    y[rng.random(n) < 0.4] = None
    X[rng.random(X.shape) < 0.05] = np.nan
    P[rng.random(P.shape) < 0.05] = np.nan
    P[rng.random(n) < 0.2] = np.nan
    P[:5] = np.nan
    return X, y, P, score, rng.integers(0, 3, n).astype(float)


def in_chunks(table, chunks=CHUNKS):
    if table.ndim == 1:
        return da.from_array(table, chunks=(chunks,))
    return da.from_array(table, chunks=(chunks, table.shape[1]))


def in_frame(table, names, chunks=CHUNKS):
    frame = pd.DataFrame(table, columns=names) if table.ndim == 2 else pd.Series(table)
    ends = np.cumsum((0, *chunks))
    pieces = [frame.iloc[a:b] for a, b in pairwise(ends)]
    parts = [dask.delayed(piece) for piece in pieces]
    return dd.from_delayed(parts, meta=frame.iloc[:0])


def same(found, expected):
    """The coefficients to 1e-6, as to the scale of each, and what belongs to them."""
    for name in ("coef_", "intercept_", "missing_coef_"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert found.weights_ == pytest.approx(expected.weights_, abs=1e-6)
    for key, score in expected.candidate_scores_.items():
        assert found.candidate_scores_[key] == pytest.approx(score, abs=1e-6)


def test_classes_of_arrays(client, tmp_path):
    X, y, P, _, weight = draw()
    expected = lupi.HedgedDistillationClassifier().fit(
        X, y, privileged=P, sample_weight=weight
    )
    model = HedgedDistillationClassifier(client=client)
    dX = in_chunks(X).rechunk({1: 3})  # columns apart, too
    given = {"privileged": in_chunks(P), "sample_weight": in_chunks(weight)}
    assert model.fit(dX, in_chunks(y), **given) is model
    same(model, expected)
    assert "coef_" in dir(model)
    assert model.classes_.tolist() == ["a", "b", "c"]
    for name in ("predict_proba", "decision_function"):
        lazy = getattr(model, name)(dX)
        assert isinstance(lazy, da.Array)
        wanted = getattr(expected, name)(X)
        assert lazy.shape == wanted.shape
        np.testing.assert_allclose(lazy.compute(), wanted, atol=1e-6)
    labels = model.predict(dX)
    assert isinstance(labels, da.Array)
    assert labels.chunks == dX.chunks[:1]
    known = ~pd.isna(y)
    few = [in_chunks(table[known], (int(known.sum()),)) for table in (X, y)]
    assert model.score(*few) == expected.score(X[known], y[known])
    assert np.array_equal(labels.compute(), expected.predict(X))
    assert np.array_equal(model.predict(X), expected.predict(X))

    local = model.to_local()
    assert type(local) is lupi.HedgedDistillationClassifier
    assert set(vars(local)) == set(vars(expected))
    lupi.save(model, tmp_path / "model.lupi")
    loaded = lupi.load(tmp_path / "model.lupi")
    assert type(loaded) is lupi.HedgedDistillationClassifier
    assert np.array_equal(loaded.predict_proba(X), local.predict_proba(X))
    copy = pickle.loads(pickle.dumps(model))
    assert copy.client is None
    assert np.array_equal(copy.coef_, model.coef_)
    assert clone(model).client is client


def test_numbers_of_data_frames(client):
    X, y, P, score, _ = draw()
    target = np.where(pd.isna(y), np.nan, score)
    names, wards = list("efgh"), np.array([f"ward {i % 40}" for i in range(N)])
    frame = pd.DataFrame(X, columns=names)
    expected = lupi.HedgedDistillationRegressor(random_state=3).fit(
        frame, target, privileged=pd.DataFrame(P, columns=["u", "v"]), groups=wards
    )
    dX = in_frame(X, names)
    model = HedgedDistillationRegressor(random_state=3, client=client).fit(
        dX,
        in_frame(target, None),
        privileged=in_frame(P, ["u", "v"]),
        groups=in_frame(wards, None),
    )
    same(model, expected)
    assert model.feature_names_in_.tolist() == names
    assert model.privileged_feature_names_in_.tolist() == ["u", "v"]
    lazy = model.predict(dX)
    assert isinstance(lazy, dd.Series)
    np.testing.assert_allclose(lazy.compute(), expected.predict(frame), atol=1e-6)


def test_a_bad_row_offsets_and_weights_of_any_scale(client):
    X, y, P, score, weight = draw()
    target = np.where(pd.isna(y), np.nan, score + 1e6)
    kind = lupi.HedgedDistillationRegressor
    clean = kind().fit(X, target, privileged=P, sample_weight=weight)
    bad = np.flatnonzero(pd.isna(y) & ~np.isnan(P).any(axis=1) & (weight > 0))[-1]
    X[bad], P[bad] = 1e6, -1e12
    expected = kind().fit(X, target, privileged=P, sample_weight=weight)
    model = HedgedDistillationRegressor(client=client).fit(
        in_chunks(X),
        in_chunks(target),
        privileged=in_chunks(P),
        sample_weight=in_chunks(1e-3 * weight),
    )
    same(model, expected)
    for name in ("coef_", "intercept_", "missing_coef_"):
        ours, theirs = (getattr(m.students_["labels"], name) for m in (model, clean))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    rest = np.delete(X, bad, axis=0)
    apart = model.predict(rest) - clean.predict(rest)
    assert np.std(apart) < 0.05 * np.std(clean.predict(rest))


@pytest.mark.parametrize("frames", [False, True])
def test_a_source_is_read_once(client, tmp_path, frames):
    """X, y and X* are parts of one table, whose rows differ when it is read again."""
    log = tmp_path / "log"

    def read(number):
        with log.open("a") as file:
            print(number, file=file)
        table = np.random.default_rng().normal(size=(50, 4))
        table[:, 3] = table[:, :3].sum(axis=1)
        return pd.DataFrame(table, columns=list("abcd")) if frames else table

    parts = [dask.delayed(read)(number) for number in range(3)]
    if frames:
        meta = pd.DataFrame(np.empty((0, 4)), columns=list("abcd"))
        table = dd.from_delayed(parts, meta=meta)
        X, y, P = table[["a", "b", "c"]], table["d"], table[["c"]] * 2
    else:
        arrays = [da.from_delayed(part, (50, 4), float) for part in parts]
        table = da.concatenate(arrays)
        X, y, P = table[:, :3], table[:, 3], table[:, 2:3] * 2
    model = HedgedDistillationRegressor(client=client).fit(X, y, privileged=P)
    assert sorted(log.read_text().split()) == ["0", "1", "2"]
    np.testing.assert_allclose(model.coef_, 1.0, atol=0.05)


@pytest.mark.slow
def test_unknown_chunk_sizes(client):
    X, _, P, score, _ = draw()
    unknown = [in_frame(t, None if t.ndim == 1 else range(t.shape[1])) for t in (X, P)]
    dX, dP = (frame.to_dask_array() for frame in unknown)
    assert np.isnan(dX.shape[0])
    y = in_frame(score, None).to_dask_array()
    model = HedgedDistillationRegressor(client=client).fit(dX, y, privileged=dP)
    expected = lupi.HedgedDistillationRegressor().fit(X, score, privileged=P)
    same(model, expected)
    np.testing.assert_allclose(
        model.predict(dX).compute(), expected.predict(X), atol=1e-6
    )
    shorter = in_frame(score[1:], None, (5, 389, 0, 205)).to_dask_array()
    with pytest.raises(ValueError, match="Partition 1 has 390 rows of X and 389 of y"):
        HedgedDistillationRegressor(client=client).fit(dX, shorter)


def test_the_rows_of_a_lost_worker_are_computed_again(at_submit):
    X, y, P, _, _ = draw()
    parameters = {"n_repeats": 1, "views": "both"}
    expected = lupi.HedgedDistillationClassifier(**parameters)
    expected.fit(X, y, privileged=P)
    with (
        start_cluster(2, processes=False) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        calls = at_submit(client, 60, partial(close_one, cluster, client))
        model = HedgedDistillationClassifier(**parameters, client=client).fit(
            in_chunks(X), in_chunks(y), privileged=in_chunks(P)
        )
        assert len(client.nthreads()) == 1
    assert len(calls) > 60
    same(model, expected)


@pytest.mark.slow
@pytest.mark.parametrize("at", [20, 50, 80])
def test_a_worker_that_dies_changes_nothing(processes, at_submit, at):
    X, y, P, _, _ = draw()
    expected = lupi.HedgedDistillationClassifier().fit(X, y, privileged=P)
    calls = at_submit(processes, at, partial(kill_one, processes))
    model = HedgedDistillationClassifier(client=processes).fit(
        in_chunks(X), in_chunks(y), privileged=in_chunks(P)
    )
    assert len(calls) > at
    same(model, expected)


@pytest.mark.slow
def test_a_worker_that_is_added_helps(at_submit):
    X, y, P, _, _ = draw()
    expected = lupi.HedgedDistillationClassifier().fit(X, y, privileged=P)
    with start_cluster(1) as cluster, distributed.Client(cluster) as client:

        def join():
            cluster.scale(2)
            client.wait_for_workers(2)

        at_submit(client, 25, join)
        model = HedgedDistillationClassifier().fit(
            in_chunks(X), in_chunks(y), privileged=in_chunks(P)
        )
    same(model, expected)


def test_what_cannot_be_fitted_is_refused_in_a_sentence(client):
    X, y, P, score, weight = draw()
    dX, dy, dP = in_chunks(X), in_chunks(y), in_chunks(P)
    kind = HedgedDistillationClassifier
    text = in_frame(np.where(X > 0, "high", "low"), list("efgh"))
    for make, arguments, match in [
        (kind, {"X": X}, "X as ndarray.*Use lupi.HedgedDistillationClassifier"),
        (kind, {"y": da.from_array(y, chunks=300)}, "4 partitions and y in 2"),
        (
            kind,
            {"y": in_chunks(y, (5, 300, 0, 295))},
            r"Partition 1 has 390 rows of X and 300 of y.*y.rechunk",
        ),
        (kind, {"y": None}, "needs y"),
        (kind, {"y": in_chunks(np.full(N, None))}, "no outcome to learn"),
        (kind, {"y": in_chunks(np.full(N, "a"))}, "at least two classes"),
        (kind, {"sample_weight": in_chunks(0 * weight)}, "no row of positive weight"),
        (kind, {"sample_weight": in_chunks(weight - 1)}, "Partition .: .*negative"),
        (kind, {"X": text}, "Partition .: .*hold numbers only"),
        (
            partial(kind, student=Ridge()),
            {},
            "default students from sums over rows.*student=None alone",
        ),
        (partial(kind, cv=[]), {}, "takes a number of folds"),
        (partial(kind, class_weight="balanced"), {}, "class weights in sample_weight"),
    ]:
        given = {"X": dX, "y": dy, "privileged": dP, **arguments}
        with pytest.raises((TypeError, ValueError), match=match):
            make(client=client).fit(**given)
    regressor = HedgedDistillationRegressor(client=client)
    with pytest.raises(ValueError, match="no outcome to learn"):
        regressor.fit(dX, in_chunks(np.full(N, np.nan)), privileged=dP)
    assert not hasattr(regressor, "coef_")
    assert score.shape == (N,)


def test_before_fit_there_are_no_fitted_attributes():
    model = HedgedDistillationClassifier()
    assert is_classifier(model)
    assert not hasattr(model, "coef_")
    assert "coef_" not in dir(model)
    with pytest.raises(NotFittedError):
        model.predict([[1.0]])


@pytest.mark.parametrize("name", sorted({*lupi.dask.__all__} - {"JoblibBackend"}))
def test_the_parameters_are_those_of_the_ordinary_estimator(name):
    ours = getattr(lupi.dask, name)().get_params()
    theirs = getattr(lupi, name)().get_params()
    assert list(ours) == sorted([*theirs, "client"])
    different = {key for key, value in theirs.items() if ours[key] != value}
    assert different <= {"engine"}  # of IPL, for which there is one on a cluster


def test_without_a_client_there_is_a_sentence(monkeypatch):
    def none(*arguments):
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr(distributed, "get_client", none)
    X, y, _, _, _ = draw(20)
    with pytest.raises(ValueError, match=r"found no Dask client. Start one"):
        HedgedDistillationClassifier().fit(in_chunks(X, (20,)), in_chunks(y, (20,)))
