"""``lupi compare``: check the input, compute, print and write the results."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from lupi._persistence import model_file
from lupi.cli._again import fit_commands, remember
from lupi.cli._column_gains import CHECKPOINT as COLUMNS_CHECKPOINT
from lupi.cli._column_gains import measure_columns, read_groups
from lupi.cli._data import Data, Request, check_metric, read_data
from lupi.cli._errors import InputError, Interrupted, refusing
from lupi.cli._out import CHECKPOINT, prepare_folder, write_results
from lupi.cli._terminal import (
    collected_warnings,
    make_console,
    outcome_note,
    show_comparison,
    show_data,
    show_notes,
    show_outside,
)
from lupi.evaluation import Comparison, LearningCurve
from lupi.evaluation._compare import FIELDS, run
from lupi.evaluation._running import Checkpoint
from lupi.evaluation._study import Study, plan
from lupi.exceptions import ModelFileError
from lupi.report import Usage
from lupi.report._words import choice_words

# The demonstration: number of rows with an outcome, and a method without a search.
DEMO_LABELS = 60
DEMO_METHOD = QUICK_METHOD = "hedged-distillation"
# Arguments of `plan`, by the parameters of the command.
ARGUMENTS = {
    "metric": "scoring",
    "train_size": "train_size",
    "labelled": "labelled",
    "unlabelled": "unlabelled",
    "cv": "cv",
    "n_candidates": "n_candidates",
    "inner_cv": "inner_cv",
    "seed": "random_state",
}


def run_compare(
    asked: Mapping[str, Any],
    *,
    jobs: int,
    out: Path,
    force: bool,
    fingerprint: str | None = None,
) -> None:
    """Compare methods with and without X*, and write the report.

    Parameters
    ----------
    asked : dict
        The parameters of the command that determine what is compared, by name.
    jobs : int
        Number of processes.
    out : Path
        The folder to write.
    force : bool
        Whether to replace older results.
    fingerprint : str, default=None
        Fingerprint of the study that is repeated.
    """
    if asked["unlabelled"] is not None and asked["labelled"] is None:
        raise InputError(
            f"--unlabelled {asked['unlabelled']} limits the training rows without an "
            "outcome of --labelled N; give both options."
        )
    request = Request.of(asked)
    options = {
        argument: asked[name]
        for name, argument in ARGUMENTS.items()
        if asked[name] is not None
    }
    words = " ".join(asked["methods"] or ["default"])
    names = words.replace(",", " ").split()
    quick = asked["quick"]
    if quick and names == ["default"]:
        names = [QUICK_METHOD]
    if request.file is None:
        if not {"train_size", "labelled"} & set(options):
            options["labelled"] = DEMO_LABELS
        names = [DEMO_METHOD] if names == ["default"] else names
        data = _demo(request, few="labelled" in options)
    else:
        data = read_data(request, methods=names, need_privileged=True)
    groups = read_groups(asked["columns"], asked["column_group"] or [], data)
    with collected_warnings() as said:
        study = _plan(data, names, options)
    if not data.has_y.all():
        said.append(
            outcome_note(
                data,
                "they are training rows of the methods that can use them, in the arms "
                "with X*, and never test rows",
            )
        )
    if fingerprint not in (None, study.identity):
        said.append("the data or a version differs from that of the first run.")
    prepare_folder(out, force=force)
    kept = _check_checkpoint(out / CHECKPOINT, study, force=force)
    console = make_console()
    show_data(console, data, study)
    show_notes(console, said)
    if kept:
        show_notes(console, [f"{kept} pieces of an interrupted run are kept."])
    try:
        comparison = _compare(study, out, jobs)
        comparison.settings["made"] |= remember(asked)
        show_comparison(console, comparison)
        gains = measure_columns(console, comparison, groups, out, jobs)
        model = None
        if not asked["no_model"]:
            model = _best_model(console, comparison, data.details)
        curves = {} if quick else _curves(console, comparison, jobs)
    except KeyboardInterrupt:
        # joblib warns of the tasks that it cancels.
        warnings.simplefilter("ignore")
        raise Interrupted(
            f"interrupted; finished work is kept in {out}. The same command continues "
            "from there."
        ) from None
    usage = Usage(
        source=data.source,
        model=None if model is None else str(out / "model.skops"),
        commands=fit_commands(request, comparison.methods),
    )
    write_results(out, comparison, usage, curves, model, gains)
    (out / CHECKPOINT).unlink()
    (out / COLUMNS_CHECKPOINT).unlink(missing_ok=True)
    _show_places(console, out, comparison, saved=model is not None)


@refusing(ValueError)
def _plan(data: Data, methods: list[str], options: dict[str, Any]) -> Study:
    """Check all arguments and return the study."""
    check_metric(options.get("scoring"))
    return plan(**data.arguments, methods=methods, **options)


def _compare(study: Study, out: Path, jobs: int) -> Comparison:
    checkpoint = out / CHECKPOINT
    comparison = run(study, checkpoint=checkpoint, n_jobs=jobs)
    if comparison.verdict.kind == "failed":
        checkpoint.unlink()
        with suppress(OSError):
            out.rmdir()
        name, why = next(iter(comparison.failures.items()))
        raise InputError(f"No method could be fitted; the error of {name} is: {why}")
    return comparison


def _curves(
    console: Console, comparison: Comparison, jobs: int
) -> dict[str, LearningCurve]:
    with console.status("Computing learning curves"):
        curves = comparison.learning_curves(n_jobs=jobs)
        comparison.outside_baseline(n_jobs=jobs)
    show_outside(console, comparison)
    _show_worth(console, comparison, curves)
    return curves


def _best_model(
    console: Console, comparison: Comparison, details: Mapping[str, Any]
) -> bytes | None:
    """Return the file of the best model; None, with a note, if it cannot be saved."""
    with (
        console.status("Fitting the best model on all rows"),
        collected_warnings() as said,
    ):
        model = comparison.best_estimator()
    show_notes(console, said)
    try:
        return model_file(model, details)
    except ModelFileError as error:
        show_notes(console, [f"no model is saved. {error}"])
        return None


def _demo(request: Request, *, few: bool) -> Data:
    """Return the shipped trial, with a description for few labels or few rows."""
    from lupi.datasets import load_actg175

    if (
        request.target
        or request.privileged
        or request.privileged_file
        or request.drop
        or request.group
    ):
        raise InputError(
            "Columns were given without a FILE; write: lupi compare FILE ..."
        )
    trial = load_actg175(as_frame=True)
    patients = "Few patients are available."
    if few:
        patients = (
            "Few patients have a known outcome. Many more are still under observation: "
            "their counts of week 20 are known, their outcome is hidden."
        )
    return Data(
        X=trial.data,
        y=trial.target.to_numpy(),
        privileged=trial.privileged,
        groups=None,
        target="event",
        task="classification",
        source="ACTG 175 trial (shipped with lupi)",
        about=(
            "Patients with HIV. At the start of the therapy only the baseline is "
            "known; the CD4 and CD8 counts of week 20 are privileged. The target is "
            f"whether the disease gets worse. {patients}"
        ),
    )


@refusing(ValueError)
def _check_checkpoint(path: Path, study: Study, *, force: bool) -> int:
    """Return the number of finished pieces of this comparison."""
    try:
        return len(Checkpoint(path, study.identity, FIELDS).read())
    except ValueError as error:
        if not force:
            raise InputError(
                f"{path.parent} has an unfinished comparison with other data or "
                "settings; choose another --out, or start again with --force."
            ) from error
        path.unlink()
        path.with_name(COLUMNS_CHECKPOINT).unlink(missing_ok=True)
        return 0


def _show_worth(console: Console, comparison: Comparison, curves: Any) -> None:
    """Print the number of labels that X* is worth, if it helps."""
    verdict = comparison.verdict
    if verdict.kind == "helps" and verdict.method in curves:
        worth = curves[verdict.method].worth()
        if worth is not None:
            console.print(Text(f"{verdict.method}: {worth}"))


def _show_places(
    console: Console, out: Path, comparison: Comparison, *, saved: bool
) -> None:
    places = {"results": str(out / "results.csv")}
    if saved:
        path = out / "model.skops"
        places["model"] = f"{path}: {choice_words(comparison)}"
        places["predict"] = shlex.join(["lupi", "predict", str(path), "NEW.csv"])
    places["report"] = str(out / "report.html")
    for name, place in places.items():
        console.print(Text.assemble((f"{name:<8}", "dim"), place))
