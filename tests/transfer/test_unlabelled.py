"""Rows without y in the models that had no use for them before, each by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler

from lupi import (
    GeneralizedDistillationClassifier,
    GeneralizedDistillationRegressor,
    HedgedDistillationClassifier,
    KnowledgeTransferClassifier,
    PrivilegedColumns,
    TransformedPrivileged,
)

KNOWN = 50


def draw(classes=False, n=120):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4))
    P = X[:, :2] + 0.5 * rng.normal(size=(n, 2))
    y = P.sum(axis=1) + rng.normal(size=n)
    y = (y > 0).astype(float) if classes else y
    y[KNOWN:] = np.nan
    return X, y, P


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_regressor_learns_them_with_weight_lambda(share, weighted):
    X, y, P = draw()
    weight = np.random.default_rng(0).uniform(0.5, 2, 120) if weighted else None
    model = GeneralizedDistillationRegressor(
        LinearRegression(), LinearRegression(), imitation_weight=share, cv=None
    ).fit(X, y, privileged=P, sample_weight=weight)
    given = np.ones(120) if weight is None else weight
    teacher = LinearRegression().fit(P[:KNOWN], y[:KNOWN], given[:KNOWN])
    said = teacher.predict(P)
    target = np.where(np.isnan(y), said, (1 - share) * np.nan_to_num(y) + share * said)
    counts = given * np.where(np.isnan(y), share, 1.0)
    student = LinearRegression().fit(X, target, counts)
    np.testing.assert_allclose(model.predict(X), student.predict(X), atol=1e-10)
    np.testing.assert_allclose(model.soft_targets_, said, atol=1e-10)


def test_their_opinion_is_that_of_the_teacher_of_all_labelled_rows():
    X, y, P = draw()
    model = GeneralizedDistillationRegressor(LinearRegression(), LinearRegression())
    model.fit(X, y, privileged=P)
    said = model.teacher_.predict(P)
    np.testing.assert_allclose(model.soft_targets_[KNOWN:], said[KNOWN:])
    assert np.abs(model.soft_targets_[:KNOWN] - said[:KNOWN]).min() > 1e-6
    alone = clone(model).fit(X[:KNOWN], y[:KNOWN], privileged=P[:KNOWN])
    np.testing.assert_array_equal(
        alone.soft_targets_[:KNOWN], model.soft_targets_[:KNOWN]
    )


@pytest.mark.parametrize("class_weight", [None, {0: 1.0, 1: 3.0}])
def test_a_classifier_learns_copies_of_them_with_weight_lambda(class_weight):
    X, y, P = draw(classes=True)
    share = 0.4
    model = GeneralizedDistillationClassifier(
        LogisticRegression(),
        LogisticRegression(),
        imitation_weight=share,
        cv=None,
        class_weight=class_weight,
        clip=1e-12,
    ).fit(X, y, privileged=P)
    factor = np.array([1.0, 1.0 if class_weight is None else 3.0])
    codes = y[:KNOWN].astype(int)
    teacher = LogisticRegression().fit(P[:KNOWN], codes, factor[codes])
    soft = teacher.predict_proba(P)
    np.testing.assert_allclose(model.soft_labels_, soft, rtol=1e-9)
    shares = share * soft
    shares[:KNOWN] += (1 - share) * np.eye(2)[codes]
    shares[:KNOWN] *= factor[codes][:, None]
    shares[KNOWN:] *= (soft[KNOWN:] @ factor)[:, None]
    student = LogisticRegression().fit(
        np.vstack([X, X]),
        np.repeat([0, 1], 120),
        sample_weight=np.concatenate([shares[:, 0], shares[:, 1]]),
    )
    np.testing.assert_allclose(
        model.predict_proba(X), student.predict_proba(X), atol=1e-3
    )


def test_log_odds_of_unlabelled_rows_are_the_teachers_own():
    X, y, P = draw(classes=True)
    model = GeneralizedDistillationClassifier(
        LogisticRegression(), LinearRegression(), imitation_weight=0.25, cv=None
    ).fit(X, y, privileged=P)
    odds = np.log(model.soft_labels_[:, 1] / model.soft_labels_[:, 0])
    target = np.where(
        np.isnan(y), odds, 0.75 * (4 * np.nan_to_num(y) - 2) + 0.25 * odds
    )
    weight = np.where(np.isnan(y), 0.25, 1.0)
    expected = LinearRegression().fit(X, target, weight).predict(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


@pytest.mark.parametrize(
    "model", [GeneralizedDistillationClassifier, KnowledgeTransferClassifier]
)
def test_without_imitation_or_x_star_they_are_left_out(model):
    X, y, P = draw(classes=True)
    known = model().fit(X[:KNOWN], y[:KNOWN])
    np.testing.assert_array_equal(
        model().fit(X, y).decision_function(X), known.decision_function(X)
    )
    if model is GeneralizedDistillationClassifier:
        ignoring = model(imitation_weight=0).fit(X, y, privileged=P)
        alone = model(imitation_weight=0).fit(X[:KNOWN], y[:KNOWN])
        np.testing.assert_array_equal(
            ignoring.decision_function(X), alone.decision_function(X)
        )


def test_x_star_of_unlabelled_rows_alone_teaches_nothing_and_is_told():
    X, y, P = draw(classes=True)
    P[:KNOWN] = np.nan
    with pytest.warns(UserWarning, match="for no row that has y"):
        model = GeneralizedDistillationClassifier().fit(X, y, privileged=P)
    assert not hasattr(model, "teacher_")


def test_frames_are_learned_on_all_rows_that_have_x_star():
    X, y, P = draw(classes=True)
    seen = []

    class Counting(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(len(X))
            return super().fit(X, y, sample_weight)

    model = KnowledgeTransferClassifier(
        LogisticRegression(), Counting(), frames="features", cv=None
    ).fit(X, y, privileged=P)
    assert seen == [120]
    expected = LinearRegression().fit(X, P).predict(X)
    np.testing.assert_allclose(model.regressed_frames(X), expected, atol=1e-10)
    final = LogisticRegression().fit(expected[:KNOWN], y[:KNOWN])
    np.testing.assert_allclose(
        model.decision_function(X), final.decision_function(expected), atol=1e-8
    )


def test_support_vectors_are_those_of_the_labelled_rows():
    X, y, P = draw(classes=True)
    model = KnowledgeTransferClassifier(privileged_gamma=0.5).fit(X, y, privileged=P)
    known = KnowledgeTransferClassifier(privileged_gamma=0.5)
    known.fit(X[:KNOWN], y[:KNOWN], privileged=P[:KNOWN])
    np.testing.assert_array_equal(model.frame_vectors_, known.frame_vectors_)
    assert not np.allclose(model.regressed_frames(X), known.regressed_frames(X))
    P[:KNOWN] = np.nan
    with pytest.raises(ValueError, match="all have no y"):
        KnowledgeTransferClassifier().fit(X, y, privileged=P)


def test_a_transformer_is_fitted_on_them_too_unless_it_needs_y():
    X, y, P = draw(classes=True)
    P[7, 0] = np.nan
    model = TransformedPrivileged(HedgedDistillationClassifier(), SimpleImputer())
    model.fit(X, y, privileged=P)
    np.testing.assert_allclose(model.transformer_.statistics_, np.nanmean(P, axis=0))
    select = TransformedPrivileged(HedgedDistillationClassifier(), SelectKBest(k=1))
    P[7, 0] = 0.0
    select.fit(X, y, privileged=P)
    expected = SelectKBest(k=1).fit(P[:KNOWN], y[:KNOWN])
    np.testing.assert_array_equal(select.transformer_.scores_, expected.scores_)


def test_one_table_with_privileged_columns_and_missing_outcomes():
    X, y, P = draw(classes=True)
    table = pd.DataFrame(np.hstack([X, P]), columns=list("abcdPQ"))
    outcome = pd.Series(y).map({0.0: "healthy", 1.0: "ill"})
    assert outcome.isna().sum() == 120 - KNOWN
    model = PrivilegedColumns(HedgedDistillationClassifier(), columns=["P", "Q"])
    model.fit(table, outcome)
    direct = HedgedDistillationClassifier().fit(X, y, privileged=P)
    np.testing.assert_allclose(
        model.predict_proba(table[list("abcd")]),
        direct.predict_proba(X),
        rtol=1e-6,
    )
    assert list(model.classes_) == ["healthy", "ill"]


def test_a_scaler_inside_a_pipeline_sees_them():
    from sklearn.pipeline import make_pipeline

    X, y, P = draw(classes=True)
    pipeline = make_pipeline(StandardScaler(), HedgedDistillationClassifier())
    name = "hedgeddistillationclassifier__privileged"
    pipeline.fit(X, y, **{name: P})
    np.testing.assert_allclose(pipeline[0].mean_, X.mean(axis=0))
