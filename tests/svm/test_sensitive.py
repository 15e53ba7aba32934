"""Sensitive features: however a table came, its columns are what they are."""

from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lupi
from lupi.svm import FairSVCDeltaPlus

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + RNG.normal(size=N) > 0
TABLE = pd.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(20, 60, N),
        "region": RNG.choice(["north", "south", "west"], N),
    }
)
AS_NUMBERS = np.column_stack(
    [
        TABLE["sex"] == "m",
        TABLE["age"],
        *(TABLE["region"] == region for region in ("north", "south", "west")),
    ]
).astype(float)


def same(one, other):
    """To rounding: sums over the rows may be taken in another order."""
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


CONTAINERS = {
    "frame": TABLE,
    "frame of objects": TABLE.astype(object),
    "categories": TABLE.astype({"sex": "category", "region": "category"}),
    "array of objects": TABLE.to_numpy(),
    "list of rows": TABLE.to_numpy().tolist(),
    "list of tuples": list(TABLE.itertuples(index=False, name=None)),
    "decimals": TABLE.assign(age=[Decimal(int(age)) for age in TABLE["age"]]),
    "nullable": TABLE.astype({"age": "Int64", "sex": "string"}),
    "other index": TABLE.set_index(np.repeat([3, 1], N // 2)),
}


@pytest.mark.parametrize("column", [TABLE["age"], TABLE["age"].tolist()])
def test_one_column_needs_no_table(column):
    model = FairSVCDeltaPlus().fit(X, Y, sensitive_features=column)
    table = FairSVCDeltaPlus().fit(X, Y, sensitive_features=TABLE[["age"]])
    assert model.sensitive_columns_ in (["age"], ["z0"])
    same(model.correction(column), table.correction(TABLE[["age"]]))
    same(model.decision_function(X), table.decision_function(X))


def days(n=N):
    return [date(2020, 1, 1) + timedelta(days=i) for i in range(n)]


REFUSED = {
    "3-D": (np.zeros((N, 2, 2)), "an array of 3 dimensions"),
    "sparse": (sp.csr_array(np.eye(N)), "sparse matrix. Use its toarray"),
    "scalar": (3, "0 dimensions: 3"),
    "text alone": ("sex", "0 dimensions: 'sex'"),
    "no columns": (np.empty((N, 0)), "0 columns of 0 rows"),
    "short": (TABLE[:7], "3 columns of 7 rows for 40 rows"),
    "dates": (pd.DataFrame({"day": pd.to_datetime(days())}), "'day', which holds"),
    "dates in nanoseconds": (np.arange(N).astype("M8[ns]"), "datetime64"),
    "dates as objects": (pd.DataFrame({"day": days()}), "values of type date"),
    "periods": (pd.period_range("2020", periods=N, freq="D").to_series(), "Period"),
    "durations": (np.arange(N).astype("m8[D]"), "timedelta"),
    "mixed": (pd.DataFrame({"age": ["unknown", *range(N - 1)]}), "type int and str"),
    "missing": (TABLE.assign(sex=[None, *TABLE["sex"][1:]]), "missing values .* 'sex'"),
    "infinite": (TABLE.assign(age=np.inf), "infinite values .* 'age'"),
    "lists": (pd.Series([[1, 2]] * N, name="both"), "'both', which .* type list"),
    "complex": (np.full(N, 1j), "type complex"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_column_is_refused_in_a_sentence(case):
    given, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=f"^FairSVCDeltaPlus .*{sentence}"):
        FairSVCDeltaPlus().fit(X, Y, sensitive_features=given)


@pytest.mark.parametrize("container", CONTAINERS)
def test_numbers_stay_numbers_and_text_becomes_categories(container):
    model = FairSVCDeltaPlus().fit(X, Y, sensitive_features=CONTAINERS[container])
    assert len(model.sensitive_columns_) == 5
    assert model.sensitive_columns_[:2] in (["sex=m", "age"], ["z0=m", "z1"])
    values = model.correction(CONTAINERS[container])
    assert values.shape == (N,)
    same(values, model.correction(AS_NUMBERS))
    # The encoding is that of fit, whichever categories the rows happen to have.
    few = CONTAINERS[container][:3]
    same(model.correction(few), values[:3])


def test_correction_of_booleans_is_not_that_of_their_complement():
    old = TABLE["age"].to_numpy() > 40
    model = FairSVCDeltaPlus().fit(X, Y, sensitive_features=old)
    same(model.correction(old), model.correction(old[:, None].astype(float)))
    assert model.sensitive_columns_ == ["z0=True"]
    with pytest.raises(ValueError, match=r"with categories .* but got numbers"):
        model.correction(old.astype(int))


def test_correction_of_missing_rows():
    model = FairSVCDeltaPlus().fit(X, Y, sensitive_features=TABLE)
    rows = TABLE.astype(object)
    rows.iloc[2] = None
    values = model.correction(rows)
    assert np.isnan(values[2])
    assert np.isnan(model.correction(rows[2:3])).all()
    same(np.delete(values, 2), np.delete(model.correction(TABLE), 2))
    rows.iloc[5, 0] = None
    with pytest.raises(ValueError, match="NaN in part of a privileged row: Row 5"):
        model.correction(rows)


def test_correction_refuses_other_tables():
    model = FairSVCDeltaPlus().fit(X, Y, sensitive_features=TABLE)
    with pytest.raises(ValueError, match=r"sensitive column 'region': .*'east'"):
        model.correction(TABLE.assign(region="east"))
    with pytest.raises(ValueError, match=r"columns \['sex'.* got \['sex', 'age'\]"):
        model.correction(TABLE[["sex", "age"]])
    with pytest.raises(ValueError, match="Give the columns used in fit, in that order"):
        model.correction(TABLE[["age", "sex", "region"]])
    with pytest.raises(ValueError, match=r"fitted with numbers in the .* 'age'"):
        model.correction(TABLE.assign(age="old"))


def test_correction_with_privileged_features_beside_the_sensitive_ones():
    model = FairSVCDeltaPlus().fit(X, Y, privileged=X, sensitive_features=TABLE)
    assert model.correction(X).shape == (N,)
    with pytest.raises(ValueError, match="numbers only"):
        model.correction(TABLE)


def test_the_encoding_is_saved_with_the_model(tmp_path):
    model = FairSVCDeltaPlus().fit(X, Y, sensitive_features=TABLE)
    lupi.save(model, tmp_path / "fair.lupi", keep_privileged=True)
    again = lupi.load(tmp_path / "fair.lupi")
    same(again.correction(TABLE), model.correction(TABLE))
