"""An external baseline: gradient boosting on X, on the splits of a comparison.

The arms measure what X* adds to a method. How good the method is on this table is
measured by comparison with a strong model of another kind.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from lupi.evaluation._folds import Training
from lupi.evaluation._statistics import Design, corrected_contrast

if TYPE_CHECKING:
    from lupi.evaluation._study import Study

KINDS = {
    "classification": HistGradientBoostingClassifier,
    "regression": HistGradientBoostingRegressor,
}


def outside_baseline(study: Study, n_jobs: int | None = None) -> dict[str, Any] | None:
    """Return name, mean score and standard error; None for sparse X."""
    if sp.issparse(study.X):
        return None
    found = Parallel(n_jobs=n_jobs)(
        delayed(_score)(study, number) for number in range(len(study.splits))
    )
    scores, groups = (np.array(part, dtype=float) for part in zip(*found, strict=True))
    splits = study.settings["splits"]
    design = Design(splits["n_train"], splits["n_test"], splits["kind"])
    level = corrected_contrast(scores, design, groups, paired=False)
    return {
        "name": KINDS[study.task].__name__,
        "score": level.mean,
        "std_error": level.std_error,
    }


def _score(study: Study, number: int) -> tuple[float, list[float]]:
    train, test, _ = study.splits[number]
    fold = study.folds.fold("without", Training(train, len(train), train), test)
    weight = None if study.sample_weight is None else study.sample_weight[train]
    model = KINDS[study.task](random_state=study.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = study.y[train]
        # Classes of a target with missing values have the dtype object.
        y = np.array(y.tolist()) if y.dtype == object else y
        model.fit(fold.X_train, y, sample_weight=weight)
        score, groups = study.score(model, fold, groups=True)
    return score, groups or []
