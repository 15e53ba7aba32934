"""From a comparison to the words and numbers of its page; no maths, only wording."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from lupi.report._charts import Scale, learning_curves, marks, nice_scale
from lupi.report._parts import (
    Column,
    CurveChart,
    Curves,
    Dot,
    FoldChart,
    MethodPart,
    Page,
    Usage,
)
from lupi.report._usage import method_usage, page_usage
from lupi.report._words import (
    KINDS,
    duration,
    method_verdict,
    metric_name,
    number,
    p_value,
    parameter_value,
    score_with_error,
    share,
    shortened,
    signed,
    split_words,
    verdict_words,
    warning_words,
)

if TYPE_CHECKING:
    from lupi.evaluation import Comparison

_CURVE_HEIGHT = 170
COLUMNS = (
    Column("method", number=False),
    Column("without X*"),
    Column("with X*"),
    Column("shuffled X*"),
    Column("oracle"),
    Column("gain"),
    Column("p"),
    Column("gap closed"),
)


def build_page(comparison: Comparison, usage: Usage, curves: Curves) -> Page:
    """Write out a comparison for the template."""
    from lupi import __version__

    settings = comparison.settings
    metric = metric_name(settings["scoring"])
    table = comparison.table
    scale = nice_scale(_ends(table))
    headline, support = verdict_words(comparison)
    return Page(
        title=f"Does the privileged information help? {usage.source}",
        headline=headline,
        support=support,
        verdict_class=_css(comparison.verdict.kind),
        warnings=_warnings(comparison),
        facts=_facts(settings, metric),
        legend=[(kind, label) for _, kind, label in KINDS],
        axis=f"{metric} on unseen rows (right is better)",
        chart_caption=(
            "Mean over the splits; whiskers are one standard error, corrected for "
            "the rows the splits share."
        ),
        scale=scale,
        methods=[
            _method(comparison, name, table, scale, curves.get(name, ()), usage)
            for name in comparison.methods
        ],
        columns=COLUMNS,
        rows=[_row(line) for line in comparison.summary.to_dict("records")],
        table_notes=[
            "Gain: with X* minus without X*, ± its standard error. p: probability of "
            "beating both the same model without X* and the one with shuffled X* by "
            "chance, corrected for the number of methods (Holm). Gap closed: gain as "
            "a share of what a model gains that may use X* when predicting; left "
            "empty when even that gain could be chance.",
            *_published_test(comparison),
        ],
        usage=page_usage(usage, comparison),
        footer=f"Written by lupi {__version__} in {duration(settings['seconds'])}.",
        parameters_heading=(
            "value (on how many of the "
            f"{settings['splits']['n_splits']} splits it was chosen)"
        ),
        test_note=(
            "“Helps” means better than without X* and better than with shuffled X*, "
            "both one-sided at 5 %, by a t-test whose variance is corrected for "
            f"splits that share rows ({_correction(settings)}), and corrected for the "
            "number of methods (Holm, 1979)."
        ),
    )


def _correction(settings: Mapping[str, Any]) -> str:
    if settings["splits"]["kind"] == "folds":
        return "Nadeau and Bengio, 2003"
    return (
        "after Nadeau and Bengio, 2003, with the chance of the training rows and that "
        "of the test rows estimated apart, because training sets are small here"
    )


def _published_test(comparison: Comparison) -> list[str]:
    """Give the p-values of the published test where another one decides."""
    splits = comparison.settings["splits"]
    if splits["kind"] == "folds":
        return []
    values = ", ".join(
        f"{line['method']} {p_value(line['p_helps_nadeau_bengio'])}"
        for line in comparison.summary.to_dict("records")
    )
    factor = splits["n_test"] / splits["n_train"]
    return [
        "The formula of Nadeau and Bengio to the letter was made for folds. Here it "
        f"multiplies the variance by 1/{splits['n_splits']} + {factor:.3g}, as if "
        "training sets that share hardly a row were nearly the same, and finds almost "
        f"nothing at this size; its p-values: {values}."
    ]


def _ends(table: pd.DataFrame) -> list[float]:
    spread = table["std_error"].fillna(0)
    return [*(table["score"] - spread), *(table["score"] + spread)]


def _css(kind: str) -> str:
    return {"helps": "helps", "hurts": "hurts"}.get(kind, "plain")


def _facts(settings: Mapping[str, Any], metric: str) -> list[tuple[str, str]]:
    known, privileged = settings["features"], settings["privileged"]
    rows = f"{settings['n_rows']:,}"
    missing = settings["n_rows"] - settings["n_privileged_rows"]
    if missing:
        rows += f", of which {missing:,} lack the privileged information"
    classes = settings.get("classes")
    target = str(settings["target"])
    if classes:
        target += f" ({shortened([str(name) for name in classes])})"
    search = settings["search"]
    return [
        ("Target", target),
        ("Rows", rows),
        ("Known when predicting (X)", f"{len(known)}: {shortened(known)}"),
        ("Privileged (X*)", f"{len(privileged)}: {shortened(privileged)}"),
        ("Score", f"{metric}, higher is better"),
        ("Splits", split_words(settings["splits"])),
        (
            "Search",
            f"{search['n_candidates']} candidates for each row, method and split, "
            f"chosen by {search['inner_folds']}-fold cross-validation inside the "
            "training rows",
        ),
    ]


def _warnings(comparison: Comparison) -> list[str]:
    said = []
    if comparison.verdict.leak:
        said.append(
            "A model that sees X* when predicting is perfect. X* likely contains the "
            "target itself, or something that is only known after it: check the "
            "columns before believing any gain."
        )
    return said


def _method(
    comparison: Comparison,
    name: str,
    table: pd.DataFrame,
    scale: Scale,
    curve: Sequence[Mapping[str, float]],
    usage: Usage,
) -> MethodPart:
    line = comparison.summary.set_index("method").loc[name]
    folds = comparison.folds[comparison.folds["method"] == name]
    failed = line["verdict"] == "failed"
    own = table[table["method"] == name].set_index("row")
    scores = [
        (kind, label, own.at[row, "score"], own.at[row, "std_error"])
        for row, kind, label in KINDS
    ]
    return MethodPart(
        name=name,
        verdict=method_verdict(line),
        verdict_class=_css(line["verdict"]),
        paper=_paper(name),
        failure=comparison.failures.get(name),
        warnings=[
            warning_words(item)
            for item in comparison.warnings
            if item["method"] == name
        ],
        marks=[] if failed else marks(scores, scale),
        folds=None if failed else _fold_chart(folds, line, comparison.settings),
        curve=_curve_chart(curve, comparison.settings),
        parameters=_parameters(folds),
        timing=_timing(own["seconds"]),
        splits=[] if failed else _splits(folds),
        usage=None if failed else method_usage(usage, comparison, name),
    )


def _paper(name: str) -> str:
    from lupi.evaluation._methods import find_method

    try:
        return find_method(name).paper
    except ValueError:
        # An estimator of the user's own has no entry in the library's table.
        return ""


def _fold_chart(
    folds: pd.DataFrame, line: pd.Series, settings: Mapping[str, Any]
) -> FoldChart:
    wide = folds.pivot(index="split", columns="row", values="score")
    gains = (wide["with"] - wide["without"]).tolist()
    mean, error = line["gain"], line["gain_std_error"]
    spread = error if math.isfinite(error) else 0.0
    scale = nice_scale([*gains, mean - spread, mean + spread], around_zero=True)
    dots = [
        # Three heights, so that splits with equal scores do not hide one another.
        Dot(
            scale.at(gain), 8 + 7 * (position % 3), f"split {split + 1}: {signed(gain)}"
        )
        for position, (split, gain) in enumerate(zip(wide.index, gains, strict=True))
    ]
    better = sum(gain > 0 for gain in gains)
    metric = metric_name(settings["scoring"])
    note = (
        f"One dot is one split: right of the line, the model did better with X*. It "
        f"did on {better} of {len(gains)} splits. Below, the mean and its standard "
        f"error, {score_with_error(mean, error, sign=True)}."
    )
    return FoldChart(
        scale=scale,
        zero=scale.at(0.0),
        dots=dots,
        mean=marks([("method", "mean gain", mean, error)], scale)[0],
        caption=f"gain in {metric} from X*",
        note=note,
        summary=f"Gain per split: better with X* on {better} of {len(gains)} splits.",
    )


def _splits(folds: pd.DataFrame) -> list[list[str]]:
    """Return the score of every row on every split."""
    wide = folds.pivot(index="split", columns="row", values="score")
    return [
        [str(split + 1), *(number(line[row]) for row, _, _ in KINDS)]
        for split, line in wide.iterrows()
    ]


def _curve_chart(
    points: Sequence[Mapping[str, float]], settings: Mapping[str, Any]
) -> CurveChart | None:
    if len(points) < 2:
        return None
    drawn = [
        (kind, label, [(point["n_train"], point[row]) for point in points])
        for row, kind, label in KINDS
        if row in points[0]
    ]
    curves, row_ticks, score_ticks = learning_curves(drawn, _CURVE_HEIGHT)
    metric = metric_name(settings["scoring"])
    return CurveChart(
        height=_CURVE_HEIGHT,
        curves=curves,
        row_ticks=row_ticks,
        score_ticks=score_ticks,
        note=(
            f"{metric} on unseen rows as the training sets shrink and grow, averaged "
            "over the splits. Every split keeps the parameters chosen for it at the "
            "size compared."
        ),
        summary="; ".join(text for curve in curves for _, _, text in curve.points),
    )


def _parameters(folds: pd.DataFrame) -> list[tuple[str, str]]:
    chosen: dict[str, Counter[str]] = {}
    for params in folds.loc[folds["row"] == "with", "params"]:
        for name, value in (params or {}).items():
            chosen.setdefault(name, Counter())[parameter_value(value)] += 1
    return [(name, _counted(counts)) for name, counts in chosen.items()]


def _counted(counts: Counter[str], most: int = 4) -> str:
    shown = ", ".join(f"{value} ({n}×)" for value, n in counts.most_common(most))
    others = len(counts) - most
    return f"{shown} and {others} other values" if others > 1 else shown


def _timing(seconds: pd.Series) -> str:
    if seconds.isna().all():
        return ""
    parts = ", ".join(f"{row} {duration(value)}" for row, value in seconds.items())
    return (
        f"Time for search and fits on all splits: {duration(seconds.sum())} ({parts})."
    )


def _row(line: Mapping[str, Any]) -> list[str]:
    return [
        str(line["method"]),
        *(number(line[row]) for row in ("without", "with", "shuffled", "oracle")),
        score_with_error(line["gain"], line["gain_std_error"], sign=True),
        p_value(line["p_helps"]),
        share(line["gap_closed"]),
    ]
