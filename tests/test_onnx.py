"""The lines of the guide that turn fitted models into ONNX, run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from skl2onnx import to_onnx
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import lupi
from lupi.datasets import make_mediator

GUIDE = Path(__file__).parents[1] / "docs" / "guide" / "saving-models.md"
DATA = make_mediator(150, random_state=0)
X, Y, P = DATA.data.astype(np.float32), DATA.target, DATA.privileged


def outputs(onnx, X):
    session = onnxruntime.InferenceSession(onnx.SerializeToString())
    return session.run(None, {"X": X})


def test_the_student_of_a_distillation():
    student = make_pipeline(StandardScaler(), LogisticRegression())
    model = lupi.GeneralizedDistillationClassifier(student=student)
    model.fit(X, Y, privileged=P)
    options = {id(model.student_): {"zipmap": False}}
    labels, probabilities = outputs(to_onnx(model.student_, X[:1], options=options), X)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


def test_the_default_student_of_a_regression():
    y = Y + 0.1 * X[:, 0]
    model = lupi.GeneralizedDistillationRegressor().fit(X, y, privileged=P)
    (values,) = outputs(to_onnx(model.student_, X[:1]), X)
    np.testing.assert_allclose(values.ravel(), model.predict(X), atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*trivial solution:UserWarning")
@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_classifier(classes):
    y = Y if classes == 2 else np.digitize(P[:, 0], np.quantile(P[:, 0], [0.3, 0.7]))
    model = lupi.LinearSVCDeltaPlus(multi_class="ovr").fit(X, y, privileged=P)
    plain = LinearSVC()
    plain.classes_, plain.n_features_in_ = model.classes_, model.n_features_in_
    plain.coef_, plain.intercept_ = model.coef_, model.intercept_
    labels, scores = outputs(to_onnx(plain, X[:1]), X)
    np.testing.assert_array_equal(labels, model.predict(X))
    expected = model.decision_function(X)
    np.testing.assert_allclose(scores.reshape(expected.shape), expected, atol=1e-4)


def test_a_linear_regressor():
    model = lupi.LinearSVRPlus().fit(X, Y + 0.1 * X[:, 0], privileged=P)
    plain = LinearRegression()
    plain.coef_, plain.intercept_ = np.ravel(model.coef_), model.intercept_
    plain.n_features_in_ = model.n_features_in_
    (values,) = outputs(to_onnx(plain, X[:1]), X)
    np.testing.assert_allclose(values.ravel(), model.predict(X), atol=1e-4)


def test_the_guide_runs(tmp_path):
    part = GUIDE.read_text(encoding="utf-8").partition("## ONNX")[2]
    code = "\n".join(re.findall(r"```python\n(.*?)```", part, flags=re.DOTALL))
    assert "to_onnx" in code
    names = {"X": X.astype(float), "y": Y, "P": P}
    names["amount"] = Y + 0.1 * X[:, 0]
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        exec(code, names)
    finally:
        os.chdir(before)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["linear.onnx", "regressor.onnx", "student.onnx"]
    model = names["model"]
    assert isinstance(model, lupi.HedgedDistillationRegressor)
    far = np.vstack([X, 100 * X])
    session = onnxruntime.InferenceSession(tmp_path / "regressor.onnx")
    (values,) = session.run(None, {"X": far})
    np.testing.assert_allclose(values.ravel(), model.predict(far), atol=1e-4)
    assert set(model.prediction_range_) <= set(model.predict(far))


# `tests/packaging/test_core.py` saves and loads every model without these packages.
@pytest.mark.slow
def test_a_saved_model_predicts_with_the_core_packages_alone(tmp_path):
    """No pandas, skrub, matplotlib or compiler of a display where models serve."""
    model = make_pipeline(StandardScaler(), lupi.SVCPlus())
    model.fit(X, Y, svcplus__privileged=P)
    lupi.save(model, tmp_path / "model.skops")
    np.save(tmp_path / "X.npy", X)
    program = """
import sys
class Core:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pandas", "skrub", "matplotlib", "clarabel", "rich"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Core())
import lupi, numpy as np
print(lupi.load("model.skops").predict(np.load("X.npy")).tolist())
"""
    source = str(Path(lupi.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert eval(done.stdout) == model.predict(X).tolist()
