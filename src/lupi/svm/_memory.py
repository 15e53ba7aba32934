"""Say how much memory kernel matrices take, before they are computed."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from pathlib import Path

__all__ = ["announce_memory"]

# Below this many bytes nothing is said.
MENTIONED = 2**31


def announce_memory(name: str, instead: str, n_rows: int, n_functions: int) -> None:
    """Warn of a fit that takes gigabytes, refuse one that takes more than there is.

    Parameters
    ----------
    name, instead : str
        The estimator, and the one for many rows.
    n_rows, n_functions : int
        Rows of the largest kernel matrix, and the number of learned functions.
    """
    needed = estimated_bytes(n_rows, n_functions)
    if needed < MENTIONED:
        return
    said = (
        f"{name} computes a kernel matrix of {n_rows} × {n_rows} numbers for each of "
        f"its functions ({n_functions}) and needs about {needed / 1e9:.1f} GB of "
        f"memory with what is derived from them. {instead} on the features of "
        "sklearn.kernel_approximation.Nystroem needs memory in proportion to the "
        "rows only."
    )
    there = memory_of_machine()
    if there is not None and needed > there:
        raise MemoryError(f"{said} This machine has {there / 1e9:.1f} GB.")
    warnings.warn(said, UserWarning, stacklevel=4)


def estimated_bytes(n_rows: int, n_functions: int) -> int:
    """Return the memory at most in use while a problem is solved.

    Measured in arrays of n × n doubles: 5 for two functions, 10 to 12 for three.
    """
    return 8 * n_rows**2 * (n_functions**2 + 1)


def memory_of_machine() -> int | None:
    """Return the bytes that this process may use; None where that is not known."""
    known = []
    with suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError, OSError):  # a container may have less than the machine
        known.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(known, default=None)
