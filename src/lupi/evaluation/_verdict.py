"""From the scores of the splits to a verdict.

The arms of a method (`lupi.evaluation._arms`) are scored on the same splits. A method
*helps* when it is better than *without* and *shuffled*. The p-value of that claim is
the larger of the two one-sided p-values, corrected by Holm over the methods.

What neither helps nor hurts is *no evidence that it helps*. When the oracle is not
better than *without* either, there is *nothing to gain*.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from lupi.evaluation._arms import ARMS
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._statistics import Contrast, Design, corrected_contrast, holm

SIGNIFICANCE = 0.05
PERFECT = 1e-3

HELPS = "helps"
NO_EVIDENCE = "no evidence"
HURTS = "hurts"
FAILED = "failed"


@dataclass(frozen=True)
class Verdict:
    """The answer to "does my privileged information help?".

    Attributes
    ----------
    kind : {"helps", "no evidence", "hurts", "failed"}
        The answer over all methods: "helps" when one of them does.
    sentence : str
        The answer in plain words, with its numbers.
    method : str or None
        The method the sentence speaks of.
    leak : bool
        True when a model that sees X* when predicting is perfect and the one
        without it is not: X* then likely contains the target.
    methods : dict of str to str
        The kind of verdict of each method.
    nothing_to_gain : bool
        True when there is no evidence that X* helps and none that it could: no model
        that sees X* when predicting is better than the one without it.

    Examples
    --------
    >>> from lupi.evaluation import Verdict
    >>> verdict = Verdict("helps", "It helps.", "SVCPlus", False, {"SVCPlus": "helps"})
    >>> print(verdict)
    It helps.
    """

    kind: str
    sentence: str
    method: str | None
    leak: bool
    methods: dict[str, str]
    nothing_to_gain: bool = False

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain data.

        Returns
        -------
        dict of str to object
            One entry per field.
        """
        return asdict(self)


class FoldScores:
    """The scores of one method: one array per arm, aligned by split."""

    def __init__(self, folds: pd.DataFrame, design: Design):
        self.design = design
        self.scores: dict[str, np.ndarray] = {}
        self.groups: dict[str, np.ndarray | None] = {}
        self.seconds: dict[str, float] = {}
        for arm, part in folds.sort_values("split").groupby("arm"):
            self.scores[arm] = part["score"].to_numpy(dtype=float)
            groups = part["group_scores"].tolist()
            scored = all(isinstance(each, list) for each in groups)
            self.groups[arm] = np.array(groups, dtype=float) if scored else None
            self.seconds[arm] = float(part["seconds"].sum())

    @property
    def failed(self) -> bool:
        """Whether any arm has a split without a score."""
        return set(self.scores) != set(ARMS) or any(
            np.isnan(values).any() for values in self.scores.values()
        )

    def level(self, arm: str) -> Contrast:
        """Mean score of an arm with its corrected standard error."""
        return corrected_contrast(self.scores[arm], self.design, self.groups[arm])

    def difference(self, arm: str, other: str) -> Contrast:
        """Paired difference of two arms over the splits."""
        groups, others = self.groups[arm], self.groups[other]
        paired = None if groups is None or others is None else groups - others
        return corrected_contrast(
            self.scores[arm] - self.scores[other], self.design, paired
        )


def summarise(scores: dict[str, FoldScores], optimum: float) -> pd.DataFrame:
    """Return one line per method with its tests and its verdict.

    Parameters
    ----------
    scores : dict of str to FoldScores
        The scores of each method.
    optimum : float
        The best value the score can take (1 for accuracy, 0 for a negated loss).
    """
    lines = []
    for method, folds in scores.items():
        line: dict[str, Any] = {"method": method}
        line["seconds"] = sum(folds.seconds.values())
        if folds.failed:
            lines.append(line)
            continue
        for arm in ARMS:
            line[arm] = float(folds.scores[arm].mean())
        gain = folds.difference("with", "without")
        content = folds.difference("with", "shuffled")
        gap = folds.difference("oracle", "without")
        line |= {
            "gain": gain.mean,
            "gain_std_error": gain.std_error,
            "p_without": gain.p_greater,
            "p_shuffled": content.p_greater,
            "p_less": gain.p_less,
            "published": max(gain.p_nadeau_bengio, content.p_nadeau_bengio),
            "gap": gap.mean,
            "gap_std_error": gap.std_error,
            "p_gap": gap.p_greater,
            "leak": _is_leak(line["oracle"], line["without"], optimum),
        }
        lines.append(line)
    columns = [
        *("method", *ARMS, "gain", "gain_std_error", "p_without", "p_shuffled"),
        *("p_helps", "p_helps_nadeau_bengio", "p_hurts"),
        *("gap", "gap_std_error", "p_gap", "gap_closed"),
        *("leak", "verdict", "nothing_to_gain", "seconds", "p_less", "published"),
    ]
    table = pd.DataFrame(lines).reindex(columns=columns)
    claims = table[["p_without", "p_shuffled"]].max(axis=1, skipna=False)
    table["p_helps"] = holm(claims.to_numpy(dtype=float))
    table["p_helps_nadeau_bengio"] = holm(table["published"].to_numpy(dtype=float))
    table["p_hurts"] = holm(table["p_less"].to_numpy(dtype=float))
    worth = table["p_gap"] <= SIGNIFICANCE
    table["gap_closed"] = (table["gain"] / table["gap"]).where(worth)
    table["leak"] = table["leak"].eq(True)
    table["verdict"] = [_kind(line) for line in table.to_dict("records")]
    table["nothing_to_gain"] = (table["verdict"] == NO_EVIDENCE) & ~worth
    return table.drop(columns=["p_less", "published"])


def _is_leak(oracle: float, without: float, optimum: float) -> bool:
    if optimum == 0:
        return abs(oracle) <= PERFECT * abs(without)
    return optimum - oracle <= PERFECT < optimum - without


def _kind(line: dict[str, Any]) -> str:
    if np.isnan(line["gain"]):
        return FAILED
    if line["p_helps"] <= SIGNIFICANCE:
        return HELPS
    if line["p_hurts"] <= SIGNIFICANCE:
        return HURTS
    return NO_EVIDENCE


def judge(summary: pd.DataFrame, scoring: str) -> Verdict:
    """Put the answer over all methods into a sentence."""
    scoring = metric_name(scoring)
    kinds = dict(zip(summary["method"], summary["verdict"], strict=True))
    ran = summary[summary["verdict"] != FAILED]
    leak = bool(ran["leak"].any())
    if ran.empty:
        sentence = "No verdict: no method could be fitted; see the failures."
        return Verdict(FAILED, sentence, None, False, kinds)
    best = ran.loc[ran["with"].idxmax()]
    nothing = False
    helping = ran[ran["verdict"] == HELPS]
    if len(helping):
        best, kind = helping.loc[helping["with"].idxmax()], HELPS
        sentence = (
            f"The privileged information helps: {best['method']} gains "
            f"{_plus_minus(best)} {scoring} over the same model without it "
            f"({_p(best['p_helps'])}, Holm), and shuffled X* does not do the same."
        )
        if not np.isnan(best["gap_closed"]):
            sentence += (
                f" It closes {best['gap_closed']:.0%} of the gap to a model that "
                "sees X* when predicting."
            )
    elif (ran["verdict"] == HURTS).all():
        best, kind = ran.loc[ran["gain"].idxmax()], HURTS
        sentence = (
            f"The privileged information hurts: even {best['method']}, which loses "
            f"least, scores {_plus_minus(best)} {scoring} against the same model "
            f"without it ({_p(best['p_hurts'])}, Holm)."
        )
    elif not (ran["p_gap"] <= SIGNIFICANCE).any():
        kind, nothing = NO_EVIDENCE, True
        widest = ran.loc[ran["gap"].idxmax()]
        sentence = (
            "No evidence that it helps, and nothing to gain: X* adds nothing "
            "measurable even when it is available for predicting (the best oracle "
            "scores "
            f"{_plus_minus(widest, 'gap')} {scoring} against the same model without "
            "X*)."
        )
    else:
        kind = NO_EVIDENCE
        sentence = (
            f"No evidence that it helps: the best method, {best['method']}, scores "
            f"{_plus_minus(best)} {scoring} against the same model without X* "
            f"({_p(best['p_helps'])}, Holm)."
        )
    hurt = [name for name, verdict in kinds.items() if verdict == HURTS]
    if hurt and kind != HURTS:
        sentence += f" It hurts {_join(hurt)}."
    if leak:
        sentence += (
            " Careful: a model that sees X* is perfect, so X* likely contains the "
            "target itself (a leak)."
        )
    return Verdict(kind, sentence, str(best["method"]), leak, kinds, nothing)


def _plus_minus(line: pd.Series, name: str = "gain") -> str:
    value = f"{line[name]:+.3f}".replace("-", "−")
    return f"{value} ± {line[name + '_std_error']:.3f}"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
