r"""Labels that are wrong for reasons which X* describes.

Who gave a label, how long it took, how sure they were, from which source it came: such
columns say nothing about the class, and much about whether the label is right.

**Model.** The true class is k with probability :math:`f_k(x)`. The label is the true
class, or else an answer that does not depend on it:

.. math::
    P(\text{label} = k \mid x, x^*) = a_0(x^*)\, f_k(x) + a_k(x^*), \qquad
    a_k \ge 0, \quad \textstyle\sum_{k=0}^K a_k = 1.

Class j is labelled k with probability :math:`T_{jk} = a_0 [j = k] + a_k`; the diagonal
of T is the largest of each column. With ``noise="symmetric"`` the label is a guess with
probability g, :math:`a_k = g/K` and :math:`\mathrm{logit}\, g = c + v \cdot x^*`. It is
wrong with probability :math:`e = g (K-1)/K`, each wrong class having :math:`e/(K-1)`.
With ``noise="classwise"``, :math:`\log(K a_k / a_0) = c_k + v_k \cdot x^*`: for two
classes all rates :math:`e_0 + e_1 \le 1`; for more, some classes are given too often,
but confusions of particular pairs are not modelled. Rows without X* have the average a.

**Likelihood.** By default f is logistic regression on standardized columns, with the
scores :math:`b + W x`. With X* standardized too (q columns), it minimizes

.. math::
    -\sum_i s_i \log P(k_i \mid x_i, x^*_i) + \frac{\|W\|^2}{2C}
    + \max\!\Big(1, \frac q4\Big) \frac{\|v\|^2}{2} + \frac{(c + 1.5)^2}{8}
    + \frac{\|b - b_0\|^2}{8}.

C is that of the same model without noise, which has the best likelihood of held-out
labels, or the smallest larger one within a standard error of the best with noise: the
best itself varies more. The last term, with the log-odds :math:`b_0` of the
labels, keeps a rare class from being explained as noise altogether. With the
hedge, predictions are those of W within two standard errors: a larger C can fit errors
of the few labels of a rare class, and labels out of fold, wrong too, hardly show it.

**Gradient.** With :math:`r_i = a_{k_i} / P(k_i \mid x_i, x^*_i)`, the posterior
probability of an answer, :math:`\log P` has the derivatives :math:`(1 - r) ([k = k_i] -
f_k)` for the scores of f and :math:`r [k = k_i] - a_k` for those of a: two logistic
regressions, each weighted by what it explains.

**EM.** Any other student is fitted to soft labels :math:`(1 - r_i) [k = k_i] + r_i
f_k(x_i)`, the posterior of the true class. Their f is predicted out of fold; in-sample
it would repeat the labels. As soft labels carry the labels of other rows, through the f
that made them, f is not trained on soft labels until the last step, but on labels with
the weights :math:`a_0^2`, and calibrated jointly with a. The step with the best
penalized likelihood out of fold is kept.

**Hedge.** The student of the labels as they are is a second candidate. Both are
calibrated and judged by labels out of fold under the *same* noise; otherwise f would be
credited with what a explains. The weights are posterior probabilities. The prior of the
corrected candidate grows from 0.1 to 0.9 with the evidence that X* explains labels. In
the quality of labels, a(x*) is mixed with its average by the same evidence.

**Identification.** Assumed is that x* and the true class are independent given x. Where
annotators get rows of other classes, in a way that x does not show, a score test can
tell; where they get harder rows, this cannot be told from noise. Differences in x*
identify ratios of :math:`a_0` for any f. Its level is identified by the shape of f
alone, hardly for a flexible student, unless the rates of some rows are known.

Related: V. C. Raykar et al., "Learning from crowds", JMLR 11:1297-1322, 2010 (rates of
annotators); G. Patrini et al., "Making deep neural networks robust to label noise: a
loss correction approach", CVPR 2017 (forward correction: T is known, as ``rates``); M.
Collier et al., "Transfer and marginalize: explaining away label noise with privileged
information", ICML 2022, and K. Wang et al., "Pi-DUAL: using privileged information to
distinguish clean from noisy labels", ICML 2024 (networks with a branch for X*).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, ndtri, softmax
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from lupi._parameters import (
    ClassWeight,
    Count,
    Estimator,
    Folds,
    NotNegative,
    Seed,
    parameters,
)
from lupi._words import argument
from lupi.base import (
    ModelInfo,
    PrivilegedTags,
    Training,
    check_classes,
    class_weights,
)
from lupi.base._estimator import ScoreClassifier
from lupi.base._metadata import seeded
from lupi.base._rows import dense, n_rows_of, take_rows
from lupi.transfer._fitting import GroupedEstimator, takes_nan, with_inner_tags
from lupi.transfer._folds import (
    fold_keys,
    folds_of,
    in_turn,
    row_digests,
    shuffle_generators,
    units_of,
)
from lupi.transfer._hedge import ClassOutput

# Values of C, for the loss summed over the rows and standardized columns.
GRID = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
GUESS, VARIANCE = -1.5, 4.0  # prior of c; that of b has the same variance
SLOPE_STRENGTH = 10.0  # of a calibration's slope towards 1
LOW = 0.02  # smallest probability that a student predicts
AT_BOUND, ROWS_AT_BOUND = 0.9, 0.02  # share of guesses, share of rows: worth a warning
ALPHA = 0.001  # level of the test of the assumption
MOST_CELLS = 20_000_000  # of a sparse table that is made dense to be centered
MOST_PARAMETERS = 200  # for intervals and the test of the assumption


# Model -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LabelledRows:
    """Training rows. NaN in `design`: no X*. NaN in `known`: the rates are learned."""

    X: Any
    codes: np.ndarray  # of the labels
    weight: np.ndarray
    design: np.ndarray  # 1 and the standardized columns of X*
    known: np.ndarray  # a_0, ..., a_K of rows whose rates are known
    unit: np.ndarray  # rows of one unit share a fold

    @property
    def labels(self) -> np.ndarray:
        """Indicators of the labels."""
        return np.eye(self.known.shape[1] - 1)[self.codes]

    @property
    def learned(self) -> np.ndarray:
        """Mask of the rows whose noise is a function of their X*."""
        return np.isnan(self.known[:, 0]) & ~np.isnan(self.design[:, 0])

    def take(self, index: np.ndarray) -> _LabelledRows:
        rest = (value[index] for name, value in vars(self).items() if name != "X")
        return _LabelledRows(take_rows(self.X, index), *rest)

    def folds(self, n_folds: int, random_state: Any = None) -> np.ndarray:
        """Return the fold of each row; no more folds than a class has units."""
        _, place = np.unique(self.unit, return_inverse=True)
        count = np.zeros((place.max() + 1, self.codes.max() + 1))
        np.add.at(count, (place, self.codes), self.weight)
        n_folds = min(n_folds, int((count > 0).sum(axis=0).min()))
        return in_turn(count.argmax(axis=1), n_folds, random_state)[place]

    def trusted(self) -> _LabelledRows:
        """Return the same rows, all of whose labels are known to be right."""
        right = np.eye(1, self.known.shape[1])
        return replace(self, known=right.repeat(len(self.codes), axis=0))


class _Noise(NamedTuple):
    """The function a(x*), and its average."""

    coef: np.ndarray  # (c, v), one column for each log-odds: 1, or K if classwise
    average: np.ndarray | None = None

    def of(self, rows: _LabelledRows) -> np.ndarray:
        """Return a: known, a function of X*, or else the average."""
        a, learned, k = rows.known.copy(), rows.learned, rows.known.shape[1] - 1
        if learned.any():
            odds = rows.design[learned] @ self.coef - np.log(k) + np.zeros(k)
            a[learned] = softmax(np.insert(odds, 0, 0.0, axis=1), axis=1)
        absent = np.isnan(a[:, 0])
        if absent.any():
            average, others = self.average, ~absent
            if average is None:
                average = np.average(a[others], axis=0, weights=rows.weight[others])
            a[absent] = average
        return a


def _posterior(f: np.ndarray, a: np.ndarray, codes: np.ndarray) -> tuple:
    """Return P(k), and r: the posterior probability that the label is an answer."""
    row = np.arange(len(codes))
    answer = a[row, 1 + codes]
    label = np.maximum(a[:, 0] * f[row, codes] + answer, np.finfo(float).tiny)
    return label, answer / label


def _soft_labels(f: np.ndarray, a: np.ndarray, rows: _LabelledRows) -> np.ndarray:
    """Return the posterior probabilities of the true classes."""
    r = _posterior(f, a, rows.codes)[1][:, None]
    return r * f + (1 - r) * rows.labels


def _log_likelihood(
    scores: np.ndarray, a: np.ndarray, rows: _LabelledRows
) -> np.ndarray:
    return np.log(_posterior(softmax(scores, axis=1), a, rows.codes)[0])


def _scaler_of(table: Any, weight: np.ndarray) -> StandardScaler:
    """Return the scaler of a table; it centers no sparse table of many cells."""
    large = sp.issparse(table) and np.prod(table.shape, dtype=float) > MOST_CELLS
    table = table if large else dense(table)
    return StandardScaler(with_mean=not large).fit(table, sample_weight=weight)


def _standardized(scaler: StandardScaler, table: Any) -> Any:
    """Return a column of ones and the standardized columns."""
    ones = np.ones((table.shape[0], 1))
    if not scaler.with_mean:
        return sp.hstack([ones, scaler.transform(table)], format="csr")
    return np.hstack([ones, scaler.transform(dense(table))])


# Likelihood and gradient -------------------------------------------------------------


class _Objective:
    """Penalized negative log-likelihood of f and of a(x*).

    X is the table of f, its first column 1; or an array of shape (n_rows, n_classes,
    n_columns) for a calibration of given scores (see `_calibration`).
    """

    def __init__(self, X: Any, rows: _LabelledRows, C: float, classwise: bool) -> None:
        self.X, self.rows, self.labels = X, rows, rows.labels
        self.calibrates, k = X.ndim == 3, self.labels.shape[1]
        # With two classes there is one score, that of the second.
        self.lift = np.array([[0.0, 1.0]]) if k == 2 else np.eye(k)
        self.learned = np.flatnonzero(rows.learned)
        self.averaged = np.flatnonzero(np.isnan(rows.known[:, 0]) & ~rows.learned)
        q = rows.design.shape[1] if len(self.learned) else 0
        self.design = rows.design[self.learned, :q]
        columns = 1 if self.calibrates else len(self.lift)
        self.shapes = (X.shape[-1], columns), (q, k if classwise else 1)
        penalty = [np.zeros(shape) for shape in self.shapes]
        center = [np.zeros(shape) for shape in self.shapes]
        if self.calibrates:
            penalty[0][:] = 1 / VARIANCE
            penalty[0][0], center[0][0] = SLOPE_STRENGTH, 1.0
        else:
            penalty[0][1:] = 1 / C
            penalty[0][0] = 1e-8  # for K > 2, where a shift of all b changes nothing
        if q:
            penalty[1][1:] = max(1.0, (q - 1) / VARIANCE)
            penalty[1][0], center[1][0] = 1 / VARIANCE, GUESS
        if q and not self.calibrates:
            odds = np.log(np.maximum(rows.weight @ self.labels, 1e-3))
            penalty[0][0] = 1 / VARIANCE
            center[0][0] = odds[1] - odds[0] if k == 2 else odds - odds.mean()
        self.penalty, self.center = map(_flat, (penalty, center))

    def blocks(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (b, W) and (c, v), one column for each log-odds."""
        (p, m), (q, h) = self.shapes
        return t[: p * m].reshape(p, m), t[p * m :].reshape(q, h)

    def noise(self, t: np.ndarray) -> _Noise:
        V, weight = self.blocks(t)[1], self.rows.weight
        return _Noise(V, weight @ _Noise(V).of(self.rows) / weight.sum())

    def state(self, t: np.ndarray) -> tuple:
        """Return the scores, f, a, P(k) and r."""
        (W, V), rows = self.blocks(t), self.rows
        scores = (self.X @ W)[..., 0] if self.calibrates else self.X @ W @ self.lift
        f = softmax(scores, axis=1)
        a = _Noise(V).of(rows)
        return scores, f, a, *_posterior(f, a, rows.codes)

    def __call__(self, t: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient."""
        _, f, a, label, r = self.state(t)
        s, away, i = self.rows.weight, t - self.center, self.learned
        value = self.penalty @ away**2 / 2 - s @ np.log(label)
        along_f = (s * (1 - r))[:, None] * (self.labels - f)
        if self.calibrates:
            along_W = np.einsum("nk,nkd->d", along_f, self.X)
        else:
            along_W = self.X.T @ (along_f @ self.lift.T)
        along_a = s[i, None] * (r[i, None] * self.labels[i] - a[i, 1:])
        if len(j := self.averaged):  # rows without X*, whose a is an average of others
            codes = self.rows.codes[j]
            pull = np.bincount(1 + codes, s[j] / label[j], a.shape[1])
            pull[0] = s[j] @ (f[j, codes] / label[j])
            share = s[i, None] / (s.sum() - s[j].sum())
            along_a += share * a[i, 1:] * (pull[1:] - (a[i] @ pull)[:, None])
        if self.shapes[1][1] == 1:
            along_a = along_a.sum(axis=1, keepdims=True)
        return value, self.penalty * away - _flat([along_W, self.design.T @ along_a])

    def information(self, t: np.ndarray) -> np.ndarray:
        """Return the expected information, with the penalties."""
        _, f, a, _, _ = self.state(t)
        matrix, s, here = np.diag(self.penalty), self.rows.weight, self.rows.learned
        design = np.where(here[:, None], self.rows.design, 0.0)[:, : self.shapes[1][0]]
        for k, label in enumerate(np.eye(f.shape[1])):
            chance, r = _posterior(f, a, np.full(len(f), k))
            along_f = (1 - r)[:, None] * (label - f) @ self.lift.T
            along_a = r[:, None] * label - a[:, 1:]
            if self.shapes[1][1] == 1:
                along_a = along_a.sum(axis=1, keepdims=True)
            pairs = (self.X, along_f), (design, along_a)
            parts = [(x[:, :, None] * d[:, None]).reshape(len(f), -1) for x, d in pairs]
            slopes = np.hstack(parts)
            matrix += (slopes.T * (s * chance)) @ slopes
        return matrix


def _flat(blocks: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([block.ravel() for block in blocks])


def _minimum(objective: _Objective, start: np.ndarray | None = None) -> tuple:
    """Return the minimizer, and whether it was reached."""
    t = objective.center if start is None else start
    how = {"maxiter": 5000, "maxfun": 10_000, "maxcor": 30, "ftol": 1e-14}
    how["gtol"] = 1e-9 * objective.rows.weight.sum()
    bounds: Any = None
    if objective.calibrates:  # a negative slope would reverse the classes
        bounds = [(1e-3, None)] + [(None, None)] * (len(t) - 1)
    optimum = minimize(
        objective, t, jac=True, method="L-BFGS-B", bounds=bounds, options=how
    )
    return optimum.x, optimum.status != 1


def _calibration(scores: np.ndarray) -> np.ndarray:
    """Return X of a calibration: the scores, for a slope, and a column per class."""
    return np.dstack([scores, np.tile(np.eye(scores.shape[1]), (len(scores), 1, 1))])


def _independence(
    X: np.ndarray, rows: _LabelledRows, C: float, classwise: bool, t: np.ndarray
) -> float:
    """Return the p-value of the score test that X* has no effect on f.

    The penalty is taken for the prior of W, so that what it keeps from f is part of
    the variance of the score.
    """
    extra = np.where(rows.learned[:, None], rows.design[:, 1:], 0.0)
    W, V = _Objective(X, rows, C, classwise).blocks(t)
    objective = _Objective(np.hstack([X, extra]), rows, C, classwise)
    more = np.ones((extra.shape[1], W.shape[1]))
    t, new = _flat([W, 0 * more, V]), _flat([0 * W, more, 0 * V]) > 0
    information = objective.information(t)
    cross = information[new][:, ~new]
    variance = information[new][:, new] - np.eye(new.sum()) / C
    variance -= cross @ np.linalg.pinv(information[~new][:, ~new]) @ cross.T
    size, axes = np.linalg.eigh(variance)
    kept = size > 1e-6 * size.max()  # columns of X* may be collinear
    score = axes.T[kept] @ objective(t)[1][new]
    return float(chi2.sf(score @ (score / size[kept]), kept.sum()))


# Candidates --------------------------------------------------------------------------


class _Candidate(NamedTuple):
    """A fitted candidate."""

    fitted: Any  # (b, W) of standardized columns, one column per class; or an estimator
    noise: _Noise
    state: np.ndarray  # parameters of the joint model, or scores out of fold
    converged: bool = True
    n_iter: int = 1


def _fit_logistic(
    rows: _LabelledRows, scaler: Any, classwise: bool, grid: tuple[float, ...]
) -> list[_Candidate]:
    """Return the joint model for each value of C, started from the one before."""
    X, t, models = _standardized(scaler, rows.X), None, []
    for C in grid:
        objective = _Objective(X, rows, C, classwise)
        t, converged = _minimum(objective, t)
        W = objective.blocks(t)[0] @ objective.lift
        models.append(_Candidate(W, objective.noise(t), t, converged))
    return models


def _log_probabilities(output: ClassOutput, model: Any, X: Any) -> np.ndarray:
    share = output.shares(output.values(model, X))
    inside = np.maximum(share, LOW)  # below, the logarithm continues with slope 1
    return log_softmax(np.log(inside) + share - inside, axis=1)


# Hedge -------------------------------------------------------------------------------


def _within_errors(values: np.ndarray, rows: _LabelledRows, errors: float) -> int:
    """Return the first candidate whose log-likelihood is within errors of the best.

    An error is the standard error of the difference of the two, summed over rows.
    """
    total = rows.weight.sum()
    loss = values[np.argmax(values @ rows.weight)] - values
    error = (loss - loss @ rows.weight[:, None] / total) ** 2 @ rows.weight
    return int(np.argmax(loss @ rows.weight <= errors * np.sqrt(error)))


def _hedge(
    held: dict[str, tuple[np.ndarray, np.ndarray]], rows: _LabelledRows
) -> tuple[dict, dict]:
    """Return the weights of the candidates, and a slope and intercepts of each."""
    value = {name: _log_likelihood(*pair, rows) for name, pair in held.items()}
    explained = (value["corrected"] - value["labels"]) @ rows.weight
    odds, slopes = logit(0.1 + 0.8 * expit(explained)), {}
    for name, sign in (("labels", 1), ("corrected", -1)):
        slopes[name], loss = _slope(held[name][0], held["corrected"][1], rows)
        odds += sign * loss
    return {"labels": float(expit(-odds)), "corrected": float(expit(odds))}, slopes


def _slope(scores: np.ndarray, a: np.ndarray, rows: _LabelledRows) -> tuple:
    """Return the slope and the intercepts of calibrated scores, and their loss."""
    same_noise = replace(rows, known=a)
    objective = _Objective(_calibration(scores), same_noise, 1.0, False)
    t, _ = _minimum(objective)
    return (t[0], t[1:]), objective(t)[0]


def _doubted(
    a: np.ndarray, held: tuple[np.ndarray, np.ndarray], rows: _LabelledRows
) -> np.ndarray:
    """Return a(x*), or its average where that explains the labels out of fold as well.

    They are mixed by their posterior probabilities: otherwise labels would be
    suspected for differences between X* that are chance.
    """
    scores, noise = held
    learned, weight = rows.learned, rows.weight

    def averaged(a: np.ndarray) -> np.ndarray:
        a = a.copy()
        if learned.any():
            a[learned] = np.average(a[learned], axis=0, weights=weight[learned])
        return a

    gain = _log_likelihood(scores, noise, rows)
    gain -= _log_likelihood(scores, averaged(noise), rows)
    share = expit(gain @ weight)
    return share * a + (1 - share) * averaged(a)


@parameters
class NoisyLabelClassifier(ScoreClassifier, GroupedEstimator):
    """Classifier for labels whose errors X* explains: who gave them, how, from what.

    The probability that a label is wrong is learned as a function of X*, together with
    a student that predicts the *true* class from X. It is weighted against the same
    student trained on the labels as they are.

    Parameters
    ----------
    student : estimator or None, default=None
        Predicts from X. None is logistic regression on standardized columns, fitted
        jointly with the noise. Others are fitted to soft labels, as the students of
        :class:`HedgedDistillationClassifier`.
    noise : {"symmetric", "classwise"}, default="symmetric"
        One rate for each row, or one for each row and class, which needs more rows.
    rates : array-like of shape (n_samples,) or (n_samples, n_classes), callable or \
None, default=None
        Known probabilities that the labels are wrong, by row or by row and true class;
        NaN where they are learned. A callable computes them from ``privileged``, as
        cross-validation needs it, where the rows change.
    hedge : bool, default=True
        Whether to weight the student against that of the labels as they are.
    cv : int, splitter or iterable, default=5
        Folds of the weights, and of the EM inside them. An integer assigns the rows to
        folds by their content, stratified. Splits must partition the labelled rows.
    n_repeats : int, default=1
        Repetitions with other folds, over which predictions out of fold are averaged.
    max_iter : int, default=5
        Most steps of the EM.
    tol : float, default=0.05
        The EM ends when the soft labels move by less, in the mean.
    class_weight : dict, "balanced" or None, default=None
        Weights of the true classes, for the students; the noise and the hedge do not
        depend on them. "balanced" is by the frequencies of the labels.
    n_jobs : int or None, default=None
        Number of parallel fits.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of the student where its ``random_state`` is None. With
        None the folds depend only on the content of the rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    label_quality_ : ndarray of shape (n_samples,)
        Posterior probability that the label of a row is right, with f out of fold:
        check the lowest first. NaN without y. Absent without X* and `rates`.
    noise_coef_, noise_intercept_ : ndarray
        v and c, of the shapes (1, n_privileged) and (1,), or with a row for each class.
    noise_covariance_ : ndarray of shape (1, 1 + n_privileged, 1, 1 + n_privileged)
        Covariances of (c, v), or of those of each two classes, by the expected
        information. Only with ``student=None``.
    independence_pvalue_ : float
        Of the test that the true class does not depend on X* given X.
    weights_ : dict from candidate to float
        Weights of ``"labels"`` and ``"corrected"``, which sum to 1.
    coef_, intercept_, C_ : ndarray, ndarray, dict from candidate to float
        The weighted model, and the chosen C, also that of ``"noise"``. Only with
        ``student=None``.
    students_ : dict from candidate to estimator
        The fitted students. Only where one is given.
    n_iter_, converged_ : int, bool
        Steps of the EM, and whether the soft labels moved by at most `tol` in the last.

    See Also
    --------
    HedgedDistillationClassifier : For X* that tells about the class itself.

    Notes
    -----
    X* must be independent of the true class given X. Rows without X* have the average
    noise, rows without y are left out. Without X* and `rates`, this is the student.

    References
    ----------
    V. C. Raykar et al., "Learning from crowds", JMLR 11, 2010.

    Examples
    --------
    Three people labelled the rows; the second is careless.

    >>> import numpy as np
    >>> from lupi import NoisyLabelClassifier
    >>> from lupi.datasets import make_noisy_labels
    >>> data = make_noisy_labels(900, rates=(0.02, 0.4, 0.1), random_state=0)
    >>> model = NoisyLabelClassifier()
    >>> model = model.fit(data.data, data.target, privileged=data.privileged)
    >>> int(model.label_noise(np.eye(3)).argmax())
    1
    >>> suspicious = np.argsort(model.label_quality_)[:50]
    >>> wrong = data.target != data.truth
    >>> bool(wrong[suspicious].mean() > 3 * wrong.mean())
    True
    """

    student: Estimator = field(default=None, kw_only=False)
    noise: Literal["symmetric", "classwise"] = "symmetric"
    rates: Annotated[Any, "array-like", callable, None] = None
    hedge: bool = True
    cv: Folds = 5
    n_repeats: Count = 1
    max_iter: Count = 5
    tol: NotNegative = 0.05
    class_weight: ClassWeight = None
    n_jobs: int | None = None
    random_state: Seed = None

    __lupi_info__ = ModelInfo(
        title="Noisy labels",
        paper="Raykar et al. 2010 and Patrini et al. 2017; rates as functions of X\\* "
        "and the hedge are of this library",
        cite="raykar2010crowds, patrini2017loss, collier2022tram, wang2024pidual",
        helps="X\\* tells which labels are wrong (who gave them, how long it took, the "
        "source) and nothing else about the class; the gain stays with many rows. "
        "Where X\\* does not explain errors, the loss is small",
        cost="about a hundred logistic regressions; with a student about 110 fits",
        tune="nothing; `student`, `noise`",
        rank=5,
        noisy_labels=True,
    )
    _privileged_state: ClassVar = ("label_quality_",)

    def _reading_options(self) -> dict[str, Any]:
        own = self.student is not None
        nan = own and takes_nan(self.student)
        return {"keep_data_frame": own, "allow_nan_X": nan}

    def _read(
        self,
        X: Any,
        y: Any,
        privileged: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Training:
        given = super()._read(X, y, privileged, sample_weight, groups)
        known_y = given.labelled
        labels = check_classes(given.y[known_y], given.weight[known_y], self)
        self.classes_ = labels.classes
        known = self._known_answers(privileged, given.n_rows)
        return replace(given, extra={**given.extra, "known": known})

    def _read_rows(self, given: Training) -> tuple[_LabelledRows, np.ndarray]:
        """Return the labelled rows of positive weight, and their positions."""
        keep = given.labelled[given.weight[given.labelled] > 0]
        training = given.take(keep)
        codes = np.searchsorted(self.classes_, training.y)
        weight, known = training.weight, training.extra["known"]
        design = np.full((len(keep), self.n_privileged_features_in_ + 1), np.nan)
        if (table := training.privileged) is not None:
            design[:, 1:] = table.dense_full()
        keys = turns = training.extra.get("groups")
        if keys is None or turns is None:
            keys = row_digests(training.X, known, design)
            turns = row_digests(training.X, codes, known, design)
            keys, turns = fold_keys(keys, turns)
        unit = units_of(keys, turns)[1]
        if table is not None:
            values = design[table.rows, 1:]
            self._noise_scaler = _scaler_of(values, weight[table.rows])
            design[table.rows] = _standardized(self._noise_scaler, values)
        return _LabelledRows(training.X, codes, weight, design, known, unit), keep

    def _known_answers(self, privileged: Any, n_rows: int) -> np.ndarray:
        """Return a of the rows whose rates are given, NaN in the others."""
        k = len(self.classes_)
        answers = np.full((n_rows, k + 1), np.nan)
        if self.rates is None or (callable(self.rates) and privileged is None):
            return answers
        rates = self.rates(privileged) if callable(self.rates) else self.rates
        rates = np.asarray(rates, dtype=float)
        if rates.shape not in ((n_rows,), (n_rows, k)):
            raise ValueError(
                f"rates has the shape {rates.shape} for {n_rows} rows and {k} classes. "
                "Give one rate per row, or one per row and true class; or a function "
                "of privileged that returns them, where the rows change."
            )
        # e_j sums the answers other than j, so that the sum of all is Σ e_j / (K − 1).
        rates = rates if rates.ndim == 2 else rates[:, None].repeat(k, axis=1)
        answers[:, 1:] = rates.sum(axis=1, keepdims=True) / (k - 1) - rates
        answers[:, 0] = 1 - answers[:, 1:].sum(axis=1)
        if np.any(answers < -1e-12) or np.isinf(answers).any():
            raise ValueError(
                f"rates range from {np.nanmin(rates):g} to {np.nanmax(rates):g}. A "
                f"rate lies between 0 and {(k - 1) / k:g}, that of a guess among {k} "
                f"classes; those of the true classes sum to at most {k - 1}, and none "
                "is above the sum of the others."
            )
        return np.maximum(answers, 0.0)

    def _fit_training(self, given: Training) -> None:
        """Choose penalties and weights out of fold, fit, and set the attributes."""
        rows, keep = self._read_rows(given)
        student = None
        if self.student is not None:
            student = seeded(self.student, self.random_state)
            ClassOutput(self.classes_).check(student, "student")
        noisy = rows.learned.any() or np.isfinite(rows.known).any()
        names = ["labels", "corrected"] if noisy else ["labels"]
        folds: list[np.ndarray] = []  # of each row, for each repetition
        if student is None or noisy:
            if isinstance(self.cv, Integral):
                seeds = shuffle_generators(self.n_repeats, self.random_state)
                folds = [rows.folds(int(self.cv), seed) for seed in seeds]
            else:
                counted = np.isin(given.labelled, keep)
                fold = folds_of(self.cv, counted, rows.codes, rows.unit)
                folds = [fold] * self.n_repeats
            if folds[0].max() == 0:
                folds = []
                warnings.warn(
                    f"{type(self).__name__}: a class has fewer than two distinct rows "
                    "(or groups), so that no prediction is out of fold. The student is "
                    "trained on the labels as they are.",
                    stacklevel=4,
                )
        names = names if folds else names[:1]
        hedged = self.hedge and len(names) > 1
        C, noise_C, held = dict.fromkeys(names, 1.0), 1.0, {}
        shares, slopes = {names[-1]: 1.0}, {names[-1]: (1.0, 0.0)}
        if student is None:
            self._scaler = _scaler_of(rows.X, rows.weight)
        if folds and (student is None or hedged):
            best = 0
            for name in names:
                grid = GRID[best:]
                pairs = self._out_of_fold(rows, student, name, folds, grid)
                values = np.array([_log_likelihood(*pair, rows) for pair in pairs])
                best = safe = int(np.argmax(values @ rows.weight))
                if name == "corrected":
                    best = _within_errors(values, rows, 1.0)
                    safe = _within_errors(values, rows, 2.0) if hedged else best
                C[name], noise_C = grid[safe], grid[best]
                held[name], cautious = pairs[best], pairs[safe][0]
        self._slopes = slopes
        if hedged:
            shares, slopes = _hedge(held, rows)
            slope, _ = _slope(cautious, held["corrected"][1], rows)
            self._slopes = {**slopes, "corrected": slope}
        models = {n: self._train(rows, student, n, (C[n],))[0] for n in names}
        self.weights_, last = shares, models[names[-1]]
        if noise_C != C[names[-1]]:
            last = self._train(rows, student, names[-1], (noise_C,))[0]
        soft = {"labels": rows.labels}
        if len(names) > 1:
            scores = 0 * rows.labels if held else last.state
            for name, share in shares.items() if held else ():
                scores += share * (slopes[name][0] * held[name][0] + slopes[name][1])
            a = last.noise.of(rows)
            doubted = _doubted(a, held["corrected"], rows) if held else a
            true = _soft_labels(softmax(scores, axis=1), doubted, rows)
            soft["corrected"] = true
            self.label_quality_ = np.full(given.n_rows, np.nan)
            self.label_quality_[keep] = true[np.arange(len(true)), rows.codes]
        if self.class_weight is not None:
            factor = class_weights(
                self.class_weight, self.classes_, rows.codes, rows.weight
            )
            for name, model in models.items():
                fitted = self._fit_soft(rows, student, factor * soft[name], C[name])
                models[name] = model._replace(fitted=fitted)
        if student is None:
            self.C_ = {**C, "noise": noise_C} if len(names) > 1 else C
            # The weighted linear model, for columns that are not standardized.
            total = 0.0 * models[names[0]].fitted
            for name, share in shares.items():
                slope, intercept = self._slopes[name]
                total += share * slope * models[name].fitted
                total[0] += share * intercept
            total = total[:, 1:] - total[:, :1] if total.shape[1] == 2 else total
            self.coef_ = (total[1:] / self._scaler.scale_[:, None]).T
            self.intercept_ = total[0]
            if self._scaler.with_mean:
                self.intercept_ = total[0] - self.coef_ @ self._scaler.mean_
        else:
            self.students_ = {name: models[name].fitted for name in names}
        self.n_iter_, self.converged_ = last.n_iter, last.converged
        if not last.converged:
            warnings.warn(
                f"{type(self).__name__}: the soft labels moved by more than tol="
                f"{self.tol:g} in step {last.n_iter}, the last one. The best step is "
                "kept. Increase max_iter or tol; students that change abruptly, such "
                "as single trees, may not converge.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if len(names) > 1 and rows.learned.any():
            self._set_noise(rows, last, scores, noise_C)

    def _out_of_fold(
        self, rows: _LabelledRows, student: Any, name: str, folds: list, grid: tuple
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return scores and noise of a candidate, from models without the fold."""

        def held_out(fold: np.ndarray, number: int) -> list:
            part = rows.take(np.flatnonzero(fold == number))
            part = part if name == "corrected" else part.trusted()
            return [
                (self._scores_of(model.fitted, part.X), model.noise.of(part))
                for model in self._train(rows.take(fold != number), student, name, grid)
            ]

        jobs = [(fold, i) for fold in folds for i in range(fold.max() + 1)]
        done = Parallel(self.n_jobs)(delayed(held_out)(*job) for job in jobs)
        held = [(0 * rows.labels, np.zeros_like(rows.known)) for _ in done[0]]
        for (fold, number), parts in zip(jobs, done, strict=True):
            for (scores, a), (own, noise) in zip(held, parts, strict=True):
                scores[fold == number] += own / len(folds)
                a[fold == number] += noise / len(folds)
        return held

    def _train(
        self, rows: _LabelledRows, student: Any, name: str, grid: tuple[float, ...]
    ) -> list[_Candidate]:
        """Return a candidate; as logistic regression, one for each value of C."""
        rows = rows if name == "corrected" else rows.trusted()
        classwise = self.noise == "classwise"
        if student is None:
            return _fit_logistic(rows, self._scaler, classwise, grid)
        if name == "corrected":
            return [self._fit_em(rows, student, classwise)]
        output, none = ClassOutput(self.classes_), np.empty(0)
        target = output.indicators(rows.codes)
        fitted = output.fit(clone(student), rows.X, target, rows.weight)
        return [_Candidate(fitted, _Noise(none), none)]

    def _fit_em(self, rows: _LabelledRows, student: Any, classwise: bool) -> _Candidate:
        """Return a student of soft labels, and the noise."""
        fold = rows.folds(int(self.cv) if isinstance(self.cv, Integral) else 5)
        output, soft, t = ClassOutput(self.classes_), rows.labels, None
        best: tuple[Any, ...] = (np.inf,)
        hard, weight = output.indicators(rows.codes), rows.weight
        total, step = 2 * weight.sum(), 0
        while step < self.max_iter:
            step += 1
            scores = np.empty_like(soft)
            for number in range(fold.max() + 1):
                train, part = fold != number, take_rows(rows.X, fold == number)
                X = take_rows(rows.X, train)
                model = output.fit(clone(student), X, hard[train], weight[train])
                scores[fold == number] = _log_probabilities(output, model, part)
            objective = _Objective(_calibration(scores), rows, 1.0, classwise)
            t, _ = _minimum(objective, t)
            scores, f, a, _, _ = objective.state(t)
            before, soft = soft, _soft_labels(f, a, rows)
            moved = rows.weight @ np.abs(soft - before).sum(axis=1) / total
            if (value := objective(t)[0]) < best[0]:
                best = value, soft, objective.noise(t), scores
            if moved <= self.tol:
                break
            weight = rows.weight * np.maximum(a[:, 0], LOW) ** 2
        _, soft, noise, scores = best
        fitted = self._fit_soft(rows, student, soft)
        return _Candidate(fitted, noise, scores, bool(moved <= self.tol), step)

    def _fit_soft(
        self, rows: _LabelledRows, student: Any, soft: np.ndarray, C: float = 1.0
    ) -> Any:
        """Return a student of soft labels, which need not sum to 1."""
        weight = rows.weight[:, None] * soft
        if student is None:
            row, code = np.nonzero(weight)
            each = replace(rows.take(row), codes=code, weight=weight[row, code])
            return _fit_logistic(each.trusted(), self._scaler, False, (C,))[0].fitted
        output, total = ClassOutput(self.classes_), weight.sum(axis=1)
        target = weight / total[:, None]
        target = target[:, 1:] if output.n_targets == 1 else target
        return output.fit_soft(clone(student), rows.X, target, total)

    def _set_noise(
        self, rows: _LabelledRows, model: _Candidate, scores: np.ndarray, C: float
    ) -> None:
        """Set the noise as a function of X*, and warn where it is doubtful."""
        V, self._mean_answers = model.noise
        scaler, classwise = self._noise_scaler, V.shape[1] > 1
        back = np.diag(np.r_[1.0, 1 / scaler.scale_])
        back[0, 1:] = -scaler.mean_ / scaler.scale_
        self.noise_intercept_, self.noise_coef_ = (back @ V)[0], (back @ V)[1:].T
        if self.student is None:
            X, t = _standardized(self._scaler, rows.X), model.state
        else:
            X, C = np.insert(scores, 0, 1.0, axis=1), 1e3
            t, _ = _minimum(_Objective(X, rows, C, classwise))
        if len(t) > MOST_PARAMETERS:
            return
        if self.student is None:
            spread = np.linalg.inv(_Objective(X, rows, C, classwise).information(t))
            spread = spread[-V.size :, -V.size :].reshape(V.shape * 2)
            self.noise_covariance_ = np.einsum("ai,ihjk,bj->hakb", back, spread, back)
        p = self.independence_pvalue_ = _independence(dense(X), rows, C, classwise, t)
        if p < ALPHA:
            warnings.warn(
                f"The labels depend on X* beyond the noise of the model (p = {p:.1g}). "
                f"Either errors favor a class: try {argument('noise', 'classwise')}. "
                "Or rows with "
                "other X* are of other classes, given X: add to X what decides who "
                "labels which rows.",
                stacklevel=5,
            )
        guesses = rows.learned & (model.noise.of(rows)[:, 0] < 1 - AT_BOUND)
        if np.average(guesses, weights=rows.weight) > ROWS_AT_BOUND:
            warnings.warn(
                f"{guesses.sum()} of {len(guesses)} labels are hardly better than "
                "guesses: the rate of errors of their X* is near its bound. See "
                "label_noise.",
                stacklevel=5,
            )

    def label_noise(self, privileged: Any, *, level: float | None = None) -> Any:
        """Return the probability that a label is wrong.

        Parameters
        ----------
        privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged)
            X*; a row of NaN has the average noise.
        level : float, default=None
            Confidence level of intervals, such as 0.95; needs ``student=None``.

        Returns
        -------
        rates : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With ``noise="classwise"``, one column for each true class.
        lower, upper : ndarray
            The intervals, if `level` is given; NaN for rows without X*.
        """
        design, k = self._noise_design(privileged), len(self.classes_)
        coef = np.column_stack([self.noise_intercept_, self.noise_coef_]).T
        known = np.full((len(design), k + 1), np.nan)
        rows = _LabelledRows(None, known, known, design, known, known)
        a = _Noise(coef, self._mean_answers).of(rows)
        rates, single = 1 - a[:, :1] - a[:, 1:], len(self.noise_coef_) == 1
        if level is None:
            return rates[:, 0] if single else rates
        if not 0 < level < 1:
            raise ValueError(f"level={level!r}: give a number between 0 and 1.")
        if not hasattr(self, "noise_covariance_"):
            raise ValueError(
                "There are no intervals: they need student=None and at most "
                f"{MOST_PARAMETERS} parameters of f and the noise. Leave level out."
            )
        # Derivatives of the rates along the log-odds of a; intervals of the logits.
        slope = a[:, None, 1:] * (a[:, :1] + a[:, 1:])[..., None]
        slope -= a[:, 1:, None] * np.eye(k)
        bound = 1 - 1 / k if single else 1.0
        slope = slope.sum(axis=2, keepdims=True) if single else slope
        spread = np.einsum("na,hakb,nb->nhk", design, self.noise_covariance_, design)
        error = np.sqrt(np.einsum("njh,nhk,njk->nj", slope, spread, slope))
        error *= ndtri((1 + level) / 2) / (rates * (1 - rates / bound))
        ends = [bound * expit(logit(rates / bound) + sign * error) for sign in (-1, 1)]
        return tuple(one[:, 0] if single else one for one in (rates, *ends))

    def noise_effects(self, privileged: Any) -> np.ndarray:
        """Return what each column of X* adds to the log-odds of an error.

        The largest entry of a row is the main reason to distrust its label.

        Parameters
        ----------
        privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged)
            X*.

        Returns
        -------
        ndarray of shape (n_samples, n_privileged)
            Relative to average X*, averaged over the classes with
            ``noise="classwise"``; NaN for rows without X*.
        """
        design = self._noise_design(privileged)
        effect = self.noise_coef_.mean(axis=0)
        return (design[:, 1:] - self._noise_scaler.mean_) * effect

    def _noise_design(self, privileged: Any) -> np.ndarray:
        read = self._validate_privileged(privileged)
        if not hasattr(self, "noise_coef_"):
            raise ValueError(
                "No rates of errors were learned from X*, because all were given."
                if "corrected" in self.weights_
                else "No rates of errors can be learned from X*: a class has fewer "
                "than two distinct rows (or groups), or no labelled row has X*. Give "
                "more rows of every class."
            )
        design = np.full((n_rows_of(privileged), self.noise_coef_.shape[1] + 1), np.nan)
        if read is not None:
            design[read.rows] = np.insert(dense(read.values), 0, 1.0, axis=1)
        return design

    def _scores_of(self, fitted: Any, X: Any) -> np.ndarray:
        """Return the scores of a candidate, one column per class."""
        if isinstance(fitted, np.ndarray):
            return _standardized(self._scaler, X) @ fitted
        return _log_probabilities(ClassOutput(self.classes_), fitted, X)

    def _scores(self, X: Any) -> np.ndarray:
        X = self._validate_X(X)
        if self.student is None:
            scores = X @ self.coef_.T + self.intercept_
            binary = len(self.classes_) == 2
            return np.insert(scores, 0, 0.0, axis=1) if binary else scores
        total = np.zeros((n_rows_of(X), len(self.classes_)))
        for name, weight in self.weights_.items():
            slope, intercept = self._slopes[name]
            own = self._scores_of(self.students_[name], X)
            total += weight * (slope * own + intercept)
        return total

    def __lupi_tags__(self) -> PrivilegedTags:
        check = "check_unlabelled_rows_are_refused_or_used"
        reason = "rows without y tell nothing about f or the noise, and are left out"
        return PrivilegedTags(cannot_hold={check: reason}, uses_unlabelled=True)

    def __sklearn_tags__(self) -> Any:
        own = self.student is not None
        return with_inner_tags(super().__sklearn_tags__(), self.student, nan=own)
