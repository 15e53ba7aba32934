"""`ColumnGains`: the privileged columns that a gain comes from.

The method is fitted with every column (or named group of columns) of X* alone, and with
all others, on the splits of the comparison, with its candidates and its inner folds.
All gains are differences to the arm *without* of the same splits, so that their errors
are those of paired differences.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn import config_context

from lupi._words import listed, signed
from lupi.base._rows import take_columns
from lupi.evaluation._prepare import rows_with_values
from lupi.evaluation._running import run_all
from lupi.evaluation._statistics import Contrast, Design
from lupi.evaluation._summary import ArmScores

if TYPE_CHECKING:
    from lupi.evaluation._comparison import Comparison
    from lupi.evaluation._study import Study

FIELDS = ("line", "error")
KINDS = ("alone", "left out")
ALL, NONE = "with", "without"


@dataclass
class ColumnGains:
    """The gain of single privileged columns, or of named groups of them.

    Returned by `Comparison.columns`.

    Attributes
    ----------
    method : str
        The method.
    scoring : str
        Name of the score.
    groups : dict of str to list of str
        The columns of each group; a column that is in no group forms its own group.
    folds : pandas.DataFrame
        One row per variant and split: ``group``, ``kind`` ("alone", "left out",
        "with" for all columns, "without"), ``split``, ``score``, ``group_scores``.
    design : Design
        The sizes of the splits.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> data = make_mediator(120, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier", cv=2, n_candidates=1,
    ... )
    >>> gains = result.columns()
    >>> list(gains.table.columns[:3])
    ['group', 'gain_alone', 'gain_alone_std_error']
    """

    method: str
    scoring: str
    groups: dict[str, list[str]]
    folds: pd.DataFrame
    design: Design

    @cached_property
    def _scores(self) -> dict[str, ArmScores]:
        shared = self.folds[self.folds["kind"].isin((ALL, NONE))]
        return {
            group: ArmScores(
                pd.concat([shared, self.folds[self.folds["group"] == group]]).rename(
                    columns={"kind": "arm"}
                ),
                self.design,
            )
            for group in self.groups
        }

    @property
    def total(self) -> Contrast:
        """The gain of all privileged columns together."""
        return next(iter(self._scores.values())).difference(ALL, NONE)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per group, the largest gain alone first.

        ``gain_alone`` is the gain of a model with this group only, ``gain_left_out``
        that of a model with all other groups, and ``contribution`` the gain of all
        groups minus ``gain_left_out``; each with its standard error, corrected for the
        overlap of the splits. Two redundant columns have large gains alone and small
        contributions.
        """
        lines = []
        for group, scores in self._scores.items():
            line: dict[str, Any] = {"group": group}
            for name, arm, other in (
                ("gain_alone", "alone", NONE),
                ("gain_left_out", "left out", NONE),
                ("contribution", ALL, "left out"),
            ):
                contrast = scores.difference(arm, other)
                line |= {name: contrast.mean, f"{name}_std_error": contrast.std_error}
            lines.append(line)
        table = pd.DataFrame(lines)
        return table.sort_values(
            "gain_alone", ascending=False, kind="stable", ignore_index=True
        )

    def intervals(self, confidence: float = 0.95) -> pd.DataFrame:
        """Return Student's intervals of the gains.

        Parameters
        ----------
        confidence : float, default=0.95
            Level of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns ``group``, ``kind`` ("alone" or "left out"), ``value``, ``low``,
            ``high``.
        """
        lines = []
        for group in self.table["group"]:
            for kind in KINDS:
                contrast = self._scores[group].difference(kind, NONE)
                low, high = contrast.interval(confidence)
                line = {"group": group, "kind": kind, "value": contrast.mean}
                lines.append(line | {"low": low, "high": high})
        return pd.DataFrame(lines)

    @property
    def sentence(self) -> str:
        """Summary of the table in sentences."""
        first, total = self.table.iloc[0], self.total
        together = _gain(total.mean, total.std_error)
        if len(self.groups) == 1:
            return f"{first['group']} gains {together}."
        alone = _gain(first["gain_alone"], first["gain_alone_std_error"])
        said = f"Alone, {first['group']} gains most, {alone}"
        if first["gain_alone"] <= 0:
            said = "No column gains anything alone"
        said += f"; all {len(self.groups)} together gain {together}."
        if (self.table["gain_alone"] < 2 * self.table["gain_alone_std_error"]).all():
            said += " No single gain is significant."
        needed = self.table.loc[self.table["contribution"].idxmax()]
        if needed["contribution"] > 2 * needed["contribution_std_error"]:
            said += (
                f" {needed['group']} contributes most: without it the gain is "
                f"{_gain(needed['gain_left_out'], needed['gain_left_out_std_error'])}."
            )
        worse = self.table["contribution"] < -2 * self.table["contribution_std_error"]
        if worse.any():
            names = self.table.loc[worse, "group"]
            said += f" The gain is larger without {listed(names, 'or', most=4)}."
        return said

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the gains with `lupi.inspection.ColumnGainDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.
        **options : dict
            Passed on to `lupi.inspection.ColumnGainDisplay.from_results`.

        Returns
        -------
        ColumnGainDisplay
            The display, drawn.
        """
        from lupi.inspection import ColumnGainDisplay

        return ColumnGainDisplay.from_results(self, ax=ax, **options)


def _gain(value: float, error: float) -> str:
    return signed(value) if np.isnan(error) else f"{signed(value)} ± {error:.3f}"


@dataclass(frozen=True)
class Variant:
    """Some columns of X* in one split."""

    columns: tuple[str, ...]
    split: int

    @property
    def key(self) -> str:
        """The name of the piece in a checkpoint."""
        return f"columns:{json.dumps(self.columns)}:{self.split}"


def column_gains(
    comparison: Comparison,
    *,
    groups: Mapping[str, Sequence[str]] | None,
    method: str | None,
    checkpoint: str | os.PathLike[str] | None,
    n_jobs: int | None,
    progress: bool | None,
) -> ColumnGains:
    """Return the gains of single columns; see `Comparison.columns`."""
    study = comparison.study
    if study is None:
        raise ValueError(
            "This comparison was read from a file, which does not contain the data; "
            "call compare(...) on the data to measure the gains of single columns."
        )
    name = _method(comparison, method)
    columns = list(comparison.settings["privileged"])
    parts = column_groups(columns, groups)
    wanted = {
        (group, kind): tuple(
            column for column in columns if (column in part) == (kind == "alone")
        )
        for group, part in parts.items()
        for kind in KINDS
    }
    splits = range(len(study.splits))
    # All columns and no column are arms of the comparison, which are not run again.
    work = dict.fromkeys(each for each in wanted.values() if len(each) > 0)
    work.pop(tuple(columns), None)
    results = run_all(
        partial(_run_variant, study, name),
        [Variant(chosen, split) for chosen in work for split in splits],
        identity=study.identity and f"{study.identity} {name}",
        fields=FIELDS,
        checkpoint=checkpoint,
        n_jobs=n_jobs,
        progress=progress,
        title="Comparing columns",
    )
    own = comparison.folds[comparison.folds["method"] == name]
    known = {arm: own[own["arm"] == arm].to_dict("records") for arm in (ALL, NONE)}
    lines = [
        _line(None, arm, split, known[arm][split]) for arm in known for split in splits
    ]
    for (group, kind), chosen in wanted.items():
        arm = ALL if len(chosen) == len(columns) else NONE if not chosen else None
        for split in splits:
            if arm is not None:
                found = known[arm][split]
            else:
                result = results[Variant(chosen, split).key]
                if result["error"] is not None:
                    raise ValueError(
                        f"{name} could not be fitted with {listed(chosen, most=4)} "
                        f"as privileged information: {result['error']}"
                    )
                found = result["line"]
            lines.append(_line(group, kind, split, found))
    return ColumnGains(
        name,
        comparison.settings["scoring"],
        parts,
        pd.DataFrame(lines),
        comparison.design,
    )


def _line(group: str | None, kind: str, split: int, found: Any) -> dict[str, Any]:
    taken = {name: found[name] for name in ("score", "group_scores", "seconds")}
    return {"group": group, "kind": kind, "split": split} | taken


def _method(comparison: Comparison, method: str | None) -> str:
    """Return the given method, or that of ``choice``, or the best one with X*."""
    summary = comparison.summary
    ran = summary[summary["verdict"] != "failed"].set_index("method")
    if method is None:
        chosen, arm = comparison.choice
        return chosen if arm == "with" else str(ran["with"].idxmax())
    if method not in ran.index:
        raise ValueError(
            f"method={method!r} was not compared; choose {listed(ran.index, 'or')}."
        )
    return method


def column_groups(
    columns: list[str], groups: Mapping[str, Sequence[str]] | None
) -> dict[str, list[str]]:
    """Return all groups; a column that is in no group forms its own group."""
    parts = {name: list(part) for name, part in (groups or {}).items()}
    seen: dict[str, str] = {}
    for name, part in parts.items():
        for column in part:
            if column not in columns:
                raise ValueError(
                    f"groups: {name!r} has {column!r}, which is not a privileged "
                    f"column; these are {listed(columns, most=8)}."
                )
            if column in seen:
                raise ValueError(
                    f"The column {column!r} is in the groups {seen[column]!r} and "
                    f"{name!r}; give it to one of them."
                )
            seen[column] = name
    empty = [name for name, part in parts.items() if not part]
    if empty:
        raise ValueError(f"groups: {empty[0]!r} has no column. Name at least one.")
    return {**parts, **{name: [name] for name in columns if name not in seen}}


def _run_variant(study: Study, name: str, variant: Variant) -> dict[str, Any]:
    """Run the arm *with* on some columns of X*."""
    columns = study.settings["privileged"]
    places = [columns.index(column) for column in variant.columns]
    table = take_columns(study.privileged, places)
    part = replace(study, privileged=table, has_privileged=rows_with_values(table))
    with (
        # The comparison has already reported the warnings of the method.
        warnings.catch_warnings(),
        config_context(enable_metadata_routing=False, skip_parameter_validation=True),
    ):
        warnings.simplefilter("ignore")
        try:
            line = part.run_arm(part.method(name), ALL, variant.split)
        except Exception as problem:
            return {"line": None, "error": f"{type(problem).__name__}: {problem}"}
    return {"line": line, "error": None}
