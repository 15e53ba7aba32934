"""Summary of the scores of all splits: one row per method, with tests and a verdict.

A method *helps* when it is better than *without*, *shuffled* and *self*; the p-value of
this claim is the largest of the three one-sided p-values, corrected by Holm over the
methods. It *hurts* when it is worse than *without*. Otherwise there is *no evidence*
that it helps, for one of three reasons: there is *nothing to gain* (the 95 % upper
bound of the gain of the oracle is negligible), there are *too few rows to tell*
(neither a gain of the oracle nor its absence is established), or the method does not
achieve the gain of the oracle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from lupi.evaluation._arms import ARMS
from lupi.evaluation._statistics import (
    Contrast,
    Design,
    corrected_contrast,
    holm,
    interval_factor,
)

Kind = Literal["score", "difference"]

SIGNIFICANCE = 0.05
PERFECT = 1e-3

HELPS = "helps"
NO_EVIDENCE = "no evidence"
HURTS = "hurts"
FAILED = "failed"

# The arms that a method is compared with.
CONTROLS = ("without", "shuffled", "self")
COLUMNS = (
    *("method", *ARMS, "gain", "gain_std_error"),
    *(f"p_{control}" for control in CONTROLS),
    *("p_helps", "p_helps_nadeau_bengio", "p_hurts"),
    *("gap", "gap_std_error", "gap_upper", "p_gap", "gap_closed"),
    *("leak", "verdict", "nothing_to_gain", "rows_needed", "seconds"),
)


class ArmScores:
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
        """Return the mean score of an arm."""
        return corrected_contrast(
            self.scores[arm], self.design, self.groups[arm], paired=False
        )

    def difference(self, arm: str, other: str) -> Contrast:
        """Return the paired difference of two arms over the splits."""
        groups, others = self.groups[arm], self.groups[other]
        paired = None if groups is None or others is None else groups - others
        return corrected_contrast(
            self.scores[arm] - self.scores[other], self.design, paired
        )


def summarise(
    scores: Mapping[str, ArmScores], settings: Mapping[str, Any]
) -> pd.DataFrame:
    """Return one row per method, with its tests and its verdict.

    Parameters
    ----------
    scores : mapping of str to ArmScores
        The scores of each method.
    settings : mapping
        The settings of the comparison, of which ``optimum``, ``negligible`` and
        ``labels`` are used.
    """
    table = pd.DataFrame(
        [_tests(method, arms, settings) for method, arms in scores.items()]
    ).reindex(columns=[*COLUMNS, "p_less", "published"])
    claims = table[[f"p_{control}" for control in CONTROLS]].max(axis=1, skipna=False)
    table["p_helps"] = holm(claims.to_numpy(dtype=float))
    table["p_helps_nadeau_bengio"] = holm(table["published"].to_numpy(dtype=float))
    table["p_hurts"] = holm(table["p_less"].to_numpy(dtype=float))
    gap_found = table["p_gap"] <= SIGNIFICANCE
    table["gap_closed"] = (table["gain"] / table["gap"]).where(gap_found)
    table["leak"] = table["leak"].eq(True)
    table["verdict"] = [_kind(line) for line in table.to_dict("records")]
    none = table["verdict"] == NO_EVIDENCE
    negligible = table["gap_upper"] <= settings["negligible"]
    table["nothing_to_gain"] = none & negligible
    table["rows_needed"] = [
        _rows_needed(line, settings) if untold else np.nan
        for line, untold in zip(
            table.to_dict("records"), none & ~negligible & ~gap_found, strict=True
        )
    ]
    return table[list(COLUMNS)]


def _tests(method: str, arms: ArmScores, settings: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {"method": method, "seconds": sum(arms.seconds.values())}
    if arms.failed:
        return line
    line |= {arm: float(arms.scores[arm].mean()) for arm in ARMS}
    claims = {control: arms.difference("with", control) for control in CONTROLS}
    line |= {f"p_{control}": claim.p_greater for control, claim in claims.items()}
    gain, gap = claims["without"], arms.difference("oracle", "without")
    # A one-sided bound at 95 % is the end of a two-sided interval at 90 %.
    reach = interval_factor(1 - 2 * SIGNIFICANCE, gap.freedom) * gap.std_error
    return line | {
        "gain": gain.mean,
        "gain_std_error": gain.std_error,
        "p_less": gain.p_less,
        "published": max(claim.p_nadeau_bengio for claim in claims.values()),
        "gap": gap.mean,
        "gap_std_error": gap.std_error,
        "gap_upper": gap.mean + reach,
        "p_gap": gap.p_greater,
        "leak": _is_leak(line["oracle"], line["without"], settings["optimum"]),
    }


def _is_leak(oracle: float, without: float, optimum: float) -> bool:
    if optimum == 0:
        return abs(oracle) <= PERFECT * abs(without)
    return optimum - oracle <= PERFECT < optimum - without


def _kind(line: Mapping[str, Any]) -> str:
    if np.isnan(line["gain"]):
        return FAILED
    if line["p_helps"] <= SIGNIFICANCE:
        return HELPS
    return HURTS if line["p_hurts"] <= SIGNIFICANCE else NO_EVIDENCE


def _rows_needed(line: Mapping[str, Any], settings: Mapping[str, Any]) -> float:
    """Return the number of rows at which the bound of the gap would be conclusive.

    The standard error decreases with the square root of the number of rows. With the
    estimated gap, either the lower bound exceeds zero or the upper bound is negligible.
    """
    gap, negligible = line["gap"], settings["negligible"]
    reach, wanted = line["gap_upper"] - gap, max(gap, negligible - gap)
    if not (np.isfinite(reach) and wanted > 0):
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
    found = {
        (str(name), "without"): scores.at[name, "without"] for name in scores.index
    }
    for name in scores.index[scores["verdict"] == HELPS]:
        found[str(name), "with"] = scores.at[name, "with"]
    return max(found, key=lambda key: found[key])


def score_table(scores: Mapping[str, ArmScores]) -> pd.DataFrame:
    """Return one row per method and arm: score, difference to *without*, time."""
    lines = []
    for method, arms in scores.items():
        for arm in ARMS:
            line: dict[str, Any] = {"method": method, "arm": arm}
            if not arms.failed:
                level = arms.level(arm)
                line |= {"score": level.mean, "std_error": level.std_error}
                line["seconds"] = arms.seconds[arm]
                if arm != "without":
                    gain = arms.difference(arm, "without")
                    line |= {
                        "difference": gain.mean,
                        "difference_std_error": gain.std_error,
                        "p_value": gain.p_greater,
                        "p_nadeau_bengio": gain.p_nadeau_bengio,
                    }
            lines.append(line)
    columns = ["method", "arm", "score", "std_error", "difference"]
    columns += ["difference_std_error", "p_value", "p_nadeau_bengio", "seconds"]
    return pd.DataFrame(lines).reindex(columns=columns)


def score_intervals(
    scores: Mapping[str, ArmScores], kind: Kind, confidence: float
) -> pd.DataFrame:
    """Return Student's intervals of scores or differences, by method and arm."""
    if kind not in ("score", "difference"):
        raise ValueError(f"kind={kind!r}: choose 'score' or 'difference'.")
    lines = []
    for method, arms in scores.items():
        if arms.failed:
            continue
        for arm in ARMS if kind == "score" else list(ARMS)[1:]:
            contrast = (
                arms.level(arm) if kind == "score" else arms.difference(arm, "without")
            )
            low, high = contrast.interval(confidence)
            line = {"method": method, "arm": arm, "value": contrast.mean}
            lines.append(line | {"low": low, "high": high})
    return pd.DataFrame(lines, columns=["method", "arm", "value", "low", "high"])
