"""Many rows in blocks: their passes, samples, and where the path leads."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor

from lupi import LinearSVCDeltaPlus, LinearSVCPlus, LinearSVRPlus
from lupi._convex import (
    Features,
    Function,
    Problem,
    Rows,
    Slack,
    Solution,
    Tuning,
    linalg,
    solve,
)
from lupi._convex.interior import blocks as outer
from lupi._convex.interior.blocks import solve_blocks
from lupi._convex.interior.blocks.local import LocalRows, sampled
from lupi._convex.interior.blocks.rows import RowState
from lupi._convex.linalg import NotPositiveDefinite
from lupi._convex.solution import strict_products
from tests.convex.made import problems
from tests.convex.strict import StrictVector


def made(name, n=600, *, seed=0):
    """Problems in features with linear slacks alone, on all rows or on some."""
    rng = np.random.default_rng(seed)
    X, P = rng.normal(size=(2, n, 4))
    y = np.where(X[:, 0] + P[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    one, zero, cost = np.ones(n), np.zeros(n), rng.uniform(0.5, 2.0, n)
    first = Function(Features(X), 1.0, one)
    if name == "hinge":
        return Problem(n, [first], [Rows({0: y}, one, slack=Slack(linear=cost))])
    if name == "shared":
        zeta = Slack(linear=3 * cost)
        second = Function(Features(P), 0.5, one, y * cost)
        families = [Rows({0: y, 1: y}, one, slack=zeta), Rows({1: y}, zero, slack=zeta)]
        return Problem(n, [first, second], families)
    has, lacks = np.arange(0, n, 2), np.arange(1, n, 2)
    zeta, half = Slack(linear=3 * cost[has]), np.ones(len(has))
    second = Function(Features(P[has]), 0.5, half, y[has] * cost[has], has)
    families = [
        Rows({0: y[lacks]}, np.ones(len(lacks)), lacks, Slack(linear=cost[lacks])),
        Rows({0: y[has], 1: y[has]}, half, has, zeta),
        Rows({1: y[has]}, 0 * half, has, zeta),
    ]
    return Problem(n, [first, second], families)


NAMES = ["hinge", "shared", "partial"]


# Few rows count as many, and none do.
SMALL = replace(
    Tuning(),
    block_values=700,
    threaded_block_values=700,
    fewest_block_rows=7,
    device_block_values=700,
)
FEW = replace(SMALL, many_rows=300, smallest_sample=20, sample_share=0.3)
NEVER = replace(SMALL, many_rows=10**9)


def blocks(problem, pool=None, n_values=300):
    """Some blocks of different size, the last one small."""
    sizes = {"block_values": n_values, "threaded_block_values": n_values}
    return LocalRows(problem, pool, tuning=replace(SMALL, **sizes))


@pytest.fixture
def elsewhere(monkeypatch):
    """A device whose vectors are touched by the operations alone."""
    monkeypatch.setitem(linalg.DEVICES, "elsewhere", StrictVector)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 1e6])
def test_root_of_a_sum_of_reciprocals(size):
    (block,) = LocalRows(made("hinge", 30)).blocks
    rng = np.random.default_rng(0)
    shifts = [np.zeros(200), *(rng.exponential(size=(2, 200)) * size)]
    total = rng.exponential(size=200) + 1e-3
    root = block._root(shifts, total)
    assert (root > 0).all()
    found = sum(1.0 / (h + root) for h in shifts)
    np.testing.assert_allclose(found, total, rtol=1e-10)


@pytest.mark.parametrize("mu", [1e-8, 1e-2, 10.0])
@pytest.mark.parametrize("name", NAMES)
def test_rows_stand_on_the_central_path(name, mu):
    rows = blocks(made(name))
    theta = np.random.default_rng(1).normal(size=rows.layout.size)
    rows.total(RowState.center, theta, mu)
    for block in rows.blocks:
        margins = block.margins(block.values(theta))
        for far, z in zip(block.distance, block.margin, strict=True):
            np.testing.assert_allclose(far * z, mu, rtol=1e-12)
        for linear, w, zeta in zip(block.slacks, block.room, block.slack, strict=True):
            np.testing.assert_allclose(w * zeta, mu, rtol=1e-12)
            total = w + sum(block.distance[q] for q in linear.members)
            np.testing.assert_allclose(total, linear.cost, rtol=1e-9)
            for q in linear.members:
                expected = margins[q] - block.families[q].at_least + zeta
                np.testing.assert_allclose(
                    block.margin[q], expected, rtol=1e-9, atol=1e-12
                )


@pytest.mark.parametrize("name", NAMES)
def test_the_slopes_are_those_of_the_gradient(name):
    """The derivative along a line, from `slopes` and from the sums of `center`."""
    rows, mu = blocks(made(name)), 0.1
    theta, direction = np.random.default_rng(1).normal(size=(2, rows.layout.size))
    lengths = [0.0, 0.4, 1.0]
    found = rows.total(RowState.slopes, theta, direction, lengths, mu).sums["slopes"]
    for length, slope in zip(lengths, found, strict=True):
        pull = rows.total(RowState.center, theta + length * direction, mu).sums["pull"]
        assert slope == pytest.approx(-pull @ direction, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_tangent_of_the_path(name):
    """``unit`` is the derivative of the pull by μ, with the functions held."""
    rows, mu, step = blocks(made(name)), 0.1, 1e-5
    theta = np.random.default_rng(1).normal(size=rows.layout.size)
    unit = rows.total(RowState.center, theta, mu).sums["unit"]
    low, high = (
        rows.total(RowState.center, theta, mu + d).sums["pull"] for d in (-step, step)
    )
    np.testing.assert_allclose((high - low) / (2 * step), unit, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("n_values", [60, 300, 10**6])
@pytest.mark.parametrize("name", NAMES)
def test_sums_do_not_depend_on_the_blocks(name, n_values, pool):
    problem = made(name)
    expected = LocalRows(problem)
    found = blocks(problem, pool, n_values)
    for rows in (expected, found):
        rows.describe()
        rows.total(RowState.measure, 1.0, 1e-12)
        rows.begin(1.0, True)
        rows.total(RowState.open, np.zeros(rows.layout.size), 0.5)
    theta = np.random.default_rng(1).normal(size=found.layout.size)
    for one_pass, *arguments in [
        (RowState.factorize, theta, 0.0, False),
        (RowState.predict, theta),
        (RowState.correct, theta, 0.1, 0.8),
        (RowState.factorize, 0.5 * theta, 0.1, True),
    ]:
        one, other = (rows.total(one_pass, *arguments) for rows in (expected, found))
        assert set(one.sums) == set(other.sums)
        for key, value in one.sums.items():
            scale = np.abs(value).max()
            np.testing.assert_allclose(
                other.sums[key], value, rtol=1e-9, atol=1e-12 * scale, err_msg=key
            )
        for key, value in one.peaks.items():
            np.testing.assert_allclose(other.peaks[key], value, rtol=1e-12)
    # As the sums: a relative change of a multiplier is one of its margin, which is a
    # difference of products of other blocks.
    np.testing.assert_allclose(
        found.multipliers(), expected.multipliers(), rtol=1e-9, atol=1e-12
    )


def test_threads_do_not_change_the_answer(pool):
    problem, found = made("shared"), []
    for threads in (None, pool):
        rows = blocks(problem, threads)
        found.append(solve_blocks(rows, rows.layout, tol=1e-8, max_iter=100))
    one, other = found
    assert one.converged
    assert other.converged
    assert one.primal_value == pytest.approx(other.primal_value, rel=2e-8)
    # ½‖w − w₀‖² is at most the gap of each.
    apart = np.linalg.norm(one.weights[0] - other.weights[0])
    assert apart <= np.sqrt(2 * one.duality_gap) + np.sqrt(2 * other.duality_gap)


def test_a_copy_keeps_its_state():
    rows = blocks(made("shared"))
    theta = np.random.default_rng(1).normal(size=rows.layout.size)
    rows.total(RowState.center, theta, 0.1)
    held, before = copy.copy(rows), rows.multipliers()
    rows.total(RowState.center, 2 * theta, 0.1)
    np.testing.assert_allclose(held.multipliers(), before, rtol=1e-12)
    assert not np.allclose(rows.multipliers(), before)


@pytest.mark.parametrize(
    "name", ["hinge", "hard", "squared", "partial", "shared slack"]
)
def test_problems_with_other_losses(name):
    """The certificate is that of the solution put together, and so is the answer."""
    problem = problems(features=True)[name]
    rows = blocks(problem, n_values=60)
    found = solve_blocks(rows, rows.layout, tol=1e-7, max_iter=200)
    assert found.converged
    multipliers = rows.multipliers()
    solution = Solution(
        problem,
        multipliers,
        problem.coefficients(multipliers),
        found.biases,
        found.n_iter,
        True,
        "interior",
        found.weights,
    )
    assert solution.primal_value == pytest.approx(found.primal_value, rel=1e-12)
    scale = abs(found.primal_value)
    assert solution.duality_gap == pytest.approx(found.duality_gap, abs=1e-10 * scale)
    expected = solve(problem, tol=1e-9).primal_value
    assert found.primal_value == pytest.approx(expected, rel=2e-7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("elsewhere")
def test_arrays_of_another_kind_are_touched_by_the_operations_alone(name):
    problem, found = made(name), []
    for device in ("cpu", "elsewhere"):
        rows = LocalRows(problem, device=device, tuning=SMALL)
        answer = solve_blocks(rows, rows.layout, tol=1e-8, max_iter=200, tuning=FEW)
        assert answer.converged
        found.append(answer.primal_value)
    assert found[1] == pytest.approx(found[0], rel=2e-8)


@pytest.mark.parametrize("name", ["hard", "squared", "partial"])
@pytest.mark.usefixtures("elsewhere")
def test_other_losses_are_touched_by_the_operations_alone(name):
    rows = LocalRows(problems(features=True)[name], device="elsewhere", tuning=SMALL)
    assert solve_blocks(rows, rows.layout, tol=1e-7, max_iter=200).converged


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_of_all_rows_is_the_problem(name):
    problem = made(name, 80)
    sample = LocalRows(problem, tuning=SMALL).sample(80)
    assert sample.n_rows == 80
    again = solve(sample, tol=1e-9)
    assert again.primal_value == pytest.approx(
        solve(problem, tol=1e-9).primal_value, rel=1e-8
    )


def test_a_sample_is_the_same_in_parts():
    whole = sampled(0, 1000, 0.1)
    parts = [sampled(a, b, 0.1) + a for a, b in ((0, 10), (10, 10), (10, 1000))]
    assert np.array_equal(np.concatenate(parts), whole)
    assert 60 < len(whole) < 140


@pytest.mark.parametrize("name", NAMES)
def test_chunks_are_the_problem(name):
    """Sums over problems of some rows each are those of the whole problem."""
    problem = made(name)
    rows = blocks(problem)
    rows.begin(1.0, True)
    multipliers = rows.multipliers()
    chunks = list(rows.in_chunks(250))
    assert [part.n_rows for part, _ in chunks] == [250, 250, 100]
    weights = np.random.default_rng(1).normal(size=(len(problem.functions), 4))

    def sums(part, own):
        values = [
            f.space.matrix @ w for f, w in zip(part.functions, weights, strict=True)
        ]
        short = np.abs(part.at_least - part.margins(values))
        room = sum(room.sum() for room in part.headroom(own))
        products = strict_products(part, own, 1.0)[1]
        return np.array([short @ (own + part.offset), room, *products.ravel()])

    found = sum(sums(*chunk) for chunk in chunks)
    np.testing.assert_allclose(found, sums(problem, multipliers), rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_sample_count_for_several(name):
    problem = made(name, 5000)
    part = LocalRows(problem, tuning=SMALL).sample(500)
    assert 400 < part.n_rows < 600
    for whole, some in zip(problem.slack_costs, part.slack_costs, strict=True):
        assert some.sum() == pytest.approx(whole.sum(), rel=0.2)
    assert solve(part).primal_value == pytest.approx(
        solve(problem).primal_value, rel=0.2
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_that_of_an_ordinary_start(name, seed, scale):
    problem = made(name, seed=seed)
    for function in problem.functions:
        function.space.matrix[:] *= scale
    found = solve(problem, tol=1e-7, tuning=FEW)
    assert found.converged
    if scale == 1.0:  # elsewhere the path may be lost, and the usual one taken
        rows = blocks(problem)
        assert outer._Path(rows, rows.layout, FEW).start_smoothed(200) > 0
    plain = solve(problem, tol=1e-9, tuning=NEVER)
    assert found.primal_value == pytest.approx(plain.primal_value, rel=2e-7)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_answer_is_that_of_a_conic_solver(seed):
    """SVMΔ+ written out: C Σ y f* + (1 + Δ) C Σ ζ, with weights C of the rows."""
    problem = made("shared", seed=seed)
    X, P = (f.space.matrix for f in problem.functions)
    y, cost = problem.families[0].on[0], problem.slack_costs[0] / 3
    w, v, b, c = cp.Variable(4), cp.Variable(4), cp.Variable(), cp.Variable()
    f, g, zeta = X @ w + b, P @ v + c, cp.Variable(len(y), nonneg=True)
    value = cp.sum_squares(w) / 2 + 0.5 * cp.sum_squares(v) / 2
    value += (y * cost) @ g + 3 * cost @ zeta
    constraints = [cp.multiply(y, f + g) >= 1 - zeta, cp.multiply(y, g) >= -zeta]
    expected = cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")
    found = solve(problem, tol=1e-9, tuning=FEW)
    assert found.primal_value == pytest.approx(expected, rel=1e-6)
    # ½‖w − w₀‖² + ¼‖v − v₀‖² is at most the gap, here 1e-6 with that of the reference.
    np.testing.assert_allclose(found.weights[0], w.value, atol=2e-3)
    np.testing.assert_allclose(found.weights[1], v.value, atol=2e-3)


def test_a_limit_on_the_iterations_holds():
    problem = made("shared")
    assert solve(problem, max_iter=5, tuning=FEW).n_iter <= 5
    full = solve(problem, tuning=FEW)
    assert full.converged
    assert full.n_iter <= 200


def singular(*_):
    raise NotPositiveDefinite("made so")


def lost(*_):
    return 0


@pytest.mark.parametrize("follow", [singular, lost])
def test_where_the_start_fails_the_ordinary_one_is_taken(follow, monkeypatch):
    problem = made("shared")
    expected = solve(problem, tuning=FEW).primal_value
    monkeypatch.setattr(outer._Path, "_follow_smoothed", follow)
    found = solve(problem, tuning=FEW)
    assert found.converged
    assert found.primal_value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["hard", "squared", "partial"])
def test_problems_with_other_losses_begin_as_usual(name):
    every = replace(Tuning(), many_rows=1, smallest_sample=1)
    rows = blocks(problems(features=True)[name])
    assert outer._Path(rows, rows.layout, every).start_smoothed(200) == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "model",
    [
        LinearSVCDeltaPlus(delta=1.0, slack="signed"),
        LinearSVCDeltaPlus(delta=1.0, slack="hinge"),
        LinearSVCPlus(privileged_reg=0.1),
        LinearSVRPlus(),
    ],
)
def test_the_estimator_with_missing_rows_and_weights(model, form, monkeypatch):
    """In blocks, and by the interior point for all rows at once."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(900, 4))
    X = hidden + rng.normal(size=(900, 4))
    X[rng.random(X.shape) < 0.3] = 0.0
    y = hidden.sum(axis=1) + rng.normal(size=900)
    violation = np.maximum(1.0 - np.sign(y) * X.sum(axis=1), 0.0)
    P = np.column_stack([hidden, violation])
    P[rng.random(900) < 0.3] = np.nan
    y = y if is_regressor(model) else y > 0
    weight = rng.uniform(0.0, 2.0, 900) * (rng.random(900) < 0.9)
    models = []
    for tuning in (FEW, NEVER):
        monkeypatch.setattr("lupi.svm._machine.solve", partial(solve, tuning=tuning))
        fitted = clone(model).set_params(tol=1e-8)
        models.append(fitted.fit(form(X), y, privileged=P, sample_weight=weight))
    one, other = models
    assert one.converged_
    assert one.coef_.any()
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-3)


def test_a_path_that_is_not_reached_is_lost():
    once = replace(Tuning(), smoothed_steps=1)
    rows = blocks(made("shared"))
    path = outer._Path(rows, rows.layout, once)
    path.theta = np.zeros(rows.layout.size)
    assert path._follow_smoothed() == 0
