"""Hedged distillation: what it promises, its edges, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit, logit
from scipy.stats import binom, norm
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import lupi
from lupi import (
    HedgedDistillationClassifier,
    HedgedDistillationRegressor,
    PrivilegedColumns,
    SVRPlus,
    TransformedPrivileged,
)
from lupi.testing import check_privileged_estimator
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


# Why "a weight of 2 is a row given twice" does not hold is said by `__lupi_tags__`.
REPEATED = {
    f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")
}


def test_core():
    check_core(HedgedDistillationRegressor(cv=2, n_repeats=1), REPEATED)


@pytest.mark.parametrize(
    "estimator",
    [
        HedgedDistillationClassifier(cv=2, n_repeats=1),
        *slow(
            HedgedDistillationClassifier(),
            HedgedDistillationRegressor(),
            HedgedDistillationRegressor(views="both"),
            HedgedDistillationClassifier(class_weight="balanced", n_repeats=1),
            HedgedDistillationClassifier(LogisticRegression(), LogisticRegression()),
            HedgedDistillationRegressor(student=[None, None], n_repeats=1),
        ),
    ],
    ids=repr,
)
def test_contract(estimator):
    check_privileged_estimator(estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        HedgedDistillationClassifier(cv=2, n_repeats=1),
        *slow(HedgedDistillationClassifier(), HedgedDistillationRegressor()),
    ],
)
def test_scikit_learns_checks(estimator):
    excused = dict.fromkeys(REPEATED, "only ratios of weights count")
    check_estimator(estimator, expected_failed_checks=excused, on_skip=None)


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


# The trial of the README is `tests/packaging/test_readme.py`.
@pytest.mark.slow
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
    """X* is noise: nothing is lost, and the teacher of noise has little weight.

    In a ranking weight counts by the spread of the student.
    """
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
        parts = dict(model.weights_)
        if classifier:
            for key, student in model.students_.items():
                parts[key] *= student.predict(X[test]).std()
        weights.append(parts["privileged"] / sum(parts.values()))
    assert np.mean(gains) >= -0.01
    assert np.mean(weights) <= (0.1 * most if classifier else most)


def test_twelve_labels_cannot_tell_that_noise_is_right():
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1300, 4))
        y = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=1300)
        P = rng.normal(size=(300, 3))
        known = np.where(np.arange(300) < 12, y[:300], np.nan)
        model = HedgedDistillationRegressor().fit(X[:300], known, privileged=P)
        alone = HedgedDistillationRegressor().fit(X[:12], y[:12])
        gains.append(score(model, X[300:], y[300:]) - score(alone, X[300:], y[300:]))
    assert np.mean(gains) >= -0.02


# That noise is not trusted is tested above.
@pytest.mark.slow
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


@pytest.mark.parametrize("unlabelled", [False, True])
def test_a_weight_is_a_number_of_rows_where_nothing_is_penalized(unlabelled):
    """Without a penalty and a prior, which do not grow with the rows."""
    X, y, P, _ = draw(n=120 if unlabelled else 60)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    model = HedgedDistillationRegressor(student=LinearRegression(), prior_strength=0)
    weighted = clone(model).fit(X, y, privileged=P, sample_weight=times.astype(float))
    repeated = clone(model).fit(X[rows], y[rows], privileged=P[rows])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-7)
    tags = model.__lupi_tags__().cannot_hold
    assert all("mean weight" in reason for reason in tags.values())


def test_class_weights_are_weights_of_rows():
    X, y, P, _ = draw(n=60, labelled=60, classes=2)
    by_class = HedgedDistillationClassifier(class_weight={0: 1.0, 1: 2.0})
    by_class.fit(X, y, privileged=P)
    by_row = HedgedDistillationClassifier()
    by_row.fit(X, y, privileged=P, sample_weight=1 + y)
    # The penalty is found to a tolerance; decision values can be near zero.
    expected = by_row.decision_function(X)
    assert np.ptp(expected) > 1
    found = by_class.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("student", [None, Ridge()])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_only_ratios_of_weights_count(classes, student):
    X, y, P, _ = draw(classes=classes)
    P[50:55] = X[3::8, 0] = np.nan if student is None else 0.0
    weight = np.random.default_rng(0).integers(0, 4, 200).astype(float)
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    given = {"privileged": P, "sample_weight": weight}
    expected = kind(student=student).fit(X, y, **given)
    for factor in (1e-9, 100.0):
        given["sample_weight"] = factor * weight
        found = kind(student=student).fit(X, y, **given)
        np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-7)
        assert found.weights_ == pytest.approx(expected.weights_, abs=1e-7)
        for key, score in expected.candidate_scores_.items():
            assert found.candidate_scores_[key] == pytest.approx(score, abs=1e-7)


def test_only_ratios_of_class_weights_count():
    X, y, P, _ = draw(classes=2)
    model = HedgedDistillationClassifier(class_weight={0: 1.0, 1: 3.0})
    expected = model.fit(X, y, privileged=P).predict_proba(X)
    model.set_params(class_weight={0: 1e-3, 1: 3e-3})
    found = model.fit(X, y, privileged=P).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


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
        teacher=Ridge(),
        student=Remembering(),
        class_weight={0: 1.0, 1: 3.0},
        n_repeats=1,
        views="privileged",
    ).fit(X, y, privileged=P)
    opinion, weight = seen[300]  # the final student: 60 labelled, 240 unlabelled rows
    expected = model.teachers_["privileged"].predict(P[60:])
    np.testing.assert_allclose(opinion[60:], expected)
    share = np.clip(expected, 0, 1)
    unit = 60 / np.sum(1 + 2 * y[:60])  # the mean of labelled rows is 1
    np.testing.assert_allclose(weight[60:], unit * ((1 - share) + 3 * share))
    np.testing.assert_allclose(np.unique(weight[:60]), [unit, 3 * unit])


def test_groups_that_are_none():
    X, y, P, _ = draw(n=80, labelled=60, classes=2)
    groups = np.array([f"ward {i % 12}" for i in range(80)])
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
    X, y, P, _ = draw(labelled=70)
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
    for student in ([None, tree], [None, None]):
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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosters_learn_classes_with_names(n_classes):
    xgboost = pytest.importorskip("xgboost")
    X, y, P, _ = draw(classes=n_classes)
    X, P, y = (table[~pd.isna(y)] for table in (X, P, y))
    _, codes = np.unique(y.astype(str), return_inverse=True)
    names = np.array(["never", "often", "seldom"])[codes]
    booster = xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1)
    for model in (
        HedgedDistillationClassifier(student=booster, cv=3, n_repeats=1),
        lupi.GeneralizedDistillationClassifier(booster, booster, cv=3),
    ):
        expected = clone(model).fit(X, codes, privileged=P).predict_proba(X)
        model.fit(X, names, privileged=P)
        np.testing.assert_array_equal(model.classes_, np.unique(names))
        np.testing.assert_allclose(model.predict_proba(X), expected)
        assert set(model.predict(X)) <= set(names)


class Knowing(DecisionTreeClassifier):
    """A teacher that is sure of every label."""

    def predict_proba(self, X):
        return np.eye(2)[(np.asarray(X)[:, 0] > 0).astype(int)]


def test_soft_labels_of_0_and_1_are_labels_to_the_boosters():
    xgboost = pytest.importorskip("xgboost")
    X = np.random.default_rng(0).normal(size=(200, 4))
    P = X[:, :1] + X[:, 1:2]
    y = (P[:, 0] > 0).astype(int)
    booster = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1)
    model = HedgedDistillationClassifier(Knowing(), booster, cv=3, n_repeats=1)
    model.fit(X, y, privileged=P)
    hard, soft = model.students_["labels"], model.students_["privileged"]
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


def test_x_star_on_no_labelled_row_is_of_no_use():
    X, y, P, _ = draw(classes=2)
    P[:60] = np.nan
    with pytest.warns(UserWarning, match="No row that has y has X"):
        model = HedgedDistillationClassifier().fit(X, y, privileged=P)
    assert model.weights_ == {"labels": 1.0}
    known = HedgedDistillationClassifier().fit(X[:60], y[:60])
    np.testing.assert_allclose(model.coef_, known.coef_, rtol=1e-9)


class Counted(LogisticRegression):
    """Counts the fits."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Counted.fits += 1
        return super().fit(X, y, sample_weight)


def test_few_rows_of_a_class_make_fewer_folds():
    X, _, P, _ = draw(n=60)
    for rare, n_folds in ((4, 4), (2, 2)):
        y = np.full(60, np.nan)
        y[:40] = 0.0
        y[:rare] = 1.0
        Counted.fits = 0
        student = Counted(max_iter=1000)
        model = HedgedDistillationClassifier(LogisticRegression(), student, n_repeats=1)
        model.fit(X, y, privileged=P)
        assert Counted.fits == 3 * (n_folds + 1)
        assert list(model.weights_) == KEYS
    y[1] = 0.0
    with pytest.warns(UserWarning, match="fewer than two distinct labelled rows"):
        model = HedgedDistillationClassifier().fit(X, y, privileged=P)
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


@pytest.mark.parametrize("student", [None, Ridge()], ids=["default", "Ridge"])
def test_predictions_stay_near_the_known_targets(student):
    X, y, P, _ = draw()
    y[0] = 1e4  # of weight 0
    weight = np.r_[0.0, np.ones(len(X) - 1)]
    model = HedgedDistillationRegressor(student=student)
    model.fit(X, y, privileged=P, sample_weight=weight)
    low, high = np.nanmin(y[1:]), np.nanmax(y[1:])
    margin = (high - low) / 5
    np.testing.assert_allclose(model.prediction_range_, [low - margin, high + margin])
    far = X.mean(axis=0) + 1e3 * np.outer([-1, 1], model.students_["labels"].coef_)
    np.testing.assert_array_equal(model.predict(far), model.prediction_range_)
    average = sum(
        weight * model.students_[name].predict(X)
        for name, weight in model.weights_.items()
    )
    np.testing.assert_allclose(
        model.predict(X), np.clip(average, *model.prediction_range_)
    )
    if student is None:
        assert (far @ model.coef_ + model.intercept_)[1] > 2 * (high + margin)


# They are quantiles of given errors in the next test, and cover new rows of the command
# line in `tests/cli/test_fit_predict.py`.
@pytest.mark.slow
def test_intervals_have_their_coverage():
    """One new row per model: the number of rows covered is binomial."""
    seeds, covered = 100, {0.5: 0, 0.9: 0}
    for seed in range(seeds):
        X, known, P, y = draw(61, 30, seed, p=3)
        model = HedgedDistillationRegressor(n_repeats=1)
        model.fit(X[:60], known[:60], privileged=P[:60])
        for coverage in covered:
            ((low, high),) = model.predict_interval(X[60:], coverage)
            covered[coverage] += low <= y[60] <= high
    for coverage, most in ((0.5, 0.65), (0.9, 0.97)):
        assert covered[coverage] >= binom.ppf(1e-3, seeds, coverage)
        assert covered[coverage] <= binom.ppf(1 - 1e-3, seeds, most)


def test_intervals_are_quantiles_of_the_errors_out_of_fold(tmp_path):
    X, y, P, _ = draw(labelled=50)
    model = HedgedDistillationRegressor(views="both", prior_strength=1e12)
    model.fit(X, y, privileged=P)
    errors, weight = model.errors_
    assert errors.shape == (50,)
    np.testing.assert_array_equal(weight, 1.0)
    middle = model.predict(X)
    for coverage, rank in ((0.5, 26), (0.9, 46), (0.98, 50)):
        half = np.sort(errors)[rank - 1]
        found = model.predict_interval(X, coverage)
        np.testing.assert_allclose(found, np.c_[middle - half, middle + half])
    assert np.array_equal(model.predict_interval(X), model.predict_interval(X, 0.9))
    scaled = HedgedDistillationRegressor(views="both", prior_strength=1e12)
    scaled.fit(X, y, privileged=P, sample_weight=np.full(len(X), 1e-4))
    np.testing.assert_allclose(scaled.predict_interval(X), model.predict_interval(X))
    lupi.save(model, tmp_path / "model.skops")
    back = lupi.load(tmp_path / "model.skops")
    assert np.array_equal(back.predict_interval(X), model.predict_interval(X))


def test_wrappers_have_the_intervals_of_their_estimator():
    X, y, P, _ = draw()
    inner = HedgedDistillationRegressor(n_repeats=1)
    expected = clone(inner).fit(X, y, privileged=P).predict_interval(X, 0.8)
    whole = TransformedPrivileged(
        inner, StandardScaler(with_mean=False, with_std=False)
    )
    whole.fit(X, y, privileged=P)
    np.testing.assert_allclose(whole.predict_interval(X, 0.8), expected)
    table = np.hstack([X, P])
    columns = PrivilegedColumns(inner, columns=slice(X.shape[1], None)).fit(table, y)
    np.testing.assert_allclose(columns.predict_interval(table, 0.8), expected)
    np.testing.assert_allclose(columns.predict_interval(X, 0.8), expected)
    line = make_pipeline(StandardScaler(with_mean=False, with_std=False), columns)
    line.fit(table, y)
    rows = line[:-1].transform(table)
    np.testing.assert_allclose(line[-1].predict_interval(rows, 0.8), expected)
    assert not hasattr(PrivilegedColumns(SVRPlus()), "predict_interval")


def test_intervals_of_many_labelled_rows_keep_few_errors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25_000, 1))
    y = rng.normal(size=25_000)
    model = HedgedDistillationRegressor(n_repeats=1).fit(X, y)
    assert model.errors_.shape[1] <= 10_000
    assert model.errors_[1].sum() == pytest.approx(25_000)
    (low, high) = model.predict_interval(np.zeros((1, 1)), 0.9)[0]
    # Four standard errors of the quantile of |y|, whose density there is 0.206.
    error = 4 * np.sqrt(0.9 * 0.1 / 25_000) / 0.206
    assert (high - low) / 2 == pytest.approx(norm.ppf(0.95), abs=error + 0.01)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90, np.nan, "0.9", None, True])
def test_what_is_no_coverage(coverage):
    X, y, P, _ = draw()
    model = HedgedDistillationRegressor(n_repeats=1).fit(X, y, privileged=P)
    with pytest.raises(ValueError, match=r"coverage=.*above 0 and below 1"):
        model.predict_interval(X, coverage)


def test_intervals_that_cannot_be_had():
    X, y, P, _ = draw(labelled=12)
    model = HedgedDistillationRegressor().fit(X, y, privileged=P)
    model.predict_interval(X, 0.92)
    with pytest.raises(ValueError, match=r"at least 99 labelled rows, but .* to 12"):
        model.predict_interval(X, 0.99)
    alone = HedgedDistillationRegressor().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="no errors out of fold"):
        alone.predict_interval(X)


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
    for view in ("privileged", "both"):
        found = model.students_[view].predict(X)
        assert np.abs(found).max() < 3 * np.abs(y).max()
    # The labels alone cannot know, and are not trusted.
    assert model.weights_["labels"] < 1e-9
    assert r2_score(y[60:], model.predict(X[60:])) > 0.5


# -- dirty tables ------------------------------------------------------------------


def between(seed=0, classes=False, n=1000):
    """X* lies between X and y, which is known for 60 rows of `n`; 2000 rows test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 2000, 3))
    P = X[:, :1] + rng.normal(size=(n + 2000, 1))
    y = (P[:, 0] > 0).astype(float) if classes else P[:, 0]
    known = np.where(np.arange(n) < 60, y[:n], np.nan)
    return X[:n], known, P[:n], X[n:], y[n:]


def score(model, X, y):
    if hasattr(model, "classes_"):
        return roc_auc_score(y, model.decision_function(X))
    return r2_score(y, model.predict(X))


@pytest.mark.parametrize("n", [70, 1000])
@pytest.mark.parametrize("classes", [False, True])
def test_one_row_without_y_does_not_matter(classes, n):
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    X, y, P, X_new, y_new = between(classes=classes, n=n)
    clean = kind().fit(X, y, privileged=P)
    labels = clean.students_["labels"]
    for value in (-30.0, 1e6, 1e12):
        for in_X, in_P in ((0, None), (slice(None), None), (None, 0), (slice(None), 0)):
            bad_X, bad_P = X.copy(), P.copy()
            if in_X is not None:
                bad_X[65, in_X] = value
            if in_P is not None:
                bad_P[65, in_P] = value
            model = kind().fit(bad_X, y, privileged=bad_P)
            change = score(model, X_new, y_new) - score(clean, X_new, y_new)
            assert abs(change) < 0.01
            assert np.array_equal(model.students_["labels"].coef_, labels.coef_)
    sparse = kind().fit(sp.csr_array(bad_X), y, privileged=sp.csr_array(bad_P))
    np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-6)


def test_one_row_without_y_does_not_matter_to_many_columns():
    """Such tables are not fitted from sums."""
    X, y, P, _, _ = between(n=500)
    X = np.hstack([X, np.random.default_rng(1).normal(size=(500, 300))])
    model = HedgedDistillationRegressor(cv=2, n_repeats=1, views="privileged")
    expected = clone(model).fit(X, y, privileged=P).students_["privileged"].predict(X)
    bad_X, bad_P = X.copy(), P.copy()
    bad_X[65], bad_P[65] = 1e6, -1e12
    found = clone(model).fit(bad_X, y, privileged=bad_P).students_["privileged"]
    assert np.std(found.predict(X) - expected) < 0.1 * np.std(expected)


def test_a_constant_column_with_one_other_value_does_not_matter():
    X, y, P, X_new, _ = between(n=120)
    X, X_new = (
        np.hstack([table, np.full((len(table), 1), 7.0)]) for table in (X, X_new)
    )
    expected = HedgedDistillationRegressor().fit(X, y, privileged=P)
    X[65, 3] = 8.0
    found = HedgedDistillationRegressor().fit(X, y, privileged=P)
    assert found.coef_[3] == 0.0
    np.testing.assert_allclose(found.predict(X_new), expected.predict(X_new), rtol=1e-9)


@pytest.mark.parametrize("form", ["dense", "sparse", "wide"])
@pytest.mark.parametrize("classes", [0, 3])
def test_the_labels_are_learned_on_labelled_rows_alone(classes, form):
    """Imputation, indicators, means, scales and penalty."""
    X, y, P, _ = draw(classes=classes)
    X[60:] *= 3
    P[10:20] = np.nan
    if form == "wide":
        X = np.hstack([X, np.random.default_rng(1).normal(size=(200, 300))])
    if form == "sparse":
        X[np.abs(X) < 0.5] = 0.0
    else:
        X[::7, 1] = X[3::9, 4] = X[61::5, 2] = np.nan
    table = sp.csr_array(X) if form == "sparse" else X
    weight = np.random.default_rng(0).uniform(0.1, 3, 200)
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    model = kind(cv=3, n_repeats=1)
    whole = clone(model).fit(table, y, privileged=P, sample_weight=weight)
    alone = clone(model).fit(table[:60], y[:60], sample_weight=weight[:60])
    found, expected = whole.students_["labels"], alone.students_["labels"]
    for name in ("coef_", "intercept_", "missing_coef_"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)
    assert found.alpha_ == expected.alpha_


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12])
def test_offsets_do_not_matter(size):
    """Years, prices and time stamps; the folds are given, as they follow content."""
    X, y, P, X_new, y_new = between()
    model = HedgedDistillationRegressor(cv=KFold(5))
    expected = clone(model).fit(X, y, privileged=P).score(X_new, y_new)
    for shift_X, shift_P, shift_y in np.eye(3) * size:
        found = clone(model).fit(X + shift_X, y + shift_y, privileged=P + shift_P)
        # At 1e12 numbers have steps of 1e-4.
        shifted = found.score(X_new + shift_X, y_new + shift_y)
        assert shifted == pytest.approx(expected, abs=1e-3)


def cells(n_cells, n=600, seed=0):
    """Rows of few distinct x, with the share of the class 1 of each."""
    rng = np.random.default_rng(seed)
    each = rng.normal(size=(n_cells, 2))
    each[:, 0] = np.linspace(-1, 1, n_cells)
    place = rng.permutation(np.arange(n) % n_cells)
    y = (rng.random(n) < 0.5 + 0.3 * each[place, 0]).astype(int)
    shares = np.bincount(place, y) / np.bincount(place)
    return each[place], y, each, shares


@pytest.mark.parametrize("student", [None, DecisionTreeClassifier(max_depth=4)])
@pytest.mark.parametrize("taught", [False, True])
def test_a_table_of_few_categories_has_the_shares_of_each(student, taught):
    """Out of fold the answers to one x are not predicted from the other answers."""
    for n_cells, error in ((2, 0.02), (3, 0.06)):
        X, y, each, shares = cells(n_cells)
        model = HedgedDistillationClassifier(student=student)
        model.fit(X, y, privileged=X[:, :1] if taught else None)
        np.testing.assert_allclose(model.predict_proba(each)[:, 1], shares, atol=error)
        assert 0.5 < model.calibration_slope_ < 2


def test_rows_given_a_few_times_do_not_turn_a_forest_around():
    # Six rows of each x: a forest knows the answers of an x by heart.
    X, y, each, _ = cells(100)
    forest = RandomForestClassifier(30, random_state=0)
    model = HedgedDistillationClassifier(student=forest).fit(X, y)
    assert model.calibration_slope_ > 0.3
    found = model.predict_proba(each)[:, 1]
    assert np.corrcoef(found, each[:, 0])[0, 1] > 0.5


def test_folds_do_not_depend_on_the_order_of_equal_rows():
    X, y, each, _ = cells(3)
    order = np.random.default_rng(2).permutation(len(y))
    one, other = (
        HedgedDistillationClassifier().fit(X[rows], y[rows], privileged=X[rows])
        for rows in (np.arange(len(y)), order)
    )
    np.testing.assert_allclose(
        one.decision_function(each), other.decision_function(each), atol=1e-6
    )
