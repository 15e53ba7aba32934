"""What is compared: arms, methods, the task, and candidates of the search.

A method is an estimator with the parameters to search without X* (``space``), those to
search only with X* (``privileged_space``), and its ``family``. Methods of one family
are the same model when ``privileged=None``, so that “without X*” and the oracle are
computed once and shared. All of this is declared by the class of the model: see
`lupi.base.ModelInfo`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pkgutil import resolve_name
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_regressor

from lupi._words import argument
from lupi.base import ModelInfo, PerFeature, SharedOver, TargetUnits
from lupi.base._info import load_models

Task = Literal["classification", "regression"]

# With more training rows the default set has linear models instead of kernel models:
# their cost is linear in the number of rows, not cubic.
MOST_KERNEL_ROWS = 400
# Largest number of distinct whole numbers that are classes: more are grades or counts.
MOST_CLASSES = 10


@dataclass(frozen=True)
class Arm:
    """One way of running a method, with its label and explanation in reports."""

    name: str
    label: str
    meaning: str


ARMS = {
    arm.name: arm
    for arm in (
        Arm("without", "without X*", "the same model, trained without X*"),
        Arm("with", "with X*", "trained with X*, predicts from X: the method"),
        Arm(
            "shuffled",
            "shuffled X*",
            "trained with the rows of X* permuted, so that its content is lost",
        ),
        Arm(
            "self",
            "X as X*",
            "trained with X in the place of X*, so that only the method can gain",
        ),
        Arm(
            "oracle",
            "oracle",
            "a model that has X* when predicting too: the possible gain",
        ),
    )
}
# Modules of models that consist of trees.
TREES = ("lupi.boosting", "sklearn.ensemble", "sklearn.tree", "xgboost", "lightgbm")
# The models of the library without X*, by family.
BASE_MODELS = {
    "HedgedDistillationClassifier": "ridge regression of the classes",
    "HedgedDistillationRegressor": "ridge regression",
    "GeneralizedDistillationClassifier": "ridge regression of the classes with a "
    "searched penalty",
    "GeneralizedDistillationRegressor": "ridge regression with a searched penalty",
    "KnowledgeTransferClassifier": "a support vector machine",
    "NoisyLabelClassifier": "logistic regression",
    "svc": "a support vector machine",
    "svc-l2": "a support vector machine with squared slacks",
    "svc-linear": "a linear support vector machine",
    "svr": "support vector regression",
    "svr-linear": "linear support vector regression",
    "IPLClassifier": "gradient boosting",
    "IPLRegressor": "gradient boosting",
    "GBPlusClassifier": "gradient boosting",
}
# Methods of one family share the arms in which the method has no X*.
FAMILY_ARMS: tuple[str, ...] = ("without", "oracle")
METHOD_ARMS = tuple(name for name in ARMS if name not in FAMILY_ARMS)


@dataclass(frozen=True)
class Method:
    """One method as `compare` runs it.

    Parameters
    ----------
    name : str
        Name in tables and reports, usually that of the class.
    task : {"classification", "regression"}
        The task.
    estimator : estimator, default=None
        The estimator; not needed if ``kind`` is given.
    space, privileged_space : dict, default={}
        Parameters to search in every arm, and parameters to search only with X*.
        Values are lists or `scipy.stats` distributions.
    family : str, default=""
        Methods of one family are the same model without X*. Empty means the name.
    paper : str, default=""
        The paper of the method.
    needs : str, default="privileged"
        What the method needs besides X and y.
    kind : type, default=None
        The class, if no ``estimator`` is given.
    fixed : dict, default={}
        Parameters of ``kind`` that differ from its defaults. A string that starts with
        ``lupi.`` is replaced by an estimator of that name with its defaults.

    Examples
    --------
    >>> from lupi import SVCPlus
    >>> from lupi.evaluation import Method
    >>> linear = Method(
    ...     "linear SVM+",
    ...     "classification",
    ...     estimator=SVCPlus(kernel="linear"),
    ...     space={"C": [0.1, 1, 10]},
    ...     privileged_space={"privileged_reg": [0.1, 1, 10]},
    ... )
    >>> linear.build()
    SVCPlus(kernel='linear')
    """

    name: str
    task: Task
    estimator: BaseEstimator | None = None
    space: Mapping[str, Any] = field(default_factory=dict)
    privileged_space: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""
    paper: str = ""
    needs: str = "privileged"
    kind: type | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kebab(self) -> str:
        """The name on the command line: ``svc-plus`` for ``SVCPlus``."""
        return _kebab(self.name)

    @property
    def baseline(self) -> str:
        """Key under which the model without X* is shared."""
        return self.family or self.name

    @property
    def base_model(self) -> str:
        """What the method is without X*; empty for an estimator of the user."""
        return BASE_MODELS.get(self.baseline, "") if self.estimator is None else ""

    @property
    def has_trees(self) -> bool:
        """Whether the method, or a model that it is given, consists of trees."""
        parts = {} if self.estimator is None else self.estimator.get_params()
        kinds = [self.kind or type(self.estimator)]
        for value in parts.values():
            kinds += map(type, value if isinstance(value, list | tuple) else [value])
        return any(kind.__module__.startswith(TREES) for kind in kinds)

    @property
    def comparable(self) -> bool:
        """Whether `compare` can run it on any table with privileged columns."""
        return self.needs == "privileged"

    @property
    def info(self) -> ModelInfo:
        """The declaration of the class."""
        return getattr(self.kind, "__lupi_info__", ModelInfo(self.name, self.paper))

    @property
    def noisy_labels(self) -> bool:
        """Whether X* tells which labels are wrong, and not the class."""
        info = getattr(self.kind or type(self.estimator), "__lupi_info__", self.info)
        return info.noisy_labels

    @property
    def summary(self) -> str:
        """First line of the description of the class."""
        kind = self.kind or type(self.estimator)
        return (kind.__doc__ or "").strip().partition("\n")[0]

    def check_space(self) -> None:
        """Raise an error for parameters that the estimator does not have or refuses.

        Raises
        ------
        ValueError
            With the nearest name, or with the value.
        """
        model = _named(self, self.build)
        known = list(model.get_params())
        for name, values in (*self.space.items(), *self.privileged_space.items()):
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {known}."
                raise ValueError(
                    f"{self.name} searches {name!r}, which its estimator does not "
                    f"have; {hint}"
                )
            checked = hasattr(model, "_parameter_constraints")
            for value in values if checked and isinstance(values, list) else ():
                if not isinstance(value, PerFeature | SharedOver | TargetUnits):
                    changed = clone(model).set_params(**{name: value})
                    _named(self, changed._validate_params)

    def build(self) -> BaseEstimator:
        """Return a fresh, unfitted estimator.

        Returns
        -------
        estimator
            The estimator, with the parameters of ``fixed``.
        """
        if self.estimator is not None:
            return clone(self.estimator)
        assert self.kind is not None
        model = self.kind()
        # In alphabetical order an estimator comes before its own parameters.
        for name, value in sorted(self.fixed.items()):
            if isinstance(value, str) and value.startswith("lupi."):
                value = resolve_name(value)()
            is_estimator = isinstance(value, BaseEstimator)
            model.set_params(**{name: clone(value) if is_estimator else value})
        return model


def _named(method: Method, call: Callable[[], Any]) -> Any:
    """Return the result of a call; its error has the name of the method."""
    try:
        return call()
    except ValueError as error:
        raise ValueError(f"{method.name}: {error}") from error


@cache
def _method_of(kind: type) -> Method:
    """Return the method that a class declares, the same object for the same class."""
    info: ModelInfo = kind.__lupi_info__  # type: ignore[attr-defined]
    return Method(
        kind.__name__,
        "regression" if issubclass(kind, RegressorMixin) else "classification",
        space=info.space,
        privileged_space=info.privileged_space,
        family=info.family,
        paper=info.paper,
        needs=info.needs,
        kind=kind,
        fixed=info.fixed,
    )


def _kebab(name: str) -> str:
    """Return the kebab form of a class name.

    Examples
    --------
    >>> _kebab("SVCDeltaPlus"), _kebab("L2SVCPlus"), _kebab("GBPlusClassifier")
    ('svc-delta-plus', 'l2-svc-plus', 'gb-plus-classifier')
    """
    words = re.findall(r"LUFe|[A-Z]\d|[A-Z]+(?=[A-Z][a-z]|$|\d)|[A-Z][a-z]+", name)
    return "-".join(words).lower()


def all_methods() -> list[Method]:
    """Return a method for every declared model except wrappers, ordered by rank."""
    found = [_method_of(kind) for kind in load_models()]
    return [method for method in found if method.needs != "an estimator"]


def find_method(name: str, task: Task = "classification") -> Method:
    """Return the method with a class name or its kebab form.

    ``Classifier`` and ``Regressor`` may be left out: ``"ipl"`` is the classifier or
    the regressor of that name, depending on the task. So may hyphens, and ``svm+`` is
    ``svc-plus`` or ``svr-plus``.

    Examples
    --------
    >>> find_method("svc-plus").name, find_method("ipl", "regression").name
    ('SVCPlus', 'IPLRegressor')
    >>> find_method("svm+").name, find_method("hedged_distillation").name
    ('SVCPlus', 'HedgedDistillationClassifier')
    """
    ending = {"classification": "Classifier", "regression": "Regressor"}[task]
    methods = sorted(all_methods(), key=lambda method: method.task != task)
    machine = {"classification": "svc", "regression": "svr"}[task]
    given = {_letters(name), _letters(name).replace("svm", machine)}
    known = []
    for method in methods:
        short = method.name.removesuffix(ending)
        if {_letters(method.name), _letters(short)} & given:
            return method
        known += [(each, method.kebab) for each in (_kebab(short), method.kebab)]
        known.append((method.name, method.kebab))
    names = dict(reversed(known))
    near = [each for each, _ in known if name and name.lower() in each]
    typed = name.replace("svm", machine)
    near = near or difflib.get_close_matches(typed, names, n=1, cutoff=0.5)
    if not near:
        names = {each[: len(typed)]: kebab for each, kebab in reversed(known)}
        near = difflib.get_close_matches(typed, names, n=1)
    hint = f" Did you mean {names[near[0]]}?" if near else ""
    listed = ", ".join(method.kebab for method in all_methods() if method.comparable)
    raise ValueError(f"There is no method {name!r}.{hint} The methods are {listed}.")


def _letters(name: str) -> str:
    """Return a name without what separates its words."""
    return re.sub(r"[\W_]", "", name.lower().replace("+", "plus").replace("δ", "delta"))


def as_list(methods: Any) -> list[Any]:
    """Return the argument ``methods`` as a list."""
    if isinstance(methods, str | Method | BaseEstimator | type):
        return [methods]
    return list(methods)


def choose_methods(
    methods: str | Method | BaseEstimator | Iterable[Any],
    task: Task,
    n_train: float = 0,
) -> list[Method]:
    """Return the methods of the argument ``methods``, checked against the task."""
    listed: list[Method] = []
    for each in as_list(methods):
        if isinstance(each, str) and each in ("default", "all"):
            named = [m for m in all_methods() if m.task == task and m.comparable]
            if each == "default":
                named = [method for method in named if method.info.default]
            if each == "default" and n_train > MOST_KERNEL_ROWS:
                linear = [method.info.many_rows or method.name for method in named]
                named = [find_method(name, task) for name in linear]
            listed += [method for method in named if method not in listed]
        elif not (isinstance(each, str) and find_method(each, task) in listed):
            listed.append(_as_method(each, task))
    chosen = _with_distinct_names(listed)
    if not chosen:
        raise ValueError("methods is empty; name at least one, or use 'default'.")
    for method in chosen:
        if method.task != task:
            raise ValueError(
                f"{method.name} is for {method.task}, but the task is {task}; leave it "
                f"out, or set {argument('task', method.task)} if the target was "
                "misread."
            )
        if not method.comparable:
            raise ValueError(
                f"{method.name} cannot be compared: it needs {method.needs}. Leave it "
                "out."
            )
    return chosen


def _as_method(given: Any, task: Task) -> Method:
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return find_method(given, task)
    if isinstance(given, type) and hasattr(given, "__lupi_info__"):
        return _method_of(given)
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


def read_task(y: np.ndarray, methods: Any = "default") -> Task:
    """Return the task of the methods if they have only one, else that of the target.

    Text, booleans and up to 10 distinct whole numbers are classes; all other numbers
    are regression targets.

    Examples
    --------
    >>> read_task(np.array([0, 1, 1])), read_task(np.array([0.5, 1.5]))
    ('classification', 'regression')
    >>> read_task(np.array([0, 1, 1]), ["svr-plus"])
    'regression'
    """
    asked = {_task_of(each) for each in as_list(methods)} - {None}
    if len(asked) == 1:
        return asked.pop()  # type: ignore[return-value]
    if y.dtype.kind not in "fiu":
        return "classification"
    whole = np.array_equal(y, np.round(y))
    many = len(np.unique(y)) > MOST_CLASSES
    return "regression" if many or not whole else "classification"


def _task_of(method: Any) -> Task | None:
    """Return the task of one method; None for names of both tasks and for sets."""
    if isinstance(method, Method):
        return method.task
    if isinstance(method, BaseEstimator):
        return "regression" if is_regressor(method) else "classification"
    name = method.__name__ if isinstance(method, type) else method
    if not isinstance(name, str) or name in ("default", "all"):
        return None
    tasks: set[Task] = set()
    for task in ("classification", "regression"):
        try:
            tasks.add(find_method(name, task).task)
        except ValueError:
            continue
    return tasks.pop() if len(tasks) == 1 else None


def advice_on_task(classes: Any) -> str:
    """Return advice for classes that may be numbers; empty for other classes.

    Examples
    --------
    >>> advice_on_task([0, 1, 2, 3]), advice_on_task(["mild", "severe", "none"])
    (", or treat classes as numbers with task='regression'", '')
    """
    classes = np.unique(classes)
    if classes.dtype.kind not in "iuf" or len(classes) < 3:
        return ""
    return f", or treat classes as numbers with {argument('task', 'regression')}"


# Candidates are a Latin hypercube: with B candidates the range of every parameter is
# divided into B equally likely slices, and each slice is used once, so that a dozen
# candidates cover the range of every parameter.


def draw_candidates(
    space: Mapping[str, Any], n_candidates: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Draw candidates from lists of values and distributions of `scipy.stats`."""
    columns = {}
    for name in sorted(space):
        if isinstance(space[name], SharedOver):
            columns[name] = [space[name]] * n_candidates
            continue
        slices = rng.permutation(n_candidates) + rng.random(n_candidates)
        columns[name] = [_value(space[name], each / n_candidates) for each in slices]
    return [
        {name: values[i] for name, values in columns.items()}
        for i in range(n_candidates)
    ]


def _value(axis: Any, share: float) -> Any:
    if isinstance(axis, TargetUnits):
        return TargetUnits(_value(axis.value, share))
    if isinstance(axis, Sequence) and not isinstance(axis, str):
        return axis[int(share * len(axis))]
    if hasattr(axis, "ppf"):
        return axis.ppf(share).item()
    raise TypeError(
        "A search space consists of lists of values and distributions of scipy.stats, "
        f"not {axis!r}; write [{axis!r}] for a fixed value."
    )


def join_candidates(
    shared: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a candidate joined with its parameters for X*.

    Examples
    --------
    >>> own = {"C": SharedOver(10.0), "delta": 9.0}
    >>> join_candidates({"C": 50.0, "gamma": 1.0}, own)
    {'C': 5.0, 'gamma': 1.0, 'delta': 9.0}
    """
    joined = dict(shared)
    for name, value in own.items():
        tied = isinstance(value, SharedOver)
        joined[name] = shared[name] / value.divisor if tied else value
    return joined


def resolve_candidate(
    params: Mapping[str, Any], n_features: int, n_privileged: int, target_scale: float
) -> dict[str, Any]:
    """Replace values that are relative to the training set by numbers."""
    resolved = dict(params)
    for name, value in params.items():
        if isinstance(value, PerFeature):
            width = n_privileged if value.privileged else n_features
            resolved[name] = value.value / max(1, width)
        elif isinstance(value, TargetUnits):
            resolved[name] = value.value * target_scale
    return resolved
