"""What a model declares: `ModelInfo` with its search spaces, and `PrivilegedTags`."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import lupi
from lupi._parameters import Constraints
from lupi._stored import stored

_DECLARED: dict[str, type] = {}


@dataclass(frozen=True)
class ModelInfo:
    """The declaration of a model.

    A class that has one as ``__lupi_info__`` is listed by `lupi.evaluation.compare`,
    ``lupi methods`` and the documentation, can be saved by `lupi.save`, and is drawn by
    the displays; nothing else has to be changed.

    Attributes
    ----------
    title : str
        Name of the model in the literature, such as "SVM+".
    paper : str
        Authors and year of the paper.
    cite : str
        Keys in ``docs/references.bib``, separated by commas.
    helps, cost, tune : str
        When X* helps, what the model costs, and which parameters to tune: the cells of
        its row in the table of "How to choose a method", in Markdown.
    formulas : str
        Module whose docstring has the formulas; by default that of the class.
    needs : str
        What ``fit`` needs besides X and y. `lupi.evaluation.compare` only runs models
        that need nothing but privileged columns.
    family : str
        Models of one family are the same model when ``privileged=None``. By default
        the name of the class.
    fixed : dict
        Parameters that differ from the defaults in a comparison. A string that starts
        with ``lupi.`` stands for an estimator of that name.
    space, privileged_space : dict
        Search spaces of the parameters that matter without X*, and of those that
        matter only with X*: lists of values, or distributions of `scipy.stats`.
    functions : tuple of str
        Meaning of each function that ``correction`` returns: a "slack" as in SVM+,
        "signed" as in SVMΔ+, where values of either sign occur, or "slack of class 0"
        and "slack of class 1".
    rank : float
        Position in lists; small numbers come first.
    default : bool
        Whether it is one of the methods that are compared by default.
    many_rows : str
        Name of the class that replaces it in a comparison with many rows.
    noisy_labels : bool
        Whether X* tells which labels are wrong, and not the class. In a comparison,
        a model that has X* when predicting then does not show what can be gained, and
        scores on labels that are not known to be right are attenuated.

    Examples
    --------
    >>> from lupi import SVCPlus
    >>> SVCPlus.__lupi_info__.title
    'SVM+'
    """

    title: str
    paper: str
    cite: str = ""
    helps: str = ""
    cost: str = ""
    tune: str = ""
    formulas: str = ""
    needs: str = "privileged"
    family: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    privileged_space: Mapping[str, Any] = field(default_factory=dict)
    functions: tuple[str, ...] = ()
    rank: float = 100.0
    default: bool = False
    many_rows: str = ""
    noisy_labels: bool = False


@dataclass(frozen=True)
class PerFeature:
    """A kernel scale that is divided by the number of features it is used on.

    Squared distances grow with the number of standardized features, so that useful
    values of ``gamma`` are inversely proportional to it.

    Attributes
    ----------
    value : float
        The scale for a single feature.
    privileged : bool
        Whether the features are those of X*.

    Examples
    --------
    >>> from lupi.base import PerFeature
    >>> space = {"gamma": [PerFeature(0.3), PerFeature(1.0), PerFeature(3.0)]}
    """

    value: float
    privileged: bool = False


@dataclass(frozen=True)
class TargetUnits:
    """A value, or an axis of values, in units of the target's standard deviation.

    Useful values of C and ε of a support vector regression are proportional to the
    spread of the target.

    Attributes
    ----------
    value : object
        A number, a list or a distribution.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from lupi.base import TargetUnits
    >>> space = {"epsilon": TargetUnits([0.1]), "C": TargetUnits(loguniform(1, 9))}
    """

    value: Any


@dataclass(frozen=True)
class SharedOver:
    """A value of the arm with X*: that of the arm without X*, divided by a constant.

    No random number is drawn for it, so that all arms search the same candidates.

    Attributes
    ----------
    divisor : float
        The constant.

    Examples
    --------
    SVMΔ+ with an uninformative X* is the SVM with cost (1 + Δ)C:

    >>> from lupi.base import SharedOver
    >>> privileged_space = {"C": SharedOver(11.0), "delta": [10.0]}
    """

    divisor: float


@dataclass(frozen=True)
class PrivilegedTags:
    """Properties that `lupi.testing.check_privileged_estimator` reads.

    An estimator returns them from its method ``__lupi_tags__``; without that method
    the defaults apply.

    Attributes
    ----------
    cannot_hold : dict from name of a check to reason
        Checks that cannot hold for the method, each with the reason in words.
    tolerance : float, default=1e-6
        How far two fits that should agree may differ, relative to the largest output.
        Methods that stop early, for example at a duality gap, need a larger value.
    uses_unlabelled : bool, default=False
        Whether ``fit`` accepts rows in which y is missing and learns from those that
        have X*. Other estimators refuse such rows.
    takes_missing_cells : bool, default=False
        Whether ``fit`` accepts rows of X* in which single values are missing. Other
        estimators refuse such rows. A row without any value has no X* in either case.

    Examples
    --------
    >>> from lupi.base import PrivilegedTags
    >>> class OutOfFoldTeacher:
    ...     def __lupi_tags__(self):
    ...         return PrivilegedTags(
    ...             cannot_hold={"check_permuted_rows": "folds follow the row order"}
    ...         )
    """

    cannot_hold: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 1e-6
    uses_unlabelled: bool = False
    takes_missing_cells: bool = False


def uses_unlabelled(estimator: Any) -> bool:
    """Return whether an estimator learns from rows in which y is missing.

    Parameters
    ----------
    estimator : estimator
        One of this library, one that has the method ``__lupi_tags__``, or a pipeline
        or a search around such an estimator.

    Returns
    -------
    bool
        Its tag `uses_unlabelled`, or that of the estimator inside.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lupi import GeneralizedDistillationClassifier, SVCPlus
    >>> from lupi.base import uses_unlabelled
    >>> uses_unlabelled(SVCPlus())
    False
    >>> uses_unlabelled(
    ...     make_pipeline(StandardScaler(), GeneralizedDistillationClassifier())
    ... )
    True
    """
    tags = getattr(estimator, "__lupi_tags__", None)
    if tags is not None:
        return tags().uses_unlabelled
    steps = getattr(estimator, "steps", None)
    inner = steps[-1][1] if steps else getattr(estimator, "estimator", None)
    return inner is not None and uses_unlabelled(inner)


class Declared:
    """Base of classes that may have a ``__lupi_info__`` of their own."""

    __lupi_info__: ClassVar[ModelInfo]
    # Of the parameters, as in scikit-learn; a class inherits those of its bases.
    _parameter_constraints: ClassVar[Constraints] = {}
    # The "?" in HTML representations links to the API reference, whose address is in
    # the environment variable LUPI_DOCS_URL.
    _doc_link_module = "lupi"

    @property
    def _doc_link_template(self) -> str:
        pages = os.environ.get("LUPI_DOCS_URL", "").rstrip("/")
        name = "{estimator_module}.{estimator_name}"
        return f"{pages}/api/generated/{name}.html" if pages else ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        constraints: Constraints = {}
        for kind in reversed(cls.__mro__):
            constraints |= vars(kind).get("_parameter_constraints", {})
        cls._parameter_constraints = constraints
        if "__lupi_info__" in vars(cls):
            _DECLARED[f"{cls.__module__}.{cls.__name__}"] = stored(cls)


def load_models() -> list[type]:
    """Import every model of the library and return all that are declared.

    They are sorted by ``rank``, then by name. Models of other libraries are among them
    if they have been imported.
    """
    for package in lupi._MODEL_PACKAGES:
        importlib.import_module(f"lupi.{package}")
    return sorted(
        _DECLARED.values(),
        key=lambda kind: (kind.__lupi_info__.rank, kind.__name__),  # type: ignore[attr-defined]
    )
