"""Problems made by hand from random matrices, and their formulas written out."""

from __future__ import annotations

import numpy as np

from lupi._convex import Family, Features, Function, GlobalRow, Gram, Problem, Slack


def spaces(seed, n, p, *, features, constant=False):
    Phi = np.random.default_rng(seed).normal(size=(n, p))
    if constant:
        Phi[:, -1] = 1.0
    return Features(Phi) if features else Gram(Phi @ Phi.T)


def problems(*, features=False, n=30):
    """One problem of every kind: shared slack, squared slack, hard, global, partial."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    one, zero, cost = np.ones(n), np.zeros(n), rng.uniform(0.5, 2.0, n)
    has, lacks = np.arange(0, n, 2), np.arange(1, n, 2)

    def first(p=6):
        return Function(spaces(1, n, p, features=features), 1.0, one)

    def second(rows=None, **more):
        size = n if rows is None else len(rows)
        return Function(
            spaces(2, size, 5, features=features), 0.5, np.ones(size), rows=rows, **more
        )

    with_constant = spaces(2, n, 5, features=features, constant=True)
    half, zeta = np.ones(len(has)), Slack(linear=3 * cost)
    return {
        "hinge": Problem(n, [first()], [Family({0: y}, one, slack=Slack(linear=cost))]),
        "hard": Problem(
            n,
            [first(), second(cost=cost)],
            [Family({0: y, 1: one}, one), Family({1: one}, zero)],
        ),
        "partial": Problem(
            n,
            [first(), second(has, cost=cost[has])],
            [
                Family({0: y[lacks]}, np.ones(len(lacks)), lacks, Slack(cost[lacks])),
                Family({0: y[has], 1: half}, half, has),
                Family({1: half}, 0 * half, has),
            ],
        ),
        "shared slack": Problem(
            n,
            [first(), second(cost=y * cost)],
            [Family({0: y, 1: y}, one, slack=zeta), Family({1: y}, zero, slack=zeta)],
        ),
        "squared": Problem(
            n,
            [first(), Function(with_constant, 0.5)],
            [
                Family({0: y, 1: one}, one),
                Family({1: one}, zero, slack=Slack(squared=cost), equality=True),
            ],
        ),
        "global": Problem(
            n,
            [first()],
            [Family({0: y}, one, slack=Slack(linear=cost))],
            [
                GlobalRow({0: (y - y.mean()) / n}, -0.05),
                GlobalRow({0: -(y - y.mean()) / n}, -0.05),
            ],
        ),
        "no space": Problem(
            n,
            [first(), Function(None, 1.0, cost, one)],
            [Family({0: y, 1: one}, one, slack=Slack(linear=4 * one))],
            [GlobalRow({1: cost / (cost @ cost)}, 0.0)],
        ),
    }


NAMES = list(problems())


def matrices(problem):
    """K_k, e_k, c_k per function; A_k with one row per multiplier; r.

    Everything is laid out on all rows of the problem, absent ones being zero.
    """
    n = problem.n_rows
    functions = []
    for function in problem.functions:
        rows = np.arange(n) if function.rows is None else function.rows
        K, e, c = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        if function.space is not None:
            gram = function.space.matrix
            if isinstance(function.space, Features):
                gram = gram @ gram.T
            K[np.ix_(rows, rows)] = gram
        if function.basis is not None:
            e[rows] = function.basis
        if function.cost is not None:
            c[rows] = function.cost
        functions.append((K, e, c, function.weight, rows))
    blocks = {k: [] for k in range(len(functions))}
    right = []
    for family in problem.families:
        rows = np.arange(n) if family.rows is None else family.rows
        right.append(family.at_least)
        for k in blocks:
            block = np.zeros((len(rows), n))
            if k in family.on:
                block[np.arange(len(rows)), rows] = family.on[k]
            blocks[k].append(block)
    for constraint in problem.global_rows:
        right.append([constraint.at_least])
        for k in blocks:
            block = np.zeros((1, n))
            if k in constraint.on:
                block[0, functions[k][4]] = constraint.on[k]
            blocks[k].append(block)
    stacked = {k: np.vstack(block) for k, block in blocks.items()}
    return functions, stacked, np.concatenate(right)


def lagrangian(problem, multipliers, biases):
    """Primal and dual value, and the residuals, from the matrices above.

    The multipliers are measured from the offset of the problem, as everywhere.
    """
    multipliers = multipliers + problem.offset
    functions, blocks, right = matrices(problem)
    biases = dict(zip(problem.biased, biases, strict=True))
    left = np.zeros(len(right))
    primal, dual = 0.0, right @ multipliers
    balance = []
    for k, (K, e, c, weight, _) in enumerate(functions):
        v = blocks[k].T @ multipliers - c
        t = K @ v / weight + biases.get(k, 0.0) * e
        primal += v @ K @ v / (2 * weight) + c @ t
        dual -= v @ K @ v / (2 * weight)
        left += blocks[k] @ t
        if k in biases:
            balance.append(e @ v)
    short, start = right - left, 0
    used, slacks = {}, {}
    hard = np.ones(len(right), dtype=bool)
    for family in problem.families:
        part = slice(start, start + len(family.at_least))
        start = part.stop
        slack = family.slack
        if slack is None:
            continue
        hard[part] = False
        if slack.linear is not None:
            zeta = np.maximum(short[part], 0)
            used[id(slack)] = np.maximum(used.get(id(slack), 0.0), zeta)
            room, bound = slacks.get(id(slack), (0.0, slack.linear))
            slacks[id(slack)] = room + multipliers[part], bound
        else:
            zeta = short[part] if family.equality else np.maximum(short[part], 0)
            primal += 0.5 * slack.squared @ zeta**2
            dual -= 0.5 * (multipliers[part] ** 2 / slack.squared).sum()
    for identity, (_, bound) in slacks.items():
        primal += bound @ used[identity]
    violated = np.where(problem.is_equality, np.abs(short), short)[hard].max(
        initial=0.0
    )
    outside = [-multipliers[~problem.is_equality].min(initial=0.0), *np.abs(balance)]
    outside += [(taken - bound).max() for taken, bound in slacks.values()]
    return primal, dual, violated, max(outside)
