"""Kernels by their formulas, gamma in words, and the nearest definite matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from lupi.kernels import Kernel, nearest_positive_semidefinite, settle_kernel

A = np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 0.5]])
B = np.array([[1.0, 1.0], [0.0, -2.0]])


def inner(i, j):
    return A[i] @ B[j]


FORMULAS = {
    "linear": inner,
    "poly": lambda i, j: (0.5 * inner(i, j) + 0.2) ** 3,
    "rbf": lambda i, j: np.exp(-0.5 * ((A[i] - B[j]) ** 2).sum()),
    "sigmoid": lambda i, j: np.tanh(0.5 * inner(i, j) + 0.2),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_formulas(name, container):
    kernel = Kernel(name, gamma=0.5, degree=3, coef0=0.2)
    expected = [[FORMULAS[name](i, j) for j in range(2)] for i in range(3)]
    values = kernel.between(container(A), container(B))
    values = values.toarray() if sp.issparse(values) else values
    np.testing.assert_allclose(values, expected, atol=1e-15)


@pytest.mark.parametrize("name", FORMULAS)
def test_gram_is_the_kernel_with_itself(name):
    kernel = Kernel(name, gamma=0.5, degree=3, coef0=0.2)
    gram = kernel.gram(A)
    np.testing.assert_allclose(gram, kernel.between(A, A), atol=1e-15)
    np.testing.assert_allclose(gram, gram.T, atol=1e-15)


def test_gamma_scale_counts_rows_with_their_weights():
    """Weight 2 is the row twice; without weights it is 1/(p · variance)."""
    plain = settle_kernel("rbf", "scale", 3, 0.0, A, np.ones(3))
    assert plain.gamma == pytest.approx(1 / (2 * A.var()))
    twice = A[[0, 1, 1, 2]]
    weighted = settle_kernel("rbf", "scale", 3, 0.0, A, np.array([1.0, 2.0, 1.0]))
    assert weighted.gamma == pytest.approx(1 / (2 * twice.var()))
    sparse = settle_kernel("rbf", "scale", 3, 0.0, sp.csr_array(A), np.ones(3))
    assert sparse.gamma == pytest.approx(plain.gamma)


def test_gamma_scale_of_constant_rows_is_one():
    kernel = settle_kernel("rbf", "scale", 3, 0.0, np.ones((4, 2)), np.ones(4))
    assert kernel.gamma == 1.0


def test_gamma_auto_is_one_over_the_number_of_features():
    assert settle_kernel("rbf", "auto", 3, 0.0, A, np.ones(3)).gamma == 0.5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("cosine", 1.0, 3, 0.0), "'kernel' parameter"),
        (("rbf", -1.0, 3, 0.0), "'gamma' parameter"),
        (("poly", 1.0, 1.5, 0.0), "'degree' parameter"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        settle_kernel(*arguments, A, np.ones(3))


def test_nearest_definite_matrix():
    """K₊ = K·P, nearest to K, and nothing to do where K is definite."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    values = np.array([3.0, 1.0, 0.5, -0.2, -2.0])
    gram = (vectors * values) @ vectors.T
    with pytest.warns(UserWarning, match="smallest eigenvalue is -2"):
        nearest, projection = nearest_positive_semidefinite(gram)
    expected = (vectors * np.maximum(values, 0)) @ vectors.T
    np.testing.assert_allclose(nearest, expected, atol=1e-12)
    np.testing.assert_allclose(gram @ projection, nearest, atol=1e-12)
    same, nothing = nearest_positive_semidefinite(expected)
    assert nothing is None
    np.testing.assert_array_equal(same, expected)
