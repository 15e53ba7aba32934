"""``lupi fit``: tune one method on all rows, fit it and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from lupi._atomic import write_atomically
from lupi._persistence import model_file
from lupi.cli._data import Data, Request, check_metric, read_data
from lupi.cli._errors import refusing
from lupi.cli._out import prepare_file
from lupi.cli._terminal import (
    collected_warnings,
    make_console,
    outcome_note,
    show_notes,
)
from lupi.evaluation._study import Study, plan

# The classifier or the regressor, depending on the task.
DEFAULT_METHOD = "hedged-distillation"


def run_fit(
    request: Request,
    *,
    method: str | None,
    options: dict[str, Any],
    out: Path,
    force: bool,
) -> None:
    """Search on all rows, fit the best candidate, save it."""
    console = make_console()
    method = method or DEFAULT_METHOD
    data = read_data(request, methods=[method], need_privileged=False)
    with collected_warnings() as said:
        study = _plan(data, method, options)
    name = study.methods[0].name
    arm = "without" if data.privileged is None else "with"
    rows = study.final_rows(name, arm)
    without_y = len(rows.rows) - rows.n_labelled
    notes = [*data.notes, *said]
    if not data.has_y.all():
        use = f"{without_y:,} of them are training rows of {name}"
        notes.append(outcome_note(data, use))
    prepare_file(out, force=force)
    show_notes(console, notes)
    with (
        console.status(f"Fitting {name} on {len(rows.rows):,} rows"),
        collected_warnings() as said,
    ):
        model = study.final_estimator(name, arm, refit=True)
    show_notes(console, said)
    write_atomically(out, model_file(model, {**data.details, "method": name}))
    console.print(
        Text(
            f"{name} fitted on {len(rows.rows):,} rows and {data.X.shape[1]} columns; "
            f"saved as {out}."
        )
    )
    console.print(Text(f"Predict with: lupi predict {out} NEW.csv", "dim"))


@refusing(ValueError)
def _plan(data: Data, method: str, options: dict[str, Any]) -> Study:
    """Check the arguments and return the study."""
    check_metric(options["scoring"])
    folds = options["inner_cv"]
    return plan(**data.arguments, methods=[method], cv=folds, **options)
