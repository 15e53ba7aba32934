"""Print the AUC of ordinary learners on the 60 known outcomes of the README's example.

The same 40 splits of ACTG 175 as there: 60 patients with an outcome to learn from, X
alone, and the patients from the 1061st on to test. Run: python docs/readme_baselines.py
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi.datasets import load_actg175

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())
LEARNERS = {
    "logistic regression, defaults": LOGISTIC,
    "logistic regression, tuned C": GridSearchCV(
        LOGISTIC, {"logisticregression__C": 10.0 ** np.arange(-4, 3)}, scoring="roc_auc"
    ),
    "random forest": RandomForestClassifier(200, min_samples_leaf=3, random_state=0),
}

if __name__ == "__main__":
    trial = load_actg175()
    X, y = trial.data, trial.target
    for name, learner in LEARNERS.items():
        scores = []
        for seed in range(40):
            rows = np.random.default_rng(seed).permutation(len(y))
            train, test = rows[:60], rows[1060:]
            learner.fit(X[train], y[train])
            scores.append(roc_auc_score(y[test], learner.predict_proba(X[test])[:, 1]))
        print(f"{name:<30} AUC {np.mean(scores):.3f}")
