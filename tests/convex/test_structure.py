"""The families of every kind of problem, classified."""

import numpy as np
import pytest

from lupi._convex import Function, Gram, Problem, Rows, Slack
from tests.convex.made import problems

EXPECTED = {
    "hinge": ([0], {}, {}, {}),
    "hard": ([], {1: [1]}, {1: [0]}, {}),
    "partial": ([0], {1: [2]}, {1: [1]}, {}),
    "shared slack": ([], {1: [1]}, {1: [0]}, {0: (0, 1)}),
    "squared": ([], {1: [1]}, {1: [0]}, {}),
    "global": ([0], {}, {}, {}),
    "no space": ([0], {}, {}, {}),
}


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("name", EXPECTED)
def test_families_by_what_they_act_on(name, features):
    structure = problems(features=features)[name].structure
    found = structure.root, structure.private, structure.shared, structure.pairs
    assert found == EXPECTED[name]
    assert structure.leaves == list(structure.private)
    assert not structure.irregular
    assert not structure.crowded


def star(on, slacks=(None, None)):
    one = np.ones(3)
    functions = [Function(Gram(np.eye(3)), 1.0, one) for _ in range(3)]
    families = [
        Rows({k: sign * one for k, sign in which.items()}, one, slack=slack)
        for which, slack in zip(on, slacks, strict=True)
    ]
    return Problem(3, functions, families).structure


def test_a_family_on_two_leaves_is_irregular():
    structure = star([{1: 1, 2: 1}, {0: 1}])
    assert structure.irregular == [0]
    assert structure.root == [1]


@pytest.mark.parametrize(
    ("on", "pairs", "crowded"),
    [
        ([{0: 1, 1: 1}, {1: 1}], {0: (0, 1)}, []),
        ([{1: 1}, {0: 1, 1: 1}], {0: (1, 0)}, []),  # in any order
        ([{0: 1, 1: 1}, {1: -1}], {}, [0]),  # opposite signs
        ([{0: 1, 1: 1}, {2: 1}], {}, [0]),  # another leaf
        ([{0: 1}, {0: 1}], {}, [0]),
    ],
)
def test_a_pair_has_one_sign_on_one_leaf(on, pairs, crowded):
    zeta = Slack(linear=np.ones(3))
    structure = star(on, (zeta, zeta))
    assert structure.pairs == pairs
    assert structure.crowded == crowded
