"""``lupi fit``: one method, tuned on all rows, saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from lupi._persistence import save_with_details
from lupi.cli._data import Data, Request, check_class_sizes, check_metric, read_data
from lupi.cli._errors import InputError, refusing
from lupi.cli._out import prepare_file
from lupi.cli._terminal import collected_warnings, make_console, show_notes
from lupi.evaluation._plan import plan
from lupi.evaluation._study import Study


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
    if method is None:
        raise InputError("Say which method to fit: --method NAME; see: lupi methods.")
    data = read_data(request, methods=[method], need_privileged=False)
    check_class_sizes(data, options["inner_cv"])
    study = _plan(data, method, options)
    name = study.methods[0].name
    prepare_file(out, force=force)
    show_notes(console, data.notes)
    arm = "without" if data.privileged is None else "with"
    with (
        console.status(f"Fitting {name} on {len(data.y):,} rows"),
        collected_warnings() as said,
    ):
        model = study.final_estimator(name, arm, refit=True)
    show_notes(console, said)
    save_with_details(model, out, {**data.details, "method": name})
    console.print(
        Text(
            f"{name} fitted on {len(data.y):,} rows and {data.X.shape[1]} columns; "
            f"saved as {out}."
        )
    )
    console.print(Text(f"Predict with: lupi predict {out} NEW.csv", "dim"))


@refusing(ValueError)
def _plan(data: Data, method: str, options: dict[str, Any]) -> Study:
    """Have the arguments checked, and lay out the search."""
    check_metric(options["scoring"])
    folds = options["inner_cv"]
    return plan(**data.arguments, methods=[method], cv=folds, **options)
