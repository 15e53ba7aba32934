"""What a model file holds: no row of X*, and no more than was announced."""

from __future__ import annotations

import io
import json
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import KNNImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import lupi
from lupi.exceptions import ModelFileError
from tests import models

RNG = np.random.default_rng(0)
N = 80
X = RNG.normal(size=(N, 3))
P = X[:, :2] + RNG.normal(size=(N, 2))
Y = (P.sum(axis=1) > 0).astype(int)
TREES = {"n_estimators": 4, "random_state": 0}


def fitted(model, **more):
    y = X[:, 0] if type(model).__name__.endswith(("SVRPlus", "Regressor")) else Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y, **({"privileged": P} | more))


NOT_ALONE = {"PrivilegedColumns", "TransformedPrivileged"}
NO_PRIVILEGED = {"HardMarginSVC", "KnowledgeBasedSVC", "Adviceptron"}
MODELS = {
    kind.__name__: lambda kind=kind: fitted(
        kind(**TREES) if hasattr(kind(), "n_estimators") else kind()
    )
    for kind in models.MODELS
    if kind.__name__ not in NOT_ALONE | NO_PRIVILEGED
}
MODELS |= {
    "a teacher of neighbours": lambda: fitted(
        lupi.GeneralizedDistillationClassifier(KNeighborsClassifier(algorithm="brute"))
    ),
    "neighbours of numbers": lambda: fitted(
        lupi.GeneralizedDistillationRegressor(KNeighborsRegressor(algorithm="brute"))
    ),
    "hedged neighbours": lambda: fitted(
        lupi.HedgedDistillationClassifier(
            KNeighborsClassifier(algorithm="brute"),
            LogisticRegression(),
            cv=3,
            n_repeats=1,
        )
    ),
    "IPL with an auxiliary": lambda: fitted(
        lupi.IPLRegressor(**TREES, auxiliary=SVR())
    ),
    "IPL with a forest": lambda: fitted(
        lupi.IPLRegressor(**TREES, auxiliary=RandomForestRegressor(5, random_state=0))
    ),
    "a map that keeps rows": lambda: fitted(
        lupi.TransformedPrivileged(lupi.SVCPlus(), Nystroem(n_components=20))
    ),
    "an imputer that keeps rows": lambda: fitted(
        lupi.TransformedPrivileged(lupi.SVCPlus(), KNNImputer())
    ),
    "columns": lambda: lupi.PrivilegedColumns(lupi.SVCPlus(), columns=[3, 4]).fit(
        np.hstack([X, P]), Y
    ),
    "a search": lambda: fitted(GridSearchCV(lupi.SVCPlus(), {"C": [0.1, 1.0]}, cv=3)),
    "a calibration": lambda: fitted(CalibratedClassifierCV(lupi.SVCPlus(), cv=3)),
    "a pipeline": lambda: make_pipeline(StandardScaler(), lupi.SVCDeltaPlus()).fit(
        X, Y, svcdeltaplus__privileged=P
    ),
    "sensitive features": lambda: fitted(
        lupi.FairSVCDeltaPlus(), privileged=None, sensitive_features=P
    ),
    "a last stage of neighbours": lambda: fitted(
        lupi.KnowledgeTransferClassifier(KNeighborsClassifier(algorithm="brute"))
    ),
}


def unpacked(path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def values_found(content: bytes) -> int:
    """How many of the numbers of X* stand in a file, as they are or as text."""
    as_bytes = sum(np.float64(value).tobytes() in content for value in P.ravel())
    as_text = sum(repr(float(value)).encode() in content for value in P.ravel())
    return as_bytes + as_text


@pytest.mark.parametrize("name", MODELS)
def test_a_file_holds_no_row_of_the_privileged_table(tmp_path, name):
    model = MODELS[name]()
    path = tmp_path / "model.skops"
    lupi.save(model, path)
    assert values_found(unpacked(path)) == 0
    table = np.hstack([X, P]) if name == "columns" else X
    loaded = lupi.load(path)
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            ours, theirs = getattr(loaded, method)(table), getattr(model, method)(table)
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "name", ["SVCPlus", "DeviationSVCPlus", "UnifiedSVC", "a map that keeps rows"]
)
def test_correction_is_kept_when_asked_for(tmp_path, name):
    model = MODELS[name]()
    without, kept = tmp_path / "without.skops", tmp_path / "kept.skops"
    lupi.save(model, without)
    lupi.save(model, kept, keep_privileged=True)
    loaded = lupi.load(kept)
    np.testing.assert_array_equal(loaded.correction(P), model.correction(P))
    assert values_found(unpacked(kept)) > 0
    with pytest.raises(ValueError, match="keep_privileged=True"):
        lupi.load(without).correction(P)


def test_saving_changes_nothing_of_the_model(tmp_path):
    model = MODELS["a search"]()
    before = model.best_estimator_.correction(P)
    lupi.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(model.best_estimator_.correction(P), before)


def test_what_is_left_out_is_absent_and_a_refit_brings_it_back(tmp_path):
    path = tmp_path / "model.skops"
    lupi.save(fitted(lupi.GeneralizedDistillationClassifier()), path)
    model = lupi.load(path)
    assert not hasattr(model, "teacher_")
    assert not hasattr(model, "soft_labels_")
    assert hasattr(model.fit(X, Y, privileged=P), "teacher_")


def bomb(path, size, copies=1):
    """A file whose description asks for a large array, many times."""
    lupi.save(lupi.SVCPlus().fit(X, Y), path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(size // 8))
    parts["zeros.npy"] = buffer.getvalue()
    node = {
        "__class__": "ndarray",
        "__module__": "numpy",
        "__loader__": "NdArrayNode",
        "type": "numpy",
        "file": "zeros.npy",
    }
    schema["more"] = [dict(node, __id__=i) for i in range(copies)]
    parts["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(("size", "copies"), [(30_000_000, 1), (3_000_000, 10)])
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, size, copies):
    path = tmp_path / "bomb.skops"
    bomb(path, size, copies)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ModelFileError, match=r"30 MB when it is unpacked.*max_size="):
        lupi.load(path, max_size=20_000_000)
    assert lupi.load(path, max_size=40_000_000).predict(X).shape == (N,)


def test_the_limit_is_on_by_default(tmp_path, monkeypatch):
    import inspect

    default = inspect.signature(lupi.load).parameters["max_size"].default
    assert default <= 2_000_000_000
