"""Bad input is refused with a sentence that says what to do."""

import os
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lupi.svm import (
    FairSVCDeltaPlus,
    HardMarginSVC,
    L2SVCPlus,
    LinearSVCPlus,
    LinearSVRPlus,
    SVCDeltaPlus,
    SVCPlus,
    SVRPlus,
    UnifiedSVC,
)

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.where(np.arange(12) % 2, 1, -1)
P = np.random.default_rng(1).normal(size=(12, 3))


def changed(values, at, value):
    values = np.array(values, dtype=float)
    values[at] = value
    return values


PRIVILEGED = {
    "wrong length": (P[:7], "7 rows for 12 rows"),
    "one-dimensional": (P[:, 0], "1-D"),
    "partly NaN": (changed(P, (4, 1), np.nan), "Row 4 of privileged"),
    "infinite": (changed(P, (5, 0), np.inf), "infinite values"),
    "text": (np.full((12, 1), "mild"), "numbers only"),
    "no columns": (np.empty((12, 0)), "0 columns"),
}


@pytest.mark.parametrize("case", PRIVILEGED)
@pytest.mark.parametrize(
    "estimator", [SVCPlus, SVCDeltaPlus, LinearSVCPlus, SVRPlus, FairSVCDeltaPlus]
)
def test_privileged(estimator, case):
    given, sentence = PRIVILEGED[case]
    with pytest.raises(ValueError, match=sentence):
        estimator().fit(X, Y, privileged=given)


@pytest.mark.parametrize("estimator", [SVCPlus, UnifiedSVC, L2SVCPlus, LinearSVCPlus])
def test_one_class(estimator):
    with pytest.raises(ValueError, match="at least two classes"):
        estimator().fit(X, np.ones(12), privileged=P)


def test_precomputed_kernels_must_be_square():
    with pytest.raises(ValueError, match="square matrix of kernel values"):
        SVCPlus(kernel="precomputed").fit(X, Y, privileged=P)
    with pytest.raises(ValueError, match="square matrix of kernel values of all 12"):
        SVCPlus(privileged_kernel="precomputed").fit(X, Y, privileged=P)


def test_a_slice_of_a_precomputed_privileged_kernel():
    """Cross-validation slices rows; half a kernel matrix is not a kernel matrix."""
    model = SVCPlus(privileged_kernel="precomputed")
    with pytest.raises(ValueError, match="Cross-validation only slices the rows"):
        model.fit(X[:8], Y[:8], privileged=(P @ P.T)[:8])


@pytest.mark.parametrize("estimator", [SVCPlus, SVRPlus])
def test_weights(estimator):
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        estimator().fit(X, Y, privileged=P, sample_weight=changed(np.ones(12), 3, -1))
    with pytest.raises(ValueError, match="sample_weight"):
        estimator().fit(X, Y, privileged=P, sample_weight=np.ones(5))


@pytest.mark.parametrize("estimator", [SVCPlus, SVRPlus, LinearSVCPlus, HardMarginSVC])
def test_empty(estimator):
    with pytest.raises(ValueError, match="0 sample"):
        estimator().fit(np.empty((0, 2)), np.empty(0))


def test_kernel_function_of_the_wrong_shape():
    with pytest.raises(ValueError, match="one value for each pair"):
        SVCPlus(kernel=lambda A, B: A).fit(X, Y)


def test_sensitive_features():
    fair = FairSVCDeltaPlus()
    with pytest.raises(ValueError, match="7 rows for 12 rows"):
        fair.fit(X, Y, sensitive_features=P[:7])
    with pytest.raises(ValueError, match="missing values in the sensitive column"):
        fair.fit(X, Y, sensitive_features=changed(P, (0, 0), np.nan))
    with pytest.raises(ValueError, match="infinite values in the sensitive column"):
        fair.fit(X, Y, sensitive_features=changed(P, (0, 0), np.inf))


def test_hard_margin_refuses_what_it_cannot_do():
    same = np.zeros((12, 2))
    with pytest.raises(ValueError, match="not separable"):
        HardMarginSVC(kernel="linear").fit(same, Y)
    with pytest.raises(ValueError, match=r"slacks of shape .* Give one number per row"):
        HardMarginSVC().fit(X, Y, slacks=np.zeros(5))
    with pytest.raises(ValueError, match="could not read slacks as numbers"):
        HardMarginSVC().fit(X, Y, slacks=["a"] * 12)
    with pytest.raises(ValueError, match="found negative slacks: Row 2"):
        HardMarginSVC().fit(X, Y, slacks=changed(np.zeros(12), 2, -1.0))


def test_a_hard_margin_too_small_for_the_gap_is_kept_with_a_warning(monkeypatch):
    """Separated rows are separated, whatever the last digits of the gap."""
    x, y = np.array([[-1.0], [0.0], [1e-5], [1.0]]), [0, 0, 1, 1]
    solve = HardMarginSVC._solve

    def never_converged(self, problem):
        solution = replace(solve(self, problem), converged=False)
        self._check_solved(solution)
        return solution

    monkeypatch.setattr(HardMarginSVC, "_solve", never_converged)
    with pytest.warns(ConvergenceWarning, match="duality gap") as told:
        model = HardMarginSVC(kernel="linear").fit(x, y)
    assert "extreme C" not in str(told[0].message)  # which it does not have
    assert model.score(x, y) == 1.0
    assert not model.converged_
    # A margin of one at 0 and 1e-5: w = 2e5.
    np.testing.assert_allclose(model.coef_, 2e5, rtol=1e-6)


def test_privileged_of_another_width_than_in_fit():
    model = SVCPlus().fit(X, Y, privileged=P)
    with pytest.raises(ValueError, match="3"):
        model.correction(P[:, :2])


def _not_a_number(rows, others):
    values = rows @ others.T
    values[0, -1] = np.nan
    return values


@pytest.mark.parametrize("name", ["kernel", "privileged_kernel"])
def test_kernels_that_return_nan_are_refused(name):
    with pytest.raises(ValueError, match="kernel function gives NaN or infinity"):
        SVCPlus(**{name: _not_a_number}).fit(X, Y, privileged=P)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_the_scale_of_large_features_is_that_of_gamma(kernel):
    kernels = {"kernel": kernel, "privileged_kernel": kernel}
    for one, other in [(1e40 * X, P), (X, 1e40 * P)]:
        model = SVCPlus(**kernels).fit(one, Y, privileged=other)
        assert model.converged_


@pytest.mark.parametrize("power", [80, 154, 300])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_features_whose_products_overflow_are_refused(kernel, power):
    kernels = {"kernel": kernel, "privileged_kernel": kernel}
    for one, other in [(X * 10.0**power, P), (X, P * 10.0**power)]:
        with pytest.raises(ValueError, match=r"[Ss]cale"):
            SVCPlus(**kernels).fit(one, Y, privileged=other)


@pytest.mark.parametrize("kind", [LinearSVCPlus, LinearSVRPlus])
def test_features_of_linear_models_that_overflow_are_refused(kind):
    for one, other in [(1e200 * X, P), (X, 1e200 * P)]:
        with pytest.raises(ValueError, match="scale the column"):
            kind().fit(one, Y, privileged=other)


def memory_of(monkeypatch, n_bytes):
    """Let the operating system report this much memory."""
    known, sysconf = {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": n_bytes}, os.sysconf
    monkeypatch.setattr(os, "sysconf", lambda name: known.get(name) or sysconf(name))


def test_memory_is_announced_before_it_is_taken(monkeypatch):
    def kernel(rows, others):
        raise ArithmeticError("computed after the warning")

    memory_of(monkeypatch, 10**12)
    rows = np.random.default_rng(0).normal(size=(12_000, 1))
    told = pytest.warns(UserWarning, match=r"about 2\.3 GB.*LinearSVCPlus.*Nystroem")
    with told, pytest.raises(ArithmeticError):
        SVCPlus(kernel=kernel).fit(rows, rows[:, 0] > 0)


def test_fits_say_what_memory_they_take(monkeypatch):
    memory_of(monkeypatch, 10**9)
    rows = np.random.default_rng(0).normal(size=(10_000, 1))
    with pytest.raises(MemoryError, match=r"\(2\).*4\.0 GB of memory.*LinearSVCPlus"):
        SVCPlus().fit(rows, rows[:, 0] > 0, privileged=rows)
    with pytest.raises(MemoryError, match=r"\(3\).*8\.0 GB of memory.*LinearSVRPlus"):
        SVRPlus().fit(rows, rows[:, 0], privileged=rows)
