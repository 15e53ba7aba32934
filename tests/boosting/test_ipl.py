"""Properties of IPL with privileged information."""

import io
import json
import pickle
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import lupi
from lupi.boosting import IPLClassifier, IPLRegressor
from lupi.exceptions import ModelFileError

rng = np.random.RandomState(0)
N = 150
P = rng.normal(size=(N, 3))
X = np.hstack([P[:, :2] + rng.normal(size=(N, 2)), rng.normal(size=(N, 2))])
y = P[:, 0] - P[:, 1] ** 2 + 0.3 * rng.normal(size=N)
LABEL = np.where(y > -0.5, "b", "a")
THREE = np.digitize(y, [-1.5, 0.0])
NEW = rng.normal(size=(40, 4))


class FixedStart(np.random.RandomState):
    """Generator whose first w is known."""

    def __new__(cls, start):
        return super().__new__(cls, 0)

    def __init__(self, start):
        super().__init__(0)
        self.start = start

    def uniform(self, size):
        return np.broadcast_to(self.start, (size,)).astype(float)


# Models are compared on the training rows: of two splits that part these alike, the
# last digit decides, and new rows between them may be parted differently.
def model(**options):
    defaults = {"n_estimators": 20, "random_state": 0, "n_jobs": 1}
    return IPLRegressor(**{**defaults, **options})


def test_constant_columns_of_privileged_change_nothing():
    widened = np.hstack([P, np.full((N, 1), 7.3)])
    options = {"random_state": FixedStart(0.5)}
    expected = model(**options).fit(X, y, privileged=P).predict(X)
    constant = model(random_state=FixedStart(0.5)).fit(X, y, privileged=widened)
    np.testing.assert_allclose(constant.predict(X), expected, atol=1e-9)


@pytest.mark.parametrize("n_atoms", [None, 5])
def test_scaling_privileged_changes_nothing_when_standardised(n_atoms):
    options = {"n_atoms": n_atoms, "privileged_reg": 0.1}
    expected = model(**options).fit(X, y, privileged=P).predict(X)
    scaled = model(**options).fit(X, y, privileged=P * [1e-3, 10.0, 500.0] + 3.0)
    np.testing.assert_allclose(scaled.predict(X), expected, atol=1e-9)


def test_scaling_raw_privileged_matters_through_the_start_alone():
    scale, start = np.array([1e-3, 10.0, 500.0]), np.array([0.2, 0.7, 0.4])
    raw = {"standardize_privileged": False}
    expected = model(random_state=FixedStart(start), **raw).fit(X, y, privileged=P)
    moved = model(random_state=FixedStart(start / scale), **raw)
    moved.fit(X, y, privileged=P * scale)
    np.testing.assert_allclose(moved.predict(X), expected.predict(X), atol=1e-9)
    drawn = model(random_state=0, **raw).fit(X, y, privileged=P)
    rescaled = model(random_state=0, **raw).fit(X, y, privileged=P * scale)
    assert np.abs(drawn.predict(NEW) - rescaled.predict(NEW)).max() > 1e-6


@pytest.mark.parametrize(
    ("engine", "n_atoms", "C2"),
    [("cart", None, 0.01), ("cart", 6, 1.0), ("xgboost", None, 1.0)],
)
def test_objective_never_rises_within_a_round(engine, n_atoms, C2):
    fitted = model(
        engine=engine, n_atoms=n_atoms, privileged_reg=C2, privileged_weight=10, tol=0
    ).fit(X, y, privileged=P)
    assert len(fitted.objective_trace_) == len(fitted.inner_iterations_) == 20
    for trace, passes in zip(
        fitted.objective_trace_, fitted.inner_iterations_, strict=True
    ):
        assert np.all(np.diff(trace) <= 0)
        assert passes - 1 <= len(trace) <= passes <= 10
    assert fitted.inner_iterations_.max() > 2


def test_objective_is_the_one_of_the_paper():
    C1, C2 = 3.0, 0.5
    fitted = model(
        n_estimators=2, privileged_weight=C1, privileged_reg=C2, learning_rate=0.4
    ).fit(X, y, privileged=P)
    standardised = (P - P.mean(axis=0)) / P.std(axis=0)
    first, second = fitted.staged_predict(X)
    for before, after, w, trace in zip(
        (0.0, first),
        (first, second),
        fitted.privileged_coef_,
        fitted.objective_trace_,
        strict=True,
    ):
        error = (after - before) / 0.4 - (y - before)
        comment = standardised @ w
        value = np.sum(error**2) + C1 * np.sum((error - comment) ** 2)
        np.testing.assert_allclose(value + C2 * np.sum(comment**2), trace[-1])


def test_row_without_privileged_gets_no_comment():
    # A row of zeros has comment 0 and adds nothing to least squares.
    missing, zeros = P.copy(), P.copy()
    missing[::4], zeros[::4] = np.nan, 0.0
    raw = {"standardize_privileged": False}
    expected = model(**raw).fit(X, y, privileged=zeros).predict(X)
    fitted = model(**raw).fit(X, y, privileged=missing)
    np.testing.assert_allclose(fitted.predict(X), expected, atol=1e-9)


@pytest.mark.parametrize("n_atoms", [None, 5])
def test_weights_count_rows(n_atoms):
    count = np.random.RandomState(1).randint(0, 4, size=N)
    rows = np.repeat(np.arange(N), count)
    options = {"n_atoms": n_atoms, "privileged_reg": 0.1, "max_depth": 2}
    weighted = model(**options).fit(X, y, privileged=P, sample_weight=count)
    repeated = model(**options).fit(X[rows], y[rows], privileged=P[rows])
    np.testing.assert_allclose(
        weighted.predict(X[rows]), repeated.predict(X[rows]), atol=1e-9
    )


def test_log_loss_equals_a_plain_reading():
    C1, C2, rate, sign = 2.0, 0.5, 0.2, np.where(LABEL == "b", 1.0, -1.0)
    fitted = IPLClassifier(
        n_estimators=12,
        learning_rate=rate,
        max_depth=2,
        privileged_weight=C1,
        privileged_reg=C2,
        loss="log_loss",
        standardize_privileged=False,
        random_state=7,
    ).fit(X, LABEL, privileged=P)
    draw = np.random.RandomState(7)
    w, F = draw.uniform(size=3), np.zeros(N)
    for _ in range(12):
        p = expit(F)
        s = p * (1 - p)
        r = ((sign > 0) - p) / s
        value = np.inf
        for _ in range(10):
            tree = DecisionTreeRegressor(max_depth=2, random_state=draw)
            target = r + C1 / (C1 + 1) * P @ w
            h = tree.fit(X.astype(np.float32), target, s).predict(X.astype(np.float32))
            root = np.sqrt(s)
            new = np.linalg.lstsq(root[:, None] * P, root * (h - r), rcond=None)[0]
            new = C1 / (C1 + C2) * new
            before, after = (
                s @ ((h - r) ** 2 + C1 * (h - r - P @ u) ** 2 + C2 * (P @ u) ** 2)
                for u in (w, new)
            )
            if after > value:
                break
            gain, value, best, w = min(before, value) - after, after, h, new
            if gain <= 1e-4 * after:
                break
        F = F + rate * best
    np.testing.assert_allclose(fitted.decision_function(X), F, atol=1e-9)
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], expit(F), atol=1e-9)


def test_xgboost_engine_alternates_as_a_plain_reading_on_its_trees():
    xgboost = pytest.importorskip("xgboost")
    one = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 3, "base_score": 0.0}
    fitted = model(engine="xgboost", n_jobs=1, tol=1e-2, n_estimators=8)
    fitted.fit(X, y, privileged=P)
    standardised = (P - P.mean(axis=0)) / P.std(axis=0)
    w, r = np.random.RandomState(0).uniform(size=3), y.copy()
    for trace in fitted.objective_trace_:
        value = np.inf
        for expected in trace:
            tree = xgboost.XGBRegressor(n_jobs=1, **one)
            h = tree.fit(X, r + 0.5 * standardised @ w).predict(X)
            w = 0.5 * np.linalg.lstsq(standardised, h - r, rcond=None)[0]
            c = standardised @ w
            value = np.sum((h - r) ** 2) + np.sum((h - r - c) ** 2) + np.sum(c**2)
            np.testing.assert_allclose(value, expected, rtol=1e-4)
        r = r - 0.1 * h
    np.testing.assert_allclose(fitted.predict(X), y - r, atol=1e-3)


def test_any_regressor_comments():
    # Least squares through scikit-learn is the linear comment, from the same start.
    linear = model(random_state=FixedStart(0.0)).fit(X, y, privileged=P)
    same = model(auxiliary=LinearRegression(fit_intercept=False))
    same.fit(X, y, privileged=P)
    np.testing.assert_allclose(same.predict(X), linear.predict(X), atol=1e-9)
    forest = RandomForestRegressor(n_estimators=5, max_depth=3)
    first = model(auxiliary=forest).fit(X, y, privileged=P, sample_weight=y**2)
    again = model(auxiliary=forest).fit(X, y, privileged=P, sample_weight=y**2)
    np.testing.assert_array_equal(first.predict(NEW), again.predict(NEW))
    assert np.abs(first.predict(NEW) - linear.predict(NEW)).max() > 1e-3
    assert all(np.all(np.diff(trace) <= 0) for trace in first.objective_trace_)
    assert not hasattr(first, "privileged_coef_")
    neighbours = model(auxiliary=KNeighborsRegressor()).fit(X, y, privileged=P)
    assert np.isfinite(neighbours.predict(NEW)).all()
    with pytest.raises(ValueError, match="does not take sample_weight"):
        neighbours.fit(X, y, privileged=P, sample_weight=y**2)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_many_classes_are_one_against_the_rest(loss):
    options = {"n_estimators": 15, "loss": loss, "random_state": 3}
    fitted = IPLClassifier(**options).fit(X, THREE, privileged=P)
    scores = fitted.decision_function(X)
    for k in range(3):
        single = IPLClassifier(**options).fit(X, k == THREE, privileged=P)
        expected = single.decision_function(X)
        np.testing.assert_allclose(scores[:, k], expected, atol=1e-9)
        assert len(fitted.objective_trace_[k]) == fitted.n_estimators_[k] == 15
    np.testing.assert_array_equal(fitted.predict(X), scores.argmax(axis=1))
    probability = fitted.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probability.argmax(axis=1), scores.argmax(axis=1))


def test_probabilities_of_squared_error_are_the_nearest_ones():
    # The projection onto the simplex is max(a − τ, 0) for the τ that makes it sum to 1.
    four = np.digitize(y, [-2.0, -0.5, 0.5])
    several = IPLClassifier(n_estimators=60, random_state=0).fit(X, four, privileged=P)
    raw, probability = several.decision_function(NEW), several.predict_proba(NEW)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert {2, 3} <= set(np.sum(probability > 0, axis=1))
    for row, found in zip((1 + raw) / 2, probability, strict=True):
        shift = (row - found)[found > 0]
        np.testing.assert_allclose(shift, shift[0], atol=1e-12)
        np.testing.assert_allclose(found, np.maximum(row - shift[0], 0), atol=1e-12)
    binary = IPLClassifier(n_estimators=60, random_state=0).fit(X, LABEL, privileged=P)
    expected = np.clip((1 + binary.decision_function(X)) / 2, 0, 1)
    np.testing.assert_allclose(binary.predict_proba(X)[:, 1], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("engine", "target"), [("cart", LABEL), ("xgboost", THREE)], ids=["two", "three"]
)
def test_stages_end_where_predictions_are(engine, target):
    fitted = IPLClassifier(n_estimators=7, engine=engine, n_jobs=1, random_state=0)
    fitted.fit(X, target, privileged=P)
    stages = list(fitted.staged_decision_function(NEW))
    assert len(stages) == 7
    np.testing.assert_allclose(stages[-1], fitted.decision_function(NEW), atol=1e-6)
    np.testing.assert_array_equal(
        list(fitted.staged_predict(NEW))[-1], fitted.predict(NEW)
    )
    np.testing.assert_allclose(
        list(fitted.staged_predict_proba(NEW))[-1], fitted.predict_proba(NEW), atol=1e-6
    )
    short = clone(fitted).set_params(n_estimators=3).fit(X, target, privileged=P)
    np.testing.assert_allclose(stages[2], short.decision_function(NEW), atol=1e-6)


@pytest.mark.parametrize(
    ("engine", "n_atoms"), [("cart", 4), ("cart", 8), ("xgboost", None)]
)
def test_warm_start_goes_on_as_if_never_stopped(engine, n_atoms):
    options = {"engine": engine, "n_atoms": n_atoms, "privileged_reg": 0.1, "tol": 1e-2}
    whole = model(n_estimators=12, max_features=2, **options).fit(X, y, privileged=P)
    parts = model(n_estimators=6, max_features=2, warm_start=True, **options)
    parts.fit(X, y, privileged=P)
    parts.set_params(n_estimators=12).fit(X, y, privileged=P)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-5)
    assert len(parts.inner_iterations_) == 12
    with pytest.raises(ValueError, match="can only grow"):
        parts.set_params(n_estimators=3).fit(X, y, privileged=P)
    with pytest.raises(ValueError, match="privileged features"):
        parts.set_params(n_estimators=20).fit(X, y, privileged=P[:, :2])


def test_stopping_early_by_held_out_rows_and_by_the_training_loss():
    held_out = IPLClassifier(n_estimators=200, n_iter_no_change=3, random_state=0)
    held_out.fit(X, LABEL, privileged=P)
    assert held_out.n_estimators_ == len(held_out.validation_score_) < 200
    training = clone(held_out).set_params(validation_fraction=None, n_estimators=2000)
    training.fit(X, LABEL, privileged=P)
    assert held_out.n_estimators_ < training.n_estimators_ < 2000
    assert not hasattr(training, "validation_score_")
    last = training.train_score_[-4:]
    assert np.all(last[-1] + 1e-4 >= last[:-1])
    three = clone(held_out).fit(X, THREE, privileged=P)
    assert len(three.n_estimators_) == 3


@pytest.mark.parametrize("engine", ["cart", "xgboost"])
def test_pickle_predicts_the_same(engine):
    fitted = model(engine=engine).fit(X, y, privileged=P)
    expected = fitted.predict(NEW)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(NEW), expected)
    assert abs(copy.feature_importances_.sum() - 1) < 1e-12


@pytest.mark.parametrize(
    ("key", "value"), [("left_children", 99), ("split_indices", 9)]
)
def test_damaged_xgboost_model_is_refused(tmp_path, key, value):
    path = tmp_path / "model.skops"
    lupi.save(model(engine="xgboost", n_estimators=3).fit(X, y), path)
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    (name,) = (name for name, part in parts.items() if part.startswith(b'{"learner"'))
    document = json.loads(parts[name])
    trees = document["learner"]["gradient_booster"]["model"]["trees"]
    trees[1][key][0] = value
    with zipfile.ZipFile(path, "w") as archive:
        for other, part in (parts | {name: json.dumps(document)}).items():
            archive.writestr(other, part)
    with pytest.raises(ModelFileError, match="a tree of XGBoost"):
        lupi.load(path)


def test_missing_extra_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match=r'pip install "lupi\[xgboost\]"'):
        model(engine="xgboost").fit(X, y)


def test_device_is_handed_to_xgboost(monkeypatch):
    xgboost = pytest.importorskip("xgboost")
    seen = []
    make = xgboost.Booster

    def booster(params=None, *rest):
        seen.append(params)
        return make({**params, "device": "cpu"} if params else params, *rest)

    monkeypatch.setattr(xgboost, "Booster", booster)
    model(engine="xgboost", device="cuda:1", n_estimators=2).fit(X, y, privileged=P)
    assert seen[0]["device"] == "cuda:1"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"auxiliary": LinearRegression}, "'auxiliary' parameter"),
        ({"device": "cuda"}, 'needs engine="xgboost"'),
        ({"n_atoms": 3, "privileged_reg": 0.0}, "needs privileged_reg above 0"),
        ({"n_atoms": 3, "auxiliary": LinearRegression()}, "Set one of the two to None"),
    ],
)
def test_impossible_parameters_are_refused_in_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        model(**options).fit(X, y, privileged=P)


def test_threads_wait_for_the_trees_of_xgboost(monkeypatch):
    """A model that was just unpickled is read by several threads at once."""
    xgboost = pytest.importorskip("xgboost")
    fitted = model(engine="xgboost", n_jobs=1, n_estimators=2).fit(X, y)
    expected = fitted.predict(X)
    real = xgboost.Booster.load_model

    def slow(self, document):
        time.sleep(0.1)
        real(self, document)

    monkeypatch.setattr(xgboost.Booster, "load_model", slow)
    restored = pickle.loads(pickle.dumps(fitted))
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(restored.predict, [X, X]):
            np.testing.assert_array_equal(found, expected)
