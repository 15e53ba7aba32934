"""Kernels on a GPU by PyTorch: Gram matrices for the solvers, and predictions.

PyTorch (``pip install "lupi[gpu]"``) is imported only for devices other than the CPU.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from lupi._optional import require
from lupi.base._rows import dense
from lupi.kernels import Kernel

__all__ = ["DEVICES", "HOST", "Place", "check_device", "evaluate"]

DEVICES = ("cpu", "cuda")
# Matrices of n² entries at the peak of a fit, by the number of its functions, as
# measured with the slower method of `auto`; the second for single precision.
DOUBLE_MATRICES, SINGLE_MATRICES = {1: 5, 2: 8, 3: 23}, {1: 6, 2: 8, 3: 14}
# Copies of the features of a linear model, and vectors of n entries per function.
FEATURE_COPIES, VECTORS_PER_FUNCTION = 3, 40
# Kernel values per chunk of predictions.
CHUNK_ENTRIES = 2**28
GIB = 2**30


def check_device(device: str, who: str) -> Any:
    """Return torch for a GPU, None for the CPU; raise RuntimeError without a GPU."""
    if device == "cpu":
        return None
    torch = require("torch", f"{who}(device={device!r})")
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"{who} was given device={device!r}, and PyTorch finds no GPU that it can "
            "use on this machine. Use device='cpu'."
        )
    return torch


@dataclass(frozen=True)
class Place:
    """The device of the Gram matrices of a fit, and their form.

    If ``stored``, matrices are kept in double precision. If they do not fit, they are
    computed from their rows: see :mod:`lupi._convex.torch_linalg`.
    """

    device: str = "cpu"
    stored: bool = True

    @classmethod
    def of(cls, device: str, n_rows: int, n_functions: int, who: str) -> Place:
        """Choose the form by the free memory; raise MemoryError if neither fits."""
        torch = check_device(device, who)
        if torch is None:
            return HOST
        free = _free(torch, device)
        if DOUBLE_MATRICES[min(n_functions, 3)] * n_rows**2 * 8 <= free:
            return cls(device)
        needed = SINGLE_MATRICES[min(n_functions, 3)] * n_rows**2 * 4
        if needed <= free:
            return cls(device, stored=False)
        raise MemoryError(
            f"{who}(device={device!r}) on {n_rows} rows needs about "
            f"{needed / GIB:.0f} GiB on the device, and {free / GIB:.0f} GiB are "
            "free. Use fewer rows, or LinearSVCPlus behind "
            "sklearn.kernel_approximation.Nystroem."
        )

    @classmethod
    def of_features(
        cls, device: str, n_rows: int, n_features: int, n_functions: int, who: str
    ) -> Place:
        """Raise MemoryError if the features of all functions do not fit."""
        torch = check_device(device, who)
        if torch is None:
            return HOST
        free = _free(torch, device)
        needed = (
            n_rows
            * (FEATURE_COPIES * n_features + VECTORS_PER_FUNCTION * n_functions)
            * 8
        )
        if needed <= free:
            return cls(device)
        raise MemoryError(
            f"{who}(device={device!r}) on {n_rows} rows of {n_features} features needs "
            f"about {needed / GIB:.1f} GiB on the device, and {free / GIB:.1f} GiB are "
            "free. Use fewer rows, or device='cpu'."
        )

    def gram(self, kernel: Kernel, rows: Any) -> Any:
        """Compute the Gram matrix of a named kernel on the device."""
        arrays = importlib.import_module("lupi._convex.torch_linalg")
        on = _OnDevice(require("torch", "A GPU"), kernel)
        tensor = arrays.on_device(dense(rows), self.device)
        if not self.stored:
            return arrays.KernelRows(tensor, on)
        gram = on.between(tensor, tensor)
        if kernel.name == "rbf":
            gram.fill_diagonal_(1.0)
        return gram

    def moved(self, gram: np.ndarray) -> Any:
        """Copy a Gram matrix to the device."""
        if self.device == "cpu":
            return gram
        arrays = importlib.import_module("lupi._convex.torch_linalg")
        return arrays.on_device(gram, self.device)


HOST = Place()


def _free(torch: Any, device: str) -> int:
    """Return the free bytes of a device, unused reserved ones included."""
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + held


def evaluate(
    device: str, kernel: Kernel, rows: Any, others: Any, coefficients: np.ndarray
) -> np.ndarray:
    """Return ``Σ_j coefficients_j k(others_j, ·)`` at the rows, in chunks."""
    torch = check_device(device, "decision_function")
    arrays = importlib.import_module("lupi._convex.torch_linalg")
    on = _OnDevice(torch, kernel)
    others = arrays.on_device(dense(others), device)
    weights = arrays.on_device(coefficients, device)
    out = np.empty(rows.shape[0])
    step = max(CHUNK_ENTRIES // max(len(others), 1), 1)
    for start in range(0, rows.shape[0], step):
        part = arrays.on_device(dense(rows[start : start + step]), device)
        out[start : start + step] = (on.between(part, others) @ weights).cpu().numpy()
    return out


class _OnDevice:
    """Named kernels of tensors."""

    def __init__(self, torch: Any, kernel: Kernel):
        self.torch, self.kernel = torch, kernel

    def between(self, rows: Any, others: Any) -> Any:
        """Return the kernel values of all pairs of rows."""
        kernel = self.kernel
        if kernel.name == "rbf":
            values = rows @ others.mT
            values.mul_(-2.0).add_((rows**2).sum(1)[:, None])
            values.add_((others**2).sum(1)).clamp_min_(0.0)
            return values.mul_(-kernel.gamma).exp_()
        values = rows @ others.mT
        if kernel.name == "linear":
            return values
        values.mul_(kernel.gamma).add_(kernel.coef0)
        return values.pow_(kernel.degree) if kernel.name == "poly" else values.tanh_()

    def diagonal(self, rows: Any) -> Any:
        """Return the kernel values of rows with themselves."""
        kernel = self.kernel
        if kernel.name == "rbf":
            return self.torch.ones_like(rows[:, 0])
        values = (rows**2).sum(1)
        if kernel.name == "linear":
            return values
        values = values * kernel.gamma + kernel.coef0
        return values**kernel.degree if kernel.name == "poly" else values.tanh()
