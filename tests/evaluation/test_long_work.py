"""Comparisons that are interrupted, resumed, and run by processes or a cluster."""

import itertools
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import fbeta_score, make_scorer

from lupi.datasets import make_mediator
from lupi.evaluation import Comparison, compare
from lupi.kernels import Kernel, gram_cache
from tests.comparisons import FirstColumn
from tests.evaluation.interrupted_run import run
from tests.marks import KILL, posix

N_PIECES = 16


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """An uninterrupted run, and its checkpoint."""
    path = tmp_path_factory.mktemp("run") / "run.checkpoint"
    return run(path), path


@pytest.fixture
def checkpoint(finished, tmp_path):
    """A copy of the checkpoint of a finished run."""
    path = tmp_path / "run.checkpoint"
    path.write_bytes(finished[1].read_bytes())
    return path


def same(one, other):
    """Compare two comparisons in all but the time they took."""
    pd.testing.assert_frame_equal(
        one.folds.drop(columns="seconds"),
        other.folds.drop(columns="seconds"),
        check_dtype=False,
    )
    assert one.verdict == other.verdict


def lines(path):
    return path.read_bytes().splitlines() if path.exists() else []


def start(checkpoint, result):
    path = os.pathsep.join([*filter(None, sys.path), os.getcwd()])
    words = ["-m", "tests.evaluation.interrupted_run", checkpoint, result, "0.05"]
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


# `tests/cli/test_interruption.py` interrupts a run in the ordinary tests.
@pytest.mark.slow
@posix
@pytest.mark.parametrize("how", [signal.SIGINT, KILL])
def test_an_interrupted_run_continues_and_ends_the_same(tmp_path, finished, how):
    checkpoint, result = tmp_path / "run.checkpoint", tmp_path / "result.json"
    process = start(checkpoint, result)
    while len(lines(checkpoint)) < 4:
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.01)
    process.send_signal(how)
    process.communicate()
    assert process.returncode != 0
    assert not result.exists()
    kept = lines(checkpoint)
    assert 4 <= len(kept) < 1 + N_PIECES
    same(run(checkpoint), finished[0])
    # What was done before the signal was not done again.
    assert lines(checkpoint)[: len(kept) - 1] == kept[:-1]
    assert len(lines(checkpoint)) == 1 + N_PIECES


def test_a_finished_run_is_read_back_without_work(finished, checkpoint):
    before = checkpoint.read_bytes()
    same(run(checkpoint, seconds=1e9), finished[0])
    assert checkpoint.read_bytes() == before


def test_a_run_continues_from_its_pieces_and_drops_a_line_cut_short(
    finished, checkpoint
):
    content = checkpoint.read_bytes()
    checkpoint.write_bytes(b"".join(content.splitlines(keepends=True)[:9]) + b'{"pie')
    same(run(checkpoint), finished[0])
    assert lines(checkpoint)[:9] == content.splitlines()[:9]
    assert len(lines(checkpoint)) == 1 + N_PIECES
    # Even the first line can be cut.
    checkpoint.write_bytes(content[:10])
    same(run(checkpoint), finished[0])


@pytest.mark.parametrize("content", [b"hello\nworld\n", b"[1]\n", b'{"a": 1}\n', b"x"])
def test_other_files_are_not_overwritten(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a checkpoint"):
        run(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line", [b"{not json}", b"{}", b'{"piece": "a", "result": {}}', b"[]", b"3"]
)
def test_a_damaged_checkpoint_is_refused_in_a_sentence(checkpoint, line):
    content = lines(checkpoint)
    checkpoint.write_bytes(b"\n".join([content[0], line, *content[2:], b""]))
    with pytest.raises(ValueError, match="not a checkpoint of lupi, or it is damaged"):
        run(checkpoint)


DATA = make_mediator(40, n_features=3, random_state=0)
TABLE = pd.DataFrame(DATA.data, columns=["a", "b", "c"])
OPTIONS = {
    "X": TABLE,
    "y": DATA.target,
    "privileged": sp.csr_array(DATA.privileged),
    "methods": FirstColumn(),
    "scoring": make_scorer(fbeta_score, beta=0.5),
    "cv": 2,
    "n_candidates": 1,
}


class Other(FirstColumn):
    """Another class with the same parameters."""


class Broken(FirstColumn):
    """The name and parameters of a class that cannot be fitted any more."""

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        raise AssertionError("Work that is done is done again.")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "run.checkpoint"
    return compare(**OPTIONS, checkpoint=path), path


@pytest.mark.parametrize(
    "change",
    [
        {"X": TABLE.assign(a=TABLE["a"] + 1e-9)},
        {"X": TABLE.rename(columns={"a": "z"})},
        {"X": TABLE.astype({"a": "float32"})},
        {"X": TABLE.assign(ward="x")},
        {"y": 1 - DATA.target},
        {"privileged": sp.csr_array(2 * DATA.privileged)},
        {"privileged": DATA.privileged},
        {"scoring": make_scorer(fbeta_score, beta=5)},
        {"scoring": "accuracy"},
        {"methods": FirstColumn(alpha=2.0)},
        {"methods": Other()},
        {"sample_weight": np.ones(40)},
        {"groups": np.arange(40)},
        {"random_state": 1},
        {"inner_cv": 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_checkpoint_of_another_study_is_refused(small, change):
    with pytest.raises(ValueError, match="other data, methods or settings"):
        compare(**OPTIONS | change, checkpoint=small[1])


def test_a_study_is_recognised_by_its_content(small, monkeypatch):
    monkeypatch.setattr(FirstColumn, "fit", Broken.fit)
    again = OPTIONS | {
        "X": TABLE.copy(),
        "privileged": sp.csr_array(DATA.privileged.copy()),
        "scoring": make_scorer(fbeta_score, beta=0.5),
        "methods": [FirstColumn()],
    }
    same(compare(**again, checkpoint=small[1]), small[0])


def test_a_lambda_can_be_a_score_and_has_no_checkpoint(tmp_path):
    def score(model, X, y):
        return float(np.mean(model.predict(X) == y))

    for scoring in (score, lambda model, X, y: score(model, X, y)):
        change = OPTIONS | {"scoring": scoring}
        result = compare(**change)
        assert result.settings["made"]["fingerprint"] is None
        with pytest.raises(ValueError, match="A checkpoint needs a scorer"):
            compare(**change, checkpoint=tmp_path / "run.checkpoint")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_processes_give_the_same_result(finished):
    same(run(n_jobs=2), finished[0])


def test_a_study_can_be_sent_to_another_process(small):
    study = pickle.loads(pickle.dumps(small[0].study))
    assert study.identity == small[0].study.identity
    folds = small[0].folds.set_index(["split", "arm"])["score"]
    for piece in study.pieces()[:2]:
        for line in study.run(piece)["lines"]:
            assert line["score"] == folds[line["split"], line["arm"]]


@pytest.mark.slow
def test_a_cluster_gives_the_same_result_though_a_worker_dies(tmp_path, finished):
    import distributed

    checkpoint = tmp_path / "run.checkpoint"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = min(client.run(os.getpid).values())

        def kill():
            while len(lines(checkpoint)) < 4:
                time.sleep(0.01)
            os.kill(victim, KILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with joblib.parallel_config(backend="dask"):
            result = run(checkpoint, seconds=0.05)
        killer.join()
        assert victim not in client.run(os.getpid).values()
    same(result, finished[0])


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal(
    capsys, monkeypatch
):
    compare(**OPTIONS, progress=True)
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1].startswith("Comparing: ")
    assert shown.out == ""
    compare(**OPTIONS, progress=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    compare(**OPTIONS)
    assert capsys.readouterr().err == ""
    # Every look at the clock, by any thread, is ten seconds later or more.
    clock = itertools.count(0, 10)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    n_pieces = len(compare(**OPTIONS).study.pieces())
    shown = capsys.readouterr().err.splitlines()
    assert 1 < len(shown) <= n_pieces
    assert all(re.match(rf"Comparing: \d+ of {n_pieces}", line) for line in shown)


def test_json_of_a_resumed_run_is_the_json_of_a_whole_one(
    tmp_path, finished, checkpoint
):
    path = run(checkpoint).to_json(tmp_path / "a.json")
    same(Comparison.from_json(path), finished[0])
    assert json.loads(path.read_text(encoding="utf-8"))["format"] == "lupi-comparison"


def test_gram_matrices_are_shared_by_content_and_never_mixed_up():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 20, 3))
    expected = Kernel("rbf", 0.5).gram(first)
    with gram_cache() as cache:
        for rows in (first, first.copy(), np.asfortranarray(first), second):
            values = Kernel("rbf", 0.5).gram(rows)
            if rows is not second:
                np.testing.assert_array_equal(values, expected)
            values += 1.0  # a solver that works in place harms nobody
        assert (cache.computed, cache.reused) == (2, 2)
        assert not np.array_equal(Kernel("linear").gram(first), expected)
        assert not np.array_equal(Kernel("rbf", 0.6).gram(first), expected)
        Kernel("linear").gram(sp.csr_array(first))
        Kernel("linear").gram(sp.csr_array(first))
        assert (cache.computed, cache.reused) == (5, 3)


def test_the_gram_cache_keeps_a_bounded_number():
    rows = np.random.default_rng(0).normal(size=(5, 2))
    with gram_cache(max_matrices=2) as cache:
        for gamma in (1.0, 2.0, 3.0, 1.0):
            Kernel("rbf", gamma).gram(rows)
        assert cache.computed == 4
