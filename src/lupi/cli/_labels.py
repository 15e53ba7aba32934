"""``lupi labels``: list the labels that are probably wrong, with reasons."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lupi._atomic import write_atomically
from lupi._optional import require
from lupi.cli import InputError
from lupi.cli._io import (
    InputTable,
    Request,
    collected_warnings,
    make_console,
    prepare_file,
    read_data,
    refusing,
    show_notes,
)
from lupi.cli._tables import TableError, read_table, resolve_columns, to_csv
from lupi.evaluation._labels import LabelCheck, check_labels

WIDTH_OF_BAR, MOST_GROUPS = 24, 60
CHARTS = (".svg", ".png", ".pdf")


def run_labels(
    request: Request,
    *,
    noise: str,
    names: Sequence[str],
    keep: Sequence[str],
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
    kept = _kept(request, keep)
    console = make_console()
    with console.status("Fitting"), collected_warnings() as said:
        found = _check(data, noise, names, seed, jobs)
    for path in (out, chart):
        prepare_file(path, force=force)
    show_notes(console, [*data.notes, *said])
    _show_rates(console, data, found)
    wrong = found.labels[found.labels["probability"] > threshold]
    # The first row below the header is row 1.
    listed = wrong.assign(probability=wrong["probability"].round(4))
    listed.insert(0, "row", listed.index + 1)
    listed = listed.rename(columns={"probability": "probability of an error"})
    listed = pd.concat([listed, kept.loc[listed.index]], axis=1)
    write_atomically(chart, _chart(found.rates, chart.suffix[1:].lower()))
    write_atomically(out, to_csv(listed))
    console.print(
        Text(
            f"{len(wrong):,} of {len(found.labels):,} labels are wrong with a "
            f"probability above {threshold:g}; expected are "
            f"{found.labels['probability'].sum():,.0f} wrong labels."
        )
    )
    for name, path in (("labels", out), ("chart", chart)):
        console.print(Text.assemble((f"{name:<8}", "dim"), str(path)))


@refusing(TableError)
def _kept(request: Request, keep: Sequence[str]) -> pd.DataFrame:
    """Return the columns to copy; by default the privileged ones of the same file."""
    assert request.file is not None
    table, _ = read_table(request.file)
    return table[resolve_columns(keep, list(table.columns), "--keep")]


@refusing(ValueError)
def _check(
    data: InputTable, noise: Any, names: Sequence[str], seed: int, jobs: int
) -> LabelCheck:
    assert data.privileged is not None
    columns = list(data.privileged.columns)
    return check_labels(
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


def _show_rates(console: Console, data: InputTable, found: LabelCheck) -> None:
    console.print(Text(f"\nWhich labels of {data.target} are wrong?", "bold"))
    said = "Rate of wrong labels, by column and value of the privileged columns"
    console.print(Text(f"{said}, with 95 % intervals.", "dim"))
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
        console.print(Text(f"{len(found.rates) - len(shown)} more are in the chart."))


def _chart(rates: pd.DataFrame, kind: str) -> bytes:
    """Return a bar chart of the rates, one panel per column."""
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
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=150)
    plt.close(figure)
    return buffer.getvalue()
