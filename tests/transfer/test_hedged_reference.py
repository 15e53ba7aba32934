"""Hedged distillation against its definition, row by row, and a conic solver."""

from itertools import chain
from typing import ClassVar

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from lupi import HedgedDistillationClassifier, HedgedDistillationRegressor

VIEWS = ("privileged", "both")
KEYS = ("labels", *VIEWS)


def draw(classes, labelled, n=130):
    """Bounded columns, so that no row without y is far beyond the others."""
    rng = np.random.default_rng(classes)
    X = rng.uniform(-1, 1, size=(n, 4)) * [1, 10, 0.1, 1] + [0, 100, 0, 5]
    P = X[:, :2] * [1, 0.1] + rng.uniform(-1, 1, size=(n, 2))
    y = P[:, 0] + X[:, 3] + rng.uniform(-1, 1, size=n)
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y) * 1.0
    P[rng.permutation(labelled)[:8]] = np.nan  # labelled rows without X*
    weight = rng.integers(1, 4, n).astype(float)
    known = np.arange(n) < labelled
    return X, np.where(known, y, np.nan), P, weight / weight[known].mean()


def ridge(X, target, weight):
    """Fit ridge regression by generalized cross-validation with its hat matrix."""
    scaler = StandardScaler().fit(X, sample_weight=weight)
    Z, total = scaler.transform(X), weight.sum()
    centered = target - weight @ target / total
    best = np.inf
    for alpha in np.logspace(-2, 4, 25):
        inner = Z.T @ (weight[:, None] * Z) + alpha * np.eye(Z.shape[1])
        hat = Z @ np.linalg.solve(inner, Z.T * weight)
        share = 1 - (1 + 1.2 * np.trace(hat)) * np.sum(weight**2) / total**2
        value = np.sum(weight @ (centered - hat @ centered) ** 2) / share**2
        if alpha <= 3 * total and value <= best * (1 + 1e-9):
            best, chosen = value, alpha
    found = Ridge(chosen).fit(Z, target, sample_weight=weight)
    return lambda new: found.predict(scaler.transform(new)).reshape(len(new), -1)


def candidates(X, target, P, weight, labelled, fold, kept):
    """Fit the students of module `_hedged` to the labels of the folds `kept`."""
    has = ~np.isnan(P).any(axis=1)
    rows = np.arange(len(X))
    folds = np.full(len(X), -1)
    folds[labelled] = fold
    mine = rows[np.isin(folds, list(kept))]
    students = {"labels": ridge(X[mine], target[mine], weight[mine])}
    for view in VIEWS:
        table = P if view == "privileged" else np.hstack([X, P])

        def teacher(kept, table=table):
            rows = np.flatnonzero(np.isin(folds, list(kept)) & has)
            return ridge(table[rows], target[rows], weight[rows])

        parts = [(k, kept - {k}) for k in sorted(kept)] + [(-1, kept)]
        used = [np.flatnonzero((folds == k) & has) for k, _ in parts]
        soft = [
            teacher(others)(table[rows])
            for rows, (_, others) in zip(used, parts, strict=True)
        ]
        used = np.concatenate(used)
        students[view] = ridge(X[used], np.vstack(soft), weight[used])
    return students


def simplex(errors, weight, strength):
    """Solve the problem of the weights by a conic solver."""
    n = weight.sum() ** 2 / np.sum(weight**2)
    r = min(1, n / 64)
    prior = np.array([1 - r**2 / 2, r**2 / 4, r**2 / 4])
    flat = np.einsum("nta,n->nta", errors, np.sqrt(weight)).reshape(-1, 3)
    pull = strength / np.sqrt(r) / n * np.min(np.sum(flat**2, axis=0))
    w = cp.Variable(3)
    value = cp.sum_squares(flat @ w) + pull * cp.sum_squares(w - prior)
    cp.Problem(cp.Minimize(value), [w >= 0, cp.sum(w) == 1]).solve(
        solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9
    )
    return w.value


def raised(values, level, weight):
    """Raise the spread of the teachers' students to that of the labels, 3 at most."""
    apart = values - level[None, :, None]
    spread = np.sqrt(np.einsum("nta,n->a", apart**2, weight))
    factor = np.clip(spread[0] / spread, 1.0, 3.0)
    factor **= min(1, weight.sum() ** 2 / np.sum(weight**2) / 64)
    return factor, level[None, :, None] + factor * apart


def calibration(blend, codes, weight, center):
    """Solve the problem of slope and intercepts by a conic solver."""
    if blend.shape[1] == 1:
        blend = np.hstack([1 - blend, blend])
    inside = np.clip(blend, 0.02, 0.98)
    logs = np.log(inside) + blend - inside
    slope, intercept = cp.Variable(), cp.Variable((1, blend.shape[1]))
    scores = slope * logs + np.ones((len(codes), 1)) @ intercept
    own = cp.sum(cp.multiply(np.eye(blend.shape[1])[codes], scores), axis=1)
    loss = weight @ (cp.log_sum_exp(scores, axis=1) - own)
    value = loss + 5.0 * cp.square(slope - center)
    constraints = [slope >= 1e-3, cp.sum(intercept) == 0]
    cp.Problem(cp.Minimize(value), constraints).solve(
        solver="CLARABEL", tol_gap_abs=1e-6, tol_gap_rel=1e-6, tol_feas=1e-6
    )
    return float(slope.value), intercept.value[0]


@pytest.mark.parametrize(
    ("classes", "labelled", "strength"),
    [(0, 40, 10.0), (0, 80, 0.0), (2, 40, 10.0), (3, 80, 10.0)],
)
def test_definition(classes, labelled, strength):
    X, y, P, weight = draw(classes, labelled)
    fold = np.arange(labelled) % 4
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    model = kind(cv=cv, n_repeats=1, prior_strength=strength)
    model.fit(X, y, privileged=P, sample_weight=3 * weight)

    target = y[:, None]
    if classes:
        codes = np.where(np.isnan(y), 0, y).astype(int)
        target = np.eye(classes)[codes][:, 1 if classes == 2 else 0 :]
    known = np.arange(labelled)
    everything, given = frozenset(range(4)), (X, target, P, weight, known, fold)
    errors = np.empty((*target[known].shape, 3))
    for k in range(4):
        rows = known[fold == k]
        students = candidates(*given, everything - {k})
        for place, key in enumerate(KEYS):
            errors[rows, :, place] = students[key](X[rows]) - target[rows]
    for key, student in candidates(*given, everything).items():
        found = model.students_[key].predict(X).reshape(len(X), -1)
        np.testing.assert_allclose(found, student(X), rtol=1e-7, atol=1e-7)

    own, found = weight[known], np.array([model.weights_[key] for key in KEYS])
    level = own @ target[known] / own.sum()
    factor, values = np.ones(3), errors + target[known][:, :, None]
    if classes:
        factor, values = raised(values, level, own)
        assert 1 < factor[1] < 3
    shares = factor * simplex(values - target[known][:, :, None], own, strength)
    np.testing.assert_allclose(found, shares / shares.sum(), atol=1e-5)
    total = np.sum(own @ (target[known] - level) ** 2)
    for place, key in enumerate(KEYS):
        score = 1 - np.sum(own @ errors[:, :, place] ** 2) / total
        assert model.candidate_scores_[key][0] == pytest.approx(score, abs=1e-7)
    blend = target[known] + errors @ found
    if classes:
        slope, intercept = calibration(blend, codes[known], own, shares.sum())
        # The curvature is about 10: a gap of 1e-6 of 25 moves the optimum by 2e-3.
        assert model.calibration_slope_ == pytest.approx(slope, abs=2e-3)
        np.testing.assert_allclose(model.calibration_intercept_, intercept, atol=2e-3)
    else:
        order = np.argsort(np.abs(errors @ found)[:, 0])
        np.testing.assert_allclose(
            model.errors_, [np.abs(errors @ found)[order, 0], own[order]], atol=1e-7
        )


# -- which rows were used ----------------------------------------------------------


class Recorder(Ridge):
    """Keeps the labels that a model depends on, as bits of its target and output.

    The first column of every table is the number of the row; y of row i is 2**i.
    """

    log: ClassVar = []

    def fit(self, X, y, sample_weight=None):
        self.bits_ = int(np.bitwise_or.reduce(np.asarray(y).astype(np.int64)))
        Recorder.log.append(("fit", np.asarray(X)[:, 0].astype(int), self.bits_))
        return self

    def predict(self, X):
        Recorder.log.append(("predict", np.asarray(X)[:, 0].astype(int), self.bits_))
        return np.full(len(X), float(self.bits_))


def recorded(n_labelled=30, n=50, **parameters):
    """Fit the recorder in both roles; return the calls of `predict` and `fit`."""
    Recorder.log = []
    numbers = np.arange(n)
    X = np.column_stack([numbers, np.random.default_rng(0).normal(size=n)])
    y = np.where(numbers < n_labelled, 2.0 ** np.minimum(numbers, n_labelled), np.nan)
    groups = parameters.pop("groups", None)
    parameters = {"n_repeats": 1, "prior_strength": 1e12} | parameters
    model = HedgedDistillationRegressor(Recorder(), Recorder(), **parameters)
    model.fit(X, y, privileged=X, groups=groups)
    return {
        kind: [(rows, bits) for name, rows, bits in Recorder.log if name == kind]
        for kind in ("fit", "predict")
    }


@pytest.mark.parametrize("n", [50, 30])
def test_no_label_touches_a_prediction_of_its_own_row(n):
    calls = recorded(n=n)
    known = [(rows, bits) for rows, bits in calls["predict"] if rows[0] < 30]
    assert len(known) > 3 * 5
    for rows, bits in known:
        assert not any(bits >> row & 1 for row in rows if row < 30)
    # A row without y is predicted by teachers of all rows that may be used.
    assert {bits.bit_count() for _, bits in calls["predict"]} <= {18, 24, 30}


def test_pairs_of_folds_share_a_teacher():
    calls = recorded(views="privileged")
    # Teachers of all folds, all but one, all but two; two students per set of folds.
    assert len(calls["fit"]) == (1 + 5 + 10) + 2 * (1 + 5)


def test_two_folds_are_enough():
    for rows, bits in recorded(cv=2)["predict"]:
        assert bits.bit_count() in (15, 30)
        assert len(rows)


def held_out(calls, n_labelled=30):
    """Return the sets of labelled rows that a student of y did not see."""
    everything = set(range(n_labelled))
    kept = {
        bits
        for rows, bits in calls["fit"]
        if {row for row in rows if row < n_labelled} == _rows_of(bits)
    }
    return [everything - _rows_of(bits) for bits in kept]


def _rows_of(bits):
    return {row for row in range(bits.bit_length()) if bits >> row & 1}


@pytest.mark.parametrize("cv", [5, GroupKFold(4)], ids=["5", "GroupKFold"])
def test_groups_are_kept_together(cv):
    groups = np.array([f"ward {i % 12}" for i in range(50)])
    splits = held_out(recorded(groups=groups, cv=cv))
    assert len(splits) > 4
    for rows in splits:
        wards = {groups[row] for row in rows}
        assert rows == {row for row in range(30) if groups[row] in wards}


def test_folds_are_even_and_seeds_change_them():
    found = []
    for seed in (None, 1, 1, 2):
        splits = held_out(recorded(random_state=seed))
        assert {len(rows) for rows in splits} <= {0, 6, 12}
        found.append(set(map(frozenset, splits)))
    assert found[1] == found[2]
    assert len(set(map(frozenset, found))) == 3
    once, twice = (len(held_out(recorded(n_repeats=k))) for k in (1, 2))
    assert twice > once


def test_many_labelled_rows_are_assigned_by_their_content():
    """More than 10 000 distinct rows, some of them twice, in any order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_500, 2))
    X = np.vstack([X, X[:500]])
    P = X[:, :1] + X[:, 1:] ** 2
    y = P[:, 0] + X[:, 0]
    order = rng.permutation(len(X))
    for classes, kind in (
        (False, HedgedDistillationRegressor),
        (True, HedgedDistillationClassifier),
    ):
        target = (y > 1).astype(float) if classes else y
        model = kind(n_repeats=1).fit(X, target, privileged=P)
        other = kind(n_repeats=1)
        other.fit(X[order], target[order], privileged=P[order])
        np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-8)
        expected = list(chain(*model.candidate_scores_.values()))
        found = list(chain(*other.candidate_scores_.values()))
        np.testing.assert_allclose(found, expected, rtol=1e-8)


# -- weights and calibration at their limits ---------------------------------------


class Mad(Ridge):
    """A teacher whose predictions are far off."""

    def predict(self, X):
        return 1e8 * np.cos(1e3 * np.asarray(X)[:, 0])


def test_a_candidate_with_a_huge_error_has_no_weight():
    X, y, P, _ = draw(0, 60)
    model = HedgedDistillationRegressor(Mad(), Ridge()).fit(X, y, privileged=P)
    assert model.weights_["privileged"] + model.weights_["both"] < 1e-6


def test_candidates_without_difference_have_the_weights_of_the_prior():
    X, y, P, _ = draw(0, 90)
    model = HedgedDistillationRegressor().fit(
        X, np.where(np.isnan(y), y, 3.0), privileged=P
    )
    assert model.weights_ == {"labels": 0.5, "privileged": 0.25, "both": 0.25}
    np.testing.assert_allclose(model.predict(X), 3.0)


def test_a_student_of_which_hardly_the_mean_is_left_stays_quiet():
    """With X* of noise, its student keeps most of its distance to the labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(np.arange(600) < 80, X[:, 0] + rng.normal(size=600) > 0, None)
    model = HedgedDistillationClassifier(prior_strength=1e12)
    model.fit(X, y, privileged=rng.normal(size=(600, 5)))
    norm = {key: np.linalg.norm(model.students_[key].coef_) for key in KEYS}
    assert norm["privileged"] < 0.1 * norm["labels"]
    # The prior is 1/2 and 1/4, and the factor 3.
    share = model.weights_["privileged"] / model.weights_["labels"]
    assert share == pytest.approx(1.5, rel=1e-6)


def test_only_ridge_students_are_raised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(np.arange(600) < 80, X[:, 0] + rng.normal(size=600) > 0, None)
    model = HedgedDistillationClassifier(None, [None, Ridge()], prior_strength=1e12)
    model.fit(X, y, privileged=rng.normal(size=(600, 5)))
    shares = np.reshape(list(model.weights_.values()), (2, 3))
    shares /= shares[:, :1]
    assert shares[0, 1] == pytest.approx(1.5, rel=1e-6)
    np.testing.assert_allclose(shares[1], [1, 0.5, 0.5], rtol=1e-6)


def test_candidates_that_are_constant_have_factor_1():
    rng = np.random.default_rng(0)
    P, y = rng.normal(size=(80, 2)), np.arange(80) % 2
    model = HedgedDistillationClassifier(prior_strength=1e12)
    model.fit(np.ones((80, 1)), y, privileged=P, groups=np.arange(80) // 2)
    np.testing.assert_allclose(list(model.weights_.values()), [0.5, 0.25, 0.25], 1e-6)


def test_sixty_rows_cannot_turn_the_slope_negative():
    """What a free slope does every other time with little information."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
        model = HedgedDistillationClassifier(n_repeats=1).fit(X, y)
        assert 0.1 < model.calibration_slope_ < 2
