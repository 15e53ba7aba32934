"""Run the targets of the Makefile as a stranger would: `make test-fresh`.

Clones the last commit into a temporary folder and runs every target there, with a new
environment for each extra, so that a package that an extra lacks is seen. Takes half
an hour on two cores and needs the network. ``python .ci/fresh.py docs lint`` runs some.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The extra whose environment each target makes, and its variables.
TARGETS = {
    "demo": ("cli", ()),
    "test": ("test", ()),
    "docs": ("docs", ("GALLERY=no",)),
    "lint": ("dev", ()),
    "evidence": ("dev", ("EVIDENCE=--quick",)),
    "bench": ("dev", ("BENCH=--small",)),
}


def main(names: list[str]) -> int:
    """Run the targets of these names, and return the number of those that failed."""
    unknown = set(names) - set(TARGETS)
    if unknown:
        print(f"No target here is named {', '.join(unknown)}: {', '.join(TARGETS)}.")
        return 1
    summary, n_failed = [], 0
    # An environment around this one must not lend its packages.
    lent = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL")
    given = {key: value for key, value in os.environ.items() if key not in lent}
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "lupi"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        made = None
        for name in [each for each in TARGETS if each in (names or TARGETS)]:
            extra, variables = TARGETS[name]
            if made not in (None, extra):
                shutil.rmtree(clone / f".venv-{made}", ignore_errors=True)
            made = extra
            command = ["make", name, f"VENV=.venv-{extra}", *variables]
            print(f"\n==== {' '.join(command)}", flush=True)
            start = time.monotonic()
            failed = subprocess.run(command, cwd=clone, env=given).returncode != 0
            n_failed += failed
            word = "FAILED" if failed else "passed"
            summary.append(f"{word}  make {name} in {time.monotonic() - start:.0f} s")
    print("\n==== summary", *summary, sep="\n")
    return n_failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
