"""Names of other libraries that are not public there, gathered in one place.

When one of them moves, this file is the one to change; `lupi._trusted_types` has those
that occur in model files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
    validate_params,
)

from lupi._stored import follow_moves

__all__ = [
    "BaseSearchCV",
    "HasMethods",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "joblib_dask_backend",
    "read_model_tree",
    "safe_indexing",
    "scorer_parts",
    "tree_nodes",
    "validate_params",
]


class ScorerParts(NamedTuple):
    """What a scorer of scikit-learn computes; the metric is None of any other."""

    metric: Any
    sign: int
    options: dict[str, Any]
    response: Any


def scorer_parts(scorer: Any) -> ScorerParts:
    """Return metric, sign and options of a scorer, and the method that it calls."""
    return ScorerParts(
        getattr(scorer, "_score_func", None),
        getattr(scorer, "_sign", 1),
        getattr(scorer, "_kwargs", {}),
        getattr(scorer, "_response_method", None),
    )


def joblib_dask_backend() -> Any:
    """Return the class behind ``joblib.parallel_config(backend="dask")``."""
    from joblib._dask import DaskDistributedBackend

    return DaskDistributedBackend


def read_model_tree(archive: Any, trusted: list[str]) -> Any:
    """Return the parts of a skops file, audited and not yet built.

    Parameters
    ----------
    archive : zipfile.ZipFile
        The file.
    trusted : list of str
        Names of the types that may be built.

    Returns
    -------
    object
        With ``get_unsafe_set()`` and ``construct()``.
    """
    from skops.io._audit import get_tree
    from skops.io._utils import read_schema

    schema, context = read_schema(archive)
    follow_moves(schema)
    return get_tree(schema, context, trusted=trusted)


def tree_nodes(root: Any) -> list[Any]:
    """Return every part of a skops file that creates a decision tree, each once.

    Parameters
    ----------
    root : object
        From `read_model_tree`.

    Returns
    -------
    list of object
        With ``args`` and ``attrs``, which can be built without the tree.

    Raises
    ------
    ValueError
        If a tree is inside of another one, or is created without its nodes.
    """
    from skops.io._general import TypeNode
    from skops.io._sklearn import TreeNode

    found = []
    for node in _nodes(root):
        if isinstance(node, TreeNode):
            found.append(node)
            inside = _nodes(list(node.children.values()))
            if any(isinstance(one, TreeNode) for one in inside):
                raise ValueError("it has a decision tree inside of another one")
        elif node.class_name == "Tree" and not isinstance(node, TypeNode):
            raise ValueError("it creates a decision tree without its nodes")
    return found


def _nodes(root: Any) -> list[Any]:
    """Return all nodes below a part of a skops file, each once."""
    from skops.io._audit import Node

    seen: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, Node) and id(item) not in seen:
            seen[id(item)] = item
            waiting.extend(item.children.values())
            waiting.append(getattr(item, "cached", None))
    return list(seen.values())
