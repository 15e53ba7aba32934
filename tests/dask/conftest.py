"""A cluster of two worker processes on this machine, for all tests here."""

import os

import pytest

pytest.importorskip("distributed")

import distributed

from lupi.dask._parts import DaskParts
from tests.marks import KILL


def start_cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
    )


@pytest.fixture(scope="session")
def client():
    with start_cluster(2) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def at_sum(monkeypatch):
    """Do something when the rows are summed over for the n-th time."""

    def register(number, action):
        real, calls = DaskParts.sum, []

        def sum_(self, function, *given):
            calls.append(function)
            if len(calls) == number:
                action()
            return real(self, function, *given)

        monkeypatch.setattr(DaskParts, "sum", sum_)
        return calls

    return register


def kill_one(client):
    """End a worker process without warning, as a machine that fails does."""
    victim = min(client.run(os.getpid).values())
    os.kill(victim, KILL)
