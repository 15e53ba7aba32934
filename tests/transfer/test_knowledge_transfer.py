import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import check_estimator

from lupi.svm import SVCDeltaPlus, SVCPlus
from lupi.testing import check_privileged_estimator
from lupi.transfer import KnowledgeTransferClassifier
from tests.contract import check_own, check_scikit_learn_core
from tests.marks import slow

PRECISE = LogisticRegression(tol=1e-10, max_iter=10_000)


def draw(n=60, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    P = X[:, :2] + 0.3 * rng.normal(size=(n, 2))
    y = np.digitize(P.sum(axis=1), [0.0] if n_classes == 2 else [-0.7, 0.7])
    return X, np.array(["no", "yes", "zeal"])[y], P


@pytest.mark.parametrize("cv", [None, KFold(4)])
def test_the_four_steps_read_plainly(cv):
    X, y, P = draw()
    model = KnowledgeTransferClassifier(
        PRECISE, LinearRegression(), cv=cv, privileged_gamma=0.5, privileged_C=2.0
    ).fit(X, y, privileged=P)

    machine = SVC(C=2.0, gamma=0.5, tol=1e-7).fit(P, y)
    frames = rbf_kernel(P, machine.support_vectors_, gamma=0.5)
    learned = LinearRegression().fit(X, frames).predict(X)
    if cv is not None:
        for train, test in cv.split(X):
            fold = LinearRegression().fit(X[train], frames[train])
            learned[test] = fold.predict(X[test])
    final = clone(PRECISE).fit(learned, y)

    X_new = draw(seed=1)[0]
    phi = LinearRegression().fit(X, frames).predict(X_new)
    np.testing.assert_allclose(
        model.decision_function(X_new), final.decision_function(phi), atol=1e-6
    )
    np.testing.assert_allclose(
        np.sort(model.regressed_frames(X_new), axis=1), np.sort(phi, axis=1), atol=1e-9
    )
    assert model.n_frames_ == len(machine.support_)
    assert model.frame_distance_ == 0


def test_privileged_features_as_frames():
    X, y, P = draw()
    model = KnowledgeTransferClassifier(
        PRECISE, LinearRegression(), frames="features", cv=None
    ).fit(X, y, privileged=P)
    phi = LinearRegression().fit(X, P).predict(X)
    np.testing.assert_allclose(model.regressed_frames(X), phi, atol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(X),
        clone(PRECISE).fit(phi, y).decision_function(phi),
        atol=1e-6,
    )
    assert not hasattr(model, "machine_")


def test_passthrough_keeps_x_beside_the_frames():
    X, y, P = draw()
    model = KnowledgeTransferClassifier(
        PRECISE, LinearRegression(), frames="features", passthrough=True, cv=None
    ).fit(X, y, privileged=P)
    both = np.hstack([model.regressed_frames(X), X])
    np.testing.assert_allclose(
        model.predict_proba(X), model.final_estimator_.predict_proba(both), atol=1e-12
    )
    assert model.final_estimator_.n_features_in_ == 6


def test_fewer_frames_lose_more_of_the_rule():
    X, y, P = draw()
    lost = []
    for n_frames in (2, 5, 10):
        model = KnowledgeTransferClassifier(SVC(), n_frames=n_frames)
        model.fit(X, y, privileged=P)
        assert model.frame_vectors_.shape == (n_frames, 2)
        assert model.regressed_frames(X).shape == (60, n_frames)
        lost.append(model.frame_distance_)
    assert 1 > lost[0] > lost[1] > lost[2] > 0
    everything = KnowledgeTransferClassifier(SVC(), n_frames=1000)
    assert everything.fit(X, y, privileged=P).frame_distance_ == 0


def distance(K, rules, chosen):
    """RKHS distance of the rules to the span of the chosen vectors, relative."""
    inside = np.linalg.lstsq(K[np.ix_(chosen, chosen)], K[chosen] @ rules, rcond=None)
    rest = rules.copy()
    rest[chosen] -= inside[0]
    return np.sqrt(np.sum(rest * (K @ rest)) / np.sum(rules * (K @ rules)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_frames_are_chosen_greedily_and_their_distance_is_that_of_least_squares(
    n_classes,
):
    X, y, P = draw(40, n_classes)
    P = np.vstack([P, P[:10]])  # equal vectors count once
    X, y = np.vstack([X, X[:10]]), np.r_[y, y[:10]]
    model = KnowledgeTransferClassifier(SVC(), n_frames=5, privileged_gamma=2.0)
    model.fit(X, y, privileged=P)
    machine = model.machine_.set_params(decision_function_shape="ovo")
    vectors = np.unique(machine.support_vectors_, axis=0)
    K = rbf_kernel(vectors, gamma=2.0)
    values = machine.decision_function(vectors).reshape(len(vectors), -1)
    rules = np.linalg.solve(K, values - machine.intercept_)
    chosen = [
        int(np.flatnonzero((vectors == vector).all(axis=1))[0])
        for vector in model.frame_vectors_
    ]
    assert len(set(chosen)) == 5
    found = distance(K, rules, chosen)
    assert model.frame_distance_ == pytest.approx(found, abs=1e-5)
    for step in range(5):
        reached = {
            k: distance(K, rules, [*chosen[:step], k])
            for k in set(range(len(vectors))) - set(chosen[:step])
        }
        assert reached[chosen[step]] <= min(reached.values()) + 1e-5


def test_the_final_classifier_sees_out_of_fold_frames():
    """In-sample frames of a forest look perfect, and mislead the last stage."""
    rng = np.random.default_rng(0)
    X, y, P = rng.normal(size=(120, 4)), rng.integers(0, 2, 120), np.empty((120, 1))
    P[:, 0] = y + 0.1 * rng.normal(size=120)  # X knows nothing of either
    forest = RandomForestRegressor(30, random_state=0)
    coefficients = {}
    for cv in (None, 5):
        model = KnowledgeTransferClassifier(
            LogisticRegression(), forest, frames="features", cv=cv
        ).fit(X, y, privileged=P)
        coefficients[cv] = model.final_estimator_.coef_[0, 0]
    assert coefficients[None] > 3
    assert coefficients[5] < 1


def test_without_privileged_data_it_is_the_last_stage_on_x():
    X, y, _ = draw()
    model = KnowledgeTransferClassifier(PRECISE).fit(X, y)
    np.testing.assert_array_equal(
        model.decision_function(X), clone(PRECISE).fit(X, y).decision_function(X)
    )
    with pytest.raises(ValueError, match="has no frames"):
        model.regressed_frames(X)


@pytest.mark.parametrize(
    "P",
    [
        np.ones((60, 2)),
        np.zeros((60, 2)),
        sp.csr_array((60, 2)),
        np.tile([[3.0], [np.nan]], (30, 2)),
    ],
    ids=["ones", "zeros", "empty", "with missing rows"],
)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_frames": 1},
        {"n_frames": 1, "privileged_kernel": "linear"},
        {"frames": "features"},
        {"passthrough": True},
    ],
    ids=str,
)
def test_privileged_features_that_say_nothing_leave_the_last_stage_on_x(P, parameters):
    X = draw()[0]
    y = np.array(["no", "no", "yes", "yes"] * 15)
    model = KnowledgeTransferClassifier(PRECISE, **parameters)
    weight = np.random.default_rng(3).uniform(1, 2, 60)
    # Fitted once with something to say, so that nothing of it may be left behind.
    model.fit(X, y, privileged=X[:, :2])
    with pytest.warns(UserWarning, match="cannot use the privileged features"):
        model.fit(X, y, privileged=P, sample_weight=weight)
    alone = clone(PRECISE).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        model.decision_function(X), alone.decision_function(X), atol=1e-8
    )
    assert model.n_privileged_features_in_ == P.shape[1]
    for name in ("machine_", "frame_vectors_", "regressor_", "n_frames_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("n_frames", [None, 1])
def test_terms_that_cancel_make_no_rule(n_frames):
    X = draw()[0]
    y = np.tile(["no", "yes", "yes", "no"], 15)
    # A linear kernel cannot tell the middle from both ends, and no kernel can tell
    # the classes where each value has as many rows of the one as of the other.
    for kernel, pattern in (("linear", [0, -1, 1, 0]), ("rbf", [1, 1, 2, 2])):
        P = np.tile(np.array(pattern, dtype=float), 15)[:, None]
        model = KnowledgeTransferClassifier(
            PRECISE, n_frames=n_frames, privileged_kernel=kernel
        )
        with pytest.warns(UserWarning, match="an SVM on them is constant"):
            model.fit(X, y, privileged=P)
        assert model.predict(X).shape == (60,)


def test_rows_without_privileged_data_are_regressed_by_the_others():
    X, y, P = draw()
    P[::4] = np.nan
    known = ~np.isnan(P[:, 0])
    cv = KFold(3)
    model = KnowledgeTransferClassifier(
        PRECISE, LinearRegression(), frames="features", cv=cv
    ).fit(X, y, privileged=P)
    learned = LinearRegression().fit(X[known], P[known]).predict(X)
    rows = np.flatnonzero(known)
    for train, test in cv.split(rows):
        fold = LinearRegression().fit(X[rows[train]], P[rows[train]])
        learned[rows[test]] = fold.predict(X[rows[test]])
    final = clone(PRECISE).fit(learned, y)
    np.testing.assert_allclose(model.final_estimator_.coef_, final.coef_, atol=1e-6)


def test_the_default_last_stage_is_given_the_privileged_rows():
    X, y, P = draw()
    P[::4] = np.nan
    model = KnowledgeTransferClassifier(
        regressor=LinearRegression(), frames="features", cv=None
    ).fit(X, y, privileged=P)
    known = ~np.isnan(P[:, 0])
    phi = LinearRegression().fit(X[known], P[known]).predict(X)
    final = SVCDeltaPlus().fit(phi, y, privileged=P)
    np.testing.assert_allclose(
        model.decision_function(X), final.decision_function(phi), atol=1e-5
    )
    assert model.objective_ == pytest.approx(final.objective_, rel=1e-6)
    assert model.duality_gap_ <= 1e-5 * abs(model.objective_)
    assert model.converged_ is True or model.converged_ == np.True_


def test_attributes_of_the_last_stage_are_there_when_it_has_them():
    X, y, P = draw(30)
    scaled = make_pipeline(StandardScaler(), SVCPlus())
    model = KnowledgeTransferClassifier(scaled).fit(X, y, privileged=P)
    assert model.objective_ == model.final_estimator_[-1].objective_
    model.set_params(final_estimator=SVC()).fit(X, y, privileged=P)
    assert not hasattr(model, "objective_")
    assert not hasattr(model, "duality_gap_")


@pytest.mark.parametrize("frames", ["support_vectors", "features"])
@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_repeated_dropped_and_reordered(frames, cv, n_classes):
    X, y, P = draw(40, n_classes)
    rng = np.random.default_rng(2)
    times = rng.integers(0, 4, size=len(y))
    P[::7] = np.nan
    n_frames = 4 if frames == "support_vectors" else None
    model = KnowledgeTransferClassifier(
        PRECISE, frames=frames, n_frames=n_frames, cv=cv
    )
    weighted = clone(model).fit(X, y, privileged=P, sample_weight=times)
    rows = rng.permutation(np.arange(len(y)).repeat(times))
    repeated = clone(model).fit(X[rows], y[rows], privileged=P[rows])
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5
    )


@pytest.mark.parametrize(
    "regressor",
    [
        SVR(),
        make_pipeline(StandardScaler(), SVR()),
        KernelRidge(kernel="rbf"),
        RandomForestRegressor(10),
    ],
    ids=["SVR", "pipeline", "KernelRidge", "forest"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_regressor(regressor, n_classes):
    X, y, P = draw(60, n_classes)
    model = KnowledgeTransferClassifier(
        LogisticRegression(), regressor, n_frames=6, random_state=0
    ).fit(X, y, privileged=P)
    assert model.score(X, y) > 0.7
    assert model.predict_proba(X).shape == (60, n_classes)
    again = clone(model).fit(X, y, privileged=P)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_kernel_ridge_without_intercept_is_not_pulled_to_zero():
    """The frames are centred for the regression: a far x gets their mean."""
    X, y, P = draw()
    model = KnowledgeTransferClassifier(
        SVC(), KernelRidge(kernel="rbf"), frames="features"
    ).fit(X, y, privileged=P + 100)
    far = model.regressed_frames(np.full((1, 4), 1e3))
    np.testing.assert_allclose(far[0], (P + 100).mean(axis=0), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive semi-definite")
@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid", rbf_kernel])
def test_kernels_of_the_privileged_space(kernel):
    X, y, P = draw()
    final = make_pipeline(StandardScaler(), LogisticRegression())
    model = KnowledgeTransferClassifier(final, privileged_kernel=kernel, n_frames=4)
    model.fit(X, y, privileged=P)
    assert model.score(X, y) > 0.7
    assert 0 <= model.frame_distance_ <= 1
    if kernel == "linear":  # two vectors of the plane express every rule in it
        assert model.n_frames_ == 2
        assert model.frame_distance_ < 1e-6


def test_sparse_equals_dense():
    X, y, P = draw()
    X[X < 0] = 0
    dense = KnowledgeTransferClassifier(PRECISE, Ridge(tol=1e-10), passthrough=True)
    sparse = clone(dense).fit(sp.csr_array(X), y, privileged=sp.csr_matrix(P))
    dense.fit(X, y, privileged=P)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-4
    )


def test_class_weight_reaches_both_classifiers():
    X, y, P = draw()
    model = KnowledgeTransferClassifier(PRECISE, class_weight={"yes": 3.0})
    model.fit(X, y, privileged=P)
    machine = SVC(gamma=model.machine_.gamma, tol=1e-7, class_weight={"yes": 3.0})
    np.testing.assert_allclose(
        model.machine_.decision_function(P),
        machine.fit(P, y).decision_function(P),
        atol=1e-5,
    )
    plain = KnowledgeTransferClassifier(PRECISE).fit(X, y, privileged=P)
    more = np.mean(model.predict(X) == "yes")
    assert more > np.mean(plain.predict(X) == "yes")


@pytest.mark.parametrize("routing", [False, True])
def test_grid_search(routing):
    X, y, P = draw()
    grid = {
        "n_frames": [2, 4],
        "final_estimator": [SVC(), make_pipeline(StandardScaler(), SVC())],
    }
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(KnowledgeTransferClassifier(), grid, cv=3)
        search.fit(X, y, privileged=P)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"frames": "features", "n_frames": 3}, "has none"),
        ({"final_estimator": Ridge()}, "is a regressor"),
    ],
)
def test_refusals_are_sentences(parameters, words):
    X, y, P = draw(30)
    model = KnowledgeTransferClassifier(**({"final_estimator": SVC()} | parameters))
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, privileged=P)


def test_privileged_rows_of_one_class_cannot_train_the_machine():
    X, y, P = draw(30)
    P[y == "yes"] = np.nan
    with pytest.raises(ValueError, match="belong to the class"):
        KnowledgeTransferClassifier(SVC()).fit(X, y, privileged=P)
    model = KnowledgeTransferClassifier(SVC(), frames="features")
    assert model.fit(X, y, privileged=P).score(X, y) > 0.5


@pytest.mark.filterwarnings("ignore:.*trivial solution")
def test_core():
    final = LogisticRegression(solver="newton-cholesky")
    model = KnowledgeTransferClassifier(final, n_frames=4, cv=2)
    check_scikit_learn_core(model)
    check_own(model)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*trivial solution")
def test_scikit_learn_contract():
    check_estimator(KnowledgeTransferClassifier(), on_skip=None)


@pytest.mark.filterwarnings("ignore:.*trivial solution")
@pytest.mark.parametrize(
    "estimator",
    slow(
        KnowledgeTransferClassifier(n_frames=4),
        KnowledgeTransferClassifier(
            LogisticRegression(solver="newton-cholesky"),
            frames="features",
            passthrough=True,
        ),
    ),
)
def test_privileged_contract(estimator):
    check_privileged_estimator(estimator)
