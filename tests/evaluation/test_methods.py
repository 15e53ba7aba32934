"""The table of methods, and the candidates drawn from its spaces."""

import numpy as np
import pytest
from scipy.stats import loguniform

import lupi
from lupi.base import PerFeature, SharedOver, TargetUnits
from lupi.datasets import make_mediator
from lupi.evaluation import Method
from lupi.evaluation._methods import (
    all_methods,
    choose_methods,
    default_methods,
    find_method,
)
from lupi.evaluation._spaces import draw, resolve
from tests.toys import TaughtClassifier, TaughtRegressor


def test_every_method_has_its_own_name_paper_and_kebab_form():
    methods = all_methods()
    names = [method.name for method in methods]
    assert len(set(names)) == len(names)
    assert len({method.kebab for method in methods}) == len(names)
    assert all(method.paper and method.needs for method in methods)


@pytest.mark.parametrize("method", all_methods(), ids=lambda method: method.name)
def test_every_method_is_a_public_estimator_with_the_parameters_searched(method):
    assert getattr(lupi, method.name) is method.kind
    assert method.summary.endswith(".")
    if method.comparable:
        model = method.build()
        known = model.get_params(deep=True)
        assert set(method.space) <= set(known)
        assert set(method.privileged_space) <= set(known)
        # Nobody gets better values: what is searched without X* is at most scaled.
        for name in set(method.space) & set(method.privileged_space):
            assert isinstance(method.privileged_space[name], SharedOver)


@pytest.mark.parametrize("name", ["SVCDeltaPlus", "LinearSVCDeltaPlus"])
def test_similarity_control_can_fall_back_on_the_machine_it_is_compared_with(name):
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0
    method = find_method(name)
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


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_named_sets(task):
    default = choose_methods("default", task)
    assert default == default_methods(task)
    assert len(default) >= 2
    assert default[0].name.startswith("HedgedDistillation")
    everything = choose_methods("all", task)
    assert {method.name for method in default} <= {each.name for each in everything}
    assert all(method.comparable for method in everything)
    assert {method.task for method in everything} == {task}


def test_methods_by_class_name_kebab_form_class_and_instance():
    assert find_method("SVCDeltaPlus") is find_method("svc-delta-plus")
    by_class = choose_methods([lupi.SVCPlus], "classification")
    assert by_class[0].name == "SVCPlus"
    (regressor,) = choose_methods(TaughtRegressor(), "regression")
    assert regressor.task == "regression"


def test_families_share_their_space_without_privileged_information():
    by_family = {}
    for method in all_methods():
        if method.comparable:
            by_family.setdefault(method.baseline, []).append(method)
    for members in by_family.values():
        assert all(each.space == members[0].space for each in members)


def test_a_latin_hypercube_uses_every_slice_once():
    rng = np.random.default_rng(0)
    drawn = draw({"C": loguniform(1e-2, 1e2), "kind": ["a", "b", "c"]}, 12, rng)
    slices = np.floor(12 * (np.log10([each["C"] for each in drawn]) + 2) / 4)
    np.testing.assert_array_equal(np.sort(slices), np.arange(12))
    kinds = [each["kind"] for each in drawn]
    assert [kinds.count(kind) for kind in "abc"] == [4, 4, 4]


def test_kernel_scales_are_divided_by_the_width_of_their_space():
    star = PerFeature(3.0, privileged=True)
    params = {"gamma": PerFeature(1.0), "privileged_gamma": star, "C": 2.0}
    assert resolve(params, 4, 6) == {"gamma": 0.25, "privileged_gamma": 0.5, "C": 2.0}


def test_values_in_units_of_the_target_grow_with_it():
    space = {"epsilon": TargetUnits([0.1]), "C": TargetUnits(loguniform(1, 10))}
    (drawn,) = draw(space, 1, np.random.default_rng(0))
    one, fifty = resolve(drawn, 1, 1, 1.0), resolve(drawn, 1, 1, 50.0)
    assert one["epsilon"] == 0.1
    assert 1 <= one["C"] <= 10
    assert fifty == {name: pytest.approx(50 * value) for name, value in one.items()}


def test_the_default_set_takes_linear_forms_when_rows_are_many():
    few = choose_methods("default", "classification", 100)
    many = choose_methods("default", "classification", 1000)
    assert [each.name for each in few][2:] == ["SVCDeltaPlus"]
    assert [each.name for each in many][2:] == ["LinearSVCDeltaPlus"]
    assert few[:2] == many[:2]


def test_a_space_of_single_values_is_refused():
    with pytest.raises(TypeError, match=r"write \[3\]"):
        draw({"C": 3}, 2, np.random.default_rng(0))


def test_building_gives_a_fresh_estimator_each_time():
    method = Method("T", "classification", estimator=TaughtClassifier(alpha=3.0))
    first, second = method.build(), method.build()
    assert first is not second
    assert first.alpha == second.alpha == 3.0
    distilled = find_method("generalized-distillation-classifier")
    assert distilled.build().student is not distilled.build().student


FAMILIES: dict[str, list[Method]] = {}
for _method in all_methods():
    if _method.comparable:
        FAMILIES.setdefault(_method.baseline, []).append(_method)


@pytest.mark.parametrize(
    "family", [name for name, members in FAMILIES.items() if len(members) > 1]
)
def test_members_of_a_family_are_the_same_model_without_privileged_information(family):
    data = make_mediator(60, n_features=4, random_state=0)
    decisions = []
    for method in FAMILIES[family]:
        candidates = draw(method.space, 3, np.random.default_rng(0))
        found = []
        for params in candidates:
            model = method.build().set_params(**resolve(params, 4, 0))
            found.append(model.fit(data.data, data.target).decision_function(data.data))
        decisions.append(found)
    for other in decisions[1:]:
        # The solvers stop at a relative duality gap of 1e-6.
        np.testing.assert_allclose(other, decisions[0], atol=5e-3)
