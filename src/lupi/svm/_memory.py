"""Estimates of the memory of kernel matrices, before they are computed."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from pathlib import Path

__all__ = ["check_memory"]

# Estimates below this many bytes cause no warning.
WARNED_BYTES = 2**31


def check_memory(name: str, alternative: str, n_rows: int, n_functions: int) -> None:
    """Warn of a fit that needs gigabytes; refuse one beyond the memory of the machine.

    Parameters
    ----------
    name, alternative : str
        The estimator, and the one for many rows.
    n_rows, n_functions : int
        Rows of the largest kernel matrix, and the number of learned functions.
    """
    # Peak memory, measured in n × n doubles: 5 for two functions, 10 to 12 for three.
    needed = 8 * n_rows**2 * (n_functions**2 + 1)
    if needed < WARNED_BYTES:
        return
    message = (
        f"{name} computes a kernel matrix of {n_rows} × {n_rows} numbers for each of "
        f"its functions ({n_functions}) and needs about {needed / 1e9:.1f} GB of "
        f"memory for these and for intermediate results. The memory of {alternative} "
        "on the features of sklearn.kernel_approximation.Nystroem is proportional to "
        "the number of rows."
    )
    available = memory_of_machine()
    if available is not None and needed > available:
        raise MemoryError(f"{message} This machine has {available / 1e9:.1f} GB.")
    warnings.warn(message, UserWarning, stacklevel=4)


def memory_of_machine() -> int | None:
    """Return the bytes that this process may use; None if they cannot be read."""
    limits = []
    with suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError, OSError):  # a container may have less than the machine
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits, default=None)
