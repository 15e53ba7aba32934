"""``lupi columns``, ``fit``, ``predict``, ``labels``, ``card`` and ``methods``."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from sklearn.pipeline import Pipeline

from lupi._atomic import write_atomically
from lupi._optional import require
from lupi._persistence import load_with_details, model_file
from lupi._words import counted, listed, listed_columns, number, percent
from lupi.base._metadata import last_step
from lupi.cli import InputError
from lupi.cli._io import (
    InputTable,
    PlainConsole,
    Request,
    collected_warnings,
    command_words,
    drift_notes,
    plan_study,
    prepare_file,
    read_data,
    refusing,
    training_details,
    without_values,
    write_figure,
)
from lupi.cli._tables import nearest, neutral, read_table, resolve_columns, to_csv
from lupi.evaluation import LabelCheck, check_labels, column_scores
from lupi.evaluation._measures import (
    DATES,
    FOLLOWS_ROWS,
    GROUPS,
    LIMITS,
    MISSING_WORDS,
    MOST_ROWS,
    SORTED,
    USELESS,
    WRITTEN,
)
from lupi.evaluation._methods import all_methods
from lupi.evaluation._order import (
    columns_of,
    numbers_rows,
    ordered_columns,
    times_of_rows,
    times_rows,
    unordered_words,
)
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._verdict import ROW_NUMBER
from lupi.exceptions import ModelFileError, ModelVersionWarning

MOST_NOTES = 8
# Share of outcomes that the prediction intervals contain.
COVERAGE = 0.9
WIDE = 76
# The chart of the rates of wrong labels.
WIDTH_OF_BAR, MOST_GROUPS = 24, 60
CHARTS, PARQUET = (".svg", ".png", ".pdf"), (".parquet", ".pq")
# Columns shown by `lupi columns`; its file has all.
MOST_SHOWN = 60
# The classifier or the regressor, depending on the task.
DEFAULT_METHOD = "hedged-distillation"


def run_columns(
    request: Request,
    *,
    metric: str | None,
    seed: int,
    jobs: int,
    out: Path | None,
    force: bool,
) -> None:
    """Score every column on its own, and mark suspiciously good ones."""
    data = read_data(request, methods=[], need_privileged=False)
    if out is not None:
        prepare_file(out, force=force)
    console = PlainConsole()
    with console.status(f"Scoring {data.X.shape[1]} columns"), refusing(ValueError):
        scores = column_scores(
            pd.concat([data.X, data.privileged], axis=1),
            data.y,
            scoring=metric,
            groups=data.groups,
            task=data.task,
            random_state=seed,
            n_jobs=jobs,
        )
    _show_columns(console, data, scores)
    if out is not None:
        write_atomically(out, to_csv(scores))
        console.say(str(out), label="table")
    _show_next_command(console, request, data, scores)


def _show_columns(
    console: PlainConsole, data: InputTable, scores: pd.DataFrame
) -> None:
    name = metric_name(scores.attrs["scoring"])
    about = f"{data.target} ({data.task})"
    console.say(f"\nHow well does each column predict {about}?", "bold")
    console.notes(data.notes)
    known = int(data.has_y.sum())
    drawn = f" of {MOST_ROWS:,} rows drawn" if known > MOST_ROWS else ""
    rows = f"{len(data.y):,} rows"
    if known < len(data.y):
        rows += f", of which {known:,} have an outcome and are scored (missing: of all)"
    of_class = ""
    if scores["best_class"].any():
        of_class = (
            " It is the mean over the classes; one class alone can mark a column."
        )
    how = (
        f"Score: {name} of a small tree on this column only, in "
        f"{scores.attrs['n_folds']} folds{drawn}; higher is better.{of_class}"
    )
    if scores["score"].isna().all():
        how = "They are too few to score columns, or no column has values that differ."
    console.say(f"{rows}. {how}", "dim")
    wide = console.width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("column", overflow="fold")
    table.add_column("type", no_wrap=True)
    table.add_column("missing", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("")
    for line in scores.head(MOST_SHOWN).to_dict("records"):
        marked = line["suspicious"]
        remarks = [line["note"]] if line["note"] else []
        if line["means_missing"]:
            values = (f"“{value}”" for value in line["means_missing"].split(", "))
            remarks.append(f"{listed(values)} may stand for no value")
        if marked:
            remarks.insert(0, f"known when predicting?{_of_class(line)}")
        said = "; ".join(remarks) if wide else "?" * bool(remarks)
        table.add_row(
            Text(line["column"]),
            f"{line['n_values']} categories"
            if line["type"] == "category"
            else line["type"],
            percent(line["missing"], "<") if line["missing"] else "",
            number(line["score"]),
            Text(said, "yellow" if marked or line["means_missing"] else "dim"),
            style="bold" if marked else "",
        )
    console.print(table)
    if len(scores) > MOST_SHOWN:
        more = f"{len(scores) - MOST_SHOWN:,} columns with lower scores are not shown"
        console.say(f"{more}; --out FILE.csv writes all.", "dim")


def _of_class(line: Mapping[str, Any]) -> str:
    """Return the class that a column predicts best, with its AUC; empty of two."""
    if not line["best_class"]:
        return ""
    return f" (AUC {number(line['best_class_score'])} of {line['best_class']})"


def _show_next_command(
    console: PlainConsole, request: Request, data: InputTable, scores: pd.DataFrame
) -> None:
    """Print the suspicious columns and the next command."""
    known = dict(columns_of(data.X, list(data.X)))
    columns = known | dict(columns_of(data.privileged, data.details["privileged"]))
    dates = scores.loc[scores["note"].isin(DATES), "column"]
    of_rows = [n for n in dates if columns[n].notna().all()]
    of_rows = [n for n in of_rows if times_rows(n, columns[n])]
    # A trend in time is not known later.
    useful = ~scores["note"].isin((*USELESS, *SORTED, GROUPS))
    useful &= ~scores["column"].isin(of_rows)
    found = scores[scores["suspicious"] & useful]
    marked = found["column"].tolist()
    useless = scores.loc[scores["note"].isin(USELESS), "column"]
    one = len(marked) == 1
    if marked:
        words = [
            f"{listed_columns([line['column']])}{_of_class(line)}"
            for line in found.to_dict("records")
        ]
        said = Text(listed(words, most=4), "bold")
        said.append(
            f" {'predicts' if one else 'predict'} {data.target} suspiciously well. "
            "Columns that are not known when predicting are privileged, and must not "
            "be used as features: check first "
            f"{'whether this one is' if one else 'which of these are'} known later.",
            "not bold",
        )
        console.print(said)
    else:
        lines = scores[scores["suspicious"]].to_dict("records")
        named = listed((f"{each['column']} ({each['note']})" for each in lines), most=4)
        console.say(
            f"{f'Apart from {named}, no' if lines else 'No'} column is suspicious. "
            "Give the columns that are known only later as privileged."
        )
    values = _missing_values(console, data, scores)
    written = scores.loc[scores["note"] == WRITTEN, "column"]
    if len(written):
        has = "has" if len(written) == 1 else "have"
        texts = (max(columns[name].dropna().astype(str), key=len) for name in written)
        console.say(
            f"{listed_columns(written, most=4)} {has} numbers written as text, such as "
            f"{listed((f'“{text}”' for text in texts), 'or', most=4)}, which are used "
            "as text. Write plain numbers in their place: a decimal point, no "
            "thousands separators and no units."
        )
    limits = scores.loc[scores["note"].str.startswith(LIMITS), "column"]
    if len(limits):
        console.say(
            f"Limits such as <5 make {listed_columns(limits, most=4)} text: write "
            "numbers in their place, such as 5, to have it read as numbers."
        )
    kind = float if data.task == "regression" else object
    drifts = ordered_columns({data.target: pd.Series(data.y, dtype=kind)})[0]
    sorting = {name: columns[name] for name in ordered_columns(columns)[1]}
    times, by_number, unordered = times_of_rows(known, sorting if drifts else {})
    # Numbers of the rows, with gaps, unless they may be times that matter.
    note = scores.set_index("column")["note"]
    gaps = [n for n in known if note[n] in SORTED and numbers_rows(known[n])]
    groups = [n for n in known if note[n] == GROUPS and known[n].notna().all()]
    groups = [request.group, *groups] if request.group else groups
    asked = replace(
        request,
        target=data.target,
        privileged=[name for name in marked if name in known],
        drop=[*request.drop, *useless.head(8), *([] if drifts else gaps), *groups[1:]],
        group=next(iter(groups), None),
        missing=[*request.missing, *values],
    )
    alone = replace(asked, group=request.group)
    requests = [
        replace(each, time=name)
        for name in times
        for each in ([asked, alone] if groups else [asked])
    ]
    # Rare classes can be in few windows, and in few folds of whole groups.
    tried = [(each, cv) for each in [*requests, asked] for cv in (None, 4, 3, 2)]
    usual = asked, None
    asked, cv = next(
        (one for one in [*tried, (alone, None)] if _can_compare(*one)), usual
    )
    if asked.time:
        console.say(
            f"{asked.time} has times of the rows, by their order or its name: --time "
            "trains on the past and tests on the future."
        )
    if groups and not request.group:
        instead = f" instead of --time {asked.time}" * (asked.time is not None)
        console.say(
            f"The rows of one {listed_columns(groups[:1])} belong together: --group "
            f"{shlex.quote(groups[0])}{'' if asked.group else instead} never trains "
            "and tests on rows of the same one."
        )
    if unordered := [name for name in unordered if name not in marked]:
        console.say(unordered_words(unordered))
    if drifts:
        rows = scores.loc[scores["note"].isin((FOLLOWS_ROWS, *SORTED)), "column"]
        verb = "does" if len(rows) == 1 else "do"
        which = f", as {listed_columns(rows, most=4)} {verb}" if len(rows) else ""
        # Rows sorted by group are not sorted by time.
        ordered = asked.time is None and by_number and not groups
        ordered = ordered and _can_compare(replace(asked, time=ROW_NUMBER))
        console.say(
            f"Careful: {data.target} depends on the order of the rows{which}. If "
            "the rows are ordered in time, random splits are too optimistic"
            f"{f': add --time {ROW_NUMBER} to the command' * ordered}."
        )
    known_later = asked.privileged or asked.privileged_file
    if not known_later or not _can_compare(asked, cv):
        asked = replace(asked, privileged=["LATER_COLUMNS"])
    elif asked.privileged:
        names = listed_columns(asked.privileged, most=4)
        are = "is" if len(asked.privileged) == 1 else "are"
        console.say(f"If {names} {are} known later:")
    words = command_words(asdict(asked) | {"cv": cv})
    command = shlex.join(["lupi", "compare", *words])
    console.say(command, label="\nnext   ", in_one_line=True)


def _missing_values(
    console: PlainConsole, data: InputTable, scores: pd.DataFrame
) -> list[str]:
    """Return the values that mean missing in every column that has them."""
    table = pd.concat([data.X, data.privileged], axis=1)
    values = scores.set_index("column")["means_missing"].str.split(", ").explode()
    safe = []
    values = values[values != ""]
    for value, own in values.groupby(values.to_numpy(), sort=False):
        changed: list[str] = []
        without_values(table, [str(value)], changed)
        if not (value.lstrip("-").isdigit() or value.lower() in MISSING_WORDS):
            option = shlex.quote(f"--missing={value}")
            console.say(
                f"“{value}” may stand for no value in "
                f"{listed_columns(own.index, most=4)}, or be a result: if it means no "
                f"value, add {option} to the command."
            )
            continue
        if len(changed) == len(own):
            safe.append(str(value))
            continue
        console.say(
            f"“{value}” may stand for no value in {listed_columns(own.index, most=4)}, "
            "and other columns have it as well, so that --missing is not suggested: "
            "empty these cells in the file."
        )
    return safe


def _can_compare(request: Request, cv: int | None = None) -> bool:
    """Return whether a comparison of these columns can begin."""
    try:
        data = read_data(request, methods=[], need_privileged=False)
        with collected_warnings():  # `lupi compare` says them
            plan_study(data, [DEFAULT_METHOD], {"cv": cv})
    except InputError:
        return False
    return True


def run_fit(
    request: Request,
    *,
    method: str | None,
    metric: str | None,
    n_candidates: int,
    inner_cv: int,
    seed: int,
    out: Path,
    force: bool,
) -> None:
    """Search on all rows, fit the best candidate, save it."""
    console = PlainConsole()
    method = method or DEFAULT_METHOD
    data = read_data(request, methods=[method], need_privileged=False)
    options = {"scoring": metric, "n_candidates": n_candidates, "random_state": seed}
    with collected_warnings() as said:
        folds = {"inner_cv": inner_cv, "cv": inner_cv}
        study = plan_study(data, [method], options | folds)
    name = study.methods[0].name
    arm = "without" if data.privileged is None else "with"
    rows = study.final_rows(name, arm)
    without_y = len(rows.rows) - rows.n_labelled
    notes = [*data.notes, *said]
    if not data.has_y.all():
        missing = "is empty" + " or means missing" * bool(data.missing)
        unknown = counted((~data.has_y).sum(), "rows have", len(data.y))
        notes.append(
            f"{unknown} no outcome (the cell of {data.target!r} {missing}); training "
            f"rows of {name} without an outcome: {without_y:,}."
        )
    prepare_file(out, force=force)
    console.notes(notes)
    with (
        console.status(f"Fitting {name} on {len(rows.rows):,} rows"),
        collected_warnings() as said,
    ):
        model = study.final_estimator(name, arm, refit=True)
    console.notes(said)
    details = data.details | training_details(model, data.X, name, arm, rows)
    write_atomically(out, model_file(model, details))
    console.say(
        f"{name} fitted on {len(rows.rows):,} rows and {data.X.shape[1]} columns; "
        f"saved as {out}."
    )
    console.say(f"Predict with: lupi predict {out} NEW.csv", "dim")


def run_predict(
    model: Path, file: Path, *, out: Path, keep: list[str] | None, force: bool
) -> None:
    """Write one prediction per row of the file."""
    to_pipe = str(out) == "-"
    if out.suffix.lower() not in ("", ".csv", *PARQUET):
        raise InputError(
            f"--out {out}: predictions are written as CSV or Parquet; give a name that "
            "ends in .csv or .parquet."
        )
    console = PlainConsole(stderr=to_pipe)
    found, details, notes = _read_model(model)
    table, kept, more = _read_rows(file, keep or [])
    table = without_values(table, details.get("missing", []))
    features = details.get("features") or list(getattr(found, "feature_names_in_", ()))
    if not features:
        raise InputError(
            f"{model} was fitted on an array without column names, so that the columns "
            "it needs are not known; predict with it in Python."
        )
    X = _take_features(table, features, details.get("numbers", []), file)
    if not to_pipe:
        prepare_file(out, force=force)
    predictions = _predict(found, X)
    with _details_of(model):
        drift = drift_notes(X, details.get("schema"))
    more += drift[:MOST_NOTES]
    if len(drift) > MOST_NOTES:
        others = counted(len(drift) - MOST_NOTES, "others of this kind are")
        more.append(f"{others} not shown.")
    more += _never_predicted(found, predictions)
    measured = details.get("comparison")
    measured = measured if isinstance(measured, dict) else {}
    said = (measured.get(name) for name in ("below", "calibration"))
    more += [str(words) for words in said if words]
    written = pd.concat([kept, predictions], axis=1)
    in_parquet = out.suffix.lower() in PARQUET
    changed = kept.notna() & (kept != neutral(kept).set_axis(kept.columns, axis=1))
    if changed.any(axis=None) and not in_parquet:
        more.append(
            f"Text of {listed(kept.columns[changed.any()])} that begins with =, +, - "
            "or @ is preceded by an apostrophe, so that no spreadsheet evaluates it; a "
            "file .parquet has it unchanged."
        )
    console.notes(notes + more)
    if f"{COVERAGE:.0%} low" in predictions:
        console.say(_coverage_words(measured), "dim")
    if to_pipe:
        sys.stdout.write(to_csv(written))
        return
    if in_parquet:
        write_atomically(out, written.to_parquet(index=False))
    else:
        write_atomically(out, to_csv(written))
    trained = ""
    if isinstance(details.get("n_outcomes"), int):
        trained = f" by a model trained on {details['n_outcomes']:,} outcomes,"
    console.say(f"{len(predictions):,} predictions{trained} written to {out}")


def _never_predicted(model: Any, predictions: pd.DataFrame) -> list[str]:
    """Return a note on classes of the training rows that no prediction is."""
    first, *others = predictions
    found = set(predictions[first])
    never = [label for label in getattr(model, "classes_", ()) if label not in found]
    if not never or len(predictions) < len(model.classes_):
        return []
    words = "every prediction is " + "".join(f"'{label}'" for label in found)
    if len(found) > 1:
        names = listed((f"'{label}'" for label in never), "or", most=4)
        words = f"no prediction is {names}, of which there are training rows"
    own = [name for name in others if name.partition(" of ")[2] in map(str, never)]
    ranks = listed((repr(name) for name in own or others), "or", most=4)
    return [f"{words}; rank the rows by {ranks}." if ranks else f"{words}."]


def _read_model(path: Path) -> tuple[Any, dict[str, Any], list[str]]:
    if not path.exists():
        raise InputError(f"No such file: {path}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelVersionWarning)
        try:
            model, details = load_with_details(path)
        except ModelFileError as error:
            raise InputError(str(error)) from error
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    return model, details, [str(item.message) for item in caught]


@contextmanager
def _details_of(model: Path) -> Iterator[None]:
    """Convert errors of details of a file that lupi did not write."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(
            f"{model} has details that are not those of lupi: {error}."
        ) from error


def _read_rows(
    file: Path, keep: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    table, notes = read_table(file)
    return table, table[resolve_columns(keep, list(table.columns), "--keep")], notes


def _take_features(
    table: pd.DataFrame, features: list[str], numbers: list[str], file: Path
) -> pd.DataFrame:
    """Return the features; refuse text among numbers, which would become missing."""
    missing = [name for name in features if name not in table.columns]
    if missing:
        near = nearest(missing[0], [each for each in table if each not in features])
        hint = f" (is it {near!r} there?)" if near else ""
        raise InputError(
            f"{file} does not have {listed(missing, most=8)}{hint}, which the model "
            "needs. Add the missing columns."
        )
    for name in set(numbers) & set(features):
        column = table[name]
        wrong = pd.to_numeric(column, errors="coerce").isna() & column.notna()
        if wrong.any():
            raise InputError(
                f"{file}: the column {name!r} has {str(column[wrong].iloc[0])!r}, but "
                "the model was fitted on numbers. Correct the values, or leave these "
                "cells empty."
            )
    return table[features]


def _predict(model: Any, X: pd.DataFrame) -> pd.DataFrame:
    # A ValueError here means that a column has changed since the training, such as
    # text in place of numbers; its message names the column.
    try:
        columns: dict[str, Any] = {"prediction": np.asarray(model.predict(X))}
        words = {"predict_proba": "probability", "decision_function": "score"}
        response = next((name for name in words if hasattr(model, name)), None)
        if response is not None:
            # Two classes have one column of scores, that of the second.
            values = np.asarray(getattr(model, response)(X)).reshape(len(X), -1)
            labels = model.classes_[-values.shape[1] :]
            for label, scores in zip(labels, values.T, strict=True):
                columns[f"{words[response]} of {label}"] = scores
        columns |= _interval(model, X)
    except ValueError as error:
        raise InputError(f"The model cannot use these rows: {error}") from error
    return pd.DataFrame(columns, index=X.index)


def _interval(model: Any, X: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the ends of prediction intervals, if the model has them."""
    last = last_step(model)
    if not hasattr(last, "predict_interval"):
        return {}
    rows = model[:-1].transform(X) if isinstance(model, Pipeline) else X
    try:
        low, high = last.predict_interval(rows, coverage=COVERAGE).T
    except ValueError:
        # Too few labelled rows for this coverage.
        return {}
    return {f"{COVERAGE:.0%} low": low, f"{COVERAGE:.0%} high": high}


def _coverage_words(measured: Mapping[str, Any]) -> str:
    """Return for which rows the prediction intervals have their coverage."""
    later = ", and fewer if rows change with time" * bool(measured.get("by_time"))
    return (
        f"The prediction intervals contain {COVERAGE:.0%} of the outcomes, on average "
        f"over rows that are like the training rows{later}, and over training samples: "
        "with few outcomes, those of one model can contain more or fewer. They are "
        "equally wide in all rows: where outcomes vary less they contain more of them, "
        "elsewhere fewer."
    ).replace("%", " %")


def run_labels(
    request: Request,
    *,
    noise: Any,
    names: list[str] | None,
    keep: list[str] | None,
    threshold: float,
    out: Path,
    chart: Path | None,
    force: bool,
    seed: int,
    jobs: int,
) -> None:
    """Write the suspicious labels and a chart of the rates, and print the rates."""
    if noise not in ("symmetric", "classwise"):
        raise InputError(f"--noise is {noise!r}; write symmetric or classwise.")
    chart = out.with_suffix(".svg") if chart is None else chart
    if chart.suffix.lower() not in CHARTS:
        raise InputError(f"--chart {chart}: write a name that ends in .svg or .png.")
    data = read_data(request, methods=[], need_privileged=True)
    if data.task == "regression":
        raise InputError(
            f"The target {data.target!r} has numbers, but labels are classes; name "
            "another column, or use --task classification."
        )
    assert request.file is not None
    assert data.privileged is not None
    _, kept, _ = _read_rows(request.file, keep or [])
    console, columns = PlainConsole(), list(data.privileged.columns)
    with console.status("Fitting"), collected_warnings() as said, refusing(ValueError):
        found = check_labels(
            data.X.reset_index(drop=True),
            data.y,
            data.privileged.reset_index(drop=True),
            noise=noise,
            names=resolve_columns(names, columns, "--names") if names else None,
            clean=data.clean,
            groups=data.groups,
            n_jobs=jobs,
            random_state=seed,
        )
    for path in (out, chart):
        prepare_file(path, force=force)
    console.notes([*data.notes, *said])
    _show_rates(console, data, found)
    wrong = found.labels[found.labels["probability"] > threshold]
    # The first row below the header is row 1.
    listed = wrong.assign(probability=wrong["probability"].round(4))
    listed.insert(0, "row", listed.index + 1)
    listed = listed.rename(columns={"probability": "probability of an error"})
    listed = pd.concat([listed, kept.loc[listed.index]], axis=1)
    _write_chart(found.rates, chart)
    write_atomically(out, to_csv(listed))
    console.say(
        f"{counted(len(wrong), 'labels are', len(found.labels))} wrong with a "
        f"probability above {threshold:g}; the expected number of wrong labels is "
        f"{found.labels['probability'].sum():,.0f}."
    )
    console.say(str(out), label="labels")
    console.say(str(chart), label="chart")


def _show_rates(console: PlainConsole, data: InputTable, found: LabelCheck) -> None:
    console.say(f"\nWhich labels of {data.target} are wrong?", "bold")
    said = "Rate of wrong labels, by column and value of the privileged columns"
    console.say(f"{said}, with 95 % intervals.", "dim")
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for heading, right in (("privileged", 0), ("", 0), ("labels", 1), ("wrong", 1)):
        table.add_column(heading, justify="right" if right else "left")
    table.add_column("")
    table.add_column("interval", justify="right", no_wrap=True)
    most = max(found.rates["rate"].max(), 0.01)
    shown = found.rates.head(MOST_GROUPS)
    last = ""
    for line in shown.to_dict("records"):
        interval = (
            "" if pd.isna(line["low"]) else f"{line['low']:.0%} – {line['high']:.0%}"
        )
        table.add_row(
            Text(line["column"] if line["column"] != last else ""),
            Text(line["group"]),
            f"{line['n_rows']:,}",
            f"{line['rate']:.0%}",
            Text("█" * max(1, round(WIDTH_OF_BAR * line["rate"] / most)), "red"),
            interval,
        )
        last = line["column"]
    console.print(table)
    if len(found.rates) > len(shown):
        console.say(f"{len(found.rates) - len(shown)} more are in the chart.")


def _write_chart(rates: pd.DataFrame, path: Path) -> None:
    """Write a bar chart of the rates, one panel per column."""
    matplotlib = require("matplotlib", "The chart")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from lupi.inspection._style import BLACK, BLUE, tidy

    parts = [part for _, part in rates.groupby("column", sort=False)]
    figure, axes = plt.subplots(
        len(parts),
        1,
        figsize=(7, 1.0 + 0.28 * len(rates) + 0.5 * len(parts)),
        height_ratios=[len(part) + 1 for part in parts],
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, part in zip(axes[:, 0], parts, strict=True):
        place = range(len(part) - 1, -1, -1)
        ax.barh(place, part["rate"], color=BLUE, alpha=0.75)
        ax.hlines(place, part["low"], part["high"], color=BLACK, linewidth=1)
        ax.set_yticks(
            place,
            [f"{g} ({n})" for g, n in zip(part["group"], part["n_rows"], strict=True)],
        )
        ax.set_title(part["column"].iloc[0], loc="left", fontsize=10)
        ax.set_xlim(0, None)
        tidy(ax, "x")
    axes[-1, 0].set_xlabel("rate of wrong labels, with 95 % intervals")
    write_figure(figure, path)
    plt.close(figure)


def run_card(model: Path, *, out: Path, force: bool) -> None:
    """Write the card of a saved model."""
    from skops.card import Card

    found, details, notes = _read_model(model)
    prepare_file(out, force=force)
    card = Card(found, template=None, model_diagram=False)
    with _details_of(model):
        intervals = hasattr(last_step(found), "predict_interval")
        card.add(**_card_sections(details, model.name, intervals))
    card.add(Parameters=_parameter_table(found))
    write_atomically(out, card.render())
    console = PlainConsole()
    console.notes(notes)
    console.say(f"Model card written to {out}")


def _parameter_table(model: Any) -> str:
    """Return the parameters of the estimator in a pipeline and in a wrapper."""
    last = last_step(model)
    inner = getattr(last, "estimator_", last)
    lines = ["| parameter | value |", "|---|---|"]
    for name, value in inner.get_params(deep=False).items():
        shown = " ".join(repr(value).split()).replace("|", r"\|")
        lines.append(f"| {name} | {shown} |")
    return "\n".join([f"Those of {type(inner).__name__}:", "", *lines])


def _card_sections(
    details: dict[str, Any], file: str, intervals: bool
) -> dict[str, str]:
    """Return the text of a model card, by heading."""
    features, privileged = details.get("features", []), details.get("privileged", [])
    n_outcomes = details.get("n_outcomes")
    task = details.get("task", "task unknown")
    if details.get("shares"):
        shares = (f"{name} {part:.1%}" for name, part in details["shares"].items())
        task += f"; shares of the classes: {listed(shares, most=12)}"
        task = task.replace("%", " %")
    use = "Compared, not used by this model: "
    if details.get("with_privileged"):
        use = "Known for training rows, not needed when predicting: "
    model = details.get("model") or details.get("method", "A model of lupi")
    how = "with" if details.get("with_privileged") else "without"
    trained = f"{model[0].upper()}{model[1:]}, trained {how} privileged columns."
    if n_outcomes is not None:
        trained += f" It was trained on {n_outcomes:,} known outcomes"
        without = details["n_without_outcome"]
        trained += f" and {without:,} rows without one." if without else "."
    measured = details.get("comparison")
    scores = (
        "No comparison was made for this model: run `lupi compare` on the data to "
        "measure whether the privileged columns help, and how well it predicts."
    )
    limits = [
        "Predictions are valid for rows that are drawn like the training rows; "
        "`lupi predict` names values outside of the training range and new categories.",
        f"Only the {len(features)} columns above are used when predicting.",
    ]
    if measured is not None:
        parts = [measured.get("expected"), measured["verdict"], measured["full_size"]]
        for splits, rows in measured["scores"].items():
            lines = [
                f"| {measured['metric']} | mean | 95 % interval |",
                "|---|---|---|",
            ]
            lines += [
                f"| {row['arm']} | {number(row['value'])} | {number(row['low'])} to "
                f"{number(row['high'])} |".replace("– to –", "")
                for row in rows
            ]
            about = f"Scores of {measured['method']}: {splits}."
            cut = measured.get("cut", "")
            parts += [f"{about} {cut}".rstrip(), "\n".join(lines)]
        parts.append("\n".join(f"- {note}" for note in measured.get("notes", ())))
        scores = "\n\n".join(part for part in parts if part)
        limits += measured["limits"]
    rows, pieces = details.get("rows_inside", 0), details.get("pieces_inside", 0)
    if rows or pieces:
        held = f"{rows:,} training rows of X and {pieces:,} pieces of words of text"
        limits.append(f"Whoever has the file can read {held} in it.")
    if intervals:
        limits.append(_coverage_words(measured or {}))
    return {
        "Model description": f"{trained} File: `{file}`, of lupi {details['lupi']}.",
        "Model description/Intended use": (
            f"Predicts {details.get('target', 'the target')} "
            f"({task}) from: {listed_columns(features)}."
        ),
        "Training data": _data_words(details),
        "Training data/Privileged columns": (
            f"{use if privileged else ''}{listed_columns(privileged) or 'None'}."
        ),
        "Evaluation": scores,
        "Limits": "\n".join(f"- {limit}" for limit in limits),
    }


def _data_words(details: Mapping[str, Any]) -> str:
    """Return the source of the training data, its rows, and what is not used."""
    said = f"Source: {details.get('source', 'unknown')}."
    if "n_rows" in details:
        known = f"{details['n_known']:,} of them with an outcome"
        said += f" {details['n_rows']:,} rows, {known}."
    if details.get("unused"):
        names = (f"{name} ({option})" for name, option in details["unused"].items())
        said += f" Columns that are not used to predict: {listed(names)}."
    if details.get("missing"):
        said += f" Values that mean missing: {listed(details['missing'])}."
    return said


def show_methods() -> None:
    """Print every method with its requirements and its paper."""
    headings = {
        "classification": "For classification",
        "regression": "For regression",
        None: "From Python only, because they need more than a table",
    }
    console = PlainConsole()
    for task, heading in headings.items():
        console.say(f"\n{heading}", "bold")
        for method in all_methods():
            if task != (method.task if method.comparable else None):
                continue
            name = Text(method.kebab, "bold")
            name.append(" *" if method.info.default else "", style="green")
            about = Text(method.summary.replace("`", ""))
            if method.needs != "privileged":
                about.append(f" Needs {method.needs}.")
            about.append(f" {method.paper}.".replace("\\", ""), style="dim")
            console.print(name)
            console.print(Padding(about, (0, 0, 0, 4)))
    console.say(
        "\nAll methods need X, y and, unless noted otherwise, privileged columns. "
        "Those marked * are compared by default. The name of the class is also "
        "accepted: SVCPlus is svc-plus.",
        "dim",
    )
