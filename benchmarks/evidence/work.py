"""The units of work of the leaderboard: one split of one table at one number of labels.

Every unit scores a group of methods in all arms, on the splits that
`lupi.evaluation.compare(labelled=...)` draws: some rows train with y, half of the rest
(at most 1000) train without it or not at all, the others test. The arm *reshuffled* is
a second, independent shuffle of X*, which stands for *shuffled* where the shuffled X*
is itself the one in question; only the first methods have it.
"""

import time
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from sklearn import config_context
from sklearn.base import is_regressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from evidence import recipes
from lupi.base import uses_unlabelled
from lupi.evaluation._methods import MOST_KERNEL_ROWS, Method, all_methods
from lupi.evaluation._splits import Split
from lupi.evaluation._study import Piece, Study, plan

SEED = 0
# All runs draw so many splits, and begin with the first of them.
N_SPLITS = 20
INNER_FOLDS = 3
UNLABELLED = 1000
FEWEST_TEST_ROWS = 60
OUTSIDE = "HistGradientBoosting"
# The most splits are spent on these; many rows take the linear forms.
FIRST = (
    "HedgedDistillationClassifier",
    "HedgedDistillationRegressor",
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "SVCPlus",
    "SVCDeltaPlus",
    "SVRPlus",
)
CLASSES, NUMBERS = "classification", "regression"
BOOSTING = {
    "learning_rate": [0.03, 0.1, 0.3],
    "max_leaf_nodes": [4, 8, 16],
    "min_samples_leaf": [3, 5, 10],
}


@dataclass(frozen=True)
class Unit:
    """One split of one table: which methods (``part``) at how many labels."""

    part: str
    table: str
    n_labels: int
    split: int

    @property
    def key(self):
        """The name of the unit in the file of results."""
        return f"{self.part}:{self.table}:{self.n_labels}:{self.split}"


@dataclass(frozen=True)
class Budget:
    """How much is run: candidates of every search, and phases in their order.

    A phase is a part, a number of labels and a range of splits.
    """

    n_candidates: int
    phases: tuple


FULL = Budget(
    4,
    (
        ("first", 60, range(20)),
        ("first", 200, range(10)),
        ("others", 60, range(10)),
        ("others", 200, range(5)),
        ("first", 600, range(5)),
    ),
)
QUICK = Budget(2, (("first", 60, range(5)),))


def units(tables, budget):
    """Return all units: phase by phase, then split by split over all tables."""
    return [
        Unit(part, name, n_labels, split)
        for part, n_labels, splits in budget.phases
        for split in splits
        for name, table in tables.items()
        if len(table.y) >= n_labels + FEWEST_TEST_ROWS
        and _methods(part, table.task, n_labels)
    ]


# -- methods -----------------------------------------------------------------------


def _recipe(kind, task, family):
    return Method(kind.__name__, task, estimator=kind(), family=family)


@lru_cache
def _methods(part, task, n_labels):
    """Return the methods of a part, those of one family beside each other."""
    known = {
        each.name: each
        for each in all_methods()
        if each.task == task and each.comparable
    }
    first = [known[name] for name in FIRST if name in known]
    if part == "first":
        kinds = (recipes.PASTClassifier, recipes.CoupledClassifier)
        if task == NUMBERS:
            kinds = (recipes.PASTRegressor, recipes.CoupledRegressor)
        family = first[0].baseline
        beside = [_recipe(kind, task, family) for kind in kinds]
        if n_labels > MOST_KERNEL_ROWS:
            first = [known.get(f"Linear{each.name}", each) for each in first]
        return [first[0], *beside, *first[1:]]
    others = [each for each in known.values() if each not in first]
    if task == CLASSES:
        others.append(lufe())
    return others


def lufe():
    """Return LUFe with the space of SVM+; its X* is X."""
    model = next(each for each in all_methods() if each.name == "SVCPlus")
    space = {key: model.space[key] for key in ("C", "kernel", "gamma")}
    own = {"privileged_reg": model.privileged_space["privileged_reg"]}
    return Method(
        "LUFe", CLASSES, recipes.UnselectedFeatures(), space, own, family="LUFe"
    )


def boosting(task):
    """Return gradient boosting, the outside baseline: it takes no X*."""
    kinds = {
        CLASSES: HistGradientBoostingClassifier,
        NUMBERS: HistGradientBoostingRegressor,
    }
    return Method(
        OUTSIDE,
        task,
        estimator=kinds[task](max_iter=50, early_stopping=False),
        space=BOOSTING,
    )


def methods_from(kind):
    """Return somebody's estimator as methods, by task; it has the parameters it has."""
    model = kind() if isinstance(kind, type) else kind
    if not hasattr(model, "fit"):
        raise TypeError(f"{kind!r} has no fit(X, y, privileged=).")
    task = NUMBERS if is_regressor(model) else CLASSES
    return {task: (Method(type(model).__name__, task, estimator=model),)}


# -- one unit ----------------------------------------------------------------------


class Reshuffled(Study):
    """The same study with other shuffles of X*."""

    def _rng(self, *keys):
        return super()._rng(*(("again", *keys) if keys[0] == "shuffled" else keys))

    def run(self, piece):
        """Do the arm *shuffled* of one method."""
        with (
            warnings.catch_warnings(),
            config_context(skip_parameter_validation=True),
        ):
            warnings.simplefilter("ignore")
            line = self.run_arm(self.method(piece.name), "shuffled", piece.split)
        return line | {"arm": "reshuffled"}


@lru_cache(maxsize=8)
def _study(job, part, n_labels, n_candidates, n_splits):
    table = job.table
    methods = job.extra or _methods(part, table.task, n_labels)
    if part == "first":
        methods = [*methods, boosting(table.task)]
    return plan(
        table.X,
        table.y,
        table.privileged,
        methods=list(methods),
        task=table.task,
        labelled=n_labels,
        unlabelled=UNLABELLED,
        cv=n_splits,
        n_candidates=n_candidates,
        inner_cv=INNER_FOLDS,
        random_state=SEED,
    )


class Job:
    """A table and methods of one's own, compared by what they are."""

    def __init__(self, table, extra=()):
        self.table, self.extra = table, tuple(extra)
        self._key = (table.name, table.digest, tuple(each.name for each in extra))

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return self._key == other._key


def labels_only(study):
    """Return the study without the rows that train without y."""
    return replace(study, splits=[Split(s.train, s.test) for s in study.splits])


def run(unit, table, n_candidates, extra=(), n_splits=N_SPLITS):
    """Do one unit and return its lines, one per method, regime and arm.

    Methods share the arms *without* and *oracle* of their family, which stand under its
    name and the regime "family". The other methods find those of the first ones done.
    """
    start = time.process_time()
    job = Job(table, extra)
    whole = _study(job, unit.part, unit.n_labels, n_candidates, n_splits)
    few = labels_only(whole)
    had = set()
    if unit.part == "others":
        first = _methods("first", table.task, unit.n_labels)
        had = {each.baseline for each in first}
    lines, errors = [], {}

    def keep(result, method, regime):
        if result["error"] is not None:
            errors[f"{method.name} ({regime})"] = result["error"]
        lines.extend(_line(line, method, regime) for line in result["lines"])

    for name, method in few.representatives.items():
        if name not in had:
            study = _on_itself(few) if name == "LUFe" else few
            keep(study.run(Piece("family", name, unit.split)), method, "family")
    for method in whole.methods:
        if method.name == OUTSIDE:
            continue
        regimes = {"labelled": few}
        if uses_unlabelled(method.build()):
            regimes["unlabelled"] = whole
        if method.name == "LUFe":
            regimes = {"labelled": _on_itself(few)}
        for regime, study in regimes.items():
            piece = Piece("method", method.name, unit.split)
            result = study.run(piece)
            if result["error"] is None and unit.part != "others":
                fields = {each: getattr(study, each) for each in _FIELDS}
                result["lines"].append(Reshuffled(**fields).run(piece))
            keep(result, method, regime)
    split = whole.splits[unit.split]
    return {
        "lines": lines,
        "errors": errors,
        "n_test": len(split.test),
        "n_unlabelled": len(split.unlabelled),
        "seconds": round(time.process_time() - start, 3),
    }


_FIELDS = tuple(Study.__dataclass_fields__)


def _on_itself(study):
    return replace(
        study,
        privileged=study.X,
        has_privileged=np.ones(len(study.y), dtype=bool),
        methods=[study.method("LUFe")],
    )


def _line(line, method, regime):
    return {
        "method": method.baseline if regime == "family" else method.name,
        "family": method.baseline,
        "regime": regime,
        "arm": line["arm"],
        "score": round(line["score"], 6),
        "groups": [round(value, 5) for value in line["group_scores"]],
        "seconds": round(line["seconds"], 4),
    }
