"""One rule tells classes from numbers, in Python and on the command line."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from lupi import SVRPlus
from lupi._tables import target_values
from lupi.datasets import make_mediator
from lupi.evaluation._plan import plan
from lupi.evaluation._task import read_task


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([0, 1, 1, 0], "classification"),
        ([True, False], "classification"),
        (["yes", "no"], "classification"),
        ([1.0, 2.0, 1.0], "classification"),
        # Classifiers of scikit-learn refuse such labels.
        ([0.5, 1.5, 0.5], "regression"),
        ([0.5, 1.25, 2.75], "regression"),
        (list(range(11)), "regression"),
        (list(range(10)), "classification"),
    ],
)
def test_the_task_is_read_off_the_target(values, task):
    assert read_task(np.array(values)) == task
    assert read_task(target_values(pd.Series(values))) == task


@pytest.mark.parametrize(
    ("methods", "task"),
    [
        ("default", "classification"),
        (["default", "ipl"], "classification"),
        (["ipl-regressor"], "regression"),
        (["SVRPlus", "default"], "regression"),
        ([Ridge()], "regression"),
        (LogisticRegression(), "classification"),
        (SVRPlus, "regression"),
        (["svc-plus", "svr-plus"], "classification"),
    ],
)
def test_a_method_settles_the_task(methods, task):
    assert read_task(np.array([0, 1, 1, 0]), methods) == task


def test_a_regression_method_on_grades_makes_them_numbers():
    data = make_mediator(60, random_state=0)
    study = plan(data.data, data.target, data.privileged, methods=["svr-plus"])
    assert study.task == "regression"
    assert study.y.dtype == float
    words = np.array(["no", "yes"])[data.target]
    with pytest.raises(ValueError, match="regression needs numbers"):
        plan(data.data, words, data.privileged, methods=["svr-plus"])
