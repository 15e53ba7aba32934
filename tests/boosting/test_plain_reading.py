"""IPL, sparse IPL and GB+ against a plain reading of the algorithms."""

import numpy as np
import pytest

from lupi.boosting import GBPlusClassifier, IPLClassifier, IPLRegressor
from tests.boosting.plain_reading import gb_plus, ipl
from tests.marks import slow

GRID = [10.0**k for k in range(-2, 3)]


def problem(seed):
    rng = np.random.RandomState(seed)
    n, p, q = rng.randint(60, 140), rng.randint(2, 7), rng.randint(1, 7)
    X, P = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    y = X[:, 0] + np.sin(2 * P[:, 0]) + 0.5 * rng.normal(size=n)
    return X, y, P


# Thirty problems, each with every pair of C1 and C2 of the paper's grid; the ordinary
# run takes one of them.
@pytest.mark.parametrize("seed", [0, *slow(*range(1, 30))])
@pytest.mark.parametrize("n_atoms", [None, 5])
def test_equals_the_plain_reading_on_the_grid_of_the_paper(seed, n_atoms):
    X, y, P = problem(seed)
    for C1 in GRID:
        for C2 in GRID:
            model = IPLRegressor(
                n_estimators=12,
                max_depth=2,
                privileged_weight=C1,
                privileged_reg=C2,
                n_atoms=n_atoms,
                standardize_privileged=False,
                random_state=seed,
            ).fit(X, y, privileged=P)
            plain = ipl(X, y, P, C1, C2, 12, 0.1, 2, seed, n_atoms)
            np.testing.assert_allclose(model.predict(X), plain(X), rtol=0, atol=1e-10)


def test_classifier_boosts_on_labels_of_plus_and_minus_one():
    X, y, P = problem(1)
    labels = np.where(y > 0, "yes", "no")
    standardised = (P - P.mean(axis=0)) / P.std(axis=0)
    model = IPLClassifier(n_estimators=15, random_state=4).fit(X, labels, privileged=P)
    plain = ipl(X, np.sign(y), standardised, 1.0, 1.0, 15, 0.1, 3, 4)
    np.testing.assert_allclose(model.decision_function(X), plain(X), atol=1e-10)
    assert set(model.predict(X)) == {"no", "yes"}


@pytest.mark.parametrize("n_atoms", [None, 4])
def test_columns_of_privileged_that_depend_on_each_other(n_atoms):
    X, y, P = problem(2)
    P = np.hstack([P, P @ np.ones((P.shape[1], 1)), np.zeros((len(P), 1))])
    model = IPLRegressor(
        n_estimators=10, n_atoms=n_atoms, standardize_privileged=False, random_state=0
    ).fit(X, y, privileged=P)
    plain = ipl(X, y, P, 1.0, 1.0, 10, 0.1, 3, 0, n_atoms)
    np.testing.assert_allclose(model.predict(X), plain(X), atol=1e-10)


@pytest.mark.parametrize("imitation", [0.0, 2.0])
@pytest.mark.parametrize("schedule", ["side_by_side", "teacher_first"])
def test_gb_plus_equals_the_plain_reading(schedule, imitation):
    X, y, P = problem(3)
    X, P = X.astype(np.float32), P.astype(np.float32)
    labels = (y > 0).astype(int)
    model = GBPlusClassifier(
        n_estimators=20, schedule=schedule, imitation_weight=imitation, random_state=5
    ).fit(X, labels, privileged=P)
    first = schedule == "teacher_first"
    plain = gb_plus(X, labels, P, imitation, 20, 0.1, 3, 5, first)
    np.testing.assert_allclose(model.decision_function(X), plain(X), atol=1e-12)
