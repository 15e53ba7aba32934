"""The operations of :mod:`.arrays` on torch tensors, usually on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

__all__ = ["DEVICE_VALUES", "TorchArrays"]

# Number of feature values in a block: large, but with memory left for scaled copies.
DEVICE_VALUES = 2**26

# An alias, because torch may not be installed.
Tensor = Any


class TorchArrays:
    """Vectors and features on one device, in double precision.

    Parameters
    ----------
    device : str
        The name of the device in torch.
    """

    def __init__(self, device: str):
        self.device = device

    def vector(self, values: np.ndarray) -> Tensor:
        array = np.ascontiguousarray(values, dtype=float)
        return torch.as_tensor(array, device=self.device)

    def features(self, matrix: Any) -> Tensor:
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        return self.vector(dense)

    def to_host(self, values: Tensor) -> np.ndarray:
        return values.cpu().numpy()

    def numbers(self, values: list) -> np.ndarray:
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        found = iter(torch.stack(tensors).cpu().tolist() if tensors else ())
        return np.array(
            [next(found) if isinstance(v, torch.Tensor) else float(v) for v in values],
            dtype=float,
        )

    def absolute(self, values: Tensor) -> Tensor:
        return values.abs()

    def maximum(self, first: Tensor, second: Tensor) -> Tensor:
        return torch.maximum(first, second)

    def floored(self, values: Tensor, floor: float) -> Tensor:
        return values.clamp_min(floor)

    def dot(self, first: Tensor, second: Tensor) -> Tensor:
        return torch.dot(first, second)

    def total(self, values: Tensor) -> Tensor:
        return values.sum()

    def largest(self, values: Tensor) -> Tensor:
        return values.max()

    def product(self, matrix: Tensor, weights: np.ndarray) -> Tensor:
        return matrix @ self.vector(weights)

    def projection(self, matrix: Tensor, values: Tensor) -> np.ndarray:
        return self.to_host(values @ matrix)

    def weighted_gram(
        self, first: Tensor, weight: Tensor, second: Tensor
    ) -> np.ndarray:
        return self.to_host(first.mT @ (second * weight[:, None]))
