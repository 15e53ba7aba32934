"""The unknowns of a problem in feature space: θ = (w_0, b_0, w_1, b_1, ...)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lupi._convex.problem import Problem

__all__ = ["Layout"]


@dataclass(frozen=True, eq=False)
class Layout:
    """The positions of the weights and the bias of every function in θ.

    ``spans`` and ``biases`` have an entry per function, None if it has no features or
    no bias; ``penalty`` is the ρ of every entry of θ, zero for the biases.
    """

    spans: tuple[slice | None, ...]
    biases: tuple[int | None, ...]
    penalty: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Layout:
        """Return the layout of a problem whose functions are given by features."""
        spans: list[slice | None] = []
        biases: list[int | None] = []
        penalty: list[float] = []
        for function in problem.functions:
            span = None
            if function.space is not None:
                width = function.space.matrix.shape[1]
                span = slice(len(penalty), len(penalty) + width)
                penalty += [function.weight] * width
            spans.append(span)
            biases.append(None if function.basis is None else len(penalty))
            penalty += [0.0] * (function.basis is not None)
        return cls(tuple(spans), tuple(biases), np.array(penalty))

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.penalty)

    @property
    def biased(self) -> list[int]:
        """Positions of the biases."""
        return [at for at in self.biases if at is not None]

    def weights(self, theta: np.ndarray) -> list[np.ndarray | None]:
        """Return the weights of every function."""
        return [None if span is None else theta[span].copy() for span in self.spans]

    def joined(self, weights: list, biases: np.ndarray) -> np.ndarray:
        """Return θ."""
        theta = np.zeros(self.size)
        for span, w in zip(self.spans, weights, strict=True):
            if span is not None:
                theta[span] = w
        theta[self.biased] = biases
        return theta
