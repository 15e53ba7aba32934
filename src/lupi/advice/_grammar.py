"""The grammar of rules and its parser: text in, half-spaces out.

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

Inside quotes and backticks a backslash takes the next character as it is. ``and``
and ``or`` may be written in any case; ``≤ ≥ ⇒ ∧ ∨`` are read too. A product needs a
number on one side and a quotient a number below: everything is linear. Both meanings
of ``(`` are read by the same functions, and what came out (a form or a condition) is
checked where it is used; so no text is read twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
# Far beyond what a person writes, and well below what would exhaust the stack or
# the memory: the text may come from anywhere.
_MAX_DEPTH = 40
_MAX_RULES = 256


class RuleError(ValueError):
    """A text that is not a rule.

    Attributes
    ----------
    problem : str
        What was expected instead.
    text : str
        The text that was given.
    position : int
        Where in the text the offending part begins, counted from 0.

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
    """One comparison as it was written, and its rows ``terms · x <= bound``."""

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

    def plus(self, other: _Form, factor: float) -> _Form:
        return _sum([(self, 1.0), (other, factor)])

    def times(self, factor: float) -> _Form:
        terms = {name: factor * value for name, value in self.terms.items()}
        return _Form(terms, factor * self.constant, self.start)


def _sum(parts: list[tuple[_Form, float]]) -> _Form:
    """Add forms, each times a factor; it begins where the first one does."""
    terms: Terms = {}
    constant = 0.0
    for form, factor in parts:
        constant += factor * form.constant
        for name, value in form.terms.items():
            terms[name] = terms.get(name, 0.0) + factor * value
    return _Form(terms, constant, parts[0][0].start)


@dataclass(frozen=True)
class _Condition:
    """Alternatives, each a list of pieces that hold together."""

    alternatives: list[list[Piece]]
    start: int


def parse_rules(text: str) -> tuple[list[list[Piece]], Label]:
    """Read a rule; one list of pieces for each alternative of its ``or``."""
    if not isinstance(text, str):
        raise TypeError(
            f"A rule is written as text, such as 'age >= 40 => 1', but an object of "
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
                raise RuleError(self._stray(position), self.text, position)
            value = _SPELLINGS.get(match[0], match[0])
            kind = str(match.lastgroup)
            if kind == "word" and value.lower() in KEYWORDS:
                value = value.lower()
                kind = "sign"
            tokens.append(_Token(kind, value, position, match.end()))
            position = match.end()
        tokens.append(_Token("end", "", position, position))
        return tokens

    def _stray(self, position: int) -> str:
        sign = self.text[position]
        if sign in "`'\"":
            return f"Expected a closing {sign}."
        if sign in "=!":
            return "Expected <=, <, >=, > or =>: a rule compares with these alone."
        return "Expected a number, a column, a comparison or '=>'."

    # -- moving through the tokens ------------------------------------------------

    @property
    def token(self) -> _Token:
        return self.tokens[self.next]

    def _take(self, *values: str) -> _Token | None:
        """Step over the next token if it is one of these signs."""
        token = self.token
        if token.kind == "sign" and token.value in values:
            self.next += 1
            return token
        return None

    def _fail(self, problem: str, position: int | None = None) -> RuleError:
        at = self.token.start if position is None else position
        return RuleError(problem, self.text, at)

    # -- the grammar, top down ----------------------------------------------------

    def rule(self) -> tuple[list[list[Piece]], Label]:
        condition = self._as_condition(self._disjunction())
        if not self._take("=>"):
            raise self._fail("Expected 'and', 'or' or '=> label'.")
        label = self._label()
        if self.token.kind != "end":
            raise self._fail("Expected nothing after the label.")
        return condition.alternatives, label

    def _label(self) -> Label:
        sign = self._take("+", "-")
        token = self.token
        self.next += token.kind != "end"
        if token.kind == "number":
            value = self._number_label(token)
            return -value if sign and sign.value == "-" else value
        if sign is None and token.kind == "word":
            return {"True": True, "False": False}.get(token.value, token.value)
        if sign is None and token.kind == "quoted" and token.value[0] != "`":
            return _unquoted(token.value)
        raise self._fail(
            "Expected a label: a number, a word, or text in quotes.", token.start
        )

    def _number_label(self, token: _Token) -> int | float:
        if token.value.isdigit() and len(token.value) <= 4000:
            return int(token.value)
        return self._finite(float(token.value), token.start)

    def _disjunction(self) -> _Form | _Condition:
        left = self._conjunction()
        while self._take("or"):
            first = self._as_condition(left)
            second = self._as_condition(self._conjunction())
            both = first.alternatives + second.alternatives
            left = self._limited(both, first.start)
        return left

    def _conjunction(self) -> _Form | _Condition:
        left = self._comparison()
        if not self._take("and"):
            return left
        first = self._as_condition(left)
        together = [list(pieces) for pieces in first.alternatives]
        while True:
            second = self._as_condition(self._comparison()).alternatives
            if len(together) * len(second) > _MAX_RULES:
                raise self._fail(f"Expected at most {_MAX_RULES} rules from one text.")
            if len(second) == 1:  # in place, so that long texts are read in one go
                for pieces in together:
                    pieces += second[0]
            else:
                together = [a + b for a in together for b in second]
            if not self._take("and"):
                return _Condition(together, first.start)

    def _limited(self, alternatives: list[list[Piece]], start: int) -> _Condition:
        if len(alternatives) > _MAX_RULES:
            raise self._fail(f"Expected at most {_MAX_RULES} rules from one text.")
        return _Condition(alternatives, start)

    def _comparison(self) -> _Form | _Condition:
        left = self._form()
        if not (relation := self._take(*_RELATIONS)):
            return left
        form = self._as_form(left)
        rows = []
        while relation:
            right = self._as_form(self._form())
            rows.append(self._row(form, relation, right))
            form, relation = right, self._take(*_RELATIONS)
        end = self.tokens[self.next - 1].end
        start = left.start
        return _Condition([[Piece(self.text[start:end], tuple(rows))]], start)

    def _row(self, left: _Form, relation: _Token, right: _Form) -> tuple[Terms, float]:
        greater = relation.value.startswith(">")
        small, large = (right, left) if greater else (left, right)
        difference = small.plus(large, -1.0)
        if not difference.terms:
            raise self._fail(
                "Expected a column on one side of the comparison.", left.start
            )
        for value in (*difference.terms.values(), difference.constant):
            self._finite(value, left.start)
        return difference.terms, -difference.constant

    def _form(self) -> _Form | _Condition:
        left = self._signed()
        parts: list[tuple[_Form, float]] = []
        while sign := self._take("+", "-"):
            parts = parts or [(self._as_form(left), 1.0)]
            factor = 1.0 if sign.value == "+" else -1.0
            parts.append((self._as_form(self._signed()), factor))
        return _sum(parts) if parts else left

    def _signed(self) -> _Form | _Condition:
        start, factor, signed = self.token.start, 1.0, False
        while sign := self._take("+", "-"):
            factor, signed = (-factor if sign.value == "-" else factor), True
        value = self._product()
        if not signed:
            return value
        form = self._as_form(value).times(factor)
        return _Form(form.terms, form.constant, start)

    def _product(self) -> _Form | _Condition:
        left = self._factor()
        while sign := self._take("*", "/"):
            form = self._as_form(left)
            at = self.token.start
            other = self._as_form(self._factor())
            if sign.value == "/":
                if other.terms or other.constant == 0:
                    raise self._fail("Expected a number other than 0 below '/'.", at)
                terms = {k: v / other.constant for k, v in form.terms.items()}
                constant = form.constant / other.constant
                left = _Form(terms, constant, form.start)
            elif form.terms and other.terms:
                raise self._fail(
                    "Expected a number on one side of '*', since rules are linear.", at
                )
            elif form.terms:
                left = form.times(other.constant)
            else:
                product = other.times(form.constant)
                left = _Form(product.terms, product.constant, form.start)
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
        if self._take("("):
            return self._parenthesis(token)
        if token.kind == "quoted":
            raise self._fail("Expected a column; one with spaces goes in backticks.")
        raise self._fail("Expected a number or a column.")

    def _parenthesis(self, opening: _Token) -> _Form | _Condition:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self._fail(
                "Expected fewer parentheses inside each other.", opening.start
            )
        inside = self._disjunction()
        if not self._take(")"):
            raise self._fail("Expected ')'.")
        self.depth -= 1
        if isinstance(inside, _Form):
            return _Form(inside.terms, inside.constant, opening.start)
        return _Condition(inside.alternatives, opening.start)

    # -- what came out ------------------------------------------------------------

    def _as_form(self, node: _Form | _Condition) -> _Form:
        if isinstance(node, _Form):
            return node
        raise self._fail("Expected a number or a column, not a condition.", node.start)

    def _as_condition(self, node: _Form | _Condition) -> _Condition:
        if isinstance(node, _Condition):
            return node
        if self.token.kind in ("number", "word", "quoted") or self.token.value == "(":
            raise self._fail("Expected a sign (such as *, + or <=) in between.")
        raise self._fail("Expected a comparison (<=, <, >=, >).")

    def _finite(self, value: float, position: int) -> float:
        if abs(value) < float("inf"):
            return value
        raise self._fail("Expected numbers below 1.8e308.", position)
