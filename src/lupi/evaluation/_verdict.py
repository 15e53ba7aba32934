"""The verdict over all methods, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from lupi._words import listed, signed
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._summary import FAILED, HELPS, HURTS, NO_EVIDENCE, SIGNIFICANCE


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
    leak : bool
        True when a model that has X* when predicting is perfect and the one without
        it is not: X* then likely contains the target.
    nothing_to_gain : bool
        True when there is no evidence that X* helps, and the gain of a model that has
        X* when predicting is negligible, with 95 % confidence.
    rows_needed : int or None
        Approximate number of rows needed to decide whether there is a possible gain,
        if there are too few.

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
    leak: bool = False
    nothing_to_gain: bool = False
    rows_needed: int | None = None

    def __str__(self) -> str:
        return f"{self.headline} {self.sentence}"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain data.

        Returns
        -------
        dict of str to object
            One entry per field.
        """
        return asdict(self)


def judge(summary: pd.DataFrame, scoring: str) -> Verdict:
    """Return the verdict over all methods."""
    metric = metric_name(scoring)
    kinds = dict(zip(summary["method"], summary["verdict"], strict=True))
    ran = summary[summary["verdict"] != FAILED]
    if ran.empty:
        headline = "No verdict: no method could be fitted."
        return Verdict(FAILED, headline, "See the failures.", None, kinds)
    corrected = f", corrected for {len(ran)} methods" if len(ran) > 1 else ""
    helping = ran[ran["verdict"] == HELPS]
    nothing, rows = False, None
    if len(helping):
        best, kind = helping.loc[helping["with"].idxmax()], HELPS
        headline = (
            f"The privileged information helps: with it, {best['method']} scores "
            f"{_scores(best)} {metric}."
        )
        sentence = (
            f"The gain is {_plus_minus(best)} (p {_p(best['p_helps'])} against no X*, "
            f"shuffled X* and X as X*{corrected})."
        )
        if best["gap_closed"] >= 1:
            sentence += " It closes the gap to a model that has X* when predicting."
        elif not np.isnan(best["gap_closed"]):
            sentence += (
                f" It closes {best['gap_closed']:.0%} of the gap to a model that has "
                "X* when predicting.".replace("%", " %")
            )
    elif (ran["verdict"] == HURTS).all():
        best, kind = ran.loc[ran["gain"].idxmax()], HURTS
        least = "; the other methods lose more" if len(ran) > 1 else ""
        headline = (
            f"The privileged information hurts: with it, {best['method']} scores "
            f"{_scores(best)} {metric}."
        )
        sentence = (
            f"The difference is {_plus_minus(best)} (p {_p(best['p_hurts'])} against "
            f"no X*{corrected}){least}."
        )
    else:
        best, kind = ran.loc[ran["gain"].idxmax()], NO_EVIDENCE
        widest = ran.loc[ran["gap"].idxmax()]
        headline = "There is no evidence that the privileged information helps."
        most, verb = "With it,", " scores"
        if len(ran) > 1:
            most, verb = "The largest gain is that of", ": with X* it scores"
            if best["gain"] <= 0:
                most = "No method gains. The one that loses least is"
        sentence = (
            f"{most} {best['method']}{verb} {_scores(best)} {metric}, "
            f"{_plus_minus(best)} (p {_p(best['p_helps'])} against no X*, shuffled X* "
            f"and X as X*{corrected})."
        )
        oracle = (
            f"A model that has X* when predicting gains {_plus_minus(widest, 'gap')}"
        )
        if ran["nothing_to_gain"].all():
            nothing = True
            headline = headline.removesuffix(".") + ", and nothing to gain."
            sentence += (
                f" {oracle}, with 95 % confidence at most "
                f"{signed(ran['gap_upper'].max())}."
            )
        elif not (ran["p_gap"] <= SIGNIFICANCE).any():
            headline = headline.removesuffix(".") + ": too few rows to tell."
            sentence += f" {oracle}, which may be chance."
            if ran["rows_needed"].notna().any():
                rows = int(ran["rows_needed"].max())
                sentence += f" About {rows:,} rows are needed for an answer."
        else:
            sentence += f" {oracle}, so that a gain is possible."
    hurt = [name for name, verdict in kinds.items() if verdict == HURTS]
    if hurt and kind != HURTS:
        sentence += f" It hurts {listed(hurt)}."
    leak = bool(ran["leak"].any())
    if leak:
        sentence += (
            " Careful: a model that has X* when predicting is perfect, so that X* "
            "likely contains the target itself (a leak)."
        )
    method = str(best["method"])
    return Verdict(kind, headline, sentence, method, kinds, leak, nothing, rows)


def _plus_minus(line: Mapping[str, Any] | pd.Series, name: str = "gain") -> str:
    return f"{signed(line[name])} ± {line[name + '_std_error']:.3f}"


def _scores(line: Mapping[str, Any] | pd.Series) -> str:
    return f"{line['with']:.3f} instead of {line['without']:.3f}".replace("-", "−")


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
