"""One comparison as data, and the pieces of work it falls into.

A piece of work is one split of one family (its arms *without* and *oracle*) or one
split of one method (the other arms). Pieces are independent, so they can run in any
order, on any machine, and be kept in a file.
"""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from lupi._gram_cache import gram_cache
from lupi.evaluation._arms import ARMS, FAMILY_ARMS, METHOD_ARMS
from lupi.evaluation._folds import Fold, Folds
from lupi.evaluation._identity import fingerprint
from lupi.evaluation._methods import Method, Task
from lupi.evaluation._prepare import make_transformer
from lupi.evaluation._spaces import draw, join, resolve
from lupi.evaluation._splits import Splits, inner_splits


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
class Study:
    """A comparison, checked and laid out: the data, the splits, the candidates.

    Made by `plan`. Without ``privileged`` there is one arm, *without*: enough for
    `final_estimator`.
    """

    X: Any
    y: np.ndarray
    privileged: Any
    has_privileged: np.ndarray
    task: Task
    methods: list[Method]
    splits: Splits
    scorer: Callable[..., float]
    groups: np.ndarray | None
    sample_weight: np.ndarray | None
    group_of_row: np.ndarray | None
    n_candidates: int
    inner_cv: int
    seed: int
    settings: dict[str, Any]

    def __post_init__(self) -> None:
        self.folds = Folds(self.X, self.privileged)

    @cached_property
    def representatives(self) -> dict[str, Method]:
        """The first method of every family."""
        return {method.baseline: method for method in reversed(self.methods)}

    @property
    def strata(self) -> np.ndarray | None:
        """The class of each row; None for regression."""
        return None if self.task == "regression" else self.y

    @cached_property
    def identity(self) -> str:
        """A fingerprint of all that the results depend on."""
        from lupi import __version__

        candidates = [
            [self.candidates(method, arm) for arm in ARMS] for method in self.methods
        ]
        return fingerprint(
            [
                __version__,
                self.X,
                self.y,
                self.privileged,
                self.sample_weight,
                self.groups,
                self.splits,
                [(method.name, method.build()) for method in self.methods],
                candidates,
                self.scorer,
                self.inner_cv,
                self.seed,
            ]
        )

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

    def candidates(self, method: Method, arm: str) -> list[dict[str, Any]]:
        """Return the candidates of an arm, drawn equally often in every arm.

        The arms with X* draw the parameters of X* on top of what their family draws,
        so that no arm has more trials or other values than the others. Equal
        candidates are tried once; a method without a space has one.
        """
        if self.n_candidates < 2:
            return [{}]
        family = self._rng("family", method.baseline)
        drawn = draw(method.space, self.n_candidates, family)
        if arm in METHOD_ARMS:
            # A stream of its own, or the parameters of X* would follow the shared ones.
            mine = self._rng("method", method.name)
            own = draw(method.privileged_space, self.n_candidates, mine)
            drawn = [join(one, other) for one, other in zip(drawn, own, strict=True)]
        return list({repr(candidate): candidate for candidate in drawn}.values())

    def _rng(self, *keys: str | int) -> np.random.Generator:
        """Return a generator that depends on the seed and the keys alone."""
        words = [self.seed]
        for key in keys:
            words += [key] if isinstance(key, int) else list(key.encode())
        return np.random.default_rng(words)

    def method(self, name: str) -> Method:
        """Return the method of this name."""
        return next(each for each in self.methods if each.name == name)

    def run(self, piece: Piece) -> dict[str, Any]:
        """Do one piece of work; what goes wrong is part of the answer."""
        if piece.kind == "family":
            method, arms = self.representatives[piece.name], FAMILY_ARMS
        else:
            method, arms = self.method(piece.name), METHOD_ARMS
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
                for arm in arms:
                    lines.append(self._run_arm(method, arm, piece.split))
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

    def _run_arm(self, method: Method, arm: str, split: int) -> dict[str, Any]:
        start = time.perf_counter()
        train, test = self.splits[split]
        source = self._privileged_rows(arm, train, split)
        params, inner = self.search(method, arm, train, source, split)
        fold = self.folds.fold(arm, train, test, source)
        model = self.fit(method, params, fold)
        return {
            "arm": arm,
            "split": split,
            "score": self.score(model, fold),
            "inner_score": inner,
            "params": self._resolved(params, fold),
            "n_train": len(train),
            "n_test": len(test),
            "seconds": time.perf_counter() - start,
            "group_scores": self._group_scores(model, fold),
        }

    def _privileged_rows(self, arm: str, train: np.ndarray, split: int) -> np.ndarray:
        """Return, for each training row, the row whose X* it is given."""
        if arm != "shuffled":
            return train
        source = train.copy()
        there = np.flatnonzero(self.has_privileged[train])
        shuffled = self._rng("shuffled", split).permutation(there)
        source[there] = train[shuffled]
        return source

    def search(
        self,
        method: Method,
        arm: str,
        train: np.ndarray,
        source: np.ndarray,
        split: int,
    ) -> tuple[dict[str, Any], float | None]:
        """Return the best candidate on inner folds of the training rows."""
        candidates = self.candidates(method, arm)
        if len(candidates) == 1:
            return candidates[0], None
        problems: list[Exception] = []
        with warnings.catch_warnings():
            # A candidate that converges badly loses the search; only the warnings
            # of the chosen one matter.
            warnings.simplefilter("ignore")
            scores = np.mean(
                [
                    self._candidate_scores(method, candidates, fold, problems)
                    for fold in self._inner_folds(arm, train, source, split)
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
                    score = self.score(self.fit(method, params, fold), fold)
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
        self, arm: str, train: np.ndarray, source: np.ndarray, split: int
    ) -> Iterator[Fold]:
        strata = None if self.strata is None else self.strata[train]
        groups = None if self.groups is None else self.groups[train]
        # The same inner folds in every arm and method, or budgets would not be equal.
        folds = inner_splits(
            strata, len(train), groups, self.inner_cv, self.seed + split
        )
        for inner_train, inner_test in folds:
            yield self.folds.fold(
                arm, train[inner_train], train[inner_test], source[inner_train]
            )

    def _resolved(self, params: dict[str, Any], fold: Fold) -> dict[str, Any]:
        spread = 1.0 if self.strata is not None else float(self.y[fold.train].std())
        return resolve(params, fold.X_train.shape[1], fold.n_privileged, spread or 1.0)

    def fit(self, method: Method, params: dict[str, Any], fold: Fold) -> BaseEstimator:
        """Fit one candidate on the training rows of a fold."""
        model = seeded(method.build(), self.seed)
        model.set_params(**self._resolved(params, fold))
        weight = None if self.sample_weight is None else self.sample_weight[fold.train]
        more = fit_arguments(model, privileged=fold.privileged, sample_weight=weight)
        return model.fit(fold.X_train, self.y[fold.train], **more)

    def score(self, model: BaseEstimator, fold: Fold) -> float:
        """Score a model on the test rows of a fold."""
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

    def final_estimator(self, name: str, arm: str, *, refit: bool) -> BaseEstimator:
        """Search on all rows and return the pipeline to keep, fitted or not."""
        from lupi.compose import TransformedPrivileged

        method = self.method(name)
        everything = np.arange(len(self.y))
        with config_context(enable_metadata_routing=False):
            params, _ = self.search(method, arm, everything, everything, 0)
            fold = self.folds.fold(arm, everything, everything, everything)
            model = seeded(method.build(), self.seed)
            model.set_params(**self._resolved(params, fold))
            privileged = None
            if arm == "with":
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
