"""GB+: two boosted models, on X and on X*, that imitate each other.

R. Pasunuri, P. Odom, T. Khot, K. Kersting, S. Natarajan: Learning with privileged
information: decision-trees and boosting. IJCAI workshop, 2016.

With labels t ∈ {0, 1}, p = σ(F(x)) and p* = σ(F*(x*)), every round fits one regression
tree to each of the functional gradients, both taken at the previous round::

    on X:    (t − p) − a (p − p*)
    on X*:   (t − p*) − a (p* − p)

and adds it, F ← F + β h. Predictions use F only. With `schedule="teacher_first"`, all
rounds of F* (with a = 0) precede those of F, as in a later article, Frontiers in
Artificial Intelligence 6 (2023), doi 10.3389/frai.2023.1260583.

======  ====================
symbol  name
======  ====================
a       ``imitation_weight``
β       ``learning_rate``
======  ====================

A row without X* has the gradient t − p on X and is not used on X*. More than two
classes are fitted one-vs-rest.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from lupi._parameters import ClassWeight, NotNegative, parameters
from lupi.base import ModelInfo, Training
from lupi.boosting._boosted_trees import (
    TREE_SPACE,
    Boosted,
    BoostedTreesClassifier,
    LogLoss,
)
from lupi.boosting._engines import CartEnsemble, readable_by_trees


@parameters
class GBPlusClassifier(BoostedTreesClassifier):
    """Two boosted models, on X and on X*, that imitate each other.

    Without privileged information this is gradient boosting of the logistic loss, in
    which each tree is fitted to t − p, without a line search.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds, each with one tree on X and one on X*.
    learning_rate : float, default=0.1
        Factor β of each tree.
    max_depth : int or None, default=3
        Depth of the trees of both models.
    imitation_weight : float, default=1.0
        Weight a of the difference between the two models.
    schedule : {"side_by_side", "teacher_first"}, default="side_by_side"
        Whether both models grow in the same rounds, or the one on X* first.
    max_features : int, float or {"sqrt", "log2"}, default=None
        Number of features considered at each split; None means all.
    min_weight_fraction_leaf : float, default=0.0
        Minimum share of the total weight in a leaf. A positive value excludes leaves
        with rows of small weight only, which strengthens the effect of `class_weight`.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply `sample_weight`.
    random_state : int or RandomState, default=None
        Randomness of the trees; in each round the tree on X comes first.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    train_score_ : ndarray of shape (n_estimators,)
        Mean logistic loss of the model on X after each round; a list of arrays with
        more than two classes.
    feature_importances_ : ndarray of shape (n_features,)
        Mean decrease in impurity over the trees on X.
    n_features_in_, n_privileged_features_in_ : int
        Widths of X and of X* (0 without).

    See Also
    --------
    IPLClassifier : Explains the errors by X* instead of the label.

    References
    ----------
    .. [1] R. Pasunuri, P. Odom, T. Khot, K. Kersting, S. Natarajan: Learning with
       privileged information: decision-trees and boosting. IJCAI workshop, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.boosting import GBPlusClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(size=(100, 2))
    >>> X = P + rng.normal(size=(100, 2))
    >>> y = np.where(P.sum(axis=1) > 0, "sick", "well")
    >>> model = GBPlusClassifier(n_estimators=20, random_state=0)
    >>> model.fit(X, y, privileged=P).predict(X[:3])
    array(['well', 'sick', 'well'], dtype='<U4')
    """

    imitation_weight: NotNegative = 1.0
    schedule: Literal["side_by_side", "teacher_first"] = "side_by_side"
    class_weight: ClassWeight = None

    __lupi_info__ = ModelInfo(
        title="GB+",
        paper="Pasunuri et al. 2016, IJCAI workshop",
        cite="pasunuri2016privileged",
        helps="X\\* predicts y better than X does",
        cost="a tree on X and one on X\\* a round",
        tune="`imitation_weight`, `schedule`",
        space=TREE_SPACE,
        rank=43,
    )

    loss = "log_loss"

    def _fit_targets(self, training: Training, targets: list[np.ndarray]) -> None:
        rng = check_random_state(self.random_state)
        self._models = [self._fit_binary(training, y, rng) for y in targets]
        scores = [np.array(model.train_scores) for model in self._models]
        self.train_score_ = scores[0] if len(scores) == 1 else scores

    def _fit_binary(
        self, training: Training, y: np.ndarray, rng: np.random.RandomState
    ) -> Boosted:
        """Boost on labels ±1; return the trees on X and the loss after each round."""
        label = (y > 0).astype(np.float64)
        weight, privileged = training.weight, training.privileged
        student = _Grower(training.X, weight, rng, self)
        teacher, rows, goal = None, np.empty(0, dtype=int), np.empty(0)
        if privileged is not None:
            rows = privileged.rows
            table = privileged.values.astype(np.float32)
            teacher = _Grower(readable_by_trees(table), weight[rows], rng, self)
            goal = label[rows]
        if teacher is not None and self.schedule == "teacher_first":
            for _ in range(self.n_estimators):
                teacher.add(goal - teacher.probability)
        scores = []
        for _ in range(self.n_estimators):
            gradient = label - student.probability
            if teacher is not None:
                # Both gradients are those of the previous round.
                difference = student.probability[rows] - teacher.probability
                pull = self.imitation_weight * difference
                gradient[rows] -= pull
                teacher_gradient = goal - teacher.probability + pull
            student.add(gradient)
            if teacher is not None and self.schedule == "side_by_side":
                teacher.add(teacher_gradient)
            scores.append(LogLoss().mean(y, student.raw, weight))
        return Boosted(student.ensemble, rng, train_scores=scores)


class _Grower:
    """One of the two models during ``fit``: its trees and F on the training rows."""

    def __init__(
        self,
        X: Any,
        weight: np.ndarray,
        rng: np.random.RandomState,
        settings: GBPlusClassifier,
    ):
        self.engine = settings._cart(X, rng)
        self.rate = settings.learning_rate
        self.weight = None if np.all(weight == 1) else weight
        self.ensemble = CartEnsemble()
        self.raw = np.zeros(X.shape[0])

    @property
    def probability(self) -> np.ndarray:
        return expit(self.raw)

    def add(self, gradient: np.ndarray) -> None:
        grown = self.engine.grow(gradient, self.weight, self.rate)
        self.ensemble.append(grown.tree, self.rate)
        self.raw = self.raw + grown.step
