"""Rules: regions of the feature space with a label.

A rule assigns a label to every point of the polyhedron ``{x : D x <= d}``. It is
written as ``"bmi >= 30 and glucose >= 126 => 1"`` or given by the arrays. Strict and
non-strict comparisons give the same closed half-space. The grammar::

    rule        = condition "=>" label
    condition   = conjunction { "or" conjunction }
    conjunction = comparison { "and" comparison }
    comparison  = form relation form { relation form }  |  "(" condition ")"
    relation    = "<=" | "<" | ">=" | ">"
    form        = [sign] product { ("+" | "-") product }
    product     = factor { ("*" | "/") factor }
    factor      = number | column | "(" form ")"
    column      = word | "`" any text "`"
    label       = [sign] number | word | "'" any text "'" | '"' any text '"'

Inside quotes and backticks a backslash escapes the next character. ``and`` and ``or``
may be written in any case; ``≤ ≥ ⇒ ∧ ∨`` are accepted too. Forms are linear: a product
needs a number on one side, a quotient a number as divisor. Both meanings of ``(`` are
parsed by the same functions, and the type of the result (a form or a condition) is
checked where it is used, so that the parser needs no backtracking.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lupi._stored import stored
from lupi._words import listed

Terms = dict[str | None, float]
Label = bool | int | float | str

KEYWORDS = ("and", "or")
WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<column>`(?:\\.|[^`\\])*`)"
    r"|(?P<quoted>'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    r"|(?P<sign>=>|<=|>=|[⇒≤≥∧∨<>+\-*/()])"
    r"|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_SPELLINGS = {"⇒": "=>", "≤": "<=", "≥": ">=", "∧": "and", "∨": "or"}
_RELATIONS = ("<=", "<", ">=", ">")
# Larger than in any rule that a person writes, and small enough for stack and memory
# if the text comes from an unknown source.
_MAX_DEPTH = 40
_MAX_RULES = 256
_NUMBERED = re.compile(r"x(0|[1-9][0-9]*)")


class RuleError(ValueError):
    """Error for a text that is not a rule.

    Attributes
    ----------
    problem : str
        What was expected instead.
    text : str
        The text.
    position : int
        Position in the text of the first error, counted from 0.

    Examples
    --------
    >>> from lupi.advice import Rule, RuleError
    >>> try:
    ...     Rule.parse("bmi >= 30 => ")
    ... except RuleError as error:
    ...     print(error.position)
    13
    """

    def __init__(self, problem: str, text: str, position: int):
        super().__init__(problem, text, position)
        self.problem, self.text, self.position = problem, text, position

    def __str__(self) -> str:
        rest = self.text[self.position : self.position + 20]
        where = f"{rest!r} at position {self.position}" if rest else "the end"
        text = self.text if len(self.text) <= 200 else f"{self.text[:200]}…"
        return f"{self.problem} Found {where} of the rule {text!r}."


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
        n_columns = D.shape[1]
        if names is None:
            names = [f"x{j}" for j in range(n_columns)]
        self.D, self.d, self.names, self.name = D, d, tuple(map(str, names)), name
        if len(self.names) != n_columns or len(set(self.names)) != n_columns:
            raise ValueError(
                f"D has {n_columns} columns, so names must be {n_columns} different "
                f"names, but {list(self.names)} was given."
            )
        label = label.item() if isinstance(label, np.generic) else label
        if isinstance(label, float) and not np.isfinite(label):
            raise ValueError(
                f"The label of a rule must be finite, but {label} was given."
            )
        if not isinstance(label, bool | int | float | str):
            raise TypeError(
                "The label of a rule must be a number, a bool or a string, but an "
                f"object of type {type(label).__name__} was given."
            )
        self.label = label
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
        if not isinstance(text, str):
            raise TypeError(
                "A rule must be a string, such as 'age >= 40 => 1', but an object of "
                f"type {type(text).__name__} was given. Use Rule(D, d, label) for "
                "arrays."
            )
        alternatives, label = _Parser(text).rule()
        rules = []
        for comparisons in alternatives:
            rows = [row for _, own in comparisons for row in own]
            names = list(dict.fromkeys(column for terms, _ in rows for column in terms))
            D = [[terms.get(column, 0.0) for column in names] for terms, _ in rows]
            rule = cls(D, [bound for _, bound in rows], label, names=names, name=name)
            rule._pieces = tuple(text for text, _ in comparisons)
            rules.append(rule)
        return rules[0] if len(rules) == 1 else rules

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
            columns = [_written(column, "`") for column in self.names]
            rows = zip(self.D, self.d, strict=True)
            pieces = tuple(_row_text(row, bound, columns) for row, bound in rows)
        label = repr(self.label)
        if isinstance(self.label, str):
            label = _written(self.label, "'", "true", "false")
        return f"{' and '.join(pieces)} => {label}"

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
    if isinstance(advice, list | tuple):
        return [rule for item in advice for rule in read_advice(item)]
    raise TypeError(
        "advice must be a rule, a string such as 'age >= 40 => 1', or a list of these, "
        f"but an object of type {type(advice).__name__} was given."
    )


def _written(text: str, quote: str, *reserved: str) -> str:
    """Return a word as it is, and other text in quotes."""
    if WORD.fullmatch(text) and text.lower() not in (*KEYWORDS, *reserved):
        return text
    return quote + re.sub(rf"([\\{quote}])", r"\\\1", text) + quote


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


class _Token(NamedTuple):
    kind: str
    value: str
    start: int
    end: int


class _Node(NamedTuple):
    """A linear form, or a condition: alternatives, each a list of comparisons.

    A form is a dict of terms, with the constant under None. A comparison is its text,
    and rows ``terms · x <= bound``.
    """

    value: Any
    start: int


def _sum(parts: list[tuple[Terms, float]]) -> Terms:
    """Add forms, each times a factor."""
    total: Terms = {None: 0.0}
    for terms, factor in parts:
        for name, value in terms.items():
            total[name] = total.get(name, 0.0) + factor * value
    return total


class _Parser:
    def __init__(self, text: str):
        self.text = text
        self.tokens = [self._token_of(match) for match in _TOKEN.finditer(text)]
        self.tokens = [token for token in self.tokens if token.kind != "space"]
        self.tokens.append(_Token("end", "", len(text), len(text)))
        self.next = 0
        self.depth = 0

    def _token_of(self, match: re.Match[str]) -> _Token:
        kind, value = str(match.lastgroup), _SPELLINGS.get(match[0], match[0])
        if kind == "other":
            problem = "Expected a number, a column, a comparison or '=>'."
            if value in "`'\"":
                problem = f"Expected a closing {value}."
            elif value in "=!":
                problem = (
                    "Expected one of the comparisons <=, <, >=, > or the arrow =>."
                )
            raise RuleError(problem, self.text, match.start())
        if kind in ("column", "quoted"):
            value = re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
        elif kind == "word" and value.lower() in KEYWORDS:
            kind, value = "sign", value.lower()
        return _Token(kind, value, *match.span())

    # -- moving through the tokens ------------------------------------------------

    @property
    def token(self) -> _Token:
        return self.tokens[self.next]

    def _accept(self, *values: str) -> _Token | None:
        """Consume and return the next token if it is one of these signs."""
        token = self.token
        if token.kind == "sign" and token.value in values:
            self.next += 1
            return token
        return None

    def _error(self, problem: str, position: int | None = None) -> RuleError:
        at = self.token.start if position is None else position
        return RuleError(problem, self.text, at)

    # -- the grammar, top down ----------------------------------------------------

    def rule(self) -> tuple[list[list[Any]], Label]:
        """Return the comparisons of each alternative of ``or``, and the label."""
        alternatives = self._alternatives(self._disjunction())
        if not self._accept("=>"):
            raise self._error("Expected 'and', 'or' or '=> label'.")
        label = self._label()
        if self.token.kind != "end":
            raise self._error("Expected nothing after the label.")
        return alternatives, label

    def _label(self) -> Label:
        sign, token = self._accept("+", "-"), self.token
        self.next += token.kind != "end"
        if token.kind == "number":
            value: int | float
            if token.value.isdigit() and len(token.value) <= 4000:
                value = int(token.value)
            else:
                value = self._finite(float(token.value), token.start)
            return -value if sign and sign.value == "-" else value
        if sign is None and token.kind == "word":
            return {"True": True, "False": False}.get(token.value, token.value)
        if sign is None and token.kind == "quoted":
            return token.value
        raise self._error(
            "Expected a label: a number, a word, or text in quotes.", token.start
        )

    def _disjunction(self) -> _Node:
        left = self._conjunction()
        while self._accept("or"):
            both = self._alternatives(left)
            both = both + self._alternatives(self._conjunction())
            self._check_count(len(both))
            left = _Node(both, left.start)
        return left

    def _conjunction(self) -> _Node:
        left = self._comparison()
        while self._accept("and"):
            together = self._alternatives(left)
            second = self._alternatives(self._comparison())
            self._check_count(len(together) * len(second))
            if len(second) == 1:  # in place, so that the time is linear in the text
                for pieces in together:
                    pieces += second[0]
            else:
                together = [a + b for a in together for b in second]
            left = _Node(together, left.start)
        return left

    def _check_count(self, n_alternatives: int) -> None:
        if n_alternatives > _MAX_RULES:
            raise self._error(f"Expected at most {_MAX_RULES} rules from one text.")

    def _comparison(self) -> _Node:
        left = form = self._form()
        rows = []
        while relation := self._accept(*_RELATIONS):
            sides = [self._terms(form), self._terms(right := self._form())]
            small, large = reversed(sides) if relation.value[0] == ">" else sides
            terms = _sum([(small, 1.0), (large, -1.0)])
            bound = -terms.pop(None)
            if not terms:
                raise self._error(
                    "Expected a column on one side of the comparison.", form.start
                )
            for value in (*terms.values(), bound):
                self._finite(value, form.start)
            rows.append((terms, bound))
            form = right
        if not rows:
            return left
        text = self.text[left.start : self.tokens[self.next - 1].end]
        return _Node([[(text, rows)]], left.start)

    def _form(self) -> _Node:
        left = self._signed()
        parts: list[tuple[Terms, float]] = []
        while sign := self._accept("+", "-"):
            parts = parts or [(self._terms(left), 1.0)]
            factor = 1.0 if sign.value == "+" else -1.0
            parts.append((self._terms(self._signed()), factor))
        return _Node(_sum(parts), left.start) if parts else left

    def _signed(self) -> _Node:
        start, signs = self.token.start, []
        while sign := self._accept("+", "-"):
            signs.append(sign.value)
        node = self._product()
        if not signs:
            return node
        factor = (-1.0) ** signs.count("-")
        return _Node(_sum([(self._terms(node), factor)]), start)

    def _product(self) -> _Node:
        left = self._factor()
        while sign := self._accept("*", "/"):
            one, at = self._terms(left), self.token.start
            other = self._terms(self._factor())
            if sign.value == "/" and (len(other) > 1 or other[None] == 0):
                raise self._error("Expected a number other than 0 after '/'.", at)
            if sign.value == "*" and len(other) > 1:
                if len(one) > 1:
                    raise self._error(
                        "Expected a number on one side of '*', since rules are linear.",
                        at,
                    )
                one, other = other, one
            apply = operator.mul if sign.value == "*" else operator.truediv
            terms = {name: apply(value, other[None]) for name, value in one.items()}
            left = _Node(terms, left.start)
        return left

    def _factor(self) -> _Node:
        token = self.token
        if self._accept("("):
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise self._error(
                    f"Expected at most {_MAX_DEPTH} nested parentheses.", token.start
                )
            inside = self._disjunction()
            if not self._accept(")"):
                raise self._error("Expected ')'.")
            self.depth -= 1
            return inside._replace(start=token.start)
        if token.kind == "number":
            terms: Terms = {None: self._finite(float(token.value), token.start)}
        elif token.kind in ("word", "column"):
            terms = {None: 0.0, token.value: 1.0}
        elif token.kind == "quoted":
            raise self._error("Expected a column; one with spaces goes in backticks.")
        else:
            raise self._error("Expected a number or a column.")
        self.next += 1
        return _Node(terms, token.start)

    # -- checks of the results ----------------------------------------------------

    def _terms(self, node: _Node) -> Terms:
        """Return a linear form; raise an error for a condition."""
        if isinstance(node.value, dict):
            return node.value
        raise self._error("Expected a number or a column, not a condition.", node.start)

    def _alternatives(self, node: _Node) -> list[list[Any]]:
        """Return a condition; raise an error for a linear form."""
        if isinstance(node.value, list):
            return node.value
        token = self.token
        if token.kind in ("number", "word", "column", "quoted") or token.value == "(":
            raise self._error("Expected an operator, such as *, + or <=.")
        raise self._error("Expected a comparison (<=, <, >=, >).")

    def _finite(self, value: float, position: int) -> float:
        if abs(value) < float("inf"):
            return value
        raise self._error("Expected numbers below 1.8e308.", position)
