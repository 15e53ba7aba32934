"""Comparisons and searches through joblib's Dask backend: data sent once, results."""

import time
from dataclasses import dataclass
from functools import partial

import cloudpickle
import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import lupi
from lupi.evaluation import compare
from lupi.evaluation._running import run_all


def draw(n):
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(2, n, 20))
    return X, P, (X[:, 0] + P[:, 0] > 0).astype(int)


@pytest.fixture
def sent(client, monkeypatch):
    """Bytes of every task that is sent to the cluster."""
    found, real = [], client.submit

    def submit(*arguments, **how):
        found.append(len(cloudpickle.dumps((arguments, how))))
        return real(*arguments, **how)

    monkeypatch.setattr(client, "submit", submit)
    return found


@dataclass(frozen=True)
class Column:
    number: int

    @property
    def key(self):
        return str(self.number)


def mean(table, piece):
    return {"mean": float(table[:, piece.number].mean())}


@pytest.mark.slow
def test_the_data_of_long_work_are_sent_once(client, sent):
    table = np.arange(200_000.0).reshape(-1, 20)
    with client.as_current(), joblib.parallel_config(backend="dask"):
        found = run_all(
            partial(mean, table),
            [Column(number) for number in range(20)],
            identity="",
            fields=("mean",),
            checkpoint=None,
            n_jobs=None,
            progress=False,
            title="",
        )
    means = [result["mean"] for result in found.values()]
    np.testing.assert_allclose(means, table.mean(axis=0))
    work, *pieces = sent
    assert table.nbytes < work < table.nbytes + 5_000
    assert sum(pieces) < 20 * 5_000


@pytest.mark.slow
def test_a_comparison_sends_the_data_once(client, sent):
    X, P, y = draw(1000)
    with client.as_current(), joblib.parallel_config(backend="dask"):
        compare(X, y, P, methods=["HedgedDistillationClassifier"], cv=2, n_candidates=1)
    work, *pieces = sent
    assert work < X.nbytes + P.nbytes + 100_000  # splits, and what a study is
    assert len(pieces) == 8
    assert max(pieces) < 5_000


class SlowSVC(lupi.LinearSVCDeltaPlus):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        time.sleep(0.4)
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


@pytest.mark.slow
def test_a_search_sends_one_table_once(client, sent):
    """X* beside X in one table is sent once; `privileged` goes with every task."""
    X, P, y = draw(4000)
    table = np.hstack([X, P])
    model = lupi.PrivilegedColumns(SlowSVC(tol=1e-3), range(20, 40))
    search = GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, cv=3)
    expected = search.fit(table, y).cv_results_["mean_test_score"]
    with client.as_current(), joblib.parallel_config(backend="dask"):
        found = search.fit(table, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, expected)
    assert len(sent) == 6
    assert max(sent) < 0.05 * table.nbytes
