"""Fitted models whose files are mutated, with tables that they predict."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor
from skrub import TableVectorizer

import lupi

N, ROWS = 40, 7


def fuzzed():
    """Yield name, model, table, target and further arguments of ``fit``."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    labels = np.where(X[:, 0] + 0.3 * rng.normal(size=N) > 0, "yes", "no")
    three = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    score = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=N)
    P = np.column_stack([X[:, 0], rng.normal(size=N)])
    given = {"privileged": P}
    rule = [lupi.Rule.parse("x0 >= 1 => yes")]
    frame = pd.DataFrame(np.column_stack([X, P]), columns=list("abcpq"))
    few = {"n_estimators": 3, "random_state": 0}
    yield "SVCPlus", lupi.SVCPlus(), X, three, given
    yield "SVCDeltaPlus", lupi.SVCDeltaPlus(kernel="poly"), X, labels, given
    yield "MarginTransferSVC", lupi.MarginTransferSVC(), X, labels, given
    yield "DeviationSVCPlus", lupi.DeviationSVCPlus(), X, labels, given
    yield "UnifiedSVC", lupi.UnifiedSVC(), X, labels, given
    yield "L2SVCPlus", lupi.L2SVCPlus(kernel="linear"), X, labels, given
    yield "LinearSVCPlus", lupi.LinearSVCPlus(), X, three, given
    yield "LinearSVCDeltaPlus", lupi.LinearSVCDeltaPlus(), X, labels, given
    yield "SVRPlus", lupi.SVRPlus(), X, score, given
    yield "LinearSVRPlus", lupi.LinearSVRPlus(), X, score, given
    yield "HardMarginSVC", lupi.HardMarginSVC(), X, X[:, 0] > 0, {}
    fair = {"sensitive_features": np.where(rng.random(N) > 0.5, "f", "m")}
    yield "FairSVCDeltaPlus", lupi.FairSVCDeltaPlus(), X, labels, fair
    gram = X @ X.T
    yield "precomputed", lupi.SVCPlus(kernel="precomputed"), gram, labels, given
    sparse = sp.csr_array(np.where(np.abs(X) > 0.3, X, 0.0))
    yield "sparse", lupi.SVCPlus(), sparse, labels, given
    yield "KnowledgeTransferClassifier", *_transfer(X, three, given)
    distilled = lupi.GeneralizedDistillationClassifier()
    yield "GeneralizedDistillationClassifier", distilled, X, three, given
    regressor = lupi.GeneralizedDistillationRegressor()
    yield "GeneralizedDistillationRegressor", regressor, X, score, given
    yield "HedgedDistillationClassifier", _hedged(), X, three, given
    frames = lupi.HedgedDistillationClassifier(
        student=LogisticRegression(), teacher=LogisticRegression(), cv=2, n_repeats=1
    )
    yield "hedged students", frames, frame[["a", "b"]], labels, {"privileged": P}
    yield "HedgedDistillationRegressor", _hedged(True), X, score, given
    noisy = lupi.NoisyLabelClassifier(cv=2, rates=np.where(X[:, 1] > 0, 0.1, np.nan))
    yield "NoisyLabelClassifier", noisy, X, three, given
    noisy = lupi.NoisyLabelClassifier(LogisticRegression(), cv=2, noise="classwise")
    yield "noisy students", noisy, X, labels, given
    yield "IPLRegressor", lupi.IPLRegressor(**few), X, score, given
    yield "IPLClassifier", lupi.IPLClassifier(**few), sparse, three, given
    grown = lupi.IPLClassifier(**few, engine="xgboost")
    yield "xgboost", grown, X, three, given
    categories = frame[["a", "b"]].assign(t=pd.Categorical(three))
    grown = lupi.IPLRegressor(**few, engine="xgboost", max_depth=2)
    yield "categories", grown, categories, score, given
    yield "GBPlusClassifier", lupi.GBPlusClassifier(**few), X, labels, given
    advised = lupi.KnowledgeBasedSVC(advice=rule)
    yield "KnowledgeBasedSVC", advised, X, labels, {}
    yield "Adviceptron", lupi.Adviceptron(advice=rule), X, labels, {}
    columns = lupi.PrivilegedColumns(lupi.SVCPlus(), ["p", "q"])
    yield "PrivilegedColumns", columns, frame, labels, {}
    inside = lupi.TransformedPrivileged(lupi.LinearSVCPlus(), SimpleImputer())
    yield "TransformedPrivileged", inside, X, labels, given
    yield "LUFeClassifier", lupi.LUFeClassifier(), X, labels, {}
    yield "tree", DecisionTreeRegressor(max_depth=4), X, score, {}
    yield "forest", RandomForestClassifier(**few), X, three, {}
    isolated = make_pipeline(KMeans(3, n_init=1), IsolationForest(**few))
    yield "isolated", isolated, X, None, {}
    nearest = KNeighborsClassifier(algorithm="brute")
    yield "nearest", nearest, X, three, {}
    yield "boosted", GradientBoostingClassifier(**few), X, three, {}
    yield "SVC", SVC(probability=False), X, three, {}
    yield "SVR", SVR(kernel="precomputed"), gram, score, {}
    yield "sparse SVC", SVC(), sp.csr_matrix(sparse), labels, {}
    outputs = MultiOutputRegressor(SVR())
    yield "outputs", outputs, X, np.column_stack([score, score]), {}
    town = np.where(X[:, 1:2] > 0, "Oslo", "Rome").astype(object)
    encoded = make_pipeline(OneHotEncoder(), lupi.LinearSVCDeltaPlus())
    yield "encoded", encoded, town, labels, {}
    text = pd.Series([f"{a} and {b[0]}" for a, b in zip(three, town, strict=True)])
    words = make_pipeline(CountVectorizer(), LogisticRegression())
    yield "words", words, text.to_numpy(), labels, {}
    table = frame[["a"]].assign(
        town=town.ravel(),
        seen=pd.date_range("2020-01-01", periods=N, freq="D").astype(str),
        note=[f"patient {i} said {'ouch' * (i % 3)} on day {i}" for i in range(N)],
    )
    read = make_pipeline(
        TableVectorizer(), SimpleImputer(), StandardScaler(), lupi.SVCPlus()
    )
    yield "table", read, table, labels, {}


def _transfer(X, labels, given):
    model = lupi.KnowledgeTransferClassifier(final_estimator=lupi.LinearSVCDeltaPlus())
    return model, X, labels, given


def _hedged(regressor=False):
    kind = (
        lupi.HedgedDistillationRegressor
        if regressor
        else lupi.HedgedDistillationClassifier
    )
    return kind(cv=2, n_repeats=1)


def saved_models(wanted=()):
    """Return the files of fitted models with tables that they predict, by name."""
    found = {}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        for name, model, table, target, more in fuzzed():
            if wanted and name not in wanted:
                continue
            model.fit(table, target, **more)
            path = Path(folder, "model.skops")
            # What holds rows of X* stays, since it can be forged as well.
            lupi.save(model, path, keep_privileged=True)
            found[name] = (path.read_bytes(), [table[:ROWS]])
    return found
