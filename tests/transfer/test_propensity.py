"""Rows without y that are like the others, and rows that are not."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from lupi.transfer import label_propensity


def draw(drift, n=600, seed=0):
    rng = np.random.default_rng(seed)
    time = rng.random(n)
    X = rng.normal(size=(n, 3)) + drift * time[:, None]
    P = X[:, :1] + rng.normal(size=(n, 1))
    y = np.where(time < 0.4, X[:, 0], np.nan)
    return X, y, P, time


def test_labels_missing_at_random_are_no_cause_for_a_warning():
    X, y, P, _ = draw(drift=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = label_propensity(X, y, privileged=P)
    assert abs(found.auc - 0.5) < 0.1
    assert found.n_labelled == np.sum(~np.isnan(y))
    assert found.n_labelled + found.n_unlabelled == 600


@pytest.mark.parametrize("container", ["arrays", "frames", "sparse", "words"])
def test_recent_rows_without_outcome_are_told(container):
    X, y, P, _ = draw(drift=3)
    if container == "frames":
        X, P = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(P, columns=["d"])
        X.loc[::7, "a"] = np.nan
    elif container == "sparse":
        X = sp.csr_array(X)
    elif container == "words":
        X = pd.DataFrame({"band": pd.cut(X[:, 0], 8).astype(str)})
        P = pd.DataFrame(P, columns=["d"])
    with pytest.warns(UserWarning, match=r"not alike.*AUC of 0\.\d\d"):
        found = label_propensity(X, y, privileged=P)
    assert found.auc > 0.65


def test_weights_undo_the_difference():
    """The weighted mean of labelled rows comes closer to that of all rows."""
    X, y, P, _ = draw(drift=2, n=4000)
    with pytest.warns(UserWarning, match="not alike"):
        found = label_propensity(X, y, privileged=P)
    known = ~np.isnan(y)
    weight = found.sample_weight[known]
    assert weight.mean() == pytest.approx(1.0)
    assert np.all(found.sample_weight[~known] == 1)
    whole = X.mean(axis=0)
    plain = np.abs(X[known].mean(axis=0) - whole)
    weighted = np.abs(np.average(X[known], axis=0, weights=weight) - whole)
    assert np.all(weighted < 0.6 * plain)


def test_x_star_counts_and_estimators_can_be_chosen():
    X, y, _, time = draw(drift=0)
    forest = RandomForestClassifier(30, min_samples_leaf=10, random_state=0)
    assert label_propensity(X, y, estimator=forest).auc < 0.65
    with pytest.warns(UserWarning, match="not alike"):
        found = label_propensity(X, y, privileged=time[:, None], estimator=forest)
    assert found.auc > 0.95


def test_too_few_rows_of_a_kind():
    X, y, _, _ = draw(drift=3)
    y[:] = 1.0
    found = label_propensity(X, y)
    assert np.isnan(found.auc)
    assert found.n_unlabelled == 0
    assert np.all(found.sample_weight == 1)


def test_many_rows_are_judged_by_some_of_them():
    X, y, P, _ = draw(drift=3, n=3000)
    with pytest.warns(UserWarning, match="not alike"):
        found = label_propensity(X, y, privileged=P, max_samples=500)
    assert len(found.sample_weight) == 3000
    assert found.sample_weight[~np.isnan(y)].std() > 0
