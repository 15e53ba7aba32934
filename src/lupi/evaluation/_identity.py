"""Fingerprints of the content of objects, which identify the study of a checkpoint.

The fingerprint of an array or table depends on its values, that of an estimator on its
class and parameters, and that of a function on its code and on the objects it refers
to. Code of a package that has a version is represented by the version. An object that
cannot be identified by its content raises an error.
"""

from __future__ import annotations

import hashlib
import sys
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from lupi._optional import optional

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "A checkpoint")

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range)
_DEFINITIONS = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    np.ufunc,
)


def fingerprint(parts: Iterable[Any]) -> str:
    """Return a digest of tables, arrays, estimators, functions and plain values.

    Examples
    --------
    >>> from sklearn.metrics import fbeta_score, make_scorer
    >>> from lupi.evaluation._identity import fingerprint
    >>> one, other = (make_scorer(fbeta_score, beta=beta) for beta in (0.5, 5))
    >>> fingerprint([one]) == fingerprint([other])
    False
    """
    content = _Content()
    for part in parts:
        content.add(part)
    return content.digest.hexdigest()


class _Content:
    """A digest of objects and of their contents."""

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=16)
        self._defined: dict[int, Any] = {}
        self._path: list[int] = []

    def _write(self, *words: Any) -> None:
        for word in words:
            data = word if isinstance(word, bytes) else repr(word).encode()
            # The length separates consecutive words.
            self.digest.update(len(data).to_bytes(8, "little") + data)

    def add(self, value: Any) -> None:
        """Add one object."""
        self._write(type(value).__name__)
        if isinstance(value, _PLAIN):
            self._write(value)
        elif isinstance(value, _DEFINITIONS):
            self._add_definition(value)
        elif id(value) in self._path:
            self._write("cycle", len(self._path) - self._path.index(id(value)))
        else:
            self._path.append(id(value))
            self._add_object(value)
            self._path.pop()

    def _add_object(self, value: Any) -> None:
        if isinstance(value, pd.DataFrame | pd.Series):
            table = value.to_frame() if isinstance(value, pd.Series) else value
            self._write([*map(str, table.columns), *map(str, table.dtypes)])
            rows = pd.util.hash_pandas_object(table, index=False)
            self._write(rows.to_numpy().tobytes())
        elif sp.issparse(value):
            table = sp.csr_array(value)
            self.add([table.shape, table.data, table.indices, table.indptr])
        elif isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
            self._write(array.shape, array.dtype.str)
            if array.dtype.hasobject:
                self.add(array.tolist())
            else:
                self._write(np.ascontiguousarray(array).tobytes())
        elif isinstance(value, dict):
            for key in sorted(value, key=str):
                self.add(key)
                self.add(value[key])
        elif isinstance(value, list | tuple):
            self._write(len(value))
            for item in value:
                self.add(item)
        elif isinstance(value, set | frozenset):
            self.add(sorted(value, key=repr))
        elif isinstance(value, types.CodeType):
            self._write(value.co_code, value.co_names)
            self.add(value.co_consts)
        elif isinstance(value, BaseEstimator):
            self.add([type(value), value.get_params(deep=False)])
        elif isinstance(value, property | staticmethod | classmethod):
            names = ("fget", "fset", "__func__")
            self.add([getattr(value, name, None) for name in names])
        else:
            self._add_state(value)

    def _add_definition(self, value: Any) -> None:
        """Add a class, function or module, each of them once."""
        self._write(getattr(value, "__qualname__", value.__name__))
        if id(value) in self._defined:
            return
        self._defined[id(value)] = value
        module = getattr(value, "__module__", None) or value.__name__
        version = _version(module)
        if version is not None:
            self._write(module, version)
        elif isinstance(value, types.FunctionType):
            self.add([value.__code__, value.__defaults__, value.__kwdefaults__])
            for cell in value.__closure__ or ():
                self.add(cell.cell_contents)
            names = value.__code__.co_names
            found = [value.__globals__[n] for n in names if n in value.__globals__]
            for used in found:
                self.add(used)
                if isinstance(used, types.ModuleType) and not _version(used.__name__):
                    self.add([getattr(used, n) for n in names if hasattr(used, n)])
        elif isinstance(value, type):
            self.add(list(value.__mro__[1:]))
            for name, item in sorted(vars(value).items()):
                special = name.startswith(("__", "_abc_"))
                if isinstance(item, types.FunctionType) or not special:
                    self.add([name, item])

    def _add_state(self, value: Any) -> None:
        try:
            state = value.__reduce_ex__(4)
        except Exception as error:
            raise ValueError(
                f"{value!r} cannot be distinguished from other objects of its type, so "
                "that a checkpoint might be used for another study. Leave checkpoint "
                "out, or define it as a function or class of a module."
            ) from error
        if isinstance(state, str):
            self._write(type(value).__module__, state)
        else:
            self.add(list(state[:3]))
            self.add([None if items is None else list(items) for items in state[3:5]])


def _version(module: str) -> str | None:
    """Return the version of the package of a module, or None."""
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names and package != "__main__":
        return sys.version
    return getattr(sys.modules.get(package), "__version__", None)
