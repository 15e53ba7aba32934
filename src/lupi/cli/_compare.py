"""``lupi compare``: check the input, compute, print and write the results."""

from __future__ import annotations

import re
import shlex
import textwrap
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lupi._atomic import write_atomically
from lupi._optional import require
from lupi._persistence import model_file
from lupi._words import counted, listed
from lupi.cli import InputError, Interrupted
from lupi.cli._io import (
    WIDE,
    InputTable,
    PlainConsole,
    Request,
    collected_warnings,
    command_words,
    plan_study,
    read_data,
    refusing,
    training_details,
    try_to_write,
    write_figure,
)
from lupi.cli._tables import resolve_columns, to_csv
from lupi.evaluation import ColumnGains, Comparison, LearningCurve
from lupi.evaluation._compare import column_groups, read_json, run
from lupi.evaluation._methods import ARMS, find_method
from lupi.evaluation._running import Checkpoint, one_run, to_plain
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._study import FIELDS, Study, unlike_words
from lupi.evaluation._verdict import ENDS, ROW_NUMBER
from lupi.exceptions import ModelFileError
from lupi.report import Usage, write_html
from lupi.report import _words as wording
from lupi.transfer._propensity import WARN_ABOVE

# The demonstration: number of rows with an outcome, and a method without a search.
DEMO_LABELS = 60
QUICK_METHOD = "hedged-distillation"
# Parameters of the command that are arguments of `plan`, some with another name.
ARGUMENTS = (
    *("metric", "train_size", "labelled", "unlabelled", "cv"),
    *("n_candidates", "inner_cv", "seed"),
)
RENAMED = {"metric": "scoring", "seed": "random_state"}
# Parameters that add results to a comparison without changing its scores.
ADDED = ("no_model", "columns", "column_group")
# Parameters that draw training rows, and those that they replace.
DRAWN = {"train_size": ("labelled", "unlabelled"), "labelled": ("train_size",)}
MODEL, GAINS, SPLITS, CURVE = "model.skops", "columns.csv", "splits.csv", "curve.csv"
RESULTS = (
    *("report.html", "results.csv", "results.json"),
    *(SPLITS, CURVE, GAINS, MODEL, "figures"),
)
LABELS = {name: arm.label for name, arm in ARMS.items()}
CHECKPOINT = "unfinished.jsonl"
GAINS_CHECKPOINT = "unfinished-columns.jsonl"
STYLES = {"helps": "green", "hurts": "red", "failed": "red"}
NARROW = 72


@one_run()
def run_compare(
    asked: Mapping[str, Any],
    *,
    jobs: int,
    out: Path,
    force: bool,
    fingerprint: str | None = None,
) -> None:
    """Compare methods with and without X*, and write the report.

    ``asked`` has the parameters of the command that determine what is compared, and
    ``fingerprint`` is that of the study that is repeated.
    """
    if asked["unlabelled"] is not None and asked["labelled"] is None:
        raise InputError(
            f"--unlabelled {asked['unlabelled']} limits the training rows without an "
            "outcome of --labelled N; give both options."
        )
    started = datetime.now(UTC)
    request = Request.of(asked)
    options = {
        RENAMED.get(name, name): asked[name]
        for name in ARGUMENTS
        if asked[name] is not None
    }
    words = " ".join(asked["methods"] or ["default"])
    names = words.replace(",", " ").split()
    if names == ["default"] and (asked["quick"] or request.file is None):
        names = [QUICK_METHOD]
    if request.file is None:
        if not {"train_size", "labelled"} & set(options):
            options["labelled"] = DEMO_LABELS
        data = _demo(request, few="labelled" in options)
    else:
        data = read_data(request, methods=names, need_privileged=True)
    groups = _read_groups(asked["columns"], asked["column_group"] or [], data)
    with collected_warnings() as said:
        study = plan_study(data, names, options)
    if fingerprint not in (None, study.identity):
        said.append("the data or a version differs from that of the first run.")
    _prepare_folder(out, force=force)
    kept = _check_checkpoint(out / CHECKPOINT, study, force=force)
    console = PlainConsole()
    _show_data(console, data, study)
    pieces = counted(kept, "pieces of an interrupted run are")
    said += [f"{pieces} kept."] * bool(kept)
    console.notes(said)
    try:
        comparison = run(study, checkpoint=out / CHECKPOINT, n_jobs=jobs)
        if comparison.verdict.kind == "failed":
            (out / CHECKPOINT).unlink()
            with suppress(OSError):
                out.rmdir()
            name, why = next(iter(comparison.failures.items()))
            raise InputError(
                f"No method could be fitted; the error of {name} is: {why}"
            )
        again = ["--from", str(out / "results.json"), "--out", f"{out}-again"]
        comparison.settings["made"] |= {
            "date": started.isoformat(timespec="seconds"),
            "again": shlex.join(["lupi", "compare", *again]),
            "command": shlex.join(["lupi", "compare", *command_words(asked)]),
            "asked": {
                name: str(value) if isinstance(value, Path) else value
                for name, value in asked.items()
            },
        }
        if not asked["no_model"]:
            comparison.at_full_size(n_jobs=jobs)
        with console.status("Scoring the external baseline"):
            comparison.outside_baseline(n_jobs=jobs)
        _show_comparison(console, comparison)
        gains = _measure_columns(console, comparison, groups, out, jobs)
        model: bytes | None = None
        curves: dict[str, LearningCurve] = {}
        if not asked["no_model"]:
            model = _best_model(console, comparison, data.details)
        if not asked["quick"]:
            with console.status("Computing learning curves"):
                curves = comparison.learning_curves(n_jobs=jobs)
        verdict = comparison.verdict
        curve = curves.get(verdict.method or "")
        if verdict.kind == "helps" and curve and curve.worth() is not None:
            worth = wording.curve_words(curve, comparison.settings["splits"])
            console.say(f"{verdict.method}: {worth}")
    except KeyboardInterrupt:
        # joblib warns of the tasks that it cancels.
        warnings.simplefilter("ignore")
        raise Interrupted(
            f"interrupted; finished work is kept in {out}. The same command continues "
            "from there."
        ) from None
    seconds = (datetime.now(UTC) - started).total_seconds()
    comparison.settings["seconds"] = seconds
    usage = Usage(
        source=data.source,
        model=None if model is None else str(out / MODEL),
        commands=_fit_commands(request, comparison.methods),
    )
    _write_results(out, comparison, usage, curves, model, gains)
    for step in comparison.next_steps(command_line=True):
        console.say(step, label="next")
    for name in (CHECKPOINT, GAINS_CHECKPOINT):  # an equal run may have ended before
        (out / name).unlink(missing_ok=True)
    for label, name in (("results", "results.csv"), ("splits", SPLITS)):
        console.say(str(out / name), label=label)
    if curves:
        console.say(str(out / CURVE), label="curve")
    if model is not None:
        path = out / MODEL
        console.say(f"{path}: {wording.choice_words(comparison)}", label="model")
        predict = shlex.join(["lupi", "predict", str(path), "NEW.csv"])
        console.say(predict, label="predict")
    console.say(str(out / "report.html"), label="report")


def _best_model(
    console: PlainConsole, comparison: Comparison, details: Mapping[str, Any]
) -> bytes | None:
    """Return the file of the best model; None, with a note, if it cannot be saved."""
    with (
        console.status("Fitting the best model on all rows"),
        collected_warnings() as said,
    ):
        model = comparison.best_estimator()
    console.notes(said)
    assert comparison.study is not None
    method, arm = comparison.choice
    rows = comparison.study.final_rows(method, arm)
    X = comparison.study.X
    trained = training_details(model, X, method, arm, rows)
    measured = to_plain(_measured(comparison, method))
    try:
        words = {"model": wording.model_words(comparison), "comparison": measured}
        return model_file(model, {**details, **trained, **words})
    except ModelFileError as error:
        console.notes([f"no model is saved. {error}"])
        return None


def _measured(comparison: Comparison, method: str) -> dict[str, Any]:
    """Return the verdict and the scores of a method, for the file of the model."""
    settings = comparison.settings
    base = settings["base_models"][method]
    without = LABELS["without"] + f" ({base})" * bool(base)
    labels = LABELS | {"without": without}
    scores = {}
    for own in wording.sizes(comparison):
        levels = own.intervals().replace({"arm": labels})
        levels = levels[levels["method"] == method]
        words = wording.split_words(own.settings, len(own.left_out))
        outside = own.settings.get("outside") or {"score": None}
        baselines = [
            {"arm": wording.EXTERNAL, "value": outside["score"], **outside},
            {"arm": wording.CONSTANT, "value": own.settings["constant"]},
        ]
        scores[words] = [
            {name: line.get(name) for name in ("arm", "value", "low", "high")}
            for line in [*levels.to_dict("records"), *baselines]
            if line["value"] is not None
        ]
    limits = []
    if settings["splits"]["kind"] != "time":
        limits.append("The splits were random: scores on later rows may be lower.")
    labels = settings["labels"]
    if labels["n_unlabelled"]:
        limits.append("Scores are those of rows whose outcome is known.")
        limits += [unlike_words(labels)] * bool(labels["auc"] > WARN_ABOVE)
    calibration, verdict = wording.kept_calibration(comparison), comparison.verdict
    return {
        "method": method,
        "metric": metric_name(settings["scoring"]),
        "verdict": f"{verdict.headline} {verdict.sentence}",
        "full_size": wording.full_size_words(comparison),
        "expected": wording.expected_words(comparison),
        "scores": scores,
        "cut": wording.cut_words(comparison),
        "notes": wording.notes(comparison),
        "limits": limits + [calibration] * bool(calibration),
        "below": wording.below_words(comparison),
        "calibration": calibration,
        "by_time": settings["splits"]["kind"] == "time",
    }


def _demo(request: Request, *, few: bool) -> InputTable:
    """Return the shipped trial, with a description for few labels or few rows."""
    from lupi.datasets import load_actg175

    columns = "target", "privileged", "privileged_file", "drop", "group", "time"
    if any(getattr(request, name) for name in columns):
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
    return InputTable(
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
        path.with_name(GAINS_CHECKPOINT).unlink(missing_ok=True)
        return 0


def _fit_commands(request: Request, methods: list[str]) -> dict[str, str]:
    """Return the commands that fit each method on the same columns, by method."""
    if request.file is None:
        return {}
    commands = {}
    asked = asdict(request)
    # These columns make splits, which a fit does not have.
    times = [asked.pop(name) for name in ("time", "outcome_time", "clean")]
    others = [name for name in times if name and name != ROW_NUMBER]
    asked["drop"] = [*asked["drop"], *others]
    for name in methods:
        # A method that is given twice has the name "SVCPlus (2)" the second time.
        kebab = find_method(name.split(" (")[0]).kebab
        end = ["--method", kebab, "--out", "model.skops"]
        commands[name] = shlex.join(["lupi", "fit", *command_words(asked), *end])
    return commands


@refusing(ValueError)
def recall(
    path: Path, asked: Mapping[str, Any], given: Iterable[str]
) -> tuple[dict[str, Any], str | None]:
    """Return the parameters of a study that is repeated, and its fingerprint.

    Those ``given`` on the command line replace those of the study; the fingerprint is
    then None.
    """
    if not path.exists():
        raise InputError(f"No such file: {path}")
    made = read_json(path)["settings"].get("made", {})
    if "asked" not in made:
        raise InputError(
            f"{path} has no command, because the comparison was made in Python. "
            "Repeat it there."
        )
    kept = {name: value for name, value in made["asked"].items() if name in asked}
    for name in ("file", "privileged_file"):
        if kept.get(name) is not None:
            kept[name] = Path(kept[name])
    typed = {name: asked[name] for name in given}
    dropped = {other: None for name in DRAWN if name in typed for other in DRAWN[name]}
    changed = set(typed) - set(ADDED)
    return (
        {**asked, **kept, **dropped, **typed},
        None if changed else made["fingerprint"],
    )


@refusing(ValueError)
def _read_groups(
    asked: bool, words: list[str], data: InputTable
) -> dict[str, list[str]] | None:
    """Return the groups of privileged columns to measure; None if not requested."""
    if not (asked or words) or data.privileged is None:
        return None
    names = list(data.privileged.columns)
    groups: dict[str, list[str]] = {}
    for word in words:
        name, mark, patterns = word.partition("=")
        if not (mark and name.strip() and patterns.strip(" ,")):
            raise InputError(
                f"--column-group {word}: write NAME=COLS, such as labs=cd4*,cd8*."
            )
        name = name.strip()
        if name in groups:
            raise InputError(
                f"--column-group: the name {name!r} is given twice; use another name."
            )
        groups[name] = resolve_columns([patterns], names, f"--column-group {name}")
    column_groups(names, groups)
    return groups


def _measure_columns(
    console: PlainConsole,
    comparison: Comparison,
    groups: dict[str, list[str]] | None,
    out: Path,
    jobs: int,
) -> ColumnGains | None:
    """Measure and print the gains of single columns, if requested."""
    if groups is None:
        return None
    gains = comparison.columns(groups, n_jobs=jobs, checkpoint=out / GAINS_CHECKPOINT)
    console.say("\nWhich privileged column helps?", "bold")
    console.say(
        f"Gain of {gains.method} in {metric_name(gains.scoring)} over the same "
        "model without X*, with its 95 % interval: with each column alone, and "
        "with it left out.",
        "dim",
    )
    wide = console.width >= NARROW
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("privileged", overflow="fold")
    for heading in wording.GAIN_COLUMNS[: 3 if wide else 2]:
        table.add_column(heading, justify="right", no_wrap=True)
    for group, *cells in wording.gain_cells(gains):
        table.add_row(Text(group), *(cells if wide else cells[:2]))
    console.print(table)
    console.say(gains.sentence)
    return gains


def _show_data(console: PlainConsole, data: InputTable, study: Study) -> None:
    """Print what is compared, and the number of fits."""
    console.say("\nDoes the privileged information help?", "bold")
    counts = [
        max(len(study.candidates(method, arm)) for arm in ARMS)
        for method in study.methods
    ]
    fits = sum(1 if count == 1 else count * study.inner_cv + 1 for count in counts)
    fits *= len(ARMS) * len(study.splits)
    names = listed([method.name for method in study.methods], most=4)
    methods = f"{names} in {len(ARMS)} arms, at most {fits:,} fits"
    facts = wording.data_facts(study.settings)
    console.facts([("Data", data.source), *facts, ("Methods", methods)])
    if data.about:
        console.say(f"\n{data.about}", "italic")
    console.notes(data.notes)
    console.print()


def _show_comparison(console: PlainConsole, comparison: Comparison) -> None:
    """Print the table, the verdict and what limits it."""
    settings = comparison.settings
    console.say(f"{metric_name(settings['scoring'])}, higher is better.", "dim")
    console.print(_score_table(comparison, wide=console.width >= WIDE))
    meanings = wording.gain_words(comparison).items()
    console.facts([*wording.arm_meanings(settings), *meanings], "dim")
    for name, why in comparison.failures.items():
        console.say(f"{name} could not be fitted: {why}", "red")
    verdict = comparison.verdict
    body = Text(verdict.headline, style="bold")
    for words in filter(None, [verdict.sentence, wording.full_size_words(comparison)]):
        body.append("\n\n" + words, style="not bold")
    style = STYLES.get(verdict.kind, "cyan")
    console.print(
        Panel(body, title="verdict", border_style=style, padding=(1, 2), expand=False)
    )
    for words in wording.notes(comparison):
        console.say(f"• {words}")
    for item in comparison.warnings:
        said = wording.warning_words(item)
        if not said.startswith(item["method"]):
            said = f"{item['method']}: {said}"
        console.say(f"note: {said}", "dim yellow")
    console.notes(filter(None, [wording.kept_calibration(comparison)]))


def _score_table(comparison: Comparison, *, wide: bool) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1) if wide else (0, 1, 0, 0),
        pad_edge=wide,
        header_style="bold",
    )
    table.add_column("method", no_wrap=True)
    # In two lines, so that the table is not wider than its numbers.
    headings = [label.replace(" X*", "\nX*") for label in LABELS.values()]
    for heading in (*headings, "gain", "p", *["gap\nclosed"] * wide):
        # Intervals of small numbers, which have many digits, can have two lines.
        whole = not wide or heading != "gain"
        table.add_column(heading, justify="right", no_wrap=whole)
    width = 26 if wide else 20
    for (label, *cells), line in wording.score_lines(comparison):
        helps = line is not None and line["verdict"] == "helps"
        name = Text("\n".join(textwrap.wrap(label, width, subsequent_indent="  ")))
        if line is not None:
            name = Text(_in_lines(label, width))
            said = "\n".join(textwrap.wrap(wording.method_verdict(line), width))
            name.append(f"\n{said}", style=STYLES.get(line["verdict"], "dim"))
        if not wide:
            cells = [cell.replace(" to ", " to\n") for cell in cells[:7]]
        if not cells:
            table.add_section()
        table.add_row(name, *cells, style="bold" if helps or not cells else "")
    return table


def _in_lines(name: str, width: int = 20) -> str:
    r"""Return a class name with line breaks between its words.

    Examples
    --------
    >>> _in_lines("KnowledgeTransferClassifier")
    'KnowledgeTransfer\nClassifier'
    """
    lines = [""]
    for word in re.findall(r".+?(?<![A-Z])(?=[A-Z])|.+", name):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def _prepare_folder(folder: Path, *, force: bool) -> None:
    """Create the folder if needed, and check that it is writable."""
    if folder.is_file():
        raise InputError(f"{folder} is a file; give a folder as --out.")
    older = [name for name in RESULTS if (folder / name).exists()]
    if older and not force:
        raise InputError(
            f"{folder} has the result of an older run ({', '.join(older)}); choose "
            "another --out, or replace it with --force."
        )
    try_to_write(folder, folder)


def _write_results(
    folder: Path,
    comparison: Comparison,
    usage: Usage,
    curves: dict[str, LearningCurve],
    model: bytes | None,
    columns: ColumnGains | None,
) -> None:
    """Write all output files, the report last."""
    curve = [each.table.replace({"arm": LABELS}) for each in curves.values()]
    files: dict[str, Any] = {
        MODEL: model,
        GAINS: None if columns is None else to_csv(columns.table),
        CURVE: to_csv(pd.concat(curve)) if curve else None,
    }
    for name, content in files.items():
        if content is not None:
            write_atomically(folder / name, content)
        else:
            # The file of an older run would not belong to this report.
            (folder / name).unlink(missing_ok=True)
    comparison.to_json(folder / "results.json")
    write_atomically(folder / "results.csv", to_csv(_all_scores(comparison)))
    write_atomically(folder / SPLITS, to_csv(wording.split_scores(comparison)))
    require("matplotlib", "The report").use("Agg")
    (folder / "figures").mkdir(exist_ok=True)
    figures = {"comparison": comparison.plot().figure_}
    if columns is not None:
        figures["columns"] = columns.plot().figure_
    for (name, figure), suffix in product(figures.items(), ("svg", "png")):
        write_figure(figure, folder / "figures" / f"{name}.{suffix}")
    write_html(comparison, folder / "report.html", usage, curves, columns)


def _all_scores(comparison: Comparison) -> pd.DataFrame:
    """Return the scores of arms and baselines, at every size."""
    tables = []
    for own in wording.sizes(comparison):
        settings = own.settings
        outside, constant = settings.get("outside"), settings["constant"]
        lines = own.table.replace({"arm": LABELS}).to_dict("records")
        if outside:
            line = {"method": outside["name"], "arm": wording.EXTERNAL}
            line |= {name: outside[name] for name in own.table if name in outside}
            ends = {end: outside[f"over_without{end}"] for end in ENDS}
            lines.append(line | {f"difference{end}": ends[end] for end in ENDS})
        if constant is not None:
            line = {"method": wording.CONSTANT, "arm": "constant baseline"}
            also = settings["also"] | settings["random"]
            lines.append(line | {"score": constant} | also)
        splits = settings["splits"]
        low, high = splits["n_train_range"]
        sizes = {"n_train": splits["n_train"], "n_train_min": low, "n_train_max": high}
        sizes["n_splits"] = splits["n_splits"] - len(own.left_out)
        tables.append(pd.DataFrame(lines).assign(**sizes))
    return pd.concat(tables, ignore_index=True)
