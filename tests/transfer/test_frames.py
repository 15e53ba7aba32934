from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from lupi.transfer._frames import distinct_vectors, pairwise_rules, reduced_set


def distance_by_hand(K, rules, chosen):
    """RKHS distance of the rules to the span of the chosen vectors, relative."""
    inside = np.linalg.lstsq(K[np.ix_(chosen, chosen)], K[chosen] @ rules, rcond=None)[
        0
    ]
    rest = rules.copy()
    rest[chosen] -= inside
    return np.sqrt(np.sum(rest * (K @ rest)) / np.sum(rules * (K @ rules)))


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    U = rng.normal(size=(12, 3))
    return rbf_kernel(U, gamma=0.3), rng.normal(size=(12, 2))


def test_the_distance_is_that_of_a_least_squares_fit(problem):
    K, rules = problem
    for size in (1, 3, 7, 12):
        chosen, distance = reduced_set(K, rules, size)
        assert len(set(chosen)) == size
        assert distance == pytest.approx(distance_by_hand(K, rules, chosen), abs=1e-5)


def test_each_step_takes_the_best_next_vector(problem):
    K, rules = problem
    chosen, _ = reduced_set(K, rules, 6)
    for step in range(6):
        taken = list(chosen[:step])
        reached = {
            k: distance_by_hand(K, rules, [*taken, k])
            for k in set(range(12)) - set(taken)
        }
        assert reached[chosen[step]] <= min(reached.values()) + 1e-8


def test_greedy_comes_close_to_the_best_set(problem):
    K, rules = problem
    _, distance = reduced_set(K, rules, 3)
    best = min(distance_by_hand(K, rules, list(s)) for s in combinations(range(12), 3))
    assert best - 1e-9 <= distance <= 1.2 * best


def test_dependent_vectors_are_not_taken_twice():
    U = np.random.default_rng(0).normal(size=(9, 2))
    chosen, distance = reduced_set(U @ U.T, np.ones((9, 1)), 9)
    assert len(chosen) <= 2
    assert distance < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_rules_are_the_decision_values_of_the_machine(n_classes):
    X, y = make_blobs(
        120, centers=n_classes, n_features=3, cluster_std=4, random_state=0
    )
    machine = SVC(gamma=0.1, decision_function_shape="ovo", break_ties=False).fit(X, y)
    rules = pairwise_rules(machine)
    K = rbf_kernel(X, machine.support_vectors_, gamma=0.1)
    values = K @ rules + machine.intercept_
    expected = machine.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(values, expected, atol=1e-10)


def test_equal_support_vectors_are_merged():
    vectors = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0]])
    rules = np.array([[0.5], [-1.0], [0.25], [1e-12]])
    keep, merged = distinct_vectors(vectors, rules)
    found = {tuple(vectors[k]): float(m[0]) for k, m in zip(keep, merged, strict=True)}
    assert found == {(1.0, 2.0): 0.75, (3.0, 4.0): -1.0}
