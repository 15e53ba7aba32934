import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR, LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from lupi.testing import check_privileged_estimator
from lupi.transfer import GeneralizedDistillationClassifier
from tests.contract import check_own
from tests.marks import slow

PRECISE = LogisticRegression(tol=1e-10, max_iter=10_000)


def draw(n=80, n_classes=2, seed=0):
    """A later state P of the process behind X, and labels that follow from P."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    P = X[:, :2] + 0.5 * rng.normal(size=(n, 2))
    cause = P.sum(axis=1) + rng.normal(size=n)
    y = np.digitize(cause, [0.0] if n_classes == 2 else [-0.7, 0.7])
    return X, np.array(["no", "yes", "zeal"])[y], P


def ridge_by_hand(X, target, weight=None):
    """Ridge regression with α = 1 and a free intercept, from its normal equations."""
    weight = np.ones(len(X)) if weight is None else weight
    A = np.column_stack([X, np.ones(len(X))])
    penalty = np.diag(np.r_[np.ones(X.shape[1]), 0.0])
    return np.linalg.solve((A.T * weight) @ A + penalty, (A.T * weight) @ target)


def teacher_by_hand(P, y, cv):
    """Out-of-fold log-odds of a logistic regression on P."""
    z = np.empty(len(y))
    for train, test in cv.split(P):
        z[test] = clone(PRECISE).fit(P[train], y[train]).decision_function(P[test])
    return z


@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_a_regressor_learns_the_mixed_log_odds(share, temperature):
    X, y, P = draw()
    cv = KFold(4)
    model = GeneralizedDistillationClassifier(
        PRECISE,
        Ridge(),
        imitation_weight=share,
        temperature=temperature,
        cv=cv,
        clip=1e-6,
    ).fit(X, y, privileged=P)
    soft = teacher_by_hand(P, y, cv) / temperature
    target = (1 - share) * np.where(y == "yes", 2.0, -2.0) + share * soft
    line = ridge_by_hand(X, target)
    decision = X @ line[:-1] + line[-1]
    np.testing.assert_allclose(model.decision_function(X), decision, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(decision), atol=1e-6)
    np.testing.assert_allclose(model.soft_labels_[:, 1], expit(soft), atol=1e-6)


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_a_classifier_minimises_the_mixed_cross_entropy(share):
    """The sum of losses in the paper, minimised by a general-purpose solver."""
    X, y, P = draw()
    cv = KFold(4)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    model = GeneralizedDistillationClassifier(
        PRECISE, PRECISE, imitation_weight=share, cv=cv
    ).fit(X, y, privileged=P, sample_weight=weight)
    s = model.soft_labels_[:, 1]
    hard = (y == "yes").astype(float)

    def loss(v):
        f = X @ v[:-1] + v[-1]

        def entropy(p):
            return -weight @ (p * log_expit(f) + (1 - p) * log_expit(-f))

        return (1 - share) * entropy(hard) + share * entropy(s) + 0.5 * v[:-1] @ v[:-1]

    best = minimize(loss, np.zeros(6), tol=1e-10)
    found = np.r_[model.student_.coef_[0], model.student_.intercept_]
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    assert loss(found) <= best.fun + 1e-9


def test_weight_zero_and_no_privileged_data_are_the_student_alone():
    X, y, P = draw()
    weight = np.random.default_rng(1).uniform(size=len(y))
    for student in (RandomForestClassifier(5, random_state=0), LogisticRegression()):
        alone = clone(student).fit(X, y, sample_weight=weight).predict_proba(X)
        zero = GeneralizedDistillationClassifier(student=student, imitation_weight=0)
        none = GeneralizedDistillationClassifier(student=student)
        zero.fit(X, y, privileged=P, sample_weight=weight)
        none.fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(zero.predict_proba(X), alone)
        np.testing.assert_array_equal(none.predict_proba(X), alone)
        assert not hasattr(zero, "teacher_")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_ridge_student_alone_is_the_ridge_classifier(n_classes):
    X, y, _ = draw(n_classes=n_classes)
    model = GeneralizedDistillationClassifier(student=Ridge()).fit(X, y)
    theirs = RidgeClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    if n_classes == 2:
        np.testing.assert_allclose(
            model.decision_function(X), 2 * theirs.decision_function(X)
        )


def test_rows_without_privileged_data_keep_their_label_at_full_weight():
    X, y, P = draw()
    P[::3] = np.nan
    known = ~np.isnan(P[:, 0])
    model = GeneralizedDistillationClassifier(
        PRECISE, Ridge(), cv=None, imitation_weight=1
    ).fit(X, y, privileged=P)
    teacher = clone(PRECISE).fit(P[known], y[known])
    target = np.where(y == "yes", 2.0, -2.0)
    target[known] = teacher.decision_function(P[known])
    line = ridge_by_hand(X, target)
    np.testing.assert_allclose(
        model.decision_function(X), X @ line[:-1] + line[-1], atol=1e-4
    )
    assert model.soft_labels_.shape == (known.sum(), 2)


def test_the_teacher_can_see_both_tables():
    X, y, P = draw()
    model = GeneralizedDistillationClassifier(PRECISE, teacher_view="both", cv=None)
    model.fit(X, y, privileged=P)
    both = np.hstack([X, P])
    np.testing.assert_allclose(
        model.soft_labels_, clone(PRECISE).fit(both, y).predict_proba(both), atol=1e-3
    )


@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("student", [None, PRECISE])
def test_rows_repeated_dropped_and_reordered(student, cv):
    X, y, P = draw(50, n_classes=3)
    rng = np.random.default_rng(2)
    times = rng.integers(0, 4, size=len(y))
    P[::7] = np.nan
    model = GeneralizedDistillationClassifier(student=student, cv=cv)
    weighted = clone(model).fit(X, y, privileged=P, sample_weight=times)
    rows = rng.permutation(np.arange(len(y)).repeat(times))
    repeated = clone(model).fit(X[rows], y[rows], privileged=P[rows])
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6
    )


def test_sparse_equals_dense():
    X, y, P = draw()
    X[X < 0] = 0
    dense = GeneralizedDistillationClassifier(teacher_view="both", student=Ridge())
    sparse = clone(dense)
    dense.fit(X, y, privileged=P)
    sparse.fit(sp.csr_array(X), y, privileged=sp.csr_matrix(P))
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-3
    )


TEACHERS = [LinearSVC(), RandomForestClassifier(10, random_state=0), Ridge(), SVR()]
STUDENTS = [RandomForestClassifier(5, random_state=0)]
STUDENTS += [make_pipeline(StandardScaler(), SVR()), None]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("teacher", "student"),
    [*((each, SVR()) for each in TEACHERS), *((None, each) for each in STUDENTS)],
    ids=lambda e: type(e).__name__,
)
def test_any_teacher_and_any_student(teacher, student, n_classes):
    X, y, P = draw(60, n_classes)
    model = GeneralizedDistillationClassifier(teacher, student, random_state=0, cv=3)
    model.fit(X, y, privileged=P, sample_weight=np.ones(len(y)))
    decision = model.decision_function(X)
    assert decision.shape == ((60,) if n_classes == 2 else (60, 3))
    likely = decision > 0 if n_classes == 2 else decision.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[likely.astype(int)], model.predict(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.6
    again = clone(model).fit(X, y, privileged=P, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(again.decision_function(X), decision)


def test_out_of_fold_labels_are_soft_where_in_sample_ones_are_hard():
    """A forest in-sample repeats the labels: there is nothing to learn from it."""
    X, y, P = draw(200)
    forest = RandomForestClassifier(30, random_state=0)
    own = GeneralizedDistillationClassifier(forest, cv=None).fit(X, y, privileged=P)
    out = GeneralizedDistillationClassifier(forest, cv=5).fit(X, y, privileged=P)
    right = np.searchsorted(own.classes_, y), np.arange(len(y))
    assert own.soft_labels_.T[right].min() > 0.5
    assert out.soft_labels_.T[right].min() < 0.1


def test_a_class_too_rare_for_the_folds():
    X, y, P = draw(30)
    y[0] = "zeal"
    model = GeneralizedDistillationClassifier().fit(X, y, privileged=P)
    assert model.predict_proba(X).shape == (30, 3)
    y[:] = "no"
    y[:2] = "yes"
    P[2:, :] = np.nan
    model.fit(X, y, privileged=P)
    np.testing.assert_allclose(model.soft_labels_[:, 1], 1, atol=0.01)


def test_folds_are_those_of_distinct_rows():
    """Every soft label is that of a teacher without the row, its copies included."""
    X, y, P = draw(12)
    X, y, P = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(P, 2, axis=0)
    twin = KNeighborsClassifier(1)
    model = GeneralizedDistillationClassifier(twin, Ridge(), cv=24)
    model.fit(X, y, privileged=P)
    others = [np.flatnonzero(np.arange(24) // 2 != i // 2) for i in range(24)]
    expected = [
        clone(twin).fit(P[o], y[o]).predict(P[[i]])[0] for i, o in enumerate(others)
    ]
    found = model.classes_[model.soft_labels_.argmax(axis=1)]
    assert found.tolist() == expected
    with pytest.raises(ValueError, match="at least 2 distinct rows"):
        model.fit(X, y, privileged=np.where(np.arange(24)[:, None] < 2, P, np.nan))


def test_tables_of_any_kind_have_the_same_folds():
    X, y, P = draw()
    P = np.round(P)
    model = GeneralizedDistillationClassifier()
    expected = model.fit(X, y, privileged=P).soft_labels_
    table = pd.DataFrame(P, columns=["a", "b"], index=np.arange(80)[::-1])
    mixed = table.astype({"a": "Int64", "b": object})
    for other in (table, mixed, sp.csr_array(P), sp.csc_array(P), P + 0.0):
        found = model.fit(X, y, privileged=other).soft_labels_
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_refitting_without_a_teacher_forgets_the_old_one():
    X, y, P = draw()
    model = GeneralizedDistillationClassifier().fit(X, y, privileged=P).fit(X, y)
    assert not hasattr(model, "teacher_")
    assert not hasattr(model, "soft_labels_")


@pytest.mark.parametrize("routing", [False, True])
def test_searches_calibration_and_pipelines(routing):
    X, y, P = draw(100)
    inside = make_pipeline(MinMaxScaler(), LogisticRegression())
    model = GeneralizedDistillationClassifier(
        student=make_pipeline(StandardScaler(), LogisticRegression())
    )
    grid = {"imitation_weight": [0.0, 1.0], "teacher": [None, inside]}
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(model, grid, cv=3).fit(X, y, privileged=P)
        calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y, privileged=P)
    assert search.best_score_ > 0.6
    assert calibrated.predict_proba(X).shape == (100, 2)


@pytest.mark.parametrize("routing", [False, True])
def test_a_student_may_search_over_log_odds(routing):
    X, y, P = draw(60)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1e-3, 1e5]}, cv=3
    )
    with sklearn.config_context(enable_metadata_routing=routing):
        model = GeneralizedDistillationClassifier(student=search)
        model.fit(X, y, privileged=P, sample_weight=np.ones(60))
    assert model.student_.best_params_["ridge__alpha"] == 1e-3
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"student": KNeighborsClassifier()}, "takes no sample_weight"),
        ({"student": GridSearchCV(PRECISE, {})}, "Search the parameters of the whole"),
        ({"student": StandardScaler()}, "neither a classifier nor a regressor"),
        ({"teacher": StandardScaler()}, "gives no soft labels"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "exactly once"),
        ({"cv": [(np.arange(10), np.arange(10, 30))]}, "exactly once"),
    ],
)
def test_refusals_are_sentences(parameters, words):
    X, y, P = draw(30)
    model = GeneralizedDistillationClassifier(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, privileged=P)


def test_a_teacher_without_weights_refuses_weights():
    X, y, P = draw(30)
    model = GeneralizedDistillationClassifier(KNeighborsClassifier())
    model.fit(X, y, privileged=P)
    with pytest.raises(ValueError, match="takes no 'sample_weight'"):
        model.fit(X, y, privileged=P, sample_weight=np.ones(30))


def test_class_weight_is_a_weight_of_rows():
    X, y, P = draw()
    model = GeneralizedDistillationClassifier(class_weight={"yes": 3.0})
    model.fit(X, y, privileged=P)
    same = GeneralizedDistillationClassifier()
    same.fit(X, y, privileged=P, sample_weight=np.where(y == "yes", 3.0, 1.0))
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X))


def test_predict_proba_is_offered_only_where_the_student_has_it():
    assert hasattr(GeneralizedDistillationClassifier(), "predict_proba")
    machine = GeneralizedDistillationClassifier(student=LinearSVC())
    assert not hasattr(machine, "predict_proba")
    assert hasattr(machine, "decision_function")
    forest = GeneralizedDistillationClassifier(student=RandomForestRegressor())
    assert hasattr(forest, "predict_proba")


@pytest.mark.parametrize(
    "estimator",
    [
        GeneralizedDistillationClassifier(cv=2),
        *slow(GeneralizedDistillationClassifier(student=LogisticRegression())),
    ],
)
def test_scikit_learn_contract(estimator):
    check_estimator(estimator, on_skip=None)


def test_own_checks():
    check_own(GeneralizedDistillationClassifier(cv=2))


@pytest.mark.parametrize(
    "estimator",
    slow(
        GeneralizedDistillationClassifier(cv=2),
        GeneralizedDistillationClassifier(),
        GeneralizedDistillationClassifier(teacher_view="both", cv=None),
    ),
)
def test_privileged_contract(estimator):
    check_privileged_estimator(estimator)
