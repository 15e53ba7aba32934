"""`check_labels`, and comparisons whose labels are partly wrong."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from lupi import NoisyLabelClassifier
from lupi.datasets import make_noisy_labels
from lupi.evaluation import check_labels, compare
from tests.comparisons import FirstColumn


def labelled(n=300):
    data = make_noisy_labels(n, n_features=3, rates=(0.02, 0.4, 0.1), random_state=0)
    return data, data.privileged.argmax(axis=1)


def test_names_numbers_dates_and_missing_cells():
    data, who = labelled()
    days = pd.date_range("2024-03-01", periods=300, freq="D")
    later = pd.DataFrame(
        {
            "who": pd.Series(np.array(["Ada", "Ben", "Cem"])[who]),
            "desk": who + 10,
            "seconds": np.random.default_rng(0).exponential(size=300),
            "day": days,
        },
        index=np.arange(300) + 1000,
    )
    later["who"] = np.array(["Ada", "Ben", "Cem"])[who]
    later.loc[1000:1003] = None
    later.loc[1010:1012, ["who", "seconds"]] = None
    later["desk"] = later["desk"].astype(float)
    X = pd.DataFrame(data.data, index=later.index)
    y = np.where(data.target == 1, "yes", "no").astype(object)
    y[20:25] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = check_labels(X, y, later)
    assert len(found.labels) == 295
    assert set(found.labels.index) == set(later.index) - set(range(1020, 1025))
    assert found.labels["probability"].between(0, 1).all()
    rates = found.rates.set_index(["column", "group"])
    assert rates.loc["who"].index[0] == "Ben"
    assert rates.loc["desk"].index[0] == "11"
    ranges = [name for name in rates.loc["day"].index if name != "missing"]
    assert len(ranges) == 4
    assert ranges == sorted(ranges)
    assert rates.loc[("who", "missing"), "n_rows"] == 7
    assert (rates.groupby("column")["n_rows"].sum() == 295).all()
    known = rates.dropna()
    assert (known["low"] <= known["rate"]).all()
    assert (known["rate"] <= known["high"]).all()


def test_numbers_are_names_where_told():
    data, who = labelled()
    numbers = pd.DataFrame({"id": who + 10_123_456.0}, index=[7] * 300)
    X = pd.DataFrame(data.data, index=numbers.index)
    found = check_labels(X, data.target, numbers).rates
    assert sorted(found["group"]) == ["10123456", "10123457", "10123458"]
    # As a number, the second is between the others.
    as_number = check_labels(X, data.target, numbers, names=[]).rates
    order = found.sort_values("rate")["group"].tolist()
    assert order == ["10123456", "10123458", "10123457"]
    assert as_number.sort_values("rate")["group"].tolist() != order
    with pytest.raises(ValueError, match="clean has 2 rows"):
        check_labels(X, data.target, numbers, clean=[True, False])


def compared(**more):
    data, who = labelled(160)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = NoisyLabelClassifier(cv=2)
        cv = KFold(2, shuffle=True, random_state=0)
        names = pd.DataFrame({"who": np.array(["a", "b", "c"])[who]})
        return data, compare(
            data.data, data.target, names, methods=[model], cv=cv, **more
        )


def test_a_comparison_says_that_scores_are_attenuated():
    _, result = compared()
    assert "those of the test rows are, too" in str(result.verdict)
    assert "test_quality" in str(result.verdict)
    # X* cannot help a model that has it when predicting, which says nothing here.
    line = result.summary.iloc[0]
    assert np.isnan(line["gap"])
    assert not line["nothing_to_gain"]
    assert "when predicting gains" not in str(result.verdict)
    assert "nothing to gain" not in str(result.verdict)


def test_only_rows_known_to_be_right_are_tested():
    data, _ = labelled(160)
    clean = (data.target == data.truth) & (np.arange(160) % 2 == 0)
    data, result = compared(test_quality=clean)
    folds = result.folds[result.folds["arm"] == "with"]
    assert folds["n_test"].sum() == clean.sum()
    assert folds["n_train"].sum() == 160
    said = str(result.verdict)
    assert f"among the {clean.sum()} rows" in said
    assert "noisy" not in " ".join(result.next_steps())
    assert "those of the test rows are, too" not in said


def test_too_few_rows_known_to_be_right():
    X = np.arange(40.0)[:, None]
    y = np.arange(40) % 2
    with pytest.raises(ValueError, match="3 rows are known to be right"):
        compare(X, y, X, methods=[FirstColumn()], test_quality=np.arange(40) < 3)
    with pytest.raises(ValueError, match="test_quality has 2 rows"):
        compare(X, y, X, methods=[FirstColumn()], test_quality=[1, 0])
