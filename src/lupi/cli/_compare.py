"""``lupi compare``: check, compute, then say and write what came out."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.text import Text

from lupi.cli._data import Ask, Data, check_class_sizes, check_metric, read_data
from lupi.cli._errors import InputError, Interrupted, refusing
from lupi.cli._out import CHECKPOINT, prepare_folder, write_results
from lupi.cli._terminal import make_console, show_comparison, show_data
from lupi.report import Usage

DEMO_TRAIN_SIZE = 60


@dataclass(frozen=True)
class Options:
    """How to compare, as typed."""

    methods: str
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
    from lupi.evaluation import compare
    from lupi.evaluation._curve import learning_curves
    from lupi.evaluation._splits import DEFAULT_FOLDS

    console = make_console()
    data = _demo(ask) if ask.file is None else read_data(ask, need_privileged=True)
    if options.train_size is None and data.groups is None:
        check_class_sizes(data, options.splits or DEFAULT_FOLDS)
    arguments = _arguments(data, options, demo=ask.file is None)
    identity = _check_plan(arguments)
    prepare_folder(out, force=force)
    checkpoint = out / CHECKPOINT
    kept = _check_checkpoint(checkpoint, identity, force=force)
    show_data(console, data)
    if kept:
        console.print(
            Text(f"note: going on with a run of {kept} finished pieces.", "yellow")
        )
    try:
        comparison = compare(**arguments, checkpoint=checkpoint, n_jobs=options.jobs)
    except KeyboardInterrupt:
        # joblib warns of the work it drops; that is what an interrupt is for.
        warnings.simplefilter("ignore")
        raise Interrupted(
            f"interrupted; what is finished is kept in {out}. The same command goes on "
            "from there."
        ) from None
    if comparison.verdict.kind == "failed":
        checkpoint.unlink()
        name, why = next(iter(comparison.failures.items()))
        raise InputError(f"No method could be fitted; {name} says: {why}")
    show_comparison(console, comparison)
    model = None
    if save_model:
        with console.status("Fitting the model to keep on all rows"):
            model = comparison.best_estimator()
    with console.status("Drawing learning curves"):
        curves = learning_curves(comparison, n_jobs=options.jobs)
    usage = Usage(
        source=data.source,
        model=None if model is None else str(out / "model.skops"),
        command=_fit_command(ask, comparison),
    )
    write_results(out, comparison, usage, curves, model, data.details)
    checkpoint.unlink()
    _show_places(console, out, model is not None, usage)


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
        notes=[
            "2139 patients with HIV. Known when therapy starts: the baseline. "
            "Privileged: the CD4 and CD8 counts of week 20. To predict: whether the "
            f"disease got worse. {DEMO_TRAIN_SIZE} patients to learn from."
        ],
    )


def _arguments(data: Data, options: Options, *, demo: bool) -> dict[str, Any]:
    train_size = options.train_size or (DEMO_TRAIN_SIZE if demo else None)
    names: Any = options.methods
    if names not in ("default", "all"):
        names = [name.strip() for name in names.split(",") if name.strip()]
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


def _fit_command(ask: Ask, comparison: Any) -> str | None:
    """Return the command that fits the best method on the same columns."""
    if ask.file is None:
        return None
    from lupi.evaluation._methods import find_method

    method = find_method(comparison.verdict.method).kebab
    words = ["lupi", "fit", str(ask.file), "--target", str(ask.target)]
    for option, values in (("--privileged", ask.privileged), ("--drop", ask.drop)):
        for value in values:
            words += [option, value]
    words += ["--method", method, "--out", "model.skops"]
    return shlex.join(words)


def _show_places(console: Console, out: Path, saved: bool, usage: Usage) -> None:
    console.print(Text.assemble(("report  ", "dim"), str(out / "report.html")))
    console.print(
        Text.assemble(("results ", "dim"), f"{out / 'results.csv'}, results.json")
    )
    if saved:
        console.print(
            Text.assemble(
                ("model   ", "dim"),
                str(out / "model.skops"),
                ("  (lupi predict ", "dim"),
                (f"{out / 'model.skops'} NEW.csv)", "dim"),
            )
        )
