"""One comparison as data: its plan, and its independent pieces of work.

A piece of work is one split of one family (“without X*” and the oracle) or one
split of one method (the other arms). Pieces are independent, so that they can run in
any order and on any machine, and their results can be kept in a file.
"""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.pipeline import Pipeline

from lupi._words import argument, counted, percent
from lupi.base import read_target, uses_unlabelled
from lupi.base._metadata import fit_with, seeded
from lupi.base._rows import aligned, is_data_frame, read_groups, take_rows
from lupi.evaluation._methods import (
    ARMS,
    FAMILY_ARMS,
    METHOD_ARMS,
    Method,
    Task,
    as_list,
    choose_methods,
    draw_candidates,
    join_candidates,
    read_task,
    resolve_candidate,
)
from lupi.evaluation._prepare import (
    CATEGORIES,
    Fold,
    FoldTables,
    TrainingRows,
    as_table,
    check_lengths,
    column_names,
    make_transformer,
    rows_with_values,
)
from lupi.evaluation._running import fingerprint
from lupi.evaluation._scoring import (
    AVERAGE_PRECISION,
    best_score,
    check_score_name,
    choose_scorer,
    constant_model,
    design_for,
    random_average_precision,
    rare_scorers,
    reliability,
    score_rows,
)
from lupi.evaluation._splits import (
    DEFAULT_FOLDS,
    DEFAULT_SMALL_SPLITS,
    DEFAULT_WINDOWS,
    NO_ROWS,
    Rows,
    Split,
    blocks_of_test_rows,
    describe_splits,
    few_labels,
    groups_of_test_rows,
    inner_splits,
    of_rows,
    outer_splits,
    tests_by_time,
    time_splits,
    with_all_earlier,
    without_classes,
)
from lupi.evaluation._statistics import FEWEST_WINDOWS, Design, Kind
from lupi.evaluation._verdict import training_rows
from lupi.kernels import gram_cache

# Training rows with y on which candidates are scored; the chosen one is fitted on all.
MOST_SEARCHED = 5_000
# Training sets below this share of the rows with y say little about a model of all.
SMALL = 0.5
# Largest share of the rows whose classes may be left out of suggested splits.
MOST_LEFT_OUT = 0.1
# Suggested training size: X* helps most with few rows. Of a small table, a quarter.
FEW_ROWS, FEWEST_ROWS = 60, 20

# The entries of a finished piece of work.
FIELDS = ("lines", "error", "warnings")

Times = tuple[np.ndarray, np.ndarray | None]


# A piece of work: "family" or "method", the name of that, and the split.
Piece = tuple[str, str, int]


@dataclass
class Study:
    """The data, splits and candidates of a comparison, made by `plan`.

    Without ``privileged`` only “without X*” exists, for `final_estimator`.
    """

    X: Any
    y: np.ndarray
    has_y: np.ndarray
    privileged: Any
    has_privileged: np.ndarray
    task: Task
    groups: np.ndarray | None
    sample_weight: np.ndarray | None
    n_candidates: int
    inner_cv: int
    seed: int
    # What splits are drawn from, which other splits replace.
    drawn: dict[str, Any]
    # These follow from the data, in this order.
    splits: list[Split] = field(default_factory=list)
    # Splits at the size of the final model, if the others have far fewer rows with y.
    full_splits: list[Split] | None = None
    scorer: Any = None
    methods: list[Method] = field(default_factory=list)
    # Scores beside the one that is compared, by name.
    also: dict[str, Callable[..., float]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = FoldTables(self.X, self.privileged, self.has_privileged)

    @cached_property
    def representatives(self) -> dict[str, Method]:
        """The first method of every family."""
        return {method.baseline: method for method in reversed(self.methods)}

    @cached_property
    def group_of_row(self) -> np.ndarray:
        """The group of each row for the jackknife, −1 if it is never tested."""
        if self.drawn["times"] is not None:
            return blocks_of_test_rows(self.splits, self.drawn["times"][0], self.rows)
        group = np.full(len(self.y), -1)
        group[self.has_y] = groups_of_test_rows(self.rows.take(self.has_y), self.seed)
        return group

    @property
    def n_groups(self) -> int:
        """The number of groups of test rows."""
        return int(self.group_of_row.max()) + 1

    @property
    def design(self) -> Design:
        """The sizes and the kind of the splits."""
        design = describe_splits(self.splits, self.settings["splits"]["kind"])
        return design_for(self.settings["scoring"], design)

    @property
    def by_time(self) -> bool:
        """Whether the splits train on the past and test on the future."""
        return self.settings["splits"]["kind"] == "time"

    @property
    def strata(self) -> np.ndarray | None:
        """The class of each row; None for regression."""
        return None if self.task == "regression" else self.y

    @property
    def rows(self) -> Rows:
        """The classes and groups of all rows."""
        return Rows(len(self.y), self.strata, self.groups)

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
        names = [("family", name) for name in self.representatives]
        names += [("method", method.name) for method in self.methods]
        return [(*name, split) for split in range(len(self.splits)) for name in names]

    def candidates(self, method: Method, arm: str) -> list[dict[str, Any]]:
        """Return the candidates of an arm, as many as in every other arm.

        The arms with X* have the candidates of their family, joined with parameters
        for X*, so that no arm has more trials or other values than the others. Equal
        candidates are tried once; a method without a space has one candidate.
        """
        if self.n_candidates < 2:
            return [{}]
        family = self._rng("family", method.baseline)
        drawn = draw_candidates(method.space, self.n_candidates, family)
        if arm in METHOD_ARMS:
            # A separate stream, so that these are independent of the shared ones.
            mine = self._rng("method", method.name)
            own = draw_candidates(method.privileged_space, self.n_candidates, mine)
            drawn = [join_candidates(*pair) for pair in zip(drawn, own, strict=True)]
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
        """Run one piece of work."""
        kind, name, split = piece
        if kind == "family":
            return self.attempt(self.representatives[name], FAMILY_ARMS, split)
        return self.attempt(self.method(name), METHOD_ARMS, split)

    def attempt(
        self,
        method: Method,
        arms: Sequence[str],
        number: int,
        params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Run arms on one split; errors and warnings are part of the result."""
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
                    lines.append(self.run_arm(method, arm, number, params))
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

    def training(self, method: Method, arm: str, split: Split) -> TrainingRows:
        """Return the training rows of an arm: those with y, then those without.

        Rows without y are used by methods that can use them, if they have X*.
        """
        extra = NO_ROWS
        if arm in METHOD_ARMS and uses_unlabelled(method.build()):
            extra = split.unlabelled[self.has_privileged[split.unlabelled]]
        rows = np.r_[split.train, extra]
        # A leaf has more rows than one of many categories: trees divide parts of names.
        most = CATEGORIES if method.has_trees else None
        return TrainingRows(rows, len(split.train), rows, most)

    def run_arm(
        self,
        method: Method,
        arm: str,
        number: int,
        params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Search, or use ``params``, then fit and score an arm on one split."""
        start = time.perf_counter()
        split = self.splits[number]
        training = self.training(method, arm, split)
        if arm == "shuffled":
            training = self._shuffled(training, number)
        inner = None
        if params is None:
            params, inner = self.search(method, arm, training, number)
        fold = self.tables.fold(arm, training, split.test)
        model = self.fit(method, params, fold)
        score, group_scores = self.score(model, fold, groups=True)
        if np.isnan(score):
            raise ValueError(
                f"the score is not defined on the {len(split.test)} test rows of split "
                f"{number + 1}"
            )
        also = {
            name: self.score(model, fold, groups=True, scorer=scorer)
            for name, scorer in self.also.items()
        }
        rare, curve = self.settings["second"] is not None, None
        if self.strata is not None and arm in ("without", "with"):
            weight = of_rows(self.sample_weight, fold.test)
            curve = reliability(model, fold.X_test, self.y[fold.test], weight)
        return {
            "arm": arm,
            "split": number,
            "score": score,
            "second_score": next(iter(also.values()))[0] if rare else None,
            "also": also,
            "reliability": curve,
            "inner_score": inner,
            "params": self._resolved(params, fold),
            "n_train": training.n_labelled,
            "n_unlabelled": len(training.rows) - training.n_labelled,
            "n_test": len(split.test),
            "seconds": time.perf_counter() - start,
            "group_scores": group_scores,
        }

    def _shuffled(self, training: TrainingRows, number: int) -> TrainingRows:
        """Permute X* among the training rows that have it."""
        source = training.rows.copy()
        there = np.flatnonzero(self.has_privileged[source])
        shuffled = self._rng("shuffled", number).permutation(there)
        source[there] = training.rows[shuffled]
        return replace(training, source=source)

    def search(
        self, method: Method, arm: str, training: TrainingRows, number: int
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

    def _searched(self, training: TrainingRows, number: int) -> TrainingRows:
        """Return the rows on which candidates are scored, the same in every arm."""
        n, total = training.n_labelled, len(training.rows)
        if n <= MOST_SEARCHED:
            return training
        mixed = self.rows.take(training.rows[:n]).mixed(self._rng("searched", number))
        # Rows without y keep their proportion.
        extra = self._rng("searched too", number).permutation(np.arange(n, total))
        extra = extra[: round((total - n) * MOST_SEARCHED / n)]
        kept = np.r_[np.sort(mixed[:MOST_SEARCHED]), np.sort(extra)]
        return training.take(kept, MOST_SEARCHED)

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

    def _inner_folds(
        self, arm: str, training: TrainingRows, number: int
    ) -> Iterator[Fold]:
        n = training.n_labelled
        labelled, extra = training.rows[:n], np.arange(n, len(training.rows))
        # The inner folds are the same in every arm and method, for a fair comparison.
        rows = self.rows.take(labelled)
        for train, test in inner_splits(rows, self.inner_cv, self.seed + number):
            kept = extra
            if self.groups is not None:
                tested = self.groups[labelled[test]]
                kept = extra[~np.isin(self.groups[training.rows[extra]], tested)]
            own = training.take(np.r_[train, kept], len(train))
            yield self.tables.fold(arm, own, labelled[test])

    def _resolved(self, params: dict[str, Any], fold: Fold) -> dict[str, Any]:
        spread = 1.0
        if self.strata is None:
            spread = float(self.y[fold.train[: fold.n_labelled]].std())
        return resolve_candidate(
            params, fold.X_train.shape[1], fold.n_privileged, spread or 1.0
        )

    def fit(self, method: Method, params: dict[str, Any], fold: Fold) -> BaseEstimator:
        """Fit one candidate on the training rows of a fold."""
        model = seeded(method.build(), self.seed)
        model.set_params(**self._resolved(params, fold))
        return fit_with(
            model,
            fold.X_train,
            self._targets(fold.train, fold.n_labelled),
            privileged=fold.privileged,
            sample_weight=of_rows(self.sample_weight, fold.train),
        )

    def _targets(self, rows: np.ndarray, n_labelled: int) -> np.ndarray:
        """Return y of some rows, missing after the first ``n_labelled``."""
        if n_labelled == len(rows):
            # Classes of a target with missing values have the dtype object.
            return np.array(self.y[rows].tolist())
        values = self.y[rows].astype(object if self.strata is not None else float)
        values[n_labelled:] = None if self.strata is not None else np.nan
        return values

    def score(
        self,
        model: BaseEstimator,
        fold: Fold,
        *,
        groups: bool = False,
        scorer: Callable[..., float] | None = None,
    ) -> tuple[float, list[float] | None]:
        """Score a model on the test rows of a fold, and if wanted on groups of them."""
        return score_rows(
            scorer or self.scorer,
            model,
            fold.X_test,
            self.y[fold.test],
            of_rows(self.sample_weight, fold.test),
            self.group_of_row[fold.test] if groups else None,
            self.n_groups,
        )

    def constant_scores(
        self, scorer: Callable[..., float] | None = None
    ) -> list[tuple[float, list[float] | None]] | None:
        """Score predicting the mean or the class frequencies, as `score` does."""
        y, weight = np.array(self.y.tolist()), self.sample_weight
        nothing, scores = np.zeros((len(y), 1)), []
        for train, test, _ in self.splits:
            model = constant_model(self.task)
            model.fit(nothing[train], y[train], of_rows(weight, train))
            rows = nothing[test], self.y[test], of_rows(weight, test)
            groups = self.group_of_row[test], self.n_groups
            try:
                scores.append(score_rows(scorer or self.scorer, model, *rows, *groups))
            except Exception:
                # A scorer of the user may need other methods of a model.
                return None
        return scores

    def random_scores(self, name: str) -> list[float]:
        """Return the mean average precision of random rankings of each test set.

        ``name`` is that of the score, with the class if there are several.
        """
        label = name.partition(" of ")[2] or self.settings["second"]["class"]
        tests = (self.y[split.test].astype(str) == label for split in self.splits)
        return [random_average_precision(of_class) for of_class in tests]

    def at_full_size(self, names: Sequence[str]) -> Study:
        """Return the study of some methods at the size of the final model."""
        assert self.full_splits is not None
        sizes = self.sizes(self.full_splits, "time" if self.by_time else None)
        sizes |= {"train_size": None, "labelled": None, "given": False}
        sizes |= {"outcome_time": None, "n_windows": len(self.full_splits)}
        sizes["instead_of"] = training_rows(self.settings["splits"])
        tested = np.cumsum([len(split.test) for split in self.full_splits])
        n_folds = int(np.searchsorted(tested, sizes["n_tested"])) + 1
        sizes["n_folds"] = None if self.by_time else n_folds
        return replace(
            self,
            methods=[self.method(name) for name in names],
            splits=self.full_splits,
            full_splits=None,
            settings=self.settings
            | {"splits": self.settings["splits"] | sizes, "order": {}},
        )

    def possible(self, time: np.ndarray | None) -> dict[str, Any]:
        """Return the suggestions with which the comparison can be run.

        ``time`` has the times of the rows that would be suggested. ``train_size`` and
        ``labelled`` are sizes, ``cv`` a number of windows, if it is another one, and
        ``left_out`` the classes without which they can be drawn, ``windows`` a number
        instead of one or two, ``groups`` a column that identifies groups, ``group`` the
        same if there are splits of whole groups, ``group_cv`` their number, if it is
        another one, and ``group_all`` whether they are of all rows instead. The others
        are whether splits exist: by time (or "all rows", if not of this size, or "no
        groups", if not with groups), of all rows, and with inner folds for a search.
        """
        found: dict[str, Any] = {"search": self._can_draw(searched=True)}
        if not isinstance(self.drawn["cv"], int | np.integer | None):
            return found
        n_labelled = int(self.has_y.sum())
        sizes = [n_labelled // 4]
        if n_labelled >= 4 * FEW_ROWS:
            sizes = [FEW_ROWS * 2**k for k in range(8) if FEW_ROWS * 2**k <= sizes[0]]
        small, names = self.drawn["train_size"], ["train_size", "labelled"]
        if isinstance(small, int | np.integer):
            sizes, names = [int(small)], ["labelled"]
        elif small or self.drawn["labelled"]:
            names = []
        for name in names:
            none = {"train_size": None, "labelled": None}
            fitting = (n for n in sizes if self._can_draw(**none | {name: n}))
            found[name] = next((n for n in fitting if n >= FEWEST_ROWS), None)
        if time is not None and not self.by_time:
            wanted = {"times": (time, None)}
            every = wanted | {"train_size": None, "labelled": None}
            found["time"] = self._can_draw(**wanted)
            if not found["time"]:
                drawn, cv = self._number(**every)
                if drawn:
                    found |= {"time": "all rows", "cv": cv}
                elif replace(self, groups=None)._can_draw(**wanted):
                    found["time"] = "no groups"
                elif left_out := self._left_out(**every):
                    found |= {"time": "all rows", "left_out": left_out}
        if self.by_time and len(self.splits) < FEWEST_WINDOWS:
            more = range(DEFAULT_WINDOWS, FEWEST_WINDOWS - 1, -1)
            enough = (n for n in more if self._n_drawn(cv=n) == n)
            found["windows"] = next(enough, None)
        found["all"] = self._can_draw(train_size=None, labelled=None)
        return found | self._group()

    def _group(self) -> dict[str, Any]:
        """Return a column of X that identifies groups, and folds that can be drawn."""
        from lupi.evaluation._measures import group_columns

        table = self.X
        found: dict[str, Any] = {}
        if self.groups is not None or not is_data_frame(table):
            return {}
        small = self.drawn["train_size"] or self.drawn["labelled"]
        for name in group_columns(table) if table.shape[1] > 1 else ():
            groups = np.unique(table[name].astype(str), return_inverse=True)[1]
            if table[name].isna().any() or not self._shares(groups):
                continue
            found.setdefault("groups", str(name))
            of_groups = replace(self, groups=groups)
            own = {"groups": str(name), "group": str(name)}
            if small and of_groups._can_draw():
                return own
            drawn, cv = of_groups._number(train_size=None, labelled=None)
            if drawn:
                return own | {"group_cv": cv, "group_all": bool(small)}
        return found

    def _shares(self, groups: np.ndarray) -> bool:
        """Return whether training and test rows of a split are of the same group."""
        return any(
            np.isin(groups[test], groups[train]).any() for train, test, _ in self.splits
        )

    def _number(self, **changes: Any) -> tuple[bool, int | None]:
        """Return whether splits can be drawn, and their number if it is another one."""
        for cv in (self.drawn["cv"], *range(DEFAULT_FOLDS - 1, 0, -1)):
            if self._can_draw(**changes, cv=cv):
                return True, None if cv == self.drawn["cv"] else cv
        return False, None

    def _left_out(self, **changes: Any) -> list[Any]:
        """Return a few rare classes without which splits can be drawn."""

        def of_classes(rare: Sequence[Any]) -> np.ndarray:
            return np.array([label in rare for label in self.y])

        def draw(cv: int | None, rare: Sequence[Any]) -> object:
            kept = replace(self, has_y=self.has_y & ~of_classes(rare))
            return kept.draw(**changes, cv=cv)

        rare = without_classes(draw, self.drawn["cv"], [])
        few = of_classes(rare)[self.has_y].mean() <= MOST_LEFT_OUT
        several = len(np.unique(self.y[self.has_y])) - len(rare) > 1
        return rare if few and several else []

    def _can_draw(self, **changes: Any) -> bool:
        """Return whether other splits can be drawn."""
        return self._n_drawn(**changes) > 0

    def _n_drawn(self, **changes: Any) -> int:
        with suppress(ValueError):
            return len(self.draw(**changes))
        return 0

    def draw(self, **changes: Any) -> list[Split]:
        """Return windows of time, few labels, small training sets or folds.

        They are tested on clean rows, and have inner folds if there is a search.
        """
        asked = self.drawn | changes
        cv, times, labelled = asked["cv"], asked["times"], asked["labelled"]
        own = self.rows, self.has_y
        if times is not None:
            splits = time_splits(
                *(times[0], times[1], self.rows, self.has_y),
                DEFAULT_WINDOWS if cv is None else int(cv),
                train_size=asked["train_size"],
                labelled=labelled,
                unlabelled=asked["unlabelled"],
            )
        elif labelled is not None:
            n_splits = DEFAULT_SMALL_SPLITS if cv is None else int(cv)
            sizes = labelled, asked["unlabelled"], n_splits
            splits = few_labels(*own, *sizes, self.seed, searched=asked["searched"])
        else:
            size = asked["train_size"]
            splits = outer_splits(*own, cv, size, self.seed, searched=asked["searched"])
        if len(splits) < 2 and times is None:
            raise ValueError(
                f"cv gives {len(splits)} split, from which no standard error can be "
                "computed; give at least 2 splits, or the times of the rows "
                f"({argument('time')}), whose single split is tested in blocks."
            )
        if (clean := asked["clean"]) is not None:
            splits = [one._replace(test=one.test[clean[one.test]]) for one in splits]
            for rows in (self.rows.take(one.test) for one in splits):
                n_classes = 2 if rows.strata is None else len(np.unique(rows.strata))
                if rows.number < 2 or n_classes < 2:
                    raise ValueError(
                        f"{counted(clean.sum(), 'rows are')} known to be right by "
                        f"{argument('test_quality')}, too few: a split has "
                        f"{rows.number} of them as test rows, or a single class. Check "
                        "more rows, or use fewer splits."
                    )
        if asked["searched"] and self.rows.of_one_group([each[0] for each in splits]):
            raise ValueError(
                "A training set has rows of one group only, so that parameters cannot "
                "be chosen on inner folds that keep groups together; use more folds or "
                "larger training sets, or the default parameters with "
                f"{argument('n_candidates', 1)}."
            )
        return splits

    def draw_all(self) -> list[Split] | None:
        """Return the splits of a comparison of all rows with y; None with too few.

        They are those of `compare` with its defaults, as long as every class has five
        rows; by time, they are the same windows.
        """
        if self.drawn["times"] is not None:
            time = self.drawn["times"][0]
            return with_all_earlier(self.splits, time, self.rows, self.has_y)
        n_folds, own = DEFAULT_FOLDS, self.rows.take(self.has_y)
        if own.strata is not None:
            n_folds = min(n_folds, np.unique(own.strata, return_counts=True)[1].min())
        if own.groups is not None:
            n_folds = min(n_folds, own.n_groups)
        if n_folds < 2:
            return None
        for cv in range(n_folds, 1, -1):
            with suppress(ValueError):
                return self.draw(train_size=None, labelled=None, cv=cv)
        return None

    def sizes(self, splits: Sequence[Split], kind: Kind | None) -> dict[str, Any]:
        """Return the kind, the number and the sizes of splits.

        ``rarest`` is the class with the fewest training rows in a split, with its
        fewest and most, and ``windows`` has the first and the last time of the test
        rows of each split.
        """
        design, windows, rarest = describe_splits(splits, kind), None, None
        there, times = self.has_privileged, self.drawn["times"]
        sizes = {
            "n_train": [len(one.train) for one in splits],
            "n_unlabelled": [int(there[one.unlabelled].sum()) for one in splits],
            "n_test": [len(one.test) for one in splits],
            "n_train_privileged": [int(there[one.train].sum()) for one in splits],
        }
        if times is not None:
            tested = [times[0][one.test] for one in splits]
            windows = [[float(part.min()), float(part.max())] for part in tested]
            if times[1] is not None:
                # Outcomes that were not known when the test rows began.
                sizes["n_late"] = [
                    len(one.train) - int((times[1][one.train] < first).sum())
                    for one, (first, _) in zip(splits, windows, strict=True)
                ]
        if self.strata is not None:
            found = []
            for label in np.unique(self.y[self.has_y]):
                counts = [int((self.y[one.train] == label).sum()) for one in splits]
                found.append((str(label), min(counts), max(counts)))
            rarest = min(found, key=itemgetter(1, 2))
        return {
            "kind": design.kind,
            "n_splits": len(splits),
            **{name: float(np.mean(each)) for name, each in sizes.items()},
            **{f"{name}_range": (min(each), max(each)) for name, each in sizes.items()},
            "train_privileged": sizes["n_train_privileged"],
            "n_tested": design.n_tested,
            "overlap": design.overlap,
            "shared": design.shared,
            "windows": windows,
            "rarest": rarest,
        }

    def describe_labels(self, sizes: Mapping[str, Any]) -> dict[str, Any]:
        """Count the rows with y, and measure how the rows without y differ."""
        count, usable = int(self.has_y.sum()), self.has_privileged & ~self.has_y
        used = [int(usable[one.unlabelled].sum()) for one in self.splits]
        labels: dict[str, Any] = {
            "n_labelled": count,
            "n_unlabelled": len(self.y) - count,
            "n_usable": int(usable.sum()),
            "n_used_range": (min(used), max(used)),
            "n_train_unlabelled": sizes["n_unlabelled"],
            "auc": np.nan,
        }
        if count < len(self.y):
            from lupi.transfer import label_propensity
            from lupi.transfer._propensity import WARN_ABOVE

            target = np.where(self.has_y, 0.0, np.nan)
            labels["later"] = self._later_share()
            with warnings.catch_warnings():
                # The warning below says what the times of the rows do.
                warnings.simplefilter("ignore")
                found = label_propensity(self.X, target, privileged=self.privileged)
            labels["auc"] = found.auc
            if labels["auc"] > WARN_ABOVE:
                warnings.warn(
                    f"{unlike_words(labels)} Examine the columns in which they differ. "
                    "From Python, compare(..., sample_weight=lupi.transfer."
                    "label_propensity(X, y, privileged=privileged).sample_weight) "
                    "weights the rows.",
                    stacklevel=4,
                )
        return labels

    def _later_share(self) -> float | None:
        """Return the share of the rows without y after the median of those with y.

        Without times these are those of a column; None if none has times of the rows.
        """
        if self.drawn["times"] is not None:
            times = self.drawn["times"][0]
        else:
            from lupi.evaluation import _order

            columns = dict(_order.columns_of(self.X, column_names(self.X, "x")))
            found, *_ = _order.times_of_rows(columns, {})
            if not found:
                return None
            times, _ = _order.read_time(columns[found[0]], len(self.y), found[0])
        middle = np.nanmedian(times[self.has_y])
        return float(np.nanmean(times[~self.has_y] > middle))

    def final_rows(self, name: str, arm: str) -> TrainingRows:
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
            fold = self.tables.fold(arm, training, labelled)
            model = seeded(method.build(), self.seed)
            model.set_params(**self._resolved(params, fold))
            more = {"sample_weight": self.sample_weight}
            if arm == "with":
                later = make_transformer(self.privileged, training.most_categories)
                model = TransformedPrivileged(model, later)
                more["privileged"] = self.privileged
            known = make_transformer(self.X, training.most_categories)
            pipeline = Pipeline([("prepare", known), ("model", model)])
            if refit:
                given = {
                    f"model__{key}": take_rows(values, rows)
                    for key, values in more.items()
                    if values is not None
                }
                y = self._targets(rows, training.n_labelled)
                pipeline.fit(take_rows(self.X, rows), y, **given)
        return pipeline


def plan(
    X: Any,
    y: Any,
    privileged: Any = None,
    *,
    methods: Any = "default",
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    time: Any = None,
    outcome_time: Any = None,
    train_size: int | float | None = None,
    labelled: int | None = None,
    unlabelled: int = 1000,
    sample_weight: Any = None,
    test_quality: Any = None,
    n_candidates: int = 12,
    inner_cv: int = 3,
    task: Task | None = None,
    negligible: float = 0.01,
    random_state: int = 0,
) -> Study:
    """Check the arguments of `compare` and return the study, without fitting anything.

    Without ``privileged`` the study can only give the final estimator of a method
    without X*.
    """
    check_score_name(scoring)
    target_name = str(getattr(y, "name", None) or "y")
    X, methods = as_table(X, "X"), as_list(methods)
    n_rows = X.shape[0]
    if privileged is not None:
        privileged = aligned(X, as_table(privileged, "privileged"))
    check_lengths(
        n_rows,
        y=y,
        privileged=privileged,
        groups=groups,
        sample_weight=sample_weight,
        test_quality=test_quality,
    )
    has_privileged = np.zeros(n_rows, dtype=bool)
    if privileged is not None:
        has_privileged = rows_with_values(privileged)
        if not has_privileged.any():
            raise ValueError(
                "privileged has no value in any row, so that there is nothing to "
                "compare; check that the privileged columns were read."
            )
    y, has_y, task = _read_target(y, n_rows, task, methods)
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, dtype=float)
    if groups is not None:
        groups = np.unique(read_groups(groups, n_rows), return_inverse=True)[1]
    kind: Kind | None = None
    if labelled is not None:
        kind = "few labels"
        _check_few_labels(labelled, unlabelled, train_size, cv)
    times, dated = _read_times(n_rows, time, outcome_time, cv)
    if times is not None:
        kind = "time"
    clean, searched = None, False
    if n_candidates > 1:
        named = choose_methods(methods, task)
        searched = any(each.space or each.privileged_space for each in named)
    if test_quality is not None:
        clean = has_y & (np.asarray(test_quality, dtype=float) > 0)
    if isinstance(cv, Iterable):
        cv = list(cv)
    study = Study(
        X=X,
        y=y,
        has_y=has_y,
        privileged=privileged,
        has_privileged=has_privileged,
        task=task,
        groups=groups,
        sample_weight=sample_weight,
        n_candidates=n_candidates,
        inner_cv=inner_cv,
        seed=random_state,
        drawn={
            "times": times,
            "cv": cv,
            "train_size": train_size,
            "labelled": labelled,
            "unlabelled": unlabelled,
            "clean": clean,
            "searched": searched,
        },
    )
    study.splits = study.draw()
    sizes = study.sizes(study.splits, kind)
    # Expanding windows reach the full size by themselves.
    smaller = times is None or times[1] is not None
    smaller |= labelled is not None or train_size is not None
    if smaller and sizes["n_train"] < SMALL * has_y.sum():
        study.full_splits = study.draw_all()
    labels = study.describe_labels(sizes)
    name, study.scorer = choose_scorer(scoring, task, y[has_y])
    study.methods = choose_methods(methods, task, sizes["n_train"])
    for method in study.methods:
        method.check_space()
    given, n_folds = not isinstance(cv, int | np.integer | None), None
    if not given and kind is None and train_size is None:
        n_folds = DEFAULT_FOLDS if cv is None else int(cv)
    n_windows, tests = None, []
    if times is not None:
        n_windows = cv or DEFAULT_WINDOWS
        tests = tests_by_time(times[0], np.flatnonzero(has_y), n_windows)
    classes: Any = None
    second: dict[str, Any] | None = None
    if task == "classification":
        classes = np.unique(y[has_y], return_counts=True)
        if name != AVERAGE_PRECISION:
            tested = [len(split.test) for split in study.splits]
            second, study.also = rare_scorers(y[has_y], tested)
        if name != "accuracy":
            study.also["accuracy"] = get_scorer("accuracy")
    study.settings = {
        "task": task,
        "scoring": name,
        "second": second,
        "optimum": best_score(study.scorer),
        "target": target_name,
        "classes": None if classes is None else classes[0].tolist(),
        "shares": None if classes is None else (classes[1] / has_y.sum()).tolist(),
        "n_rows": n_rows,
        "labels": labels,
        "n_privileged_rows": int(has_privileged.sum()),
        "n_clean": None if clean is None else int(clean.sum()),
        "base_models": {each.name: each.base_model for each in study.methods},
        "noisy": [each.name for each in study.methods if each.noisy_labels],
        "features": column_names(X, "x"),
        "privileged": [] if privileged is None else column_names(privileged, "x*"),
        "splits": {
            **sizes,
            "n_folds": n_folds,
            "train_size": train_size,
            "labelled": labelled,
            "time": None if times is None else str(getattr(time, "name", "time")),
            "outcome_time": None
            if outcome_time is None
            else str(getattr(outcome_time, "name", "outcome_time")),
            "dated": dated,
            "n_times": None if times is None else len(np.unique(times[0][has_y])),
            "n_windows": n_windows,
            "n_single": sum(len(test) < 2 for test in tests),
            "given": given,
            "grouped": groups is not None,
            "weighted": sample_weight is not None,
        },
        "search": {
            "n_candidates": n_candidates,
            "inner_cv": inner_cv,
            "n_rows": MOST_SEARCHED if sizes["n_train"] > MOST_SEARCHED else None,
            "has_parameters": searched,
        },
        "negligible": negligible,
        "random_state": random_state,
    }
    return study


def _read_target(
    y: Any, n_rows: int, task: Task | None, methods: list[Any]
) -> tuple[np.ndarray, np.ndarray, Task]:
    """Return y, which rows have one, and the task."""
    labels = read_target(y, n_rows, "compare", numeric=False, missing=True)
    has_y = np.ones(n_rows, dtype=bool)
    if labels.unlabelled is not None:
        has_y = ~labels.unlabelled
    values = labels.values
    task = task or read_task(values[has_y], methods)
    if task == "regression":
        try:
            values = values.astype(float)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"The target contains {values[has_y][0]!s}, which is not a number; "
                "regression needs numbers."
            ) from error
        values[~has_y] = np.nan
    if len(np.unique(values[has_y])) < 2:
        raise ValueError(
            f"The target is constant ({values[has_y][0]!s}); give a target that varies."
        )
    return values, has_y, task


def _read_times(
    n_rows: int, time: Any, outcome_time: Any, cv: Any
) -> tuple[Times | None, bool]:
    """Return the times of rows and outcomes, if given, and whether they are dates."""
    if time is None:
        if outcome_time is not None:
            raise ValueError(
                f"{argument('outcome_time')} was given without {argument('time')}; "
                "give the times of the rows as well."
            )
        return None, False
    if cv is not None and not isinstance(cv, int | np.integer):
        raise ValueError(
            f"{argument('time')} makes its own splits; give cv as the number of "
            "windows, or leave one of them out."
        )
    if cv is not None and cv < 1:
        raise ValueError(f"{argument('cv', cv)}: give at least one window.")
    from lupi.evaluation._order import read_time  # needs pandas

    times, dated = read_time(time, n_rows, argument("time"))
    missing = int(np.isnan(times).sum())
    if missing:
        raise ValueError(
            f"{argument('time')}: {counted(missing, 'rows have')} no time; fill these "
            "cells, or leave them out."
        )
    if np.ptp(times) == 0:
        raise ValueError(
            f"{argument('time')} is the same in every row; give times that differ."
        )
    if outcome_time is None:
        return (times, None), dated
    known_at, known_dated = read_time(outcome_time, n_rows, argument("outcome_time"))
    if known_dated != dated:
        raise ValueError(
            f"{argument('time')} and {argument('outcome_time')} must both be dates or "
            "both be numbers."
        )
    return (times, known_at), dated


def _check_few_labels(labelled: Any, unlabelled: Any, train_size: Any, cv: Any) -> None:
    for name, value in (("labelled", labelled), ("unlabelled", unlabelled)):
        if not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(
                f"{name}={value!r}: give a number of rows, as an integer that is not "
                "negative."
            )
    if train_size is not None:
        raise ValueError(
            f"{argument('labelled', labelled)} and "
            f"{argument('train_size', train_size)} both draw training rows; give one "
            "of them."
        )
    if cv is not None and not isinstance(cv, int | np.integer):
        raise ValueError(
            f"labelled={labelled} draws its own splits; give cv as their number, or "
            "leave labelled out."
        )


def unlike_words(labels: Mapping[str, Any]) -> str:
    """Return how rows with and without y differ."""
    when = "The rows without y may be more recent, or may have been selected."
    if labels.get("later") is not None:
        when = (
            f"{percent(labels['later'])} of the rows without y are later than the "
            "median of those with y."
        )
    return (
        f"Rows with y ({labels['n_labelled']:,}) and without "
        f"({labels['n_unlabelled']:,}) are not alike: a classifier separates them by X "
        f"and X* with an AUC of {labels['auc']:.2f}. {when} Scores on rows with y need "
        "not be valid for the others."
    )
