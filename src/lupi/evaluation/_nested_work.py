"""The pieces of a nested cross-validation: its outer folds, and the search in each."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.model_selection import ParameterGrid
from sklearn.utils import column_or_1d

from lupi._gram_cache import gram_cache
from lupi.evaluation._prepare import (
    PreparedPrivileged,
    as_table,
    make_transformer,
    take_rows,
)
from lupi.evaluation._running import fingerprint
from lupi.evaluation._splits import (
    Splits,
    check_class_sizes,
    evenly_mixed,
    inner_splits,
)
from lupi.evaluation._study import Fold, fit_arguments, seeded

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
Strategy = Literal["grid", "random", "halving"]

# Three spaces with three kernels each; copies of X* share their Gram matrices.
KERNELS_AT_ONCE = 9
HALVING_FACTOR = 3
FEWEST_HALVING_ROWS = 40


@dataclass
class NestedResult:
    """What `nested_cross_validate` returns.

    Attributes
    ----------
    folds : pandas.DataFrame
        One line per selection and outer fold: ``select_by``, ``split``, ``params``,
        the outer score of each metric under its name, and the inner score of the
        chosen candidate as ``inner_<metric>``.
    metrics : list of str
        The metrics; the first selects, the next break ties.
    candidates : list of dict
        The candidates, in the order of ``inner_scores``.
    inner_scores : ndarray of shape (n_outer, n_candidates, n_metrics)
        Mean inner scores; for candidates dropped by successive halving those of the
        last rows they were tried on.
    """

    folds: pd.DataFrame
    metrics: list[str]
    candidates: list[dict[str, Any]]
    inner_scores: np.ndarray = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """One line per selection: mean and standard deviation of every metric."""
        lines = []
        for selection, part in self.folds.groupby("select_by", sort=False):
            line: dict[str, Any] = {"select_by": selection}
            for metric in self.metrics:
                line[metric] = part[metric].mean()
                line[f"{metric}_std"] = part[metric].std(ddof=1)
            lines.append(line)
        return pd.DataFrame(lines)


@dataclass(frozen=True)
class OuterFold:
    """One outer fold of one piece of nested work."""

    work: str
    split: int

    @property
    def key(self) -> str:
        """The name of the piece in a checkpoint."""
        return f"{self.work}:{self.split}"


def run_outer_fold(works: Mapping[str, NestedWork], piece: OuterFold) -> dict[str, Any]:
    """Do one outer fold of the work it belongs to."""
    return works[piece.work].run(piece.split)


@dataclass
class NestedWork:
    """The data, folds and candidates of one nested cross-validation."""

    name: str
    estimator: BaseEstimator
    X: Any
    y: np.ndarray
    privileged: Any
    candidates: list[dict[str, Any]]
    metrics: list[str]
    scorers: list[Any]
    splits: Splits
    inner: int
    search: Strategy
    strata: np.ndarray
    groups: np.ndarray | None
    sample_weight: np.ndarray | None
    seed: int
    prepared: bool = False

    @classmethod
    def prepare(
        cls,
        name: str,
        estimator: BaseEstimator,
        X: Any,
        y: Any,
        privileged: Any,
        *,
        param_grid: Grid | list[dict[str, Any]],
        scoring: Sequence[str],
        outer: int,
        inner: int,
        search: Strategy,
        n_candidates: int | None,
        groups: Any,
        sample_weight: Any,
        random_state: int,
        prepare: bool = False,
    ) -> NestedWork:
        """Check the arguments and lay out the folds and candidates."""
        X, y = as_table(X, "X"), column_or_1d(y)
        if privileged is not None:
            privileged = as_table(privileged, "privileged")
        for what, rows in (("y", len(y)), ("privileged", _rows(privileged))):
            if rows is not None and rows != X.shape[0]:
                raise ValueError(f"{what} has {rows} rows and X has {X.shape[0]}.")
        classes, strata = np.unique(y), y
        if groups is not None:
            groups = np.unique(groups, return_inverse=True)[1]
        else:
            check_class_sizes(strata, outer)
        if isinstance(scoring, str):
            scoring = [scoring]
        return cls(
            name=name,
            estimator=estimator,
            X=X,
            y=y,
            privileged=privileged,
            candidates=list_candidates(param_grid, search, n_candidates, random_state),
            metrics=list(scoring),
            scorers=[_scorer(metric, classes) for metric in scoring],
            splits=inner_splits(strata, len(y), groups, outer, random_state),
            inner=inner,
            search=search,
            strata=strata,
            groups=groups,
            sample_weight=(
                None if sample_weight is None else np.asarray(sample_weight, float)
            ),
            seed=random_state,
            prepared=prepare,
        )

    def pieces(self) -> list[OuterFold]:
        """Return the outer folds."""
        return [OuterFold(self.name, split) for split in range(len(self.splits))]

    def identity(self) -> str:
        """Return a fingerprint of all that the scores depend on."""
        rows = np.concatenate(
            [np.r_[train, -1, test, -2] for train, test in self.splits]
        )
        params = sorted(self.estimator.get_params(deep=True).items(), key=str)
        return fingerprint(
            [
                type(self.estimator).__name__,
                str(params),
                self.X,
                self.y,
                self.privileged,
                self.sample_weight,
                self.groups,
                rows,
                self.candidates,
                self.metrics,
                self.inner,
                self.search,
                self.seed,
                self.prepared,
            ]
        )

    def run(self, split: int) -> dict[str, Any]:
        """Search on the training rows of one outer fold, refit and score."""
        train, test = self.splits[split]
        with config_context(enable_metadata_routing=False):
            with warnings.catch_warnings():
                # Only the warnings of chosen candidates concern anybody.
                warnings.simplefilter("ignore")
                scores, alive = self._search(train, split)
            chosen = [
                int(alive[best_candidate(scores[alive], first)])
                for first in range(len(self.metrics))
            ]
            fold = self._fold(train, test)
            outer = {i: self._scores_of(i, fold) for i in set(chosen)}
        return {
            "inner_scores": scores,
            "chosen": chosen,
            "outer_scores": [outer[i] for i in chosen],
        }

    def _search(self, train: np.ndarray, split: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of all candidates, and those tried on all rows."""
        scores = np.full((len(self.candidates), len(self.metrics)), np.nan)
        alive = np.arange(len(self.candidates))
        for n_rows in self._rungs(len(train)):
            rows = train
            if n_rows < len(train):
                rng = np.random.default_rng([self.seed, split, n_rows])
                order = evenly_mixed(len(train), self.strata[train], rng)
                rows = np.sort(train[order[:n_rows]])
            scores[alive] = self._inner_scores(alive, rows, split)
            if n_rows < len(train):
                ranked = np.lexsort(-scores[alive].T[::-1])
                kept = -(-len(alive) // HALVING_FACTOR)
                alive = np.sort(alive[ranked[:kept]])
        return scores, alive

    def _rungs(self, n_rows: int) -> list[int]:
        """Return the numbers of rows on which the field is narrowed."""
        rungs = [n_rows]
        if self.search == "halving":
            n_left = len(self.candidates)
            while n_left > HALVING_FACTOR and rungs[0] // 3 >= FEWEST_HALVING_ROWS:
                rungs.insert(0, rungs[0] // HALVING_FACTOR)
                n_left = -(-n_left // HALVING_FACTOR)
        return rungs

    def _inner_scores(
        self, alive: np.ndarray, rows: np.ndarray, split: int
    ) -> np.ndarray:
        groups = None if self.groups is None else self.groups[rows]
        folds = inner_splits(
            self.strata[rows], len(rows), groups, self.inner, self.seed + split
        )
        total = np.zeros((len(alive), len(self.metrics)))
        for train, test in folds:
            fold = self._fold(rows[train], rows[test])
            with gram_cache(KERNELS_AT_ONCE):
                for place, i in enumerate(alive):
                    total[place] += self._scores_of(i, fold)
        return total / len(folds)

    def _fold(self, train: np.ndarray, test: np.ndarray) -> Fold:
        """Return the arrays of a fold, prepared on its training rows if asked for."""
        X_train, X_test = take_rows(self.X, train), take_rows(self.X, test)
        privileged = self.privileged
        if privileged is not None:
            privileged = take_rows(privileged, train)
        if self.prepared:
            transformer = make_transformer(self.X).fit(X_train)
            X_train = transformer.transform(X_train)
            X_test = transformer.transform(X_test)
            if privileged is not None:
                kind = make_transformer(self.privileged)
                privileged = PreparedPrivileged(kind, privileged).transform(privileged)
        return Fold(X_train, X_test, privileged, train, test, 0)

    def _scores_of(self, i: int, fold: Fold) -> list[float]:
        model = seeded(clone(self.estimator), self.seed)
        model.set_params(**self.candidates[i])
        weight = None if self.sample_weight is None else self.sample_weight[fold.train]
        more = fit_arguments(model, privileged=fold.privileged, sample_weight=weight)
        model.fit(fold.X_train, self.y[fold.train], **more)
        truth = self.y[fold.test]
        return [float(scorer(model, fold.X_test, truth)) for scorer in self.scorers]

    def assemble(self, results: Mapping[str, dict[str, Any]]) -> NestedResult:
        """Put the outer folds together."""
        lines = []
        scores = []
        for piece in self.pieces():
            result = results[piece.key]
            inner = np.array(result["inner_scores"], dtype=float)
            scores.append(inner)
            for metric, i, outer in zip(
                self.metrics, result["chosen"], result["outer_scores"], strict=True
            ):
                line = {"select_by": metric, "split": piece.split}
                line |= dict(zip(self.metrics, outer, strict=True))
                names = [f"inner_{name}" for name in self.metrics]
                line |= dict(zip(names, inner[i], strict=True))
                lines.append(line | {"params": self.candidates[i]})
        order = pd.DataFrame(lines).sort_values(
            "select_by",
            key=lambda column: column.map(self.metrics.index),
            kind="stable",
        )
        folds = order.reset_index(drop=True)
        return NestedResult(folds, self.metrics, self.candidates, np.array(scores))


def _rows(table: Any) -> int | None:
    return None if table is None else table.shape[0]


def list_candidates(
    grid: Grid | list[dict[str, Any]],
    search: Strategy,
    n_candidates: int | None,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the candidates of a grid, all of them or a random part."""
    if search not in ("grid", "random", "halving"):
        raise ValueError(f"search={search!r}: choose 'grid', 'random' or 'halving'.")
    everything = list(ParameterGrid(grid))
    if search != "random":
        return everything
    if n_candidates is None or n_candidates < 1:
        raise ValueError("search='random' needs n_candidates, the number to draw.")
    if n_candidates >= len(everything):
        return everything
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(everything), n_candidates, replace=False))
    return [everything[i] for i in chosen]


def best_candidate(scores: np.ndarray, first: int) -> int:
    """Return the candidate best by one metric, ties broken by the others, then order.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation._nested_work import best_candidate
    >>> scores = np.array([[0.9, 0.1], [0.9, 0.5], [0.8, 0.7]])
    >>> best_candidate(scores, first=0), best_candidate(scores, first=1)
    (1, 2)
    """
    others = [metric for metric in range(scores.shape[1]) if metric != first]
    ranked = np.nan_to_num(scores[:, [first, *others]], nan=-np.inf)
    # Sums in another order differ in the last digits, which must not break a tie.
    ranked = ranked.round(12)
    return max(range(len(ranked)), key=lambda i: tuple(ranked[i]))


def _scorer(metric: str, classes: Iterable[Any]) -> Any:
    classes = list(classes)
    if metric != "f1":
        return get_scorer(metric)
    if len(classes) > 2:
        return get_scorer("f1_macro")
    return make_scorer(f1_score, pos_label=classes[-1], zero_division=0.0)
