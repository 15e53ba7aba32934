"""Print the AUC of other models on the 60 known outcomes of the README's example.

The same 40 splits of ACTG 175 as there: 60 patients with an outcome to learn from, and
the patients from the 1061st on to test. Ordinary learners have X alone. The oracle is
hedged distillation without X*, whose features are X and X*, also when predicting. Run:
python docs/readme_baselines.py
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi import HedgedDistillationClassifier
from lupi.datasets import load_actg175

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())
ORACLE = "oracle"
LEARNERS = {
    "logistic regression, defaults": LOGISTIC,
    "logistic regression, tuned C": GridSearchCV(
        LOGISTIC, {"logisticregression__C": 10.0 ** np.arange(-4, 3)}, scoring="roc_auc"
    ),
    "random forest": RandomForestClassifier(200, min_samples_leaf=3, random_state=0),
    ORACLE: HedgedDistillationClassifier(),
}


def score(name: str) -> float:
    """Return the mean AUC of one of the learners."""
    trial = load_actg175()
    X, y = trial.data, trial.target
    if name == ORACLE:
        X = np.hstack([X, trial.privileged])
    scores = []
    for seed in range(40):
        rows = np.random.default_rng(seed).permutation(len(y))
        train, test = rows[:60], rows[1060:]
        model = LEARNERS[name].fit(X[train], y[train])
        scores.append(roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))
    return float(np.mean(scores))


if __name__ == "__main__":
    for name in LEARNERS:
        print(f"{name:<30} AUC {score(name):.3f}")
