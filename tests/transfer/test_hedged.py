"""Hedged distillation: what it promises, its edges, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import lupi
from lupi import HedgedDistillationClassifier, HedgedDistillationRegressor
from lupi.testing import check_privileged_estimator
from lupi.transfer._hedge.ridge import GCVRidge
from tests.contract import check_core
from tests.marks import slow

KEYS = ["labels", "privileged", "both"]


def draw(n=200, labelled=60, seed=0, classes=0, p=6):
    """X* lies between X and y; y is known for the first rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.1, 10, p) + np.arange(p)
    P = X[:, :2] / [0.1, 0.25] + rng.normal(size=(n, 2))
    y = P.sum(axis=1) + 2 * rng.normal(size=n)
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y) * 1.0
    known = np.where(np.arange(n) < labelled, y, np.nan)
    return X, known, P, y


def test_core():
    check_core(HedgedDistillationRegressor())


@pytest.mark.parametrize(
    "estimator",
    [
        HedgedDistillationClassifier(),
        *slow(
            HedgedDistillationRegressor(),
            HedgedDistillationRegressor(views="both"),
            HedgedDistillationClassifier(class_weight="balanced", n_repeats=1),
            HedgedDistillationClassifier(LogisticRegression(), LogisticRegression()),
            HedgedDistillationRegressor(student=[None, GCVRidge()], n_repeats=1),
        ),
    ],
    ids=repr,
)
def test_contract(estimator):
    check_privileged_estimator(estimator)


@pytest.mark.parametrize(
    "estimator", [HedgedDistillationClassifier(), *slow(HedgedDistillationRegressor())]
)
def test_scikit_learns_checks(estimator):
    check_estimator(estimator, on_skip=None)


# -- what is learned ---------------------------------------------------------------


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_attributes(classes):
    X, y, P, _ = draw(classes=classes)
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    model = kind().fit(X, y, privileged=P)
    assert list(model.weights_) == list(model.students_) == KEYS
    assert list(model.candidate_scores_) == KEYS
    assert list(model.teachers_) == KEYS[1:]
    assert sum(model.weights_.values()) == pytest.approx(1.0)
    assert min(model.weights_.values()) >= 0
    for score, error in model.candidate_scores_.values():
        assert score < 1
        assert 0 < error < 1
    assert model.students_["both"].n_features_in_ == X.shape[1]
    assert model.teachers_["privileged"].n_features_in_ == P.shape[1]
    assert model.teachers_["both"].n_features_in_ == X.shape[1] + P.shape[1]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_the_blend_of_linear_students_is_one_linear_model(classes, missing):
    X, y, P, _ = draw(classes=classes)
    if missing:
        X[::7, 1] = X[3::9, 4] = np.nan
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    model = kind().fit(X, y, privileged=P)
    by_hand = sum(
        weight * model.students_[name].predict(X)
        for name, weight in model.weights_.items()
    )
    gone = np.isnan(X)
    linear = np.where(gone, 0, X) @ model.coef_.T + model.intercept_
    linear = linear + gone @ model.missing_coef_.T
    np.testing.assert_allclose(linear, by_hand, rtol=1e-9, atol=1e-9)
    if not classes:
        np.testing.assert_allclose(model.predict(X), linear, rtol=1e-9)


def test_weights_minimize_the_error_out_of_fold():
    """The blend's score out of fold is that of no candidate by much."""
    X, y, P, _ = draw(labelled=100)
    model = HedgedDistillationRegressor(prior_strength=0).fit(X, y, privileged=P)
    sharp = max(model.weights_, key=model.weights_.get)
    shy = HedgedDistillationRegressor(prior_strength=1e9).fit(X, y, privileged=P)
    np.testing.assert_allclose(list(shy.weights_.values()), [0.5, 0.25, 0.25], 1e-4)
    assert model.weights_[sharp] > shy.weights_[sharp]


def test_hidden_outcomes_help_where_x_star_lies_between():
    gains = []
    for seed in range(20):
        X, y, P, truth = draw(n=1400, labelled=40, seed=seed)
        train, test = slice(0, 700), slice(700, None)
        model = HedgedDistillationRegressor()
        taught = model.fit(X[train], y[train], privileged=P[train])
        taught = taught.score(X[test], truth[test])
        known = model.fit(X[:40], y[:40], privileged=P[:40])
        known = known.score(X[test], truth[test])
        alone = model.fit(X[:40], y[:40]).score(X[test], truth[test])
        gains.append((taught - alone, taught - known))
    gains = np.array(gains)
    errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
    assert np.all(gains.mean(axis=0) > 3 * errors)


@pytest.mark.parametrize(
    ("labelled", "most", "seeds"),
    [
        (60, 0.3, 20),
        pytest.param(1000, 0.05, 20, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("classifier", [True, False])
def test_noise_is_not_trusted(labelled, most, seeds, classifier):
    """X* is noise: nothing is lost, and the teacher of noise has little weight."""
    kind = HedgedDistillationClassifier if classifier else HedgedDistillationRegressor
    gains, weights = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(labelled + 3000, 10))
        truth = X @ rng.normal(size=10) / 3 + rng.normal(size=len(X))
        truth = truth > 0 if classifier else truth
        P = rng.normal(size=(len(X), 5))
        train, test = slice(0, labelled + 1000), slice(labelled + 1000, None)
        y = np.where(np.arange(len(X)) < labelled, truth, np.nan)
        model = kind().fit(X[train], y[train], privileged=P[train])
        alone = kind().fit(X[:labelled], truth[:labelled])
        if classifier:
            score = [
                roc_auc_score(truth[test], one.decision_function(X[test]))
                for one in (model, alone)
            ]
        else:
            score = [r2_score(truth[test], m.predict(X[test])) for m in (model, alone)]
        gains.append(score[0] - score[1])
        weights.append(model.weights_["privileged"])
    assert np.mean(gains) >= -0.01
    assert np.mean(weights) <= most


def test_opinions_made_once_outside_the_folds_would_be_trusted():
    """The shortcut: opinions once, then cross-validation of the students alone.

    Every opinion then contains the label that it is judged by: a student taught by
    noise seems to be better than one taught by the labels.
    """
    seems, weights = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, P = rng.normal(size=(60, 10)), rng.normal(size=(60, 20))
        y = X @ rng.normal(size=10) / 3 + 2 * rng.normal(size=60)
        opinions = LinearRegression().fit(P, y).predict(P)
        errors = [
            np.mean((cross_val_predict(Ridge(), X, target, cv=5) - y) ** 2)
            for target in (y, opinions)
        ]
        seems.append(errors[1] < errors[0])
        model = HedgedDistillationRegressor(prior_strength=0).fit(X, y, privileged=P)
        weights.append(model.weights_["privileged"])
    assert np.mean(seems) > 0.7
    assert np.mean(weights) < 0.3


# -- probabilities -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_probabilities_rank_as_the_blend_does(seed):
    X, y, P, _ = draw(classes=2, seed=seed, labelled=30)
    model = HedgedDistillationClassifier().fit(X, y, privileged=P)
    blend = X @ model.coef_ + model.intercept_
    order = np.argsort(blend)
    chances = model.predict_proba(X)[order, 1]
    apart = np.diff(blend[order]) > 1e-12
    assert np.all(np.diff(chances)[apart] > 0)
    decision = model.decision_function(X)
    np.testing.assert_allclose(expit(decision), model.predict_proba(X)[:, 1])
    inside = (blend > 0.02) & (blend < 0.98)
    shift = model.calibration_intercept_ @ [-1, 1]
    np.testing.assert_allclose(
        decision[inside], model.calibration_slope_ * logit(blend[inside]) + shift
    )


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    X, P = rng.uniform(-1, 1, size=(20_000, 3)), rng.normal(size=(20_000, 1))
    chance = 0.5 + 0.4 * X[:, 0]
    truth = rng.random(len(X)) < chance
    y = np.where(np.arange(len(X)) < 2000, truth, np.nan)
    model = HedgedDistillationClassifier().fit(X, y, privileged=P)
    found = model.predict_proba(X[2000:])[:, 1]
    for low in np.arange(0.1, 0.9, 0.2):
        inside = (found >= low) & (found < low + 0.2)
        expected = chance[2000:][inside].mean()
        assert found[inside].mean() == pytest.approx(expected, abs=0.03)


# -- rows and weights --------------------------------------------------------------


def test_rows_without_y_or_x_star_serve_whom_they_can():
    X, y, P, _ = draw()
    some = P.copy()
    some[:20] = np.nan  # labelled rows without X*: for the first candidate
    whole = HedgedDistillationRegressor().fit(X, y, privileged=P)
    part = HedgedDistillationRegressor().fit(X, y, privileged=some)
    np.testing.assert_allclose(
        part.students_["labels"].coef_, whole.students_["labels"].coef_
    )
    assert not np.allclose(
        part.students_["privileged"].coef_, whole.students_["privileged"].coef_
    )


def test_class_weights_are_repeated_rows():
    X, y, P, _ = draw(n=60, labelled=60, classes=2)
    weighted = HedgedDistillationClassifier(class_weight={1: 2.0})
    weighted.fit(X, y, privileged=P)
    twice = np.repeat(np.arange(60), np.where(y == 1, 2, 1))
    repeated = HedgedDistillationClassifier()
    repeated.fit(X[twice], y[twice], privileged=P[twice])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6
    )


def test_class_weights_of_one_change_nothing():
    X, y, P, _ = draw(classes=2)
    plain = HedgedDistillationClassifier().fit(X, y, privileged=P)
    ones = HedgedDistillationClassifier(class_weight={0: 1.0, 1: 1.0})
    ones.fit(X, y, privileged=P)
    np.testing.assert_allclose(plain.coef_, ones.coef_, rtol=1e-9)


def test_an_unlabelled_row_has_the_class_weight_of_its_opinion():
    """Without labelled opinions to learn, the student's weights are Σ_k s_ik c_k."""
    seen = {}

    class Remembering(Ridge):
        def fit(self, X, y, sample_weight=None):
            seen[len(y)] = y, sample_weight
            return super().fit(X, y, sample_weight)

    X, y, P, _ = draw(classes=2, n=300, labelled=60)
    model = HedgedDistillationClassifier(
        teacher=GCVRidge(),
        student=Remembering(),
        class_weight={0: 1.0, 1: 3.0},
        n_repeats=1,
        views="privileged",
    ).fit(X, y, privileged=P)
    opinion, weight = seen[300]  # the final student: 60 labelled, 240 unlabelled rows
    expected = model.teachers_["privileged"].predict(P[60:])
    np.testing.assert_allclose(opinion[60:], expected)
    share = np.clip(expected, 0, 1)
    np.testing.assert_allclose(weight[60:], (1 - share) + 3 * share)
    assert set(weight[:60]) == {1.0, 3.0}


def test_groups_are_kept_together(monkeypatch):
    from lupi.transfer import _hedged

    X, y, P, _ = draw(n=80, labelled=60, classes=2)
    groups = np.array([f"ward {i % 12}" for i in range(80)])
    found = []
    real = _hedged.hedge

    def spy(rows, outputs, pairs, folds, **how):
        found.extend(fold.parts[0] for fold in folds)
        return real(rows, outputs, pairs, folds, **how)

    monkeypatch.setattr(_hedged, "hedge", spy)
    HedgedDistillationClassifier().fit(X, y, privileged=P, groups=groups)
    assert len(found) == 2
    for fold in found:
        for ward in np.unique(groups):
            assert len(np.unique(fold[groups[:60] == ward])) == 1
        assert len(np.unique(fold)) == 5
    with pytest.raises(ValueError, match=r"groups has the shape \(79,\) for 80 rows"):
        HedgedDistillationClassifier().fit(X, y, privileged=P, groups=groups[:79])
    for absent in (None, np.nan):
        some = np.where(np.arange(80) % 9 == 4, absent, groups.astype(object))
        with pytest.raises(ValueError, match=r"groups is missing in 9 .* in row 4\."):
            HedgedDistillationClassifier().fit(X, y, privileged=P, groups=some)


def test_a_splitter_deals_the_labelled_rows():
    X, y, P, _ = draw()
    groups = np.arange(200) % 7
    by_hand = list(KFold(4).split(X[:60]))
    once = HedgedDistillationRegressor(cv=KFold(4)).fit(X, y, privileged=P)
    listed = HedgedDistillationRegressor(cv=by_hand).fit(X, y, privileged=P)
    np.testing.assert_allclose(once.coef_, listed.coef_, rtol=1e-9)
    HedgedDistillationRegressor(cv=GroupKFold(3)).fit(X, y, privileged=P, groups=groups)
    with pytest.raises(ValueError, match="each of the 60 labelled rows exactly once"):
        HedgedDistillationRegressor(cv=by_hand[:3]).fit(X, y, privileged=P)


def test_seeds():
    X, y, P, _ = draw()
    model = HedgedDistillationRegressor()
    same, other = (
        clone(model).set_params(random_state=seed).fit(X, y, privileged=P).weights_
        for seed in (1, 2)
    )
    again = clone(model).set_params(random_state=1).fit(X, y, privileged=P).weights_
    assert same == again != other
    once = model.fit(X, y, privileged=P).weights_
    assert model.fit(X, y, privileged=P).weights_ == once


# -- estimators of the user --------------------------------------------------------


def test_any_estimator_in_both_roles():
    X, y, P, _ = draw(classes=2)
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    for teacher, student in (
        (None, forest),
        (GCVRidge(), forest),
        (LogisticRegression(), Ridge()),
        (KNeighborsClassifier(), forest),
    ):
        model = HedgedDistillationClassifier(teacher, student, n_repeats=1, cv=3)
        model.fit(X, y, privileged=P)
        chances = model.predict_proba(X)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert list(model.weights_) == KEYS
        assert not hasattr(model, "coef_")


def test_jobs_change_nothing():
    X, y, P, _ = draw()
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    model = HedgedDistillationRegressor(student=tree, cv=3, n_repeats=1, n_jobs=2)
    found = model.fit(X, y, privileged=P).predict(X)
    other = clone(model).set_params(n_jobs=None).fit(X, y, privileged=P)
    np.testing.assert_array_equal(found, other.predict(X))


def test_a_list_of_students_makes_three_candidates_of_each():
    X, y, P, _ = draw()
    tree = DecisionTreeRegressor(max_depth=3)
    model = HedgedDistillationRegressor(student=[None, tree], n_repeats=1, cv=3)
    model.fit(X, y, privileged=P)
    names = ["gcvridge", "decisiontreeregressor"]
    assert list(model.weights_) == [f"{name}__{key}" for name in names for key in KEYS]
    shy = clone(model).set_params(prior_strength=1e12).fit(X, y, privileged=P)
    np.testing.assert_allclose(
        list(shy.weights_.values()), np.tile([0.25, 0.125, 0.125], 2), 1e-4
    )
    assert isinstance(model.teachers_[f"{names[1]}__both"], type(tree))
    twins = HedgedDistillationRegressor(student=[None, None], n_repeats=1, cv=3)
    twins.fit(X, y, privileged=P)
    assert set(twins.teachers_) == {
        f"gcvridge-{i}__{v}" for i in (1, 2) for v in KEYS[1:]
    }
    with pytest.raises(ValueError, match="student has 2 estimators and teacher 3"):
        clone(model).set_params(teacher=[None] * 3).fit(X, y, privileged=P)


def test_a_list_of_students_with_the_default_among_them_takes_data_frames():
    X, y, P, _ = draw()
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
    later = pd.DataFrame(P, columns=["cd4", "cd8"])
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    for student in ([None, tree], [None, GCVRidge()]):
        model = HedgedDistillationRegressor(student=student, n_repeats=1, cv=3)
        expected = clone(model).fit(X, y, privileged=P)
        model.fit(table, y, privileged=later)
        np.testing.assert_allclose(model.predict(table), expected.predict(X))
    table["ward"] = "north"
    with pytest.raises(ValueError, match="the column 'ward' holds 'north'"):
        model.set_params(student=[None, tree]).fit(table, y, privileged=later)


def test_data_frames_reach_estimators_as_they_came():
    X, y, P, _ = draw()
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
    table["ward"] = np.where(X[:, 0] > 0, "north", "south")
    later = pd.DataFrame(P, columns=["cd4", "cd8"])
    later["note"] = np.where(P[:, 0] > 0, "good", "bad")
    learner = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge())
    model = HedgedDistillationRegressor(student=learner, n_repeats=1)
    model.fit(table, pd.Series(y), privileged=later)
    assert model.predict(table).shape == (200,)
    assert list(model.privileged_feature_names_in_) == ["cd4", "cd8", "note"]
    with pytest.raises(ValueError, match=r"the column 'ward' holds '(nor|sou)th'"):
        HedgedDistillationRegressor().fit(table, y, privileged=later[["cd4"]])


def test_boosters_learn_soft_labels_by_their_own_objective():
    xgboost = pytest.importorskip("xgboost")
    X, y, P, _ = draw(classes=2)
    booster = xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1)
    pipeline = make_pipeline(StandardScaler(), booster)
    for student, last in ((booster, lambda m: m), (pipeline, lambda m: m[-1])):
        model = HedgedDistillationClassifier(student=student, cv=3, n_repeats=1)
        model.fit(X, y, privileged=P)
        taught = last(model.students_["privileged"])
        assert isinstance(taught, xgboost.XGBRegressor)
        assert taught.objective == "binary:logistic"
        assert taught.max_depth == 2
        assert isinstance(last(model.students_["labels"]), xgboost.XGBClassifier)
        chances = model.predict_proba(X)
        assert np.all((chances > 0) & (chances < 1))
    three = draw(classes=3)
    model = HedgedDistillationClassifier(student=booster, cv=3, n_repeats=1)
    model.fit(three[0], three[1], privileged=three[2])
    assert isinstance(model.students_["both"], xgboost.XGBClassifier)


def test_soft_labels_of_0_and_1_are_labels_to_the_boosters():
    xgboost = pytest.importorskip("xgboost")
    from lupi.transfer._hedge.outputs import with_soft_objective

    X, y, _, _ = draw(classes=2, labelled=200)
    hard = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1).fit(X, y)
    soft = with_soft_objective(clone(hard)).fit(X, y.astype(float))
    np.testing.assert_allclose(hard.predict_proba(X)[:, 1], soft.predict(X), rtol=1e-5)


def test_soft_labels_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, P, _ = draw(classes=2)
    booster = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    model = HedgedDistillationClassifier(student=booster, cv=3, n_repeats=1)
    model.fit(X, y, privileged=P)
    taught = model.students_["privileged"]
    assert isinstance(taught, lightgbm.LGBMRegressor)
    chances = taught.predict(X)
    assert np.all((chances > 0) & (chances < 1))


# -- edges -------------------------------------------------------------------------


def test_without_x_star_the_labels_are_learned():
    X, y, _, _ = draw(classes=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HedgedDistillationClassifier().fit(X, y)
    assert model.weights_ == {"labels": 1.0}
    assert model.teachers_ == {}
    known = HedgedDistillationClassifier().fit(X[:60], y[:60])
    np.testing.assert_allclose(model.coef_, known.coef_, rtol=1e-9)
    expected = GCVRidge().fit(X[:60], y[:60])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


def test_x_star_on_no_labelled_row_is_of_no_use():
    X, y, P, _ = draw(classes=2)
    P[:60] = np.nan
    with pytest.warns(UserWarning, match="No row that has y has X"):
        model = HedgedDistillationClassifier().fit(X, y, privileged=P)
    assert model.weights_ == {"labels": 1.0}
    known = HedgedDistillationClassifier().fit(X[:60], y[:60])
    np.testing.assert_allclose(model.coef_, known.coef_, rtol=1e-9)


def test_few_rows_of_a_class_make_fewer_folds(monkeypatch):
    from lupi.transfer import _hedged

    X, _, P, _ = draw(n=80)
    found = []
    real = _hedged.hedge

    def spy(rows, outputs, pairs, folds, **how):
        found[:] = [len(np.unique(fold.parts[0])) for fold in folds]
        return real(rows, outputs, pairs, folds, **how)

    monkeypatch.setattr(_hedged, "hedge", spy)
    for rare, expected in ((5, [5, 5]), (3, [3, 3]), (2, [2, 2])):
        y = np.full(80, np.nan)
        y[:40] = 0.0
        y[:rare] = 1.0
        model = HedgedDistillationClassifier().fit(X, y, privileged=P)
        assert found == expected
        assert list(model.weights_) == KEYS
    y[1] = 0.0
    with pytest.warns(UserWarning, match="fewer than two distinct labelled rows"):
        model = HedgedDistillationClassifier().fit(X, y, privileged=P)
    assert found == []
    assert model.weights_ == {"labels": 1.0}
    assert model.calibration_slope_ == 1.0
    with pytest.raises(ValueError, match="at least two classes"):
        HedgedDistillationClassifier().fit(X, np.where(y == 1, 0.0, y), privileged=P)


def test_one_labelled_row_of_a_regressor_is_no_class():
    X, y, P, _ = draw()
    y = np.where(np.arange(len(y)) == 3, 2.5, np.nan)
    with pytest.warns(UserWarning, match="There are fewer than two distinct labelled"):
        model = HedgedDistillationRegressor().fit(X, y, privileged=P)
    np.testing.assert_allclose(model.predict(X), 2.5)


def test_x_star_of_two_labelled_rows_is_not_enough():
    X, y, P, _ = draw()
    P[2:60] = np.nan
    with pytest.warns(UserWarning, match="Only 2 distinct rows"):
        model = HedgedDistillationRegressor().fit(X, y, privileged=P)
    assert model.weights_ == {"labels": 1.0}


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(90, 400)), rng.normal(size=(90, 3))
    y = X[:, 0] + P[:, 0]
    y[50:] = np.nan
    model = HedgedDistillationRegressor(n_repeats=1, cv=3).fit(X, y, privileged=P)
    assert model.coef_.shape == (400,)
    sparse = clone(model).fit(sp.csr_array(X), y, privileged=P)
    np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-5, atol=1e-9)


def test_single_missing_cells_are_filled_and_missing_rows_are_not():
    X, y, P, _ = draw()
    X[5::17, 0] = P[3::13, 1] = np.nan
    P[40:50] = np.nan
    model = HedgedDistillationRegressor().fit(X, y, privileged=P)
    assert np.isfinite(model.predict(X)).all()
    hole = P.copy()
    hole[60] = np.nan  # an unlabelled row loses its X*, and with it its say
    gone = np.delete(np.arange(200), 60)
    np.testing.assert_allclose(
        HedgedDistillationRegressor().fit(X, y, privileged=hole).coef_,
        HedgedDistillationRegressor().fit(X[gone], y[gone], privileged=P[gone]).coef_,
    )
    with pytest.raises(ValueError, match="NaN in part of a privileged row"):
        HedgedDistillationRegressor(student=Ridge()).fit(
            np.nan_to_num(X), y, privileged=P
        )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"views": ("self",)}, "views=('self',)"),
        ({"views": ()}, "views=()"),
        ({"student": LinearSVC()}, "predict_proba"),
        ({"student": KNeighborsClassifier()}, "sample_weight"),
        ({"teacher": StandardScaler()}, "neither a regressor nor a classifier"),
    ],
)
def test_refusals(wrong, words):
    X, y, P, _ = draw(classes=2)
    with pytest.raises(ValueError, match=words.replace("(", "\\(").replace(")", "\\)")):
        HedgedDistillationClassifier(**wrong).fit(X, y, privileged=P)


def test_a_classifier_cannot_predict_a_number():
    X, y, P, _ = draw()
    with pytest.raises(ValueError, match="not a regressor"):
        HedgedDistillationRegressor(student=LogisticRegression()).fit(
            X, y, privileged=P
        )


def test_save_and_load(tmp_path):
    for classes, kind in (
        (0, HedgedDistillationRegressor),
        (3, HedgedDistillationClassifier),
    ):
        X, y, P, _ = draw(classes=classes)
        model = kind().fit(X, y, privileged=P)
        path = tmp_path / f"model{classes}.skops"
        lupi.save(model, path)
        back = lupi.load(path)
        assert np.array_equal(back.predict(X), model.predict(X))
        assert back.weights_ == model.weights_


def test_a_column_that_varies_among_rows_without_y_alone_is_not_extrapolated():
    """As the codes of rare categories do: nearly constant on the labelled rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=600)
    X[:60, 3] *= 1e-7
    P = (X[:, 0] + 0.3 * rng.normal(size=600))[:, None]
    P = np.hstack([P, rng.normal(size=(600, 1))])
    P[:60, 1] *= 1e-7
    known = np.where(np.arange(600) < 60, y, np.nan)
    model = HedgedDistillationRegressor().fit(X, known, privileged=P)
    for student in model.students_.values():
        assert np.abs(student.predict(X)).max() < 3 * np.abs(y).max()
    assert r2_score(y[60:], model.predict(X[60:])) > 0.5
