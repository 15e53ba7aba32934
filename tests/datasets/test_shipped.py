"""The shipped tables against what is known of them from their publications."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from lupi.datasets import (
    load_actg175,
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_german_credit,
    load_pima,
)

# As the publication numbers them, from 1.
PIMA_ATTRIBUTES = [
    "pregnancies",
    "glucose",
    "blood_pressure",
    "skin_thickness",
    "insulin",
    "bmi",
    "pedigree",
    "age",
]


def test_pima_has_the_published_size_and_classes():
    pima = load_pima()
    assert pima.data.shape == (768, 6)
    assert np.bincount(pima.target).tolist() == [500, 268]
    assert not np.isnan(pima.data).any()


@pytest.mark.parametrize("roles", ["lab", "seed", "seed-swapped"])
def test_pima_roles_share_out_all_eight_columns(roles):
    pima = load_pima(roles=roles)
    names = pima.feature_names + pima.privileged_feature_names
    assert sorted(names) == sorted(PIMA_ATTRIBUTES)


def test_pima_seed_roles_are_the_attribute_numbers_of_the_paper():
    columns = PIMA_ATTRIBUTES
    seed, swapped = load_pima(roles="seed"), load_pima(roles="seed-swapped")
    assert seed.feature_names == [columns[i - 1] for i in (1, 4, 5, 7)]
    assert seed.privileged_feature_names == [columns[i - 1] for i in (2, 3, 6, 8)]
    assert swapped.feature_names == seed.privileged_feature_names
    assert swapped.privileged_feature_names == seed.feature_names


def test_pima_impossible_zeros_become_missing():
    # The counts of impossible zeros, well known from the literature on this set.
    table = load_pima(zeros_as_missing=True, as_frame=True)
    missing = pd.concat([table.data, table.privileged], axis=1).isna().sum()
    assert missing["insulin"] == 374
    assert missing["skin_thickness"] == 227
    assert missing["blood_pressure"] == 35
    assert missing["bmi"] == 11
    assert missing["glucose"] == 5
    assert missing["pregnancies"] == missing["age"] == missing["pedigree"] == 0


def test_pima_refuses_an_unknown_split():
    with pytest.raises(ValueError, match="'lab', 'seed', 'seed-swapped'"):
        load_pima(roles="other")


def test_actg_event_has_the_published_counts():
    trial = load_actg175(as_frame=True)
    assert trial.data.shape == (2139, 18)
    assert trial.target.sum() == 521
    arms = trial.data.filter(like="arm_")
    # Patients per arm: zidovudine 532, then 522, 524 and 561.
    assert arms.sum().tolist() == [522, 524, 561]
    assert (arms.sum(axis=1) == 0).sum() == 532
    assert trial.privileged_feature_names == ["cd420", "cd820"]


def test_actg_keeps_everything_known_later_out_of_x():
    trial = load_actg175(as_frame=True)
    later = {"offtrt", "cd496", "r", "days", "cens", "cd420", "cd820", "pidnum"}
    assert not later & set(trial.data.columns)
    assert not (later - {"cd420", "cd820"}) & set(trial.privileged.columns)


def test_actg_regression_has_the_patients_with_a_count_at_week_96():
    trial = load_actg175(target="cd4-week-96")
    assert trial.target.dtype == float
    assert len(trial.target) == 1342
    assert trial.target.mean() == pytest.approx(328.57, abs=0.01)


def test_actg_refuses_an_unknown_outcome():
    with pytest.raises(ValueError, match="'event' or 'cd4-week-96'"):
        load_actg175(target="death")


def test_german_credit_counts_and_sensitive_columns():
    credit = load_german_credit(as_frame=True)
    assert credit.target.sum() == 700
    assert (credit.privileged["sex"] == "female").sum() == 310
    assert (credit.privileged["foreign_worker"] == "yes").sum() == 963
    assert credit.sensitive_feature_names == list(credit.privileged.columns)
    assert "personal_status" not in credit.data
    assert credit.data.shape == (1000, 17)


def test_german_credit_arrays_are_one_hot():
    frame, arrays = load_german_credit(as_frame=True), load_german_credit()
    text = frame.data.select_dtypes(exclude="number")
    assert arrays.data.shape[1] == 17 - text.shape[1] + sum(text.nunique())
    assert np.isfinite(arrays.data).all()
    assert set(np.unique(arrays.privileged[:, 0])) == {0.0, 1.0}


@pytest.mark.parametrize("size", [2, 4])
def test_low_resolution_digits_are_block_means(size):
    digits = load_digits_lowres(digits=None, size=size)
    assert len(digits.target) == 1797
    image = load_digits().images[3]
    block = 8 // size
    corner = image[:block, -block:].mean()
    assert digits.data[3, size - 1] == pytest.approx(corner)
    np.testing.assert_array_equal(digits.privileged[3], image.ravel())


def test_digits_pair_keeps_those_two():
    digits = load_digits_lowres(digits=(3, 7))
    assert set(digits.target) == {3, 7}
    with pytest.raises(ValueError, match="two different digits"):
        load_digits_lowres(digits=(5, 5))
    with pytest.raises(ValueError, match="choose 4 or 2"):
        load_digits_lowres(size=3)


def test_breast_cancer_splits_means_from_the_rest():
    split = load_breast_cancer_privileged(as_frame=True)
    whole = load_breast_cancer(as_frame=True)
    assert all(name.startswith("mean ") for name in split.feature_names)
    together = pd.concat([split.data, split.privileged], axis=1)
    pd.testing.assert_frame_equal(together[whole.data.columns], whole.data)


@pytest.mark.parametrize(
    "load", [load_pima, load_actg175, load_german_credit, load_breast_cancer_privileged]
)
def test_frames_and_arrays_hold_the_same_rows(load):
    frame, arrays = load(as_frame=True), load()
    np.testing.assert_array_equal(frame.target, arrays.target)
    assert len(frame.data) == len(frame.privileged) == len(arrays.data)
    assert isinstance(arrays.data, np.ndarray)
    assert len(arrays.DESCR) > 100


def test_the_terms_of_every_shipped_table_are_told():
    text = load_pima().DESCR
    for name in ("actg175", "german_credit", "pima"):
        assert f"`{name}.csv.gz`" in text
    assert text.count("CC BY 4.0") >= 2
