"""The grammar of rules and its parser, which returns half-spaces.

::

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

import re
from dataclasses import dataclass, replace

Terms = dict[str, float]
Label = bool | int | float | str

KEYWORDS = ("and", "or")
WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<quoted>`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    r"|(?P<sign>=>|<=|>=|[⇒≤≥∧∨<>+\-*/()])",
    re.DOTALL,
)
_SPELLINGS = {"⇒": "=>", "≤": "<=", "≥": ">=", "∧": "and", "∨": "or"}
_RELATIONS = ("<=", "<", ">=", ">")
# Larger than in any rule that a person writes, and small enough for stack and memory
# if the text comes from an unknown source.
_MAX_DEPTH = 40
_MAX_RULES = 256


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
        self.problem = problem
        self.text = text
        self.position = position

    def __str__(self) -> str:
        rest = self.text[self.position : self.position + 20]
        where = f"{rest!r} at position {self.position}" if rest else "the end"
        text = self.text if len(self.text) <= 200 else f"{self.text[:200]}…"
        return f"{self.problem} Found {where} of the rule {text!r}."


@dataclass(frozen=True)
class Piece:
    """The text of one comparison, and its rows ``terms · x <= bound``."""

    text: str
    rows: tuple[tuple[Terms, float], ...]


@dataclass(frozen=True)
class _Token:
    kind: str
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class _Form:
    """A linear form: terms · x + constant."""

    terms: Terms
    constant: float
    start: int

    def times(self, factor: float) -> _Form:
        terms = {name: factor * value for name, value in self.terms.items()}
        return _Form(terms, factor * self.constant, self.start)


def _sum(parts: list[tuple[_Form, float]]) -> _Form:
    """Add forms, each times a factor; the sum starts where the first form does."""
    terms: Terms = {}
    constant = 0.0
    for form, factor in parts:
        constant += factor * form.constant
        for name, value in form.terms.items():
            terms[name] = terms.get(name, 0.0) + factor * value
    return _Form(terms, constant, parts[0][0].start)


@dataclass(frozen=True)
class _Condition:
    """Alternatives, each a conjunction of pieces."""

    alternatives: list[list[Piece]]
    start: int


def parse_rules(text: str) -> tuple[list[list[Piece]], Label]:
    """Return one list of pieces for each alternative of ``or``, and the label."""
    if not isinstance(text, str):
        raise TypeError(
            f"A rule must be a string, such as 'age >= 40 => 1', but an object of "
            f"type {type(text).__name__} was given. Use Rule(D, d, label) for arrays."
        )
    return _Parser(text).rule()


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)


class _Parser:
    def __init__(self, text: str):
        self.text = text
        self.tokens = self._tokens()
        self.next = 0
        self.depth = 0

    def _tokens(self) -> list[_Token]:
        tokens, position = [], 0
        while position < len(self.text):
            if self.text[position].isspace():
                position += 1
                continue
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise RuleError(self._expected(position), self.text, position)
            value = _SPELLINGS.get(match[0], match[0])
            kind = str(match.lastgroup)
            if kind == "word" and value.lower() in KEYWORDS:
                value = value.lower()
                kind = "sign"
            tokens.append(_Token(kind, value, position, match.end()))
            position = match.end()
        tokens.append(_Token("end", "", position, position))
        return tokens

    def _expected(self, position: int) -> str:
        """Return what was expected in place of a character that starts no token."""
        sign = self.text[position]
        if sign in "`'\"":
            return f"Expected a closing {sign}."
        if sign in "=!":
            return "Expected one of the comparisons <=, <, >=, > or the arrow =>."
        return "Expected a number, a column, a comparison or '=>'."

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

    def rule(self) -> tuple[list[list[Piece]], Label]:
        condition = self._as_condition(self._disjunction())
        if not self._accept("=>"):
            raise self._error("Expected 'and', 'or' or '=> label'.")
        label = self._label()
        if self.token.kind != "end":
            raise self._error("Expected nothing after the label.")
        return condition.alternatives, label

    def _label(self) -> Label:
        sign = self._accept("+", "-")
        token = self.token
        self.next += token.kind != "end"
        if token.kind == "number":
            value = self._number_label(token)
            return -value if sign and sign.value == "-" else value
        if sign is None and token.kind == "word":
            return {"True": True, "False": False}.get(token.value, token.value)
        if sign is None and token.kind == "quoted" and token.value[0] != "`":
            return _unquoted(token.value)
        raise self._error(
            "Expected a label: a number, a word, or text in quotes.", token.start
        )

    def _number_label(self, token: _Token) -> int | float:
        if token.value.isdigit() and len(token.value) <= 4000:
            return int(token.value)
        return self._finite(float(token.value), token.start)

    def _disjunction(self) -> _Form | _Condition:
        left = self._conjunction()
        while self._accept("or"):
            first = self._as_condition(left)
            second = self._as_condition(self._conjunction())
            both = first.alternatives + second.alternatives
            self._check_count(len(both))
            left = _Condition(both, first.start)
        return left

    def _conjunction(self) -> _Form | _Condition:
        left = self._comparison()
        if not self._accept("and"):
            return left
        first = self._as_condition(left)
        together = [list(pieces) for pieces in first.alternatives]
        while True:
            second = self._as_condition(self._comparison()).alternatives
            self._check_count(len(together) * len(second))
            if len(second) == 1:  # in place, so that the time is linear in the text
                for pieces in together:
                    pieces += second[0]
            else:
                together = [a + b for a in together for b in second]
            if not self._accept("and"):
                return _Condition(together, first.start)

    def _check_count(self, n_alternatives: int) -> None:
        if n_alternatives > _MAX_RULES:
            raise self._error(f"Expected at most {_MAX_RULES} rules from one text.")

    def _comparison(self) -> _Form | _Condition:
        left = self._form()
        if not (relation := self._accept(*_RELATIONS)):
            return left
        form = self._as_form(left)
        rows = []
        while relation:
            right = self._as_form(self._form())
            rows.append(self._row(form, relation, right))
            form, relation = right, self._accept(*_RELATIONS)
        end = self.tokens[self.next - 1].end
        start = left.start
        return _Condition([[Piece(self.text[start:end], tuple(rows))]], start)

    def _row(self, left: _Form, relation: _Token, right: _Form) -> tuple[Terms, float]:
        greater = relation.value.startswith(">")
        small, large = (right, left) if greater else (left, right)
        difference = _sum([(small, 1.0), (large, -1.0)])
        if not difference.terms:
            raise self._error(
                "Expected a column on one side of the comparison.", left.start
            )
        for value in (*difference.terms.values(), difference.constant):
            self._finite(value, left.start)
        return difference.terms, -difference.constant

    def _form(self) -> _Form | _Condition:
        left = self._signed()
        parts: list[tuple[_Form, float]] = []
        while sign := self._accept("+", "-"):
            parts = parts or [(self._as_form(left), 1.0)]
            factor = 1.0 if sign.value == "+" else -1.0
            parts.append((self._as_form(self._signed()), factor))
        return _sum(parts) if parts else left

    def _signed(self) -> _Form | _Condition:
        start, factor, signed = self.token.start, 1.0, False
        while sign := self._accept("+", "-"):
            factor, signed = (-factor if sign.value == "-" else factor), True
        value = self._product()
        if not signed:
            return value
        return replace(self._as_form(value).times(factor), start=start)

    def _product(self) -> _Form | _Condition:
        left = self._factor()
        while sign := self._accept("*", "/"):
            form = self._as_form(left)
            at = self.token.start
            other = self._as_form(self._factor())
            if sign.value == "/":
                if other.terms or other.constant == 0:
                    raise self._error("Expected a number other than 0 after '/'.", at)
                terms = {k: v / other.constant for k, v in form.terms.items()}
                constant = form.constant / other.constant
                left = _Form(terms, constant, form.start)
            elif form.terms and other.terms:
                raise self._error(
                    "Expected a number on one side of '*', since rules are linear.", at
                )
            elif form.terms:
                left = form.times(other.constant)
            else:
                left = replace(other.times(form.constant), start=form.start)
        return left

    def _factor(self) -> _Form | _Condition:
        token = self.token
        if token.kind == "number":
            self.next += 1
            return _Form({}, self._finite(float(token.value), token.start), token.start)
        if token.kind == "word":
            self.next += 1
            return _Form({token.value: 1.0}, 0.0, token.start)
        if token.kind == "quoted" and token.value[0] == "`":
            self.next += 1
            return _Form({_unquoted(token.value): 1.0}, 0.0, token.start)
        if self._accept("("):
            return self._parenthesis(token)
        if token.kind == "quoted":
            raise self._error("Expected a column; one with spaces goes in backticks.")
        raise self._error("Expected a number or a column.")

    def _parenthesis(self, opening: _Token) -> _Form | _Condition:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self._error(
                f"Expected at most {_MAX_DEPTH} nested parentheses.", opening.start
            )
        inside = self._disjunction()
        if not self._accept(")"):
            raise self._error("Expected ')'.")
        self.depth -= 1
        return replace(inside, start=opening.start)

    # -- checks of the results ----------------------------------------------------

    def _as_form(self, node: _Form | _Condition) -> _Form:
        if isinstance(node, _Form):
            return node
        raise self._error("Expected a number or a column, not a condition.", node.start)

    def _as_condition(self, node: _Form | _Condition) -> _Condition:
        if isinstance(node, _Condition):
            return node
        if self.token.kind in ("number", "word", "quoted") or self.token.value == "(":
            raise self._error("Expected an operator, such as *, + or <=.")
        raise self._error("Expected a comparison (<=, <, >=, >).")

    def _finite(self, value: float, position: int) -> float:
        if abs(value) < float("inf"):
            return value
        raise self._error("Expected numbers below 1.8e308.", position)
