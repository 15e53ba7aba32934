"""Random learning problems, and the arithmetic that the oracle does for itself.

Nothing here imports the library: kernels, weights and feature maps are computed anew,
so that an error in the library cannot hide in the test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


def kernel_values(name, gamma, A, B):
    """Kernel of every row of A with every row of B, by its formula."""
    if name == "linear":
        return A @ B.T
    if name == "poly":
        return (gamma * A @ B.T + 1.0) ** 2
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1)[None] - 2 * A @ B.T
    return np.exp(-gamma * np.maximum(squares, 0.0))


def feature_map(gram):
    """Φ with ΦΦᵀ = gram: what a primal needs of a kernel."""
    values, vectors = np.linalg.eigh(gram)
    keep = values > 1e-12 * max(values[-1], 1e-300)
    return vectors[:, keep] * np.sqrt(values[keep])


@dataclass
class Drawn:
    """One random problem: data, parameters, and what they mean in numbers."""

    X: np.ndarray
    y: np.ndarray
    P: np.ndarray  # NaN rows where X* is missing
    weight: np.ndarray
    C: float
    reg: float
    similarity_reg: float
    delta: float
    kernel: str
    privileged_kernel: str
    gamma: float
    privileged_gamma: float
    moderate: bool
    class_weight: dict | str | None = None
    Z: np.ndarray | None = None  # sensitive columns
    threshold: float = 0.0  # of their covariance with f
    slacks: np.ndarray | None = None  # known to the oracle SVM
    teacher: np.ndarray | None = None  # f* of a first stage, on the rows with X*

    @property
    def has(self):
        return np.flatnonzero(~np.isnan(self.P).any(axis=1))

    @property
    def lacks(self):
        return np.flatnonzero(np.isnan(self.P).any(axis=1))

    @property
    def cost(self):
        """C_i = C · weight of the row · weight of its class."""
        factor = np.ones(len(self.y))
        if self.class_weight == "balanced":
            for label in (-1.0, 1.0):
                of = self.y == label
                factor[of] = self.weight.sum() / (2.0 * self.weight[of].sum())
        elif self.class_weight is not None:
            for label, value in self.class_weight.items():
                factor[self.y == label] = value
        return self.C * self.weight * factor

    @property
    def K(self):
        return kernel_values(self.kernel, self.gamma, self.X, self.X)

    @property
    def Ks(self):
        P = self.P[self.has]
        return kernel_values(self.privileged_kernel, self.privileged_gamma, P, P)

    def parameters(self, *spaces):
        """Keyword arguments of an estimator for the drawn kernels."""
        both = {
            "kernel": self.kernel,
            "gamma": self.gamma,
            "degree": 2,
            "coef0": 1.0,
        }
        for prefix in spaces or ("privileged_",):
            both |= {
                f"{prefix}kernel": self.privileged_kernel,
                f"{prefix}gamma": self.privileged_gamma,
                f"{prefix}degree": 2,
                f"{prefix}coef0": 1.0,
            }
        return both

    def rebuilt(self, model):
        """``w·x`` on the training rows and ``‖w‖²``, from the public attributes.

        The third value is the rounding of ``‖w‖² = aᵀKa``, which is ε |a|ᵀ|K||a|.
        """
        if not hasattr(model, "support_"):
            w = np.ravel(model.coef_)
            return self.X @ w, float(w @ w), 0.0
        coefficients, support = model.dual_coef_[0], model.support_
        columns, size = self.K[:, support], np.abs(coefficients)
        shape = columns @ coefficients
        rounding = np.finfo(float).eps * (size @ np.abs(columns[support]) @ size)
        return shape, float(coefficients @ shape[support]), float(rounding)


def draw(seed, *, regression=False, privileged=True):
    """A random problem; a third keep C and γ within 1e±2, the rest go to 1e±4."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 121))
    p, q = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    hidden = rng.normal(size=(n, max(p, q)))
    X = hidden[:, :p] + rng.normal(size=(n, p)) * rng.choice([0.3, 1.0])
    P = hidden[:, :q] + rng.normal(size=(n, q)) * rng.choice([0.1, 1.0])
    signal = hidden[:, 0] + 0.5 * rng.normal(size=n)
    if regression:
        y = signal + 0.3 * hidden[:, -1] ** 2
    else:
        share = rng.choice([0.5, 0.5, 0.15])
        y = np.where(signal > np.quantile(signal, 1 - share), 1.0, -1.0)
        if abs(y.sum()) == n:
            y[0] = -y[0]
    if rng.random() < 0.25:  # rank-deficient X*
        P = np.outer(P[:, 0], rng.normal(size=q))
    if rng.random() < 0.25:  # duplicated rows
        copies = rng.integers(0, n, size=n // 3)
        onto = rng.integers(0, n, size=n // 3)
        X[onto], P[onto] = X[copies], P[copies]
    weight = np.ones(n)
    if rng.random() < 0.4:
        weight = rng.uniform(0.1, 3.0, size=n)
    if not privileged:
        P = np.full_like(P, np.nan)
    elif rng.random() < 0.4:
        lost = rng.random(n) < rng.choice([0.2, 0.6])
        lost[rng.integers(n)] = False
        P[lost] = np.nan
    moderate = bool(rng.random() < 0.34)
    reach = 2.0 if moderate else 4.0
    C, reg, similarity_reg = 10.0 ** rng.uniform(-reach, reach, size=3)
    kernels = ["linear", "rbf", "poly"]
    chosen = np.random.default_rng([seed, 1]).integers(6)
    class_weight = {0: {-1.0: 0.3, 1.0: 2.0}, 1: "balanced"}.get(int(chosen))
    return Drawn(
        X=X,
        y=y,
        P=P,
        weight=weight,
        C=C,
        reg=reg,
        similarity_reg=similarity_reg,
        delta=float(rng.choice([0.0, 0.5, 10.0, 1000.0])),
        kernel=str(rng.choice(kernels, p=[0.25, 0.55, 0.2])),
        privileged_kernel=str(rng.choice(kernels, p=[0.25, 0.55, 0.2])),
        gamma=10.0 ** rng.uniform(-1.5, 0.7),
        privileged_gamma=10.0 ** rng.uniform(-1.5, 0.7),
        moderate=moderate,
        class_weight=None if regression else class_weight,
    )


def with_linear_kernels(drawn):
    return replace(drawn, kernel="linear", privileged_kernel="linear")


def with_sensitive(drawn):
    """Sensitive columns that go along with the label, and a bound on the covariance."""
    rng = np.random.default_rng([len(drawn.y), int(1e6 * drawn.gamma)])
    Z = drawn.y[:, None] * rng.random(2) + rng.normal(size=(len(drawn.y), 2))
    if rng.random() < 0.5:
        Z = (Z > 0).astype(float)[:, :1]
    threshold = float(rng.choice([0.0, 0.01, 0.1, 1.0]))
    return replace(drawn, Z=Z, threshold=threshold)


def with_slacks(drawn):
    """Slacks that some function of the space can live with, and no costs."""
    rng = np.random.default_rng([len(drawn.y), int(1e6 * drawn.gamma)])
    n = len(drawn.y)
    feasible = drawn.K @ (drawn.y * rng.random(n)) / n + 0.1 * rng.normal()
    slacks = np.maximum(1.0 - drawn.y * feasible, 0.0) + 0.05 * rng.random(n)
    P = np.full_like(drawn.P, np.nan)
    return replace(
        drawn, P=P, slacks=slacks, C=1.0, weight=np.ones(n), class_weight=None
    )
