"""The linear models on a cluster: the functions of one machine, whatever happens."""

from functools import partial

import dask.array as da
import numpy as np
import pytest

import lupi
import lupi.dask
from tests.dask.conftest import kill_one
from tests.marks import slow

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


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(processes, at_submit):
    X, y, P, _, _ = draw()
    calls = at_submit(processes, 60, partial(kill_one, processes))
    with processes.as_current():
        model, expected = fitted("LinearSVCDeltaPlus", X, y, P)
    assert len(calls) > 80
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


def test_the_scheduler_knows_how_large_the_parts_are(client, at_submit):
    """The rows on the workers, first as they were read, then with their multipliers."""
    X, y, P, _, _ = draw()
    sizes = []

    def look():
        sizes.append(max(client.nbytes(summary=False).values()))

    for number in (20, 60):
        calls = at_submit(client, number, look)
    model = lupi.dask.LinearSVCPlus(tol=0.1, client=client)
    model.fit(in_chunks(X), in_chunks(y), privileged=in_chunks(P))
    assert len(calls) > 60
    rows = 190 * 4 * 8
    assert sizes[0] > rows
    assert sizes[1] > sizes[0]


def test_what_cannot_be_fitted_is_refused_in_a_sentence(client):
    X, y, P, score, _ = draw()
    dX, dy = in_chunks(X), in_chunks(y)
    unknown = y.astype(object)
    unknown[196:] = None
    for name, how, given, match in [
        ("LinearSVCPlus", {"device": "cuda"}, {}, "takes device='cpu' alone"),
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


@pytest.mark.parametrize("chunks", [(7, 53), *slow((8500, 500))])
def test_the_middle_of_an_interval_of_biases(client, chunks):
    """All multipliers are at their bound, so that the bias is free in an interval.

    A partition of more than 8192 rows is processed in chunks.
    """
    n = sum(chunks)
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = np.random.default_rng(0).normal(size=(n, 2)) + 3.0 * sign[:, None]
    with client.as_current():
        same(*fitted("LinearSVCDeltaPlus", X, sign, None, C=0.01 / n, chunks=chunks))
