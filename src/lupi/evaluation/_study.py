"""One comparison as data, and its division into independent pieces of work.

A piece of work is one split of one family (its arms *without* and *oracle*) or one
split of one method (the other arms). Pieces are independent, so that they can run in
any order and on any machine, and their results can be kept in a file.
"""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from lupi._gram_cache import gram_cache
from lupi.base import uses_unlabelled
from lupi.base._metadata import fit_with, seeded
from lupi.base._rows import take_rows
from lupi.evaluation._arms import ARMS, FAMILY_ARMS, METHOD_ARMS
from lupi.evaluation._folds import Fold, Folds, Training
from lupi.evaluation._labels import Split
from lupi.evaluation._methods import Method, Task
from lupi.evaluation._prepare import make_transformer
from lupi.evaluation._running import fingerprint
from lupi.evaluation._scoring import score_on
from lupi.evaluation._spaces import draw, join, resolve
from lupi.evaluation._splits import NO_ROWS, evenly_mixed, inner_splits

# Training rows with y on which candidates are scored; the chosen one is fitted on all.
MOST_SEARCHED = 5_000


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
    """The data, splits and candidates of a comparison, made by `plan`.

    Without ``privileged`` only the arm *without* exists, for `final_estimator`.
    """

    X: Any
    y: np.ndarray
    has_y: np.ndarray
    privileged: Any
    has_privileged: np.ndarray
    task: Task
    methods: list[Method]
    splits: list[Split]
    scorer: Callable[..., float]
    groups: np.ndarray | None
    sample_weight: np.ndarray | None
    group_of_row: np.ndarray
    n_candidates: int
    inner_cv: int
    seed: int
    settings: dict[str, Any]
    most_searched: int = MOST_SEARCHED

    def __post_init__(self) -> None:
        self.folds = Folds(self.X, self.privileged, self.has_privileged)

    @cached_property
    def representatives(self) -> dict[str, Method]:
        """The first method of every family."""
        return {method.baseline: method for method in reversed(self.methods)}

    @property
    def n_groups(self) -> int:
        """The number of groups of test rows."""
        return int(self.group_of_row.max()) + 1

    @property
    def strata(self) -> np.ndarray | None:
        """The class of each row; None for regression."""
        return None if self.task == "regression" else self.y

    @cached_property
    def identity(self) -> str | None:
        """A fingerprint of everything that the results depend on, if there is one."""
        from lupi import __version__

        return fingerprint(
            __version__,
            self.X,
            self.y.tolist(),
            self.privileged,
            self.sample_weight,
            self.groups,
            self.splits,
            [(method.name, method.build()) for method in self.methods],
            [[self.candidates(method, arm) for arm in ARMS] for method in self.methods],
            self.scorer,
            self.inner_cv,
            self.seed,
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
        """Return the candidates of an arm, as many as in every other arm.

        The arms with X* have the candidates of their family, joined with parameters
        for X*, so that no arm has more trials or other values than the others. Equal
        candidates are tried once; a method without a space has one candidate.
        """
        if self.n_candidates < 2:
            return [{}]
        family = self._rng("family", method.baseline)
        drawn = draw(method.space, self.n_candidates, family)
        if arm in METHOD_ARMS:
            # A separate stream, so that these are independent of the shared ones.
            mine = self._rng("method", method.name)
            own = draw(method.privileged_space, self.n_candidates, mine)
            drawn = [join(one, other) for one, other in zip(drawn, own, strict=True)]
        return list({repr(candidate): candidate for candidate in drawn}.values())

    def _rng(self, *keys: str | int) -> np.random.Generator:
        """Return a generator that depends only on the seed and the keys."""
        words = [self.seed]
        for key in keys:
            words += [key] if isinstance(key, int) else list(key.encode())
        return np.random.default_rng(words)

    def method(self, name: str) -> Method:
        """Return the method of this name."""
        return next(each for each in self.methods if each.name == name)

    def run(self, piece: Piece) -> dict[str, Any]:
        """Run one piece of work; errors and warnings are part of the result."""
        if piece.kind == "family":
            method, arms = self.representatives[piece.name], FAMILY_ARMS
        else:
            method, arms = self.method(piece.name), METHOD_ARMS
        lines: list[dict[str, Any]] = []
        error = None
        # The user's metadata routing must not change a comparison; checking the
        # parameters of thousands of small fits would take time.
        with (
            warnings.catch_warnings(record=True) as caught,
            config_context(
                enable_metadata_routing=False, skip_parameter_validation=True
            ),
        ):
            warnings.simplefilter("always")
            try:
                for arm in arms:
                    lines.append(self.run_arm(method, arm, piece.split))
            except Exception as problem:
                lines, error = [], f"{type(problem).__name__}: {problem}"
        counts = Counter(
            # Messages of different folds may differ only in their numbers.
            re.sub(
                r"(?<![A-Za-z])\d+(\.\d+)?(e[-+]?\d+)?",
                "#",
                f"{w.category.__name__}: {w.message}",
            )
            for w in caught
        )
        return {"lines": lines, "error": error, "warnings": dict(counts)}

    def training(self, method: Method, arm: str, split: Split) -> Training:
        """Return the training rows of an arm: those with y, then those without.

        Rows without y are used by methods that can use them, if they have X*.
        """
        extra = NO_ROWS
        if arm in METHOD_ARMS and uses_unlabelled(method.build()):
            extra = split.unlabelled[self.has_privileged[split.unlabelled]]
        rows = np.r_[split.train, extra]
        return Training(rows, len(split.train), rows)

    def run_arm(self, method: Method, arm: str, number: int) -> dict[str, Any]:
        """Search, fit and score one arm of a method on one split."""
        start = time.perf_counter()
        split = self.splits[number]
        training = self.training(method, arm, split)
        if arm == "shuffled":
            training = self._shuffled(training, number)
        params, inner = self.search(method, arm, training, number)
        fold = self.folds.fold(arm, training, split.test)
        model = self.fit(method, params, fold)
        score, group_scores = self.score(model, fold, groups=True)
        return {
            "arm": arm,
            "split": number,
            "score": score,
            "inner_score": inner,
            "params": self._resolved(params, fold),
            "n_train": training.n_labelled,
            "n_unlabelled": len(training.rows) - training.n_labelled,
            "n_test": len(split.test),
            "seconds": time.perf_counter() - start,
            "group_scores": group_scores,
        }

    def _shuffled(self, training: Training, number: int) -> Training:
        """Permute X* among the training rows that have it."""
        source = training.rows.copy()
        there = np.flatnonzero(self.has_privileged[source])
        shuffled = self._rng("shuffled", number).permutation(there)
        source[there] = training.rows[shuffled]
        return replace(training, source=source)

    def search(
        self,
        method: Method,
        arm: str,
        training: Training,
        number: int,
    ) -> tuple[dict[str, Any], float | None]:
        """Return the best candidate on inner folds of the training rows."""
        candidates = self.candidates(method, arm)
        if len(candidates) == 1:
            return candidates[0], None
        problems: list[Exception] = []
        training = self._searched(training, number)
        with warnings.catch_warnings():
            # Only the warnings of the chosen candidate are reported.
            warnings.simplefilter("ignore")
            scores = np.mean(
                [
                    self._candidate_scores(method, candidates, fold, problems)
                    for fold in self._inner_folds(arm, training, number)
                ],
                axis=0,
            )
        best = int(scores.argmax())
        if np.isinf(scores[best]):
            raise problems[0]
        return candidates[best], float(scores[best])

    def _searched(self, training: Training, number: int) -> Training:
        """Return the rows on which candidates are scored, the same in every arm."""
        n, total = training.n_labelled, len(training.rows)
        most = self.most_searched
        if n <= most:
            return training
        strata = None if self.strata is None else self.strata[training.rows[:n]]
        mixed = evenly_mixed(n, strata, self._rng("searched", number))
        # Rows without y keep their proportion.
        extra = self._rng("searched too", number).permutation(np.arange(n, total))
        extra = extra[: round((total - n) * most / n)]
        places = np.r_[np.sort(mixed[:most]), np.sort(extra)]
        return Training(training.rows[places], most, training.source[places])

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
                    score, _ = self.score(self.fit(method, params, fold), fold)
                    if not np.isfinite(score):
                        raise ValueError(
                            f"The score of an inner fold is {score}; there may be too "
                            "few training rows for this score."
                        )
                    scores[i] = score
                except Exception as problem:
                    problems.append(problem)
        return scores

    def _inner_folds(self, arm: str, training: Training, number: int) -> Iterator[Fold]:
        n = training.n_labelled
        labelled, extra = training.rows[:n], np.arange(n, len(training.rows))
        strata, groups = (
            None if column is None else column[labelled]
            for column in (self.strata, self.groups)
        )
        # The inner folds are the same in every arm and method, for a fair comparison.
        folds = inner_splits(strata, n, groups, self.inner_cv, self.seed + number)
        for train, test in folds:
            kept = extra
            if self.groups is not None:
                tested = self.groups[labelled[test]]
                kept = extra[~np.isin(self.groups[training.rows[extra]], tested)]
            places = np.r_[train, kept]
            part = Training(training.rows[places], len(train), training.source[places])
            yield self.folds.fold(arm, part, labelled[test])

    def _resolved(self, params: dict[str, Any], fold: Fold) -> dict[str, Any]:
        spread = 1.0
        if self.strata is None:
            spread = float(self.y[fold.train[: fold.n_labelled]].std())
        return resolve(params, fold.X_train.shape[1], fold.n_privileged, spread or 1.0)

    def fit(self, method: Method, params: dict[str, Any], fold: Fold) -> BaseEstimator:
        """Fit one candidate on the training rows of a fold."""
        model = seeded(method.build(), self.seed)
        model.set_params(**self._resolved(params, fold))
        weight = None if self.sample_weight is None else self.sample_weight[fold.train]
        return fit_with(
            model,
            fold.X_train,
            self._targets(fold.train, fold.n_labelled),
            privileged=fold.privileged,
            sample_weight=weight,
        )

    def _targets(self, rows: np.ndarray, n_labelled: int) -> np.ndarray:
        """Return y of some rows, missing after the first ``n_labelled``."""
        values = self.y[rows]
        if n_labelled < len(rows):
            values = values.astype(object if self.strata is not None else float)
            values[n_labelled:] = None if self.strata is not None else np.nan
        return values

    def score(
        self, model: BaseEstimator, fold: Fold, *, groups: bool = False
    ) -> tuple[float, list[float] | None]:
        """Score a model on the test rows of a fold, and if wanted on groups of them."""
        weight = None if self.sample_weight is None else self.sample_weight[fold.test]
        group = self.group_of_row[fold.test] if groups else None
        return score_on(
            self.scorer,
            model,
            fold.X_test,
            self.y[fold.test],
            weight,
            group,
            self.n_groups,
        )

    def final_rows(self, name: str, arm: str) -> Training:
        """Return the training rows of the final estimator of an arm."""
        known, unknown = np.flatnonzero(self.has_y), np.flatnonzero(~self.has_y)
        return self.training(self.method(name), arm, Split(known, NO_ROWS, unknown))

    def final_estimator(self, name: str, arm: str, *, refit: bool) -> BaseEstimator:
        """Search on all rows and return the final pipeline, fitted or not."""
        from lupi.compose import TransformedPrivileged

        method, training = self.method(name), self.final_rows(name, arm)
        rows, labelled = training.rows, training.rows[: training.n_labelled]
        with config_context(enable_metadata_routing=False):
            params, _ = self.search(method, arm, training, 0)
            fold = self.folds.fold(arm, training, labelled)
            model = seeded(method.build(), self.seed)
            model.set_params(**self._resolved(params, fold))
            more = {"sample_weight": self.sample_weight}
            if arm == "with":
                model = TransformedPrivileged(model, make_transformer(self.privileged))
                more["privileged"] = self.privileged
            pipeline = Pipeline(
                [("prepare", make_transformer(self.X)), ("model", model)]
            )
            if refit:
                given = {
                    f"model__{key}": take_rows(values, rows)
                    for key, values in more.items()
                    if values is not None
                }
                y = self._targets(rows, training.n_labelled)
                pipeline.fit(take_rows(self.X, rows), y, **given)
        return pipeline
