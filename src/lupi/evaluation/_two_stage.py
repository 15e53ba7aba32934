"""Kernels first, then parameters: the two-stage search over several data sets.

The protocol is that of O. Thomas, "Learning Using Privileged Information: A Unified
Approach", University of Sussex, 2017, chapters 6 and 7. Stage one tries every
combination of kernels (linear, quadratic, Gaussian, one per space) on a coarse grid
with Δ = 10, and keeps for each classifier the combination that does best on average
over the data sets. Stage two fixes it and searches a wide grid with Δ = 1000.

"Best on average" is taken on inner folds: for every kernel combination the best inner
score over its other parameters, averaged over outer folds and data sets. No test fold
is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lupi._atomic import write_atomically
from lupi.evaluation._nested_work import (
    NestedResult,
    NestedWork,
    Strategy,
    list_candidates,
    run_outer_fold,
)
from lupi.evaluation._protocol import (
    COARSE,
    KERNELS,
    SPACES,
    WIDE,
    ProtocolClassifier,
    choose_classifiers,
)
from lupi.evaluation._running import fingerprint, run_all
from lupi.evaluation._two_stage_page import page, score_form


@dataclass
class TwoStageResult:
    """What `two_stage_search` returns.

    Attributes
    ----------
    kernels : pandas.DataFrame
        The kernels kept for each classifier, one column per space (the form of the
        source's table 7.1).
    table : pandas.DataFrame
        Outer scores of every classifier on every data set, mean and standard
        deviation over the outer folds, with the metric that selected in
        ``select_by``; :meth:`scores` gives them the form of table 7.2.
    counts : pandas.DataFrame
        Candidates and fits of both stages.
    coarse, wide : dict of (data set, classifier) to NestedResult
        Everything behind the tables.
    """

    kernels: pd.DataFrame
    table: pd.DataFrame
    counts: pd.DataFrame
    coarse: dict[tuple[str, str], NestedResult]
    wide: dict[tuple[str, str], NestedResult]

    @property
    def metrics(self) -> list[str]:
        """The metrics, the one that picked kernels first."""
        return list(dict.fromkeys(self.table["select_by"]))

    def scores(self, select_by: str | None = None) -> pd.DataFrame:
        """Return the scores as the source's table 7.2 has them.

        Parameters
        ----------
        select_by : str, optional
            The metric that selected parameters; the first by default.

        Returns
        -------
        pandas.DataFrame
            One row per classifier; columns (data set, score), accuracy in percent.
        """
        return score_form(self.table, self.metrics, select_by or self.metrics[0])

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write both tables as one self-contained page."""
        forms = {metric: self.scores(metric) for metric in self.metrics}
        return write_atomically(path, page(self.kernels, forms))


def two_stage_search(
    datasets: Mapping[str, Any] | Sequence[Any],
    *,
    classifiers: Sequence[str] | None = None,
    coarse: Sequence[float] = COARSE,
    wide: Sequence[float] = WIDE,
    scoring: Sequence[str] = ("accuracy", "f1"),
    outer: int = 10,
    inner: int = 5,
    search: Strategy = "grid",
    n_candidates: int | None = None,
    max_fits: int | None = None,
    prepare: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> TwoStageResult:
    """Pick kernels on a coarse grid over all data sets, then search a wide grid.

    Parameters
    ----------
    datasets : dict or sequence
        Data sets: bunches with ``data``, ``target`` and ``privileged``, or tuples
        (X, y, X*). A sequence is numbered.
    classifiers : sequence of str, optional
        Some of "SVM", "SVM+", "MT", "SVMd+", "SVMu", "KT"; all by default.
    coarse, wide : sequence of float
        Values of every parameter in stage one and two. Δ is fixed at the largest.
    scoring : sequence of str, default=("accuracy", "f1")
        Metrics; the first picks kernels.
    outer, inner : int, default=10 and 5
        Numbers of folds.
    search : {"grid", "random", "halving"}, default="grid"
        How each stage goes through its grid; see `nested_cross_validate`.
    n_candidates : int, optional
        Candidates of the random search, per classifier and stage.
    max_fits : int, optional
        Refuse to start when more fits than this are needed.
    prepare : bool, default=True
        Impute, encode and standardise X and X* inside the folds, as `compare` does.
        The source does not say what it did; False takes the data as they are.
    checkpoint : path-like, optional
        File that keeps finished outer folds; stage two goes to the same name with
        ``.stage2`` added.
    n_jobs : int, optional
        Parallel outer folds, as in joblib.
    random_state : int, default=0
        Seed.
    progress : bool, optional
        Show a bar with the time left.

    Returns
    -------
    result : TwoStageResult
        Both tables, the counts, and what is behind them.

    Examples
    --------
    >>> from lupi.datasets import make_plane
    >>> from lupi.evaluation import two_stage_search
    >>> result = two_stage_search(
    ...     {"plane": make_plane("separable", 40, random_state=0)},
    ...     classifiers=["SVM", "SVM+"], coarse=[1], wide=[1], outer=2, inner=2,
    ... )
    >>> list(result.kernels.columns)
    ['classifier', 'X', 'X*', 'X**']
    """
    sets = _named(datasets)
    chosen = choose_classifiers(classifiers)
    counts = _count_stages(chosen, coarse, wide, search, n_candidates)
    fits = int(counts["fits"].sum()) * len(sets) * outer * inner
    if max_fits is not None and fits > max_fits:
        raise ValueError(
            f"This search needs up to {fits:,} fits, more than max_fits={max_fits:,}. "
            "Use fewer values or classifiers, or search='random' or 'halving'."
        )
    common: dict[str, Any] = {
        "scoring": scoring,
        "outer": outer,
        "inner": inner,
        "search": search,
        "n_candidates": n_candidates,
        "groups": None,
        "sample_weight": None,
        "random_state": random_state,
        "prepare": prepare,
    }

    def run(
        grids: Mapping[str, list[dict[str, list[Any]]]], file: Any, title: str
    ) -> dict[tuple[str, str], NestedResult]:
        works = {}
        for (label, (X, y, privileged)), each in product(sets.items(), chosen):
            work = NestedWork.prepare(
                f"{label}/{each.name}",
                each.build(),
                X,
                y,
                privileged if each.privileged else None,
                param_grid=grids[each.name],
                **common,
            )
            works[label, each.name] = work
        by_name = {work.name: work for work in works.values()}
        results = run_all(
            partial(run_outer_fold, by_name),
            [piece for work in works.values() for piece in work.pieces()],
            identity=fingerprint([work.identity() for work in works.values()]),
            checkpoint=file,
            n_jobs=n_jobs,
            progress=progress,
            title=title,
        )
        return {key: work.assemble(results) for key, work in works.items()}

    first = run(
        {each.name: each.grid(coarse, max(coarse)) for each in chosen},
        checkpoint,
        f"Stage 1 of 2, kernels ({fits:,} fits in all)",
    )
    kept = {each.name: _best_kernels(each, sets, first) for each in chosen}
    second = run(
        {each.name: each.grid(wide, max(wide), [kept[each.name]]) for each in chosen},
        None if checkpoint is None else f"{os.fspath(checkpoint)}.stage2",
        "Stage 2 of 2, parameters",
    )
    return TwoStageResult(
        _kernel_table(chosen, kept), _score_table(second), counts, first, second
    )


def _named(datasets: Mapping[str, Any] | Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    if not isinstance(datasets, Mapping):
        datasets = {str(i + 1): data for i, data in enumerate(datasets)}
    if not datasets:
        raise ValueError("There is no data set to search on.")
    return {
        str(name): data
        if isinstance(data, tuple)
        else (data.data, data.target, data.privileged)
        for name, data in datasets.items()
    }


def _count_stages(
    chosen: Sequence[ProtocolClassifier],
    coarse: Sequence[float],
    wide: Sequence[float],
    search: Strategy,
    n_candidates: int | None,
) -> pd.DataFrame:
    lines = []
    for each in chosen:
        kernels = each.kernel_choices()
        sizes = [
            len(list_candidates(grid, search, n_candidates, 0))
            for grid in (
                each.grid(coarse, max(coarse)),
                each.grid(wide, max(wide), kernels[:1]),
            )
        ]
        lines.append(
            {
                "classifier": each.name,
                "kernel_combinations": len(kernels),
                "stage_1": sizes[0],
                "stage_2": sizes[1],
                "fits": sum(sizes),
            }
        )
    return pd.DataFrame(lines)


def _best_kernels(
    classifier: ProtocolClassifier,
    sets: Mapping[str, Any],
    results: Mapping[tuple[str, str], NestedResult],
) -> tuple[str, ...]:
    """Return the kernel combination with the best inner score on average."""
    choices = classifier.kernel_choices()
    means = np.full((len(sets), len(choices)), -np.inf)
    for row, label in enumerate(sets):
        result = results[label, classifier.name]
        scores = result.inner_scores[:, :, 0]
        of_choice = _choice_of(classifier, choices, result.candidates)
        for column in range(len(choices)):
            mine = of_choice == column
            if mine.any():
                means[row, column] = scores[:, mine].max(axis=1).mean()
    return choices[int(means.mean(axis=0).argmax())]


def _choice_of(
    classifier: ProtocolClassifier,
    choices: Sequence[tuple[str, ...]],
    candidates: Sequence[Mapping[str, Any]],
) -> np.ndarray:
    by_kernel = {kernel["kernel"]: name for name, kernel in KERNELS.items()}
    return np.array(
        [
            choices.index(
                tuple(
                    by_kernel[candidate[prefix + "kernel"]]
                    for prefix in classifier.prefixes
                )
            )
            for candidate in candidates
        ]
    )


def _kernel_table(
    chosen: Sequence[ProtocolClassifier], kept: Mapping[str, tuple[str, ...]]
) -> pd.DataFrame:
    lines = []
    for each in chosen:
        names = [*kept[each.name], "n/a", "n/a"]
        lines.append(
            {"classifier": each.name} | dict(zip(SPACES, names[:3], strict=True))
        )
    return pd.DataFrame(lines)


def _score_table(results: Mapping[tuple[str, str], NestedResult]) -> pd.DataFrame:
    parts = []
    for (label, name), result in results.items():
        part = result.table
        part.insert(0, "classifier", name)
        part.insert(0, "dataset", label)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
