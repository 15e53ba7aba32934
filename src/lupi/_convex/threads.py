"""Number of BLAS threads while a problem is solved.

The number of threads of a BLAS library applies to the whole process, while fits may run
in several Python threads at once and overlap in any order. Every request is therefore
registered here: the current limits follow from all requests, and the original limits
are restored when the last request ends.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["allowed_threads", "limit_threads", "one_thread"]


class _Requests:
    """The requests of every thread; the last one of a thread overrides its others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of_thread: dict[int, list[set[str]]] = {}
        self._original: dict[str, int] = {}

    @contextmanager
    def register(self, threaded: set[str]) -> Iterator[None]:
        """Allow several threads in these libraries, and one thread in all others."""
        own = threading.get_ident()
        try:  # an interrupt may come at any line
            with self._lock:
                if not self._of_thread:
                    self._original = {lib.filepath: lib.num_threads for lib in _blas()}
                self._of_thread.setdefault(own, []).append(threaded)
                self._apply()
            yield
        finally:
            with self._lock:
                requests = self._of_thread.pop(own, [])
                if requests[:-1]:
                    self._of_thread[own] = requests[:-1]
                self._apply()

    def _apply(self) -> None:
        latest = [requests[-1] for requests in self._of_thread.values()]
        for lib in _blas():
            number = self._original[lib.filepath]
            if latest:
                several = all(lib.filepath in threaded for threaded in latest)
                number = max(number // len(latest), 1) if several else 1
            if lib.num_threads != number:
                lib.set_num_threads(number)


_requests = _Requests()


@cache
def _blas() -> list[Any]:
    """Return the BLAS libraries of this process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


def allowed_threads() -> int:
    """Return the current number of BLAS threads."""
    return max((lib.num_threads for lib in _blas()), default=1)


def one_thread():
    """Return a context in which every BLAS library uses one thread."""
    return _requests.register(set())


def limit_threads(size: int, package: str, *, threaded_size: int):
    """Return a context with the number of BLAS threads that suits a problem size.

    Problems below ``threaded_size`` use one. For larger ones only the library of the
    package that computes the large products uses several: NumPy and SciPy may each have
    their own library, and the waiting threads of one would occupy the cores.
    """
    if size < threaded_size:
        return one_thread()
    paths = {lib.filepath for lib in _blas()}
    return _requests.register({p for p in paths if f"{package}.libs" in p} or paths)
