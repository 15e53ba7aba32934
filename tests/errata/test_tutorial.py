"""Sarafianos, Nikou & Kakadiaris, tutorial on SVM+ and SVR+: the bound of §4."""

import pytest

from lupi.svm import SVRPlus
from tests.errata.duals import SETTINGS, rows
from tests.oracle import qp


@pytest.mark.parametrize(("C", "reg"), [(1.0, 1.0), (3.0, 0.3), (0.3, 1.0)])
def test_alpha_is_not_bounded_in_svr_plus(C, reg):
    """The text bounds α, α* by C, the matrices do not: only so is primal = dual."""
    X, _, P, K, Ks = rows(0)
    y = P[:, 0] + 0.2 * P[:, 1] ** 2
    model = SVRPlus(C, privileged_reg=reg, **SETTINGS).fit(X, y, privileged=P)
    _, _, value = qp.svr_plus(K, Ks, y, C, reg, 0.1)
    _, _, bounded = qp.svr_plus(K, Ks, y, C, reg, 0.1, bounded=True)
    assert value == pytest.approx(model.objective_, rel=1e-7)
    assert bounded < 0.9 * model.objective_
