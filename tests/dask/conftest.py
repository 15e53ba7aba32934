"""Clusters of two workers on this machine: threads of this process, or processes."""

import os
import time

import pytest

pytest.importorskip("distributed")

import distributed

from tests.marks import KILL


def start_cluster(n_workers, *, processes=True):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=processes,
        dashboard_address=":0",
    )


@pytest.fixture(scope="session")
def client():
    """Client of two workers in this process, which start at once."""
    with (
        start_cluster(2, processes=False) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def processes():
    """Client of two worker processes."""
    with (
        start_cluster(2) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def at_submit(monkeypatch):
    """Do something when a client submits its n-th task; return the list of calls."""

    def register(client, number, action):
        real, calls = client.submit, []

        def submit(function, *arguments, **how):
            calls.append(function)
            if len(calls) == number:
                action()
            return real(function, *arguments, **how)

        monkeypatch.setattr(client, "submit", submit)
        return calls

    return register


def kill_one(client):
    """End a worker process without warning, as a machine that fails does."""
    victim = min(client.run(os.getpid).values())
    os.kill(victim, KILL)


def close_one(cluster, client):
    """Close a worker of this process between two tasks; what it held is lost."""
    while any(client.processing().values()):
        time.sleep(0.005)
    worker = next(iter(cluster.workers.values()))
    assert len(worker.data) > 0
    cluster.sync(worker.close)
