"""Where probabilities come from when a classifier has none."""

from __future__ import annotations

from typing import Any


def _refuse(self: Any) -> Any:
    name = type(self).__name__
    more = ", privileged=P" if hasattr(self, "_validate_privileged") else ""
    raise AttributeError(
        f"{name} has decision values and no probabilities. Calibrate them: "
        f"sklearn.calibration.CalibratedClassifierCV({name}(...)).fit(X, y{more})"
    )


# Absent, as for every tool that asks; but who uses it reads how to get there.
no_probabilities = property(
    _refuse, doc="Absent: wrap the estimator in CalibratedClassifierCV."
)
