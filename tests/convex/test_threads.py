"""BLAS threads while fits run, one after the other and at the same time."""

import threading

import numpy as np
import pytest

from lupi import SVCPlus
from lupi._convex import linalg as threads

ALL = 4


class Library:
    """Stands in for a BLAS library."""

    def __init__(self, filepath):
        self.filepath, self.num_threads = filepath, ALL

    def set_num_threads(self, number):
        self.num_threads = number


@pytest.fixture
def libraries(monkeypatch):
    both = [Library("/x/numpy.libs/blas.so"), Library("/x/scipy.libs/blas.so")]
    monkeypatch.setattr(threads, "_blas", lambda: both)
    # Threads of other tests may still be at work.
    monkeypatch.setattr(threads, "_requests", threads._Requests())
    return both


def numbers(libraries):
    return [library.num_threads for library in libraries]


@pytest.mark.parametrize(
    ("size", "package", "expected"),
    [(10, "scipy", [1, 1]), (99, "scipy", [1, ALL]), (99, "numpy", [ALL, 1])],
)
def test_large_problems_use_the_threads_of_one_library(
    libraries, size, package, expected
):
    with threads.limit_threads(size, package, threaded_size=50):
        assert numbers(libraries) == expected
    assert numbers(libraries) == [ALL, ALL]


def test_one_library_for_both_packages_keeps_its_threads(libraries):
    del libraries[1:]
    libraries[0].filepath = "/usr/lib/libopenblas.so"
    with threads.limit_threads(99, "scipy", threaded_size=50):
        assert numbers(libraries) == [ALL]


def test_the_innermost_request_of_a_thread_holds(libraries):
    with threads.one_thread():
        with threads.limit_threads(99, "scipy", threaded_size=50):
            assert numbers(libraries) == [1, ALL]
        assert numbers(libraries) == [1, 1]
    assert numbers(libraries) == [ALL, ALL]


def run_beside(context, body):
    """Enter a context in another thread, run the body, leave it."""
    entered, leave = threading.Event(), threading.Event()

    def work():
        with context():
            entered.set()
            leave.wait(60)

    other = threading.Thread(target=work)
    other.start()
    assert entered.wait(60)
    body()
    leave.set()
    other.join()


def large():
    return threads.limit_threads(99, "scipy", threaded_size=50)


def test_fits_at_the_same_time_share_the_threads(libraries):
    def body():
        assert numbers(libraries) == [1, ALL]
        with large():
            assert numbers(libraries) == [1, ALL // 2]
        with threads.one_thread():
            assert numbers(libraries) == [1, 1]

    run_beside(large, body)
    assert numbers(libraries) == [ALL, ALL]


def test_limits_are_restored_when_the_first_to_enter_is_the_first_to_leave(libraries):
    late = large()

    run_beside(threads.one_thread, lambda: late.__enter__())
    assert numbers(libraries) == [1, ALL]
    late.__exit__(None, None, None)
    assert numbers(libraries) == [ALL, ALL]


def test_limits_are_restored_after_an_error(libraries):
    with pytest.raises(RuntimeError, match="made so"), large():
        raise RuntimeError("made so")
    assert numbers(libraries) == [ALL, ALL]


def test_fits_in_threads_leave_the_libraries_as_they_were():
    """Overlapping fits, with the libraries of this process."""
    libraries = threads._blas()
    before = numbers(libraries)
    for library in libraries:
        library.set_num_threads(2)
    expected = numbers(libraries)
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(2, 60, 3))
    y = X[:, 0] + rng.normal(size=60) > 0

    def fit():
        for _ in range(2):
            SVCPlus().fit(X, y, privileged=P)

    workers = [threading.Thread(target=fit) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = numbers(libraries)
    for library, number in zip(libraries, before, strict=True):
        library.set_num_threads(number)
    assert found == expected
