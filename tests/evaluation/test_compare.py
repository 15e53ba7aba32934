"""`compare` end to end, with small estimators whose answers can be had another way."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi.datasets import (
    load_breast_cancer_privileged,
    make_mediator,
    make_useless,
)
from lupi.evaluation import Comparison, Method, compare
from lupi.report import render_html
from tests.comparisons import FirstColumn
from tests.toys import TaughtClassifier

pytestmark = pytest.mark.usefixtures("undrawn")

TAUGHT = Method(
    "Taught",
    "classification",
    estimator=TaughtClassifier(),
    space={"alpha": [0.1, 1.0, 10.0, 100.0]},
)


@pytest.fixture(scope="module")
def data():
    return make_mediator(120, random_state=0)


def quick(data, **options):
    options = {
        "methods": TAUGHT,
        "cv": 2,
        "n_candidates": 1,
        "inner_cv": 2,
        "scoring": "accuracy",
    } | options
    return compare(data.data, data.target, data.privileged, **options)


def scores(result, arm, method=None):
    folds = result.folds[result.folds["arm"] == arm]
    if method is not None:
        folds = folds[folds["method"] == method]
    return folds.sort_values("split")["score"].to_numpy()


def test_arms_are_what_a_plain_reading_gives(data):
    splits = list(StratifiedKFold(2).split(data.data, data.target))
    result = quick(
        data, cv=splits, n_candidates=4, inner_cv=2, random_state=5, scoring="roc_auc"
    )
    alphas = [0.1, 1.0, 10.0, 100.0]
    scorer = get_scorer("roc_auc")
    for arm in ("without", "with", "oracle"):
        expected = []
        for split, (train, test) in enumerate(splits):
            inner = StratifiedKFold(2, shuffle=True, random_state=5 + split)
            folds = list(inner.split(train, data.target[train]))
            means = [
                np.mean(
                    [
                        _fit_and_score(data, arm, alpha, train[one], train[two], scorer)
                        for one, two in folds
                    ]
                )
                for alpha in alphas
            ]
            best = alphas[int(np.argmax(means))]
            expected.append(_fit_and_score(data, arm, best, train, test, scorer))
        np.testing.assert_allclose(scores(result, arm), expected)


def _fit_and_score(data, arm, alpha, train, test, scorer):
    X, P, y = data.data, data.privileged, data.target
    if arm == "oracle":
        X = np.hstack([X, P])
    scaler = StandardScaler().fit(X[train])
    privileged = None
    if arm == "with":
        privileged = StandardScaler().fit_transform(P[train])
    model = TaughtClassifier(alpha=alpha)
    model.fit(scaler.transform(X[train]), y[train], privileged=privileged)
    return scorer(model, scaler.transform(X[test]), y[test])


class Recorder(TaughtClassifier):
    """Keeps what it is given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        Recorder.seen.append((X, privileged))
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


def test_shuffled_rows_are_the_training_rows_in_another_order(data):
    Recorder.seen = []
    quick(data, methods=Recorder(), n_candidates=1)
    # Per split: without and oracle, then with, shuffled and self.
    n_splits = 4
    assert len(Recorder.seen) == 5 * n_splits
    for split in range(n_splits):
        arms = Recorder.seen[5 * split : 5 * split + 5]
        without, oracle, given, shuffled, own = arms
        assert without[1] is None
        assert oracle[1] is None
        assert oracle[0].shape[1] == 22
        np.testing.assert_array_equal(given[0], shuffled[0])
        assert not np.array_equal(given[1], shuffled[1])
        np.testing.assert_allclose(
            np.sort(given[1], axis=0), np.sort(shuffled[1], axis=0)
        )
        np.testing.assert_array_equal(own[0], given[0])
        np.testing.assert_array_equal(own[1], given[0])


def test_shuffling_keeps_rows_without_privileged_values_where_they_are(data):
    privileged = data.privileged.copy()
    privileged[::3] = np.nan
    Recorder.seen = []
    compare(
        data.data, data.target, privileged, methods=Recorder(), cv=2, n_candidates=1
    )
    for X, P in Recorder.seen:
        if P is not None:
            assert np.isnan(P).all(axis=1).sum() == pytest.approx(len(X) / 3, abs=6)
    given, shuffled, own = (Recorder.seen[k][1] for k in (2, 3, 4))
    np.testing.assert_array_equal(np.isnan(given), np.isnan(shuffled))
    missing = np.isnan(given).all(axis=1)
    np.testing.assert_array_equal(np.isnan(own).all(axis=1), missing)
    np.testing.assert_array_equal(own[~missing], Recorder.seen[4][0][~missing])


def test_every_arm_has_the_same_number_of_trials_and_the_same_shared_values(data):
    method = Method(
        "Taught",
        "classification",
        estimator=TaughtClassifier(),
        space={"alpha": loguniform(0.1, 10)},
        privileged_space={"multi_class": ["ovo", "ovr"]},
    )
    study = quick(data, methods=method).study
    study.n_candidates = 5
    candidates = {arm: study.candidates(method, arm) for arm in ("without", "with")}
    assert len(candidates["without"]) == len(candidates["with"]) == 5
    for plain, more in zip(candidates["without"], candidates["with"], strict=True):
        assert plain["alpha"] == more["alpha"]
        assert "multi_class" not in plain
    for arm in ("shuffled", "self"):
        assert study.candidates(method, "with") == study.candidates(method, arm)
    assert study.candidates(method, "without") == study.candidates(method, "oracle")


class Counting(TaughtClassifier):
    fits: list = []  # noqa: RUF012

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        Counting.fits.append(self.alpha)
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


def test_equal_candidates_are_tried_once(data):
    Counting.fits = []
    quick(data, methods=Counting(), n_candidates=12)
    # Five arms on four splits, no search.
    assert len(Counting.fits) == 20
    Counting.fits = []
    space = {"alpha": [1.0, 10.0]}
    method = Method("Two", "classification", estimator=Counting(), space=space)
    quick(data, methods=method, n_candidates=12)
    # Two candidates on two inner folds, and the chosen one.
    assert len(Counting.fits) == 20 * (2 * 2 + 1)


def test_the_same_call_gives_the_same_result(data):
    first, again = quick(data), quick(data)
    drop = ["seconds"]
    pd.testing.assert_frame_equal(
        first.folds.drop(columns=drop), again.folds.drop(columns=drop)
    )
    assert not np.array_equal(
        scores(first, "with"), scores(quick(data, random_state=1), "with")
    )


# The rule is tested on given scores in `test_verdict.py`.
@pytest.mark.slow
def test_a_copy_of_the_features_does_not_help():
    data = load_breast_cancer_privileged()
    result = compare(
        data.data,
        data.target,
        data.data,
        methods="generalized-distillation-classifier",
        n_candidates=1,
        train_size=30,
        cv=10,
    )
    # Distillation gains, whatever the teacher sees; X* is not the reason.
    assert result.summary["p_without"][0] < 0.05
    assert result.summary["p_shuffled"][0] < 0.05
    assert result.verdict.kind == "no evidence"


def test_configured_frames_change_nothing(data):
    expected = quick(data)
    with sklearn.config_context(transform_output="pandas"):
        framed = quick(data)
    assert framed.failures == {}
    for arm in ("with", "self"):
        np.testing.assert_allclose(scores(framed, arm), scores(expected, arm))


def test_routing_switched_on_changes_nothing(data):
    expected = quick(data)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = quick(data)
    np.testing.assert_array_equal(scores(routed, "with"), scores(expected, "with"))


def test_small_training_sets(data):
    result = quick(data, train_size=20, cv=8, scoring=None)
    splits = result.settings["splits"]
    assert splits["kind"] == "small training sets"
    assert splits["n_train"] == 20
    assert splits["n_test"] == 100
    groups = np.array(result.folds["group_scores"].tolist())
    assert groups.shape == (5 * 8, 10)
    # The mean of the pseudo-values is the score, up to the bias of the jackknife.
    np.testing.assert_allclose(groups.mean(axis=1), result.folds["score"], atol=0.02)
    assert result.verdict.kind in {"helps", "no evidence", "hurts"}


def test_groups_never_meet_inside_or_outside(data):
    groups = np.arange(120) // 6
    result = quick(data, groups=groups)
    assert result.settings["splits"]["grouped"]
    for train, test, _ in result.study.splits:
        assert not np.intersect1d(groups[train], groups[test]).size


def test_weight_two_is_the_row_twice_in_the_scores(data):
    splits = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    weight = np.ones(120)
    weight[:60:2] = 2
    weighted = quick(
        data, cv=splits, n_candidates=1, sample_weight=weight, scoring="accuracy"
    )
    model = TaughtClassifier()
    train, test = splits[1]
    scaler = StandardScaler().fit(data.data[train])
    model.fit(scaler.transform(data.data[train]), data.target[train])
    twice = np.concatenate([test, test[::2]])
    expected = model.score(scaler.transform(data.data[twice]), data.target[twice])
    assert scores(weighted, "without")[1] == pytest.approx(expected)


def test_the_baseline_from_outside_is_boosting_on_the_same_splits(data, tmp_path):
    result = quick(data)
    found = result.outside_baseline()
    expected = []
    for train, test, _ in result.study.splits:
        model = HistGradientBoostingClassifier(random_state=0)
        scaler = StandardScaler().fit(data.data[train])
        model.fit(scaler.transform(data.data[train]), data.target[train])
        expected.append(
            model.score(scaler.transform(data.data[test]), data.target[test])
        )
    assert found["score"] == pytest.approx(np.mean(expected))
    assert found["scores"] == pytest.approx(expected)
    over = np.mean(expected) - result.summary["without"][0]
    assert found["over_without"] == pytest.approx(over)
    method = result.verdict.method
    assert found["over_without_of"] == method
    stored = Comparison.from_json(result.to_json(tmp_path / "results.json")).settings
    best = stored["outside"]["difference_to"]
    assert best == {"method": method, "arm": result.choice[1]}
    than = result.table.set_index(["method", "arm"]).at[tuple(best.values()), "score"]
    assert found["difference"] == pytest.approx(found["score"] - than)
    assert result.settings["outside"] == found
    # Beside another score, the accuracy is the same.
    other = quick(data, scoring="roc_auc").outside_baseline()
    names = {"score": "accuracy", "low": "accuracy_low", "high": "accuracy_high"}
    for name, accuracy in names.items():
        assert other[accuracy] == pytest.approx(found[name])


def test_best_estimator_is_the_model_the_folds_were_scored_with(data):
    result = quick(data, n_candidates=2)
    model = result.best_estimator(method="Taught")
    everything = np.arange(120)
    inner = StratifiedKFold(2, shuffle=True, random_state=0)
    candidates = [c["alpha"] for c in result.study.candidates(TAUGHT, "with")]
    scorer = get_scorer("accuracy")
    means = [
        np.mean(
            [
                _fit_and_score(data, "with", alpha, one, two, scorer)
                for one, two in inner.split(everything, data.target)
            ]
        )
        for alpha in candidates
    ]
    alpha = candidates[int(np.argmax(means))]
    plain = TaughtClassifier(alpha=alpha).fit(
        StandardScaler().fit_transform(data.data),
        data.target,
        privileged=StandardScaler().fit_transform(data.privileged),
    )
    np.testing.assert_allclose(
        model.decision_function(data.data),
        plain.decision_function(StandardScaler().fit_transform(data.data)),
    )
    unfitted = result.best_estimator(refit=False, method="Taught")
    assert unfitted.named_steps["model"].estimator.alpha == alpha
    assert not hasattr(unfitted.named_steps["model"], "estimator_")


def test_without_evidence_the_best_model_ignores_privileged_information():
    data = make_useless(120, random_state=0)
    result = quick(data)
    assert result.verdict.kind != "helps"
    model = result.best_estimator()
    assert isinstance(model.named_steps["model"], TaughtClassifier)
    with pytest.raises(ValueError, match="was not compared"):
        result.best_estimator(method="SVCPlus")


class Early(FirstColumn):
    """Needs the true X* to rank well with fewer than 50 rows, and nothing with more."""

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        self.good_ = len(y) >= 50
        if privileged is not None and privileged.shape[1] == 1:
            close = np.corrcoef(privileged[:, 0], X[:, 0])[0, 1] > 0.9
            self.good_ = self.good_ or bool(close)
        return super().fit(X, y, privileged=privileged)

    def decision_function(self, X):
        return X[:, 0] if self.good_ else X[:, 1]


def test_the_model_is_chosen_at_the_size_at_which_it_is_trained(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    few = {"methods": Early(), "train_size": 20, "cv": 8, "progress": False}
    result = compare(X, y, X[:, :1], **few)
    assert result.verdict.kind == "helps"
    assert result.choice == ("Early", "with")
    assert "at_full_size()" in " ".join(result.next_steps())
    model = result.best_estimator()
    # With all 200 outcomes X* is not needed, and the model is trained without it.
    assert isinstance(model.named_steps["model"], Early)
    assert result.choice == ("Early", "without")
    full = result.at_full_size()
    assert full["verdict"]["kind"] == "no evidence"
    assert full["splits"]["n_train"] == 160
    # It is the comparison that a user would make of all rows.
    plain = compare(X, y, X[:, :1], methods=Early(), progress=False)
    own = ["arm", "score", "low", "high", "gain", "p_gain", "n_splits"]
    table = pd.DataFrame(full["table"])
    pd.testing.assert_frame_equal(table[own], plain.table[own])
    assert "at_full_size()" not in " ".join(result.next_steps())
    page = render_html(result).replace("<wbr>", "")
    assert page.index(">160 training rows<") > page.index(">20 training rows<")
    assert "Early without X*, trained on all 200 outcomes" in page
    again = Comparison.from_json(result.to_json(tmp_path / "results.json"))
    assert again.choice == ("Early", "without")
    # Splits that train on most rows are the size of the final model.
    large = compare(X, y, X[:, :1], methods=Early(), cv=2, progress=False)
    assert large.at_full_size() is None


class Stubborn(TaughtClassifier):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        if privileged is not None:
            raise RuntimeError("It refuses to look at X*.")
        return super().fit(X, y, sample_weight=sample_weight)


def test_a_method_that_fails_is_reported_and_the_others_go_on(data):
    result = quick(data, methods=[Stubborn(), TAUGHT])
    assert result.failures == {"Stubborn": "RuntimeError: It refuses to look at X*."}
    assert result.verdict.methods["Stubborn"] == "failed"
    assert result.verdict.methods["Taught"] != "failed"
    small = quick(data, methods=[Stubborn(), TAUGHT], train_size=30, cv=3)
    assert small.verdict.methods["Stubborn"] == "failed"
    alone = quick(data, methods=[Stubborn()], n_candidates=1)
    with pytest.raises(ValueError, match="no method could be fitted"):
        alone.best_estimator()


class Grumbling(TaughtClassifier):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        import warnings

        warnings.warn(f"Stopped after {len(X)} steps.", UserWarning, stacklevel=2)
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


def test_warnings_are_gathered_by_kind(data):
    result = quick(data, methods=[Grumbling()], n_candidates=1)
    (warning,) = result.warnings
    assert warning["message"] == "UserWarning: Stopped after # steps."
    assert warning["count"] == 5 * 4


def test_two_of_a_kind_are_told_apart(data):
    result = quick(data, methods=[TaughtClassifier(), TaughtClassifier(alpha=50.0)])
    assert result.methods == ["TaughtClassifier", "TaughtClassifier (2)"]
    first, second = (scores(result, "with", name) for name in result.methods)
    assert not np.array_equal(first, second)


def test_methods_of_one_family_share_what_they_are_without(data):
    twins = [
        Method("One", "classification", estimator=TaughtClassifier(), family="ridge"),
        Method("Two", "classification", estimator=TaughtClassifier(), family="ridge"),
    ]
    result = quick(data, methods=twins)
    assert len(result.study.pieces()) == 4 * 3
    np.testing.assert_array_equal(
        scores(result, "without", "One"), scores(result, "without", "Two")
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(120)}, "constant"),
        ({"y": np.zeros(119)}, "119 rows and X has 120"),
        ({"privileged": np.full((120, 2), np.nan)}, "no value in any row"),
        ({"privileged": np.zeros((60, 2))}, "privileged has 60 rows"),
        ({"X": np.zeros(120)}, "1 dimension"),
        ({"methods": "svc-pluss"}, "Did you mean svc-plus"),
        ({"methods": ["SVRPlus", "SVCPlus"]}, "is for regression"),
        ({"methods": "adviceptron"}, "needs rules"),
        ({"methods": []}, "empty"),
        ({"methods": [3]}, "names, estimators and Method"),
        ({"sample_weight": np.ones(3)}, "sample_weight has 3"),
        ({"groups": np.ones(3)}, "groups has 3"),
        (
            {"cv": [(np.arange(50), np.arange(50, 120))]},
            "no standard error",
        ),
        ({"y": np.r_[np.inf, np.arange(119.0)]}, "infinity"),
        (
            {"y": np.array(["b", "a"] * 59 + ["rare"] * 2)},
            "Class rare has 2 rows, fewer",
        ),
        ({"scoring": "acc"}, "scoring: .* did you mean accuracy"),
        ({"scoring": "mse"}, "did you mean neg_mean_squared_error"),
        ({"scoring": "f1_score"}, "did you mean f1"),
        ({"scoring": 3}, "neither the name of a score"),
    ],
)
def test_bad_input_is_refused_in_words(data, change, message):
    options = {
        "X": data.data,
        "y": data.target,
        "privileged": data.privileged,
        "methods": TAUGHT,
    }
    with pytest.raises((ValueError, TypeError), match=message):
        compare(**options | change)


def test_a_pipeline_can_be_a_method(data):
    pipeline = make_pipeline(SimpleImputer(), TaughtClassifier())
    result = quick(data, methods=[pipeline, TaughtClassifier()], n_candidates=1)
    assert result.failures == {}
    for arm in ("without", "with", "shuffled"):
        np.testing.assert_allclose(
            scores(result, arm, "Pipeline"), scores(result, arm, "TaughtClassifier")
        )
