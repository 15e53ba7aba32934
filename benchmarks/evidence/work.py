"""The units of work of the leaderboard: one split of one table at one number of labels.

Every unit scores the methods of a part in all arms, on the splits that
`lupi.evaluation.compare(labelled=...)` draws: some rows train with y, half of the rest
(at most 1000) train without it or not at all, the others test. The parts are

- ``core``: hedged distillation, PAST and coupled training, all with ridge regression
- ``boosted``: hedged distillation of boosted trees, and of ridge and boosted trees
- ``noise-six``, ``noise-time``: the noisy-label model, all training rows with labels
  that are wrong at rates which X* explains (`evidence.noise`); the test labels are
  right. Numbers are cut at their median. ``boosted-six``, ``boosted-time``: boosted
- ``tuned``: the rest of the default set of `compare`, and boosting without X*
- ``others``: all other methods

There are two arms beside those of `compare`: *ceiling*, the same model without X* that
is trained with the right y of all training rows; and *reshuffled*, with X* of other
rows, which stands for *shuffled* where the shuffled X* is itself the one in question.
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
from evidence.noise import scheme
from lupi import (
    HedgedDistillationClassifier,
    HedgedDistillationRegressor,
    NoisyLabelClassifier,
)
from lupi.base import uses_unlabelled
from lupi.evaluation._methods import MOST_KERNEL_ROWS, Method, all_methods
from lupi.evaluation._splits import Split
from lupi.evaluation._study import plan

SEED = 0
# All runs draw so many splits, and begin with the first of them.
N_SPLITS = 20
INNER_FOLDS = 3
UNLABELLED = 1000
FEWEST_TEST_ROWS = 60
OUTSIDE = "HistGradientBoosting"
# Many rows take the linear forms.
TUNED = (
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "SVCPlus",
    "SVCDeltaPlus",
    "SVRPlus",
)
# In this order the parts take the arms of a family from one another.
PARTS = ("core", "tuned", "others")
CLASSES, NUMBERS = "classification", "regression"
BOOSTING = {
    "learning_rate": [0.03, 0.1, 0.3],
    "max_leaf_nodes": [4, 8, 16],
    "min_samples_leaf": [3, 5, 10],
}
# Small trees: a hedge fits thirty of these models, the noisy-label model a hundred.
SMALL = {"max_iter": 30, "learning_rate": 0.15, "max_leaf_nodes": 8}
SMALL |= {"min_samples_leaf": 5, "early_stopping": False}


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
        ("core", 60, range(20)),
        ("core", 200, range(20)),
        ("noise-six", 600, range(10)),
        ("noise-time", 600, range(10)),
        ("boosted", 200, range(4)),
        ("boosted", 600, range(4)),
        ("tuned", 60, range(10)),
        ("noise-six", 1500, range(10)),
        ("noise-time", 1500, range(10)),
        ("core", 600, range(10)),
        ("boosted-six", 600, range(3)),
        ("boosted", 1500, range(4)),
        ("others", 60, range(5)),
        ("tuned", 200, range(5)),
        ("boosted-six", 1500, range(3)),
        ("boosted-time", 600, range(3)),
        ("others", 200, range(5)),
        ("tuned", 600, range(5)),
        ("boosted-time", 1500, range(3)),
    ),
)
QUICK = Budget(2, (("core", 60, range(5)), ("tuned", 60, range(5))))


def units(tables, budget):
    """Return all units: phase by phase, then split by split over all tables."""
    return [
        Unit(part, name, n_labels, split)
        for part, n_labels, splits in budget.phases
        for split in splits
        for name, table in tables.items()
        if len(table.y) >= n_labels + FEWEST_TEST_ROWS
    ]


# -- methods -----------------------------------------------------------------------


@lru_cache
def _methods(part, task, n_labels):
    """Return the methods of a part, those of one family beside each other."""
    known = {
        each.name: each
        for each in all_methods()
        if each.task == task and each.comparable
    }
    ending = "Classifier" if task == CLASSES else "Regressor"
    part, _, kind = part.partition("-")
    if kind:
        return [_noisy_labels(kind, boosted=part == "boosted")]
    if part == "boosted":
        return [_boosted(task, None), _boosted(task, "ridge")]
    hedged = known.pop(f"HedgedDistillation{ending}")
    if part == "core":
        kinds = [getattr(recipes, f"{name}{ending}") for name in ("PAST", "Coupled")]
        family = hedged.baseline
        beside = [Method(k.__name__, task, estimator=k(), family=family) for k in kinds]
        return [hedged, *beside]
    tuned = [known[name] for name in TUNED if name in known]
    if part == "tuned":
        if n_labels > MOST_KERNEL_ROWS:
            tuned = [known.get(f"Linear{each.name}", each) for each in tuned]
        return [*tuned, boosting(task)]
    # The X* of these tables says nothing about errors of labels.
    known.pop("NoisyLabelClassifier", None)
    others = [each for each in known.values() if each not in tuned]
    return [*others, lufe()] if task == CLASSES else others


def _boosted(task, beside):
    """Return hedged distillation with boosted students, and ridge ones beside them."""
    hedged = HedgedDistillationRegressor
    if task == CLASSES:
        hedged = HedgedDistillationClassifier
    # Boosted regressions of class indicators take a third of the time of classifiers.
    trees = HistGradientBoostingRegressor(**SMALL)
    student = trees if beside is None else [None, trees]
    name = "Hedged, boosted" if beside is None else "Hedged, ridge and boosted"
    return Method(name, task, estimator=hedged(student=student))


def _noisy_labels(kind, *, boosted):
    student = HistGradientBoostingClassifier(**SMALL) if boosted else None
    name = "NoisyLabel, boosted" if boosted else "NoisyLabel"
    model = NoisyLabelClassifier(student)
    return Method(name, CLASSES, estimator=model, family=f"{name}, {kind}")


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


@lru_cache(maxsize=8)
def _study(job, part, n_labels, n_candidates, n_splits):
    table = job.table
    return plan(
        table.X,
        table.y,
        table.privileged,
        methods=list(job.extra or _methods(part, table.task, n_labels)),
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
        names = tuple(each.name for each in extra)
        self._key = (table.name, table.digest, table.task, names)

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return self._key == other._key


def labels_only(study):
    """Return the study without the rows that train without y."""
    return replace(study, splits=[Split(s.train, s.test) for s in study.splits])


def all_labels(study):
    """Return the study with y of all training rows."""
    splits = [Split(np.r_[s.train, s.unlabelled], s.test) for s in study.splits]
    return replace(study, splits=splits)


def of_other_rows(study):
    """Return the study with X* of other rows of the table."""
    rows = np.random.default_rng(SEED).permutation(len(study.y))
    given = {"has_privileged": study.has_privileged[rows]}
    return replace(study, privileged=study.privileged[rows], **given)


def of_itself(study):
    """Return the study of LUFe, whose X* is X."""
    there = np.ones(len(study.y), dtype=bool)
    own = [study.method("LUFe")]
    return replace(study, privileged=study.X, has_privileged=there, methods=own)


def with_wrong_labels(study, kind, split):
    """Return the study with wrong labels of the training rows, and X* of the labels."""
    rng, rows = np.random.default_rng([SEED, split]), np.arange(len(study.y))
    rates, X_star, _ = scheme(kind, rng, len(rows))
    wrong = rng.random(len(rows)) < rates[rows, study.y.astype(int)]
    wrong &= np.isin(rows, study.splits[split].train)
    return replace(
        study,
        y=np.where(wrong, 1 - study.y, study.y),
        privileged=X_star,
        has_privileged=np.ones(len(rows), dtype=bool),
    )


def run(unit, table, n_candidates, extra=(), n_splits=N_SPLITS):
    """Do one unit and return its lines, one per method, regime and arm.

    Methods share the arms *without*, *oracle* and *ceiling* of their family, which
    stand under its name and the regime "family". A part finds those of the parts before
    it done.
    """
    start = time.process_time()
    part, _, kind = unit.part.partition("-")
    if kind and table.task == NUMBERS:
        table = replace(table, y=1.0 * (table.y > np.median(table.y)), task=CLASSES)
    job = Job(table, extra)
    whole = _study(job, unit.part, unit.n_labels, n_candidates, n_splits)
    few = labels_only(whole)
    lines, errors = [], {}

    def keep(study, method, regime, arms, name=None):
        try:
            done = _arms(study, method, arms, unit.split)
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
            errors[f"{method.name} ({regime})"] = error
            return
        lines.extend(_line(line, method, regime, name) for line in done)

    regimes, ceiling = {"labelled": few, "unlabelled": whole}, all_labels(whole)
    shared, arms = ("without", "oracle"), ("with", "shuffled", "self")
    if kind:
        regimes, ceiling = {kind: with_wrong_labels(few, kind, unit.split)}, few
        shared, arms = ("without",), ("with", "shuffled")
    elif part == "boosted":
        regimes, arms = {"unlabelled": whole}, ("with", "shuffled")
    had = set()
    for earlier in PARTS[: PARTS.index(part)] if part in PARTS else ():
        methods = _methods(earlier, table.task, unit.n_labels)
        had |= {each.baseline for each in methods}
    for name, method in whole.representatives.items():
        if name not in had:
            study = regimes.get(kind, few)
            study = of_itself(few) if name == "LUFe" else study
            keep(study, method, "family", shared)
            if part not in ("tuned", "others"):
                keep(ceiling, method, "family", ("without",), "ceiling")
    for method in whole.methods:
        if method.name == OUTSIDE:
            continue
        for regime, study in regimes.items():
            if regime == "unlabelled" and not uses_unlabelled(method.build()):
                continue
            study = of_itself(few) if method.name == "LUFe" else study
            keep(study, method, regime, arms)
            if part in ("core", "yours"):
                keep(of_other_rows(study), method, regime, ("with",), "reshuffled")
    split = whole.splits[unit.split]
    return {
        "lines": lines,
        "errors": errors,
        "n_test": len(split.test),
        "n_unlabelled": len(split.unlabelled),
        "seconds": round(time.process_time() - start, 3),
    }


def _arms(study, method, arms, split):
    """Run some arms; checking the parameters of many small fits would take time."""
    with (
        warnings.catch_warnings(),
        config_context(enable_metadata_routing=False, skip_parameter_validation=True),
    ):
        warnings.simplefilter("ignore")
        return [study.run_arm(method, arm, split) for arm in arms]


def _line(line, method, regime, name):
    return {
        "method": method.baseline if regime == "family" else method.name,
        "family": method.baseline,
        "regime": regime,
        "arm": name or line["arm"],
        "score": round(line["score"], 6),
        "groups": [round(value, 5) for value in line["group_scores"]],
        "seconds": round(line["seconds"], 4),
    }
