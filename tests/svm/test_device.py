"""device="cuda": what is refused without a GPU, and what is computed with one."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from sklearn.base import clone

import lupi
from lupi._convex import linalg
from lupi.svm._machine import Place
from tests.convex.strict import StrictVector

pytestmark = pytest.mark.filterwarnings("ignore:.*no sensitive_features")

MODELS = [
    lupi.SVCPlus(),
    lupi.SVCDeltaPlus(),
    lupi.UnifiedSVC(),
    lupi.SVRPlus(),
    lupi.L2SVCPlus(),
    lupi.MarginTransferSVC(),
    lupi.DeviationSVCPlus(),
    lupi.FairSVCDeltaPlus(),
    lupi.LinearSVCPlus(),
    lupi.LinearSVCDeltaPlus(),
    lupi.LinearSVRPlus(),
]
rng = np.random.default_rng(0)
X, P = rng.normal(size=(2, 30, 3))
Y = np.where(X[:, 0] + 0.5 * P[:, 0] > 0, 1, 0)


def _torch(*, gpu, free=0):
    """A module that says what torch says of a machine."""
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: gpu,
        mem_get_info=lambda device: (free, free),
        memory_reserved=lambda device: 0,
        memory_allocated=lambda device: 0,
    )
    return torch


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_without_torch_the_command_that_brings_it_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    model = clone(model).set_params(device="cuda")
    with pytest.raises(ModuleNotFoundError, match=r'pip install "lupi\[gpu\]"'):
        model.fit(X, Y, privileged=P)
    assert not hasattr(model, "objective_")


def test_without_a_gpu_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", _torch(gpu=False))
    with pytest.raises(RuntimeError, match=r"no GPU .* Use device='cpu'"):
        lupi.SVCPlus(device="cuda").fit(X, Y, privileged=P)


def many(n_rows, width):
    rows = np.random.default_rng(0).normal(size=(n_rows, width))
    return rows, rows[:, 0] > 0


def test_too_little_memory_is_said_before_the_work_starts(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", _torch(gpu=True, free=2**30))
    X, y = many(20_000, 1)
    with pytest.raises(
        MemoryError, match=r"20000 rows needs about 11\.9 GiB .* 1\.0 GiB"
    ):
        lupi.SVCPlus(device="cuda").fit(X, y, privileged=X)


def test_what_does_not_fit_in_double_precision_is_given_by_its_rows(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", _torch(gpu=True, free=15 * 2**30))
    assert Place.of("cuda", "SVCPlus", 15_000, 2, None).stored
    assert not Place.of("cuda", "SVCPlus", 20_000, 2, None).stored


def test_features_that_do_not_fit_are_told_of_before_the_work_starts(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", _torch(gpu=True, free=2**26))
    told = r"100000 rows of 40 features needs about 0\.\d+ GiB .* 0\.\d+ GiB"
    X, y = many(100_000, 20)
    with pytest.raises(MemoryError, match=told):
        lupi.LinearSVCPlus(device="cuda").fit(X, y, privileged=X)


def test_tensors_are_read_as_arrays():
    class Tensor:
        __module__ = "torch"

        def __init__(self, values):
            self.values, self.shape = values, values.shape

        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return self.values

    expected = lupi.SVCPlus().fit(X, Y, privileged=P)
    model = lupi.SVCPlus().fit(Tensor(X), Tensor(Y), privileged=Tensor(P))
    np.testing.assert_array_equal(model.predict(Tensor(X)), expected.predict(X))
    np.testing.assert_array_equal(model.correction(Tensor(P)), expected.correction(P))


def _pretend(monkeypatch):
    """Put vectors that nothing but the interface may touch in the place of a GPU."""
    monkeypatch.setitem(linalg.DEVICES, "cuda", StrictVector)
    monkeypatch.setitem(sys.modules, "torch", _torch(gpu=True, free=2**30))


LINEAR = [
    lupi.LinearSVCPlus(privileged_reg=0.1),
    lupi.LinearSVCDeltaPlus(privileged_reg=0.1),
    lupi.LinearSVCDeltaPlus(privileged_reg=0.1, slack="hinge"),
    lupi.LinearSVRPlus(privileged_reg=0.1),
]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("model", LINEAR, ids=str)
def test_linear_models_are_the_same_elsewhere(model, missing, monkeypatch):
    """Rows behind the interface of a device: the objective of the CPU."""
    hidden = np.random.default_rng(1).normal(size=(150, 3))
    X = hidden + np.random.default_rng(2).normal(size=(150, 3))
    y, error = hidden.sum(axis=1), (X - hidden).sum(axis=1)
    slack = np.abs(error)
    if not isinstance(model, lupi.LinearSVRPlus):
        y = np.sign(y)
        slack = np.maximum(1.0 - y * X.sum(axis=1), 0.0)
    P = np.column_stack([slack, error])
    if missing:
        P[::3] = np.nan
    expected = clone(model).fit(X, y, privileged=P)
    _pretend(monkeypatch)
    found = clone(model).set_params(device="cuda").fit(X, y, privileged=P)
    assert found.converged_
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=2e-6)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-3)
