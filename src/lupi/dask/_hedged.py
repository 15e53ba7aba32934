"""Hedged distillation on Dask collections, by sums of products of every partition."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

from lupi.base import Training, atomic_fit
from lupi.dask._model import DaskModel, Probabilities
from lupi.dask._reading import read_parts
from lupi.transfer import HedgedDistillationClassifier as LocalClassifier
from lupi.transfer import HedgedDistillationRegressor as LocalRegressor
from lupi.transfer._hedge.ridge import LARGEST

__all__ = ["HedgedDistillationClassifier", "HedgedDistillationRegressor"]


class _Hedged(DaskModel):
    """What both share: reading the partitions, and fitting to them."""

    _y_numeric: bool

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        name = type(self).__name__
        if not (self.teacher is None and self.student is None):  # type: ignore[attr-defined]
            raise ValueError(
                f"lupi.dask.{name} fits the default student and teacher, ridge "
                "regression, for which sums over rows are enough. Leave teacher and "
                f"student as None, or use lupi.{name} on one machine."
            )
        if not isinstance(self.cv, Integral):  # type: ignore[attr-defined]
            raise ValueError(
                f"cv={self.cv!r}: lupi.dask.{name} takes a number of folds, as splits "  # type: ignore[attr-defined]
                "by position would need the order of all rows."
            )
        if getattr(self, "class_weight", None) is not None:
            raise ValueError(
                f"class_weight={self.class_weight!r}: lupi.dask.{name} takes weights "  # type: ignore[attr-defined]
                "of rows alone. Multiply sample_weight by the weights of the classes."
            )

    @atomic_fit
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        privileged: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Any:
        """Fit all candidates and their weights, and the calibration of classes.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : Dask array or series of shape (n_samples,)
            Class labels or targets; missing (NaN, None, NA) where the outcome is not
            known yet.
        privileged : Dask array or data frame of shape (n_samples, n_privileged), \
default=None
            X*; a row of NaN is a row without it.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Weights of the rows.
        groups : Dask array or series of shape (n_samples,), default=None
            Rows of one group are kept together in every fold.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._check_parameters()
        ordinary = self._unfitted()
        training = read_parts(
            ordinary,
            self._client(),
            partial(_read, y_numeric=self._y_numeric),
            X=X,
            y=y,
            privileged=privileged,
            sample_weight=sample_weight,
            groups=groups,
        )
        n_columns = ordinary.n_features_in_ + ordinary.n_privileged_features_in_
        if n_columns > LARGEST:
            raise ValueError(
                f"X and X* have {n_columns} columns. Ridge regression from sums of "
                f"products takes at most {LARGEST}. Give fewer columns."
            )
        ordinary._fit_parts(
            training, grouped=groups is not None, weighted=sample_weight is not None
        )
        self._take(vars(ordinary))
        return self


def _read(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    privileged: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    **how: Any,
) -> Training:
    return estimator._read(X, y, privileged, sample_weight, groups, **how)


class HedgedDistillationClassifier(Probabilities, _Hedged, LocalClassifier):
    """Hedged distillation for classes on Dask arrays and data frames.

    The model of :class:`lupi.transfer.HedgedDistillationClassifier` with its default
    student, and the same coefficients: sums of products of every fold are all that it
    needs of the rows.

    Parameters
    ----------
    teacher, student : None
        Ridge regression, its penalty chosen by generalized cross-validation.
    views : {"privileged", "both"} or tuple of these, default=("privileged", "both")
        What teachers see: X* alone, X beside X*, or one of each.
    cv : int, default=5
        Number of folds, dealt by the content of the rows: partitions do not matter.
    n_repeats : int, default=2
        How often the folds are dealt; predictions are averaged.
    prior_strength : float, default=10.0
        How many rows the prior weights are worth.
    class_weight : None
        Not supported; multiply `sample_weight`.
    n_jobs : None
        Without effect: the cluster says how many partitions are worked on at a time.
    random_state : int, RandomState or None, default=None
        Shuffles the folds. With None they are fixed by the content of the rows.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.

    Attributes
    ----------
    classes_, weights_, candidate_scores_, students_, teachers_, coef_, intercept_, \
missing_coef_, calibration_slope_, calibration_intercept_
        As in :class:`lupi.transfer.HedgedDistillationClassifier`.

    See Also
    --------
    lupi.transfer.HedgedDistillationClassifier : The same for tables in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from lupi.dask import HedgedDistillationClassifier
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 4), chunks=(500, 4))
    >>> later = X.sum(axis=1) + rng.normal(size=2000, chunks=500)
    >>> y = later + rng.normal(size=2000, chunks=500) > 0
    >>> model = HedgedDistillationClassifier()
    >>> _ = model.fit(X, y, privileged=later[:, None])
    >>> model.predict(X)
    dask.array<_of_array, shape=(2000,), dtype=bool, chunksize=(500,), ...>
    >>> local = model.to_local()
    >>> type(local).__module__.split(".")[1], local.coef_.shape
    ('transfer', (4,))
    >>> client.close()
    """

    _y_numeric = False


class HedgedDistillationRegressor(_Hedged, LocalRegressor):
    """Hedged distillation for a continuous target on Dask arrays and data frames.

    The model of :class:`lupi.transfer.HedgedDistillationRegressor` with its default
    student, and the same coefficients.

    Parameters
    ----------
    teacher, student, views, cv, n_repeats, prior_strength, n_jobs, random_state
        As in :class:`HedgedDistillationClassifier`.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.

    Attributes
    ----------
    weights_, candidate_scores_, students_, teachers_, coef_, intercept_, missing_coef_
        As in :class:`lupi.transfer.HedgedDistillationRegressor`.

    See Also
    --------
    lupi.transfer.HedgedDistillationRegressor : The same for tables in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from lupi.dask import HedgedDistillationRegressor
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 4), chunks=(500, 4))
    >>> later = X.sum(axis=1) + rng.normal(size=2000, chunks=500)
    >>> y = later + rng.normal(size=2000, chunks=500)
    >>> model = HedgedDistillationRegressor().fit(X, y, privileged=later[:, None])
    >>> model.coef_.round()
    array([1., 1., 1., 1.])
    >>> client.close()
    """

    _y_numeric = True
