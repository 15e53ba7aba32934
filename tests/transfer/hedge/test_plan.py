"""The plan: no label touches a prediction of its own fold; sums are estimators."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from lupi._parts import LocalParts
from lupi.base import Privileged
from lupi.transfer._hedge.learners import EstimatorLearner, SumsLearner, fit_candidates
from lupi.transfer._hedge.ridge import GCVRidge
from lupi.transfer._hedge.rows import ClassOutput, HedgedRows, NumericOutput

VIEWS = ("privileged", "both")
N_FOLDS = 5


def _rows(n_classes=0, *, missing_P=True, unlabelled=True, sparse=False, seed=0):
    rng = np.random.default_rng(seed)
    n = 150 if unlabelled else 60
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 100, 0, 5]
    P = X[:, :2] * [1, 0.1] + rng.normal(size=(n, 2))
    score = P[:, 0] + X[:, 3] + rng.normal(size=n)
    labelled = np.sort(rng.permutation(n)[:60])
    has = np.ones(n, dtype=bool)
    if missing_P:
        has[labelled[rng.permutation(60)[:15]]] = False
    if n_classes:
        cuts = np.quantile(score[labelled], np.arange(1, n_classes) / n_classes)
        codes = np.searchsorted(cuts, score[labelled])
        outputs = ClassOutput(np.arange(n_classes))
        target = outputs.indicators(codes)
    else:
        outputs, target = NumericOutput(), score[labelled][:, None]
    if sparse:
        X[np.abs(X) < 0.5] = 0.0
    rows = HedgedRows(
        sp.csr_array(X) if sparse else X,
        Privileged(P[has], np.flatnonzero(has), n),
        labelled,
        target,
        rng.integers(1, 4, n).astype(float),
    )
    return rows, outputs, rng.permutation(np.arange(60) % N_FOLDS)


def _keeps():
    everything = frozenset(range(N_FOLDS))
    return [everything, *(everything - {k} for k in range(N_FOLDS))]


def _sums(rows, fold, kind=SumsLearner):
    parts, n_targets = LocalParts([rows]), rows.target.shape[1]
    n_privileged = rows.privileged.values.shape[1]
    return kind(parts, LocalParts([fold]), fold.max() + 1, n_targets, n_privileged)


def _predicted(learner, held_out):
    (found,) = learner.out_of_fold(held_out).parts
    return found


def _estimators(rows, fold, outputs, teacher, student):
    return EstimatorLearner(
        rows, rows, rows, fold, outputs, teacher, student, None, True
    )


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("options", [{}, {"missing_P": False}, {"unlabelled": False}])
def test_sums_of_products_do_what_the_rows_do(n_classes, options):
    rows, outputs, fold = _rows(n_classes, **options)
    by_sums = _sums(rows, fold)
    rows = by_sums.design.limited(rows)
    by_rows = _estimators(rows, fold, outputs, GCVRidge(), GCVRidge())
    found = fit_candidates(by_sums, VIEWS, _keeps())
    expected = fit_candidates(by_rows, VIEWS, _keeps())
    np.testing.assert_allclose(
        _predicted(by_sums, found[1:]),
        _predicted(by_rows, expected[1:]),
        rtol=1e-9,
        atol=1e-9,
    )
    for name, vector in found[0].students.items():
        ours, theirs = by_sums.export(vector), expected[0].students[name]
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6)
        assert ours.alpha_ == theirs.alpha_
    for view, vector in found[0].teachers.items():
        ours, theirs = by_sums.export(vector), expected[0].teachers[view].model
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)


def test_sums_of_sparse_products():
    rows, outputs, fold = _rows(2, sparse=True)
    by_sums = _sums(rows, fold)
    rows = by_sums.design.limited(rows)
    by_rows = _estimators(rows, fold, outputs, GCVRidge(), GCVRidge())
    found, expected = (
        _predicted(learner, fit_candidates(learner, VIEWS, _keeps()[1:]))
        for learner in (by_sums, by_rows)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def _forest():
    return RandomForestClassifier(2, random_state=0)


def _logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


LEARNERS = {
    "sums": (0, None, None),
    "sums of classes": (3, None, None),
    "trees": (0, DecisionTreeRegressor(random_state=0), Ridge()),
    "forests": (2, _forest(), _forest()),
    "many classes": (
        3,
        make_pipeline(StandardScaler(), LogisticRegression()),
        _forest(),
    ),
}


@pytest.mark.parametrize("unlabelled", [True, False])
@pytest.mark.parametrize("kind", LEARNERS)
def test_moving_a_label_leaves_its_own_prediction_where_it_was(kind, unlabelled):
    """The difference is exactly 0: neither teacher nor student has seen the label."""
    n_classes, teacher, student = LEARNERS[kind]
    rows, outputs, fold = _rows(n_classes, unlabelled=unlabelled)

    def predict(target):
        moved = HedgedRows(rows.X, rows.privileged, rows.labelled, target, rows.weight)
        if teacher is None:
            learner = _sums(moved, fold)
        else:
            learner = _estimators(moved, fold, outputs, teacher, student)
        held_out = fit_candidates(learner, VIEWS, _keeps()[1:])
        return _predicted(learner, held_out)

    before = predict(rows.target)
    for row in (0, 44):
        target = rows.target.copy()
        if n_classes:
            target[row] = 1 - target[row] if n_classes == 2 else np.roll(target[row], 1)
        else:
            target[row] += 100.0
        after = predict(target)
        same_fold = fold == fold[row]
        assert np.array_equal(after[:, same_fold], before[:, same_fold])
        assert np.abs(after - before)[:, ~same_fold].max() > 1e-3


def test_pairs_of_folds_share_a_teacher():
    rows, _, fold = _rows()
    calls = []

    class Counting(SumsLearner):
        def fit_teacher(self, view, kept):
            calls.append((view, kept))
            return super().fit_teacher(view, kept)

    fit_candidates(_sums(rows, fold, Counting), VIEWS, _keeps())
    # Per view: all folds, all but one, all but two.
    assert len(calls) == len(set(calls)) == 2 * (1 + 5 + 10)


def test_two_folds_are_enough():
    rows, _, fold = _rows()
    fold = fold % 2
    everything = frozenset({0, 1})
    keeps = [everything, everything - {0}, everything - {1}]
    learner = _sums(rows, fold)
    held_out = fit_candidates(learner, VIEWS, keeps)[1:]
    assert np.isfinite(_predicted(learner, held_out)).all()
