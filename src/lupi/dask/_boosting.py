"""Iterative privileged learning on Dask collections, by XGBoost's collective.

Every worker that holds partitions boosts its rows in step with the others: XGBoost adds
up the histograms of the trees, and :mod:`lupi.boosting._engines` the sums for the
comments from X*. All workers end with the same trees. The collective cannot go on
without one of them: when a worker is lost, `_results` raises an error.
"""

from __future__ import annotations

import time
from contextlib import suppress
from copy import copy
from dataclasses import replace
from operator import attrgetter
from typing import Any

import distributed
import numpy as np
from distributed.comm import get_address_host
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from lupi.base import Training, binary_problems
from lupi.boosting._engines import import_xgboost, together
from lupi.dask._cluster import (
    DaskParts,
    fitted_attributes,
    joined,
    read_classes,
    require_values,
)

# Seconds between two checks of whether all workers are still there.
PAUSE = 0.05


def fit_boosted(model: Any, read: Any) -> None:
    """Fit a model of iterative privileged learning to Dask collections."""
    require_values(
        model,
        "boosts by the collective of XGBoost",
        engine="xgboost",
        device="cpu",
        auxiliary=None,
        warm_start=False,
        n_iter_no_change=None,
    )
    training = read(_check_numbers)
    factor = read_classes(model, training) if is_classifier(model) else None
    seeded = copy(model)
    if not isinstance(seeded.random_state, int | np.integer):
        # All workers have to draw the same numbers.
        rng = check_random_state(seeded.random_state)
        seeded.random_state = int(rng.randint(2**31 - 1))
    vars(model).update(_boost_in_step(training, seeded, factor))


def _check_numbers(estimator: Any, training: Training) -> None:
    """Refuse categories."""
    if estimator._encoder is not None:
        raise ValueError(
            f"lupi.dask.{type(estimator).__name__} takes columns of numbers alone. "
            "Encode categories first, for example with dask_ml or by get_dummies."
        )


def _boost_in_step(
    training: DaskParts, estimator: Any, factor: np.ndarray | None
) -> dict[str, Any]:
    """Boost on all workers that hold rows; return the fitted attributes."""
    client = training.client
    training.gather(attrgetter("n_rows"))  # until all rows are on their workers
    futures_of = {future.key: future for future in training.futures}
    held: dict[str, list[Any]] = {}
    for key, workers in client.who_has(training.futures).items():
        held.setdefault(min(workers), []).append(futures_of[key])
    tracker = client.run_on_scheduler(_start_tracker, len(held))
    tasks = [
        client.submit(
            _boosted, parts, tracker, estimator, factor, workers=[worker], pure=False
        )
        for worker, parts in held.items()
    ]
    try:
        results = _results(client, tasks, set(held))
        return next(fitted for fitted in results if fitted is not None)
    finally:
        client.cancel(tasks)
        client.run_on_scheduler(_stop_tracker, tracker["dmlc_tracker_port"])


def _results(client: Any, tasks: list[Any], workers: set[str]) -> list[Any]:
    """Wait for the tasks of some workers; raise an error if one fails or is lost."""
    while not all(task.done() for task in tasks):
        # Not `scheduler_info`, which is at times replaced by one without workers.
        if not workers <= client.nthreads().keys():
            break
        if any(task.status in ("error", "cancelled") for task in tasks):
            break
        time.sleep(PAUSE)
    errors = [task.exception() for task in tasks if task.status == "error"]
    for error in errors:
        if type(error).__module__ == "builtins":
            raise error  # the other workers fail in the collective, as a consequence
    if all(task.status == "finished" for task in tasks):
        return client.gather(tasks)
    raise RuntimeError(
        "Boosting on the cluster broke off, as it does when a worker is lost: the "
        "others cannot go on without it. Start the fit again."
    ) from next(iter(errors), None)


# Trackers in the process of the scheduler, by their port.
_TRACKERS: dict[Any, Any] = {}


def _start_tracker(n_workers: int, dask_scheduler: Any = None) -> dict[str, Any]:
    """Start XGBoost's tracker beside the scheduler; return its address."""
    from xgboost.tracker import RabitTracker

    host = get_address_host(dask_scheduler.address)
    tracker = RabitTracker(n_workers=n_workers, host_ip=host, sortby="task")
    tracker.start()
    arguments = tracker.worker_args()
    _TRACKERS[arguments["dmlc_tracker_port"]] = tracker
    return arguments


def _stop_tracker(port: Any) -> None:
    from xgboost.core import XGBoostError

    # If a worker was lost, the tracker raises an error when it is freed.
    with suppress(XGBoostError):
        _TRACKERS.pop(port).free()


def _boosted(
    parts: list[Training], tracker: dict[str, Any], estimator: Any, factor: Any
) -> dict[str, Any] | None:
    """Boost the rows of this worker; the first worker returns fitted attributes."""
    xgboost = import_xgboost()
    from xgboost import collective

    # Workers whose rows have no X* stay in step with those that have it.
    training = joined(parts, estimator.n_privileged_features_in_)
    targets = [training.y]
    if factor is not None:
        codes = np.searchsorted(estimator.classes_, training.y)
        problems = binary_problems(codes, len(estimator.classes_), "ovr")
        targets = [target for _, target in problems]
        training = replace(training, weight=training.weight * factor[codes])
    estimator, worker = copy(estimator), distributed.get_worker()
    with (
        collective.CommunicatorContext(**tracker, dmlc_task_id=worker.address),
        xgboost.config_context(nthread=worker.state.nthreads),
        together(collective),
    ):
        estimator._fit_targets(training, targets)
        first = collective.get_rank() == 0
    return fitted_attributes(estimator) if first else None
