"""Recommendations after a verdict, for users of Python or of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lupi.evaluation._verdict import Verdict

# Recommended training size: X* helps most with few rows. Of a small table, a quarter.
FEW_ROWS = 60


def next_steps(
    verdict: Verdict,
    settings: Mapping[str, Any],
    methods: Sequence[str],
    *,
    command_line: bool = False,
) -> list[str]:
    """Return recommendations after a verdict, the most useful one first.

    Parameters
    ----------
    verdict : Verdict
        The verdict.
    settings : mapping
        The settings of the comparison.
    methods : sequence of str
        Names of the methods that were compared.
    command_line : bool, default=False
        Write options of ``lupi compare`` instead of arguments of `compare`.

    Returns
    -------
    list of str
        Sentences, at least one.
    """

    def option(name: str, value: Any) -> str:
        if command_line:
            return f"--{name.replace('_', '-')} {value}"
        return f"{name}={value!r}"

    steps = []
    if verdict.leak:
        steps.append(
            "Check the privileged columns first: one of them likely contains the "
            "target."
        )
    splits, n_labelled = settings["splits"], settings["labels"]["n_labelled"]
    drawn = "train_size" if splits["train_size"] else "labelled"
    drawn = drawn if splits["train_size"] or splits.get("labelled") else ""
    few = FEW_ROWS if n_labelled >= 4 * FEW_ROWS else n_labelled // 4
    hedged = any(name.startswith("HedgedDistillation") for name in methods)
    fewer = []
    if few >= 20 and not drawn:
        fewer.append(
            f"Privileged columns help most with few training rows: try "
            f"{option('train_size', few)}."
        )
    if few >= 20 and drawn != "labelled":
        fewer.append(
            "If few rows have an outcome but many have X and X*, try "
            f"{option('labelled', few)}: other rows are then used without outcome."
        )
    other_methods = []
    if not hedged:
        name = option("methods", "hedged-distillation")
        other_methods.append(
            f"Try {name}, which gives X* little weight where it does not help."
        )
    if verdict.kind == "helps":
        if drawn:
            steps.append(
                f"This result is for about {round(splits['n_train']):,} rows with an "
                f"outcome. Compare without {option(drawn, splits[drawn])} to see how "
                f"much of the gain remains with all {n_labelled:,}."
            )
        elif not settings["labels"]["n_unlabelled"]:
            cells = (
                "leave their target empty" if command_line else "give y as NaN there"
            )
            steps.append(
                "Rows whose outcome is not known yet can be used for training, if they "
                f"have X*: {cells}."
            )
        if len(settings["privileged"]) > 1:
            how = "--columns" if command_line else "comparison.columns()"
            steps.append(f"See {how} for the columns that the gain comes from.")
        return steps or ["Use the model: its predictions need X alone."]
    if verdict.kind == "failed":
        return [*steps, "Remove the cause of the failures, or compare other methods."]
    if verdict.kind == "hurts":
        return [*steps, "Use the model without X*.", *other_methods, *fewer]
    if verdict.rows_needed:
        steps.append(
            f"Collect more rows: an answer needs about {verdict.rows_needed:,}."
        )
    if verdict.nothing_to_gain:
        steps.append("Look for other columns: these add almost nothing to X.")
    elif not verdict.rows_needed:
        steps += other_methods
    steps += fewer
    if steps:
        return steps
    if all(name.startswith("HedgedDistillation") for name in methods):
        return [f"Try {option('methods', 'all')}, or look for other columns."]
    return [f"Search longer ({option('n_candidates', 30)}), or look for other columns."]
