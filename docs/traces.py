"""Print the files of src/lupi that run, in order, in four calls; for architecture.md.

A file counts where one of its functions is entered; what only an import runs does not.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import lupi
from lupi.cli import main

SOURCE = str(Path(lupi.__file__).parent) + os.sep
OPTIMIZED = 1  # set for functions, not for the bodies of modules and classes


def files_of(call: Callable[[], Any]) -> list[str]:
    """Return the files in which a function is entered during a call, in order."""
    seen: dict[str, None] = {}

    def enter(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_import = code.co_name in ("__getattr__", "__init_subclass__")
        if event != "call" or not code.co_flags & OPTIMIZED or is_import:
            return
        if code.co_filename.startswith(SOURCE):
            seen.setdefault(code.co_filename.removeprefix(SOURCE))

    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def traces() -> dict[str, list[str]]:
    """Return the files of the calls that architecture.md follows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    P = X[:, :2] + rng.normal(size=(80, 2))
    y = (P.sum(axis=1) > 0).astype(int)
    found = {}
    for name in (
        "SVCPlus",
        "GeneralizedDistillationClassifier",
        "HedgedDistillationClassifier",
    ):
        model = getattr(lupi, name)()
        model.fit(X, y, privileged=P)  # everything is loaded now
        found[f"{name}.fit"] = files_of(lambda m=model: m.fit(X, y, privileged=P))
    table = pd.DataFrame(
        np.column_stack([X, P, y]), columns=["a", "b", "c", "p", "q", "y"]
    )
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(f"{folder}/table.csv", index=False)
        words = f"compare {folder}/table.csv -t y -p p,q -m svc-plus --cv 2"
        words += f" --n-candidates 1 --inner-cv 2 -j 1 --out {folder}/report"
        main([*words.split(), "--force"])
        files = files_of(lambda: main([*words.split(), "--force"]))
    found["lupi compare"] = [
        name for name in files if not name.startswith(("_convex/", "svm/"))
    ]
    return found


if __name__ == "__main__":
    for call, files in traces().items():
        print(f"{call}: {len(files)} files")
        for file in files:
            print(f"    {file}")
