"""What each column says about the target on its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from lupi.evaluation import column_scores

rng = np.random.default_rng(0)
N = 400
ABILITY = rng.normal(size=N)
Y = (ABILITY > 0).astype(int)
TABLE = pd.DataFrame(
    {
        "pupil": [f"P{i}" for i in range(N)],
        "noise": rng.normal(size=N),
        "weak": ABILITY + 2 * rng.normal(size=N),
        "grade": ABILITY + 0.1 * rng.normal(size=N),
        "school": "the one",
        "sex": rng.choice(["f", "m"], N),
        "born": pd.date_range("2001-01-01", periods=N, freq="D").astype(str),
        "prize": np.where(Y == 1, "won", None),
        "essay": [f"about {rng.integers(1e6)} and {rng.integers(1e6)}" for _ in Y],
    }
)


def by_name(found):
    return found.set_index("column")


def test_types_missing_shares_and_marks():
    found = column_scores(TABLE, Y)
    assert found["score"].dropna().is_monotonic_decreasing
    found = by_name(found)
    assert found["type"].to_dict() == {
        "pupil": "identifier",
        "noise": "number",
        "weak": "number",
        "grade": "number",
        "school": "constant",
        "sex": "category",
        "born": "date",
        "prize": "category",
        "essay": "text",
    }
    assert found.at["prize", "missing"] == pytest.approx(1 - Y.mean())
    assert set(found.index[found["suspicious"]]) == {"grade", "prize"}
    assert found.loc[["pupil", "school"], "score"].isna().all()


def test_missing_shares_are_of_all_rows():
    y = np.where(TABLE["prize"].isna(), None, Y.astype(str)).astype(object)
    y[TABLE["prize"].notna().to_numpy().nonzero()[0][0]] = None
    found = by_name(column_scores(TABLE[["prize", "noise"]], y, scoring="accuracy"))
    assert found.at["prize", "missing"] == pytest.approx(TABLE["prize"].isna().mean())


def test_the_score_is_that_of_the_column():
    found = by_name(column_scores(TABLE[["weak", "noise", "grade"]], Y))
    # A monotone relation: no tree ranks better than the column itself, up to chance.
    assert found.at["weak", "score"] <= roc_auc_score(Y, TABLE["weak"]) + 0.03
    assert found.at["grade", "score"] > 0.95
    assert abs(found.at["noise", "score"] - 0.5) < 0.1


def test_regression_classes_and_losses():
    numbers = by_name(column_scores(TABLE[["weak", "grade"]], ABILITY))
    assert numbers.at["grade", "score"] > 0.9
    assert numbers["suspicious"].to_dict() == {"grade": True, "weak": False}
    loss = column_scores(
        TABLE[["weak", "grade"]], ABILITY, scoring="neg_mean_squared_error"
    )
    assert by_name(loss)["suspicious"].to_dict() == {"grade": True, "weak": False}
    thirds = np.digitize(ABILITY, [-0.5, 0.5])
    marked = by_name(column_scores(TABLE[["weak", "grade"]], thirds))["suspicious"]
    assert marked.to_dict() == {"grade": True, "weak": False}


def test_other_containers_and_rows_without_y():
    numbers = TABLE[["weak", "grade"]]
    expected = column_scores(numbers, Y)
    pd.testing.assert_frame_equal(column_scores(pl.from_pandas(numbers), Y), expected)
    for table in (numbers.to_numpy(), sp.csr_matrix(numbers.to_numpy())):
        found = column_scores(table, Y).replace({"x0": "weak", "x1": "grade"})
        pd.testing.assert_frame_equal(found, expected)
    longer = pd.concat([numbers, numbers.head(3)])
    for dtype in ("Int64", object):
        target = pd.Series([*Y, None, None, None], dtype=dtype)
        pd.testing.assert_frame_equal(column_scores(longer, target), expected)


@pytest.mark.parametrize("kind", ["uint8", "int8", "UInt8", "Int8"])
def test_small_types_of_numbers_are_no_dates(kind):
    table = pd.DataFrame({"count": np.arange(N) % 100}, dtype=kind)
    assert column_scores(table, Y)["note"].to_list() == [""]


def test_groups_stay_in_one_fold():
    # The column names the group, and the group settles y: nothing is left to predict.
    group = np.arange(N) // 20
    y = rng.integers(0, 2, 20)[group]
    table = pd.DataFrame({"group": group.astype(float), "noise": TABLE["noise"]})
    assert by_name(column_scores(table, y)).at["group", "score"] > 0.95
    apart = by_name(column_scores(table, y, groups=group))
    assert apart.at["group", "score"] < 0.8


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match="y has 3 rows and X has 400"):
        column_scores(TABLE, Y[:3])
    with pytest.raises(ValueError, match="no value in any row"):
        column_scores(TABLE, np.full(N, np.nan))
