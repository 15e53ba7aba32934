"""Tables of Polars, read by Polars itself, give what tables of pandas give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, train_test_split

from lupi import (
    GeneralizedDistillationClassifier,
    HedgedDistillationClassifier,
    IPLClassifier,
    PrivilegedColumns,
    SVCPlus,
    TransformedPrivileged,
)
from lupi.evaluation import compare

rng = np.random.default_rng(0)
N = 80
SEVERITY = rng.normal(size=N)
KNOWN = pd.DataFrame({"age": SEVERITY + rng.normal(size=N), "bmi": rng.normal(size=N)})
LATER = pd.DataFrame({"cd4": SEVERITY, "cd8": rng.normal(size=N)})
LATER.loc[[2, 5, 31], :] = np.nan
EVENT = np.where(SEVERITY + 0.5 * rng.normal(size=N) > 0, "event", "none")


def polars(table):
    return pl.from_pandas(table)


@pytest.mark.parametrize(
    "model",
    [
        SVCPlus(),
        GeneralizedDistillationClassifier(),
        GeneralizedDistillationClassifier(
            HistGradientBoostingClassifier(max_iter=3),
            HistGradientBoostingClassifier(max_iter=3),
        ),
        HedgedDistillationClassifier(random_state=0),
        IPLClassifier(n_estimators=3, random_state=0),
        TransformedPrivileged(SVCPlus()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_same_model_as_from_pandas(model):
    theirs = clone(model).fit(polars(KNOWN), EVENT, privileged=polars(LATER))
    ours = clone(model).fit(KNOWN, EVENT, privileged=LATER)
    np.testing.assert_array_equal(theirs.predict(polars(KNOWN)), ours.predict(KNOWN))
    assert list(theirs.feature_names_in_) == ["age", "bmi"]
    assert list(theirs.privileged_feature_names_in_) == ["cd4", "cd8"]


def test_a_row_of_nulls_has_no_privileged_information():
    table = polars(LATER).with_columns(pl.all().fill_nan(None))
    assert table["cd4"].null_count() == 3
    theirs = SVCPlus().fit(polars(KNOWN), EVENT, privileged=table)
    ours = SVCPlus().fit(KNOWN, EVENT, privileged=LATER)
    np.testing.assert_allclose(
        theirs.decision_function(KNOWN), ours.decision_function(KNOWN)
    )


def test_one_table_with_privileged_columns():
    table = polars(pd.concat([KNOWN, LATER], axis=1))
    model = PrivilegedColumns(SVCPlus(), ["cd4", "cd8"]).fit(table, pl.Series(EVENT))
    assert set(model.predict(table.select("age", "bmi"))) <= {"event", "none"}


def test_scikit_learn_splits_both_tables():
    search = GridSearchCV(SVCPlus(), {"C": [0.1, 1.0]}, cv=3)
    search.fit(polars(KNOWN), EVENT, privileged=polars(LATER))
    assert search.best_score_ > 0.5
    parts = train_test_split(polars(KNOWN), polars(LATER), EVENT, random_state=0)
    known, unseen, later, _, event, _ = parts
    assert len(SVCPlus().fit(known, event, privileged=later).predict(unseen)) == 20


def test_compare_reads_text_categories_dates_and_nulls():
    known = polars(KNOWN).with_columns(
        ward=pl.Series(rng.choice(["north", "south"], N)).cast(pl.Categorical),
        admitted=pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 3, 20), eager=True),
    )
    later = polars(LATER).with_columns(
        remark=pl.Series(["worse" if one > 0 else None for one in SEVERITY])
    )
    result = compare(
        known,
        pl.Series("event", EVENT),
        later,
        methods="generalized-distillation-classifier",
        cv=2,
        n_candidates=1,
    )
    assert not result.failures
    assert result.settings["target"] == "event"
    assert result.settings["features"] == ["age", "bmi", "ward", "admitted"]
    assert result.settings["n_privileged_rows"] < N
    predictions = result.best_estimator().predict(known.to_pandas())
    assert set(predictions) <= {"event", "none"}
