"""Error of online learners against the number of training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lupi.base._rows import take_rows
from lupi.evaluation._statistics import interval_factor
from lupi.inspection._style import one_axes, series_style, tidy


@dataclass
class OnlineErrorDisplay:
    """Error after each row of a stream, averaged over several orders of the rows.

    Make it with `from_results`, or with `from_estimator` for learners with
    ``partial_fit``.

    Parameters
    ----------
    errors : dict of str to ndarray of shape (n_runs, n_rounds)
        Error of each learner, in each run, at each round.
    rounds : ndarray of shape (n_rounds,)
        Number of training rows at each round.
    error_name : str
        Name of the error.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    lines_ : dict of str to matplotlib Line2D
        The mean errors.
    bands_ : dict of str to matplotlib PolyCollection
        Their intervals; none for a single run.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import Adviceptron
    >>> from lupi.inspection import OnlineErrorDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> rules = ["x0 >= 1 => 1", "x0 <= -1 => 0"]
    >>> display = OnlineErrorDisplay.from_estimator(
    ...     {"with rules": Adviceptron(advice=rules), "perceptron": Adviceptron()},
    ...     X[:30], y[:30], X[30:], y[30:], n_runs=3,
    ... )
    >>> display.errors["with rules"].shape
    (3, 30)
    """

    errors: dict[str, np.ndarray]
    rounds: np.ndarray
    error_name: str = "error"

    @classmethod
    def from_results(
        cls,
        errors: Mapping[str, Any],
        *,
        rounds: Any = None,
        error_name: str = "error",
        confidence: float = 0.95,
        ax: Any = None,
    ) -> OnlineErrorDisplay:
        """Draw errors that were measured elsewhere.

        Parameters
        ----------
        errors : dict of str to array-like of shape (n_runs, n_rounds)
            Error of each learner; one run may be given as a one-dimensional array.
        rounds : array-like of shape (n_rounds,), default=None
            Number of training rows at each round; 1, 2, … by default.
        error_name : str, default="error"
            Name of the error, for the axis.
        confidence : float, default=0.95
            Level of the bands around the means over the runs.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : OnlineErrorDisplay
            The display, drawn.
        """
        tables = {
            str(name): np.atleast_2d(np.asarray(table, dtype=float))
            for name, table in errors.items()
        }
        lengths = {name: table.shape[1] for name, table in tables.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(
                f"The learners have different numbers of rounds, {lengths}. Give errors"
                " at the same rounds for each."
            )
        length = next(iter(lengths.values()))
        rounds = np.arange(1, length + 1) if rounds is None else np.asarray(rounds)
        if rounds.shape != (length,):
            raise ValueError(
                f"rounds has shape {rounds.shape} for errors at {length} rounds. Give "
                "one number of rows for each."
            )
        return cls(tables, rounds, error_name).plot(ax=ax, confidence=confidence)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        n_runs: int = 10,
        every: int = 1,
        confidence: float = 0.95,
        random_state: int | None = None,
        ax: Any = None,
    ) -> OnlineErrorDisplay:
        """Train learners on the rows in several orders, and draw their errors.

        Parameters
        ----------
        estimator : learner with ``partial_fit``, or dict of str to these
            Learners, for example `Adviceptron` with and without rules; they are cloned
            for each run.
        X, y : array-like
            The rows of the stream. Every run has another order, the same for all
            learners.
        X_test, y_test : array-like, default=None
            Test rows, for the test error after every round. Without them the error is
            the share of rows that were misclassified before training on them.
        n_runs : int, default=10
            Number of orders.
        every : int, default=1
            Number of rows between two measurements.
        confidence : float, default=0.95
            Level of the bands.
        random_state : int, default=None
            Seed of the orders.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : OnlineErrorDisplay
            The display, drawn.
        """
        if not isinstance(estimator, Mapping):
            estimator = {type(estimator).__name__: estimator}
        labels = np.asarray(y)
        n_rows = len(labels)
        if not 1 <= every <= n_rows:
            raise ValueError(f"every={every!r}: choose from 1 to the {n_rows} rows.")
        rounds = np.arange(every, n_rows + 1, every)
        rng = np.random.default_rng(random_state)
        orders = [rng.permutation(n_rows) for _ in range(n_runs)]
        run = _mistakes if X_test is None else _test_errors
        rest = () if X_test is None else (X_test, np.asarray(y_test))
        errors = {
            name: [run(model, X, labels, order, rounds, *rest) for order in orders]
            for name, model in estimator.items()
        }
        return cls.from_results(
            errors,
            rounds=rounds,
            error_name=(
                "share of rows misclassified so far"
                if X_test is None
                else "error on test rows"
            ),
            confidence=confidence,
            ax=ax,
        )

    def plot(self, ax: Any = None, *, confidence: float = 0.95) -> OnlineErrorDisplay:
        """Draw mean errors with bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.
        confidence : float, default=0.95
            Level of the bands: Student's t over the runs.

        Returns
        -------
        self : OnlineErrorDisplay
            The display, with ``ax_``, ``figure_``, ``lines_``, ``bands_``.
        """
        self.ax_ = ax = one_axes(ax, (7.0, 4.4))
        self.figure_ = ax.figure
        self.lines_, self.bands_ = {}, {}
        banded = False
        for position, (name, table) in enumerate(self.errors.items()):
            style = series_style(position)
            mean, n_runs = table.mean(axis=0), len(table)
            (self.lines_[name],) = ax.plot(
                self.rounds,
                mean,
                linewidth=2,
                markersize=5,
                markevery=max(1, len(mean) // 10),
                label=name,
                **style,
            )
            if n_runs > 1:
                banded = True
                reach = interval_factor(confidence, n_runs - 1)
                reach = reach * table.std(axis=0, ddof=1) / np.sqrt(n_runs)
                self.bands_[name] = ax.fill_between(
                    self.rounds,
                    mean - reach,
                    mean + reach,
                    color=style["color"],
                    alpha=0.13,
                    linewidth=0,
                )
        ax.set_xlabel("training rows")
        ax.set_ylabel(self.error_name + (f" ({confidence:.0%} band)" if banded else ""))
        ax.set_ylim(bottom=0)
        tidy(ax)
        ax.legend(frameon=False)
        return self


def _mistakes(
    model: Any, X: Any, y: np.ndarray, order: np.ndarray, rounds: np.ndarray
) -> np.ndarray:
    """Return the share of rows misclassified before training on them."""
    learner, classes = clone(model), np.unique(y)
    wrong = np.zeros(len(order))
    for step, row in enumerate(order):
        here = take_rows(X, [row])
        # The first row cannot be predicted, which counts as an error.
        wrong[step] = step == 0 or learner.predict(here)[0] != y[row]
        learner.partial_fit(here, y[[row]], classes=classes)
    return (np.cumsum(wrong) / np.arange(1, len(order) + 1))[rounds - 1]


def _test_errors(
    model: Any,
    X: Any,
    y: np.ndarray,
    order: np.ndarray,
    rounds: np.ndarray,
    X_test: Any,
    y_test: np.ndarray,
) -> np.ndarray:
    """Return the error on test rows after each round."""
    learner, classes = clone(model), np.unique(y)
    errors = np.empty(len(rounds))
    seen = 0
    for position, until in enumerate(rounds):
        rows = order[seen:until]
        learner.partial_fit(take_rows(X, rows), y[rows], classes=classes)
        errors[position] = np.mean(learner.predict(X_test) != y_test)
        seen = until
    return errors
