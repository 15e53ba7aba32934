"""The equations of a face against the same equations written out densely."""

from dataclasses import replace

import numpy as np
import pytest

from lupi._convex import Function, Gram, Problem, Rows, Slack, Tuning
from lupi._convex.proximal.faces import Centered, Equations, Face, Neighbor, unsuited
from tests.convex.dense import matrices
from tests.convex.made import NAMES, problems


def drawn_face(problem, layout, seed):
    """Some multipliers free, some at bounds; some pairs that share a slack tied."""
    rng = np.random.default_rng(seed)
    free = rng.random(problem.size) < rng.uniform(0.2, 0.9)
    free |= problem.is_equality
    fixed = np.where(free, 0.0, rng.uniform(0.0, 1.0, problem.size))
    tied = {}
    for s, (outer, inner) in layout.pairs.items():
        width = problem.slacks[s].linear
        rows = np.flatnonzero(rng.random(len(width)) < 0.3)
        for q, value in ((outer, 0.0), (inner, width[rows])):
            at = problem.slices[q].start + rows
            free[at], fixed[at] = False, value
        tied[s] = rows
    return free, tied, fixed


def dense_solution(problem, layout, face, fixed, right):
    """Free multipliers, tied pairs and biases from one dense system."""
    functions, blocks, _ = matrices(problem)
    size, n_biases = problem.size, len(problem.biased)
    H = np.diag(layout.ridge)
    force = np.zeros(size)
    E, wanted = np.zeros((n_biases, size)), np.zeros(n_biases)
    for k, (K, e, c, weight, _) in enumerate(functions):
        c = c - blocks[k].T @ problem.offset  # multipliers are measured from there
        H += blocks[k] @ K @ blocks[k].T / weight
        force -= blocks[k] @ K @ c / weight
        if k in problem.biased:
            j = problem.biased.index(k)
            E[j], wanted[j] = blocks[k] @ e, e @ c
    directions = [np.eye(size)[:, m] for m in np.flatnonzero(face.free)]
    for s, rows in face.tied.items():
        outer, inner = (problem.slices[q].start for q in layout.pairs[s])
        directions += [
            np.eye(size)[:, outer + r] - np.eye(size)[:, inner + r] for r in rows
        ]
    B = np.column_stack(directions)
    n = B.shape[1]
    system = np.zeros((n + n_biases,) * 2)
    system[:n, :n] = B.T @ H @ B
    system[:n, n:] = (E @ B).T
    system[n:, :n] = E @ B
    rest = np.concatenate([B.T @ (right - force - H @ fixed), wanted - E @ fixed])
    solved = np.linalg.lstsq(system, rest, rcond=None)[0]
    return fixed + B @ solved[:n], solved[n:]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [1e9, 1e-9])  # never, always by the inverse
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_solves_the_equations_of_a_face(name, seed, factor, dtype):
    tuning = replace(Tuning(), small_leaf_factor=factor)
    problem = problems()[name]
    ridge = np.random.default_rng(3).uniform(0.1, 0.3, problem.size)
    layout = Equations(problem, ridge + problem.curvature, dtype, tuning)
    free, tied, fixed = drawn_face(problem, layout, seed)
    face = Face(layout, free, tied)
    right = np.random.default_rng(4).normal(size=problem.size)
    expected, expected_biases = dense_solution(problem, layout, face, fixed, right)
    none = np.zeros(len(problem.biased))
    found, biases = face.solve(right, fixed, problem.coefficients(fixed), none)
    size = np.abs(expected).max()
    digits = 1e-9 if dtype == np.float64 else 2e-3
    np.testing.assert_allclose(found, expected, rtol=0, atol=digits * size)
    largest = max(1.0, np.abs(expected_biases).max(initial=0.0))
    np.testing.assert_allclose(biases, expected_biases, rtol=0, atol=digits * largest)
    # The balances hold to the last digit whatever the precision of the factors.
    reach = np.abs(problem.balance_columns()) @ np.abs(found)
    missed = np.abs(problem.balance(problem.coefficients(found)))
    assert (missed <= 1e-9 * reach).all()


@pytest.mark.parametrize("changes", [1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_a_face_beside_another_is_solved_with_its_factors(name, changes):
    problem = problems()[name]
    ridge = np.random.default_rng(3).uniform(0.1, 0.3, problem.size)
    layout = Equations(problem, ridge + problem.curvature, np.float64)
    free, tied, fixed = drawn_face(problem, layout, 5)
    base = Face(layout, free, tied)
    rng = np.random.default_rng(6)
    movable = ~problem.is_equality
    movable[layout.start :] = False
    for s, rows in tied.items():
        for q in layout.pairs[s]:
            movable[problem.slices[q].start + rows] = False
    changed = rng.choice(np.flatnonzero(movable), changes, replace=False)
    beside = free.copy()
    beside[changed] ^= True
    fixed[changed] = np.where(beside[changed], 0.0, 0.7)
    assert Neighbor.distance(base, beside, tied) == changes
    right = rng.normal(size=problem.size)
    none, given = np.zeros(len(problem.biased)), problem.coefficients(fixed)
    expected, expected_biases = Face(layout, beside, tied).solve(
        right, fixed, given, none
    )
    neighbor = Neighbor(base, beside, tied)
    found, biases = neighbor.solve(right, fixed, given, none)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(biases, expected_biases, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(
        neighbor.reduce(right), Face(layout, beside, tied).reduce(right)
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(6))
def test_ties_may_begin_and_end(seed, dtype):
    problem = problems()["shared slack"]
    layout = Equations(problem, np.full(problem.size, 0.2), dtype)
    free, tied, fixed = drawn_face(problem, layout, 7)
    base, rng = Face(layout, free, tied), np.random.default_rng(seed)
    ((s, rows),) = tied.items()
    first, second = (problem.slices[q].start for q in layout.pairs[s])
    ended = rng.choice(rows, 2, replace=False)
    begun = rng.choice(np.setdiff1d(np.arange(problem.n_rows), rows), 3, replace=False)
    free, width = free.copy(), problem.slacks[s].linear
    for q in (first, second):
        free[q + ended] = rng.random(2) < 0.5
        fixed[q + ended] = np.where(free[q + ended], 0.0, rng.uniform(size=2))
        free[q + begun] = False
    fixed[first + begun], fixed[second + begun] = 0.0, width[begun]
    tied = {s: np.union1d(np.setdiff1d(rows, ended), begun)}
    right = rng.normal(size=problem.size)
    arguments = right, fixed, problem.coefficients(fixed), np.zeros(2)
    expected, expected_biases = Face(layout, free, tied).solve(*arguments)
    found, biases = Neighbor(base, free, tied).solve(*arguments)
    digits = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(found, expected, rtol=0, atol=digits)
    np.testing.assert_allclose(biases, expected_biases, rtol=0, atol=digits)


def test_what_is_fixed_stays_and_tied_pairs_keep_their_sum():
    problem = problems()["shared slack"]
    layout = Equations(problem, np.full(problem.size, 0.2), np.float64)
    free, tied, fixed = drawn_face(problem, layout, 7)
    right = np.random.default_rng(4).normal(size=problem.size)
    face = Face(layout, free, tied)
    found, _ = face.solve(right, fixed, problem.coefficients(fixed), np.zeros(2))
    (rows,) = tied.values()
    first, second = (found[part][rows] for part in problem.slices)
    np.testing.assert_allclose(first + second, problem.slacks[0].linear[rows])
    moved = free.copy()
    for part in problem.slices:
        moved[part.start + rows] = True
    np.testing.assert_array_equal(found[~moved], fixed[~moved])


def test_centring_changes_a_function_by_a_constant():
    rng = np.random.default_rng(0)
    Phi, basis = rng.normal(size=(12, 12)), rng.uniform(0.5, 2.0, 12)
    gram = Phi @ Phi.T + 30.0
    centered = Centered(Function(Gram(gram), 2.0, basis), np.float32)
    v = rng.normal(size=12)
    v -= basis * (basis @ v) / (basis @ basis)
    # Entries are rounded to single precision, and twelve of them are summed.
    rounding = 12 * np.finfo(np.float32).eps * np.abs(gram).max()
    np.testing.assert_allclose(
        centered.matrix @ v + centered.shift(v) * basis,
        gram @ v / 2.0,
        atol=rounding * np.abs(v).sum(),
    )
    np.testing.assert_allclose(
        centered.matrix @ basis, 0.0, atol=rounding * basis.sum()
    )


def test_what_cannot_be_described_is_named():
    one, K = np.ones(3), np.eye(3)
    three = [Function(Gram(K)) for _ in range(3)]
    across = Problem(3, three, [Rows({1: one, 2: one}, one)])
    assert "act on one function, or on the first and one other" in unsuited(across)
    twice = Problem(3, three[:2], [Rows({1: one}, one), Rows({1: one}, one)])
    assert "at most one family" in unsuited(twice)
    zeta = Slack(linear=one)
    opposite = [
        Rows({0: one, 1: one}, one, slack=zeta),
        Rows({1: -one}, one, slack=zeta),
    ]
    assert "one sign in both" in unsuited(Problem(3, three[:2], opposite))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [1e9, 1e-9])
@pytest.mark.parametrize("several", [1, 3, 7])
@pytest.mark.parametrize("name", NAMES)
def test_several_right_hand_sides_at_once(name, several, factor, dtype):
    tuning = replace(Tuning(), small_leaf_factor=factor)
    problem = problems()[name]
    ridge = np.random.default_rng(3).uniform(0.1, 0.3, problem.size)
    layout = Equations(problem, ridge + problem.curvature, dtype, tuning)
    free, tied, fixed = drawn_face(problem, layout, 1)
    face, rng = Face(layout, free, tied), np.random.default_rng(5)
    rights = rng.normal(size=(several, problem.size))
    scales = rng.uniform(0.5, 2.0, size=(several, 1))
    balances = rng.normal(size=(several, len(problem.biased)))
    given = problem.spread(scales * fixed)
    found, biases = face.solve(rights, scales * fixed, given, balances)
    digits = 1e-9 if dtype == np.float64 else 1e-4
    for i in range(several):
        alone, bias = face.solve(
            rights[i], scales[i] * fixed, [v[i] for v in given], balances[i]
        )
        size = max(np.abs(alone).max(), np.abs(bias).max(initial=0.0))
        np.testing.assert_allclose(found[i], alone, rtol=0, atol=digits * size)
        np.testing.assert_allclose(biases[i], bias, rtol=0, atol=digits * size)
