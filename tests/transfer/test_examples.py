"""The ACTG 175 examples show what they say they show."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "transfer"


def load(name):
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example():
    return load("plot_distillation_actg175")


# `test_distillation_regressor.py` has a teacher of a later state that helps.
@pytest.mark.slow
def test_the_later_counts_help_when_rows_are_few(example):
    """By several standard errors, and shuffled counts by none."""
    table = example.gains(example.compare(60))
    gain, error = table.loc["distillation"]
    assert gain > 3 * error
    assert gain > 0.01
    assert table.loc["shuffled", "gain"] < gain - 3 * error
    assert abs(table.loc["shuffled", "gain"]) < 0.01


@pytest.mark.slow
def test_a_teacher_alone_with_shuffled_counts_is_much_worse(example):
    table = example.gains(example.compare(60, imitation_weight=1.0))
    gain, error = table.loc["distillation"]
    assert gain > 3 * error
    assert table.loc["shuffled", "gain"] < -gain


@pytest.mark.slow
def test_the_gain_melts_as_rows_get_many(example):
    few, many = (
        example.gains(example.compare(n, n_splits=10, imitation_weight=1.0))
        for n in (200, 800)
    )
    assert few.loc["distillation", "gain"] > 0.005
    assert abs(many.loc["distillation", "gain"]) < few.loc["distillation", "gain"]
    assert many.loc["oracle", "gain"] > 0.04


@pytest.mark.slow
def test_regressed_counts_help_and_shuffled_ones_do_not():
    table = load("plot_knowledge_transfer_actg175").compare(n_splits=6)
    mean = table.groupby(["trained on", "frames"])[["gain", "shuffled", "lost"]].mean()
    for how in ("in-sample", "out of fold"):
        both = mean.loc[how, "X* itself"]
        assert both["gain"] > both["shuffled"] + 0.05
    assert mean.loc["in-sample", "X* itself"]["gain"] > 0.01
    lost = mean.loc["in-sample"]["lost"]
    assert lost["1"] > lost["2"] > lost["5"] > lost["10"] > lost["all"] == 0
