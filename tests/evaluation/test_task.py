"""One rule tells classes from numbers, in Python and on the command line."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from lupi import SVRPlus
from lupi.cli import main
from lupi.evaluation import LabelledSplits, compare

CLASSES = np.resize([0, 1], 24)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([0, 1, 1, 0], True),
        ([True, False], True),
        (["yes", "no"], True),
        ([1.0, 2.0, 1.0], True),
        # Classifiers of scikit-learn refuse such labels.
        ([0.5, 1.5, 0.5], False),
        ([0.5, 1.25, 2.75], False),
        (list(range(11)), False),
        (list(range(10)), True),
    ],
)
def test_the_task_is_read_off_the_target(
    values, classes, tmp_path, monkeypatch, capsys
):
    y = np.sort(np.resize(values, 44))
    # Splits are stratified for classes: every fold has all of them.
    _, test = next(LabelledSplits(2).split(np.zeros((44, 1)), y))
    assert (len(np.unique(y[test])) == len(np.unique(y))) is classes
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": np.arange(44.0), "y": y}).to_csv("t.csv", index=False)
    assert main(["columns", "t.csv", "-t", "y"]) == 0
    task = "classification" if classes else "regression"
    assert f"predict y ({task})" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("methods", "task"),
    [
        (["ipl-regressor"], "regression"),
        ([Ridge()], "regression"),
        (LogisticRegression(), "classification"),
        (SVRPlus, "regression"),
    ],
)
def test_a_method_settles_the_task(methods, task):
    X = np.arange(24.0)[:, None]
    options = {"cv": 2, "n_candidates": 1}
    # Ridge takes no X*: it fails, and the task is settled before.
    result = compare(X, CLASSES, X, methods=methods, **options)
    assert result.settings["task"] == task


def test_methods_of_both_tasks_leave_the_target_to_decide():
    X = np.arange(24.0)[:, None]
    with pytest.raises(ValueError, match="SVRPlus is for regression"):
        compare(X, CLASSES, X, methods=["svc-plus", "svr-plus"])
    words = np.array(["no", "yes"])[CLASSES]
    with pytest.raises(ValueError, match="regression needs numbers"):
        compare(X, words, X, methods=["svr-plus"])
