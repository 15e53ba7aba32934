"""The methods of a comparison, and the candidates drawn from their spaces."""

import warnings

import numpy as np
import pytest
from scipy.stats import loguniform

import lupi
from lupi.base import PerFeature, SharedOver, TargetUnits
from lupi.cli import main
from lupi.datasets import make_mediator
from lupi.evaluation import Method, compare
from tests.comparisons import FirstColumn, FirstNumber
from tests.toys import TaughtClassifier, TaughtRegressor

TASKS = ("classification", "regression")


def small(task):
    return make_mediator(40, n_features=4, task=task, random_state=0)


def planned(methods, data=None, **options):
    """Return the methods and the study of a comparison of small tables."""
    data = small("classification") if data is None else data
    options = {"cv": 2, "n_candidates": 1} | options
    return compare(data.data, data.target, data.privileged, methods=methods, **options)


@pytest.fixture(scope="module")
def everything():
    """A comparison of all methods of each task, on two splits."""
    first, second = np.arange(30), np.arange(10, 40)
    splits = [(first, np.arange(30, 40)), (second, np.arange(10))]
    return {task: planned("all", small(task), cv=splits) for task in TASKS}


@pytest.fixture(scope="module")
def methods(everything):
    return [each for task in TASKS for each in everything[task].study.methods]


@pytest.mark.parametrize("task", TASKS)
def test_every_method_of_the_library_runs(everything, task):
    result, data = everything[task], small(task)
    assert result.failures == {}
    assert len(result.methods) == {"classification": 14, "regression": 5}[task]
    assert {method.task for method in result.study.methods} == {task}
    assert np.isfinite(result.folds["score"]).all()
    with warnings.catch_warnings():
        # Untuned, the linear SVM+ finds its trivial solution here, and says so.
        warnings.simplefilter("ignore", UserWarning)
        models = [result.best_estimator(method=name) for name in result.methods]
    assert all(len(model.predict(data.data)) == 40 for model in models)


def test_every_method_is_a_public_estimator_with_the_parameters_searched(methods):
    names = [method.name for method in methods]
    assert len(set(names)) == len({method.kebab for method in methods}) == len(names)
    for method in methods:
        assert getattr(lupi, method.name) is method.kind
        assert method.summary.endswith(".")
        assert method.paper
        assert method.needs == "privileged"
        known = method.build().get_params(deep=True)
        assert set(method.space) <= set(known)
        assert set(method.privileged_space) <= set(known)
        # Nobody gets better values: what is searched without X* is at most scaled.
        for name in set(method.space) & set(method.privileged_space):
            assert isinstance(method.privileged_space[name], SharedOver)


def test_the_command_line_lists_all_methods_and_those_that_need_more(methods, capsys):
    assert main(["methods"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n{method.kebab}" in said for method in methods)
    assert "\nadviceptron\n" in said
    assert "Needs rules" in said


@pytest.mark.parametrize("name", ["SVCDeltaPlus", "LinearSVCDeltaPlus"])
def test_similarity_control_can_fall_back_on_the_machine_it_is_compared_with(
    methods, name
):
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0
    method = next(each for each in methods if each.name == name)
    divisor = method.privileged_space["C"].divisor
    kernel = {"kernel": "linear"} if name == "SVCDeltaPlus" else {}
    without = method.build().set_params(C=0.7, **kernel).fit(X, y)
    # Too stiff a correction to follow anything: f* = 0.
    model = method.build().set_params(C=0.7 / divisor, privileged_reg=1e9, **kernel)
    with pytest.warns(UserWarning, match="trivial solution"):
        model.fit(X, y, privileged=noise)
    np.testing.assert_allclose(
        model.decision_function(X), without.decision_function(X), atol=1e-3
    )


@pytest.mark.slow
def test_the_default_set_takes_linear_forms_when_rows_are_many(everything):
    few = planned("default").methods
    assert few[0].startswith("HedgedDistillation")
    assert set(few) <= set(everything["classification"].methods)
    data = make_mediator(820, n_features=2, random_state=0)
    half = np.arange(410)
    many = planned("default", data, cv=[(half, half + 410), (half + 410, half)])
    assert many.methods == [*few[:2], "LinearSVCDeltaPlus"]
    assert few[2:] == ["SVCDeltaPlus"]
    numbers = planned("default", small("regression")).methods
    assert numbers[0] == "HedgedDistillationRegressor"


def test_methods_by_class_name_kebab_form_class_and_instance():
    result = planned(["SVCDeltaPlus", "svc-delta-plus", lupi.SVCPlus, FirstColumn()])
    assert result.methods == ["SVCDeltaPlus", "SVCPlus", "FirstColumn"]
    # The task completes a name that is short of its ending.
    data = small("regression")
    result = planned(["generalized-distillation", TaughtRegressor()], data)
    assert result.methods == ["GeneralizedDistillationRegressor", "TaughtRegressor"]


def candidates(n_candidates, **spaces):
    """Return the candidates of the arm *with*, which are drawn when they are needed."""
    study = planned(FirstColumn()).study
    study.n_candidates = n_candidates
    method = Method("A", "classification", FirstColumn(), **spaces)
    return study.candidates(method, "with")


def test_a_latin_hypercube_uses_every_slice_once():
    space = {"alpha": loguniform(1e-2, 1e2), "strength": [1.0, 2.0, 3.0]}
    drawn = candidates(12, space=space)
    slices = np.floor(12 * (np.log10([each["alpha"] for each in drawn]) + 2) / 4)
    np.testing.assert_array_equal(np.sort(slices), np.arange(12))
    kinds = [each["strength"] for each in drawn]
    assert [kinds.count(kind) for kind in (1.0, 2.0, 3.0)] == [4, 4, 4]


def test_parameters_of_privileged_space_do_not_follow_the_shared_ones():
    drawn = candidates(
        200,
        space={"alpha": loguniform(0.1, 10)},
        privileged_space={"strength": loguniform(0.1, 10)},
    )
    alphas, strengths = ([np.log(c[k]) for c in drawn] for k in ("alpha", "strength"))
    # Independent ranks of 200 correlate by less than 0.2 in 99.5 % of draws.
    assert abs(np.corrcoef(alphas, strengths)[0, 1]) < 0.2


def test_kernel_scales_are_divided_by_the_width_of_their_space():
    star = PerFeature(3.0, privileged=True)
    method = Method(
        "A",
        "classification",
        FirstColumn(),
        {"alpha": [PerFeature(1.0)]},
        {"strength": [star]},
    )
    folds = planned(method, n_candidates=2).folds
    params = folds[folds["split"] == 0].set_index("arm")["params"]
    # Four columns of X, two of X*, and both for the oracle.
    assert params["without"] == {"alpha": 0.25}
    assert params["with"] == {"alpha": 0.25, "strength": 1.5}
    assert params["oracle"] == {"alpha": 1 / 6}


class Scaled(FirstNumber):
    def __init__(self, epsilon=0.1, C=1.0):
        self.epsilon = epsilon
        self.C = C


def test_values_in_units_of_the_target_grow_with_it():
    space = {"epsilon": TargetUnits([0.1]), "C": TargetUnits(loguniform(1, 10))}
    method = Method("A", "regression", Scaled(), space)
    data = small("regression")
    one = planned(method, data, n_candidates=2).folds["params"]
    data.target = 50 * data.target
    fifty = planned(method, data, n_candidates=2).folds["params"]
    for small_ones, large_ones in zip(one, fifty, strict=True):
        assert large_ones == pytest.approx(
            {name: 50 * value for name, value in small_ones.items()}
        )


def test_a_space_of_single_values_is_refused():
    with pytest.raises(TypeError, match=r"write \[3\]"):
        candidates(2, space={"alpha": 3})


def test_building_gives_a_fresh_estimator_each_time(methods):
    method = Method("T", "classification", estimator=FirstColumn(alpha=3.0))
    first, second = method.build(), method.build()
    assert first is not second
    assert first.alpha == second.alpha == 3.0
    distilled = next(m for m in methods if m.name.startswith("GeneralizedDist"))
    assert distilled.build().student is not distilled.build().student


def test_members_of_a_family_are_the_same_model_without_privileged_information(
    everything,
):
    data = make_mediator(60, n_features=4, random_state=0)
    study = everything["classification"].study
    families = {}
    for method in study.methods:
        families.setdefault(method.baseline, []).append(method)
    families = [members for members in families.values() if len(members) > 1]
    assert families
    study.n_candidates = 3
    for members in families:
        assert all(each.space == members[0].space for each in members)
        decisions = []
        for method in members:
            found = []
            for params in study.candidates(method, "without"):
                plain = {
                    name: value.value / 4 if isinstance(value, PerFeature) else value
                    for name, value in params.items()
                }
                model = method.build().set_params(**plain)
                model.fit(data.data, data.target)
                found.append(model.decision_function(data.data))
            decisions.append(found)
        for other in decisions[1:]:
            # The solvers stop at a relative duality gap of 1e-6.
            np.testing.assert_allclose(other, decisions[0], atol=5e-3)


def test_a_part_of_a_name_and_a_wrong_parameter_get_a_suggestion():
    data = make_mediator(40, random_state=0)
    found = r"Did you mean (hedged-distillation-classifier).*The methods are .*\1,"
    for name in ("hedged", "hedgd", "hegded"):
        with pytest.raises(ValueError, match=found):
            compare(data.data, data.target, data.privileged, methods=name)
    wrong = Method(
        "mine", "classification", estimator=TaughtClassifier(), space={"alhpa": [1.0]}
    )
    with pytest.raises(ValueError, match=r"searches 'alhpa'.*did you mean 'alpha'\?"):
        compare(data.data, data.target, data.privileged, methods=wrong)
    for own in ({"fixed": {"Cee": 1}}, {"space": {"C": [-1]}}):
        mine = Method("mine", "classification", kind=lupi.SVCPlus, **own)
        with pytest.raises(ValueError, match=r"mine: .*('Cee'|'C' parameter)"):
            compare(data.data, data.target, data.privileged, methods=mine)


@pytest.mark.parametrize(
    ("name", "classification", "regression"),
    [
        ("hedged_distillation", "HedgedDistillationClassifier", "…Regressor"),
        ("knowledge transfer", "KnowledgeTransferClassifier", None),
        ("svm+", "SVCPlus", "SVRPlus"),
        ("SVMplus", "SVCPlus", "SVRPlus"),
        ("svmΔ+", "SVCDeltaPlus", None),
        ("linear_svr_plus", None, "LinearSVRPlus"),
        ("svc-pluss", "svc-plus", "svc-plus"),
        ("hedgd-distillation", "hedged-distillation", "hedged-distillation"),
        ("distilation-regresor", None, "distillation-regressor"),
    ],
)
def test_names_are_found_and_suggested_for_the_task(name, classification, regression):
    expected = {"classification": classification, "regression": regression}
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 1)), {"regression": rng.normal(size=30)}
    y["classification"] = np.tile([0, 1], 15)
    for task, method in expected.items():
        if method is None:
            continue
        given = {"methods": name, "task": task, "cv": 2, "n_candidates": 1}
        if method.islower():
            with pytest.raises(
                ValueError, match=rf"Did you mean [\w-]*{method}[\w-]*\?"
            ):
                compare(X, y[task], X, **given)
        else:
            kind = method.replace("…", "HedgedDistillation")
            assert compare(X, y[task], X, **given).methods == [kind]
