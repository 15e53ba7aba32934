"""The linear models on a cluster: the functions of one machine, whatever happens."""

from functools import partial

import dask.array as da
import numpy as np
import pytest
from dask.sizeof import sizeof

import lupi
import lupi.dask
from lupi._convex import Features, Function, Problem, Rows, Slack
from lupi._convex.biases import determined, middle_of
from lupi._convex.interior.blocks.local import LocalRows
from lupi._convex.interior.blocks.outer import solve_blocks
from lupi.dask import _biases
from lupi.dask._rows import prepared
from lupi.kernels import Kernel
from lupi.svm._machine import Kernels
from tests.dask.conftest import kill_one

# Of very different size, one that is empty; the first has no X* and one class alone.
CHUNKS = (5, 190, 0, 105)


def draw(n=300, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    X = hidden + rng.normal(size=(n, 3))
    score = hidden.sum(axis=1)
    sign = np.where(score > 0, 1, -1)
    violation = np.maximum(1 - sign * X.sum(axis=1), 0)
    P = np.column_stack([violation, sign * violation]) + 0.1 * rng.normal(size=(n, 2))
    labels = np.where(score > 0, "yes", "no")
    labels[:5] = "no"
    P[rng.random(n) < 0.2] = np.nan
    P[:5] = np.nan
    return X, labels, P, score, rng.integers(0, 3, n).astype(float)


def in_chunks(table, chunks=CHUNKS):
    width = () if table.ndim == 1 else (table.shape[1],)
    return da.from_array(table, chunks=(chunks, *width))


TOL = 1e-10


def same(found, expected):
    """Within what the duality gaps leave open: ½‖w − w₀‖² is at most the gap."""
    assert found.converged_.all()
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=2 * TOL)
    reach = np.sqrt(2 * found.duality_gap_) + np.sqrt(2 * expected.duality_gap_)
    apart = np.linalg.norm(found.coef_ - expected.coef_, axis=-1)
    assert (apart <= reach + 1e-9).all()
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-3)


def fitted(name, X, y, P, weight=None, chunks=CHUNKS, **parameters):
    """The model of one machine, and that of a cluster."""
    parameters = {"tol": TOL} | parameters
    given = {"privileged": P, "sample_weight": weight}
    given = {key: table for key, table in given.items() if table is not None}
    expected = getattr(lupi, name)(**parameters).fit(X, y, **given)
    given = {key: in_chunks(table, chunks) for key, table in given.items()}
    model = getattr(lupi.dask, name)(**parameters)
    model.fit(in_chunks(X, chunks), in_chunks(y, chunks), **given)
    return model, expected


@pytest.mark.slow
def test_svm_plus_with_weights(client):
    X, y, P, _, weight = draw()
    with client.as_current():
        model, expected = fitted(
            "LinearSVCPlus", X, y, P, weight, class_weight="balanced"
        )
        same(model, expected)
        dX = in_chunks(X)
        labels = model.predict(dX)
        assert isinstance(labels, da.Array)
        values = model.decision_function(dX).compute()
        assert np.array_equal(labels.compute(), np.where(values > 0, "yes", "no"))
    np.testing.assert_allclose(values, expected.decision_function(X), atol=1e-3)
    local = model.to_local()
    assert type(local) is lupi.LinearSVCPlus
    assert set(vars(local)) == set(vars(expected))
    np.testing.assert_allclose(local.correction(P), expected.correction(P), atol=1e-3)


@pytest.mark.slow
def test_svr_plus(client):
    """Here all biases of an interval are optimal; its middle is taken."""
    X, _, P, score, _ = draw()
    with client.as_current():
        same(*fitted("LinearSVRPlus", X, score, P, epsilon=0.3))


def test_a_worker_that_dies_changes_nothing(client, at_sum):
    X, y, P, _, _ = draw()
    calls = at_sum(12, partial(kill_one, client))
    with client.as_current():
        model, expected = fitted("LinearSVCDeltaPlus", X, y, P)
    assert len(calls) > 15
    same(model, expected)


@pytest.mark.slow
@pytest.mark.parametrize("slack", ["signed", "hinge"])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_three_classes(client, slack, multi_class):
    X, _, P, score, _ = draw()
    y = np.digitize(score, [-1, 1])
    y[:5] = 0
    with client.as_current():
        model, expected = fitted(
            "LinearSVCDeltaPlus",
            X,
            y,
            P,
            slack=slack,
            multi_class=multi_class,
        )
    same(model, expected)
    assert np.mean(model.to_local().predict(X) == expected.predict(X)) > 0.99


@pytest.mark.slow
def test_without_privileged_information(client):
    X, y, _, _, _ = draw()
    with client.as_current():
        same(*fitted("LinearSVCDeltaPlus", X, y, None))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LinearSVCPlus", "LinearSVCDeltaPlus"])
def test_many_rows_start_from_the_same_sample(client, name):
    X, y, P, _, _ = draw(30_000)
    with client.as_current():
        model, expected = fitted(name, X, y, P, chunks=(7_000, 20_000, 3_000))
    same(model, expected)


@pytest.mark.slow
def test_trivial_solutions_are_told_of(client):
    X, y, P, _, _ = draw()
    noise = np.random.default_rng(1).normal(size=P.shape)
    with client.as_current(), pytest.warns(UserWarning, match="trivial solution"):
        model = lupi.dask.LinearSVCPlus(C=1e-3).fit(
            in_chunks(X), in_chunks(y), privileged=in_chunks(noise)
        )
    assert not model.coef_.any()


def test_the_scheduler_knows_how_large_the_parts_are():
    X, y, P, _, _ = draw()
    machine = lupi.LinearSVCPlus()
    training = machine._validate_fit(X, np.where(y == "no", -1.0, 1.0), P)
    linear = Kernel("linear")
    training = prepared(training, Kernels(linear, [linear]), 2)
    size = X.nbytes + np.isfinite(P).sum() * 8
    assert size < sizeof(training) < size + 10_000
    rows = LocalRows(machine._problem(machine._data(training)))
    assert sizeof((rows, None)) > size


def test_what_cannot_be_fitted_is_refused_in_a_sentence(client):
    X, y, P, score, _ = draw()
    dX, dy = in_chunks(X), in_chunks(y)
    unknown = y.astype(object)
    unknown[196:] = None
    for name, how, given, match in [
        ("LinearSVCPlus", {"device": "cuda"}, {}, 'Leave device="cpu"'),
        (
            "LinearSVCPlus",
            {},
            {"y": in_chunks(unknown)},
            "Partition .: .*learns from rows with y alone",
        ),
        ("LinearSVCPlus", {}, {"y": in_chunks(np.full(300, "a"))}, "two classes"),
        ("LinearSVRPlus", {}, {"X": X, "y": score}, "X as ndarray"),
    ]:
        given = {"X": dX, "y": dy, "privileged": in_chunks(P), **given}
        with pytest.raises((TypeError, ValueError), match=match):
            getattr(lupi.dask, name)(client=client, **how).fit(**given)


def test_the_middle_bias_does_not_depend_on_the_chunks(monkeypatch):
    """All multipliers are at their bound, so that the bias is free in an interval."""
    n = 60
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = np.random.default_rng(0).normal(size=(n, 2)) + 3.0 * sign[:, None]
    function = Function(Features(X), 1.0, np.ones(n))
    slack = Slack(linear=np.full(n, 1e-4))
    rows = LocalRows(Problem(n, [function], [Rows({0: sign}, np.ones(n), slack=slack)]))
    solved = solve_blocks(rows, rows.layout, tol=1e-9, max_iter=100)
    state, found = (rows, None), []
    for chunk in (n, 7):
        monkeypatch.setattr(_biases, "_CHUNK", chunk)
        scale, products = _biases._strict(state, _biases._largest_multiplier(state))
        assert not determined(scale, products)
        size = _biases._size(state)
        pieces = partial(_biases._pieces, state, solved.weights)
        found.append([*size, *middle_of(solved.biases, size, pieces)])
        assert len(pieces(solved.biases, size)) == -(-n // chunk)
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)
