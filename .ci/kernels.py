"""Run the numeric tests with the arithmetic of other processors: `make test-kernels`.

Sums are taken in another order by the kernels of OpenBLAS for older processors, by
NumPy without its newer instruction sets, and with several BLAS threads. Results then
differ in their last digits, which no test may depend on.

``python .ci/kernels.py nehalem threads`` runs some of the sets; without names it runs
all that this machine has.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("svm", "convex", "boosting", "transfer")
PACKAGES += ("errata", "advice", "base", "compose")
SETS = ("nehalem", "haswell", "numpy", "threads")
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# What a process has: OpenBLAS of NumPy and of SciPy, and instruction sets of NumPy.
SHOW = """
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
for library in threadpool_info():
    if library["user_api"] == "blas":
        print(library.get("architecture", "?"), library["num_threads"], sep=":")
print(*numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []), sep=" ")
"""


def seen(changes: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the BLAS kernels with their threads, and the instruction sets of NumPy."""
    shown = subprocess.run(
        [sys.executable, "-c", SHOW],
        env=os.environ | ONE_THREAD | changes,
        capture_output=True,
        text=True,
        check=True,
    )
    *libraries, features = shown.stdout.splitlines()
    return libraries, features.split()


def environments(names: list[str]) -> Iterator[tuple[str, dict[str, str] | str]]:
    """Yield the environment of every set, or the reason why there is none."""
    libraries, features = seen({})
    openblas = any(not library.startswith("?") for library in libraries)
    for name in names:
        if name == "threads":
            yield name, {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
        elif name == "numpy" and not features:
            yield name, "NumPy uses no instruction sets beyond its oldest ones here."
        elif name == "numpy":
            yield name, {"NPY_DISABLE_CPU_FEATURES": " ".join(features)}
        elif not openblas or platform.machine().lower() not in ("x86_64", "amd64"):
            yield name, "There is no OpenBLAS for x86-64 here."
        elif name == "haswell" and not any(
            feature.startswith(("AVX512", "X86_V4")) for feature in features
        ):
            yield name, "Without AVX-512, `make test` runs with these kernels."
        else:
            kernels = {"OPENBLAS_CORETYPE": name.capitalize()}
            # As long as numba compiles the updates of the Adviceptron.
            yield name, kernels | {"NUMBA_CPU_NAME": "generic"}


def main(names: list[str]) -> int:
    """Run the sets of these names, and return the number of those that failed."""
    unknown = set(names) - set(SETS)
    if unknown:
        print(f"No set of kernels is named {', '.join(unknown)}: {', '.join(SETS)}.")
        return 1
    tests = [str(Path("tests") / package) for package in PACKAGES]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile"]
    command += ["--no-loadscope-reorder", "-p", "no:cacheprovider", *tests]
    summary, n_failed = [], 0
    for name, changes in environments(names or list(SETS)):
        if isinstance(changes, str):
            summary.append(f"{name:8} skipped: {changes}")
            print(f"\n== {summary[-1]}", flush=True)
            continue
        libraries, features = seen(changes)
        settings = " ".join(f"{key}={value!r}" for key, value in changes.items())
        print(f"\n== {name}: {settings}", flush=True)
        print(
            f"   BLAS {' '.join(libraries)}, NumPy {' '.join(features) or 'baseline'}"
        )
        sys.stdout.flush()
        wanted = changes.get("OPENBLAS_CORETYPE")
        start = time.monotonic()
        if wanted and not all(library.startswith(wanted) for library in libraries):
            failed, word = True, "FAILED: OpenBLAS does not use these kernels"
        else:
            given = os.environ | ONE_THREAD | changes
            failed = subprocess.run(command, cwd=ROOT, env=given).returncode != 0
            word = "FAILED" if failed else "passed"
        n_failed += failed
        summary.append(f"{name:8} {word} in {time.monotonic() - start:.0f} s")
    print("\n== kernels", *summary, sep="\n")
    return n_failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
