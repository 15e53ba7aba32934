"""LUFe: learning using unselected features.

J. G. Taylor, V. Sharmanska, K. Kersting, D. Weir and N. Quadrianto, "Learning using
unselected features (LUFe)", International Joint Conference on Artificial
Intelligence, 2016, 2060–2066.

Feature selection keeps k features to predict with and discards the others, although
they are known for every training row. LUFe uses them as privileged information:

1. A selector (recursive feature elimination in the paper) chooses the columns S.
2. X becomes X[:, S], and X* becomes X[:, not S].
3. A model with privileged information is trained on both; it predicts from the
   columns S only, so that the others need not be measured for new rows.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, clone
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from lupi._parameters import CountOrShare, Estimator, Instance, Seed, parameters
from lupi.base import ModelInfo, PrivilegedEstimator, Training, check_classes
from lupi.base._metadata import Delegate, accepts, fit_with, seeded
from lupi.base._rows import side_by_side
from lupi.transfer._fitting import refuse_regressor, scaled, with_inner_tags

Selector = Annotated[Any, Instance(["fit", "get_support"]), None]


@parameters
class LUFeClassifier(Delegate, ClassifierMixin, PrivilegedEstimator):
    """Classifier with the features that a selection leaves out as privileged features.

    Parameters
    ----------
    estimator : classifier, default=None
        Any classifier whose ``fit`` takes ``privileged``. None means
        :class:`~lupi.svm.SVCPlus`.
    selector : selector, default=None
        Any feature selector with ``get_support``. None means recursive feature
        elimination with a linear SVM on standardized features (weights of features of
        different scale cannot be compared), which removes a tenth of the features in
        each step.
    n_features_to_select : int or float, default=None
        Number or share of the features that the default selector keeps. None keeps
        half of them and at least two. A single feature is always kept.
    random_state : int or RandomState, default=None
        Seeds each ``random_state`` of selector and estimator that is None.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    selector_ : selector
        The fitted selector.
    estimator_ : classifier
        Fitted on the selected features.
    support_ : ndarray of bool of shape (n_features,)
        The selected features of X; predictions depend on these only.
    n_features_in_, n_privileged_features_in_ : int
        Widths of X and of the privileged features given to ``fit``, without the
        unselected ones.
    objective_, duality_gap_, n_iter_, converged_
        Those of the estimator, if it has them.

    See Also
    --------
    PrivilegedColumns : The privileged columns are given by name or position.

    Notes
    -----
    ``predict`` takes X with all its columns, as in ``fit``; the unselected ones are
    ignored and may have any value.

    Privileged features given to ``fit`` are concatenated with the unselected ones. A
    row without them is a row without X*, because the models do not accept a row of X*
    in which some values are missing. To use the unselected features of such rows,
    impute the other features first.

    If the selector keeps every feature, the estimator is fitted with the given
    privileged features only.

    A selector whose ``fit`` takes no ``sample_weight`` counts each row of positive
    weight once. So do :class:`~sklearn.feature_selection.RFECV` and
    :class:`~sklearn.feature_selection.SequentialFeatureSelector`, which take weights
    with metadata routing only.

    References
    ----------
    J. G. Taylor, V. Sharmanska, K. Kersting, D. Weir and N. Quadrianto, "Learning
    using unselected features (LUFe)", IJCAI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from lupi import GeneralizedDistillationClassifier, LUFeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 6))
    >>> y = (X[:, 1] + X[:, 4] > 0).astype(int)
    >>> model = LUFeClassifier(GeneralizedDistillationClassifier(), SelectKBest(k=2))
    >>> model.fit(X, y).support_
    array([False,  True, False, False,  True, False])
    >>> X[:, 0] = 1e6
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    estimator: Estimator = field(default=None, kw_only=False)
    selector: Selector = field(default=None, kw_only=False)
    n_features_to_select: CountOrShare = None
    random_state: Seed = None

    __lupi_info__ = ModelInfo(
        title="LUFe",
        paper="Taylor et al. 2016, feature selection with unselected features",
        cite="taylor2016lufe",
        helps="features that a selection leaves out; no gain has been measured so far",
        cost="that of the selection and of the model inside",
        tune="`n_features_to_select`, the model inside",
        needs="X only; X* is part of it",
        rank=82,
    )

    def _fit_training(self, training: Training) -> None:
        refuse_regressor(self._estimator(), "estimator", self)
        labels = check_classes(training.y, training.weight, self)
        training = training.take(labels.rows)
        weight = training.weight if training.weighted else None
        selector = seeded(self._selector(training.X), self.random_state)
        self.selector_ = fit_with(
            selector,
            training.X,
            training.y,
            sample_weight=weight if accepts(selector, "sample_weight") else None,
        )
        self.support_ = np.asarray(self.selector_.get_support())
        if not self.support_.any():
            raise ValueError(
                f"The selector {type(self.selector_).__name__} kept none of the "
                f"{len(self.support_)} features, so that there is nothing to predict "
                "from. Choose a selector that keeps more features."
            )
        self.classes_ = labels.classes
        self.estimator_ = fit_with(
            seeded(self._estimator(), self.random_state),
            training.X[:, self.support_],
            training.y,
            privileged=self._unselected(training),
            sample_weight=weight,
        )

    def _estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from lupi.svm import SVCPlus

        return SVCPlus()

    def _selector(self, X: Any) -> Any:
        if self.selector is not None:
            if self.n_features_to_select is not None:
                raise ValueError(
                    f"n_features_to_select={self.n_features_to_select!r} is for the "
                    "default selector only. Set the number of features in the given "
                    "selector."
                )
            return clone(self.selector)
        svm = scaled(LinearSVC(dual=False), sparse=sp.issparse(X))
        weights = "named_steps.linearsvc.coef_"
        if X.shape[1] == 1:
            # RFE needs at least two features; this selector keeps the single one.
            return SelectFromModel(svm, threshold=-np.inf, importance_getter=weights)
        keep = self.n_features_to_select
        if keep is None:
            keep = min(X.shape[1], max(2, X.shape[1] // 2))
        return RFE(svm, n_features_to_select=keep, step=0.1, importance_getter=weights)

    def _unselected(self, training: Training) -> Any:
        """Return X*: the unselected features and those given to ``fit``."""
        others = training.X[:, ~self.support_]
        given = training.privileged
        if given is None:
            return others if others.shape[1] else None
        if others.shape[1]:
            joined = side_by_side(others[given.rows], given.values)
            given = replace(given, values=joined)
        return given.values if given.complete else given.dense_full()

    def _stage(self) -> Any:
        return self.estimator_ if hasattr(self, "estimator_") else self._estimator()

    def _stage_features(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._validate_X(X)[:, self.support_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return with_inner_tags(tags, self._estimator(), self.selector, nan=False)
