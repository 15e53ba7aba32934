"""A hash of 64 bits that is computed for whole arrays."""

from __future__ import annotations

import numpy as np

__all__ = ["GOLDEN", "mixed_bits"]

# Multiples of it are spread over all numbers of 64 bits.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed_bits(bits: np.ndarray) -> np.ndarray:
    """Return bits each of which depends on all bits: the finalizer of splitmix64.

    Parameters
    ----------
    bits : ndarray of uint64
        Anything.

    Returns
    -------
    ndarray of uint64
        Different numbers for different ones.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi._bits import mixed_bits
    >>> mixed_bits(np.arange(3, dtype=np.uint64)) % 10
    array([0, 9, 0], dtype=uint64)
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
