"""Numbers, table cells and sentences of the report and of the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lupi._words import listed, listed_columns, number, numbers, percent, together
from lupi.evaluation._methods import ARMS
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._statistics import FEWEST_SPLITS, FEWEST_WINDOWS
from lupi.evaluation._verdict import (
    ROUNDED,
    best_arm,
    far_below,
    hurts_words,
    late_words,
    loses_shuffled,
    measured_words,
    over_constant_words,
    rarest_words,
    training_rows,
    use_words,
    window_words,
    with_interval,
)

if TYPE_CHECKING:
    from markupsafe import Markup

    from lupi.evaluation import ColumnGains, Comparison, LearningCurve

SUMMARY_COLUMNS = (
    *("method", *(arm.label for arm in ARMS.values())),
    *("gain", "p", "gap closed"),
)
# Windows whose times are said.
MOST_WINDOWS = 7
# The column of gradient boosting in tables of splits.
EXTERNAL = "external baseline"
# Percentage of significant tests on either side where the true difference is zero, by
# the kind of splits: the table of the guide to evaluation.
REJECTED = {
    "folds": "5.0",
    "small training sets": "3.1 to 6.9",
    "few labels": "3.0 to 4.0",
    "time": "3.1 to 5.5",
}
# Splits that are left out of all means are marked.
MARK = "†"
HOLM_WORDS = (
    ", corrected for the number of methods (Holm; p_gain of results.csv is not)"
)
GAIN_WORDS = {
    "gain": (
        "the smallest difference of “with X*” to “without X*”, “shuffled X*” and “X as "
        "X*”, taken before rounding, with its 95 % interval"
    ),
    "p": "one-sided, of a gain: the largest p-value of these differences",
    "gap closed": (
        "the gain as a share of the possible gain, “oracle” minus “without X*”; shown "
        "where X* helps and the oracle is significantly better than that"
    ),
}
GAIN_COLUMNS = ("alone", "left out", "contribution")
# Test rows, each counted once, of a dot of the reliability curve.
FEWEST_IN_BIN = 20
# Probabilities are not calibrated if their sum differs from the number of rows of the
# class by more than these standard errors and this share of the rows.
MOST_ERRORS, MOST_OFF = 3.0, 0.2

# Positions between the words of a name: HedgedDistillation, cd4_week_20.
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z+])(?=[A-Z][a-z])|(?<=_)(?=[^_])")
_LONG = re.compile(r"\w{13,}")


def breakable(text: object) -> Markup:
    """Return text as HTML with possible line breaks inside long names.

    Examples
    --------
    >>> str(breakable("HedgedDistillationClassifier < oracle"))
    'Hedged<wbr>Distillation<wbr>Classifier &lt; oracle'
    """
    from markupsafe import Markup

    safe = escape(str(text))
    return Markup(_LONG.sub(lambda name: _SEAM.sub("<wbr>", name.group()), safe))


def gain_cell(line: Mapping[str, Any], name: str) -> str:
    """Return a difference of a table with its interval, in two lines."""
    gain, low, high = together(*(line[f"{name}{end}"] for end in ("", "_low", "_high")))
    return gain if low == "–" else f"{gain}\n({low} to {high})"


def p_value(value: float) -> str:
    """Return a p-value with three decimals; a dash if it is missing."""
    if value is None or pd.isna(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours.

    Examples
    --------
    >>> duration(0.31), duration(42.3), duration(75), duration(7260)
    ('0.3 s', '42 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds is None or pd.isna(seconds):
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def summary_cells(line: Mapping[str, Any]) -> list[str]:
    """Return the cells of one row of ``Comparison.summary``, by SUMMARY_COLUMNS."""
    closed = ""
    if line["verdict"] == "helps" and not pd.isna(line["gap_closed"]):
        closed = percent(line["gap_closed"], "<")
    return [
        str(line["method"]),
        *numbers(*(line[arm] for arm in ARMS)),
        gain_cell(line, "gain"),
        p_value(line["p_helps"]),
        closed,
    ]


def split_scores(comparison: Comparison) -> pd.DataFrame:
    """Return scores of all arms, rows and times of every split, at every size."""
    tables = []
    for own in sizes(comparison):
        scores = own.folds.pivot(
            index=["method", "split"], columns="arm", values="score"
        )
        table = scores[list(ARMS)].set_axis(
            [arm.label for arm in ARMS.values()], axis=1
        )
        table = table.reset_index()
        table.insert(2, "left_out", table["split"].isin(own.left_out))
        constants = dict(enumerate(own.settings.get("constants") or ()))
        table["constant prediction"] = table["split"].map(constants)
        outside = (own.settings.get("outside") or {}).get("scores", ())
        table[EXTERNAL] = table["split"].map(dict(enumerate(outside)))
        rows = own.folds[own.folds["arm"] == "with"]
        columns = ["method", "split", "n_train", "n_unlabelled", "n_test"]
        table = table.merge(rows[columns], on=columns[:2])
        there = own.settings["splits"].get("train_privileged", ())
        table["n_train_privileged"] = table["split"].map(dict(enumerate(there)))
        for name in own.settings.get("also", ()):
            also = own.folds.dropna(subset="also")
            also = also.assign(score=[scores[name][0] for scores in also["also"]])
            also = also.pivot(index=columns[:2], columns="arm", values="score")
            also.columns = [f"{name} {ARMS[arm].label}" for arm in also]
            table = table.join(also, on=columns[:2])
        windows = window_words(own.settings["splits"])
        if windows:
            table.insert(2, "window", table["split"].map(dict(enumerate(windows))))
        table["split"] += 1
        tables.append(table.assign(size=size_words(own)))
    return pd.concat(tables, ignore_index=True)


def left_out_words(comparison: Comparison) -> list[str]:
    """Return which splits are left out, why, and the means over all, at every size."""
    said = []
    for own in sizes(comparison):
        if not own.left_out:
            continue
        size = f" ({size_words(own)})" * (comparison.full_size is not None)
        folds, method = own.folds, own.verdict.method
        if method is not None:
            folds = folds[folds["method"] == method]
        means = folds.groupby("arm")["score"].mean()
        scores = listed(f"{ARMS[arm].label} {number(means[arm])}" for arm in ARMS)
        numbers = listed(str(split + 1) for split in own.left_out)
        total = own.settings["splits"]["n_splits"]
        several = len(own.left_out) > 1
        which = f"Splits {numbers} of {total} are" if several else f"Split {numbers} is"
        said.append(
            f"{MARK} {which} left out of all means, tests and baselines{size}: the "
            "score of an arm is more than five interquartile ranges away from its "
            "other splits, and as far from the other arms or below a constant "
            f"prediction ({listed(_far_words(own), most=4)}). The means of {method} "
            f"over all {total} splits are: {scores}."
        )
    return said


def _far_words(comparison: Comparison) -> list[str]:
    """Return the arms whose scores are outliers, with these scores."""
    found = []
    for (method, arm), far in comparison.outliers.items():
        name = f"{method} " * (len(comparison.methods) > 1) + ARMS[arm].label
        scores = listed(number(score) for score in far.values())
        splits = listed(str(split + 1) for split in far)
        found.append(f"{name} {scores} in split{'s' * (len(far) > 1)} {splits}")
    return found


def gain_words(comparison: Comparison) -> dict[str, str]:
    """Return the meaning of the columns of the gain."""
    several = len(comparison.methods) > 1
    return GAIN_WORDS | {"p": GAIN_WORDS["p"] + HOLM_WORDS * several}


def base_words(settings: Mapping[str, Any]) -> str:
    """Return what the compared methods are without X*; empty if it is not known."""
    models = settings.get("base_models", {})
    kinds = {words for words in models.values() if words}
    if len(kinds) == 1 and all(models.values()):
        return kinds.pop()
    return "; ".join(f"{name}: {words}" for name, words in models.items() if words)


def arm_meanings(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return label and meaning of every arm, with the name of the base model."""
    base = base_words(settings)
    return [
        (arm.label, f"{arm.meaning} ({base})" if base and not index else arm.meaning)
        for index, arm in enumerate(ARMS.values())
    ]


def gain_cells(gains: ColumnGains) -> list[list[str]]:
    """Return the cells of the table of gains: the group, then GAIN_COLUMNS."""
    names = ("gain_alone", "gain_left_out", "contribution")
    return [
        [str(line["group"]), *(gain_cell(line, name) for name in names)]
        for line in gains.table.to_dict("records")
    ]


def curve_words(curve: LearningCurve, splits: Mapping[str, Any]) -> str:
    """Return what X* is equivalent to, and what limits that."""
    worth = curve.worth()
    said = [] if worth is None else [str(worth)]
    if curve.tuned:
        said.append(
            "Every split keeps the parameters that were chosen with "
            f"{training_rows(splits)} rows, so that scores at other sizes might be "
            "higher with their own search."
        )
    return " ".join(said)


def warning_words(item: Mapping[str, Any]) -> str:
    """Return the message of a warning without its class, with the count."""
    kind, colon, rest = item["message"].partition(": ")
    message = rest if colon and kind.endswith("Warning") else item["message"]
    times = f" ({item['count']} times)" if item["count"] > 1 else ""
    return f"{message}{times}"


def split_words(settings: Mapping[str, Any], n_left_out: int = 0) -> str:
    """Return a description of the splits, and of how many of them are used."""
    if n_left_out:
        used = settings["splits"]["n_splits"] - n_left_out
        return f"{used} of {split_words(settings)}"
    splits = settings["splits"]
    rows, n_test = training_rows(splits), training_rows(splits, "n_test")
    grouped = ", rows of a group kept together" if splits.get("grouped") else ""
    rarest, hidden, late = rarest_words(splits), "", late_words(splits)
    known = f" with an outcome, {late}" * bool(late)
    if splits.get("n_unlabelled"):
        known = known or " with an outcome"
        hidden = f" and {training_rows(splits, 'n_unlabelled')} with X* and without one"
        if splits.get("outcome_time"):
            hidden += f" (those not known yet, by “{splits['outcome_time']}”, included)"
    if splits["kind"] == "time":
        number = splits["n_splits"]
        windows = "one split" if number == 1 else f"{number} windows"
        asked, times = splits.get("n_windows", number), splits.get("n_times")
        if number < asked:
            why = [f"there are {times} distinct times"] * (times <= asked)
            single = splits.get("n_single", 0)
            if min(asked, times - 1) - number > single:
                whose = " whose group is not tested" * bool(splits.get("grouped"))
                why.append(f"others have too few earlier rows with an outcome{whose}")
            why += ["others have a single test row"] * bool(single)
            windows += f", not {asked} ({listed(why)}),"
        if splits["train_size"]:
            rows = f"the latest {rows}"
        elif splits["labelled"]:
            rarest = (
                " (the latest before those whose outcome is hidden, at most half of "
                f"the earlier outcomes){rarest}"
            )
        tested = listed(window_words(splits), most=MOST_WINDOWS)
        return (
            f"{windows} by time ({splits['time']}): {rows} earlier training rows{known}"
            f"{rarest}{hidden}, and {n_test} later test rows{grouped}"
            f"{f' ({tested})' * bool(tested)}"
        )
    how, folds = "random splits", splits.get("n_folds")
    if folds:
        how += f" ({folds} folds{_repeated(splits['n_splits'], folds)})"
    elif splits["kind"] == "folds":
        how = "splits"
    return (
        f"{splits['n_splits']} {how}, {rows} training rows{known}{rarest}{hidden}, and "
        f"{n_test} test rows{grouped}"
    )


def _repeated(n_splits: int, n_folds: int) -> str:
    """Return how often folds are repeated; equal ones are one split."""
    if n_splits <= n_folds:
        return ""
    equal = ", equal ones counted once" * (n_splits % n_folds > 0)
    return f", repeated twice{equal}"


def model_words(comparison: Comparison) -> str:
    """Return the name of the model that is kept, without X* what it is."""
    method, arm = comparison.choice
    base = comparison.settings.get("base_models", {}).get(method)
    if arm == "with":
        return method
    return f"{base} ({method} without X*)" if base else f"{method} without X*"


def choice_words(comparison: Comparison) -> str:
    """Return which model is kept, why, and its expected score."""
    model, (_, arm) = model_words(comparison), comparison.choice
    own = comparison.full_size or comparison
    scores = own.summary.set_index("method")
    helped = scores[scores["verdict"] == "helps"]
    total = comparison.settings["labels"]["n_labelled"]
    trained = f"trained on all {total:,} outcomes"
    if arm == "with":
        why = "because X* helps it"
        if _is_small(own):
            few = training_rows(own.settings["splits"])
            why = f"because X* helps models that are trained on {few} outcomes"
        if len(scores) > 1:
            why = (
                "which has the highest score of the models without X* and of those "
                "that X* helps"
            )
        said = f"{model}, {trained} with X*, {why}"
    elif len(helped):
        best = helped["with"].idxmax()
        said = (
            f"{model}, {trained}, with the highest score; {best}, which X* helps, has "
            f"{number(helped.at[best, 'with'])} with X*"
        )
    else:
        size = " a model of this size" * (own is not comparison)
        why = f"there is no evidence that X* helps{size}"
        if own.verdict.kind == "hurts":
            why = hurts_words(own)
            why += size * (why == "X* hurts")
        if len(scores) > 1:
            why += "; of the models without X* it has the highest score"
        said = f"{model}, {trained}: {why}"
    return f"{said}. {expected_words(comparison)}"


def _kept(comparison: Comparison) -> tuple[Comparison, pd.Series]:
    """Return the comparison of the model that is kept, and its scores."""
    own = comparison.full_size or comparison
    return own, own.table.set_index(["method", "arm"]).loc[comparison.choice]


# Share of the outcomes on which measured models are trained, below which it is said.
SMALLEST_SHARE = 0.6


def _is_small(own: Comparison) -> bool:
    """Return whether the measured models have far fewer outcomes than the kept one."""
    total = own.settings["labels"]["n_labelled"]
    _, most = own.settings["splits"].get("n_train_range") or (0, total)
    return bool(most < SMALLEST_SHARE * total)


def expected_words(comparison: Comparison) -> str:
    """Return the expected score of the model that is kept, and how it was measured."""
    own, line = _kept(comparison)
    score = number(line["score"]) + interval_words(line, own.design.bounds)
    folds = own.folds.set_index(["method", "arm"]).loc[[comparison.choice]]
    used = bool(folds["n_unlabelled"].max() > 0)
    metric, whose = metric_name(own.settings["scoring"]), "Its"
    where = measured_words(own.settings["splits"], own.left_out, used)
    said = f"Its expected {metric} is {score}, measured on {where}"
    if _is_small(own):
        total, whose = own.settings["labels"]["n_labelled"], "Their"
        said = (
            f"Models trained on all {total:,} outcomes were not measured; the {metric} "
            f"of those that were is {score}, on {where}"
        )
    if own is not comparison:
        splits = comparison.settings["splits"]
        small = comparison.table.set_index(["method", "arm"]).loc[comparison.choice]
        which = " known at the time of the split" * bool(splits.get("outcome_time"))
        if splits["kind"] == "time" and splits["train_size"]:
            which += ", the latest ones"
        said += (
            f"; models trained on {training_rows(splits)} outcomes{which}, which the "
            f"verdict is about, score {number(small['score'])}"
        )
        # The test rows differ, so that constants are subtracted.
        more = small["score"] - line["score"] >= ROUNDED
        if more and small["over_constant_low"] > line["over_constant_high"]:
            said += ", which is more: additional training rows do not improve them"
    for what, score, guess in _also_words(own.settings, line):
        said += f". {whose} {what} is {score}, {guess}"
    useless, outside = below_words(comparison), own.settings.get("outside")
    said += f". {useless}" if useless else "."
    if outside and outside["score"] > line["score"]:
        said += (
            f" {outside['name']} of scikit-learn scores {number(outside['score'])} on "
            f"the same splits, a difference of {with_interval(outside, 'difference')}"
            f"{': there it is better' * ((outside['difference_low'] or 0) > 0)}."
        )
    return said


def below_words(comparison: Comparison) -> str:
    """Return a sentence on a kept model that may be no better than a constant."""
    own, line = _kept(comparison)
    if not own.settings.get("constants") or line["over_constant_low"] > 0:
        return ""
    what = "mean" if own.settings["task"] == "regression" else "most frequent class"
    score, other = numbers(line["score"], own.settings["constant"])
    return (
        f"The {metric_name(own.settings['scoring'])} of the model ({score}) minus that "
        f"of predicting the {what} for every row ({other}) is "
        f"{over_constant_words(line)}: the model {use_words(line)}."
    )


def reliability_table(comparison: Comparison, method: str) -> pd.DataFrame:
    """Return predicted and observed shares of a method, by arm and tenth.

    Splits that are left out of all means are left out. Every row counts once in
    ``rows``, because it may be tested in several splits, and rows may have weights;
    ``shown`` are tenths with enough of them.
    """
    n_tested = comparison.settings["splits"].get("n_tested")
    own = comparison.folds["method"] == method
    folds = comparison.folds[own & ~comparison.folds["split"].isin(comparison.left_out)]
    folds = folds.reindex(columns=["arm", "reliability"]).dropna()
    lines = []
    for arm in ("without", "with"):
        bins = folds.loc[folds["arm"] == arm, "reliability"].tolist() or [[]]
        total = np.reshape(np.sum(bins, axis=0), (-1, 3))
        for tenth, (weight, chance, share) in enumerate(total):
            if weight > 0:
                rows = (n_tested or total[:, 0].sum()) * weight / total[:, 0].sum()
                line = {"arm": arm, "tenth": tenth / 10, "predicted": chance / weight}
                line |= {"observed": share / weight, "weight": weight, "rows": rows}
                lines.append(line | {"shown": rows >= FEWEST_IN_BIN})
    return pd.DataFrame(lines)


def calibration_words(comparison: Comparison, method: str, arm: str) -> str:
    """Return a sentence on probabilities of the rarer class that are too high or low.

    They are those of the reliability curve; empty if their mean is as it should be.
    """
    table = reliability_table(comparison, method)
    if table.empty or not len(table := table[table["arm"] == arm]):
        return ""
    weight, classes = (
        table["rows"] / table["rows"].sum(),
        comparison.settings["classes"],
    )
    means = [float(weight @ table[name]) for name in ("predicted", "observed")]
    rarer = int(means[1] <= 0.5)
    predicted, observed = (mean if rarer else 1 - mean for mean in means)
    variance = table["rows"] @ (table["predicted"] * (1 - table["predicted"]))
    off = abs(predicted - observed)
    far = off * table["rows"].sum() > MOST_ERRORS * np.sqrt(variance)
    if not far or off <= MOST_OFF * observed:
        return ""
    shown, share = numbers(predicted, observed)
    recent = " on recent rows" * (comparison.settings["splits"]["kind"] == "time")
    return (
        f"Probabilities of class {classes[rarer]} of {method} {ARMS[arm].label} are "
        f"not calibrated: their mean on test rows is {shown}, the observed share "
        f"{share}; use them to rank, or calibrate them with CalibratedClassifierCV of "
        f"scikit-learn{recent}."
    )


def kept_calibration(comparison: Comparison) -> str:
    """Return a sentence on probabilities of the model that is kept, if it is needed."""
    return calibration_words(_kept(comparison)[0], *comparison.choice)


def interval_words(line: Mapping[str, Any], bounds: tuple[float, float]) -> str:
    """Return the interval of a score in parentheses; ends at its range are named.

    Examples
    --------
    >>> interval_words({"low": 0.62, "high": 1.0}, (0.0, 1.0))
    ' (95 % interval 0.620 to 1.000, cut at the largest possible score)'
    """
    if pd.isna(line["low"]):
        return ""
    if (line["low"], line["high"]) == bounds:
        return " (too few rows for an interval)"
    cut = ""
    if line["low"] == bounds[0]:
        cut = ", cut at the smallest possible score"
    elif line["high"] == bounds[1]:
        cut = ", cut at the largest possible score"
    low, high = numbers(line["low"], line["high"])
    return f" (95 % interval {low} to {high}{cut})"


def _at_sizes(comparison: Comparison, part: int) -> list[str]:
    """Return one part of `_test_words`, at every size if they differ."""
    said: dict[str, list[str]] = {}
    for own in sizes(comparison):
        words = _test_words(own.settings["splits"])[part]
        said.setdefault(words, []).append(size_words(own))
    found = [(words, listed(rows)) for words, rows in said.items() if words]
    return [f"{words} with {rows}" if len(said) > 1 else words for words, rows in found]


def _test_words(splits: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what intervals and tests come from, and how often tests reject."""
    kind, often = splits["kind"], f"{REJECTED[splits['kind']]} %"
    if kind == "time" and splits["n_splits"] < FEWEST_WINDOWS:
        blocks = "blocks of consecutive test rows"
        return f"from {blocks}", f"a t-test over {blocks}", ""
    if kind == "time" and splits.get("overlap") == 0:
        test = "the ordinary t-test over the windows (they share no training rows)"
        return "from the scores of the windows", test, often
    how = (
        "the variance due to the training sets and that due to the test rows are "
        "estimated separately"
    )
    if kind in ("folds", "time"):
        how = (
            "Nadeau and Bengio, 2003, whose correction is applied to the variance due "
            "to the training sets"
        )
    test = f"a t-test that accounts for the overlap of the splits ({how})"
    return "corrected for the overlap of the splits", test, often


def caption_words(comparison: Comparison) -> str:
    """Return what the scores of the table are, and where their intervals come from."""
    one = comparison.settings["splits"]["n_splits"] == 1
    what = "Scores of the split" if one else "Means over the splits"
    return f"{what} with 95 % intervals, {listed(_at_sizes(comparison, 0))}"


def test_words(comparison: Comparison) -> str:
    """Return the tests of a gain, and how often they reject without one."""
    tests, often = (listed(_at_sizes(comparison, part)) for part in (1, 2))
    if len(comparison.methods) > 1:
        tests += ", and corrected for the number of methods (Holm, 1979)"
    said = f"{tests}."
    if often:
        said += (
            f" Where the true difference is zero, {often} of such tests are "
            "significant on either side (measured; see the guide to evaluation)."
        )
    return said


def cut_words(comparison: Comparison) -> str:
    """Return a sentence on intervals that are cut at the range of the score, if any."""
    cut = []
    for name, bound in zip(("low", "high"), comparison.design.bounds, strict=True):
        if any((own.intervals()[name] == bound).any() for own in sizes(comparison)):
            which = "smallest" if name == "low" else "largest"
            cut.append(f"{which} possible score, {bound:g}")
    return f"Intervals are cut at the {listed(cut, 'and the')}." if cut else ""


def full_size_words(comparison: Comparison) -> str | None:
    """Return the verdict at the size of the final model; None if there is no other."""
    full = comparison.full_size
    if full is None:
        return None
    said, several = str(full.verdict), len(comparison.methods)
    if several > len(full.methods):
        best, arm = best_arm(comparison.summary, comparison.verdict)
        highest = f"has the highest score {ARMS[arm].label}"
        first = f"{comparison.verdict.method}, the method of the verdict,"
        who = f"{first} which also {highest}, was"
        if len(full.methods) > 1:
            who = f"{first} and {best}, which {highest}, were"
        said += f" Of the {several} methods only {who} compared again."
    return said


def sizes(comparison: Comparison) -> list[Comparison]:
    """Return the comparison, and the one at the size of the final model."""
    full = comparison.full_size
    return [comparison] if full is None else [comparison, full]


def size_words(comparison: Comparison) -> str:
    """Return the number of training rows of a comparison."""
    return f"{training_rows(comparison.settings['splits'])} training rows"


def score_lines(comparison: Comparison) -> list[list[str]]:
    """Return the table cells of methods and baselines, at every size."""
    lines = []
    for own in sizes(comparison):
        size = f" ({size_words(own)})" if comparison.full_size else ""
        for line in own.summary.to_dict("records"):
            method, *cells = summary_cells(line)
            lines.append([method + size, *cells])
        outside = own.settings.get("outside") or {"name": "", "score": None}
        for name, score in (
            (f"{outside['name']} (external baseline, ", outside["score"]),
            ("constant prediction (", own.settings.get("constant")),
        ):
            if score is not None:
                cells = [number(score), *[""] * (len(ARMS) + 2)]
                lines.append([f"{name}{size_words(own)})", *cells])
    return lines


def baseline_words(comparison: Comparison) -> list[str]:
    """Return the scores of boosting and of a constant prediction, at every size."""
    said = []
    for own in sizes(comparison):
        settings = own.settings
        constant, outside = settings.get("constant"), settings.get("outside")
        size = f" ({size_words(own)})"
        if outside:
            interval = interval_words(outside, own.design.bounds)
            found = (
                f"scores {number(outside['score'])}{interval}"
                f"{_beside_constant(outside)}{_beside_without(own)}."
            )
            scores = outside.get("scores") or [np.nan]
            if np.array_equal(scores, settings.get("constants") or []):
                found = (
                    "makes a constant prediction: these are too few rows for its trees."
                )
            said.append(
                f"{outside['name']} of scikit-learn, with its defaults, on X, encoded "
                "as for the methods but with missing numbers left missing, and the "
                f"same splits{size}, {found}"
            )
        if constant is not None:
            said.append(_constant_words(own, size))
    return said


def _beside_constant(outside: Mapping[str, Any]) -> str:
    """Return how a baseline compares with a constant; empty if it is better."""
    if "over_constant" not in outside or (outside["over_constant_low"] or 0.0) > 0:
        return ""
    worse = (outside["over_constant_high"] or 0.0) < 0
    what = "worse than" if worse else "not shown to be better than"
    shown = over_constant_words(outside)
    return f", {what} a constant prediction: the difference is {shown}"


def _beside_without(comparison: Comparison) -> str:
    """Return how a baseline compares with the method of the verdict without X*."""
    outside, method = comparison.settings["outside"], comparison.verdict.method
    scores, said = outside.get("scores", []), ""
    if scores and (constants := comparison.settings.get("constants")):
        kept = np.delete([scores, constants], comparison.left_out, axis=1)
        where = far_below(kept[0], kept[1], comparison.settings["optimum"])
        said = f"; far below a constant prediction {where}" * bool(where)
    if 1 < len(scores) < FEWEST_SPLITS:
        folds = comparison.folds.sort_values("split")
        without = folds[(folds["method"] == method) & (folds["arm"] == "without")]
        better = int((np.array(scores) > without["score"].to_numpy()).sum())
        each = ", ".join(map(number, scores))
        said += f"; by split: {each}, in {better} of {len(scores)} above without X*"
    low, high = (outside.get(f"over_without_{end}") or 0.0 for end in ("low", "high"))
    over = with_interval(outside, "over_without") if low > 0 or high < 0 else ""
    if high < 0:
        said += f". It is worse than {method} without X*: the difference is {over}"
    if low > 0:
        said += (
            f". It is better than {method} without X*, by {over}: what is gained over "
            "that model, by the oracle too, is gained over a weaker baseline"
        )
    for what, score, _ in _also_words(comparison.settings, outside):
        said += f". Its {what} is {score}"
    return said


def _constant_words(comparison: Comparison, size: str) -> str:
    """Return the score of a constant prediction, and the rate of the majority."""
    settings = comparison.settings
    level, _ = numbers(settings["constant"], comparison.table["score"].max())
    score = f"scores {level}"
    if settings["task"] == "regression":
        said = f"Predicting the mean of the training rows for every test row{size} "
        if settings["splits"]["kind"] == "time" and settings["scoring"] == "r2":
            score += (
                ": R² is measured from the mean of the later rows, which is not that "
                "of the earlier ones"
            )
        return f"{said}{score}."
    rate = settings.get("also", {}).get("accuracy")
    right = f", with an accuracy of {number(rate)}" if rate is not None else ""
    frequent = _most_frequent(settings)
    return f"Predicting the {frequent} for every row{size} {score}{right}."


def _most_frequent(settings: Mapping[str, Any]) -> str:
    """Return the words for the class of a constant prediction."""
    which = {"time": " of the earlier rows"}.get(settings["splits"]["kind"], "")
    if not which and settings["splits"].get("grouped"):
        which = " of the training rows"
    return f"most frequent class{which}"


def _also(
    settings: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]
) -> dict[str, tuple[str, str]]:
    """Return what the other scores are called, and those without a model, by name.

    The average precision of equal predictions, below that of a random ranking, is one
    of these where one of the ``lines`` has it.
    """
    found, random = {}, settings.get("random", {})
    for name, score in settings.get("also", {}).items():
        if name == "accuracy":
            frequent = _most_frequent(settings)
            found[name] = name, f"that of the {frequent} {number(score)}"
            continue
        # One rare class is not named in the name of its score.
        label = name.partition(" of ")[2] or settings["second"]["class"]
        beside = f"that of a random ranking {number(random.get(name, score))}"
        if name in random and any(
            np.isclose(line.get(name, np.nan), score) for line in lines
        ):
            beside += f", of equal predictions {number(score)}"
        found[name] = f"average precision of class {label}", beside
    return found


def _also_words(
    settings: Mapping[str, Any], line: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each other score, the score, and that without a model."""
    for name, (what, guess) in _also(settings, [line]).items():
        if name in line:
            ends = {end: line[f"{name}_{end}"] for end in ("low", "high")}
            interval = interval_words(ends, (0.0, 1.0))
            yield what, f"{number(line[name])}{interval}", guess


def second_words(comparison: Comparison) -> list[str]:
    """Return the other scores of the method of the verdict, a sentence for each."""
    method, said = comparison.verdict.method, []
    if method is None:
        return []
    table = comparison.table.set_index("method").loc[[method]].to_dict("records")
    for name, (what, guess) in _also(comparison.settings, table).items():
        ends = [(line[f"{name}_low"], line[f"{name}_high"]) for line in table]
        # An interval of all values is none.
        known = [not (pd.isna(low) or (low, high) == (0, 1)) for low, high in ends]
        scores = (
            f"{ARMS[line['arm']].label} {number(line[name])}"
            + f" ({number(low)} to {number(high)})" * here
            for line, (low, high), here in zip(table, ends, known, strict=True)
        )
        how = "with 95 % intervals"
        if not all(known):
            how += " where there are enough rows"
        if not any(known):
            how = "too few rows for intervals"
        said.append(
            f"{what[0].upper()}{what[1:]} of {method}, {guess}, {how} "
            f"({size_words(comparison)}): {', '.join(scores)}."
        )
    others = (comparison.settings.get("second") or {}).get("others", 0)
    if others:
        several = others > 1
        said.append(
            f"{others} other{'s' * several} of the classes with less than 10 % of the "
            f"rows {'have' if several else 'has'} no average precision here: too few "
            "test rows, or the five rarest are shown."
        )
    return said


def data_facts(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is compared, by heading, for the report and the terminal."""
    known, privileged = settings["features"], settings["privileged"]
    rows = f"{settings['n_rows']:,}"
    missing = settings["n_rows"] - settings["n_privileged_rows"]
    if missing:
        verb = "has" if missing == 1 else "have"
        rows += f", of which {missing:,} {verb} no privileged information"
    labels = settings["labels"]
    if labels["n_unlabelled"]:
        rows += (
            f"; {labels['n_unlabelled']:,} have no outcome and are no test rows: "
            f"{_used_words(labels, settings['splits'])}"
        )
    target = f"{settings['target']} ({settings['task']}"
    if settings.get("classes"):
        target += f": {listed(settings['classes'], most=12)}"
    search = settings["search"]
    candidates, searched = "no parameters to search", "the training rows"
    if search.get("n_rows") is not None:
        searched = f"{search['n_rows']:,} of {searched}"
    if search["has_parameters"]:
        candidates = (
            f"{search['n_candidates']} candidates for each arm, method and split, "
            f"chosen by {search['inner_cv']}-fold cross-validation on {searched}"
        )
    auc = labels["auc"]
    alike = []
    if not pd.isna(auc):
        words = "told apart from the others by X and X* with an AUC of"
        words = f"{words} {auc:.2f} (0.5: no difference found)"
        alike = [("Rows without outcome", words)]
    features = f"{len(known)}: {listed_columns(known, most=12)}"
    times = [settings["splits"].get(name) for name in ("time", "outcome_time")]
    if apart := [time for time in times if time and time not in known]:
        make, are = ("makes", "is") if len(apart) == 1 else ("make", "are")
        features += f"; {listed(apart)} {make} the splits and {are} not used to predict"
    return [
        ("Target", f"{target})"),
        ("Rows", rows),
        *alike,
        ("Known when predicting (X)", features),
        (
            "Privileged (X*)",
            f"{len(privileged)}: {listed_columns(privileged, most=12)}",
        ),
        ("Score", f"{metric_name(settings['scoring'])}, higher is better"),
        ("Splits", split_words(settings)),
        ("Search", candidates),
    ]


def _used_words(labels: Mapping[str, Any], splits: Mapping[str, Any]) -> str:
    """Return how many rows without an outcome are training rows."""
    usable = labels.get("n_usable", labels["n_unlabelled"])
    low, high = labels.get("n_used_range", (usable, usable))
    if not high:
        later = splits["kind"] == "time" and not splits.get("grouped")
        why = ", because none is earlier than test rows" * later
        return f"none is a training row{why if usable else ', because none has X*'}"
    count = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    count = "all" if low == labels["n_unlabelled"] else count
    has, are = (
        ("has", "is a training row") if count == "1" else ("have", "are training rows")
    )
    which = f", which {has} X*," * (usable < labels["n_unlabelled"])
    return (
        f"{count} of them{which} {are} of each split, for the methods that can use "
        "them, in the arms with X*"
    )


def method_verdict(line: Mapping[str, Any]) -> str:
    """Return the verdict on one method, from its row of the summary."""
    if line["nothing_to_gain"]:
        return f"{line['verdict']}, nothing to gain"
    if not pd.isna(line["rows_needed"]):
        return f"{line['verdict']}, too few rows to tell"
    if line["fails"] and line["verdict"] in ("helps", "hurts"):
        return f"{line['verdict']}, but models fail"
    return f"{line['verdict']}{', with shuffled X* as well' * loses_shuffled(line)}"
