import copy
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lupi.advice import KnowledgeBasedSVC, Rule, RuleError


def half_spaces(rule, names):
    D, d = rule.region(names, len(names))
    return D.tolist(), d.tolist()


@pytest.mark.parametrize(
    ("text", "D", "d", "label"),
    [
        ("a >= 30 and b >= 126 => 1", [[-1, 0], [0, -1]], [-30, -126], 1),
        ("a <= 25 and b <= 100 => -1", [[1, 0], [0, 1]], [25, 100], -1),
        ("3*a + 5*b >= 2 => pos", [[-3, -5]], [-2], "pos"),
        ("a <= b + 1 => 0", [[1, -1]], [1], 0),
        ("20 <= a < 40 => 'low risk'", [[-1, 0], [1, 0]], [-20, 40], "low risk"),
        ("40 > a >= 20 => 'low risk'", [[1, 0], [-1, 0]], [40, -20], "low risk"),
        ('2*(a - b)/4 < -(1 - .5) => "x"', [[0.5, -0.5]], [-0.5], "x"),
        ("(a > 1) AND ((b > 2)) => True", [[-1, 0], [0, -1]], [-1, -2], True),
        ("a ≤ 1e2 ∧ b ≥ -1.5E-1 ⇒ 2.5", [[1, 0], [0, -1]], [100, 0.15], 2.5),
        ("a - a >= 1 and b >= --1 => 0", [[0, 0], [0, -1]], [-1, -1], 0),
        ("5 > 3*a => 0", [[3, 0]], [5], 0),
    ],
)
def test_reads_what_people_write(text, D, d, label):
    rule = Rule.parse(text)
    assert half_spaces(rule, ["a", "b"]) == (D, d)
    assert rule.label == label
    assert type(rule.label) is type(label)


def test_strict_and_non_strict_are_the_same_half_space():
    assert Rule.parse("a < 1 => 1") == Rule.parse("a <= 1 => 1")
    assert Rule.parse("a > 1 => 1") == Rule.parse("1 <= a => 1")


def test_or_splits_and_distributes():
    rules = Rule.parse("(a >= 1 or b >= 2) and c <= 3 => yes", name="r")
    assert rules == [
        Rule.parse("a >= 1 and c <= 3 => yes"),
        Rule.parse("b >= 2 and c <= 3 => yes"),
    ]
    assert [rule.name for rule in rules] == ["r", "r"]
    assert len(Rule.parse("a > 1 or b > 1 and c > 1 or d > 1 => 1")) == 3


def test_columns_with_any_name():
    rule = Rule.parse("`body mass` >= 30 and `a\\`b` <= 1 and `and` <= 2 => 1")
    assert rule.names == ("body mass", "a`b", "and")
    assert Rule.parse(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "position", "word"),
    [
        ("", 0, "number or a column"),
        ("bmi >= 30 and => 1", 14, "number or a column"),
        ("3a >= 1 => 1", 1, "operator"),
        ("a*b >= 1 => 1", 2, "linear"),
        ("1/a >= 1 => 1", 2, "after"),
        ("a/0 >= 1 => 1", 2, "other than 0"),
        ("a == 1 => 1", 2, "comparisons"),
        ("a != 1 => 1", 2, "comparisons"),
        ("a >= 1", 6, "=> label"),
        ("a >= 1 =>", 9, "label"),
        ("a >= 1 => 1 2", 12, "nothing"),
        ("a >= 1 => - pos", 12, "label"),
        ("a => 1", 2, "comparison"),
        ("1 >= 2 => 1", 0, "column"),
        ("(a >= 1 => 1", 8, "')'"),
        ("(a >= 1) * 2 >= 1 => 1", 0, "not a condition"),
        ("a >= 1 and 'b' <= 2 => 1", 11, "backticks"),
        ("a >= 1 => 'one", 10, "closing"),
        ("a >= 1e999 => 1", 5, "1.8e308"),
        ("a >= 1 => 1e999", 10, "1.8e308"),
        ("1e308*a + 1e308*a > 1 => 1", 0, "1.8e308"),
        ("__import__('os') => 1", 10, "operator"),
        ("a.b >= 1 => 1", 1, "Expected"),
        ("(" * 500 + "a", 40, "parentheses"),
    ],
)
def test_errors_say_where_and_what(text, position, word):
    with pytest.raises(RuleError) as caught:
        Rule.parse(text)
    assert caught.value.position == position
    assert word in str(caught.value)
    # Without its traceback, which other libraries may have taught pickle to follow.
    error = caught.value.with_traceback(None)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_explosions_are_refused():
    text = " and ".join(["(a > 1 or b > 1)"] * 30) + " => 1"
    with pytest.raises(RuleError, match="at most 256 rules"):
        Rule.parse(text)
    with pytest.raises(RuleError, match="at most 256 rules"):
        Rule.parse(" or ".join(["a > 1"] * 300) + " => 1")


def check_that_it_parses_or_raises_rule_error(text):
    try:
        rules = Rule.parse(text)
    except RuleError as caught:
        position = caught.position
    else:
        position = 0
        for rule in rules if isinstance(rules, list) else [rules]:
            assert Rule.parse(str(rule)) == rule
    assert 0 <= position <= len(text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
@example("a >= 1 => " + "1" * 5000)
@example("²³ >= ١ => 1")
@example("\x00")
def test_no_text_raises_anything_else(text):
    check_that_it_parses_or_raises_rule_error(text)


TOKENS = [*"ab12+-*/()<>=;'`\"", "`x y`", "1e3", "2.5", "pos", "'c'"]
TOKENS += ["<=", ">=", "=>", "and", "or", "≤", "⇒", "∧"]


@settings(max_examples=120, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=18).map(" ".join))
def test_no_heap_of_tokens_raises_anything_else(text):
    check_that_it_parses_or_raises_rule_error(text)


comparison = st.lists(
    st.sampled_from(["a", "2*b", "-(a - 3*b)/4", "7", "`x y`"]), min_size=2, max_size=3
).map(" <= ".join)
condition = st.recursive(
    comparison,
    lambda inner: st.lists(inner, min_size=2, max_size=3).flatmap(
        lambda parts: st.sampled_from([" and ", " or "]).map(
            lambda word: f"({word.join(parts)})"
        )
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(condition.map(lambda text: f"{text} => 'c d'"))
def test_every_alternative_parses_back(text):
    check_that_it_parses_or_raises_rule_error(text)


numbers = st.floats(-1e200, 1e200) | st.integers(-50, 50).map(float)
labels = st.one_of(
    st.integers(),
    st.booleans(),
    st.text(max_size=8),
    st.floats(allow_nan=False, allow_infinity=False),
)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_rule_prints_as_one_that_parses_back(data):
    n_columns = data.draw(st.integers(1, 4))
    row = st.lists(numbers, min_size=n_columns, max_size=n_columns)
    D = data.draw(st.lists(row, min_size=1, max_size=4))
    d = data.draw(st.lists(numbers, min_size=len(D), max_size=len(D)))
    names = data.draw(
        st.none()
        | st.lists(
            st.text(max_size=6), min_size=n_columns, max_size=n_columns, unique=True
        )
    )
    rule = Rule(D, d, data.draw(labels), names=names)
    again = Rule.parse(str(rule))
    assert again == rule
    assert hash(again) == hash(rule)
    assert type(again.label) is type(rule.label)


def test_prints_as_it_reads():
    text = "20 <= age < 40 and 3*a  + 5*b >= 2 => 'low risk'"
    assert str(Rule.parse(text)) == text
    assert str(Rule([[-1, 0], [1, -2.5]], [-30, 1], 1)) == (
        "x0 >= 30 and x0 - 2.5*x1 <= 1 => 1"
    )
    assert eval(repr(Rule.parse(text))) == Rule.parse(text)


def test_arrays_and_text_make_the_same_rule():
    rule = Rule([[0, -1, 0], [1, 0, 2]], [-3, np.float32(0.5)], np.int64(1))
    assert rule == Rule.parse("x1 >= 3 and x0 + 2*x2 <= 0.5 => 1")
    assert rule != Rule.parse("x1 >= 3 and x0 + 2*x2 <= 0.5 => 2")
    assert rule != "x1 >= 3 and x0 + 2*x2 <= 0.5 => 1"
    assert copy.deepcopy(rule) == rule == pickle.loads(pickle.dumps(rule))


def test_region_in_the_columns_of_a_data_set():
    rule = Rule.parse("b - 2*a >= 1 => 1")
    assert half_spaces(rule, ["a", "z", "b"]) == ([[2, 0, -1]], [-1])
    counted = Rule.parse("x2 >= 1 => 1")
    assert half_spaces(counted, ["a", "z", "b"]) == ([[0, 0, -1]], [-1])
    assert half_spaces(counted, ["x2", "x1"]) == ([[-1, 0]], [-1])
    D, _ = counted.region(None, 3)
    assert D.tolist() == [[0, 0, -1]]
    with pytest.raises(ValueError, match="'x2', but the columns are x0 and x1"):
        counted.region(None, 2)
    with pytest.raises(ValueError, match="mentions 'x2', but the columns are x0 and b"):
        counted.region(["x0", "b"], 2)


def test_contains():
    table = pd.DataFrame({"z": [0, 0, 0], "b": [1, 2, 3], "a": [1, 1, 0]})
    rule = Rule.parse("b >= 2 and a > 0.5 => 1")
    assert rule.contains(table).tolist() == [False, True, False]
    counted = Rule.parse("x1 >= 2 => 1")
    assert counted.contains(table.to_numpy()).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([[1.0, 2.0]], [1.0, 2.0], 1), ValueError, "one number per condition"),
        ((np.empty((0, 2)), [], 1), ValueError, "at least one"),
        (([1.0], [1.0], 1), ValueError, "one row per condition"),
        (([[np.inf]], [1.0], 1), ValueError, "must be finite"),
        (([[1.0]], [1.0], np.nan), ValueError, "label of a rule must be finite"),
        (([[1.0]], [1.0], None), TypeError, "must be a number, a bool or a string"),
    ],
)
def test_arrays_that_make_no_rule(arguments, error, words):
    with pytest.raises(error, match=words):
        Rule(*arguments)


def test_names_must_fit():
    with pytest.raises(ValueError, match="2 different names"):
        Rule([[1.0, 2.0]], [1.0], 1, names=["a", "a"])


def test_advice_is_read_from_all_that_people_give():
    rule, no = Rule.parse("x0 >= 1 => 1"), Rule.parse("x0 <= 0 => 0")
    X, y = [[0.0], [2.0]], [0, 1]
    for advice, read in (
        (None, []),
        (rule, [rule]),
        ("x0 >= 1 => 1", [rule]),
        (["x0 >= 1 or x0 <= 0 => 1", rule, [no]], 4),
    ):
        rules = KnowledgeBasedSVC(advice=advice).fit(X, y).advice_
        assert rules == read or len(rules) == read
    with pytest.raises(TypeError, match="'advice' parameter"):
        KnowledgeBasedSVC(advice=3).fit(X, y)
    with pytest.raises(TypeError, match="type float"):
        Rule.parse(3.0)


@pytest.mark.parametrize("joined", [" and ".join, " + ".join])
def test_four_times_the_text_is_not_sixteen_times_the_work(joined):
    def lines_run(n):
        parts = [f"x{i % 7} >= 1" if "and" in joined("ab") else "x0" for i in range(n)]
        text = joined(parts) + ("" if ">" in parts[0] else " >= 1") + " => 1"
        count = 0

        def trace(frame, event, argument):
            nonlocal count
            count += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            Rule.parse(text)
        finally:
            sys.settrace(before)
        return count

    assert lines_run(100) > 400
    assert lines_run(400) < 5 * lines_run(100)


def test_the_size_of_the_numbers_does_not_make_a_region_empty(recwarn):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    expected = KnowledgeBasedSVC(advice="x0 >= 0 => 1").fit(X, y)
    for text in ("1e300*x0 >= 1e-300 => 1", "1e-300*x0 >= 0 => 1"):
        model = KnowledgeBasedSVC(advice=text).fit(X, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
        assert model.advice_satisfied_.all()
    assert not recwarn.list
    with pytest.warns(UserWarning, match="No point satisfies"):
        KnowledgeBasedSVC(advice="1e300*x0 >= 1e300 and x0 <= -1 => 1").fit(X, y)
