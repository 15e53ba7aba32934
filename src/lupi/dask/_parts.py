"""Parts that are on the workers of a cluster."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from lupi._parts import add, maximum

# How many partial sums one task adds.
_FAN_IN = 8
# An argument of more bytes is sent to the cluster once, not with every task.
_LARGE = 1 << 14


class DaskParts:
    """Parts that are futures of a cluster.

    A part is computed by a chain of tasks from the partitions of the user. The
    scheduler knows the chain, so that what a lost worker held is computed again.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    futures : sequence of distributed.Future
        One per part.
    """

    def __init__(self, client: Any, futures: Sequence[Any]) -> None:
        self.client, self.futures = client, list(futures)

    def _submit(self, function: Callable, given: Sequence[Any]) -> list[Any]:
        beside = [
            one.futures
            if isinstance(one, DaskParts)
            else [self._sent(one)] * len(self.futures)
            for one in given
        ]
        return [
            self.client.submit(function, *arguments, pure=False)
            for arguments in zip(self.futures, *beside, strict=True)
        ]

    def _sent(self, value: Any) -> Any:
        """Return a value, or the future of a large one."""
        large = len(pickle.dumps(value, protocol=5)) > _LARGE
        return sent_once(self.client, value) if large else value

    def map(self, function: Callable, *given: Any) -> DaskParts:
        """Return the results of a function, which stay on the workers."""
        return DaskParts(self.client, self._submit(function, given))

    def gather(self, function: Callable, *given: Any) -> list[Any]:
        """Return the results of a function, which are small."""
        return self.client.gather(self._submit(function, given))

    def sum(self, function: Callable, *given: Any) -> Any:
        """Return the sum of the results."""
        return self._reduce(add, function, given)

    def largest(self, function: Callable, *given: Any) -> Any:
        """Return the elementwise maximum of the results."""
        return self._reduce(maximum, function, given)

    def _reduce(
        self, combine: Callable, function: Callable, given: Sequence[Any]
    ) -> Any:
        level = self._submit(function, given)
        while len(level) > 1:
            level = [
                self.client.submit(
                    _combined, combine, *level[k : k + _FAN_IN], pure=False
                )
                for k in range(0, len(level), _FAN_IN)
            ]
        return level[0].result()


def sent_once(client: Any, value: Any) -> Any:
    """Return the future of a value, which stands for it in any number of tasks.

    It is the result of a task, which the cluster computes again where the worker that
    held it is lost; a value that is scattered is lost with its worker.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(_itself, value, pure=False)


def _itself(value: Any) -> Any:
    return value


def _combined(combine: Callable, first: Any, *others: Any) -> Any:
    for other in others:
        first = combine(first, other)
    return first
