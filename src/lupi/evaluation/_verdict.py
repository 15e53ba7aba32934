"""From the scores of all splits to tests, a verdict and recommendations.

The gain of a method is the smallest of its paired differences to the controls
“without X*”, “shuffled X*” and “X as X*”. A method *helps* when its gain is
significant, and *hurts* when it is worse than “without X*”. Otherwise there is *no
evidence* that it helps: there is *nothing to gain*, there are *too few rows to tell*,
or the method does not achieve the gain of the oracle. The guide to evaluation has the
rules.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from lupi._words import (
    TINY,
    argument,
    classes_left_out,
    listed,
    listed_columns,
    number,
    percent,
    signed,
    together,
)
from lupi.evaluation._methods import ARMS
from lupi.evaluation._order import unordered_words
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._statistics import (
    FEWEST_BLOCKS,
    FEWEST_SPLITS,
    FEWEST_WINDOWS,
    Contrast,
    Design,
    corrected_contrast,
    holm,
    interval_factor,
)

if TYPE_CHECKING:
    from lupi.evaluation import Comparison

Kind = Literal["score", "difference"]

SIGNIFICANCE = 0.05
PERFECT = 1e-3

HELPS = "helps"
NO_EVIDENCE = "no evidence"
HURTS = "hurts"
FAILED = "failed"

# What the oracle is, wherever a sentence may be quoted alone.
HAS_X = ", a model that has X* when predicting,"
ALMOST_PERFECT = (
    f"Careful: the oracle{HAS_X} is almost perfect: X* may contain the target itself "
    "(a leak)."
)
KNOWN_FROM_X = (
    "Careful: the model without X* is almost perfect: a column of X may contain the "
    "target itself (a leak)."
)
# What `lupi compare --time` takes for the order of the rows in the file.
ROW_NUMBER = "row-number"
# Differences below this are not visible in scores of three decimals.
ROUNDED = 0.0005
# Error of an arm, in errors of a constant prediction, above which it fails in a split.
FAR_BELOW = 1.5
# Share of a gain by which its median over the splits differs where few make the mean.
SKEWED = 0.5
# Training rows of the rarest class, below which their number is said.
FEW_OF_CLASS = 30
# The arms that a method is compared with.
CONTROLS = ("without", "shuffled", "self")
# The arms of models that can be used.
MODELS = ("without", "with")
# A mean or difference in a table: see `Contrast.columns`.
ENDS = ("", "_std_error", "_low", "_high")
GAP = [*(f"gap{end}" for end in ENDS), "gap_upper", "p_gap"]
COLUMNS = (
    *("method", *ARMS, *(f"gain{end}" for end in ENDS)),
    *("control", "control_low", "control_high"),
    *(f"difference{end}" for end in ENDS),
    *(f"p_{control}" for control in CONTROLS),
    *("p_helps", "p_hurts", *GAP, "gap_closed"),
    *("leak", "fails", "verdict", "nothing_to_gain", "rows_needed", "seconds"),
)


class ArmScores:
    """The scores of one method: one array per arm, aligned by split.

    The splits in ``left_out`` are missing. ``settings`` has the scores of a constant
    prediction as ``constants``.
    """

    def __init__(
        self,
        folds: pd.DataFrame,
        design: Design,
        left_out: Sequence[int] = (),
        settings: Mapping[str, Any] | None = None,
    ):
        self.design = design
        self.optimum = (settings or {}).get("optimum", 1.0)
        self.constants = [
            np.delete(np.array(values, dtype=float), left_out, axis=0)
            for name in ("constants", "constant_groups")
            if (values := (settings or {}).get(name))
        ]
        self.scores: dict[str, np.ndarray] = {}
        self.groups: dict[str, np.ndarray | None] = {}
        self.seconds: dict[str, float] = {}
        self.n_unlabelled = folds.get("n_unlabelled", pd.Series(0.0)).max()
        for arm, part in folds.sort_values("split").groupby("arm"):
            self.seconds[arm] = float(part["seconds"].sum())
            part = part[~part["split"].isin(left_out)]
            self.scores[arm] = part["score"].to_numpy(dtype=float)
            groups = part["group_scores"].tolist()
            scored = all(isinstance(each, list) for each in groups)
            self.groups[arm] = np.array(groups, dtype=float) if scored else None

    @property
    def failed(self) -> bool:
        """Whether any arm has a split without a score."""
        return set(self.scores) != set(ARMS) or any(
            np.isnan(values).any() for values in self.scores.values()
        )

    def level(self, arm: str) -> Contrast:
        """Return the mean score of an arm."""
        return corrected_contrast(
            self.scores[arm], self.design, self.groups[arm], paired=False
        )

    def difference(self, arm: str, other: str) -> Contrast:
        """Return the paired difference of two arms over the splits."""
        groups, others = self.groups[arm], self.groups[other]
        paired = None if groups is None or others is None else groups - others
        differences = self.scores[arm] - self.scores[other]
        alike = not {"oracle", "outside"} & {arm, other}
        return corrected_contrast(differences, self.design, paired, alike=alike)

    def over_constant(self, arm: str) -> dict[str, float]:
        """Return how far an arm is above a constant prediction, for a table.

        Both are scored on the same rows, but a model is better than a constant on the
        same rows in every split: the variance is that of a score, not of a difference.
        It contains that of the constant, which can be large; the interval therefore
        ends where that of the score, without it, is above or below every constant.
        """
        if not self.constants:
            return {}
        constants, *of_groups = self.constants
        groups = self.groups[arm]
        paired = groups - of_groups[0] if groups is not None and of_groups else None
        low, high = np.array(self.design.bounds) - constants.mean()
        design = replace(self.design, bounds=(low, high), share=False)
        over = corrected_contrast(
            self.scores[arm] - constants, design, paired, paired=False
        ).columns("over_constant")
        low, high = self.level(arm).interval() - np.array(
            [constants.max(), constants.min()]
        )
        over["over_constant_low"] = np.fmax(over["over_constant_low"], low)
        over["over_constant_high"] = np.fmin(over["over_constant_high"], high)
        return over

    def predicts(self, arms: Sequence[str] = MODELS) -> bool:
        """Return whether one of these arms is shown to be better than a constant."""
        over = [{} if self.failed else self.over_constant(arm) for arm in arms]
        return any(line.get("over_constant_low", 1.0) > 0 for line in over)

    @property
    def failing(self) -> dict[str, str]:
        """The arms that are far below a constant in some splits, with the scores."""
        if self.failed or not self.constants:
            return {}
        more = self.constants[0], self.optimum
        found = {arm: far_below(self.scores[arm], *more) for arm in ARMS}
        return {arm: f"{ARMS[arm].label} {at}" for arm, at in found.items() if at}


def summarise(
    scores: Mapping[str, ArmScores], settings: Mapping[str, Any]
) -> pd.DataFrame:
    """Return one row per method, with its tests and its verdict."""
    table = pd.DataFrame(
        [_tests(method, arms, settings) for method, arms in scores.items()]
    ).reindex(columns=[*COLUMNS, "p_less"])
    claims = table[[f"p_{control}" for control in CONTROLS]].max(axis=1, skipna=False)
    table["p_helps"] = holm(claims.to_numpy(dtype=float))
    table["p_hurts"] = holm(table["p_less"].to_numpy(dtype=float))
    # Errors of labels do not occur when predicting: there the oracle gains nothing. The
    # difference to a model that fails is no gain either.
    noisy = table["method"].isin(settings.get("noisy", ()))
    failing = [not {"without", "oracle"}.isdisjoint(a.failing) for a in scores.values()]
    table.loc[noisy | np.array(failing), GAP] = np.nan
    table["p_gap"] = holm(table["p_gap"].to_numpy(dtype=float))
    gap_found = table["p_gap"] <= SIGNIFICANCE
    above = gap_found & (table["with"] < table["oracle"])
    table["gap_closed"] = (table["gain"] / table["gap"]).where(above)
    table[["leak", "fails"]] = table[["leak", "fails"]].eq(True)
    shown = table[["p_helps", "p_hurts"]] <= SIGNIFICANCE
    kinds = [table["gain"].isna(), shown["p_helps"], shown["p_hurts"]]
    table["verdict"] = np.select(kinds, [FAILED, HELPS, HURTS], NO_EVIDENCE)
    none = table["verdict"] == NO_EVIDENCE
    negligible = table["gap_upper"] <= settings["negligible"]
    # An oracle that may lose, or is not better than a constant, shows nothing, and few
    # windows say nothing about other training sets.
    lower = 2 * table["gap"] - table["gap_upper"]
    few = settings["splits"]["n_splits"] < FEWEST_WINDOWS
    table["nothing_to_gain"] = (
        none
        & negligible
        & (table["gain_high"] <= settings["negligible"])
        & (lower >= -settings["negligible"])
        & (not few or settings["splits"]["kind"] != "time")
        & np.array([one.predicts((*MODELS, "oracle")) for one in scores.values()])
    )
    # From few splits, of a loss of the oracle, or where the method itself is known to
    # gain next to nothing, the number of rows would not be an answer; nor is it for
    # small training sets, which stay small in a larger table.
    splits = settings["splits"]
    untold = none & ~negligible & ~gap_found & (table["gap"] > 0)
    untold &= table["gain_high"] > settings["negligible"]
    untold &= splits["n_splits"] >= FEWEST_SPLITS and not (
        splits["train_size"] or splits.get("labelled")
    )
    table["rows_needed"] = [
        _rows_needed(line, settings) if wanted else np.nan
        for line, wanted in zip(table.to_dict("records"), untold, strict=True)
    ]
    return table[list(COLUMNS)]


def _tests(method: str, arms: ArmScores, settings: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {"method": method, "seconds": sum(arms.seconds.values())}
    if arms.failed:
        return line
    line |= {arm: arms.level(arm).mean for arm in ARMS}
    claims = {control: arms.difference("with", control) for control in CONTROLS}
    line |= {f"p_{control}": claim.p_greater for control, claim in claims.items()}
    control = min(CONTROLS, key=lambda name: claims[name].mean)
    gain, difference = claims[control], claims["without"]
    gap = arms.difference("oracle", "without")
    # A one-sided bound at 95 % is the end of a two-sided interval at 90 %.
    reach = interval_factor(1 - 2 * SIGNIFICANCE, gap.freedom) * gap.std_error
    line |= gain.columns("gain") | gap.columns("gap")
    line |= difference.columns("difference")
    for side, end in enumerate(("low", "high")):
        ends = {name: claim.interval()[side] for name, claim in claims.items()}
        least = min(CONTROLS, key=lambda name: ends[name])
        line |= {f"gain_{end}": ends[least], f"control_{end}": least}
    return line | {
        "control": control,
        "p_less": difference.p_less,
        "gap_upper": gap.mean + reach,
        "p_gap": gap.p_greater,
        "leak": _is_leak(line["oracle"], line["without"], settings["optimum"]),
        "fails": bool({*arms.failing} - {"oracle"}),
    }


def _is_leak(oracle: float, without: float, optimum: float) -> bool:
    if optimum == 0:
        return abs(oracle) <= PERFECT * abs(without)
    return optimum - oracle <= PERFECT < optimum - without


def _known_from_x(summary: pd.DataFrame, settings: Mapping[str, Any]) -> bool:
    """Return whether a model without X* is almost perfect, and a constant is not."""
    constant, best = settings.get("constant"), settings["optimum"]
    if constant is None:
        return False
    return any(_is_leak(score, constant, best) for score in summary["without"])


def loses_shuffled(line: Mapping[str, Any]) -> bool:
    """Return whether a loss is not specific to X*: shuffled X* loses as well.

    The method is then not significantly worse with X* than with shuffled X*.
    """
    if line["verdict"] != HURTS or line["shuffled"] >= line["without"]:
        return False
    worse = line["with"] < line["shuffled"] and line["p_shuffled"] >= 1 - SIGNIFICANCE
    return not worse


def _rows_needed(line: Mapping[str, Any], settings: Mapping[str, Any]) -> float:
    """Return the number of rows at which the bound of the gap would be conclusive.

    The standard error decreases with the square root of the number of rows. With the
    estimated gap, either the lower bound exceeds zero or the upper bound is negligible.
    """
    gap, negligible = line["gap"], settings["negligible"]
    reach, wanted = line["gap_upper"] - gap, max(gap, negligible - gap)
    if not np.isfinite(reach):
        return np.nan
    rows = settings["labels"]["n_labelled"] * max(1.0, (reach / wanted) ** 2)
    digits = 10 ** max(0, math.floor(math.log10(rows)) - 1)
    return float(math.ceil(rows / digits) * digits)


def best_arm(summary: pd.DataFrame, verdict: Any) -> tuple[str, str]:
    """Return the method and the arm with the highest score.

    The arm "with" is considered for methods that X* helps, the arm "without" for all
    methods that were fitted.
    """
    scores = summary[summary["verdict"] != FAILED].set_index("method")
    if scores.empty:
        raise ValueError(f"There is no model to return. {verdict}")
    helped = scores.loc[scores["verdict"] == HELPS, "with"]
    arm, name = pd.concat({"without": scores["without"], "with": helped}).idxmax()
    return str(name), str(arm)


def score_table(scores: Mapping[str, ArmScores]) -> pd.DataFrame:
    """Return one row per method and arm: score, differences to other arms, time."""
    lines = []
    for method, arms in scores.items():
        for arm in ARMS:
            line: dict[str, Any] = {"method": method, "arm": arm}
            if not arms.failed:
                line |= arms.level(arm).columns("score", "")
                line |= {"n_splits": len(arms.scores[arm])}
                line["seconds"] = arms.seconds[arm]
                if arm != "without":
                    over = arms.difference(arm, "without")
                    line |= over.columns("difference")
                    line["p_value"] = over.p_greater
                if arm in CONTROLS:
                    gain = arms.difference("with", arm)
                    line |= gain.columns("gain") | {"p_gain": gain.p_greater}
                line |= arms.over_constant(arm)
            lines.append(line)
    columns = ["method", "arm", "score", "std_error", "low", "high", "n_splits"]
    columns += [*(f"difference{end}" for end in ENDS), "p_value"]
    columns += [*(f"gain{end}" for end in ENDS), "p_gain"]
    columns += [*(f"over_constant{end}" for end in ENDS), "seconds"]
    return pd.DataFrame(lines).reindex(columns=columns)


def score_intervals(
    scores: Mapping[str, ArmScores], kind: Kind, confidence: float
) -> pd.DataFrame:
    """Return Student's intervals of scores or differences, by method and arm."""
    if kind not in ("score", "difference"):
        raise ValueError(f"kind={kind!r}: choose 'score' or 'difference'.")
    lines = []
    for method, arms in scores.items():
        for arm in () if arms.failed else list(ARMS)[kind == "difference" :]:
            paired = kind == "difference"
            own = arms.difference(arm, "without") if paired else arms.level(arm)
            lines.append((method, arm, own.mean, *own.interval(confidence)))
    return pd.DataFrame(lines, columns=["method", "arm", "value", "low", "high"])


@dataclass(frozen=True)
class Verdict:
    """The answer to "does my privileged information help?".

    Attributes
    ----------
    kind : {"helps", "no evidence", "hurts", "failed"}
        The answer over all methods: "helps" when X* helps one of them.
    headline : str
        The answer in one sentence.
    sentence : str
        The numbers behind the answer.
    method : str or None
        The method that the sentence refers to.
    methods : dict of str to str
        The kind of verdict of each method.
    notes : tuple of str
        What limits the answer, or may be wrong with the data: a sentence each.
    leak : bool
        True when a model that has X* when predicting is perfect and the one without
        it is not, so that X* likely contains the target, or when a column of X* has
        the same content as the target.
    nothing_to_gain : bool
        True when there is no evidence that X* helps, and the gain and that of a model
        that has X* when predicting, which does not lose, are negligible, with 95 %
        confidence.
    rows_needed : int or None
        Approximate number of rows needed to know whether a model that has X* when
        predicting gains, if there are too few.

    Examples
    --------
    >>> from lupi.evaluation import Verdict
    >>> methods = {"SVCPlus": "no evidence"}
    >>> verdict = Verdict("no evidence", "No evidence.", "Gain 0.", "SVCPlus", methods)
    >>> print(verdict)
    No evidence. Gain 0.
    """

    kind: str
    headline: str
    sentence: str
    method: str | None
    methods: dict[str, str]
    notes: tuple[str, ...] = ()
    leak: bool = False
    nothing_to_gain: bool = False
    rows_needed: int | None = None

    def __str__(self) -> str:
        return " ".join([self.headline, self.sentence, *self.notes])

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain data.

        Returns
        -------
        dict of str to object
            One entry per field.
        """
        return asdict(self)


def judge(
    summary: pd.DataFrame,
    settings: Mapping[str, Any],
    scores: Mapping[str, ArmScores],
    left_out: Sequence[int],
) -> Verdict:
    """Return the verdict over all methods; some splits are left out of all means."""
    metric = metric_name(settings["scoring"])
    kinds = dict(zip(summary["method"], summary["verdict"], strict=True))
    ran = summary[summary["verdict"] != FAILED]
    if ran.empty:
        headline = "No verdict: no method could be fitted."
        return Verdict(FAILED, headline, "See the failures.", None, kinds)
    several = len(ran) > 1
    leak = bool(ran["leak"].any() or settings.get("same"))
    corrected = f", corrected for {len(ran)} methods" * several
    helping = ran[ran["verdict"] == HELPS]
    nothing, rows, negligible = False, None, settings["negligible"]
    less = f", by less than {negligible:g}"
    if len(helping):
        best, kind = helping.loc[helping["with"].idxmax()], HELPS
        headline = (
            f"The privileged information helps"
            f"{less * bool(best['gain_high'] < negligible)}: with it, {best['method']} "
            f"scores {_scores(best, metric)}."
        )
        sentence = f"{_gain(best, corrected)}."
        if np.isnan(best["gap"]):
            pass
        elif best["with"] >= best["oracle"]:
            sentence += (
                f" The oracle{HAS_X} scores {number(best['oracle'])}, no more than "
                f"{best['method']} with X*."
            )
        elif not best["p_gap"] <= SIGNIFICANCE:
            sentence += _oracle_not_known(best, f"oracle{HAS_X}")
        elif not np.isnan(best["gap_closed"]):
            closed = percent(best["gap_closed"])
            sentence += f" It closes {closed} of the gap to the oracle{HAS_X[:-1]}."
    elif (ran["verdict"] == HURTS).all():
        best, kind = ran.loc[ran["difference"].idxmax()], HURTS
        least = "; the other methods lose more" * several
        what, about = "The privileged information hurts", ""
        if loses_shuffled(best):
            what = "The method loses, with shuffled X* as well"
            about = ": the loss is not specific to the content of X*"
        headline = (
            f"{what}{less * bool(best['difference_low'] > -negligible)}: with X*, "
            f"{best['method']} scores {_scores(best, metric, 'without')}."
        )
        p = f", p of a loss {_p(best['p_hurts'])}{corrected}"
        shuffled = number(best["shuffled"], *_beside(best, "without"))
        sentence = (
            f"The difference to without X* is {with_interval(best, 'difference', p)}"
            f"{least}. With shuffled X* it scores {shuffled}{about}."
        )
    else:
        # The gain of a model that predicts nothing is zero, whatever X* is.
        better = ran[[scores[str(name)].predicts() for name in ran["method"]]]
        among = better if len(better) else ran
        best, kind = ran.loc[among["gain"].idxmax()], NO_EVIDENCE
        headline = "There is no evidence that the privileged information helps."
        most, verb = "With it,", " scores"
        if several:
            one = " that is shown to be better than a constant prediction"
            one *= len(among) < len(ran)
            most = f"The largest gain{' of a method' * bool(one)}{one} is that of"
            verb = ": with X* it scores"
            if best["gain"] <= 0:
                most = f"No method{one} gains. The one that loses least is"
        sentence = (
            f"{most} {best['method']}{verb} {_scores(best, metric)}. "
            f"{_gain(best, corrected)}."
        )
        # The oracle of this method: the one that gains most is chosen by its score.
        whose, gap = f" of {best['method']}" * several, best["gap"]
        oracle = f"oracle{whose}{HAS_X}"
        nothing, lost = bool(ran["nothing_to_gain"].all()), bool(best["gap_high"] < 0)
        if nothing:
            headline = headline.removesuffix(".") + ", and nothing to gain."
        if np.isnan(gap):
            pass
        elif nothing or (gap >= 0 and best["gap_upper"] <= negligible):
            bound = signed(ran["gap_upper"].max() if nothing else best["gap_upper"])
            more = f", with any of the {len(ran)} methods" * (nothing and several)
            if not best["gain_high"] <= negligible:
                more = "; the interval of the gain itself reaches further"
            sentence += (
                f" The difference of the {oracle} to without X* is {signed(gap)}, with "
                f"95 % confidence at most {bound}{more}."
            )
        elif best["gap_upper"] <= negligible:
            sentence += (
                f" The {oracle} {'loses' if lost else 'is not shown to gain'}: its "
                f"difference to without X* is {with_interval(best, 'gap')}"
                f"{', so that it does not show what can be gained' * lost}."
            )
        elif not best["p_gap"] <= SIGNIFICANCE:
            sentence += _oracle_not_known(best, oracle)
            if not np.isnan(best["rows_needed"]):
                headline = headline.removesuffix(".") + ": too few rows to tell."
                rows = int(best["rows_needed"])
                more = f" more than {negligible:g}" * bool(2 * gap < negligible)
                sentence += (
                    f" About {rows:,} rows are needed to know whether it gains{more}."
                )
        else:
            p = f", one-sided p {_p(best['p_gap'])}{corrected}"
            sentence += f" The {oracle} gains {with_interval(best, 'gap', p)}"
            predicts = scores[str(best["method"])].predicts(["oracle"])
            if predicts and not (leak or best["fails"]):
                sentence += (
                    ": X* contains information that this model does not get from X"
                )
            sentence += "."
    hurt = []
    for line in ran[ran["verdict"] == HURTS].to_dict("records"):
        notes = [less[2:]] * bool(line["difference_low"] > -negligible)
        notes += ["shuffled X* does so as well"] * loses_shuffled(line)
        hurt.append(f"{line['method']}{f' ({listed(notes)})' * bool(notes)}")
    if hurt and kind != HURTS:
        sentence += f" It hurts {listed(hurt)}."
    method = str(best["method"])
    used = scores[method].n_unlabelled > 0
    sentence += f" Measured on {measured_words(settings['splits'], left_out, used)}."
    notes = [_leak_words(settings)] * leak
    notes += [KNOWN_FROM_X] * _known_from_x(summary, settings)
    notes += [*_far_words(scores), *_near_constant(scores, settings)]
    notes += [*_few_splits(best, scores[method], settings), *about_data(settings)]
    if best["fails"] and kind != NO_EVIDENCE:
        headline = f"Models that fail say little about X*:{headline.partition(':')[2]}"
    size = _size(settings)
    headline = size + headline[0].lower() + headline[1:] if size else headline
    answer = kind, headline, sentence, method, kinds, tuple(notes)
    return Verdict(*answer, leak, nothing, rows)


def _leak_words(settings: Mapping[str, Any]) -> str:
    """Return a warning of X* that contains the target, or may contain it."""
    if not settings.get("same"):
        return ALMOST_PERFECT
    return f"Careful: {_same_content(settings)} (a leak)."


def _same_content(settings: Mapping[str, Any]) -> str:
    same = settings["same"]
    has = "has" if len(same) == 1 else "have"
    return f"{listed_columns(same, most=4)} {has} the same content as the target"


def _size(settings: Mapping[str, Any]) -> str:
    """Return the beginning of a headline on few windows, fewer outcomes, or all."""
    splits, said = settings["splits"], []
    if splits["kind"] == "time" and splits["n_splits"] < FEWEST_WINDOWS:
        said.append(f"in {['one split', 'two windows'][splits['n_splits'] - 1]}")
    if splits.get("instead_of"):
        total, few = settings["labels"]["n_labelled"], splits["instead_of"]
        each = f"{training_rows(splits)} of them in training"
        each += " in each split" * (splits["n_splits"] > 1)
        each += ", known at the time of the split or not" * bool(late_words(splits))
        known = "known " * (not late_words(splits))
        said.append(f"with all {total:,} {known}outcomes ({each}) instead of {few}")
    elif splits["train_size"] or splits.get("labelled"):
        whole = bool(splits.get("grouped")) and splits["kind"] != "time"
        rows = f"{training_rows(splits)} known outcomes{' of whole groups' * whole}"
        said.append(f"with {rows}{rarest_words(splits)}")
    words = "".join(f"{each}, " for each in said)
    return words[:1].upper() + words[1:]


def training_rows(splits: Mapping[str, Any], name: str = "n_train") -> str:
    """Return the number of training rows with y, or of others, as a range if it varies.

    ``name`` is "n_train", "n_unlabelled" or "n_test".
    """
    low, high = splits.get(f"{name}_range") or (0, 0)
    if high > 1.1 * low:
        return f"{low:,} to {high:,}"
    exact = low == high and splits[name] == round(splits[name])
    return f"{'' if exact else 'about '}{round(splits[name]):,}"


def late_words(splits: Mapping[str, Any]) -> str:
    """Return how many training outcomes were not known at the split, if any."""
    number = training_rows(splits, "n_late") if splits.get("n_late") else ""
    return f"{number} of them not known at the time of the split" * bool(number)


def window_words(splits: Mapping[str, Any]) -> list[str]:
    """Return the times of the test rows of every split by time.

    They have a time of day where two windows share a day.
    """
    windows = splits.get("windows") or []
    ends = np.array(windows, dtype=float).reshape(-1, 2)
    in_days = (np.floor(ends[1:, 0]) > np.floor(ends[:-1, 1])).all()
    style = "%Y-%m-%d" if in_days else "%Y-%m-%d %H:%M"

    def words(time: float) -> str:
        if splits.get("dated"):
            return (pd.Timestamp(0) + pd.Timedelta(days=time)).strftime(style)
        return f"{time:.10g}"

    return [" to ".join(dict.fromkeys(map(words, window))) for window in windows]


def rarest_words(splits: Mapping[str, Any]) -> str:
    """Return the number of training rows of the rarest class, if it is small."""
    label, low, high = splits.get("rarest") or ("", FEW_OF_CLASS, FEW_OF_CLASS)
    if low >= FEW_OF_CLASS:
        return ""
    return f" ({low if low == high else f'{low} to {high}'} of class {label})"


def measured_words(
    splits: Mapping[str, Any], left_out: Sequence[int], unlabelled: bool
) -> str:
    """Return the number and the kind of the splits, and their training rows.

    ``unlabelled`` is whether the model is trained on rows without an outcome as well.
    """
    count = splits["n_splits"]
    kind, few = f"{'given' if splits.get('given') else 'random'} splits", ""
    kind += " of whole groups" * bool(splits.get("grouped"))
    if splits["kind"] == "time":
        few = rarest_words(splits)
        kind = (
            f"split{'s' * (count != 1)} by time ({splits['time']}), trained on the "
            "past and tested on the future,"
        )
    part = f"{count - len(left_out)} of " * bool(left_out)
    known = splits.get("n_train_privileged", splits["n_train"])
    late = late_words(splits)
    which = [late] * bool(late)
    if known < splits["n_train"]:
        which.append(f"{training_rows(splits, 'n_train_privileged')} of them with X*")
    has, kind_of = f", {listed(which)}," * bool(which), "" if late else "known "
    rows = f"{training_rows(splits)} {kind_of}outcomes{few}{has} in training"
    if unlabelled:
        more = training_rows(splits, "n_unlabelled")
        rows += f" and, with X*, {more} row{'s' * (more != '1')} without an outcome"
    return f"{part}{count} {kind} with {rows}"


def _near_constant(
    scores: Mapping[str, ArmScores], settings: Mapping[str, Any]
) -> Iterator[str]:
    """Yield sentences on models that may be no better than a constant prediction."""
    found: dict[str, list[str]] = {}
    for method, arms in scores.items():
        for arm in () if arms.failed or not arms.constants else (*MODELS, "oracle"):
            how = compared_with_constant(arms.over_constant(arm))
            if how:
                name = f"{method} " * (len(scores) > 1) + ARMS[arm].label
                found.setdefault(how, []).append(name)
    for how, names in sorted(found.items(), reverse=True):
        constant = f"{constant_words(settings)} ({number(settings['constant'])})"
        yield f"{how} predicting {constant}: {listed(names, most=4)}."


def compared_with_constant(line: Mapping[str, Any]) -> str:
    """Return the words for a model that may be no better than a constant prediction."""
    if line["over_constant_low"] > 0:
        return ""
    if line["over_constant_high"] < 0:
        return "Worse than"
    shown = " shown to be" * bool(line["over_constant"] > 0)
    return f"Not{shown} better than"


def constant_words(settings: Mapping[str, Any]) -> str:
    """Return what a constant prediction is."""
    regression, time = settings["task"] == "regression", settings["splits"]["kind"]
    what = "mean of the" if regression else "most frequent class of the"
    return f"the {what} {'earlier' if time == 'time' else 'training'} rows"


def _few_splits(
    line: Mapping[str, Any], arms: ArmScores, settings: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the gain in each of few splits, and what their intervals come from."""
    by_time, hurts = settings["splits"]["kind"] == "time", line["verdict"] == HURTS
    control = "without" if hurts else str(line["control"])
    gains = arms.scores["with"] - arms.scores[control]
    if not np.abs(gains).max(initial=0.0) >= TINY:
        pass
    elif 1 < len(gains) < FEWEST_SPLITS:
        each = [signed(gain) for gain in gains]
        windows = window_words(settings["splits"])
        if len(windows) == len(gains):
            pairs = zip(each, windows, strict=True)
            each = [f"{gain} ({window})" for gain, window in pairs]
        what = "window" if by_time else "split"
        yield f"Difference to {ARMS[control].label} by {what}: {', '.join(each)}."
    elif line["verdict"] != NO_EVIDENCE:
        median, gain = float(np.median(gains)), gains.mean()
        if abs(median - gain) > SKEWED * abs(gain):
            yield (
                f"The {len(gains)} differences to {ARMS[control].label} have a median "
                f"of {signed(median)} and a mean of {signed(gain)}."
            )
    if by_time and len(gains) < FEWEST_WINDOWS:
        groups, blocks = arms.groups["without"], "blocks of test rows"
        if groups is not None:
            blocks = f"{np.isfinite(groups).sum()} {blocks}"
            few = np.isfinite(groups).sum() < FEWEST_BLOCKS
            blocks += ", too few for intervals and p" * bool(few)
        trained = "this training set" if len(gains) == 1 else "these two training sets"
        yield f"Intervals and p are for {trained} only: they come from {blocks}."


def about_data(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on order, errors of labels, and X* that follows from X."""
    splits, target = settings["splits"], settings["target"]
    known, order = splits.get("outcome_time"), settings.get("order", {})
    if known:
        yield (
            f"X* of rows whose outcome is not known yet, by “{known}”, is used as if "
            "it were known: where it is measured later, these gains are too optimistic."
        )
    ordered = order.get("columns")
    if ordered and splits["kind"] != "time":
        ordered = sorted(ordered, key=lambda name: name != target)
        verb = "depends" if len(ordered) == 1 else "depend"
        words = f"{listed_columns(ordered, most=4)} {verb} on the order of the rows"
        if target in ordered:
            yield (
                f"Careful: {words}. If the rows are ordered in time, random splits are "
                "too optimistic."
            )
        else:
            yield f"{words}, {target} does not or weakly."
    unordered = order.get("dates")
    if unordered and splits["kind"] != "time":
        yield unordered_words(unordered)
    group = settings.get("possible", {}).get("groups")
    if group:
        yield (
            f"Careful: {group} identifies groups of rows, and the splits train and "
            "test on rows of the same group: for new groups, scores are too optimistic."
        )
    if settings.get("noisy") and settings.get("n_clean") is None:
        yield (
            "If labels are wrong, those of the test rows are, too: all scores and "
            "gains are then smaller than against the true classes. Name rows whose "
            f"labels are right with {argument('test_quality')}, to test on them alone."
        )
    elif settings.get("n_clean") is not None:
        yield (
            f"Test rows are among the {settings['n_clean']:,} rows whose labels are "
            "known to be right."
        )
    if constant := settings.get("constant_in"):
        yield (
            f"In {constant} of {splits['n_splits']} splits X* is the same in all "
            "training rows, so that it says nothing there."
        )
    if implied := settings.get("computable"):
        yield (
            f"{listed_columns(implied, most=4)} can nearly be computed from X "
            "(cross-validated R² at least 0.99)."
        )


def _gain(line: Mapping[str, Any], corrected: str) -> str:
    """Return the gain over the controls, its interval and its p-value."""
    p = f", one-sided p {_p(line['p_helps'])}{corrected}"
    return f"The gain is {with_interval(line, 'gain', p)}"


def _oracle_not_known(line: Mapping[str, Any], oracle: str) -> str:
    return (
        f" Whether the {oracle} gains is not known: its difference to without X* is "
        f"{with_interval(line, 'gap')}."
    )


def _far_words(scores: Mapping[str, ArmScores]) -> Iterator[str]:
    """Yield a sentence on the arms of any method that are far below a constant."""
    found, n_arms, n_splits = [], 0, 0
    for name, arms in scores.items():
        words = arms.failing.values()
        found += [f"{name} " * (len(scores) > 1) + ", ".join(words)] * bool(words)
        n_arms, n_splits = n_arms + len(words), len(arms.scores.get("with", ()))
    if found:
        yield (
            f"Far below a constant prediction{' in some splits' * (n_splits > 1)}: "
            f"{listed(found, most=3)}; differences to "
            f"{'these arms' if n_arms > 1 else 'this arm'} say little about X*."
        )


def far_below(scores: np.ndarray, constants: np.ndarray, optimum: float) -> str:
    """Return in how many splits scores are far below a constant, and these scores.

    Their error is more than half as large again as that of the constant.
    """
    far = scores[optimum - scores > FAR_BELOW * (optimum - constants)]
    where = f"in {len(far)} of {len(scores)} " * (len(scores) > 1)
    each = listed((number(score) for score in np.sort(far)), most=3)
    return f"{where}({each})" if len(far) else ""


def with_interval(line: Mapping[str, Any], name: str, more: str = "") -> str:
    """Return a difference of a table with its 95 % interval, and more about it."""
    value, low, high = together(*(line[name + end] for end in ("", "_low", "_high")))
    if low == "–":
        return value
    return f"{value} (95 % interval {low} to {high}{more})"


def _scores(line: Mapping[str, Any], metric: str, control: str | None = None) -> str:
    """Return the score with X* and that of a control, and without X* if it is other."""
    control = control or str(line["control"])
    own, other, beside = line["with"], line[control], _beside(line, control)
    shown, than = (number(score, *beside) for score in (own, other))
    instead, words = f" instead of {than}", ""
    if _alike(own, other) and not beside:
        instead = f", {'about ' * bool(own != other)}the same as"
    if control != "without":
        instead += " with"
        words = f" ({ARMS['without'].label}: {number(line['without'], *beside)})"
    return f"{shown} {metric}{instead} {ARMS[control].label}{words}"


def _beside(line: Mapping[str, Any], control: str) -> tuple[float, ...]:
    """Return the scores whose difference has to be visible where they are shown."""
    own, other = line["with"], line[control]
    shown = line["verdict"] != NO_EVIDENCE
    return (own, other) if shown and _alike(own, other) else ()


def _alike(own: float, other: float) -> bool:
    """Return whether two scores do not differ visibly where they are shown."""
    return abs(own - other) < ROUNDED or number(own) == number(other)


def hurts_words(comparison: Comparison) -> str:
    """Return that X* hurts, or that the method loses whatever the content of X*."""
    line = comparison.summary.set_index("method").loc[str(comparison.verdict.method)]
    if line["fails"]:
        return "models fail in some splits, which says little about X*"
    if loses_shuffled(line):
        return "the method loses with X*, with shuffled X* as well"
    return "X* hurts"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _over_constant(comparison: Comparison) -> pd.Series:
    """Return how far each model is above a constant prediction at least."""
    table = comparison.table[comparison.table["arm"].isin(MODELS)]
    table = table.set_index(["method", "arm"])
    return table["over_constant_low"].fillna(table["over_constant"])


def another_seed(comparison: Comparison) -> list[str]:
    """Return the advice to compare with another seed, if p is near the level."""
    for own in filter(None, (comparison, comparison.full_size)):
        name = "p_hurts" if own.verdict.kind == HURTS else "p_helps"
        for p in own.summary.loc[own.summary["method"] == own.verdict.method, name]:
            if SIGNIFICANCE / 2 < p < 2 * SIGNIFICANCE:
                seed = argument("random_state", comparison.settings["random_state"] + 1)
                total = own.settings["labels"]["n_labelled"]
                at = f" with all {total:,} outcomes" * (own is not comparison)
                return [
                    f"p {_p(p)}{at} is near {SIGNIFICANCE:g}, so that the verdict can "
                    f"depend on the seed: compare with {seed} as well."
                ]
    return []


def next_steps(comparison: Comparison, *, command_line: bool) -> list[str]:
    """Return recommendations after a verdict, the most useful one first."""
    verdict, settings = comparison.verdict, comparison.settings
    methods, full = comparison.methods, comparison.full_size
    sizes = [comparison] if full is None else [comparison, full]
    if same := settings.get("same"):
        return [f"Leave {listed_columns(same)} out: {_same_content(settings)}."]

    def either(option: str, call: str) -> str:
        return option if command_line else call

    if _known_from_x(comparison.summary, settings):
        how = either("lupi columns", "column_scores")
        return [f"Check the columns of X with {how}: one may contain the target."]
    # No model is shown to be better than a constant prediction.
    useless = [bool(_over_constant(own).max() <= 0) for own in sizes]
    steps = []
    if verdict.leak:
        steps.append(
            "Check the privileged columns first: they predict the target almost "
            "perfectly, as columns that contain it do."
        )
    splits, n_labelled = settings["splits"], settings["labels"]["n_labelled"]
    few_windows = splits["kind"] == "time" and splits["n_splits"] < FEWEST_WINDOWS
    rows, at_full = training_rows(splits), f" with all {n_labelled:,}" * bool(full)
    # Suggestions with which the comparison can be run.
    possible, order = settings.get("possible", {}), settings.get("order", {})
    drifts = settings["target"] in order.get("columns", ())
    drawn = next((name for name in ("train_size", "labelled") if splits.get(name)), "")
    column = order.get("time")
    # Rows sorted by group are not sorted by time.
    ordered = column is not None or (drifts and not possible.get("groups"))
    if possible.get("time") and ordered:
        call = "range(len(y))" if column is None else f"table[{column!r}]"
        time = either(f"--time {shlex.quote(column or ROW_NUMBER)}", f"time={call}")
        if possible["time"] == "all rows" and drawn:
            time += f", without {argument(drawn, splits[drawn])}"
        if possible.get("cv"):
            time += f", with {argument('cv', possible['cv'])}"
        if possible["time"] == "no groups":
            also = "each group has early and late rows"
            time += f", without {argument('groups')}: {also}"
        if left_out := possible.get("left_out"):
            time += f", and {classes_left_out(left_out)}"
        steps.append(
            "If predictions are for later rows, train on the past and test on the "
            f"future: {time}."
        )
    if windows := possible.get("windows"):
        few = "two windows say" if splits["n_splits"] > 1 else "one split says"
        how = argument("cv", windows)
        steps.append(f"Compare with {how}: {few} nothing about other training sets.")
    if group := possible.get("group"):
        how = either(f"--group {shlex.quote(group)}", f"groups=table[{group!r}]")
        if possible.get("group_cv"):
            how += f" and {argument('cv', possible['group_cv'])}"
        if possible.get("group_all"):
            how += f", without {argument(drawn, splits[drawn])}"
        steps.append(
            f"If predictions are for new values of {group}, compare with {how}."
        )
    wrong = settings.get("n_clean") is not None and settings["task"] == "classification"
    if wrong and not settings["noisy"]:
        name = argument("methods", "noisy-label-classifier")
        steps.append(
            "Labels of other rows can be wrong. If X* says how they were made (who, "
            f"how long, which source), try {name}."
        )
    hedged = [name.startswith("HedgedDistillation") for name in methods]
    name = argument("methods", "hedged-distillation")
    other = f"Try {name}, which gives X* little weight where it does not help."
    boosted = f"ipl-{'regressor' if settings['task'] == 'regression' else 'classifier'}"
    tried = boosted.replace("-", "") in map(str.lower, methods)
    # Boosted trees are advised after it.
    other_methods = [other] * (not any(hedged) and not tried)
    fewer, small = [], argument("train_size", possible.get("train_size"))
    if possible.get("labelled") and not settings["labels"]["n_unlabelled"]:
        now = argument("train_size", splits["train_size"])
        instead = f" instead of {now}" * bool(splits["train_size"])
        fewer = [
            "Privileged columns help most where few rows have an outcome but many "
            f"have X and X*: try {argument('labelled', possible['labelled'])}"
            f"{instead}."
        ]
    elif possible.get("train_size"):
        fewer = [f"Privileged columns help most with few training rows: try {small}."]
    boosting, outside = (sizes[k].settings.get("outside") or {} for k in (0, -1))
    # Trees tell groups and times of rows apart best, which is of no use for new ones.
    in_order = drifts and splits["kind"] != "time"
    inflated = in_order or bool(possible.get("groups"))
    predicts, more = (
        (outside.get(f"over_{other}_low") or 0.0) > 0
        for other in ("constant", "without")
    )
    scores_more = predicts and more
    better = predicts and (more or useless[-1]) and not (inflated or few_windows)
    if better and not tried:
        at = f"With all {n_labelled:,} outcomes, " * bool(full)
        how = f"makes more of X than {verdict.method} does"
        if not more:
            how = (
                f"is better than a constant prediction, as {verdict.method} is not "
                "shown to be"
            )
        steps.append(
            f"{at}{outside['name']} {how}: try {argument('methods', boosted)}, whose "
            "models are boosted trees."
        )
    other_columns = [
        f"Look for other columns that are known when predicting:"
        f"{at_full}{' outcomes' * bool(full)} no method, with X* or without, is shown "
        "to be better than a constant prediction."
    ] * (not better and not (few_windows and windows))
    if verdict.kind == "helps":
        if all(useless):
            return [*steps, *other_columns]
        if full and comparison.choice[1] == "without":
            kinds = {HURTS: hurts_words(full), HELPS: "it has the highest score"}
            why = kinds.get(full.verdict.kind, "there is no evidence that X* helps")
            use = (
                f"Use the model: it is trained without X*, because{at_full} known "
                f"outcomes {why}."
            )
            steps += other_columns if useless[1] else [use] * (not scores_more)
            name, arm = best_arm(comparison.summary, verdict)
            # One or two windows say nothing about other training sets.
            worse = useless[0] or (boosting.get("difference_low") or 0.0) > 0
            if not (worse or few_windows):
                known = f"Where only {rows} are known"
                steps.append(f"{known}, fit {name} {ARMS[arm].label}.")
        if drawn and possible.get("all") and not full:
            how = f"Compare without {argument(drawn, splits[drawn])}"
            how = either(how, "Call comparison.at_full_size()")
            steps.append(
                f"This result is for {rows} rows with an outcome. {how} to see how "
                f"much of the gain remains with all {n_labelled:,}."
            )
        elif any(hedged) and not (
            drawn or settings["labels"]["n_unlabelled"] or splits.get("outcome_time")
        ):
            cells = either("leave their target empty", "give y as NaN there")
            steps.append(
                "Rows whose outcome is not known yet can be used for training, if they "
                f"have X*: {cells}."
            )
        if len(settings["privileged"]) > 1 and not settings.get("column_gains"):
            how = either("Run again with --columns", "Call comparison.columns()")
            steps.append(f"{how} to see which columns the gain comes from.")
        alone = ["Use the model: its predictions need X alone."]
        return steps or alone * (not scores_more)
    if full and full.verdict.kind == HELPS and not useless[1]:
        return [*steps, f"Use the model:{at_full} outcomes X* helps."]
    if useless == [False, True] and splits["train_size"]:
        name, arm = best_arm(comparison.summary, verdict)
        if _over_constant(comparison)[name, arm] > 0:
            latest = "latest " * (splits["kind"] == "time")
            how = either(", with lupi fit on a file of their target and X alone", "")
            fit = f"Fit {name} {ARMS[arm].label} to the {latest}{rows} rows{how}: it"
            than = (
                "is then better than a constant prediction, and with all not shown to"
            )
            return [*steps, f"{fit} {than} be."]
    if useless[-1]:
        # With fewer rows such models predict no better, unless rows change with time.
        if possible.get("train_size") and splits["kind"] == "time":
            steps.append(
                f"If older rows are unlike new ones, train on the latest: try {small}."
            )
        return [*steps, *other_columns]
    if verdict.kind == "failed":
        return [*steps, "Remove the cause of the failures, or compare other methods."]
    if verdict.kind == "hurts":
        return [*steps, "Use the model without X*.", *other_methods, *fewer]
    line = comparison.summary.set_index("method").loc[verdict.method]
    if line["fails"] and not verdict.rows_needed:
        how = f"Compare with a larger {argument(drawn)}" if drawn else "Collect more"
        more = f"{how}: with {rows} known outcomes in training a model is far below"
        some = " in some splits" * (splits["n_splits"] > 1)
        return [*steps, f"{more} a constant prediction{some}.", *other_methods]
    if verdict.rows_needed and not better:
        steps.append(
            f"Collect more rows: about {verdict.rows_needed:,} are needed to know what "
            "can be gained."
        )
    if verdict.nothing_to_gain:
        steps.append(
            f"Look for other columns: with {rows} training rows these add almost "
            "nothing to X."
        )
    elif not verdict.rows_needed:
        steps += other_methods
    steps += fewer
    # Columns that add to X need no others.
    tables = ((each.summary, each.verdict.method) for each in sizes)
    p_gaps = pd.concat(table.loc[table["method"] == m, "p_gap"] for table, m in tables)
    oracle_gains = (p_gaps <= SIGNIFICANCE).any()
    columns = "" if oracle_gains else ", or look for other columns"
    if not steps and all(hedged):
        return [f"Try {argument('methods', 'all')}{columns}."]
    if not steps and possible.get("search"):
        return [f"Search longer ({argument('n_candidates', 30)}){columns}."]
    last = "Use the model without X*." if oracle_gains else "Look for other columns."
    return steps or [last]
