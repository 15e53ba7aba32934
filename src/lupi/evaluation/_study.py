"""One comparison as data, and the pieces of work it falls into.

A piece of work is one split of one family (its *without* and *oracle* rows) or one
split of one method (*with* and *shuffled*). Pieces know nothing of each other, so
they can run in any order, on any machine, and be kept in a file.

Preprocessing is not searched; it is therefore learned once per fold and shared by all
candidates, which gives what a pipeline fitted anew for each of them would give.
"""

from __future__ import annotations

import re
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from lupi._gram_cache import gram_cache
from lupi.evaluation._methods import Method
from lupi.evaluation._prepare import (
    PreparedPrivileged,
    Recent,
    make_transformer,
    side_by_side,
    take_rows,
)
from lupi.evaluation._spaces import draw, join, resolve
from lupi.evaluation._splits import Splits, inner_splits

FAMILY_ROWS = ("without", "oracle")
METHOD_ROWS = ("with", "shuffled")

# Tables prepared for a split serve all methods that run on it in this process. They
# belong to the process because each task brings a study of its own.
_prepared = Recent(most=12)
MOST_CELLS_KEPT = 5_000_000


@dataclass(frozen=True)
class Piece:
    """One split of one family or of one method."""

    kind: str
    name: str
    split: int

    @property
    def key(self) -> str:
        """The name of the piece in a checkpoint."""
        return f"{self.kind}:{self.name}:{self.split}"


@dataclass
class Fold:
    """Prepared arrays of one split of some rows."""

    X_train: Any
    X_test: Any
    privileged: Any
    train: np.ndarray
    test: np.ndarray
    n_privileged: int


@dataclass
class Study:
    """The data, the splits and the candidates of a comparison."""

    X: Any
    y: np.ndarray
    privileged: Any
    has_privileged: np.ndarray
    methods: list[Method]
    splits: Splits
    scorer: Callable[..., float]
    strata: np.ndarray | None
    groups: np.ndarray | None
    sample_weight: np.ndarray | None
    group_of_row: np.ndarray | None
    n_candidates: int
    inner_folds: int
    seed: int
    representatives: dict[str, Method] = field(init=False)
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        self.representatives = {}
        for method in self.methods:
            self.representatives.setdefault(method.baseline, method)

    def pieces(self) -> list[Piece]:
        """Return all pieces of work, split by split."""
        return [
            piece
            for split in range(len(self.splits))
            for piece in (
                *(Piece("family", name, split) for name in self.representatives),
                *(Piece("method", method.name, split) for method in self.methods),
            )
        ]

    def candidates(self, method: Method, row: str) -> list[dict[str, Any]]:
        """Return the candidates of a row: as many in each row, with equal shared part.

        The rows with X* draw the parameters of X* on top of what their family draws,
        so that no row has more trials or other values than its neighbour.
        """
        if self.n_candidates < 2:
            return [{}]
        family = self._rng("family", method.baseline)
        shared = draw(method.space, self.n_candidates, family)
        if row in FAMILY_ROWS:
            return shared
        # A stream of its own, or the parameters of X* would follow the shared ones.
        mine = self._rng("method", method.name)
        own = draw(method.privileged_space, self.n_candidates, mine)
        return [join(first, second) for first, second in zip(shared, own, strict=True)]

    def _rng(self, *keys: str | int) -> np.random.Generator:
        """Return a generator that depends on the seed and the keys alone."""
        words = [self.seed]
        for key in keys:
            words += [key] if isinstance(key, int) else list(key.encode())
        return np.random.default_rng(words)

    def run(self, piece: Piece) -> dict[str, Any]:
        """Do one piece of work; what goes wrong is part of the answer."""
        if piece.kind == "family":
            method, rows = self.representatives[piece.name], FAMILY_ROWS
        else:
            method = next(each for each in self.methods if each.name == piece.name)
            rows = METHOD_ROWS
        lines: list[dict[str, Any]] = []
        error = None
        # Routing switched on by the user must not change what a comparison does, and
        # thousands of small fits need not check their parameters one by one.
        with (
            warnings.catch_warnings(record=True) as caught,
            config_context(
                enable_metadata_routing=False, skip_parameter_validation=True
            ),
        ):
            warnings.simplefilter("always")
            try:
                for row in rows:
                    lines.append(self._run_row(method, row, piece.split))
            except Exception as problem:
                lines, error = [], f"{type(problem).__name__}: {problem}"
        counts = Counter(
            # Numbers differ from fold to fold where the message is the same.
            re.sub(
                r"(?<![A-Za-z])\d+(\.\d+)?(e[-+]?\d+)?",
                "#",
                f"{w.category.__name__}: {w.message}",
            )
            for w in caught
        )
        return {"lines": lines, "error": error, "warnings": dict(counts)}

    def _run_row(self, method: Method, row: str, split: int) -> dict[str, Any]:
        start = time.perf_counter()
        train, test = self.splits[split]
        source = self._privileged_rows(row, train, split)
        params, inner = self.search(method, row, train, source, split)
        fold = self._fold(row, train, test, source)
        model = self._fit(method, params, fold)
        return {
            "row": row,
            "split": split,
            "score": self._score(model, fold),
            "inner_score": inner,
            "params": self._resolved(params, fold),
            "n_train": len(train),
            "n_test": len(test),
            "seconds": time.perf_counter() - start,
            "group_scores": self._group_scores(model, fold),
        }

    def _privileged_rows(self, row: str, train: np.ndarray, split: int) -> np.ndarray:
        """Return, for each training row, the row whose X* it is given."""
        if row != "shuffled":
            return train
        source = train.copy()
        there = np.flatnonzero(self.has_privileged[train])
        shuffled = self._rng("shuffled", split).permutation(there)
        source[there] = train[shuffled]
        return source

    def search(
        self,
        method: Method,
        row: str,
        train: np.ndarray,
        source: np.ndarray,
        split: int,
    ) -> tuple[dict[str, Any], float | None]:
        """Return the best candidate on inner folds of the training rows."""
        candidates = self.candidates(method, row)
        if len(candidates) == 1:
            return candidates[0], None
        problems: list[Exception] = []
        with warnings.catch_warnings():
            # A candidate that converges badly loses the search; only the warnings
            # of the chosen one concern anybody.
            warnings.simplefilter("ignore")
            scores = np.mean(
                [
                    self._candidate_scores(method, candidates, fold, problems)
                    for fold in self._inner_folds(row, train, source, split)
                ],
                axis=0,
            )
        best = int(scores.argmax())
        if np.isinf(scores[best]):
            raise problems[0]
        return candidates[best], float(scores[best])

    def _candidate_scores(
        self,
        method: Method,
        candidates: list[dict[str, Any]],
        fold: Fold,
        problems: list[Exception],
    ) -> np.ndarray:
        """Score all candidates on one fold; one that fails scores minus infinity."""
        scores = np.full(len(candidates), -np.inf)
        with gram_cache():
            for i, params in enumerate(candidates):
                try:
                    score = self._score(self._fit(method, params, fold), fold)
                    if not np.isfinite(score):
                        raise ValueError(
                            f"The score of an inner fold is {score}; the training rows "
                            "may be too few for this score."
                        )
                    scores[i] = score
                except Exception as problem:
                    problems.append(problem)
        return scores

    def _inner_folds(
        self, row: str, train: np.ndarray, source: np.ndarray, split: int
    ) -> Iterator[Fold]:
        strata = None if self.strata is None else self.strata[train]
        groups = None if self.groups is None else self.groups[train]
        # The same inner folds in every row and method, or budgets would not be equal.
        folds = inner_splits(
            strata, len(train), groups, self.inner_folds, self.seed + split
        )
        for inner_train, inner_test in folds:
            yield self._fold(
                row, train[inner_train], train[inner_test], source[inner_train]
            )

    def _fold(
        self, row: str, train: np.ndarray, test: np.ndarray, source: np.ndarray
    ) -> Fold:
        X_train, X_test = self._recall(
            lambda: self._prepare_features(train, test), "X", train, test
        )
        if row == "without":
            return Fold(X_train, X_test, None, train, test, 0)
        prepared, privileged = self._recall(
            lambda: self._prepare_privileged(source), "X*", train, source
        )
        width = 0 if privileged is None else privileged.shape[1]
        if row != "oracle":
            return Fold(X_train, X_test, privileged, train, test, width)
        seen = prepared.transform(take_rows(self.privileged, test))
        return Fold(
            side_by_side(X_train, privileged, width),
            side_by_side(X_test, seen, width),
            None,
            train,
            test,
            width,
        )

    def _recall(self, compute: Callable[[], Any], what: str, *rows: np.ndarray) -> Any:
        # Preparing a large table is quick beside fitting on it, and keeping it is not
        # free.
        if self.X.shape[0] * max(self.X.shape[1], self.privileged.shape[1]) > (
            MOST_CELLS_KEPT
        ):
            return compute()
        key = (self.token, what, *(each.tobytes() for each in rows))
        return _prepared.get(key, compute)

    def _prepare_features(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        transformer = make_transformer(self.X)
        X_train = transformer.fit_transform(take_rows(self.X, train))
        return X_train, transformer.transform(take_rows(self.X, test))

    def _prepare_privileged(self, source: np.ndarray) -> tuple[PreparedPrivileged, Any]:
        table = take_rows(self.privileged, source)
        prepared = PreparedPrivileged(make_transformer(self.privileged), table)
        return prepared, prepared.transform(table)

    def _resolved(self, params: dict[str, Any], fold: Fold) -> dict[str, Any]:
        spread = 1.0 if self.strata is not None else float(self.y[fold.train].std())
        return resolve(params, fold.X_train.shape[1], fold.n_privileged, spread or 1.0)

    def _fit(self, method: Method, params: dict[str, Any], fold: Fold) -> BaseEstimator:
        model = seeded(method.build(), self.seed)
        model.set_params(**self._resolved(params, fold))
        weight = None if self.sample_weight is None else self.sample_weight[fold.train]
        more = fit_arguments(model, privileged=fold.privileged, sample_weight=weight)
        return model.fit(fold.X_train, self.y[fold.train], **more)

    def _score(self, model: BaseEstimator, fold: Fold) -> float:
        return self._score_rows(model, fold, np.arange(len(fold.test)))

    def _score_rows(self, model: BaseEstimator, fold: Fold, rows: np.ndarray) -> float:
        more = {}
        if self.sample_weight is not None:
            more["sample_weight"] = self.sample_weight[fold.test[rows]]
        return float(
            self.scorer(model, fold.X_test[rows], self.y[fold.test[rows]], **more)
        )

    def _group_scores(self, model: BaseEstimator, fold: Fold) -> list[float] | None:
        if self.group_of_row is None:
            return None
        group = self.group_of_row[fold.test]
        scores = []
        for each in range(self.group_of_row.max() + 1):
            rows = np.flatnonzero(group == each)
            # The training set may have taken all rows of a group.
            score = self._score_rows(model, fold, rows) if len(rows) else np.nan
            scores.append(score)
        return scores

    def final_estimator(self, name: str, row: str, *, refit: bool) -> BaseEstimator:
        """Search on all rows and return the pipeline to keep, fitted or not."""
        from lupi.compose import TransformedPrivileged

        method = next(each for each in self.methods if each.name == name)
        everything = np.arange(len(self.y))
        with config_context(enable_metadata_routing=False):
            params, _ = self.search(method, row, everything, everything, 0)
            fold = self._fold(row, everything, everything, everything)
            model = seeded(method.build(), self.seed)
            model.set_params(**self._resolved(params, fold))
            privileged = None
            if row == "with":
                model = TransformedPrivileged(model, make_transformer(self.privileged))
                privileged = self.privileged
            pipeline = Pipeline(
                [("prepare", make_transformer(self.X)), ("model", model)]
            )
            if refit:
                weight = self.sample_weight
                more = fit_arguments(
                    pipeline, privileged=privileged, sample_weight=weight
                )
                pipeline.fit(self.X, self.y, **more)
        return pipeline


def fit_arguments(model: BaseEstimator, **given: Any) -> dict[str, Any]:
    """Name what ``fit`` is given beside X and y; a pipeline passes it to its end."""
    prefix = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
    return {prefix + name: value for name, value in given.items() if value is not None}


def seeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Give every ``random_state`` that is None the seed of the study."""
    unset = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return clone(estimator).set_params(**unset)
