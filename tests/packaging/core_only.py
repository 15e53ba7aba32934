"""Fit, predict, save and load every model with the core dependencies alone.

Run by tests, in an environment where only these are installed or can be imported:
``python core_only.py FOLDER``. Data come as arrays, and as frames where there is a
library of them.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import lupi
from lupi.testing import check_privileged_estimator

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
P = X[:, :2] + RNG.normal(size=(60, 2))
Y = (P.sum(axis=1) > 0).astype(int)
# What a model cannot be made or fitted without.
NEEDED = {
    "PrivilegedColumns": lambda kind: kind(lupi.SVCPlus(), columns=[2]),
    "TransformedPrivileged": lambda kind: kind(lupi.SVCPlus()),
    "HardMarginSVC": lambda kind: kind(gamma=100.0),
    "IPLClassifier": lambda kind: kind(n_estimators=5, random_state=0),
    "IPLRegressor": lambda kind: kind(n_estimators=5, random_state=0),
    "GBPlusClassifier": lambda kind: kind(n_estimators=5, random_state=0),
}
TAKE_NO_PRIVILEGED = {"PrivilegedColumns", "HardMarginSVC", "Adviceptron"}
# What more than the core they need, with the command that brings it.
NEED_MORE = {"KnowledgeBasedSVC": 'pip install "lupi[advice]"'}


def frames(table):
    """The table as every kind of frame that can be had here."""
    names = [f"c{i}" for i in range(table.shape[1])]
    for library in ("pandas", "polars"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        yield module.DataFrame({n: table[:, i] for i, n in enumerate(names)})


def refusal(action) -> str:
    """What the ImportError of an action says; nothing when there is none."""
    try:
        action()
    except ImportError as error:
        return str(error)
    return ""


def main(folder: Path) -> None:
    done = []
    has_pandas = any(type(table).__module__.startswith("pandas") for table in frames(X))
    for name in lupi.__all__:
        kind = getattr(lupi, name)
        if not hasattr(kind, "__lupi_info__"):
            continue
        model = NEEDED.get(name, lambda kind: kind())(kind)
        y = X[:, 0] if name.endswith(("Regressor", "SVRPlus")) else Y
        more = {} if name in TAKE_NO_PRIVILEGED else {"privileged": P}
        if name == "FairSVCDeltaPlus":
            more["sensitive_features"] = np.where(X[:, 0] > 0, "a", "b")
        if name in NEED_MORE:
            assert NEED_MORE[name] in refusal(lambda model=model, y=y: model.fit(X, y))
            continue
        model.fit(X, y, **more)
        expected = model.predict(X)
        path = folder / f"{name}.skops"
        lupi.save(model, path)
        assert np.array_equal(lupi.load(path).predict(X), expected), name
        for table in frames(X):
            again = model.fit(table, y, **more).predict(table)
            assert np.array_equal(again, expected), (name, type(table))
        done.append(name)
    check_privileged_estimator(lupi.SVCPlus())
    for words in (
        "from lupi.evaluation import compare; compare",
        "from lupi.datasets import load_pima; load_pima()",
        "lupi.IPLClassifier(engine='xgboost').fit(X, Y)",
        "from lupi.inspection import SpacesDisplay; SpacesDisplay.from_estimator("
        "lupi.SVCPlus().fit(X, Y), X, Y)",
        "from lupi.datasets import make_slack_teacher; "
        "make_slack_teacher(as_frame=True)",
    ):
        said = refusal(lambda words=words: exec(words, {"lupi": lupi, "X": X, "Y": Y}))
        # With pandas some of them work.
        assert 'pip install "lupi[' in said or (not said and has_pandas), words
    print(len(done), "models with the core alone")


if __name__ == "__main__":
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message=".*trivial solution")
    warnings.filterwarnings("ignore", message=".*beyond the noise of the model")
    main(Path(sys.argv[1]))
