r"""Knowledge transfer.

V. Vapnik and R. Izmailov, "Learning using privileged information: similarity control
and knowledge transfer", Journal of Machine Learning Research 16 (2015), 2023–2049;
the form that regresses the privileged features themselves: V. Vapnik and R. Izmailov,
"Knowledge transfer in SVM and neural networks", Annals of Mathematics and Artificial
Intelligence 81 (2017), 3–19.

1. An SVM on :math:`(X^*, y)`; its support vectors, or a reduced set of them, are the
   fundamental elements of knowledge :math:`u^*_1, …, u^*_m`.
2. The frames :math:`K^*(u^*_k, x^*_i)`: kernel values of row i in X*.
3. Functions :math:`\varphi_k(x_i) \approx K^*(u^*_k, x^*_i)`: regression from x.
4. A classifier on the triplets :math:`(\varphi(x_i), x^*_i, y_i)`: SVMΔ+.

==========================================  =================================
symbol                                      name
==========================================  =================================
:math:`K^*` and the C of the first SVM      ``privileged_kernel``, ``privileged_C``
:math:`m`                                   ``n_frames``
:math:`\varphi`                             ``regressor``, ``regressed_frames(X)``
the classifier of step 4                    ``final_estimator``
==========================================  =================================

The regressors predict their own training rows better than new ones, and a final
classifier trained on in-sample values of :math:`\varphi(x_i)` would rely on them too
much. Step 4 is therefore given values out of fold, which differs from the source;
``cv=None`` is the method of the source.

An SVM on X* is a rule :math:`f^*(x^*) = \sum_k a_k K^*(u_k, x^*) + b` over its support
vectors. A reduced set S keeps m of them. The loss of S is the distance, in the RKHS of
K*, from f* to the functions spanned by S:

.. math::
    \min_c \Big\| \sum_k a_k K^*(u_k, \cdot) - \sum_{k \in S} c_k K^*(u_k, \cdot)
    \Big\|.

The set is grown greedily: each step adds the support vector that lowers the distance
most after the coefficients of all chosen vectors are refitted. The Cholesky factor of
the chosen part of K* is updated and never recomputed, so that a step costs
O(number of support vectors × number chosen).
"""

from __future__ import annotations

import warnings
from dataclasses import field
from itertools import combinations
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.stats import loguniform
from sklearn.base import ClassifierMixin, clone
from sklearn.svm import SVC

from lupi._parameters import (
    ClassWeight,
    Count,
    Estimator,
    Folds,
    Positive,
    Seed,
    parameters,
)
from lupi.base import (
    ModelInfo,
    Privileged,
    PrivilegedEstimator,
    PrivilegedTags,
    SharedOver,
    Training,
)
from lupi.base._arguments import coded_classes
from lupi.base._metadata import Delegate, accepts, fit_with, seeded
from lupi.base._rows import dense, side_by_side
from lupi.kernels import (
    ComputedKernel,
    Degree,
    Gamma,
    nearest_positive_semidefinite,
    settle_kernel,
)
from lupi.svm import SVCDeltaPlus
from lupi.svm._machine import FIRST_STAGE_SPACE, LARGEST_C, VAPNIK_IZMAILOV
from lupi.transfer._fitting import (
    for_outputs,
    precise_ridge,
    refuse_regressor,
    scaled,
    with_inner_tags,
)
from lupi.transfer._folds import fit_out_of_fold, row_digests


@parameters
class KnowledgeTransferClassifier(Delegate, ClassifierMixin, PrivilegedEstimator):
    """Classifier on functions of X* that are predicted from x (frames of knowledge).

    Parameters
    ----------
    final_estimator : classifier, default=None
        Last stage, trained on the regressed frames; it is given X* as well when its
        ``fit`` takes ``privileged``. None is :class:`~lupi.svm.SVCDeltaPlus`, as in
        the source; any scikit-learn classifier is accepted.
    regressor : regressor, default=None
        Predicts the frames from x. None is ridge regression on standardized features.
    frames : {"support_vectors", "features"}, default="support_vectors"
        What is predicted from x: values of the kernel at the support vectors of an SVM
        on X*, or the privileged features themselves.
    n_frames : int or None, default=None
        Number of support vectors to keep: those whose span is closest to the rule
        learned in X*, chosen greedily. None keeps all.
    passthrough : bool, default=False
        Whether the final classifier is given X in addition to the frames.
    cv : int, splitter, iterable or None, default=5
        How the frames of the training rows are predicted for the final classifier:
        out of fold, by folds as in :class:`GeneralizedDistillationClassifier`, or
        in-sample with None.
    privileged_C : float, default=1.0
        C of the SVM on X*.
    privileged_kernel : {"rbf", "linear", "poly", "sigmoid"} or callable, default="rbf"
        Kernel of the SVM on X*, and of the frames.
    privileged_gamma : {"scale", "auto"} or float, default="scale"
        Its γ. ``"scale"`` is 1 / (number of features × variance), weighted.
    privileged_degree : int, default=3
        Degree of ``"poly"``.
    privileged_coef0 : float, default=0.0
        Constant of ``"poly"`` and ``"sigmoid"``.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows, for both classifiers.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of the estimators whose ``random_state`` is None. With
        None the folds depend only on the content of the rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    final_estimator_ : classifier
        The fitted last stage.
    regressor_ : regressor
        Fitted on all rows that have X*. Absent without privileged information, as
        are the following four.
    machine_ : SVC
        The SVM on X*; only with ``frames="support_vectors"``.
    frame_vectors_ : ndarray or sparse matrix of shape (n_frames, n_privileged)
        The fundamental elements; only with ``frames="support_vectors"``.
    frame_distance_ : float
        Distance of the rule learned in X* from the span of the chosen vectors,
        relative to its norm; only with ``frames="support_vectors"``.
    n_frames_ : int
        Number of frames.
    objective_, duality_gap_, n_iter_, converged_ : ndarray
        Those of the last stage, if it has them.

    See Also
    --------
    GeneralizedDistillationClassifier : Predicts the teacher's soft labels instead.
    lupi.svm.SVCDeltaPlus : The default last stage.

    Notes
    -----
    Rows without y are used in the third step only, the regression of the frames. A row
    that has neither y nor X* changes nothing.

    Rows without X* are left out of the first three steps; their frames are predicted
    by the regressor fitted on all other rows. Without any X* the model is its last
    stage, trained on X. The same holds, with a warning, when X* is constant, or when
    the rule of the SVM on X* is constant.

    Kernels need features of similar scale: standardize X* (``TransformedPrivileged``).
    Frames other than those of ``"rbf"``, and X in addition to the frames, are not
    scaled: give a pipeline with a scaler as ``final_estimator``.

    References
    ----------
    V. Vapnik and R. Izmailov, "Learning using privileged information: similarity
    control and knowledge transfer", JMLR 16, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from lupi.transfer import KnowledgeTransferClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 10))
    >>> later = X[:, :2] + 0.1 * rng.normal(size=(60, 2))
    >>> y = np.where(later.sum(axis=1) > 0, "up", "down")
    >>> model = KnowledgeTransferClassifier(SVC(), n_frames=5)
    >>> model.fit(X, y, privileged=later).regressed_frames(X).shape
    (60, 5)
    """

    final_estimator: Estimator = field(default=None, kw_only=False)
    regressor: Estimator = field(default=None, kw_only=False)
    frames: Literal["support_vectors", "features"] = "support_vectors"
    n_frames: Count | None = None
    passthrough: bool = False
    cv: Folds = 5
    privileged_C: Positive = 1.0
    privileged_kernel: ComputedKernel = "rbf"
    privileged_gamma: Gamma = "scale"
    privileged_degree: Degree = 3
    privileged_coef0: float = 0.0
    class_weight: ClassWeight = None
    random_state: Seed = None

    __lupi_info__ = ModelInfo(
        title="Knowledge transfer",
        paper=VAPNIK_IZMAILOV,
        cite="vapnik2015similarity,vapnik2017knowledge",
        helps="a few kernel values in X\\* decide y, and x predicts these",
        cost="an SVM on X\\*, a regression per frame, a last stage",
        tune="`n_frames`, `frames`, `final_estimator`, `cv`",
        fixed={
            "final_estimator": "lupi.svm.SVCDeltaPlus",
            "final_estimator__delta": 10.0,
        },
        space={
            "final_estimator__kernel": ["rbf", "linear"],
            "final_estimator__C": loguniform(0.01, LARGEST_C),
        },
        # SVMΔ+ that ignores X* is the SVM with cost (1 + Δ)C, the arm without.
        privileged_space=FIRST_STAGE_SPACE
        | {"final_estimator__C": SharedOver(11.0), "passthrough": [False, True]},
        rank=5,
    )

    _privileged_state = ("machine_", "frame_vectors_")

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_frames is not None and self.frames == "features":
            raise ValueError(
                f"n_frames={self.n_frames!r} chooses among support vectors, but "
                "frames='features' has none. Leave n_frames=None, and reduce X* "
                "itself (lupi.compose.TransformedPrivileged with a PCA, say)."
            )

    def _fit_training(self, training: Training) -> None:
        training = training.learnable()
        answered = training.labelled
        coded = coded_classes(training, self.class_weight, self)
        self.classes_, _, codes, cost = coded
        given = training.weight if training.weighted else None
        features, extra = training.X, None
        known = training.privileged
        if known is not None:
            frames = self._find_frames(training, known, cost)
            if frames is None:
                warnings.warn(
                    f"{type(self).__name__} cannot use the privileged features: they "
                    "are constant, or the rule of an SVM on them is constant. The last "
                    "stage is trained on X, as without privileged features.",
                    stacklevel=4,
                )
            else:
                features = self._learn_frames(training, codes, frames)
                extra = known.take(answered)
        final = seeded(self._final(), self.random_state)
        refuse_regressor(final, "final_estimator", self)
        last_privileged = None
        if extra is not None and accepts(final, "privileged"):
            last_privileged = extra.values if extra.complete else extra.dense_full()
        weighted = given is not None or self.class_weight is not None
        self.final_estimator_ = fit_with(
            final,
            features if len(answered) == training.n_rows else features[answered],
            training.y[answered],
            privileged=last_privileged,
            sample_weight=cost[answered] if weighted else None,
        )

    def _final(self) -> Any:
        return SVCDeltaPlus() if self.final_estimator is None else self.final_estimator

    def _find_frames(
        self, training: Training, privileged: Privileged, cost: np.ndarray
    ) -> np.ndarray | None:
        """Return the frames of the rows with X* (steps 1, 2); None if constant."""
        if self.frames == "features":
            frames = dense(privileged.values)
            return frames if np.ptp(frames, axis=0).any() else None
        rows, values = privileged.rows, privileged.values
        self._kernel = settle_kernel(
            self.privileged_kernel,
            self.privileged_gamma,
            self.privileged_degree,
            self.privileged_coef0,
            values,
            training.weight[rows],
            prefix="privileged_",
        )
        if training.unlabelled is not None:
            privileged = privileged.only(~training.unlabelled[rows])
        y, cost = training.y[privileged.rows], cost[privileged.rows]
        if len(np.unique(y)) < 2:
            kind = f"belong to the class {y[0]!r}" if len(y) else "have no y"
            raise ValueError(
                f"The rows that have privileged information all {kind}, so that no SVM "
                "can be trained on X*. Give X* for rows of two classes at least, or "
                "use frames='features'."
            )
        # At SVC's default tolerance the set of support vectors is not reproducible. At
        # this one, a linear kernel on few columns took 9e7 steps for 60 rows, although
        # the rule no longer changed after 1e5: hence the limit of the number of steps.
        machine = SVC(
            C=self.privileged_C,
            kernel=self._kernel.name,
            gamma=self._kernel.gamma,
            degree=self._kernel.degree,
            coef0=self._kernel.coef0,
            tol=1e-7,
            max_iter=max(1_000_000, 1000 * len(y)),
        ).fit(privileged.values, y, sample_weight=cost)
        vectors = privileged.values[machine.support_]
        keep, rules = _distinct_vectors(vectors, _pairwise_rules(machine))
        if len(keep) == 0:
            return None
        vectors, distance = vectors[keep], 0.0
        K = self._kernel.gram(vectors)
        # With a linear kernel, the terms of different vectors may also cancel.
        if np.abs(K @ rules).max() <= 1e-9 * (np.abs(K) @ np.abs(rules)).max():
            return None
        if self.n_frames is not None and self.n_frames < len(keep):
            K, _ = nearest_positive_semidefinite(K)
            chosen, distance = _reduced_set(K, rules, self.n_frames)
            vectors = vectors[chosen]
        self.machine_, self.frame_vectors_ = machine, vectors
        self.frame_distance_ = distance
        return dense(self._kernel.between(values, vectors))

    def _learn_frames(
        self, training: Training, codes: np.ndarray, frames: np.ndarray
    ) -> Any:
        """Fit ``regressor_`` and return φ of every training row (step 3)."""
        assert training.privileged is not None
        rows = training.privileged.rows
        X, weight = (
            training.X[rows],
            training.weight[rows] if training.weighted else None,
        )
        self.n_frames_ = frames.shape[1]
        # Regressors without an intercept (kernel ridge) need centered targets.
        self._frame_means = np.average(frames, axis=0, weights=weight)
        frames = frames - self._frame_means
        if self.n_frames_ == 1:
            frames = frames[:, 0]
        regressor = self.regressor
        if regressor is None:
            regressor = scaled(precise_ridge(), sparse=sp.issparse(X))
        regressor = seeded(for_outputs(regressor, frames), self.random_state)

        def fit(X: Any, frames: np.ndarray, weight: np.ndarray | None) -> Any:
            return fit_with(clone(regressor), X, frames, sample_weight=weight)

        keys = [X, training.privileged.values, codes[rows]]
        self.regressor_, known = fit_out_of_fold(
            self, fit, self._predict_frames, X, frames, weight, keys
        )
        frames = self._predict_frames(self.regressor_, training.X)
        frames[rows] = known
        return side_by_side(frames, training.X) if self.passthrough else frames

    def _predict_frames(self, regressor: Any, X: Any) -> np.ndarray:
        predicted = np.asarray(regressor.predict(X)).reshape(X.shape[0], -1)
        return predicted + self._frame_means

    def regressed_frames(self, X: Any) -> np.ndarray:
        """Return φ(x), the frames of X* predicted from x.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples, n_frames)
            One column for each row of ``frame_vectors_``, or each privileged feature.
        """
        X = self._validate_X(X)
        if not hasattr(self, "regressor_"):
            raise ValueError(
                "This KnowledgeTransferClassifier was fitted without privileged "
                "information and has no frames. Fit it with privileged=..."
            )
        return self._predict_frames(self.regressor_, X)

    def _stage(self) -> Any:
        return getattr(self, "final_estimator_", self._final())

    def _stage_features(self, X: Any) -> Any:
        if not hasattr(self, "regressor_"):
            return self._validate_X(X)
        frames = self.regressed_frames(X)
        return side_by_side(frames, self._validate_X(X)) if self.passthrough else frames

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags(uses_unlabelled=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return with_inner_tags(tags, self._final(), self.regressor, nan=False)


def _pairwise_rules(machine: Any) -> np.ndarray:
    """Return the coefficients of an SVC's rules, one column per pair of classes."""
    coefficients = dense(machine.dual_coef_)
    n_classes = len(machine.classes_)
    if n_classes == 2:
        return coefficients.T
    vectors = np.arange(coefficients.shape[1])
    of_class = np.split(vectors, np.cumsum(machine.n_support_)[:-1])
    pairs = list(combinations(range(n_classes), 2))
    rules = np.zeros((len(vectors), len(pairs)))
    # LIBSVM stores, for a vector of class i, the pair with class j in row j − 1 when
    # i < j and in row j when i > j.
    for column, (i, j) in enumerate(pairs):
        rules[of_class[i], column] = coefficients[j - 1, of_class[i]]
        rules[of_class[j], column] = coefficients[i, of_class[j]]
    return rules


def _distinct_vectors(vectors: Any, rules: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one position of each distinct vector, and its summed coefficients.

    Vectors whose coefficients cancel are left out.
    """
    _, first, group = np.unique(
        row_digests(vectors), return_index=True, return_inverse=True
    )
    merged = np.zeros((len(first), rules.shape[1]))
    np.add.at(merged, group, rules)
    size = np.abs(merged).max(axis=1)
    # Relative to the summands: sums that cancel leave rounding errors.
    nonzero = size > 1e-6 * np.abs(rules).max()
    return first[nonzero], merged[nonzero]


def _reduced_set(
    K: np.ndarray, rules: np.ndarray, n_vectors: int
) -> tuple[np.ndarray, float]:
    """Choose the vectors whose span comes closest to the rules, greedily.

    Return their positions, and the remaining RKHS distance relative to the norm of the
    rules. Fewer than `n_vectors` are chosen when these span the rules.
    """
    total = float(np.sum(rules * (K @ rules)))
    values = K @ rules  # ⟨K(u_k, ·), residual of each rule⟩
    room = np.diag(K).astype(float).copy()  # squared distance of u_k to the chosen span
    # f* has the same value at all vectors on the margin, so that the first step is a
    # tie. The vector most similar to the others is taken, so that rounding errors do
    # not decide.
    similarity = (K**2).sum(axis=0)
    floor = 1e-10 * room.max()
    factor = np.zeros((len(K), 0))
    chosen: list[int] = []
    left = total
    while len(chosen) < n_vectors and left > 1e-12 * total:
        free = room > floor
        if not free.any():
            break
        gain = np.where(free, (values**2).sum(axis=1) / np.where(free, room, 1.0), -1.0)
        tied = np.flatnonzero(gain >= (1 - 1e-5) * gain.max())
        best = int(tied[similarity[tied].argmax()])
        direction = (K[:, best] - factor @ factor[best]) / np.sqrt(room[best])
        values = values - np.outer(direction, values[best] / np.sqrt(room[best]))
        room = np.maximum(room - direction**2, 0.0)
        room[best] = 0.0
        factor = np.column_stack([factor, direction])
        chosen.append(best)
        left -= gain[best]
    return np.array(chosen, dtype=int), float(np.sqrt(max(left, 0.0) / total))
