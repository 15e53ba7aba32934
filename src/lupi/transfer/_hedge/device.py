"""Where the sums of hedged distillation are computed."""

from __future__ import annotations

from typing import Any

from lupi._device import DEVICES, Place
from lupi._words import listed
from lupi.base import Training
from lupi.transfer._hedge.filling import BLOCK


def check_hedged_device(estimator: Any, given: Training, *, by_default: bool) -> None:
    """Raise an error if the device is missing or too small, before fitting starts.

    Parameters
    ----------
    estimator : HedgedDistillation
        The estimator, with its parameter ``device``.
    given : Training
        The training rows.
    by_default : bool
        Whether all students and teachers are the default ridge.
    """
    name, device = type(estimator).__name__, estimator.device
    if device not in DEVICES:
        raise ValueError(
            f"device must be {listed(map(repr, DEVICES), 'or')}, got {device!r}."
        )
    if device == "cpu":
        return
    if not by_default:
        raise ValueError(
            f"{name} was given device={device!r} together with a student or teacher, "
            "to which the device does not apply. Leave student=None and teacher=None, "
            "or use device='cpu'."
        )
    width = given.X.shape[1]
    if given.privileged is not None:
        width += given.privileged.values.shape[1]
    Place.of_features(device, min(given.n_rows, BLOCK), width, 1, name)
