"""The methods of the library in one table: what `compare` and `lupi methods` read.

A method is an estimator with what is needed to compare it fairly: the parameters worth
searching without X* (``space``), those that only matter with X*
(``privileged_space``), and the ``family`` it belongs to. Methods of one family are
the same model when ``privileged=None``, so their *without* and *oracle* rows are
computed once and shared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from scipy.stats import loguniform
from sklearn.base import BaseEstimator, is_regressor
from sklearn.linear_model import Ridge

from lupi.evaluation._method import Method, Task, kebab
from lupi.evaluation._spaces import PerFeature, SharedOver, TargetUnits

VAPNIK_VASHIST = "Vapnik & Vashist 2009, Neural Networks 22"
VAPNIK_IZMAILOV = "Vapnik & Izmailov 2015, JMLR 16"
THOMAS = "Thomas 2017, University of Sussex"
LOPEZ_PAZ = "Lopez-Paz et al. 2016, ICLR"
LI_IPL = "Li et al. 2018, IEEE TNNLS"
LARGEST_C = 100.0
# Few values, so that candidates with the same kernel share its Gram matrix.
SCALES = [PerFeature(value) for value in (0.1, 0.3, 1.0, 3.0)]

KERNEL_SPACE = {
    "kernel": ["rbf", "linear"],
    "C": loguniform(0.01, LARGEST_C),
    "gamma": SCALES,
}
PRIVILEGED_KERNEL_SPACE = {
    "privileged_kernel": ["rbf", "rbf", "linear"],
    "privileged_gamma": SCALES,
    "privileged_reg": loguniform(0.01, 100.0),
}
LINEAR_SPACE = {"C": loguniform(0.001, LARGEST_C)}
REGRESSION_SPACE = {
    "C": TargetUnits(loguniform(0.01, LARGEST_C)),
    "epsilon": TargetUnits([0.05, 0.2]),
}
LINEAR_PRIVILEGED_SPACE = {"privileged_reg": loguniform(0.01, 100.0)}
TREE_SPACE = {"max_depth": [1, 2, 3], "learning_rate": loguniform(0.03, 0.3)}
DISTILLATION_SPACE = {"student__alpha": loguniform(1.0, 1000.0)}
# Weight 0 ignores X*. A teacher that also sees X seldom knows more than its student,
# so few candidates go that way.
DISTILLATION_PRIVILEGED_SPACE = {
    "imitation_weight": [0.0, 0.5, 0.7, 0.85, 1.0],
    "teacher_view": ["privileged"] * 5 + ["both"],
}


def _kernel(name: str, paper: str, *, family: str = "svc", **more: Any) -> Method:
    options = {
        "space": KERNEL_SPACE,
        "privileged_space": PRIVILEGED_KERNEL_SPACE,
        "task": "classification",
    }
    return Method(name, home="lupi.svm", paper=paper, family=family, **options | more)


def _no_reg(**more: Any) -> dict[str, Any]:
    """Return the space of X* for models that fit an SVM there instead."""
    kept = {
        name: axis
        for name, axis in PRIVILEGED_KERNEL_SPACE.items()
        if name != "privileged_reg"
    }
    return kept | {"privileged_C": loguniform(0.01, LARGEST_C)} | more


_DELTA = {"delta": LARGEST_C}
# Where these models find no use for X* they are the SVM with (1 + Δ) times their C.
# Divided by that, every candidate can fall back on the SVM it is compared with.
_DELTA_C = {"C": SharedOver(1 + LARGEST_C)}

METHODS: tuple[Method, ...] = (
    _kernel("SVCPlus", VAPNIK_VASHIST),
    _kernel(
        "SVCDeltaPlus",
        VAPNIK_IZMAILOV,
        fixed=_DELTA,
        privileged_space=PRIVILEGED_KERNEL_SPACE | _DELTA_C,
    ),
    _kernel(
        "MarginTransferSVC",
        VAPNIK_IZMAILOV,
        fixed=_DELTA,
        privileged_space=_no_reg(**_DELTA_C),
    ),
    _kernel(
        "DeviationSVCPlus",
        VAPNIK_VASHIST,
        privileged_space=_no_reg(privileged_reg=loguniform(0.01, 100.0)),
    ),
    _kernel(
        "UnifiedSVC",
        THOMAS,
        fixed=_DELTA,
        privileged_space=PRIVILEGED_KERNEL_SPACE
        | {
            "similarity_kernel": ["rbf", "linear"],
            "similarity_gamma": SCALES,
            "similarity_reg": loguniform(0.01, 100.0),
            # Half of it is SVM+, whose cost is C itself: the middle between both.
            "C": SharedOver((1 + LARGEST_C) ** 0.5),
        },
    ),
    _kernel("L2SVCPlus", "Li et al. 2016, CVPR", family="svc-l2"),
    Method(
        "LinearSVCPlus",
        "classification",
        home="lupi.svm",
        space=LINEAR_SPACE,
        privileged_space=LINEAR_PRIVILEGED_SPACE,
        family="svc-linear",
        paper=VAPNIK_VASHIST,
    ),
    Method(
        "LinearSVCDeltaPlus",
        "classification",
        home="lupi.svm",
        fixed=_DELTA,
        space=LINEAR_SPACE,
        privileged_space=LINEAR_PRIVILEGED_SPACE | _DELTA_C,
        family="svc-linear",
        paper=VAPNIK_IZMAILOV,
    ),
    Method(
        "KnowledgeTransferClassifier",
        "classification",
        home="lupi.transfer",
        fixed={"final": "lupi.svm.SVCDeltaPlus"},
        space={
            "final__kernel": ["rbf", "linear"],
            "final__C": loguniform(0.01, LARGEST_C),
        },
        # The last stage is an SVMΔ+ with Δ = 10.
        privileged_space=_no_reg(final__C=SharedOver(11.0), passthrough=[False, True]),
        paper=VAPNIK_IZMAILOV,
    ),
    Method(
        "GeneralizedDistillationClassifier",
        "classification",
        home="lupi.transfer",
        fixed={"student": Ridge()},
        space=DISTILLATION_SPACE,
        privileged_space=DISTILLATION_PRIVILEGED_SPACE,
        paper=LOPEZ_PAZ,
    ),
    Method(
        "IPLClassifier",
        "classification",
        home="lupi.boosting",
        space=TREE_SPACE,
        privileged_space={
            "privileged_weight": loguniform(0.01, 100.0),
            "privileged_reg": loguniform(0.001, 10.0),
        },
        paper=LI_IPL,
    ),
    Method(
        "GBPlusClassifier",
        "classification",
        home="lupi.boosting",
        space=TREE_SPACE,
        paper="Pasunuri et al. 2016, IJCAI workshop",
    ),
    _kernel(
        "SVRPlus",
        VAPNIK_VASHIST,
        family="svr",
        task="regression",
        space=KERNEL_SPACE | REGRESSION_SPACE,
    ),
    Method(
        "LinearSVRPlus",
        "regression",
        home="lupi.svm",
        space=REGRESSION_SPACE,
        privileged_space=LINEAR_PRIVILEGED_SPACE,
        family="svr-linear",
        paper=VAPNIK_VASHIST,
    ),
    Method(
        "GeneralizedDistillationRegressor",
        "regression",
        home="lupi.transfer",
        fixed={"student": Ridge()},
        space=DISTILLATION_SPACE,
        privileged_space=DISTILLATION_PRIVILEGED_SPACE,
        paper=LOPEZ_PAZ,
    ),
    Method(
        "IPLRegressor",
        "regression",
        home="lupi.boosting",
        space=TREE_SPACE,
        privileged_space={
            "privileged_weight": loguniform(0.01, 100.0),
            "privileged_reg": loguniform(0.001, 10.0),
        },
        paper=LI_IPL,
    ),
    Method(
        "FairSVCDeltaPlus",
        "classification",
        home="lupi.svm",
        paper=THOMAS,
        needs="sensitive features",
        comparable=False,
    ),
    Method(
        "HardMarginSVC",
        "classification",
        home="lupi.svm",
        paper="Vapnik 1998, Statistical Learning Theory",
        needs="separable data",
        comparable=False,
    ),
    Method(
        "LUFeClassifier",
        "classification",
        home="lupi.compose",
        paper="Taylor et al. 2016, feature selection with unselected features",
        needs="X alone; makes its own X*",
        comparable=False,
    ),
    Method(
        "KnowledgeBasedSVC",
        "classification",
        home="lupi.advice",
        paper="Fung, Mangasarian & Shavlik 2002, NIPS",
        needs="rules",
        comparable=False,
    ),
    Method(
        "Adviceptron",
        "classification",
        home="lupi.advice",
        paper="Kunapuli et al. 2010, ECML",
        needs="rules",
        comparable=False,
    ),
)

DEFAULT_METHODS: dict[Task, tuple[str, ...]] = {
    "classification": (
        "GeneralizedDistillationClassifier",
        "SVCPlus",
        "SVCDeltaPlus",
    ),
    "regression": ("GeneralizedDistillationRegressor", "SVRPlus"),
}
# Beyond this many training rows the default set takes the linear forms, whose cost
# grows with the rows and not with their cube.
MOST_KERNEL_ROWS = 400
LINEAR_FORMS = {
    "SVCPlus": "LinearSVCPlus",
    "SVCDeltaPlus": "LinearSVCDeltaPlus",
    "SVRPlus": "LinearSVRPlus",
}


def find_method(name: str, task: Task = "classification") -> Method:
    """Return the method with a class name or its kebab form.

    The last word of a pair may be left out: ``"ipl"`` is the classifier or the
    regressor of that name, as the task asks.

    Examples
    --------
    >>> from lupi.evaluation._methods import find_method
    >>> find_method("svc-plus").name
    'SVCPlus'
    >>> find_method("ipl", "regression").name
    'IPLRegressor'
    """
    ending = {"classification": "Classifier", "regression": "Regressor"}[task]
    for method in METHODS:
        short = kebab(method.name.removesuffix(ending))
        if name in (method.name, method.kebab, short, method.name.removesuffix(ending)):
            return method
    known = [method.name for method in METHODS] + [method.kebab for method in METHODS]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    names = ", ".join(method.kebab for method in METHODS if method.comparable)
    raise ValueError(f"There is no method {name!r}.{hint} The methods are {names}.")


def choose_methods(
    methods: str | Method | BaseEstimator | Iterable[Any],
    task: Task,
    n_train: float = 0,
) -> list[Method]:
    """Turn what the caller asked for into methods, checked against the task."""
    if isinstance(methods, str | Method | BaseEstimator | type):
        methods = [methods]
    listed: list[Method] = []
    for each in methods:
        if isinstance(each, str) and each in ("default", "all"):
            named = _named_set(each, task, n_train)
            listed += [method for method in named if method not in listed]
        elif not (isinstance(each, str) and find_method(each, task) in listed):
            listed.append(_as_method(each, task))
    chosen = _with_distinct_names(listed)
    if not chosen:
        raise ValueError("methods is empty; name at least one, or use 'default'.")
    for method in chosen:
        if method.task != task:
            raise ValueError(
                f"{method.name} is for {method.task}, but the target asks for {task}; "
                "leave it out, or set task= if the target was misread."
            )
        if not method.comparable:
            raise ValueError(
                f"{method.name} cannot be compared this way: it needs {method.needs}."
            )
    return chosen


def _named_set(name: str, task: Task, n_train: float) -> list[Method]:
    if name == "all":
        return [each for each in METHODS if each.task == task and each.comparable]
    forms = LINEAR_FORMS if n_train > MOST_KERNEL_ROWS else {}
    return [find_method(forms.get(each, each)) for each in DEFAULT_METHODS[task]]


def _as_method(given: Any, task: Task) -> Method:
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return find_method(given, task)
    if isinstance(given, type):
        return find_method(given.__name__)
    if not hasattr(given, "fit"):
        raise TypeError(
            f"methods takes names, estimators and Method objects, not {given!r}."
        )
    kind: Task = "regression" if is_regressor(given) else "classification"
    return Method(type(given).__name__, kind, estimator=given)


def _with_distinct_names(methods: list[Method]) -> list[Method]:
    seen: dict[str, int] = {}
    distinct = []
    for method in methods:
        seen[method.name] = count = seen.get(method.name, 0) + 1
        if count > 1:
            method = replace(
                method,
                name=f"{method.name} ({count})",
                estimator=method.build(),
                family=f"{method.baseline} ({count})",
            )
        distinct.append(method)
    return distinct
