"""A model is one file and its name in two lists; everything else is derived from it.

Both are put into a copy of the package, and a fresh interpreter looks for the model.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lupi

ROOT = Path(__file__).parents[1]

MODEL = '''
"""Weighted SVM+: a toy, the SVM+ with half of its cost."""

from lupi.base import ModelInfo, PrivilegedClassifierBase
from lupi.svm._machine import KernelMachine
from lupi.svm._svm_plus import svm_plus_problem


class HalfSVCPlus(KernelMachine, PrivilegedClassifierBase):
    """SVM+ at half of its cost.

    Parameters
    ----------
    C : float, default=1.0
        Cost.
    """

    __lupi_info__ = ModelInfo(
        title="Half SVM+",
        paper="Nobody 2020, Nowhere",
        helps="as SVM+",
        cost="2n",
        tune="`C`",
        space={"C": [0.1, 1.0, 10.0]},
        privileged_space={"privileged_reg": [0.1, 1.0]},
        functions=("slack",),
    )

    def __init__(self, C=1.0, *, privileged_reg=0.1):
        self.C = C
        self.privileged_reg = privileged_reg

    kernel = privileged_kernel = "rbf"
    gamma = privileged_gamma = "scale"
    degree = privileged_degree = 3
    coef0 = privileged_coef0 = 0.0
    multi_class, solver, tol, max_iter = "ovo", "auto", 1e-6, -1

    def _cost(self, part):
        return 0.5 * self.C * part.weight

    def _problem(self, data):
        return svm_plus_problem(data, self.privileged_reg)
'''

LOOK = """
import runpy, sys, tempfile, warnings
from pathlib import Path

import numpy as np
import matplotlib

matplotlib.use("Agg")
import lupi

Half = lupi.HalfSVCPlus
assert Half is lupi.svm.HalfSVCPlus
assert "HalfSVCPlus" in dir(lupi)

# the documentation
docs = Path(sys.argv[1]) / "docs"
pages = runpy.run_path(str(docs / "_ext" / "model_pages.py"))
assert "| `HalfSVCPlus` | as SVM+ | 2n | `C` |" in pages["fill"](
    (docs / "choosing.md").read_text(encoding="utf-8")
)
assert "## Half SVM+" in pages["fill"](
    (docs / "models" / "svm.md").read_text(encoding="utf-8")
)
assert "   HalfSVCPlus" in pages["api_page"]("lupi.svm", docs)

# compare, with its own search space
from lupi.datasets import make_slack_teacher
from lupi.evaluation import compare

data = make_slack_teacher(60, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    comparison = compare(
        data.data, data.target, data.privileged, methods="half-svc-plus",
        cv=2, n_candidates=1, inner_cv=2, random_state=0,
    )
assert comparison.methods == ["HalfSVCPlus"] and not comparison.failures

# the command line
import contextlib, io
from lupi.cli import main

with contextlib.redirect_stdout(io.StringIO()) as shown:
    assert main(["methods"]) == 0
assert "half-svc-plus" in shown.getvalue(), shown.getvalue()

# files
model = Half().fit(data.data, data.target, privileged=data.privileged)
with tempfile.TemporaryDirectory() as folder:
    lupi.save(model, f"{folder}/model.skops")
    again = lupi.load(f"{folder}/model.skops")
assert np.array_equal(again.predict(data.data), model.predict(data.data))

# displays
from lupi.inspection import SpacesDisplay

display = SpacesDisplay.from_estimator(model, data.data, data.target, data.privileged)
assert len(display.axes_) == 2 and not display.signed
try:
    from sklearn.svm import SVC

    other = SVC().fit(data.data, data.target)
    SpacesDisplay.from_estimator(other, data.data, data.target, data.privileged)
except ValueError as error:
    assert "HalfSVCPlus" in str(error)

# the contract
from lupi.testing import privileged_estimator_checks

checks = dict(privileged_estimator_checks(Half()))
assert len(checks) > 40
for name in ("check_requested_by_default", "check_permuted_rows"):
    checks[name](Half())
print("found everywhere")
"""


def add(path: Path, *lines: tuple[str, str]) -> None:
    """Add each line to a file, after the text before it."""
    text = path.read_text(encoding="utf-8")
    for before, line in lines:
        assert before in text
        text = text.replace(before, before + line, 1)
    path.write_text(text, encoding="utf-8")


def test_one_file_is_found_everywhere(tmp_path):
    source = tmp_path / "src" / "lupi"
    shutil.copytree(Path(lupi.__file__).parent, source)
    (source / "svm" / "_half_svm_plus.py").write_text(MODEL, encoding="utf-8")
    add(
        source / "svm" / "__init__.py",
        ("__all__ = [", '"HalfSVCPlus",'),
        ("", "from lupi.svm._half_svm_plus import HalfSVCPlus\n"),
    )
    add(
        source / "__init__.py",
        ("__all__ = [", '"HalfSVCPlus",'),
        ("from lupi.svm import (", "HalfSVCPlus,"),
    )
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(ROOT)],
        env=os.environ | {"PYTHONPATH": str(source.parent)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("found everywhere\n")
