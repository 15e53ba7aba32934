"""Matrices that the solvers may touch by the operations of linalg alone.

They stand for those of a GPU: everything else that NumPy would do with an array (an
index, a product, a ufunc) is refused.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from lupi._convex import Gram, Problem, linalg

__all__ = ["Strict", "StrictVector", "strictly"]


class Strict:
    """A matrix with a shape, and nothing else to see."""

    __array_ufunc__ = None
    __slots__ = ("_hidden",)
    free = np.inf

    def __init__(self, array):
        self._hidden = array

    @property
    def shape(self):
        return self._hidden.shape

    def __len__(self):
        return self.shape[0]

    def __array__(self, *arguments, **options):
        raise TypeError("a matrix was taken for a NumPy array")


NAMES = [operation.__name__ for operation in linalg.OPERATIONS]


class _Operations:
    """The operations of the host, on matrices of this kind."""

    # What takes or gives vectors, and what it gives back.
    VECTORS = (
        "cholesky_solve",
        "triangular_solve_vectors",
        "symmetric_product",
        "product",
        "transposed_product",
        "diagonal",
    )
    PLAIN = ("factor_precisions",)

    @staticmethod
    def free_bytes(matrix):
        """Return the free memory of the device."""
        return matrix.free

    def __getattr__(self, name):
        if name not in NAMES:
            raise AttributeError(name)
        return partial(self._call, name)

    def _call(self, name, matrix, *arguments, **options):
        operation = getattr(linalg, name)
        hidden = []
        for argument in (matrix, *arguments):
            if isinstance(argument, Strict):
                hidden.append(argument._hidden)
            else:
                big = isinstance(argument, np.ndarray) and argument.ndim == 2
                if big and name not in self.VECTORS:
                    raise TypeError(f"{name} was given a NumPy matrix")
                hidden.append(argument)
        found = operation(*hidden, **options)
        if name in (*self.VECTORS, *self.PLAIN) or found is None:
            return found
        return Strict(found)


linalg.register(Strict, _Operations())


def strictly(problem: Problem) -> Problem:
    """The same problem with matrices of this kind."""
    functions = [
        replace(f, space=Gram(Strict(f.space.matrix)))
        if isinstance(f.space, Gram)
        else f
        for f in problem.functions
    ]
    return Problem(problem.n_rows, functions, problem.families, problem.global_rows)


class StrictVector:
    """A vector or features of rows: what NumPy and torch have in common alone."""

    __array_ufunc__ = None
    __slots__ = ("hidden",)

    def __init__(self, hidden):
        self.hidden = hidden

    def __array__(self, *arguments, **options):
        raise TypeError("a vector of the rows was taken for a NumPy array")

    def _with(self, other, operation):
        if type(other) is StrictVector:
            other = other.hidden
        elif type(other) not in (float, int):
            raise TypeError(f"a vector of the rows met a {type(other)}")
        return StrictVector(operation(self.hidden, other))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other):
        return self._with(other, lambda a, b: b / a)

    def __matmul__(self, other):
        return self._with(other, lambda a, b: a @ b)

    def __neg__(self):
        return StrictVector(-self.hidden)

    def __abs__(self):
        return StrictVector(abs(self.hidden))

    def max(self):
        return StrictVector(self.hidden.max())

    def sum(self):
        return StrictVector(self.hidden.sum())

    def clip(self, *, min):
        return StrictVector(self.hidden.clip(min=min))

    __radd__, __rmul__ = __add__, __mul__


class _VectorOperations:
    """The operations of the host, on vectors and features of this kind."""

    TO_HOST = ("to_host", "_numbers", "projection", "weighted_gram")

    def __getattr__(self, name):
        if name not in NAMES:
            raise AttributeError(name)
        return partial(self._call, name)

    def _call(self, name, *arguments):
        shown = []
        for argument in arguments:
            if isinstance(argument, list):
                argument = [getattr(one, "hidden", one) for one in argument]
            elif isinstance(argument, StrictVector):
                argument = argument.hidden
            elif isinstance(argument, np.ndarray) and name != "feature_values":
                raise TypeError(f"{name} was given a NumPy array")
            shown.append(argument)
        found = getattr(linalg, name)(*shown)
        return found if name in self.TO_HOST else StrictVector(found)


linalg.register(StrictVector, _VectorOperations())
