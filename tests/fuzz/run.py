"""Load and use forged model files in processes that may die.

``python -m tests.fuzz.run --files 10000`` (or ``make fuzz``) mutates saved models of
every estimator. Each file has to be refused in a sentence, or to give one prediction
per row. Files that predict are used a second time in a process whose heap is filled
with other bytes: predictions that differ have been read from outside of the arrays.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import lupi
from lupi.exceptions import ModelFileError
from tests.fuzz.mutations import mutated

SECONDS = 60  # of the processor for one file, and ten times as many by the clock
MEMORY = 8 * 2**30
ROWS = 7


@dataclass
class Outcome:
    """What became of one file: a kind, and the error or a digest of predictions."""

    number: int
    model: str
    kind: str
    text: str


def table_like(table, model):
    """Return rows of the width that the model asks for, where they can be made."""
    try:
        width = model.n_features_in_
    except Exception:
        return None
    if not isinstance(width, int) or not 0 < width <= 300_000:
        return None
    if not isinstance(table, np.ndarray) or width == table.shape[1]:
        return None
    return np.ones((ROWS, width))


def used(path, tables):
    """Load a file and predict; return the kind of the outcome and its text."""
    try:
        model = lupi.load(path)
    except ModelFileError as error:
        return "refused", str(error)
    except MemoryError as error:
        return "refused", f"MemoryError {error}"
    except Exception as error:
        return "foreign", f"load raises {error!r}"
    digest, kinds = hashlib.sha256(), set()
    more = table_like(tables[0], model)
    for table in [*tables, *([] if more is None else [more])]:
        for method in ("predict", "decision_function", "predict_proba", "transform"):
            try:
                values = getattr(model, method)(table)
                values = values.toarray() if sp.issparse(values) else np.asarray(values)
            except Exception as error:
                if not str(error).strip():
                    return "silent", f"{method} raises {type(error).__name__}()"
                digest.update(type(error).__name__.encode())
                kinds.add("error")
                continue
            if values.shape[:1] != table.shape[:1]:
                return "odd", f"{method} gives {values.shape} for {table.shape}"
            kinds.add("predicted")
            plain = values.dtype != object
            digest.update(values.tobytes() if plain else repr(values.tolist()).encode())
    return ("predicted" if "predicted" in kinds else "error"), digest.hexdigest()


def work(folder):
    """Use the files of the models that are named, one per line; the worker's loop."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tables = pickle.loads(Path(folder, "tables.pkl").read_bytes())
    warnings.simplefilter("ignore")
    print("ready", flush=True)
    for line in sys.stdin:
        # These end the process, also inside of compiled code.
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(10 * SECONDS)
        kind, text = used(Path(folder, "forged.skops"), tables[line.strip()])
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        print(f"{kind} {text[:300]!r}", flush=True)


class Worker:
    """A process that uses files, started again when it dies."""

    def __init__(self, folder, perturb):
        self.arguments = ["--worker", str(folder)]
        self.environment = {
            **os.environ,
            "MALLOC_PERTURB_": str(perturb),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        self.process = None

    def ask(self, model):
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.run", *self.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self.environment,
                cwd=Path(__file__).parents[2],
            )
            assert self.process.stdout.readline().strip() == "ready"
        self.process.stdin.write(f"{model}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            code = self.close()
            late = code in (-signal.SIGPROF, -signal.SIGALRM)
            return ("hang" if late else "crash"), f"exit {code}"
        kind, text = line.rstrip("\n").split(" ", 1)
        return kind, text

    def close(self):
        if self.process is None:
            return None
        self.process.stdout.close()
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        code, self.process = self.process.wait(), None
        return code


def fuzz(models, numbers, seed=0, report=lambda outcome: None):
    """Return the outcomes of the forged files of these numbers."""
    names, outcomes = sorted(models), []
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: models[name][1] for name in names}
        Path(folder, "tables.pkl").write_bytes(pickle.dumps(tables))
        first, second = (Worker(folder, perturb) for perturb in (85, 170))
        try:
            for number in numbers:
                name = names[number % len(names)]
                rng = np.random.default_rng([seed, number])
                content = mutated(models[name][0], rng)
                Path(folder, "forged.skops").write_bytes(content)
                kind, text = first.ask(name)
                if kind == "predicted" and (again := second.ask(name))[1] != text:
                    kind, text = "outside", f"{text} and {again}"
                outcomes.append(Outcome(number, name, kind, text))
                report(outcomes[-1])
        finally:
            first.close()
            second.close()
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", default="")
    parser.add_argument("--worker")
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return 0
    from tests.fuzz.models import saved_models

    wanted = [name for name in options.models.split(",") if name]
    models = saved_models(wanted)
    bad = []

    def report(outcome):
        if outcome.kind not in ("refused", "error", "predicted"):
            bad.append(outcome)
            print(outcome, flush=True)
        if outcome.number % 1000 == 999:
            print(outcome.number + 1, "files", flush=True)

    numbers = range(options.first, options.first + options.files)
    outcomes = fuzz(models, numbers, options.seed, report)
    print(Counter(outcome.kind for outcome in outcomes), f"of {len(models)} models")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
