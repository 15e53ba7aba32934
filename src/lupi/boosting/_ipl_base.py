"""Iterative privileged learning: boosted trees with comments from X*.

X. Li, B. Du, Y. Zhang, C. Xu, D. Tao: Iterative Privileged Learning. IEEE Transactions
on Neural Networks and Learning Systems, 2018.

Boosting adds trees, G ← G + β h. In round t the tree is fitted to the residuals
r_i = y_i − G(x_i), together with a linear function of X*, the comment w·x*_i, which
models the part of the residual that the tree cannot explain::

    min_{h, w}  Σ (h(x_i) − r_i)² + C1 Σ (h(x_i) − r_i − w·x*_i)² + C2 Σ (w·x*_i)²

The minimization alternates, starting from the w of the last round (the first one is
uniform in (0, 1))::

    h ← CART on the targets r_i + C1/(C1+1) w·x*_i                          (10)
    w ← C1/(C1+C2) · A X*ᵀ(X*X*ᵀ)⁺,   A_i = h(x_i) − r_i                    (12)

Sparse IPL stores the projections of the first η rounds as columns of D; afterwards
w = Dv, and n C2 ‖v‖₁ replaces C2 Σ (w·x*_i)²: v is a lasso with λ = C2 / (2 C1). The
paper prints the lasso without λ.

==========  ======================================================================
symbol      name
==========  ======================================================================
N, β, k, s  ``n_estimators``, ``learning_rate``, ``max_depth``, ``max_features``
C1, C2, η   ``privileged_weight``, ``privileged_reg``, ``n_atoms``
==========  ======================================================================

Sample weights multiply every term. A row without X* has comment 0 and is not used to
fit w. Classifiers boost on labels ±1, one-vs-rest for more than two classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.stats import loguniform
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lupi._parameters import (
    COUNT,
    FLAG,
    N_JOBS,
    NOT_NEGATIVE,
    Constraints,
    Instance,
    Number,
    choice,
)
from lupi.base import PrivilegedTags, Training
from lupi.base._rows import dense
from lupi.boosting._boosted_trees import BoostedTrees
from lupi.boosting._categories import CategoryEncoder
from lupi.boosting._collective import moments
from lupi.boosting._comments import LinearComments, RegressorComments
from lupi.boosting._engines import CartEngine, XGBoostEngine
from lupi.boosting._ensembles import import_xgboost, readable_by_trees
from lupi.boosting._rounds import Boosted, Rows, Settings, boost

SETTINGS = fields(Settings)
TREE_SPACE = {"max_depth": [1, 2, 3], "learning_rate": loguniform(0.03, 0.3)}
# Declarations that the classifier and the regressor share.
IPL: dict[str, Any] = {
    "title": "Iterative privileged learning",
    "paper": "Li et al. 2018, IEEE TNNLS",
    "cite": "li2018ipl",
    "formulas": __name__,
    "space": TREE_SPACE,
    "privileged_space": {
        "privileged_weight": loguniform(0.01, 100.0),
        "privileged_reg": loguniform(0.001, 10.0),
    },
}


class BaseIPL(BoostedTrees):
    """Boosting with comments from X*, for one or several targets."""

    _parameter_constraints: ClassVar[Constraints] = {
        "privileged_weight": NOT_NEGATIVE,
        "privileged_reg": NOT_NEGATIVE,
        "n_atoms": [*COUNT, None],
        "max_inner_iter": COUNT,
        "tol": NOT_NEGATIVE,
        "auxiliary": [Instance(["fit", "predict"]), None],
        "standardize_privileged": FLAG,
        "n_iter_no_change": [*COUNT, None],
        "validation_fraction": [Number(Real, 0, 1, "neither"), None],
        "early_stopping_tol": NOT_NEGATIVE,
        "engine": choice("cart", "xgboost"),
        "tree_params": [Mapping, None],
        "device": [str],
        "n_jobs": N_JOBS,
        "warm_start": FLAG,
    }

    def _check_parameters(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.n_atoms is not None and self.auxiliary is not None:
            raise ValueError(
                f"n_atoms={self.n_atoms} (sparse IPL) combines linear functions of X*, "
                f"which auxiliary={self.auxiliary!r} replaces. Set one of the two to "
                "None."
            )
        if self.n_atoms is not None and self.privileged_reg == 0:
            raise ValueError(
                f"n_atoms={self.n_atoms} (sparse IPL) needs privileged_reg above 0, "
                "the weight of the lasso. Set n_atoms=None to fit without a penalty."
            )
        if self.engine == "xgboost":
            import_xgboost()
        elif self.device != "cpu":
            raise ValueError(
                f'device={self.device!r} needs engine="xgboost", but the engine is '
                '"cart", which runs on the CPU only.'
            )

    def _read(
        self, X: Any, y: Any, privileged: Any, sample_weight: Any, y_numeric: bool
    ) -> Training:
        """Check the arguments of ``fit``; X becomes float32, as trees need it."""
        on_xgboost = self.engine == "xgboost"
        self._encoder = CategoryEncoder.of(X) if on_xgboost else None
        training = self._validate_fit(
            X if self._encoder is None else self._encoder.encode(X),
            y,
            privileged,
            sample_weight,
            y_numeric=y_numeric,
            dtype=np.float32,
            allow_nan_X=on_xgboost,
        )
        return replace(training, X=readable_by_trees(training.X))

    def _read_X(self, X: Any) -> Any:
        check_is_fitted(self)
        return super()._read_X(X if self._encoder is None else self._encoder.encode(X))

    def _fit_targets(
        self, training: Training, targets: list[np.ndarray], weight: np.ndarray
    ) -> None:
        """Fit one boosted model per column of targets and set the attributes."""
        models = getattr(self, "_models", None) if self.warm_start else None
        if models is not None:
            self._check_warm_start(models, len(targets))
            models = [model.copy() for model in models]
        else:
            models = [Boosted(None, rng) for rng in self._generators(len(targets))]
        train, held_out = self._split(training.n_rows, targets)
        for model, target in zip(models, targets, strict=True):
            self._fit_one(model, training, target, weight, train, held_out)
        self._models = models
        self._set_attributes()

    def _generators(self, count: int) -> list[np.random.RandomState]:
        """Return one generator per model, all with the same seed."""
        if count == 1:
            return [check_random_state(self.random_state)]
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        return [np.random.RandomState(seed) for _ in range(count)]

    def _check_warm_start(self, models: list[Boosted], n_targets: int) -> None:
        if len(models) != n_targets:
            raise ValueError(
                f"warm_start=True continues {len(models)} boosted models, but y "
                f"needs {n_targets}. Give the same classes, or set warm_start=False."
            )
        width = self.n_privileged_features_in_
        coefs = [model.coefs[-1] for model in models if model.coefs]
        if width and any(
            len(np.atleast_1d(coef)) != width
            for coef in coefs
            if isinstance(coef, np.ndarray)
        ):
            raise ValueError(
                f"warm_start=True continues a fit with {len(coefs[0])} privileged "
                f"features, but got {width}. Give the same columns, or set "
                "warm_start=False."
            )
        grown = max(len(model.ensemble) for model in models)
        if self.n_estimators < grown:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {grown} rounds that "
                "this model already has. With warm_start=True it can only grow: raise "
                "n_estimators, or set warm_start=False."
            )

    def _split(
        self, n_rows: int, targets: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the rows to train on, and the rows for early stopping."""
        all_rows = np.arange(n_rows)
        if self.n_iter_no_change is None or self.validation_fraction is None:
            return all_rows, None
        strata = np.column_stack(targets).argmax(axis=1) if len(targets) > 1 else None
        if len(targets) == 1 and hasattr(self, "classes_"):
            strata = targets[0]
        train, held_out = train_test_split(
            all_rows,
            test_size=self.validation_fraction,
            random_state=self.random_state,
            stratify=strata,
        )
        return train, held_out

    def _fit_one(
        self,
        model: Boosted,
        training: Training,
        target: np.ndarray,
        weight: np.ndarray,
        train: np.ndarray,
        held_out: np.ndarray | None,
    ) -> None:
        part = replace(training, y=target, weight=weight).take(train)
        validation = None
        if held_out is not None:
            validation = Rows(training.X[held_out], target[held_out], weight[held_out])
        settings = Settings(**{one.name: getattr(self, one.name) for one in SETTINGS})
        types = None if self._encoder is None else self._encoder.feature_types()
        engine_type = CartEngine if self.engine == "cart" else XGBoostEngine
        if model.ensemble is None:
            model.ensemble = engine_type.ensemble()
            model.ensemble.feature_types = types
        options = {
            "max_depth": self.max_depth,
            "max_features": self.max_features,
            "min_weight_fraction_leaf": self.min_weight_fraction_leaf,
            "tree_params": dict(self.tree_params or {}),
        }
        if self.engine == "xgboost":
            options["feature_types"] = types
            options["device"] = self.device
            options["n_jobs"] = self.n_jobs
        engine = engine_type(part.X, part.weight, model.rng, **options)
        boost(
            model,
            engine,
            self._loss(),
            Rows(part.X, part.y, part.weight),
            self._make_comments(part, model.rng, engine.dtype),
            settings,
            validation,
        )

    def _make_comments(
        self, part: Training, rng: np.random.RandomState, dtype: Any
    ) -> LinearComments | RegressorComments | None:
        """Return the comments on the rows that have X*; None without X*."""
        if part.privileged is None:
            return None
        table, rows = dense(part.privileged.values), part.privileged.rows
        if self.standardize_privileged:
            summary, weight = moments(table, part.weight[rows])
            scaler = StandardScaler().fit(summary, sample_weight=weight)
            table = scaler.transform(table) if len(table) else table
        common = (
            table,
            rows,
            part.weight.astype(dtype),
            self.privileged_weight,
            self.privileged_reg,
            dtype,
        )
        if self.auxiliary is None:
            return LinearComments(*common)
        return RegressorComments(self.auxiliary, rng, *common)

    def _set_attributes(self) -> None:
        def collect(values: list[Any]) -> Any:
            return values[0] if len(values) == 1 else values

        models = self._models
        self.objective_trace_ = collect([model.traces for model in models])
        self.inner_iterations_ = collect([np.array(m.passes) for m in models])
        self.train_score_ = collect([np.array(m.train_scores) for m in models])
        self.n_estimators_ = collect([len(model.ensemble) for model in models])
        if models[0].validation_scores:
            scores = [np.array(model.validation_scores) for model in models]
            self.validation_score_ = collect(scores)
        else:  # warm_start keeps the attributes of the last fit
            self.__dict__.pop("validation_score_", None)
        if self.auxiliary is None:
            none = np.empty((0, self.n_privileged_features_in_))
            self.privileged_coef_ = collect(
                [np.array(model.coefs) if model.coefs else none for model in models]
            )
        else:
            self.__dict__.pop("privileged_coef_", None)
        if not all(model.lasso_converged for model in models):
            warnings.warn(
                "The lasso of sparse IPL did not reach its tolerance in some rounds, "
                "so that the comments of these rounds are approximate. Raise "
                "privileged_reg or lower n_atoms.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __lupi_tags__(self) -> PrivilegedTags:
        if self.engine == "cart":
            return super().__lupi_tags__()
        reason = "XGBoost reads the absent entries of a sparse X as missing values"
        return PrivilegedTags(cannot_hold={"check_sparse_X_equals_dense": reason})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.engine == "xgboost"
        return tags
