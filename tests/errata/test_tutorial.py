"""Sarafianos, Nikou & Kakadiaris, tutorial on SVM+ and SVR+: the bound of §4."""

import numpy as np
import pytest

from lupi.svm import SVRPlus
from tests.errata.duals import SETTINGS, rows
from tests.errata.page import page_says
from tests.oracle import qp

CASES = [(1.0, 1.0), (3.0, 0.3), (0.3, 1.0)]


@pytest.mark.parametrize("case", range(3))
def test_alpha_is_not_bounded_in_svr_plus(case):
    """§4 bounds α, α* by C, its matrices do not: only so is primal = dual."""
    C, reg = CASES[case]
    X, _, P, K, Ks = rows(0)
    y = P[:, 0] + 0.2 * P[:, 1] ** 2
    model = SVRPlus(C, privileged_reg=reg, **SETTINGS).fit(X, y, privileged=P)
    _, _, value = qp.svr_plus(K, Ks, y, C, reg, 0.1)
    _, _, bounded = qp.svr_plus(K, Ks, y, C, reg, 0.1, bounded=True)
    assert value == pytest.approx(model.objective_, rel=1e-7)
    page_says(f"svr_bound_{case}", model.objective_, value, bounded)


def test_the_bound_changes_predictions():
    _, _, P, K, Ks = rows(0)
    y = P[:, 0] + 0.2 * P[:, 1] ** 2
    changes = []
    for C, reg in CASES:
        free, b, _ = qp.svr_plus(K, Ks, y, C, reg, 0.1)
        tied, b_tied, _ = qp.svr_plus(K, Ks, y, C, reg, 0.1, bounded=True)
        changes.append(np.abs(K @ (free - tied) + b - b_tied).max())
    page_says(
        "svr_bound_change",
        min(changes),
        max(changes),
        y.std(),
    )
