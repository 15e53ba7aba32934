"""Work that is interrupted, resumed, spread over processes and over a cluster."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import fbeta_score, make_scorer

from lupi._gram_cache import gram_cache
from lupi.datasets import make_mediator
from lupi.evaluation import Comparison
from lupi.evaluation._identity import fingerprint
from lupi.evaluation._plan import plan
from lupi.evaluation._running import Checkpoint, progress_bar
from lupi.kernels import Kernel
from tests.evaluation.interrupted_run import run
from tests.marks import KILL, posix
from tests.toys import TaughtClassifier

N_PIECES = 16


@pytest.fixture(scope="module")
def uninterrupted():
    return run()


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
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)
        + os.pathsep
        + os.getcwd()
    }
    arguments = [checkpoint, result, "0.05"]
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.evaluation.interrupted_run",
            *map(str, arguments),
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


# `tests/cli/test_interruption.py` interrupts a run in the ordinary tests.
@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGINT, marks=[pytest.mark.slow, posix]), KILL]
)
def test_an_interrupted_run_goes_on_and_ends_the_same(tmp_path, uninterrupted, how):
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
    resumed = run(checkpoint)
    same(resumed, uninterrupted)
    # What was done before the signal was not done again.
    assert lines(checkpoint)[: len(kept) - 1] == kept[:-1]
    assert len(lines(checkpoint)) == 1 + N_PIECES


def test_a_finished_run_is_read_back_without_work(tmp_path, uninterrupted):
    checkpoint = tmp_path / "run.checkpoint"
    run(checkpoint)
    before = checkpoint.read_bytes()
    same(run(checkpoint, seconds=1e9), uninterrupted)
    assert checkpoint.read_bytes() == before


def test_a_line_cut_short_is_dropped(tmp_path, uninterrupted):
    checkpoint = tmp_path / "run.checkpoint"
    run(checkpoint)
    content = checkpoint.read_bytes()
    checkpoint.write_bytes(content[:-40])
    same(run(checkpoint), uninterrupted)
    assert len(lines(checkpoint)) == 1 + N_PIECES
    # Even the first line can be cut.
    checkpoint.write_bytes(content[:10])
    same(run(checkpoint), uninterrupted)


def test_a_checkpoint_of_another_study_is_refused(tmp_path):
    checkpoint = tmp_path / "run.checkpoint"
    run(checkpoint)
    with pytest.raises(ValueError, match="other data, methods or settings"):
        run(checkpoint, random_state=1)


@pytest.mark.parametrize("content", [b"hello\nworld\n", b"[1]\n", b'{"a": 1}\n', b"x"])
def test_other_files_are_not_overwritten(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a checkpoint"):
        Checkpoint(path, "study").read()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line", [b"{not json}", b"{}", b'{"piece": "a", "result": {}}', b"[]", b"3"]
)
def test_a_damaged_checkpoint_is_refused_in_a_sentence(tmp_path, line):
    path = tmp_path / "run.checkpoint"
    run(path)
    content = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([content[0], line, *content[2:], b""]))
    with pytest.raises(ValueError, match="not a checkpoint of lupi, or it is damaged"):
        run(path)


def study_with(**options):
    data = make_mediator(40, random_state=0)
    return plan(data.data, data.target, data.privileged, **options)


def fbeta(beta):
    return make_scorer(fbeta_score, beta=beta)


class Other(TaughtClassifier):
    """Another class with the parameters of its parent."""

    def _fit_binary(self, X, y, privileged, weight, *, rows):
        return super()._fit_binary(X, y, None, weight, rows=rows)


def renamed(kind):
    """The same class name and parameters, but another class."""
    return type("TaughtClassifier", (kind,), {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"scoring": fbeta(0.5)}, {"scoring": fbeta(5)}),
        ({"scoring": lambda m, X, y: 1.0}, {"scoring": lambda m, X, y: 2.0}),
        ({"methods": TaughtClassifier()}, {"methods": renamed(Other)()}),
        ({"methods": TaughtClassifier()}, {"methods": TaughtClassifier(alpha=2.0)}),
        ({"scoring": "roc_auc"}, {"scoring": "accuracy"}),
    ],
)
def test_a_study_is_identified_by_content(one, other):
    common = {"methods": TaughtClassifier()}
    first, second = study_with(**common | one), study_with(**common | other)
    assert first.identity == study_with(**common | one).identity
    assert first.identity != second.identity


def test_what_has_no_content_cannot_have_a_checkpoint(tmp_path):
    lock = threading.Lock()

    def score(model, X, y):
        with lock:
            return 1.0

    with pytest.raises(ValueError, match="checkpoint might be used"):
        _ = study_with(methods=TaughtClassifier(), scoring=score).identity


def test_values_behind_a_function_are_part_of_it():
    def scorer(beta):
        return lambda model, X, y: fbeta_score(y, model.predict(X), beta=beta)

    assert fingerprint([scorer(1)]) == fingerprint([scorer(1)])
    assert fingerprint([scorer(1)]) != fingerprint([scorer(2)])
    assert fingerprint([partial(scorer, 1)]) != fingerprint([partial(scorer, 2)])
    assert fingerprint([read_global]) != fingerprint([read_two_globals])


def read_global():
    return N_PIECES


def read_two_globals():
    return N_PIECES + read_global()


def test_processes_give_the_same_result(uninterrupted):
    same(run(n_jobs=2), uninterrupted)


@pytest.mark.slow
def test_a_cluster_gives_the_same_result_though_a_worker_dies(tmp_path, uninterrupted):
    import distributed

    checkpoint = tmp_path / "run.checkpoint"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = min(client.run(os.getpid).values())

        class Killer(Checkpoint):
            """Ends one worker process when the work is under way."""

            def append(self, key, result):
                super().append(key, result)
                if len(lines(checkpoint)) == 4:
                    os.kill(victim, KILL)

        with (
            pytest.MonkeyPatch.context() as patch,
            joblib.parallel_config(backend="dask"),
        ):
            patch.setattr("lupi.evaluation._running.Checkpoint", Killer)
            result = run(checkpoint, seconds=0.05)
        assert victim not in client.run(os.getpid).values()
    same(result, uninterrupted)


def test_the_bar_is_shown_on_request_and_only_on_standard_error(capsys):
    with progress_bar("Comparing", 3, 1, True) as step:
        step()
    shown = capsys.readouterr()
    assert "Comparing" in shown.err
    assert shown.out == ""
    with progress_bar("Comparing", 3, 0, None) as step:
        step()
    assert capsys.readouterr().err == ""


def test_fingerprints_tell_content_apart_and_nothing_else():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    array = np.arange(6.0).reshape(2, 3)
    for one, other, equal in [
        (array, array.copy(), True),
        (array, array.T, False),
        (array, np.asfortranarray(array), True),
        (array, array.astype("float32"), False),
        (table, table.copy(), True),
        (table, table.rename(columns={"a": "c"}), False),
        (table, table.iloc[::-1], False),
        (sp.csr_array(array), sp.csr_array(array), True),
        (sp.csr_array(array), sp.csr_array(2 * array), False),
        (np.array(["a", None], object), np.array(["a", None], object), True),
        (None, 0, False),
    ]:
        assert (fingerprint([one]) == fingerprint([other])) is equal


def test_json_of_a_resumed_run_is_the_json_of_a_whole_one(tmp_path, uninterrupted):
    checkpoint = tmp_path / "run.checkpoint"
    run(checkpoint)
    path = run(checkpoint).to_json(tmp_path / "a.json")
    same(Comparison.from_json(path), uninterrupted)
    assert json.loads(path.read_text())["format"] == "lupi-comparison"


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
