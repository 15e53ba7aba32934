"""Comparisons and searches through joblib's Dask backend: data sent once, results."""

import os
import time

import cloudpickle
import joblib
import numpy as np
import pytest
from distributed import Client
from distributed.comm.tcp import TCP
from sklearn.model_selection import GridSearchCV

import lupi
from lupi.dask import JoblibBackend
from lupi.evaluation import compare
from tests.dask.conftest import start_cluster
from tests.marks import KILL


def draw(n):
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(2, n, 20))
    return X, P, (X[:, 0] + P[:, 0] > 0).astype(int)


@pytest.fixture
def sent(processes, monkeypatch):
    """Bytes of every task that is sent to the cluster."""
    found, real = [], processes.submit

    def submit(*arguments, **how):
        found.append(len(cloudpickle.dumps((arguments, how))))
        return real(*arguments, **how)

    monkeypatch.setattr(processes, "submit", submit)
    return found


@pytest.mark.slow
def test_a_comparison_sends_the_data_once(processes, sent):
    X, P, y = draw(1000)
    with processes.as_current(), joblib.parallel_config(backend="dask"):
        compare(X, y, P, methods=["HedgedDistillationClassifier"], cv=2, n_candidates=1)
    work, *pieces = sent
    assert work < X.nbytes + P.nbytes + 100_000  # splits, and what a study is
    assert 0 < len(pieces) <= 8  # joblib sends several at once if they are short
    assert sum(pieces) < 8 * 5_000


def test_a_comparison_on_one_worker_runs_here():
    X, P, y = draw(60)
    model = lupi.HedgedDistillationClassifier(cv=2, n_repeats=1)
    method = {"methods": [model], "cv": 2, "n_candidates": 1}
    expected = compare(X, y, P, **method)
    with (
        start_cluster(1, processes=False) as cluster,
        Client(cluster, set_as_default=False) as one,
        one.as_current(),
        joblib.parallel_config(backend="dask"),
    ):
        found = compare(X, y, P, **method)
    assert str(found.verdict) == str(expected.verdict)


def test_fits_from_sums_are_not_sent_to_a_cluster(client, at_submit):
    X, P, y = draw(100)
    calls = at_submit(client, -1, None)
    with client.as_current(), joblib.parallel_config(backend="dask"):
        lupi.HedgedDistillationClassifier(n_repeats=1).fit(X, y, privileged=P)
    assert calls == []


class SlowSVC(lupi.LinearSVCDeltaPlus):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        time.sleep(0.3)
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


def searched(X, y, P):
    search = GridSearchCV(SlowSVC(tol=1e-3), {"C": [0.1, 1.0]}, cv=3, refit=False)
    return search.fit(X, y, privileged=P).cv_results_["mean_test_score"]


def same(found, expected):
    """Shares of rows; of another process, a few may lie on the other side of zero."""
    np.testing.assert_allclose(found, expected, atol=0.01)


def count_sent():
    """Count the bytes that this process writes to its connections."""
    if not hasattr(TCP, "sent"):
        real = TCP.write

        async def write(self, *arguments, **how):
            n_bytes = await real(self, *arguments, **how)
            TCP.sent += n_bytes
            return n_bytes

        TCP.write = write
    TCP.sent = 0


def n_sent():
    return TCP.sent


@pytest.mark.slow
def test_a_search_sends_the_data_once(processes, sent):
    """X, y and X* go to the scheduler, to one worker, and from there to the other.

    That is three times; with every task, joblib's backend sends eight times as much.
    """
    X, P, y = draw(4000)
    expected = searched(X, y, P)
    count_sent()
    processes.run(count_sent)
    with joblib.parallel_config(backend=JoblibBackend(processes)):
        found = searched(X, y, P)
    same(found, expected)
    n_bytes = n_sent() + sum(processes.run(n_sent).values())
    assert n_bytes < 4 * (X.nbytes + P.nbytes + y.nbytes)
    large = [size for size in sent if size >= X.nbytes]
    assert len(large) == 2  # X and X*, of the arguments of six fits


@pytest.mark.slow
@pytest.mark.parametrize("n_killed", [1, 2])
def test_a_search_survives_workers_that_die(processes, n_killed, monkeypatch):
    """Also all of them at once, so that no worker has the data any more."""
    X, P, y = draw(2000)
    expected = searched(X, y, P)
    processes.wait_for_workers(2)
    pids = list(processes.run(os.getpid).values())[:n_killed]
    n_fits, real = [], processes.submit

    def submit(*arguments, **how):
        n_fits.append("tasks" in how)
        if sum(n_fits) == 5:  # four were sent at once: one has ended, others run
            for pid in pids:
                os.kill(pid, KILL)
        return real(*arguments, **how)

    monkeypatch.setattr(processes, "submit", submit)
    with joblib.parallel_config(backend=JoblibBackend(processes)):
        found = searched(X, y, P)
    same(found, expected)
    assert sum(n_fits) == 6


@pytest.mark.slow
def test_two_searches_do_not_share_what_changed_between_them(client):
    X, P, y = draw(500)
    with joblib.parallel_config(backend=JoblibBackend(client)):
        first = searched(X, y, P)
        X *= np.where(np.arange(20) > 0, 1.0, 0.0)
        second = searched(X, y, P)
    same(second, searched(X, y, P))
    assert (first > second).all()
