"""Iterative privileged learning on Dask collections, by XGBoost's own collective.

Every worker that holds partitions boosts its rows in step with the others: XGBoost adds
up the histograms of the trees, and :mod:`lupi.boosting._collective` what the comments
from X* need. All workers end with the same trees.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

import numpy as np
from distributed import get_worker, wait
from distributed.comm import get_address_host
from sklearn.utils import check_random_state

from lupi.base import Training, binary_problems, class_weights
from lupi.base._classes import classes_of
from lupi.boosting._collective import together
from lupi.boosting._engines import import_xgboost
from lupi.dask._model import DaskModel
from lupi.dask._parts import DaskParts
from lupi.dask._reading import read_parts
from lupi.dask._rows import class_totals, joined, with_width

# Seconds between looks at whether all workers are still there.
_PAUSE = 0.05


class DaskIPL(DaskModel):
    """What both share: reading the partitions, and boosting in step."""

    _defaults: ClassVar[Mapping[str, Any]] = {"engine": "xgboost"}

    def _fit(self, X: Any, y: Any, privileged: Any, sample_weight: Any) -> None:
        self._check_distributed()
        ordinary = self._unfitted()
        classifier = hasattr(ordinary, "class_weight")
        training = read_parts(
            ordinary,
            self._client(),
            partial(_read, y_numeric=not classifier),
            X=X,
            y=y,
            privileged=privileged,
            sample_weight=sample_weight,
        )
        ordinary._encoder = factor = None
        if classifier:
            classes = ordinary.classes_ = classes_of(training, ordinary)
            totals = training.sum(class_totals, classes)
            codes = np.arange(len(classes))
            factor = class_weights(ordinary.class_weight, classes, codes, totals)
        if not isinstance(ordinary.random_state, int | np.integer):
            # All workers have to draw the same numbers.
            rng = check_random_state(ordinary.random_state)
            ordinary.random_state = int(rng.randint(2**31 - 1))
        fitted = in_step(training, _boosted, ordinary, factor)
        self._take(fitted)

    def _check_distributed(self) -> None:
        self._check_parameters()  # type: ignore[attr-defined]
        name = type(self).__name__
        wrong = {
            "engine": (self.engine != "xgboost", 'engine="xgboost"'),  # type: ignore[attr-defined]
            "device": (self.device != "cpu", 'device="cpu"'),  # type: ignore[attr-defined]
            "auxiliary": (self.auxiliary is not None, "auxiliary=None"),  # type: ignore[attr-defined]
            "warm_start": (self.warm_start, "warm_start=False"),  # type: ignore[attr-defined]
            "n_iter_no_change": (
                self.n_iter_no_change is not None,  # type: ignore[attr-defined]
                "n_iter_no_change=None",
            ),
        }
        for key, (is_wrong, instead) in wrong.items():
            if is_wrong:
                raise ValueError(
                    f"{key}={getattr(self, key)!r}: lupi.dask.{name} boosts by the "
                    f"collective of XGBoost and takes {instead} alone."
                )


def _read(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    y_numeric: bool,
    privileged: Any = None,
    sample_weight: Any = None,
) -> Training:
    training = estimator._read(X, y, privileged, sample_weight, y_numeric=y_numeric)
    if estimator._encoder is not None:
        raise ValueError(
            f"lupi.dask.{type(estimator).__name__} takes columns of numbers alone. "
            "Encode categories first, for example with dask_ml or by get_dummies."
        )
    return training


def in_step(training: DaskParts, function: Callable, *given: Any) -> Any:
    """Run a function at once on all workers that hold rows; return what the first says.

    Parameters
    ----------
    training : DaskParts of Training
        The rows.
    function : callable
        ``function(training, *given)``; within it, XGBoost's collective is at work.
    *given : object
        The same for all workers.
    """
    client = training.client
    wait(training.futures)
    held: dict[str, list[Any]] = {}
    for future, holders in client.who_has(training.futures).items():
        held.setdefault(min(holders), []).append(future)
    keys = {future.key: future for future in training.futures}
    tracker = client.run_on_scheduler(_start_tracker, len(held))
    futures = [
        client.submit(
            _run_in_step,
            [keys[key] for key in own],
            tracker,
            function,
            given,
            workers=[worker],
            pure=False,
            retries=0,
        )
        for worker, own in held.items()
    ]
    try:
        while not all(future.done() for future in futures):
            if any(future.status in ("error", "cancelled") for future in futures):
                break
            # Not `scheduler_info`, which the client replaces from time to time by one
            # without workers.
            if not held.keys() <= client.nthreads().keys():
                break
            time.sleep(_PAUSE)
        failed = [one.exception() for one in futures if one.status == "error"]
        if own := [error for error in failed if type(error).__module__ == "builtins"]:
            raise own[0]  # the others fail in the collective of XGBoost
        if all(future.status == "finished" for future in futures):
            found = client.gather(futures)
            return next(one for one in found if one is not None)
        raise RuntimeError(
            "Boosting on the cluster broke off, as it does when a worker is lost: the "
            "others cannot go on without it. Start the fit again."
        ) from next(iter(failed), None)
    finally:
        client.cancel(futures)
        client.run_on_scheduler(_stop_tracker, tracker["dmlc_tracker_port"])


_TRACKERS: dict[Any, Any] = {}


def _start_tracker(n_workers: int, dask_scheduler: Any = None) -> dict[str, Any]:
    """Start what the workers find each other by, beside the scheduler."""
    from xgboost.tracker import RabitTracker

    host = get_address_host(dask_scheduler.address)
    tracker = RabitTracker(n_workers=n_workers, host_ip=host, sortby="task")
    tracker.start()
    arguments = tracker.worker_args()
    _TRACKERS[arguments["dmlc_tracker_port"]] = tracker
    return arguments


def _stop_tracker(port: Any) -> None:
    from xgboost.core import XGBoostError

    # One that has lost a worker says so when it is freed.
    with suppress(XGBoostError):
        _TRACKERS.pop(port).free()


def _run_in_step(
    parts: list[Training],
    tracker: dict[str, Any],
    function: Callable,
    given: tuple[Any, ...],
) -> Any:
    xgboost = import_xgboost()
    from xgboost import collective

    arguments = {**tracker, "dmlc_task_id": get_worker().address}
    with (
        collective.CommunicatorContext(**arguments),
        xgboost.config_context(nthread=get_worker().state.nthreads),
        together(collective),
    ):
        found = function(joined(parts), *given)
        return found if collective.get_rank() == 0 else None


def _boosted(
    training: Training, estimator: Any, factor: np.ndarray | None
) -> dict[str, Any]:
    """Boost the rows of this worker; return the fitted attributes."""
    if factor is None:
        targets, weight = [training.y], training.weight
    else:
        codes = np.searchsorted(estimator.classes_, training.y)
        problems = binary_problems(codes, len(estimator.classes_), "ovr")
        targets = [target for _, target in problems]
        weight = training.weight * factor[codes]
    # Workers whose rows have no X* stay in step with those that have it.
    training = with_width(training, estimator.n_privileged_features_in_)
    estimator._fit_targets(training, targets, weight)
    return vars(estimator)
