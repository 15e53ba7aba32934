"""Checks that scikit-learn's tools split X* into folds and pass it on.

The fit of a tool on a fold, with metadata routing enabled and disabled, is compared
with a direct fit to the same rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

from lupi.testing._material import (
    Task,
    assert_same,
    classifiers_only,
    fitted,
    outputs,
    ready,
    task,
)

_MISSING = np.array([0, 9, 33])


def _task(estimator: Any) -> Task:
    return task(estimator).without_P_in(_MISSING)


def _folds(estimator: Any, data: Task) -> list[tuple[np.ndarray, np.ndarray]]:
    kind = StratifiedKFold if is_classifier(estimator) else KFold
    return list(kind(2).split(data.X, data.y))


def _mean_output(estimator: Any, X: Any, y: Any = None) -> float:
    return float(np.mean(np.abs(outputs(estimator, X))))


def check_requested_by_default(estimator: Any) -> None:
    """Check that `privileged` is requested without ``set_fit_request``."""
    requests = get_routing_for_object(ready(estimator)).fit.requests
    assert requests.get("privileged") is True, (
        "privileged is not requested by default; set the class attribute "
        '__metadata_request__fit = {"privileged": True}.'
    )


def check_grid_search(estimator: Any) -> None:
    """Check that `GridSearchCV` fits folds and best model with their rows of X*."""
    data = _task(estimator)
    folds = _folds(estimator, data)
    by_hand = [
        _mean_output(fitted(estimator, data.take(train)), data.X[test])
        for train, test in folds
    ]
    best = outputs(fitted(estimator, data), data.X_new)
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            search = GridSearchCV(ready(estimator), {}, cv=folds, scoring=_mean_output)
            search.fit(data.X, data.y, privileged=data.P)
            scores = [search.cv_results_[f"split{k}_test_score"][0] for k in range(2)]
            what = f"GridSearchCV with routing {'on' if routing else 'off'}"
            assert_same(np.array(scores), np.array(by_hand), estimator, what)
            assert_same(outputs(search, data.X_new), best, estimator, what)


def check_cross_validate(estimator: Any) -> None:
    """Check that `cross_validate` fits every fold with its rows of X*."""
    data = _task(estimator)
    folds = _folds(estimator, data)
    by_hand = [
        outputs(fitted(estimator, data.take(train)), data.X_new) for train, _ in folds
    ]
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            result = cross_validate(
                ready(estimator),
                data.X,
                data.y,
                cv=folds,
                params={"privileged": data.P},
                return_estimator=True,
                error_score="raise",
            )
            for model, expected in zip(result["estimator"], by_hand, strict=True):
                assert_same(
                    outputs(model, data.X_new),
                    expected,
                    estimator,
                    f"cross_validate with routing {'on' if routing else 'off'}",
                )


def check_pipeline(estimator: Any) -> None:
    """Check ``step__privileged`` without routing and ``privileged`` with routing."""
    data = _task(estimator)
    folds = _folds(estimator, data)
    scaled = [StandardScaler().fit(data.X[train]) for train, _ in folds]
    by_hand = [
        ready(estimator).fit(
            scaler.transform(data.X[train]), data.y[train], privileged=data.P[train]
        )
        for scaler, (train, _) in zip(scaled, folds, strict=True)
    ]
    for routing, name in ((False, "model__privileged"), (True, "privileged")):
        with config_context(enable_metadata_routing=routing):
            result = cross_validate(
                Pipeline([("scale", StandardScaler()), ("model", ready(estimator))]),
                data.X,
                data.y,
                cv=folds,
                params={name: data.P},
                return_estimator=True,
                error_score="raise",
            )
            for model, hand, scaler in zip(
                result["estimator"], by_hand, scaled, strict=True
            ):
                assert_same(
                    outputs(model, data.X_new),
                    outputs(hand, scaler.transform(data.X_new)),
                    estimator,
                    f"Pipeline with routing {'on' if routing else 'off'}",
                )


def check_learning_curve(estimator: Any) -> None:
    """Check that `learning_curve` takes the rows of X* for every training size."""
    data = _task(estimator)
    folds = _folds(estimator, data)
    sizes = [20, 30]
    by_hand = [
        [
            _mean_output(fitted(estimator, data.take(train[:size])), data.X[test])
            for train, test in folds
        ]
        for size in sizes
    ]
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            _, _, scores = learning_curve(
                ready(estimator),
                data.X,
                data.y,
                cv=folds,
                train_sizes=sizes,
                scoring=_mean_output,
                params={"privileged": data.P},
                error_score="raise",
            )
            assert_same(
                scores,
                np.array(by_hand),
                estimator,
                f"learning_curve with routing {'on' if routing else 'off'}",
            )


@classifiers_only
def check_calibration(estimator: Any) -> None:
    """Check that `CalibratedClassifierCV` fits every fold with its rows of X*.

    Only for estimators with a decision function or probabilities.
    """
    if not any(hasattr(estimator, m) for m in ("decision_function", "predict_proba")):
        return
    data = _task(estimator)
    folds = _folds(estimator, data)
    by_hand = [
        outputs(fitted(estimator, data.take(train)), data.X_new) for train, _ in folds
    ]
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            calibrated = CalibratedClassifierCV(ready(estimator), cv=folds)
            calibrated.fit(data.X, data.y, privileged=data.P)
            for part, expected in zip(
                calibrated.calibrated_classifiers_, by_hand, strict=True
            ):
                assert_same(
                    outputs(part.estimator, data.X_new),
                    expected,
                    estimator,
                    f"CalibratedClassifierCV with routing {'on' if routing else 'off'}",
                )
