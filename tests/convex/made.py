"""Problems of this room, made by hand from random matrices."""

from __future__ import annotations

import numpy as np

from lupi._convex import Features, Function, GlobalRow, Gram, Problem, Rows, Slack


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
        "hinge": Problem(n, [first()], [Rows({0: y}, one, slack=Slack(linear=cost))]),
        "hard": Problem(
            n,
            [first(), second(cost=cost)],
            [Rows({0: y, 1: one}, one), Rows({1: one}, zero)],
        ),
        "partial": Problem(
            n,
            [first(), second(has, cost=cost[has])],
            [
                Rows({0: y[lacks]}, np.ones(len(lacks)), lacks, Slack(cost[lacks])),
                Rows({0: y[has], 1: half}, half, has),
                Rows({1: half}, 0 * half, has),
            ],
        ),
        "shared slack": Problem(
            n,
            [first(), second(cost=y * cost)],
            [Rows({0: y, 1: y}, one, slack=zeta), Rows({1: y}, zero, slack=zeta)],
        ),
        "squared": Problem(
            n,
            [first(), Function(with_constant, 0.5)],
            [
                Rows({0: y, 1: one}, one),
                Rows({1: one}, zero, slack=Slack(squared=cost), equality=True),
            ],
        ),
        "global": Problem(
            n,
            [first()],
            [Rows({0: y}, one, slack=Slack(linear=cost))],
            [
                GlobalRow({0: (y - y.mean()) / n}, -0.05),
                GlobalRow({0: -(y - y.mean()) / n}, -0.05),
            ],
        ),
        "no space": Problem(
            n,
            [first(), Function(None, 1.0, cost, one)],
            [Rows({0: y, 1: one}, one, slack=Slack(linear=4 * one))],
            [GlobalRow({1: cost / (cost @ cost)}, 0.0)],
        ),
    }


NAMES = list(problems())
