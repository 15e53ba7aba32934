"""Above 5000 training rows candidates are scored on 5000 of them."""

from __future__ import annotations

import numpy as np
import pytest

from lupi.evaluation import Method, compare
from tests.comparisons import FirstColumnOfAll

N = 12_000
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = (X[:, 0] + 0.5 * rng.normal(size=N) > 0.8).astype(int)
SPACE = {"alpha": [1.0, 2.0]}
METHOD = Method("All", "classification", FirstColumnOfAll(), space=SPACE)


def fitted(y, n_rows=N):
    """Return the comparison, and the labels of every fit."""
    FirstColumnOfAll.seen.clear()
    half = np.arange(n_rows // 2)
    splits = [(half, half + n_rows // 2), (half + n_rows // 2, half)]
    known = ~np.isnan(y)
    inside = np.cumsum(known) - 1
    splits = [tuple(inside[part[known[part]]] for part in split) for split in splits]
    table = X[:n_rows]
    result = compare(
        table,
        y[:n_rows],
        table,
        methods=METHOD,
        cv=splits,
        n_candidates=2,
        inner_cv=2,
        scoring="accuracy",
    )
    return result, [labels for _, labels, _, _ in FirstColumnOfAll.seen]


@pytest.fixture(scope="module")
def everything():
    return fitted(Y.astype(float))


def test_the_chosen_candidate_is_fitted_on_all_rows(everything):
    result, fits = everything
    assert set(result.folds["n_train"]) == {6000}
    # Per arm: two candidates on two inner folds, then the chosen one.
    sizes = [len(labels) for labels in fits]
    assert sizes == [2500, 2500, 2500, 2500, 6000] * 10


def test_the_same_rows_in_every_arm_with_the_classes_in_proportion(everything):
    _, fits = everything
    share = Y[:6000].mean()
    first = fits[:4]
    for arm in range(1, 5):
        for one, other in zip(first, fits[5 * arm : 5 * arm + 4], strict=True):
            np.testing.assert_array_equal(one, other)
    assert np.mean(first[0]) == pytest.approx(share, abs=1 / 1000)


def test_the_settings_say_how_many_rows_are_searched(everything):
    result, _ = everything
    assert result.settings["search"]["n_rows"] == 5000
    few = compare(X[:60], Y[:60], X[:60], methods=METHOD, cv=2, n_candidates=2)
    assert few.settings["search"]["n_rows"] is None


def test_rows_without_y_keep_their_proportion():
    y = Y.astype(float)
    y[1::8] = np.nan
    _, fits = fitted(y)
    missing = [np.isnan(np.asarray(labels, dtype=float)).sum() for labels in fits]
    # 5250 rows with y train, and all 1500 without y; 5000 of the first are searched.
    of_arm = missing[10:15]
    assert of_arm[-1] == 1500
    assert of_arm[0] == pytest.approx(1500 * 5000 / 5250, abs=1)
