"""Labels, class weights and the binary problems of a multi-class task."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_class_weight

from lupi.base import (
    binary_problems,
    check_classes,
    class_weights,
    decisions_of_classes,
)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([True, False, True]),
        np.array([7, -3, 7]),
        np.array([2.0, 1.0, 2.0]),
    ],
)
def test_labels_of_any_type(y):
    labels = check_classes(y, np.ones(3), "Toy")
    assert labels.classes.tolist() == sorted(set(y.tolist()))
    np.testing.assert_array_equal(labels.classes[labels.codes], y)


def test_rows_of_weight_zero_make_no_class():
    y = np.array([0, 1, 2, 1])
    labels = check_classes(y, np.array([1.0, 0.5, 0.0, 2.0]), "Toy")
    assert labels.classes.tolist() == [0, 1]
    assert labels.rows.tolist() == [0, 1, 3]
    assert labels.codes.tolist() == [0, 1, 1]


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"two classes in y, but got 1 class: 'a'"):
        check_classes(np.array(["a", "a"]), np.ones(2), "Toy")
    with pytest.raises(ValueError, match="1 class among the rows of positive weight"):
        check_classes(np.array([0, 1]), np.array([0.0, 1.0]), "Toy")


def test_continuous_labels_are_refused():
    with pytest.raises(ValueError, match="Unknown label type"):
        check_classes(np.array([0.1, 0.2]), np.ones(2), "Toy")


def test_balanced_counts_as_scikit_learn_does():
    codes = np.array([0, 0, 0, 1, 2, 2])
    classes = np.array(["a", "b", "c"])
    ours = class_weights("balanced", classes, codes, np.ones(6))
    theirs = compute_class_weight("balanced", classes=classes, y=classes[codes])
    np.testing.assert_allclose(ours, theirs)


def test_balanced_counts_weights_as_repeated_rows():
    codes, times = np.array([0, 0, 1]), np.array([3, 1, 2])
    classes = np.array([0, 1])
    weighted = class_weights("balanced", classes, codes, times.astype(float))
    repeated = class_weights("balanced", classes, np.repeat(codes, times), np.ones(6))
    np.testing.assert_allclose(weighted, repeated)


def test_weights_by_label():
    classes, codes = np.array(["n", "y"]), np.array([0, 1])
    assert class_weights({"y": 3}, classes, codes, np.ones(2)).tolist() == [1.0, 3.0]
    assert class_weights(None, classes, codes, np.ones(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ("even", "class_weight must be None"),
        (2.0, "class_weight must be None"),
        ({"maybe": 1.0}, r"names \['maybe'\], but the classes in y are \['n', 'y'\]"),
        ({"y": 0.0}, "must be positive"),
        ({"y": -1.0}, "must be positive"),
        ({"y": np.inf}, "must be positive and finite"),
    ],
)
def test_impossible_class_weights(weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        class_weights(weights, np.array(["n", "y"]), np.array([0, 1]), np.ones(2))


def test_two_classes_make_one_problem_either_way():
    for multi_class in ("ovo", "ovr"):
        ((rows, sign),) = binary_problems(np.array([0, 1, 1]), 2, multi_class)
        assert rows.tolist() == [0, 1, 2]
        assert sign.tolist() == [-1.0, 1.0, 1.0]


def test_one_against_one_takes_the_pairs_in_order():
    codes = np.random.default_rng(0).integers(4, size=30)
    problems = binary_problems(codes, 4, "ovo")
    for (rows, sign), (i, j) in zip(problems, combinations(range(4), 2), strict=True):
        assert set(codes[rows]) == {i, j}
        np.testing.assert_array_equal(sign, np.where(codes[rows] == j, 1, -1))


def test_one_against_the_rest_takes_the_classes_in_order():
    codes = np.array([2, 0, 1, 2])
    signs = [sign for _, sign in binary_problems(codes, 3, "ovr")]
    np.testing.assert_array_equal(signs, 2 * (codes == np.arange(3)[:, None]) - 1)


def test_unknown_multi_class():
    with pytest.raises(ValueError, match=r"must be .ovo.*but got 'crammer'"):
        binary_problems(np.array([0, 1]), 2, "crammer")


def test_votes_are_counted_as_in_svc():
    X, y = make_blobs(200, centers=4, cluster_std=4.0, random_state=0)
    pairs = SVC(decision_function_shape="ovo").fit(X, y)
    classes = SVC(decision_function_shape="ovr").fit(X, y)
    # SVC's pairs are positive for the first class, ours for the second.
    ours = decisions_of_classes(-pairs.decision_function(X), 4, "ovo")
    np.testing.assert_allclose(ours, classes.decision_function(X), atol=1e-12)
