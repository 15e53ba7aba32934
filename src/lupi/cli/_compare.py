"""``lupi compare``: check, compute, then say and write what came out."""

from __future__ import annotations

import shlex
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.text import Text
from sklearn.base import BaseEstimator

from lupi._persistence import check_savable
from lupi.cli._data import Ask, Data, check_class_sizes, check_metric, read_data
from lupi.cli._errors import InputError, Interrupted, refusing
from lupi.cli._out import CHECKPOINT, prepare_folder, write_results
from lupi.cli._terminal import (
    collected_warnings,
    make_console,
    show_comparison,
    show_data,
    show_notes,
)
from lupi.evaluation import Comparison, compare
from lupi.evaluation._curve import learning_curves
from lupi.exceptions import ModelFileError
from lupi.report import Usage

DEMO_TRAIN_SIZE = 60


@dataclass(frozen=True)
class Options:
    """How to compare, as typed."""

    methods: list[str]
    metric: str | None
    train_size: int | None
    splits: int | None
    search: int
    seed: int
    jobs: int


def run_compare(
    ask: Ask, options: Options, *, out: Path, force: bool, save_model: bool
) -> None:
    """Answer whether the privileged information helps, and write the report."""
    from lupi.evaluation._splits import DEFAULT_FOLDS

    if options.jobs == 0:
        raise InputError("--jobs is 0; write a number of processes, or -1 for all.")
    data = _demo(ask) if ask.file is None else read_data(ask, need_privileged=True)
    arguments = _arguments(data, options, demo=ask.file is None)
    if arguments["train_size"] is None and data.groups is None:
        check_class_sizes(data, options.splits or DEFAULT_FOLDS)
    identity = _check_plan(arguments)
    prepare_folder(out, force=force)
    kept = _check_checkpoint(out / CHECKPOINT, identity, force=force)
    console = make_console()
    show_data(console, data)
    if kept:
        show_notes(console, [f"going on with a run of {kept} finished pieces."])
    try:
        comparison = _compare(arguments, out, options.jobs)
        show_comparison(console, comparison)
        model = _best_model(console, comparison) if save_model else None
        with console.status("Drawing learning curves"):
            curves = learning_curves(comparison, n_jobs=options.jobs)
    except KeyboardInterrupt:
        # joblib warns of the work it drops; that is what an interrupt is for.
        warnings.simplefilter("ignore")
        raise Interrupted(
            f"interrupted; what is finished is kept in {out}. The same command goes on "
            "from there."
        ) from None
    usage = Usage(
        source=data.source,
        model=None if model is None else str(out / "model.skops"),
        commands=_fit_commands(ask, comparison.methods),
    )
    write_results(out, comparison, usage, curves, model, data.details)
    (out / CHECKPOINT).unlink()
    _show_places(console, out, saved=model is not None)


def _compare(arguments: dict[str, Any], out: Path, jobs: int) -> Comparison:
    checkpoint = out / CHECKPOINT
    comparison = compare(**arguments, checkpoint=checkpoint, n_jobs=jobs)
    if comparison.verdict.kind == "failed":
        checkpoint.unlink()
        with suppress(OSError):
            out.rmdir()
        name, why = next(iter(comparison.failures.items()))
        raise InputError(f"No method could be fitted; {name} says: {why}")
    return comparison


def _best_model(console: Console, comparison: Comparison) -> BaseEstimator | None:
    """Return the model to keep; None, with a reason, when it cannot be saved."""
    with (
        console.status("Fitting the model to keep on all rows"),
        collected_warnings() as said,
    ):
        model = comparison.best_estimator()
    show_notes(console, said)
    try:
        check_savable(model)
    except ModelFileError as error:
        show_notes(console, [f"no model is saved. {error}"])
        return None
    return model


def _demo(ask: Ask) -> Data:
    """Return the shipped trial: small training sets, where X* can help."""
    from lupi.datasets import load_actg175

    if ask.target or ask.privileged or ask.drop or ask.group:
        raise InputError(
            "Columns were named but no FILE was given; write: lupi compare FILE ..."
        )
    trial = load_actg175(as_frame=True)
    return Data(
        X=trial.data,
        y=trial.target.to_numpy(),
        privileged=trial.privileged,
        groups=None,
        target="event",
        task="classification",
        source="ACTG 175 trial (shipped with lupi)",
        about=(
            "Patients with HIV. When therapy starts, only the baseline is known; the "
            "CD4 and CD8 counts of week 20 come later and are privileged. To predict: "
            "whether the disease gets worse, from few patients to learn from."
        ),
    )


def _arguments(data: Data, options: Options, *, demo: bool) -> dict[str, Any]:
    train_size = options.train_size
    if demo and train_size is None:
        train_size = DEMO_TRAIN_SIZE
    names: Any = [
        name for word in options.methods for name in word.replace(",", " ").split()
    ]
    if names in (["default"], ["all"]):
        names = names[0]
    return {
        "X": data.X,
        "y": pd.Series(data.y, name=data.target),
        "privileged": data.privileged,
        "methods": names,
        "scoring": check_metric(options.metric),
        "cv": options.splits,
        "groups": data.groups,
        "train_size": train_size,
        "search": options.search,
        "task": data.task,
        "random_state": options.seed,
    }


@refusing(ValueError)
def _check_plan(arguments: dict[str, Any]) -> str:
    """Have every argument checked before anything is written or computed."""
    from lupi.evaluation._compare import identify, plan

    return identify(*plan(**arguments))


@refusing(ValueError)
def _check_checkpoint(path: Path, identity: str, *, force: bool) -> int:
    """Return how much of this very comparison is finished already."""
    from lupi.evaluation._running import Checkpoint

    try:
        return len(Checkpoint(path, identity).read())
    except ValueError as error:
        if not force:
            raise InputError(
                f"{path.parent} holds an unfinished comparison with other data or "
                "settings; choose another --out, or start anew with --force."
            ) from error
        path.unlink()
        return 0


def _fit_commands(ask: Ask, methods: list[str]) -> dict[str, str]:
    """Return, per method, the command that fits it on the same columns."""
    if ask.file is None:
        return {}
    from lupi.evaluation._methods import find_method

    words = ["lupi", "fit", str(ask.file), "--target", str(ask.target)]
    for option, values in (("--privileged", ask.privileged), ("--drop", ask.drop)):
        words += [option, *values] if values else []
    if ask.group:
        words += ["--group", ask.group]
    if ask.task:
        words += ["--task", ask.task]
    commands = {}
    for name in methods:
        # A method asked for twice is called "SVCPlus (2)" the second time.
        kebab = find_method(name.split(" (")[0]).kebab
        end = ["--method", kebab, "--out", "model.skops"]
        commands[name] = shlex.join([*words, *end])
    return commands


def _show_places(console: Console, out: Path, *, saved: bool) -> None:
    places = {"results": out / "results.csv", "model": out / "model.skops"}
    if saved:
        hint = f"lupi predict {places['model']} NEW.csv"
        console.print(Text.assemble(("predict ", "dim"), hint))
    else:
        del places["model"]
    places["report"] = out / "report.html"
    for name, place in places.items():
        console.print(Text.assemble((f"{name:<8}", "dim"), str(place)))
