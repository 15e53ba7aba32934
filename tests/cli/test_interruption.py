"""A run that is stopped in the middle goes on and ends in the same result."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import chdir, suppress

import pytest

from lupi.cli import main
from tests.cli.tables import clinic, command, environment, lupi_here
from tests.marks import KILL, posix

pytestmark = pytest.mark.usefixtures("undrawn")

ASK = [
    *("compare", "table.csv", "--target", "outcome", "--privileged", "count_week_20"),
    *("--cv", "2", "--n-candidates", "2", "--inner-cv", "2", "--no-model", "--quick"),
]
# Takes long enough to be stopped by another process.
LONG = [*ASK, "--methods", "generalized-distillation-classifier", "--jobs"]
BRIEF = [*ASK, "--methods", "svc-plus", "--jobs", "1"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return run_to_the_end(tmp_path_factory.mktemp("whole"), [*LONG, "1"])


def run_to_the_end(folder, words, n=160):
    write_table(folder, n)
    with chdir(folder):
        assert main(words) == 0
    return results(folder)


def write_table(folder, n=160):
    table = clinic(n)[["age", "count_week_20", "outcome"]]
    table.to_csv(folder / "table.csv", index=False)


def results(folder):
    """Everything in the result that does not tell the time."""
    stored = json.loads(
        (folder / "lupi-report" / "results.json").read_text(encoding="utf-8")
    )
    stored["settings"].pop("seconds")
    stored["settings"].pop("made", None)  # the date and the command
    for line in (*stored["summary"], *stored["table"], *stored["folds"]):
        line.pop("seconds")
    return stored


def ends_the_same(folder, words, uninterrupted):
    """Run again after an interruption, which left some of the eight pieces."""
    checkpoint = folder / "lupi-report" / "unfinished.jsonl"
    assert [path.name for path in checkpoint.parent.iterdir()] == [checkpoint.name]
    kept = lines_in(checkpoint) - 1
    assert 3 <= kept < 8
    again = lupi_here(*words, cwd=folder)
    assert again.returncode == 0
    assert f"{kept} pieces of an interrupted run are kept" in again.stdout
    assert results(folder) == uninterrupted
    assert not checkpoint.exists()


def test_an_interrupted_run_goes_on(tmp_path, tmp_path_factory, monkeypatch):
    uninterrupted = run_to_the_end(tmp_path_factory.mktemp("whole"), BRIEF, 60)
    write_table(tmp_path, 60)
    sync, written = os.fsync, []

    def interrupt(file):
        """Press Ctrl-C when the third piece is on the disk, after the first line."""
        sync(file)
        written.append(file)
        if len(written) == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        stopped = lupi_here(*BRIEF, cwd=tmp_path)
    assert stopped.returncode == 130
    assert stopped.stderr.startswith("lupi: interrupted; finished work is kept in")
    assert stopped.stderr.count("\n") == 1
    ends_the_same(tmp_path, BRIEF, uninterrupted)


# Each process takes seconds to load its libraries.
@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("stop", "jobs"), [(signal.SIGINT, 1), (signal.SIGINT, 2), (KILL, 1)]
)
def test_stop_a_process_and_resume(stop, jobs, uninterrupted, tmp_path):
    write_table(tmp_path)
    checkpoint = tmp_path / "lupi-report" / "unfinished.jsonl"
    with open(tmp_path / "stderr", "w+") as errors:
        running = subprocess.Popen(
            [*command(), *LONG, str(jobs)],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        # The first line names the study; three more are finished pieces of eight.
        while running.poll() is None and lines_in(checkpoint) < 4:
            time.sleep(0.01)
        running.send_signal(stop)
        running.wait()
        # Workers of a run killed outright idle for minutes; they are not the subject.
        with suppress(ProcessLookupError):
            os.killpg(running.pid, KILL)
        errors.seek(0)
        said = errors.read()
    assert running.returncode == (130 if stop == signal.SIGINT else -stop)
    if stop == signal.SIGINT:
        assert said.startswith("lupi: interrupted; finished work is kept in")
        assert said.count("\n") == 1
    ends_the_same(tmp_path, [*LONG, "1"], uninterrupted)


@pytest.mark.slow
def test_an_equal_run_that_ends_first_takes_nothing_away(
    uninterrupted, tmp_path, monkeypatch
):
    write_table(tmp_path)
    replace = os.replace

    def end_first(source, target):
        replace(source, target)
        (tmp_path / "lupi-report" / "unfinished.jsonl").unlink(missing_ok=True)

    monkeypatch.setattr(os, "replace", end_first)
    monkeypatch.chdir(tmp_path)
    assert main([*LONG, "1"]) == 0
    assert results(tmp_path) == uninterrupted


def lines_in(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_an_unfinished_run_of_another_question_is_kept_apart(tmp_path):
    write_table(tmp_path)
    folder = tmp_path / "lupi-report"
    folder.mkdir()
    (folder / "unfinished.jsonl").write_text(
        '{"format": "lupi-checkpoint-1", "study": "another"}\n'
    )
    refused = lupi_here(*BRIEF, cwd=tmp_path)
    assert refused.returncode == 2
    assert "unfinished comparison with other data or settings" in refused.stderr
    assert "another" in (folder / "unfinished.jsonl").read_text(encoding="utf-8")
