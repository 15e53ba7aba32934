"""Rules: regions of the feature space with a label.

A rule assigns a label to every point of the polyhedron ``{x : D x <= d}``. It is
written as ``"bmi >= 30 and glucose >= 126 => 1"`` (grammar: `lupi.advice._grammar`) or
given by the arrays. Strict and non-strict comparisons give the same closed half-space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lupi._stored import stored
from lupi._words import listed
from lupi.advice._grammar import (
    KEYWORDS,
    WORD,
    Label,
    Piece,
    RuleError,
    parse_rules,
)

__all__ = ["Rule", "RuleError", "read_advice"]

_NUMBERED = re.compile(r"x(0|[1-9][0-9]*)")


@stored
class Rule:
    """Advice: all points with ``D x <= d`` have a label.

    Parameters
    ----------
    D : array-like of shape (n_conditions, n_columns)
        Left-hand sides, one row per condition.
    d : array-like of shape (n_conditions,)
        Right-hand sides.
    label : int, float, bool or str
        The class of the points in the region.
    names : sequence of str, default=None
        The columns of ``D``; None means ``x0, x1, …``.
    name : str, default=None
        Name of the rule in messages; None means its text.

    See Also
    --------
    KnowledgeBasedSVC : A linear SVM that learns from rules and rows.
    Adviceptron : A perceptron that learns from rules and a stream of rows.

    Notes
    -----
    In a table without columns called ``x0, x1, …`` these names refer to the positions
    of its columns, so that a rule made from arrays applies to tables as well.

    Examples
    --------
    >>> from lupi.advice import Rule
    >>> rule = Rule.parse("20 <= age < 40 and 3*a + 5*b >= 2 => 'low risk'")
    >>> rule
    Rule.parse("20 <= age < 40 and 3*a + 5*b >= 2 => 'low risk'")
    >>> rule.names
    ('age', 'a', 'b')
    >>> rule.D
    array([[-1.,  0.,  0.],
           [ 1.,  0.,  0.],
           [ 0., -3., -5.]])
    >>> rule.d
    array([-20.,  40.,  -2.])
    >>> print(Rule([[-1, 0], [0, 2.5]], [-30, 1], label=1))
    x0 >= 30 and 2.5*x1 <= 1 => 1
    >>> Rule.parse("a >= 1 or b >= 1 => yes")
    [Rule.parse('a >= 1 => yes'), Rule.parse('b >= 1 => yes')]
    """

    def __init__(
        self,
        D: ArrayLike,
        d: ArrayLike,
        label: Label,
        *,
        names: Sequence[str] | None = None,
        name: str | None = None,
    ):
        self.D, self.d = _checked_region(D, d)
        self.label = _checked_label(label)
        self.names = _checked_names(names, self.D.shape[1])
        self.name = name
        self._pieces: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, text: str, *, name: str | None = None) -> Rule | list[Rule]:
        """Parse the text of a rule.

        Parameters
        ----------
        text : str
            A rule such as ``"bmi >= 30 and glucose >= 126 => 1"``. Put columns with
            spaces in backticks, labels with spaces in quotes.
        name : str, default=None
            Name of the rule in messages.

        Returns
        -------
        rule : Rule or list of Rule
            If the text has an ``or``, a list with one rule for each alternative.

        Raises
        ------
        RuleError
            If the text is not a rule; the message has the position of the error and
            what was expected there.
        """
        alternatives, label = parse_rules(text)
        rules = [cls._from_pieces(pieces, label, name) for pieces in alternatives]
        return rules[0] if len(rules) == 1 else rules

    @classmethod
    def _from_pieces(cls, pieces: list[Piece], label: Label, name: str | None) -> Rule:
        rows = [row for piece in pieces for row in piece.rows]
        names = list(dict.fromkeys(column for terms, _ in rows for column in terms))
        D = [[terms.get(column, 0.0) for column in names] for terms, _ in rows]
        rule = cls(D, [bound for _, bound in rows], label, names=names, name=name)
        rule._pieces = tuple(piece.text for piece in pieces)
        return rule

    def region(
        self, feature_names: Sequence[str] | None, n_features: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the arrays of the rule in the columns of a data set.

        Parameters
        ----------
        feature_names : sequence of str or None
            Names of the columns; None means ``x0, x1, …``.
        n_features : int
            Number of columns.

        Returns
        -------
        D : ndarray of shape (n_conditions, n_features)
            Left-hand sides.
        d : ndarray of shape (n_conditions,)
            Right-hand sides.
        """
        D = np.zeros((len(self.d), n_features))
        D[:, self._columns(feature_names, n_features)] = self.D
        return D, self.d

    def contains(
        self, X: ArrayLike, feature_names: Sequence[str] | None = None
    ) -> NDArray[np.bool_]:
        """Return which rows are in the region.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows. The columns of a data frame are found by name.
        feature_names : sequence of str, default=None
            Names of the columns, if `X` has none.

        Returns
        -------
        inside : ndarray of bool of shape (n_samples,)
            True for rows in the region.
        """
        if feature_names is None and hasattr(X, "columns"):
            feature_names = list(X.columns)
        X = np.asarray(X)
        columns = self._columns(feature_names, X.shape[1])
        values = np.asarray(X[:, columns], dtype=np.float64)
        return np.all(values @ self.D.T <= self.d, axis=1)

    def _columns(
        self, feature_names: Sequence[str] | None, n_features: int
    ) -> list[int]:
        """Return the positions of the columns of the rule in a data set."""
        names = [] if feature_names is None else map(str, feature_names)
        position = {name: j for j, name in enumerate(names)}
        if not any(map(_NUMBERED.fullmatch, position)):
            position |= {f"x{j}": j for j in range(n_features)}
        unknown = [column for column in self.names if column not in position]
        if unknown:
            columns = listed(list(position)[:n_features], most=9)
            raise ValueError(
                f"The rule {str(self)!r} mentions {listed(map(repr, unknown))}, but "
                f"the columns are {columns}. Correct the rule, or fit on a table with "
                "such columns."
            )
        return [position[column] for column in self.names]

    # -- printing and comparing -----------------------------------------------------

    @property
    def title(self) -> str:
        """The name of the rule, or its text if it has no name."""
        return str(self) if self.name is None else self.name

    def __str__(self) -> str:
        pieces = self._pieces
        if pieces is None:
            columns = [_column_text(column) for column in self.names]
            rows = zip(self.D, self.d, strict=True)
            pieces = tuple(_row_text(row, bound, columns) for row, bound in rows)
        return f"{' and '.join(pieces)} => {_label_text(self.label)}"

    def __repr__(self) -> str:
        name = "" if self.name is None else f", name={self.name!r}"
        return f"Rule.parse({str(self)!r}{name})"

    def _key(self) -> tuple[Any, ...]:
        """Return a key that is equal for equal rules; it ignores the column order."""
        rows = []
        for row, bound in zip(self.D, self.d, strict=True):
            terms = zip(self.names, row.tolist(), strict=True)
            rows.append((frozenset(term for term in terms if term[1]), float(bound)))
        return (*rows, self.label)

    def __eq__(self, other: object) -> bool:
        return (
            self._key() == other._key() if isinstance(other, Rule) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(self._key())


def numbered_width(names: Sequence[str]) -> int | None:
    """Return the number of columns if all names are among ``x0, x1, …``, else None."""
    numbers = [_NUMBERED.fullmatch(name) for name in names]
    if not all(numbers):
        return None
    return max((int(m[1]) + 1 for m in numbers if m), default=0)


def read_advice(advice: Any) -> list[Rule]:
    """Return the rules of the parameter ``advice``."""
    if advice is None:
        return []
    if isinstance(advice, Rule):
        return [advice]
    if isinstance(advice, str):
        parsed = Rule.parse(advice)
        return parsed if isinstance(parsed, list) else [parsed]
    if isinstance(advice, Iterable):
        return [rule for item in advice for rule in read_advice(item)]
    raise TypeError(
        "advice must be a rule, a string such as 'age >= 40 => 1', or a list of these, "
        f"but an object of type {type(advice).__name__} was given."
    )


def _checked_region(
    D: ArrayLike, d: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    D = np.array(D, dtype=np.float64)
    d = np.atleast_1d(np.array(d, dtype=np.float64))
    if D.ndim != 2 or d.ndim != 1 or len(D) != len(d) or D.size == 0:
        raise ValueError(
            "A rule needs D with one row per condition and d with one number per "
            f"condition, at least one of each, but D has shape {D.shape} and d has "
            f"shape {d.shape}."
        )
    if not (np.isfinite(D).all() and np.isfinite(d).all()):
        raise ValueError(
            "The numbers of a rule must be finite, but D or d has NaN or infinity. "
            "Leave out conditions with an infinite bound."
        )
    return D, d


def _checked_label(label: Any) -> Label:
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, float) and not np.isfinite(label):
        raise ValueError(f"The label of a rule must be finite, but {label} was given.")
    if not isinstance(label, bool | int | float | str):
        raise TypeError(
            "The label of a rule must be a number, a bool or a string, but an object "
            f"of type {type(label).__name__} was given."
        )
    return label


def _checked_names(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j}" for j in range(n_columns))
    names = tuple(str(column) for column in names)
    if len(names) != n_columns or len(set(names)) != n_columns:
        raise ValueError(
            f"D has {n_columns} columns, so names must be {n_columns} different names, "
            f"but {list(names)} was given."
        )
    return names


def _quoted(text: str, quote: str) -> str:
    return quote + re.sub(rf"([\\{quote}])", r"\\\1", text) + quote


def _column_text(column: str) -> str:
    bare = WORD.fullmatch(column) and column.lower() not in KEYWORDS
    return column if bare else _quoted(column, "`")


def _label_text(label: Label) -> str:
    if not isinstance(label, str):
        return repr(label)
    bare = WORD.fullmatch(label) and label.lower() not in (*KEYWORDS, "true", "false")
    return label if bare else _quoted(label, "'")


def _number_text(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(value)


def _row_text(row: NDArray[np.float64], bound: float, columns: list[str]) -> str:
    terms = [(float(v), c) for v, c in zip(row, columns, strict=True) if v]
    if not terms:
        return f"0*{columns[0]} <= {_number_text(float(bound))}"
    # -x0 <= -30 is written as x0 >= 30.
    flip = -1.0 if all(value < 0 for value, _ in terms) else 1.0
    text = ""
    for value, column in terms:
        value *= flip
        size = "" if abs(value) == 1 else f"{_number_text(abs(value))}*"
        sign = (" - " if value < 0 else " + ") if text else "-" if value < 0 else ""
        text += f"{sign}{size}{column}"
    relation = "<=" if flip > 0 else ">="
    return f"{text} {relation} {_number_text(flip * float(bound))}"
