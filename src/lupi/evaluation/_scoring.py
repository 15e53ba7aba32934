"""Choice of the score, checks of it before any model is fitted, and scores of rows."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

from lupi._words import argument
from lupi.evaluation._methods import Task
from lupi.evaluation._statistics import Design

Scorer = Callable[..., float]
Score = Callable[[np.ndarray], float]

# Scores of one class against the other; scikit-learn's scorers need the label 1.
OF_ONE_CLASS: dict[str, Callable[..., float]] = {
    "average_precision": average_precision_score,
    "f1": f1_score,
    "jaccard": jaccard_score,
    "precision": precision_score,
    "recall": recall_score,
}
FOR_MORE_CLASSES = {
    "average_precision": "roc_auc_ovr",
    "f1": "f1_macro",
    "jaccard": "jaccard_macro",
    "precision": "precision_macro",
    "recall": "recall_macro",
    "roc_auc": "roc_auc_ovr",
}
# The ranges of scores whose names start with these words.
BOUNDS = {
    ("accuracy", "balanced_accuracy", "roc_auc", *OF_ONE_CLASS): (0.0, 1.0),
    ("r2", "explained_variance", "d2_"): (-np.inf, 1.0),
    ("neg_",): (-np.inf, 0.0),
}
OF_NUMBERS = ("r2", "explained_variance", "error", "deviance", "pinball")
METRIC_NAMES = {
    "roc_auc": "AUC",
    "roc_auc_ovr": "AUC (one vs rest)",
    "roc_auc_ovo": "AUC (one vs one)",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1 score",
    "average_precision": "average precision",
    "neg_log_loss": "negative log loss",
    "neg_brier_score": "negative Brier score",
    "r2": "R²",
    "neg_mean_squared_error": "negative mean squared error",
    "neg_root_mean_squared_error": "negative root mean squared error",
    "neg_mean_absolute_error": "negative mean absolute error",
}
# What people call scores, where the nearest name of scikit-learn is another one.
SHORT_NAMES = {
    "acc": "accuracy",
    "auc": "roc_auc",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
}
# Of two classes, as in scikit-learn. Decision values of more classes rank the classes
# of a row, not the rows: there probabilities come first.
RESPONSES = ("decision_function", "predict_proba")
RESPONSES_OF_MORE = RESPONSES[::-1]
# Private attributes of a scorer of scikit-learn: metric, sign, options, method.
SCORER_PARTS = ("_score_func", "_sign", "_kwargs", "_response_method")
ROWS_OF_TRIAL = 10  # of each class
N_BINS = 10
# Share of the rows below which the average precision of a class is reported as well.
RARE = 0.1
# Number of classes of which it is reported, the rarest with this many test rows.
MOST_RARE = 5
FEWEST_TESTED = 3
AVERAGE_PRECISION = "average_precision"
# Values of a class are constant if their range is below these tolerances, relative to
# the largest value and absolute.
ROUNDING = 1e-9
TINY = 1e-12


def metric_name(scoring: str) -> str:
    """Return the name of a score in sentences."""
    return METRIC_NAMES.get(scoring, scoring.replace("_", " "))


def choose_scorer(
    scoring: str | Scorer | None, task: Task, y: np.ndarray
) -> tuple[str, Scorer]:
    """Return the name of the score and the scorer, after checking a named one.

    Scores of one class, such as ``"f1"``, are those of the last of two classes.
    """
    if scoring is None:
        scoring = "r2"
        if task == "classification":
            scoring = "roc_auc" if len(np.unique(y)) == 2 else "roc_auc_ovr"
    if isinstance(scoring, str):
        scorer = named_scorer(scoring, task, y)
        _check_scorer(scoring, scorer, task, y)
        return scoring, scorer
    if not callable(scoring):
        raise TypeError(
            f"scoring={scoring!r} is neither the name of a score nor a scorer; see "
            "sklearn.metrics.get_scorer_names() and make_scorer."
        )
    function = getattr(scoring, SCORER_PARTS[0], None) or scoring
    return getattr(function, "__name__", "score"), scoring


def best_score(scorer: Scorer) -> float:
    """Return the best value of a score: 0 for a negated loss, otherwise 1."""
    return 0.0 if getattr(scorer, "_sign", 1) < 0 else 1.0


def score_bounds(scoring: str) -> tuple[float, float]:
    """Return the range of a score of scikit-learn; without ends for other scores.

    That of one class has the class in its name: "average_precision of rare".
    """
    known = scoring.partition(" of ")[0] in get_scorer_names()
    for names, bounds in BOUNDS.items():
        if known and scoring.startswith(names):
            return bounds
    return -np.inf, np.inf


def design_for(scoring: str, design: Design) -> Design:
    """Return a design with the range of a score, and whether it is a share."""
    share = scoring == "accuracy"
    return replace(design, bounds=score_bounds(scoring), share=share)


def check_score_name(name: Any) -> None:
    """Raise an error that suggests a name for one that scikit-learn does not have."""
    names = get_scorer_names()
    if not isinstance(name, str) or name in names:
        return
    short = name.lower().removesuffix("_score")
    near = [SHORT_NAMES[short]] if short in SHORT_NAMES else []
    near = near or difflib.get_close_matches(short, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "try roc_auc, accuracy, f1 or r2."
    raise ValueError(f"{argument('scoring')}: there is no score {name!r}; {hint}")


def named_scorer(name: str, task: Task, y: np.ndarray) -> Scorer:
    """Return the scorer of a name; a score of one class is that of the last of two."""
    check_score_name(name)
    classes = np.unique(y)
    if task == "classification" and name == "roc_auc_ovr":
        return make_scorer(
            macro_auc, response_method=RESPONSES_OF_MORE, classes=classes
        )
    if task == "regression" or name not in OF_ONE_CLASS:
        return get_scorer(name)
    if len(classes) > 2:
        raise ValueError(
            f"The score {name!r} is for two classes and the target has {len(classes)}; "
            f"use {FOR_MORE_CLASSES[name]!r} or 'accuracy'."
        )
    more: dict[str, Any] = {"zero_division": 0.0}
    if name == AVERAGE_PRECISION:
        more = {"response_method": RESPONSES}
    return make_scorer(OF_ONE_CLASS[name], pos_label=classes[-1], **more)


def rare_scorers(
    y: np.ndarray, tested: Sequence[int]
) -> tuple[dict[str, Any] | None, dict[str, Scorer]]:
    """Return the rarest class and its share, and the average precision of rare classes.

    The scorers are those of the rarest classes first, by name; several have the class
    in their names. Classes with too few test rows are left out, as those that are less
    rare, and named; ``tested`` has the numbers of test rows of the splits. Without a
    rare class there are none.
    """
    classes, counts = np.unique(y, return_counts=True)
    rarest = np.argsort(counts, kind="stable")
    all_rare = rarest[counts[rarest] < RARE * len(y)]
    # In whole numbers: 15 rows · (43.8 / 219) is less than 3 by rounding.
    enough = counts * sum(tested) >= FEWEST_TESTED * len(y) * len(tested)
    rare = all_rare[enough[all_rare]][:MOST_RARE]
    scorers = {}
    for label in classes[rare]:
        name = AVERAGE_PRECISION + f" of {label}" * (len(rare) > 1)
        scorers[name] = _class_scorer(average_precision_score, classes, label)
    if not len(rare):
        return None, {}
    share = float(counts[rare[0]] / len(y))
    second = {"class": str(classes[rare[0]]), "share": share}
    others = classes[[each for each in all_rare if each not in rare]].tolist()
    return second | {"others": others}, scorers


def random_average_precision(of_class: np.ndarray) -> float:
    """Return the mean average precision of random rankings of these rows.

    It is above the share of the class: the first of ``n`` rows alone adds ``1/n``, and
    the precision at a row of the class counts that row.
    """
    n, rows = len(of_class), int(np.sum(of_class))
    harmonic = float(np.sum(1 / np.arange(1, n + 1)))
    return (harmonic + (rows - 1) / max(n - 1, 1) * (n - harmonic)) / n


def class_auc_scorers(y: np.ndarray, fewest: int) -> dict[str, Scorer]:
    """Return the AUC against all others of each class with enough rows."""
    classes, counts = np.unique(y, return_counts=True)
    return {
        str(label): _class_scorer(auc, classes, label)
        for label in classes[counts >= fewest]
    }


def _class_scorer(metric: Scorer, classes: np.ndarray, label: Any) -> Scorer:
    options = {"metric": metric, "classes": classes, "label": label}
    responses = RESPONSES if len(classes) == 2 else RESPONSES_OF_MORE
    return make_scorer(score_of_class, response_method=responses, **options)


def score_of_class(
    y: np.ndarray,
    scores: np.ndarray,
    *,
    metric: Scorer,
    classes: np.ndarray,
    label: Any,
    sample_weight: np.ndarray | None = None,
) -> float:
    """Return a score of one class against all others."""
    by_class = scores if scores.ndim == 2 else np.column_stack([-scores, scores])
    own = by_class[:, np.flatnonzero(classes == label)[0]]
    return float(metric(y == label, own, sample_weight=sample_weight))


def auc(
    positive: np.ndarray, values: np.ndarray, sample_weight: np.ndarray | None = None
) -> float:
    """Return the AUC; NaN without rows of either class."""
    weight = np.ones(len(values)) if sample_weight is None else sample_weight
    return _auc(*np.unique(values, return_inverse=True), positive, weight)


def macro_auc(
    y: np.ndarray,
    scores: np.ndarray,
    *,
    classes: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> float:
    """Return the mean over the classes of the AUC of each against all others.

    Unlike that of scikit-learn it takes decision values where there are no
    probabilities, and leaves out classes without rows.
    """
    more: dict[str, Any] = {"metric": auc, "classes": classes}
    found = [
        score_of_class(y, scores, label=label, sample_weight=sample_weight, **more)
        for label in classes
        if 0 < (y == label).sum() < len(y)
    ]
    return float(np.mean(found)) if found else np.nan


def _auc(
    levels: np.ndarray, level_of: np.ndarray, positive: np.ndarray, weight: np.ndarray
) -> float:
    """Return the share of pairs in the right order, ties counting half."""
    up = positive * weight
    upper = np.bincount(level_of, up, len(levels))
    lower = np.bincount(level_of, weight - up, len(levels))
    n_pairs = upper.sum() * lower.sum()
    if n_pairs == 0:
        return np.nan
    return float(upper @ (np.cumsum(lower) - 0.5 * lower) / n_pairs)


def reliability(
    model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None = None
) -> list[list[float]] | None:
    """Return the weight, the summed probability and the weight of the last class.

    There is one line per tenth of the probability; None if the model has no
    probabilities of two classes.
    """
    if not hasattr(model, "predict_proba") or len(model.classes_) != 2:
        return None
    chance = np.asarray(model.predict_proba(X))[:, 1]
    weight = np.ones(len(y)) if weight is None else weight
    tenth = np.clip((N_BINS * chance).astype(int), 0, N_BINS - 1)
    columns = (weight, weight * chance, weight * (y == model.classes_[1]))
    return np.transpose([np.bincount(tenth, c, N_BINS) for c in columns]).tolist()


def constant_model(task: Task) -> Any:
    """Return a model whose predictions are constant."""
    return DummyRegressor() if task == "regression" else DummyClassifier()


def _check_scorer(name: str, scorer: Scorer, task: Task, y: np.ndarray) -> None:
    """Raise an error for a score that cannot be computed for this target."""
    numeric = name.startswith("neg_") or name in OF_NUMBERS
    if task == "classification" and numeric and any(w in name for w in OF_NUMBERS):
        raise ValueError(
            f"The score {name!r} is for numbers and the target has classes; use "
            f"'accuracy' or 'roc_auc', or set {argument('task', 'regression')}."
        )
    some = (np.flatnonzero(y == label)[:ROWS_OF_TRIAL] for label in np.unique(y)[:20])
    rows = np.concatenate(list(some))
    X, target = np.arange(len(rows), dtype=float)[:, None], y[rows]
    try:
        with warnings.catch_warnings():
            # Some scores of a constant prediction are undefined, with a warning.
            warnings.simplefilter("ignore")
            scorer(constant_model(task).fit(X, target), X, target)
    except (ValueError, AttributeError) as error:
        if task == "regression":
            raise ValueError(
                f"The score {name!r} is for classes and the target is a number; use "
                "'r2' or 'neg_mean_squared_error', or set "
                f"{argument('task', 'classification')}."
            ) from error
        hint = ""
        if name in FOR_MORE_CLASSES:
            hint = f" Use {FOR_MORE_CLASSES[name]!r} or 'accuracy'."
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"The score {name!r} cannot be computed for this target: {reason}.{hint}"
        ) from error


def score_rows(
    scorer: Scorer,
    model: Any,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None = None,
    group: np.ndarray | None = None,
    n_groups: int = 0,
) -> tuple[float, list[float] | None]:
    """Score a model on some rows, and by the jackknife for each group of them.

    The pseudo-value of one of G groups is G · score − (G − 1) · (score without the
    group), and NaN for a group without rows. The mean of the pseudo-values is
    approximately the score, and their variance divided by G estimates the variance of
    the score over samples of rows. Without ``group`` they are None.
    """
    if hasattr(scorer, SCORER_PARTS[0]):
        # A scorer of scikit-learn needs predictions only, which are computed once.
        model, X = _CachedPredictions(model, X), np.arange(len(y))

    def score(rows: Any) -> float:
        more = {} if weight is None else {"sample_weight": weight[rows]}
        return float(scorer(model, X[rows], y[rows], **more))

    total = score(np.arange(len(y)))
    if group is None:
        return total, None
    part = _plain_score(scorer, model, X, y, weight) or score
    count = len(np.unique(group))
    values = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in range(n_groups):
            others = np.flatnonzero(group != name)
            value = np.nan
            if count > 1 and len(others) < len(group):
                # Without the group a class may be missing.
                with suppress(ValueError):
                    value = count * total - (count - 1) * part(others)
            values.append(value)
    return total, values


class _CachedPredictions:
    """A model whose predictions of a table are computed once and looked up by row.

    Decision values and probabilities of a class that differ only by rounding errors are
    set equal: otherwise their AUC would depend on the machine, where it should be 0.5.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self._model, self._X = model, X
        self._found: dict[str, np.ndarray] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if name not in ("predict", "decision_function", "predict_proba"):
            return found

        def predict(rows: np.ndarray) -> np.ndarray:
            if name not in self._found:
                values = np.asarray(found(self._X))
                if name != "predict":
                    limit = max(TINY, ROUNDING * np.abs(values).max())
                    equal = np.ptp(values, axis=0) <= limit
                    values = np.where(equal, values[0], values)
                self._found[name] = values
            return self._found[name][rows]

        predict.__name__ = name
        return predict


# The jackknife scores the same answers once for every group of rows. On small tables
# the checks of scikit-learn took a third of the time of a comparison; the default
# scores are therefore computed without them.


def _plain_score(
    scorer: Any, model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None
) -> Score | None:
    """Return a default score as a function of the rows; None for other scores."""
    weight = np.ones(len(y)) if weight is None else weight
    for name, make in (("roc_auc", _roc_auc), ("accuracy", _accuracy), ("r2", _r2)):
        known = get_scorer(name)
        if all(getattr(scorer, k, None) == getattr(known, k) for k in SCORER_PARTS):
            return make(model, X, y, weight)
    return None


def _roc_auc(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> Score | None:
    if len(model.classes_) != 2:
        return None
    if hasattr(model, "decision_function"):
        values = model.decision_function(X)
    else:
        values = model.predict_proba(X)[:, 1]
    levels, level_of = np.unique(values, return_inverse=True)
    positive = y == model.classes_[1]

    def score(rows: np.ndarray) -> float:
        return _auc(levels, level_of[rows], positive[rows], weight[rows])

    return score


def _accuracy(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> Score:
    right = weight * np.asarray(model.predict(X) == y)

    def score(rows: np.ndarray) -> float:
        total = weight[rows].sum()
        return float(right[rows].sum() / total) if total else np.nan

    return score


def _r2(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> Score:
    squares = weight * (y - model.predict(X)) ** 2

    def score(rows: np.ndarray) -> float:
        if len(rows) < 2 or not weight[rows].any():
            return np.nan
        mean = np.average(y[rows], weights=weight[rows])
        left, spread = squares[rows].sum(), weight[rows] @ (y[rows] - mean) ** 2
        if spread == 0:
            return float(left == 0)
        return float(1.0 - left / spread)

    return score
