"""``lupi fit``: one method, tuned on all rows, saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from rich.text import Text

from lupi._persistence import save_with_details
from lupi.cli._data import Ask, Data, check_class_sizes, check_metric, read_data
from lupi.cli._errors import InputError, refusing
from lupi.cli._out import prepare_file
from lupi.cli._terminal import collected_warnings, make_console, show_notes

FOLDS = 3


def run_fit(
    ask: Ask,
    *,
    method: str | None,
    metric: str | None,
    out: Path,
    force: bool,
    search: int,
    seed: int,
) -> None:
    """Search on all rows, fit the best candidate, save it."""
    console = make_console()
    if method is None:
        raise InputError("Say which method to fit: --method NAME; see: lupi methods.")
    data = read_data(ask, need_privileged=False)
    check_class_sizes(data, FOLDS)
    study = _plan(data, method, check_metric(metric), search, seed)
    name = study.methods[0].name
    prepare_file(out, force=force)
    show_notes(console, data.notes)
    row = "without" if data.privileged is None else "with"
    with (
        console.status(f"Fitting {name} on {len(data.y):,} rows"),
        collected_warnings() as said,
    ):
        model = study.final_estimator(name, row, refit=True)
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
def _plan(data: Data, method: str, scoring: str | None, search: int, seed: int) -> Any:
    """Have the arguments checked, and lay out the search."""
    from lupi.evaluation._compare import plan

    study, _ = plan(
        data.X,
        pd.Series(data.y, name=data.target),
        # Without privileged columns the model is fitted without them and this table
        # is never looked at; the plan only wants one of the right length.
        data.X if data.privileged is None else data.privileged,
        methods=[method],
        scoring=scoring,
        cv=FOLDS,
        inner_folds=FOLDS,
        groups=data.groups,
        search=search,
        task=data.task,
        random_state=seed,
    )
    return study
