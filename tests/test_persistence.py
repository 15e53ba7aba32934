"""Models on disk: every estimator survives, and no file can run code."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from skrub import TableVectorizer

import lupi
from lupi.exceptions import ModelFileError, ModelVersionWarning
from tests import test_privacy
from tests.marks import posix

RNG = np.random.default_rng(0)
N = 40
X = RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] + 0.3 * RNG.normal(size=N) > 0, "yes", "no")
NUMBERS = X @ [1.0, -2.0, 0.5] + 0.1 * RNG.normal(size=N)
P = np.column_stack([X[:, 0], RNG.normal(size=N)])
P[3] = np.nan
FORCED = {"privileged": P}


def _advice():
    return [lupi.Rule.parse("x0 >= 1 => yes")]


def survivors():
    """One fitted example of every public estimator, with its training table."""
    table = pd.DataFrame(np.column_stack([X, P]), columns=["a", "b", "c", "p", "q"])
    separable = np.where(X[:, 0] > 0, "yes", "no")
    sensitive = (RNG.random(N) > 0.5).astype(float)
    plain = [
        *("SVCPlus", "SVCDeltaPlus", "MarginTransferSVC", "DeviationSVCPlus"),
        *("UnifiedSVC", "L2SVCPlus", "LinearSVCPlus", "LinearSVCDeltaPlus"),
        *("KnowledgeTransferClassifier", "GeneralizedDistillationClassifier"),
        *("HedgedDistillationClassifier", "NoisyLabelClassifier"),
        *("IPLClassifier", "GBPlusClassifier"),
    ]
    made = {name: (getattr(lupi, name)(), X, LABELS, FORCED) for name in plain}
    for name in (
        *("SVRPlus", "LinearSVRPlus", "IPLRegressor"),
        "HedgedDistillationRegressor",
    ):
        made[name] = (getattr(lupi, name)(), X, NUMBERS, FORCED)
    made["GeneralizedDistillationRegressor"] = (
        lupi.GeneralizedDistillationRegressor(),
        X,
        NUMBERS,
        FORCED,
    )
    made["HardMarginSVC"] = (lupi.HardMarginSVC(), X, separable, {})
    made["LUFeClassifier"] = (lupi.LUFeClassifier(), X, LABELS, {})
    made["FairSVCDeltaPlus"] = (
        lupi.FairSVCDeltaPlus(),
        X,
        LABELS,
        {"sensitive_features": sensitive},
    )
    made["KnowledgeBasedSVC"] = (
        lupi.KnowledgeBasedSVC(advice=_advice()),
        X,
        LABELS,
        {},
    )
    made["Adviceptron"] = (lupi.Adviceptron(advice=_advice()), X, LABELS, {})
    made["PrivilegedColumns"] = (
        lupi.PrivilegedColumns(lupi.SVCPlus(), ["p", "q"]),
        table,
        LABELS,
        {},
    )
    made["TransformedPrivileged"] = (
        lupi.TransformedPrivileged(lupi.SVCPlus(), SimpleImputer()),
        X,
        LABELS,
        FORCED,
    )
    return made


def public_estimators():
    return sorted(
        name
        for name in lupi.__all__
        if isinstance(value := getattr(lupi, name), type)
        and issubclass(value, BaseEstimator)
    )


def roundtrip(model, tmp_path):
    path = tmp_path / "model.skops"
    lupi.save(model, path)
    return lupi.load(path)


def test_the_list_of_survivors_is_complete():
    assert sorted(survivors()) == public_estimators()


# `test_privacy.py` saves and loads every model that is trained with X*, with classes
# that are numbers; those of each package that have names are here.
ELSEWHERE = set(test_privacy.MODELS) - {
    *("SVCPlus", "SVRPlus", "LinearSVCPlus", "IPLClassifier"),
    *("HedgedDistillationClassifier", "KnowledgeTransferClassifier"),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ELSEWHERE else ())
        for name in public_estimators()
    ],
)
def test_every_public_estimator_predicts_the_same_after_a_round_trip(name, tmp_path):
    model, table, target, more = survivors()[name]
    with warnings.catch_warnings():
        # Some find that this X* is of no use to them; it is the file that matters.
        warnings.simplefilter("ignore")
        model.fit(table, target, **more)
    loaded = roundtrip(model, tmp_path)
    assert type(loaded) is type(model)
    assert str(loaded.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            ours, theirs = getattr(loaded, method)(table), getattr(model, method)(table)
            np.testing.assert_array_equal(ours, theirs)
    if more is FORCED and hasattr(model, "correction"):
        lupi.save(model, tmp_path / "whole.skops", keep_privileged=True)
        ours = lupi.load(tmp_path / "whole.skops").correction(P)
        np.testing.assert_array_equal(ours, model.correction(P))


def test_fitting_without_privileged_rows_survives_too(tmp_path):
    model = lupi.SVCPlus().fit(X, LABELS)
    loaded = roundtrip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_sparse_many_classes_and_linear_kernels_survive(tmp_path):
    three = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = lupi.SVCPlus(kernel="linear", privileged_kernel="linear")
    model.fit(sp.csr_array(X), three, privileged=sp.csr_array(np.nan_to_num(P)))
    loaded = roundtrip(model, tmp_path)
    np.testing.assert_array_equal(
        loaded.decision_function(sp.csr_array(X)),
        model.decision_function(sp.csr_array(X)),
    )


def mixed_table():
    return pd.DataFrame(
        {
            "age": np.where(np.arange(N) == 5, np.nan, 50 + 10 * X[:, 0]),
            "town": np.where(X[:, 1] > 0, "Oslo", "Rome"),
            "seen": pd.date_range("2020-01-01", periods=N, freq="D").astype(str),
            "note": [
                f"patient {i} said {'ouch' * (i % 3)} on day {i}" for i in range(N)
            ],
            "grade": pd.Categorical(np.where(X[:, 2] > 0, "hi", "lo")),
            "smokes": X[:, 0] > 0,
        }
    )


def test_a_pipeline_that_reads_tables_survives(tmp_path):
    table = mixed_table()
    model = make_pipeline(
        TableVectorizer(),
        SimpleImputer(),
        StandardScaler(),
        lupi.TransformedPrivileged(
            lupi.SVCPlus(), make_pipeline(TableVectorizer(), SimpleImputer())
        ),
    )
    model.fit(table, LABELS, transformedprivileged__privileged=table[["town", "age"]])
    loaded = roundtrip(model, tmp_path)
    np.testing.assert_array_equal(
        loaded.decision_function(table), model.decision_function(table)
    )
    assert list(loaded.feature_names_in_) == list(table.columns)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1_macro", "rand_score"])
def test_a_grid_search_survives(tmp_path, scoring):
    search = GridSearchCV(lupi.SVCPlus(), {"C": [0.1, 1.0]}, cv=2, scoring=scoring)
    search.fit(X, LABELS, privileged=np.nan_to_num(P))
    loaded = roundtrip(search, tmp_path)
    assert loaded.best_params_ == search.best_params_
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_survives(tmp_path, method):
    model = CalibratedClassifierCV(lupi.SVCPlus(), cv=2, method=method)
    model.fit(X, LABELS, privileged=np.nan_to_num(P))
    loaded = roundtrip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_trees_of_xgboost_survive(tmp_path):
    model = lupi.IPLClassifier(n_estimators=5, engine="xgboost")
    model.fit(X, LABELS, privileged=P)
    loaded = roundtrip(model, tmp_path)
    np.testing.assert_array_equal(
        loaded.decision_function(X), model.decision_function(X)
    )


def test_feature_names_and_their_order_are_checked_on_predict(tmp_path):
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = lupi.SVCPlus().fit(table, LABELS, privileged=P)
    loaded = roundtrip(model, tmp_path)
    with pytest.raises(ValueError, match="same order"):
        loaded.predict(table[["b", "a", "c"]])
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table.rename(columns={"c": "z"}))


class Foreign(BaseEstimator):
    """An estimator the library does not know; unpickling it would leave a trace."""

    traces: list = []  # noqa: RUF012

    def __setstate__(self, state):
        self.traces.append("code of the file was run")


def forged(tmp_path, model):
    """Write what lupi.save refuses to write, as an attacker would."""
    import skops.io

    buffer = io.BytesIO(skops.io.dumps(model))
    with zipfile.ZipFile(buffer, "a") as archive:
        about = {"format": 1, "lupi": lupi.__version__, "details": {}}
        archive.writestr("lupi.json", json.dumps(about))
    path = tmp_path / "forged.skops"
    path.write_bytes(buffer.getvalue())
    return path


def test_a_foreign_type_is_refused_by_name_and_never_built(tmp_path):
    path = forged(tmp_path, make_pipeline(StandardScaler(), Foreign()))
    Foreign.traces.clear()
    with pytest.raises(ModelFileError, match=r"Foreign"):
        lupi.load(path)
    assert Foreign.traces == []


@pytest.mark.parametrize("function", [os.system, eval, pickle.loads])
def test_dangerous_functions_are_refused_by_name(tmp_path, function):
    path = forged(tmp_path, FunctionTransformer(function))
    with pytest.raises(ModelFileError, match=function.__name__):
        lupi.load(path)


def test_save_names_what_load_would_refuse_and_writes_nothing(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(ModelFileError, match="Foreign"):
        lupi.save(make_pipeline(StandardScaler(), Foreign()), path)
    with pytest.raises(ModelFileError, match="<lambda>"):
        lupi.save(SVC(kernel=lambda a, b: a @ b.T), path)
    with pytest.raises(ModelFileError, match="given a dict"):
        lupi.save({}, path)
    assert list(tmp_path.iterdir()) == []


def test_another_version_is_said(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    monkeypatch.setattr(lupi, "__version__", "0.0.1")
    lupi.save(SVC().fit(X, LABELS), path)
    monkeypatch.undo()
    with pytest.warns(ModelVersionWarning, match=r"written by lupi 0\.0\.1"):
        lupi.load(path)


OLD = b"lupi.boosting._of_an_older_version"


def rewrite(path, change):
    """Write each part of a file anew: `change(name, content)` returns its content."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, change(name, content))


def test_classes_that_moved_within_their_package_are_found(tmp_path):
    path = tmp_path / "model.skops"
    model = lupi.IPLClassifier(n_estimators=2).fit(X, LABELS, privileged=P)
    lupi.save(model, path)
    rewrite(path, lambda _, content: re.sub(rb"lupi\.boosting\.\w+", OLD, content))
    again = lupi.load(path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    rewrite(path, lambda _, content: content.replace(OLD, b"lupi.elsewhere._old"))
    with pytest.raises(ModelFileError, match=r"lupi\.elsewhere\._old"):
        lupi.load(path)


def test_a_newer_format_is_refused(tmp_path):
    path = forged(tmp_path, SVC())
    newer = json.dumps({"format": 2, "lupi": "9.0"}).encode()
    rewrite(path, lambda name, old: newer if name == "lupi.json" else old)
    with pytest.raises(ModelFileError, match=r"lupi 9\.0 in a newer format"):
        lupi.load(path)


def test_a_skops_file_of_another_library_is_refused(tmp_path):
    import skops.io

    path = tmp_path / "other.skops"
    skops.io.dump(SVC(), path)
    with pytest.raises(ModelFileError, match=r"not written by lupi\.save"):
        lupi.load(path)


def test_damaged_files_are_refused_in_one_sentence(tmp_path):
    whole = tmp_path / "whole.skops"
    lupi.save(LogisticRegression().fit(X, LABELS), whole)
    content = whole.read_bytes()
    middle = len(content) // 2
    broken = tmp_path / "broken.skops"
    flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
    for damage in (b"", b"not a zip", content[:middle], content[:-30], flipped):
        broken.write_bytes(damage)
        with pytest.raises(ModelFileError, match="damaged"):
            lupi.load(broken)
    with pytest.raises(FileNotFoundError):
        lupi.load(tmp_path / "nowhere.skops")


def forge_arrays(path, forge):
    """Write a file again in which a function has changed every array in place."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, content in parts.items():
        buffer = io.BytesIO()
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            forge(array)
            np.save(buffer, array)
        elif name.endswith(".npz"):
            arrays = dict(np.load(io.BytesIO(content)))
            for array in arrays.values():
                forge(array)
            np.savez(buffer, **arrays)
        parts[name] = buffer.getvalue() or content
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def forge_number(path, old, new):
    """Write a file again in which every number of this value is another."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    numbers = re.compile(rf'("content": "){old}(")'.encode())
    parts["schema.json"], count = numbers.subn(
        rf"\g<1>{new}\g<2>".encode(), parts["schema.json"]
    )
    assert count
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("field", ["left_child", "right_child", "feature"])
@pytest.mark.parametrize("value", [10**6, -7, 0])
def test_forged_decision_trees_are_refused_before_they_are_used(tmp_path, field, value):
    if field == "feature" and value == 0:
        value = 3
    model = DecisionTreeClassifier(random_state=0).fit(X, LABELS)
    path = tmp_path / "tree.skops"
    lupi.save(model, path)

    def forge(nodes):
        if nodes.dtype.names:
            nodes[field][0] = value

    forge_arrays(path, forge)
    with pytest.raises(ModelFileError, match="a branch of a decision tree"):
        lupi.load(path)


WIDE = np.random.default_rng(1).normal(size=(N, 5))


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        RandomForestClassifier(2),
        GradientBoostingClassifier(n_estimators=2),
        IsolationForest(n_estimators=2),
        SVC(),
        KNeighborsClassifier(algorithm="brute"),
        lupi.IPLClassifier(n_estimators=2),
        lupi.SVCPlus(),
        lupi.LinearSVCPlus(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_another_width_than_that_of_the_arrays_is_refused(model, tmp_path):
    path = tmp_path / "model.skops"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(WIDE, LABELS)
    lupi.save(model, path)
    lupi.load(path)
    forge_number(path, 5, 3)
    with pytest.raises(ModelFileError, match="does not fit the other parts"):
        lupi.load(path)


def test_a_support_vector_machine_without_its_probabilities_is_refused(tmp_path):
    model = SVC().fit(sp.csr_matrix(X), LABELS)
    # One of them is read, depending on the version of scikit-learn.
    model._effective_probability = model.probability = True
    with pytest.raises(ModelFileError, match="the probabilities of SVC"):
        lupi.save(model, tmp_path / "model.skops")


def test_a_forest_of_trees_of_another_width_is_refused(tmp_path):
    forest = RandomForestClassifier(2, random_state=0).fit(X, LABELS)
    forest.estimators_[1] = DecisionTreeClassifier().fit(WIDE, LABELS)
    with pytest.raises(ModelFileError, match="the width of a tree does not fit"):
        lupi.save(forest, tmp_path / "forest.skops")
    assert list(tmp_path.iterdir()) == []


def test_predictions_of_a_student_with_other_classes_are_refused(tmp_path):
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    model = lupi.GeneralizedDistillationClassifier().fit(X, labels, privileged=X)
    model.classes_ = model.classes_[:1]
    loaded = roundtrip(model, tmp_path)
    with pytest.raises(ValueError, match="cannot reshape"):
        loaded.predict(X)


@pytest.mark.parametrize("value", [-1, 3, 10**6])
def test_sparse_rows_with_indices_outside_are_refused(tmp_path, value):
    path = tmp_path / "sparse.skops"
    model = lupi.SVCPlus().fit(sp.csr_array(X), LABELS, privileged=P)
    lupi.save(model, path, keep_privileged=True)

    def forge(array):
        if array.dtype == np.int32 and array.ndim == 1 and len(array) > N + 1:
            array[-1] = value

    forge_arrays(path, forge)
    with pytest.raises(ModelFileError, match="is damaged"):
        lupi.load(path)


def test_forests_survive(tmp_path):
    model = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    loaded = roundtrip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    lupi.save(SVC().fit(X, LABELS), path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        lupi.save(SVC(C=2).fit(X, LABELS), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_symbolic_link_stays_one_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "folder" / "model.skops", tmp_path / "latest.skops"
    target.parent.mkdir()
    link.symlink_to(target)
    for cost in (1.0, 2.0):  # the target does not exist at first
        lupi.save(SVC(C=cost).fit(X, LABELS), link)
        assert link.is_symlink()
        assert cost == lupi.load(target).C
    assert sorted(tmp_path.rglob("*.skops")) == [target, link]


def renamed(path, old, new):
    """Have a file ask for another type."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = parts["schema.json"].decode()
    assert old[1] in schema
    parts["schema.json"] = schema.replace(old[0], new[0]).replace(old[1], new[1])
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "asked",
    [
        ("declares_itself", "Trojan"),  # would be declared by importing its module
        ("lupi.base._arguments", "Training"),  # of lupi, and not declared
        ("lupi.evaluation._methods", "Method"),
    ],
)
def test_what_a_file_asks_for_is_not_imported_to_be_trusted(
    tmp_path, monkeypatch, asked
):
    (tmp_path / "declares_itself.py").write_text(
        "from lupi._stored import stored\n@stored\nclass Trojan:\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "model.skops"
    lupi.save(lupi.SVCPlus().fit(X, LABELS), path)
    renamed(path, ("lupi.svm._svm_plus", "SVCPlus"), asked)
    with pytest.raises(ModelFileError, match=asked[1]):
        lupi.load(path)
    assert "declares_itself" not in sys.modules
