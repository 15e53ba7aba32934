"""Generated data whose privileged information helps, or does not, by construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import expit
from sklearn.utils import Bunch, check_random_state

from lupi._optional import optional

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "as_frame=True")

Seed = int | np.random.RandomState | None
# Distances of the centers from the origin in X and in X*, by kind of plane.
_CENTERS = {
    "separable": (3.0, 3.0),
    "overlapping": (1.2, 1.2),
    "separable-privileged": (1.2, 3.0),
}


def _bunch(
    X: np.ndarray,
    privileged: np.ndarray,
    y: np.ndarray,
    as_frame: bool,
    generator: object,
    names: list[str] | None = None,
    privileged_names: list[str] | None = None,
    **more: object,
) -> Bunch:
    names = names or [f"x{i + 1}" for i in range(X.shape[1])]
    privileged_names = privileged_names or [
        f"z{i + 1}" for i in range(privileged.shape[1])
    ]
    return Bunch(
        data=pd.DataFrame(X, columns=names) if as_frame else X,
        privileged=pd.DataFrame(privileged, columns=privileged_names)
        if as_frame
        else privileged,
        target=pd.Series(y, name="target") if as_frame else y,
        feature_names=names,
        privileged_feature_names=privileged_names,
        DESCR=generator.__doc__ or "",
        **more,
    )


def _unit(rng: np.random.RandomState, size: int) -> np.ndarray:
    direction = rng.normal(size=size)
    return direction / np.linalg.norm(direction)


def _outcome(rng: np.random.RandomState, effect: np.ndarray, task: str) -> np.ndarray:
    """Draw classes with the log-odds ``effect``, or numbers with this mean."""
    if task == "classification":
        return (rng.uniform(size=len(effect)) < expit(effect)).astype(int)
    if task == "regression":
        return effect + rng.normal(size=len(effect))
    raise ValueError(f"task={task!r}: choose 'classification' or 'regression'.")


def make_plane(
    kind: Literal["separable", "overlapping", "separable-privileged"] = "overlapping",
    n_samples: int = 60,
    *,
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make two normal distributions in the plane of X, and two in the plane of X*.

    The data resemble those of the figures in O. Thomas, "Learning Using Privileged
    Information: A Unified Approach", University of Sussex, 2017::

        x  = y · a · (1, 1)/√2 + N(0, I),     x* = y · a* · (1, −1)/√2 + N(0, I)

    with y = ±1. The distances a and a* are 3 and 3 (``"separable"``), 1.2 and 1.2
    (``"overlapping"``), or 1.2 and 3 (``"separable-privileged"``: overlapping in X,
    separable in X*). With distance 3, rows beyond the margin are drawn again, so that a
    line separates the classes.

    Parameters
    ----------
    kind : {"separable", "overlapping", "separable-privileged"}, default="overlapping"
        Whether the classes are separable in X and in X*.
    n_samples : int, default=60
        Number of rows, half of them of each class.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data`` (n, 2), ``privileged`` (n, 2), ``target`` (−1 or 1), names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_plane
    >>> make_plane("separable", 20, random_state=0).data.shape
    (20, 2)
    """
    if kind not in _CENTERS:
        raise ValueError(
            f"kind={kind!r}: choose one of {', '.join(map(repr, _CENTERS))}."
        )
    rng = check_random_state(random_state)
    y = np.where(np.arange(n_samples) < n_samples // 2, -1, 1)
    distance, privileged_distance = _CENTERS[kind]
    X = _clouds(rng, y, distance, np.array([1.0, 1.0]))
    privileged = _clouds(rng, y, privileged_distance, np.array([1.0, -1.0]))
    return _bunch(X, privileged, y, as_frame, make_plane)


def _clouds(
    rng: np.random.RandomState, y: np.ndarray, distance: float, along: np.ndarray
) -> np.ndarray:
    along = along / np.linalg.norm(along)
    rows, drawn = np.empty((len(y), 2)), np.ones(len(y), dtype=bool)
    while drawn.any():
        fresh = rng.normal(size=(drawn.sum(), 2))
        rows[drawn] = fresh + distance * np.outer(y[drawn], along)
        drawn = (y * (rows @ along) < 1.0) & (distance >= 2)
    return rows


def make_biased_hiring(
    n_samples: int = 200,
    *,
    bias: float = 0.9,
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make data of hiring decisions that depend on the group of the applicants.

    x is experience and education, x* the group of the applicant. The group is
    correlated with x, because one group has more experience and the other more
    education; merit is their sum::

        z ∈ {−1, 1},  experience = 1.2 z + N(0, 1),  education = −1.2 z + N(0, 1)
        hired = z with probability bias, else sign(experience + education)

    A classifier without the group can still discriminate by experience.

    Parameters
    ----------
    n_samples : int, default=200
        Number of applicants, about half of them of each group.
    bias : float, default=0.9
        Share of decisions made by group.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data`` (n, 2), ``privileged`` (n, 1; the group), ``target`` (1: hired,
        −1: not), ``sensitive_feature_names``, names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_biased_hiring
    >>> make_biased_hiring(random_state=0).sensitive_feature_names
    ['group']
    """
    if not 0 <= bias <= 1:
        raise ValueError(f"bias={bias!r}: give a share between 0 and 1.")
    rng = check_random_state(random_state)
    group = np.where(rng.uniform(size=n_samples) < 0.5, -1, 1)
    X = rng.normal(size=(n_samples, 2))
    X += 1.2 * np.column_stack([group, -group])
    merit = np.where(X.sum(axis=1) >= 0, 1, -1)
    hired = np.where(rng.uniform(size=n_samples) < bias, group, merit)
    return _bunch(
        X,
        group[:, None].astype(float),
        hired,
        as_frame,
        make_biased_hiring,
        names=["experience", "education"],
        privileged_names=["group"],
        sensitive_feature_names=["group"],
    )


def make_slack_teacher(
    n_samples: int = 200,
    *,
    n_features: int = 20,
    flip: float = 0.4,
    noise: float = 0.5,
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make data whose X* contains the true margin violation, the ideal case of SVM+.

    The true rule is f(x) = w·x with ‖w‖ = 1 and x ~ N(0, I). Labels follow it inside
    the margin; beyond the margin they are flipped with probability ``flip``, so that
    the rows with the largest influence on a linear model are the least reliable::

        y = sign f(x) · s,   s = −1 with probability flip where |f(x)| > 1, else 1
        ξ = max(0, 1 − y f(x))
        x* = (ξ,  y ξ + noise · N(0, 1))

    Without X*, a linear model on 20 features and 160 rows has an accuracy of about
    0.72, and no rule of x has more than 0.87. A model of [x, x*] has about 0.97. SVM+
    reaches the best rule of x with the correcting function w*·x* + b* = ξ, which is
    the slack of every row.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features : int, default=20
        Number of features of x.
    flip : float, default=0.4
        Probability that a label beyond the margin is wrong.
    noise : float, default=0.5
        Standard deviation of the noise on the direction of the violation; with 0 a
        model of X and X* is nearly perfect.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data``, ``privileged``, ``target`` (−1 or 1), ``rule`` (w), names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_slack_teacher
    >>> make_slack_teacher(random_state=0).privileged.shape
    (200, 2)
    """
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    rule = _unit(rng, n_features)
    value = X @ rule
    wrong = (np.abs(value) > 1) & (rng.uniform(size=n_samples) < flip)
    y = np.where(wrong, -1, 1) * np.where(value >= 0, 1, -1)
    slack = np.maximum(0.0, 1.0 - y * value)
    side = y * slack + noise * rng.normal(size=n_samples)
    return _bunch(
        X,
        np.column_stack([slack, side]),
        y,
        as_frame,
        make_slack_teacher,
        privileged_names=["violation", "side"],
        rule=rule,
    )


def make_similarity_teacher(
    n_samples: int = 200,
    *,
    n_features: int = 20,
    n_privileged: int = 3,
    separation: float = 2.0,
    noise: float = 2.0,
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make data that are separable in X* and noisy in X: similarity control.

    The classes are two normal distributions in the space of X*, which has few
    dimensions. X is a linear map of X* with much noise::

        x* = y · separation · e₁ + N(0, I)      (n_privileged dimensions)
        x  = A x* + noise · N(0, I)             (A: random, columns of length 1)

    Similar rows in X* have similar labels, and the distance of a row from the boundary
    in X* measures how difficult it is. This is the assumption of SVMΔ+ and of
    distillation.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features, n_privileged : int, default=20 and 3
        Dimensions of x and of x*.
    separation : float, default=2.0
        Half the distance of the class centers in X*, in standard deviations.
    noise : float, default=2.0
        Standard deviation of the noise on x.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data``, ``privileged``, ``target`` (−1 or 1), names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_similarity_teacher
    >>> make_similarity_teacher(50, random_state=0).data.shape
    (50, 20)
    """
    rng = check_random_state(random_state)
    y = np.where(rng.uniform(size=n_samples) < 0.5, -1, 1)
    privileged = rng.normal(size=(n_samples, n_privileged))
    privileged[:, 0] += separation * y
    image = np.column_stack([_unit(rng, n_features) for _ in range(n_privileged)])
    X = privileged @ image.T + noise * rng.normal(size=(n_samples, n_features))
    return _bunch(X, privileged, y, as_frame, make_similarity_teacher)


def make_mediator(
    n_samples: int = 300,
    *,
    n_features: int = 20,
    n_privileged: int = 2,
    noise: float = 1.0,
    strength: float = 2.0,
    task: Literal["classification", "regression"] = "classification",
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make data in which X* is between X and y: X → X* → y.

    X* is a later state of the same process, and X acts on y only through X*::

        x ~ N(0, I),   x*_k = b_k·x + noise · N(0, 1)   (‖b_k‖ = 1)
        η = strength · mean_k(x*_k) · √n_privileged
        classification: P(y = 1) = 1 / (1 + exp(−η)),   regression: y = η + N(0, 1)

    A teacher of X* has few coefficients, and its predictions are estimates of η, while
    a label is a random draw. The student gains with few rows; the gain vanishes as the
    number of rows grows.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_features, n_privileged : int, default=20 and 2
        Dimensions of x and of x*.
    noise : float, default=1.0
        Standard deviation of the noise between X and X*.
    strength : float, default=2.0
        Size of the effect of X* on y.
    task : {"classification", "regression"}, default="classification"
        Kind of target.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data``, ``privileged``, ``target`` (0 or 1, or real), names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> make_mediator(50, task="regression", random_state=0).target.dtype
    dtype('float64')
    """
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    effects = np.column_stack([_unit(rng, n_features) for _ in range(n_privileged)])
    privileged = X @ effects + noise * rng.normal(size=(n_samples, n_privileged))
    effect = strength * privileged.mean(axis=1) * np.sqrt(n_privileged)
    y = _outcome(rng, effect, task)
    return _bunch(X, privileged, y, as_frame, make_mediator)


def make_useless(
    n_samples: int = 200,
    *,
    n_features: int = 10,
    n_privileged: int = 5,
    strength: float = 1.5,
    task: Literal["classification", "regression"] = "classification",
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make data whose X* is noise, independent of X and of y.

    ::

        x ~ N(0, I),   η = strength · w·x  (‖w‖ = 1),   x* ~ N(0, I)
        classification: P(y = 1) = 1 / (1 + exp(−η)),   regression: y = η + N(0, 1)

    Any gain from X* that is found here is due to chance or to overfitting.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features, n_privileged : int, default=10 and 5
        Dimensions of x and of x*.
    strength : float, default=1.5
        Size of the effect of x on y.
    task : {"classification", "regression"}, default="classification"
        Kind of target.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data``, ``privileged``, ``target`` (0 or 1, or real), names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_useless
    >>> make_useless(50, random_state=0).privileged.shape
    (50, 5)
    """
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    y = _outcome(rng, strength * (X @ _unit(rng, n_features)), task)
    privileged = rng.normal(size=(n_samples, n_privileged))
    return _bunch(X, privileged, y, as_frame, make_useless)


def make_noisy_labels(
    n_samples: int = 600,
    *,
    n_features: int = 10,
    n_classes: int = 2,
    rates: Sequence[float] = (0.02, 0.1, 0.2, 0.3, 0.4, 0.45),
    reason: Literal["annotators", "seconds", "sources"] = "annotators",
    strength: float = 3.0,
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make labels that are wrong at rates which X* explains.

    The true class is drawn by multinomial logistic regression on x ~ N(0, I), with
    coefficients of length ``strength``. X* does not depend on x or on the class::

        annotators: one of len(rates) people gave the label, who is wrong with their
            rate; the wrong classes are equally probable. x* indicates the person
        seconds: t ~ Exp(1) minutes were spent, and the label is wrong with probability
            max(rates) · exp(−t). x* = (60 t, log 60 t)
        sources: the label is copied from source m, which gives class m mod n_classes
            with probability rates[m], whatever is true. x* indicates the source

    Parameters
    ----------
    n_samples : int, default=600
        Number of rows.
    n_features, n_classes : int, default=10 and 2
        Dimension of x, and number of classes.
    rates : sequence of float, default=(0.02, 0.1, 0.2, 0.3, 0.4, 0.45)
        Probabilities of an error.
    reason : {"annotators", "seconds", "sources"}, default="annotators"
        What X* describes.
    strength : float, default=3.0
        Size of the effect of x on the true class.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data``, ``privileged``, ``target`` (the labels, some of them wrong), ``truth``
        (the true classes), ``rates`` (the probability of an error of each row), names,
        ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_noisy_labels
    >>> data = make_noisy_labels(200, reason="seconds", random_state=0)
    >>> data.privileged.shape, bool((data.target != data.truth).any())
    ((200, 2), True)
    """
    rng = check_random_state(random_state)
    largest = (n_classes - 1) / n_classes
    if not len(rates) or min(rates) < 0 or max(rates) > largest + 1e-12:
        raise ValueError(
            f"rates={rates!r}: give at least one rate, between 0 and {largest:g}, that "
            f"of a guess among {n_classes} classes."
        )
    X = rng.normal(size=(n_samples, n_features))
    coef = np.column_stack([_unit(rng, n_features) for _ in range(n_classes)])
    odds = strength * (X @ (coef - coef.mean(axis=1, keepdims=True)))
    truth = np.argmax(odds + rng.gumbel(size=odds.shape), axis=1)
    who = rng.randint(len(rates), size=n_samples)
    rate = np.asarray(rates, dtype=float)[who]
    privileged = np.eye(len(rates))[who]
    names = [f"{reason[:-1]}_{m + 1}" for m in range(len(rates))]
    wrong = (truth + 1 + rng.randint(n_classes - 1, size=n_samples)) % n_classes
    if reason == "seconds":
        minutes = rng.exponential(size=n_samples)
        rate = max(rates) * np.exp(-minutes)
        privileged = np.column_stack([60 * minutes, np.log(60 * minutes)])
        names = ["seconds", "log_seconds"]
    elif reason == "sources":
        wrong = who % n_classes
    elif reason != "annotators":
        raise ValueError(
            f"reason={reason!r}: choose 'annotators', 'seconds' or 'sources'."
        )
    y = np.where(rng.uniform(size=n_samples) < rate, wrong, truth)
    return _bunch(
        X,
        privileged,
        y,
        as_frame,
        make_noisy_labels,
        privileged_names=names,
        truth=truth,
        rates=np.where(wrong == truth, 0.0, rate),
    )
