"""`ModelInfo`: what a class says about its model, once, for every list of models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lupi._stored import stored

_DECLARED: dict[str, type] = {}


@dataclass(frozen=True)
class ModelInfo:
    """What a class says about its model.

    A class that has one as ``__lupi_info__`` is listed by `lupi.evaluation.compare`,
    ``lupi methods`` and the documentation, can be saved by `lupi.save`, and is drawn by
    the displays; nothing else has to be changed.

    Attributes
    ----------
    title : str
        What the literature calls the model, such as "SVM+".
    paper : str
        Where it comes from, in a few words.
    cite : str
        Keys in ``docs/references.bib``, separated by commas.
    helps, cost, tune : str
        When X* helps it, what it costs, and which parameters are worth a search: the
        row of the table in "How to choose a method", in Markdown.
    formulas : str
        Module whose docstring has the formulas; that of the class by default.
    needs : str
        What it needs besides X and y. What needs more than privileged columns is not
        run by `lupi.evaluation.compare`.
    family : str
        Models of one family are the same model when ``privileged=None``. The name of
        the class by default.
    fixed : dict
        Parameters that differ from the defaults in a comparison. Text that starts
        with ``lupi.`` stands for an estimator of that name.
    space, privileged_space : dict
        What is worth a search without X*, and only with X*: lists of values, or
        distributions of `scipy.stats`.
    functions : tuple of str
        What each function of ``correction`` is: a "slack" as in SVM+, "signed" as in
        SVMΔ+, where it takes sides, or the "slack of class 0" and that of class 1.
    rank : float
        Where lists show it; small numbers come first.
    default : bool
        Whether it is one of the methods that are compared by default.
    many_rows : str
        Name of the class to compare in its place where rows are many.

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


class Declared:
    """Base of classes that may have a ``__lupi_info__`` of their own."""

    __lupi_info__: ClassVar[ModelInfo]
    # The "?" in HTML representations leads to the API reference, whose address is the
    # environment variable LUPI_DOCS_URL.
    _doc_link_module = "lupi"

    @property
    def _doc_link_template(self) -> str:
        pages = os.environ.get("LUPI_DOCS_URL", "").rstrip("/")
        name = "{estimator_module}.{estimator_name}"
        return f"{pages}/api/generated/{name}.html" if pages else ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__lupi_info__" in vars(cls):
            _DECLARED[f"{cls.__module__}.{cls.__name__}"] = stored(cls)


def declared_models() -> list[type]:
    """Return the classes that have declared themselves so far, in their order.

    Returns
    -------
    list of type
        By ``rank``, then by name.
    """
    return sorted(
        _DECLARED.values(),
        key=lambda kind: (kind.__lupi_info__.rank, kind.__name__),  # type: ignore[attr-defined]
    )
