"""`IPLClassifier`: see `lupi.boosting._ipl_base` for the model."""

from __future__ import annotations

from typing import Any, ClassVar

from lupi._parameters import Constraints, choice
from lupi.base import ModelInfo, atomic_fit, binary_problems
from lupi.base._classes import counted_classes
from lupi.boosting._boosted_trees import BoostedTreesClassifier
from lupi.boosting._ipl_base import IPL, BaseIPL
from lupi.boosting._losses import LOSSES


class IPLClassifier(BoostedTreesClassifier, BaseIPL):
    """Iterative privileged learning: boosted trees with comments from X*.

    Without privileged information this is gradient boosting on labels ±1 that starts
    from zero: scikit-learn's ``GradientBoostingRegressor(init="zero")``, or XGBoost.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds N, one tree each.
    learning_rate : float, default=0.1
        Factor β of each tree.
    max_depth : int or None, default=3
        Depth k of the trees. The paper finds 2 best.
    privileged_weight : float, default=1.0
        Weight C1 of X*. With 0 the model is boosting without X*.
    privileged_reg : float, default=1.0
        Penalty C2 of the comments.
    n_atoms : int or None, default=None
        η of sparse IPL; None means IPL. The threshold λ = C2 / (2 C1) of the lasso
        applies to the mean product of errors and comments: with ``C2 = C1`` the
        solution is usually zero, and the later rounds are boosting without X*.
    max_inner_iter : int, default=10
        Maximum number of passes of the alternation in a round.
    tol : float, default=1e-4
        The alternation of a round stops when a pass, or its second half, decreases the
        objective by no more than this share.
    loss : {"squared_error", "log_loss"}, default="squared_error"
        The paper boosts squared error on labels ±1. "log_loss" is an extension: each
        round minimizes the objective for the second-order expansion of the logistic
        loss, with the Newton step as r and the curvature as a further weight.
    auxiliary : regressor, default=None
        Any scikit-learn regressor in place of the linear function w·x*. It is fitted
        to C1/(C1+C2)·A in every pass; the first round starts without comments.
    standardize_privileged : bool, default=True
        Whether to standardize the columns of X*, with weights.
    max_features : int, float or {"sqrt", "log2"}, default=None
        Number of features considered at each split; None means all.
    min_weight_fraction_leaf : float, default=0.0
        Minimum share of the total weight in a leaf. A positive value excludes leaves
        with rows of small weight only, which strengthens the effect of `class_weight`.
    n_iter_no_change : int or None, default=None
        Stop when the loss has not improved by `early_stopping_tol` within this many
        rounds. None disables early stopping.
    validation_fraction : float or None, default=0.1
        Share of the rows that are held out to measure that loss; None measures it on
        the training rows, as the paper does.
    early_stopping_tol : float, default=1e-4
        See `n_iter_no_change`.
    engine : {"cart", "xgboost"}, default="cart"
        "cart" is scikit-learn's exact CART, the algorithm of the paper. "xgboost" grows
        XGBoost's histogram trees, for many rows; X may then have missing values and
        pandas categories, and absent entries of a sparse X count as missing. It needs
        ``pip install "lupi[xgboost]"``.
    tree_params : dict, default=None
        Further parameters of `DecisionTreeRegressor` or of XGBoost's trees, for
        example ``{"min_samples_leaf": 5}`` or ``{"reg_lambda": 0.0}``.
    device : str, default="cpu"
        Device of XGBoost, for example "cuda".
    n_jobs : int, default=None
        Threads of XGBoost; None for its default.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply `sample_weight`.
    warm_start : bool, default=False
        Whether to continue the rounds of the last ``fit`` up to `n_estimators`.
    random_state : int or RandomState, default=None
        Randomness of the first w and of the trees.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted. With more than two, the attributes below that have one entry
        per round are lists with one such attribute per class (one-vs-rest).
    n_estimators_ : int
        Number of rounds.
    objective_trace_ : list of ndarray
        Objective after each accepted pass, one array per round. It does not increase.
    inner_iterations_ : ndarray of int
        Passes per round, including a rejected one.
    train_score_, validation_score_ : ndarray
        Mean loss after each round; the second only with early stopping on held-out
        rows.
    privileged_coef_ : ndarray of shape (n_rounds, n_privileged_features)
        w of each round, for the standardized columns of X* if
        `standardize_privileged`. Absent with `auxiliary`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature of X in the improvement of the trees (impurity decrease,
        or XGBoost's total gain).
    n_features_in_, n_privileged_features_in_ : int
        Widths of X and of X* (0 without).

    See Also
    --------
    GBPlusClassifier : Two boosted models, on X and X*, that imitate each other.

    References
    ----------
    .. [1] X. Li, B. Du, Y. Zhang, C. Xu, D. Tao: Iterative Privileged Learning. IEEE
       Transactions on Neural Networks and Learning Systems, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.boosting import IPLClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(size=(100, 2))
    >>> X = P + rng.normal(size=(100, 2))
    >>> y = np.where(P.sum(axis=1) > 0, "sick", "well")
    >>> model = IPLClassifier(n_estimators=20, random_state=0)
    >>> model.fit(X, y, privileged=P).predict(X[:3])
    array(['well', 'sick', 'well'], dtype='<U4')
    """

    __lupi_info__ = ModelInfo(
        **IPL,
        helps="X\\* explains noise in the labels that X cannot; no gain on Pima",
        cost="about two trees a round",
        tune="as `IPLRegressor`; for the sparse form `n_atoms`, with `privileged_reg` "
        "a hundred times smaller than `privileged_weight`",
        rank=42,
    )

    _parameter_constraints: ClassVar[Constraints] = {"loss": choice(*LOSSES)}

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        privileged_weight: float = 1.0,
        privileged_reg: float = 1.0,
        n_atoms: int | None = None,
        max_inner_iter: int = 10,
        tol: float = 1e-4,
        loss: str = "squared_error",
        auxiliary: Any = None,
        standardize_privileged: bool = True,
        max_features: int | float | str | None = None,
        min_weight_fraction_leaf: float = 0.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = 0.1,
        early_stopping_tol: float = 1e-4,
        engine: str = "cart",
        tree_params: dict[str, Any] | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.privileged_weight = privileged_weight
        self.privileged_reg = privileged_reg
        self.n_atoms = n_atoms
        self.max_inner_iter = max_inner_iter
        self.tol = tol
        self.loss = loss
        self.auxiliary = auxiliary
        self.standardize_privileged = standardize_privileged
        self.max_features = max_features
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.early_stopping_tol = early_stopping_tol
        self.engine = engine
        self.tree_params = tree_params
        self.device = device
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state

    def _loss(self) -> Any:
        return LOSSES[self.loss]()

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> IPLClassifier:
        """Fit the boosted trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        privileged : array-like, sparse matrix or DataFrame, default=None
            Privileged features, one row per row of X, converted to a dense array. A row
            that is NaN throughout has none, and its comment is zero.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in every term of the objective.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        training = self._read(X, y, privileged, sample_weight, y_numeric=False)
        training, labels = counted_classes(training, self.class_weight, self)
        self.classes_ = labels.classes
        problems = binary_problems(labels.codes, len(labels.classes), "ovr")
        targets = [target for _, target in problems]
        self._fit_targets(training, targets, training.weight)
        return self
