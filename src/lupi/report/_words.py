"""Numbers, table cells and sentences of the report and of the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from lupi._words import (
    listed,
    listed_columns,
    number,
    numbers,
    percent,
    signed,
    together,
)
from lupi.evaluation._methods import ARMS
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._statistics import FEWEST_WINDOWS
from lupi.evaluation._verdict import (
    CONTROLS,
    about_data,
    best_arm,
    compared_with_constant,
    constant_words,
    hurts_words,
    late_words,
    loses_shuffled,
    rarest_words,
    training_rows,
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
# The names of baselines in tables.
EXTERNAL, CONSTANT = "external baseline", "constant prediction"
# Percentage of significant tests on either side where the true difference is zero, by
# the kind of splits: the table of the guide to evaluation.
REJECTED = {
    "folds": "5.0",
    "small training sets": "3.1 to 6.9",
    "few labels": "3.0 to 4.0",
    "time": "3.1 to 5.7",
}
# R² of a constant prediction from which it is explained.
LOW_CONSTANT = -0.05
# Splits that are left out of all means are marked.
MARK = "†"
HOLM_WORDS = (
    ", corrected for the number of methods (Holm; intervals, and p_gain of "
    "results.csv, are not)"
)
GAIN_WORDS = {
    "gain": (
        "the smallest difference of “with X*” to “without X*”, “shuffled X*” and “X as "
        "X*”, taken before rounding; each end of its 95 % interval is the smallest of "
        "these differences as well"
    ),
    "p": (
        "the largest of the three one-sided p-values of these differences; it is at "
        "most 0.05 where the 90 % interval is above zero"
    ),
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
        table[CONSTANT] = table["split"].map(constants)
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


def _left_out_words(own: Comparison) -> Iterator[str]:
    """Yield which splits are left out, why, and the means over all."""
    if not own.left_out:
        return
    folds, method = own.folds, own.verdict.method
    means = folds[folds["method"] == method].groupby("arm")["score"].mean()
    scores = listed(f"{ARMS[arm].label} {number(means[arm])}" for arm in ARMS)
    numbers = listed(str(split + 1) for split in own.left_out)
    total = own.settings["splits"]["n_splits"]
    several = len(own.left_out) > 1
    line = own.summary.set_index("method").loc[method]
    gain = min(means["with"] - means[control] for control in CONTROLS)
    turned = f": the gain is then {signed(gain)}" * bool(gain * line["gain"] < 0)
    which = f"Splits {numbers} of {total} are" if several else f"Split {numbers} is"
    yield (
        f"{MARK} {which} left out of all means, tests and baselines: the score of an "
        "arm is more than five interquartile ranges below its other splits, and "
        "as far below the other arms or below a constant prediction "
        f"({listed(_far_words(own), most=4)}). The means of {method} over all {total} "
        f"splits are: {scores}{turned}."
    )


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
    """Return the meaning of the columns of the gain, and of the baselines."""
    several, settings = len(comparison.methods) > 1, comparison.settings
    words = GAIN_WORDS | {"p": GAIN_WORDS["p"] + HOLM_WORDS * several}
    if settings.get("constant") is not None:
        words[CONSTANT] = f"{constant_words(settings)}, for every row"
    if outside := settings.get("outside"):
        words[EXTERNAL] = (
            f"{outside['name']} of scikit-learn with its defaults, on X, encoded as "
            "for the methods but with missing numbers left missing"
        )
    return words


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
    compared = f" of the {len(scores)} compared with all outcomes"
    compared *= len(comparison.methods) > len(scores)
    size = " a model of this size" * (own is not comparison)
    if _is_small(own):
        few = training_rows(own.settings["splits"])
        size = f" models that are trained on {few} outcomes"
    if arm == "with":
        why = f"because X* helps{size if _is_small(own) else ' it'}"
        if helped["fails"].any():
            why = "which scores more than without; that says little, as models fail"
        if len(scores) > 1:
            why = (
                f"which{compared or ' of the models'} has the highest score without X* "
                "or with X* that helps"
            )
        said = f"{model}, {trained} with X*, {why}"
    elif len(helped):
        best = helped["with"].idxmax()
        said = (
            f"{model}, {trained}, with the highest score; {best}, which X* helps, has "
            f"{number(helped.at[best, 'with'])} with X*"
        )
    else:
        why = f"there is no evidence that X* helps{size}"
        if own.verdict.kind == "hurts":
            why = hurts_words(own)
            why += size * (why == "X* hurts")
        if len(scores) > 1:
            which = compared or " of the models"
            why += f";{which} without X* it has the highest score"
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
    """Return the expected score of the model that is kept."""
    own, line = _kept(comparison)
    score = number(line["score"]) + interval_words(line)
    metric = metric_name(own.settings["scoring"])
    said = f"Its expected {metric} is {score}"
    if _is_small(own):
        total = own.settings["labels"]["n_labelled"]
        said = (
            f"Models trained on all {total:,} outcomes were not measured; the {metric} "
            f"of those trained on {training_rows(own.settings['splits'])} is {score}"
        )
    return " ".join([f"{said}.", *filter(None, [below_words(comparison)])])


def below_words(comparison: Comparison) -> str:
    """Return a sentence on a kept model that may be no better than a constant."""
    own, line = _kept(comparison)
    how = compared_with_constant(line) if own.settings.get("constants") else ""
    is_how = f"is {how[0].lower()}{how[1:]}" if how else ""
    return bool(how) * f"The model {is_how} predicting {constant_words(own.settings)}."


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


def interval_words(line: Mapping[str, Any]) -> str:
    """Return the interval of a score in parentheses.

    Examples
    --------
    >>> interval_words({"low": 0.62, "high": 1.0})
    ' (95 % interval 0.620 to 1.000)'
    """
    if pd.isna(line["low"]):
        return ""
    low, high = numbers(line["low"], line["high"])
    return f" (95 % interval {low} to {high})"


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
            " Where the true difference is zero, the share of one-sided tests that are "
            f"significant at 5 %, in each direction, is {often} (measured; see the "
            "guide to evaluation)."
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
    said, several = (
        f"{full.verdict.headline} {full.verdict.sentence}",
        len(comparison.methods),
    )
    if several > len(full.methods):
        best, arm = best_arm(comparison.summary, comparison.verdict)
        highest = f"has the highest score {ARMS[arm].label}"
        first = f"{comparison.verdict.method}, the method of the verdict,"
        who = f"{first} which also {highest}, was"
        if len(full.methods) > 1:
            who = f"{first} and {best}, which {highest}, were"
        said += f" Of the {several} methods only {who} compared again."
    return said


def notes(comparison: Comparison) -> list[str]:
    """Return what limits the verdicts, and splits and baselines that stand out.

    Notes that are not the same at both sizes say which they are of.
    """
    found: dict[str, list[str]] = {}
    for own in sizes(comparison):
        more = [*_left_out_words(own), *_baseline_words(own)]
        for note in [*own.verdict.notes, *more]:
            found.setdefault(note, []).append(size_words(own))
    several, data = len(sizes(comparison)), {*about_data(comparison.settings)}
    return [
        f"With {at[0]}: {note}" if len(at) < several and note not in data else note
        for note, at in found.items()
    ]


def sizes(comparison: Comparison) -> list[Comparison]:
    """Return the comparison, and the one at the size of the final model."""
    full = comparison.full_size
    return [comparison] if full is None else [comparison, full]


def size_words(comparison: Comparison) -> str:
    """Return the number of training rows of a comparison."""
    return f"{training_rows(comparison.settings['splits'])} training rows"


class ScoreLine(NamedTuple):
    """The cells of a line of the table, and the summary of the method of the line."""

    cells: list[str]
    summary: Mapping[str, Any] | None = None


def score_lines(comparison: Comparison) -> list[ScoreLine]:
    """Return the lines of the table: methods and baselines, at every size.

    The other scores stand below those of the method of the verdict and of the
    baselines. The line of a size has one cell.
    """
    lines: list[ScoreLine] = []

    def add(name: str, *scores: float) -> None:
        lines.append(ScoreLine([name, *map(number, scores)]))

    for own in sizes(comparison):
        if comparison.full_size is not None:
            lines.append(ScoreLine([size_words(own)]))
        settings, table = own.settings, own.table.set_index(["method", "arm"])
        also = {name: _also_name(settings, name) for name in settings.get("also", {})}
        for line in own.summary.to_dict("records"):
            lines.append(ScoreLine(summary_cells(line), line))
            if line["method"] == own.verdict.method:
                scores = table.loc[line["method"]].loc[list(ARMS)]
                for name, label in also.items():
                    random = settings.get("random", {}).get(name)
                    chance = f" (random ranking: {number(random)})" if random else ""
                    add(f"{label}{chance}", *scores[name])
        if outside := settings.get("outside"):
            add(EXTERNAL, outside["score"])
            for name, label in also.items():
                if name in outside:
                    add(label, outside[name])
        if (constant := settings.get("constant")) is not None:
            add(CONSTANT, constant)
            if "accuracy" in also:
                add(also["accuracy"], settings["also"]["accuracy"])
    return lines


def _also_name(settings: Mapping[str, Any], name: str) -> str:
    """Return the name of a score beside that of the comparison."""
    if name == "accuracy":
        return "– accuracy"
    # One rare class is not named in the name of its score.
    label = name.partition(" of ")[2] or settings["second"]["class"]
    return f"– average precision of class {label}"


def _baseline_words(own: Comparison) -> Iterator[str]:
    """Yield what has to be known of gradient boosting and of a constant prediction."""
    settings, method = own.settings, own.verdict.method
    outside, splits = settings.get("outside") or {}, settings["splits"]
    if (outside.get("over_without_low") or 0.0) > 0:
        yield (
            f"{outside['name']} on X alone, with its defaults, is better than {method} "
            f"without X*, by {with_interval(outside, 'over_without')}: what is gained "
            "over that model, by the oracle too, is gained over a weaker baseline."
        )
    if outside and outside.get("scores") == settings.get("constants"):
        yield (
            f"{outside['name']} makes a constant prediction: "
            f"{training_rows(splits)} rows are too few for its trees."
        )
    low = (settings.get("constant") or 0.0) < LOW_CONSTANT
    if low and splits["kind"] == "time" and settings["scoring"] == "r2":
        yield (
            "R² is measured from the mean of the later rows, so that predicting the "
            "mean of the earlier ones is below 0."
        )
    if others := (settings.get("second") or {}).get("others"):
        yield (
            f"No average precision is shown for {listed(others, most=8)}: it is for "
            "the five rarest classes with at least three test rows in every split."
        )


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
