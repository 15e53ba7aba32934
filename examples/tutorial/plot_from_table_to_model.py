"""
From a table to a deployed model
================================

A clinical trial recorded 2139 patients with HIV. The task is to predict on day 0
whether a patient will have an event (a drop of the CD4 count by half, AIDS, or death).
The table of the trial contains columns that are not known on day 0, and while the trial
runs, the outcome of most patients is not known yet. This tutorial shows all steps:
assign the columns, measure whether the later ones help, fit, test, save, and predict
new patients.
"""

# %%
# 1. Which columns are known when predicting?
# -------------------------------------------
# Every column belongs to one of three groups. *Features* (X) are known at the time of
# prediction. *Privileged* columns (X*) are known for the training rows only. Columns
# that are consequences of the target, identifiers and duplicates of the target are left
# out. A column that "predicts too well" was usually recorded later, and is privileged.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lupi
from lupi.datasets import load_actg175
from lupi.evaluation import compare

trial = load_actg175(as_frame=True)
X, P, y = trial.data, trial.privileged, trial.target
print("known on day 0 (X):     ", ", ".join(X.columns))
print("known at week 20 (X*):  ", ", ".join(P.columns))
print(f"events among {len(y)} patients: {y.mean():.0%}")

# %%
# Half of the patients are set aside for the test in step 5. Of the others, suppose that
# the outcome is known for 100; the rest is still under observation.
X_train, X_test, P_train, P_test, y_train, y_test = train_test_split(
    X, P, y, train_size=0.5, stratify=y, random_state=0
)
known = np.arange(len(y_train)) < 100
y_now = y_train.where(known)  # NaN: not known yet

# %%
# 2. A baseline
# -------------
# The baseline is any model of X alone. The oracle has X* when predicting as well; it
# cannot be deployed, and shows the possible gain.
learners = {
    "logistic regression": GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": 10.0 ** np.arange(-4, 2)},
        scoring="roc_auc",
    ),
    "gradient boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0),
}
for name, learner in learners.items():
    for columns, train, test in (
        ("X", X_train, X_test),
        ("X and X*", X_train.join(P_train), X_test.join(P_test)),
    ):
        learner.fit(train[known], y_train[known])
        score = roc_auc_score(y_test, learner.predict_proba(test)[:, 1])
        print(f"{name} on {columns:<8} AUC {score:.3f}")

# %%
# 3. Does the privileged information help?
# ----------------------------------------
# ``compare`` trains every method in several *arms* with the same splits and the same
# search: without X*, with X*, with shuffled X* (its rows permuted), with X as X*, and
# the oracle. ``labelled`` is the number of rows of a training set that have y; the
# others are used without it. The verdict accounts for the correlation of the splits and
# the number of methods. All outcomes of the trial are used for scoring; in a running
# trial only the known ones are available.
#
# The setting of this example was chosen after a first one, 60 outcomes without the
# other patients, had the verdict "no evidence": its p-value is an illustration and not
# evidence. The evidence page has 28 tables that were chosen beforehand.
comparison = compare(
    X_train,
    y_train,
    P_train,
    methods=["hedged-distillation-classifier", "generalized-distillation-classifier"],
    labelled=100,
    unlabelled=400,
    cv=10,
    n_candidates=3,
    random_state=0,
)
print(comparison.verdict)
comparison.plot(kind="difference")
plt.show()

# %%
# 4. The model
# ------------
# Hedged distillation is a weighted average of a student of the labels and students of
# two teachers that have X*. The weights are those of the students.
model = lupi.HedgedDistillationClassifier().fit(X_train, y_now, privileged=P_train)
print({name: round(float(weight), 2) for name, weight in model.weights_.items()})

# %%
# 5. The test
# -----------
# The test uses patients that were not used so far, and X alone. The probabilities
# should be calibrated: of patients with 20 %, 20 of 100 should have the event.
plain = lupi.HedgedDistillationClassifier().fit(X_train, y_now)
risk = model.predict_proba(X_test)[:, 1]
print(f"with X*    AUC {roc_auc_score(y_test, risk):.3f}")
print(f"without X* AUC {roc_auc_score(y_test, plain.predict_proba(X_test)[:, 1]):.3f}")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
CalibrationDisplay.from_predictions(
    y_test, risk, n_bins=8, strategy="quantile", ax=left
)
left.set(xlabel="predicted risk", ylabel="observed rate", xlim=(0, 0.6), ylim=(0, 0.6))
fifths = pd.qcut(risk, 5, labels=["lowest", "2", "3", "4", "highest"])
rates = pd.Series(np.asarray(y_test)).groupby(fifths, observed=True).mean()
right.bar(rates.index, rates, color="#0072B2")
right.set(xlabel="fifth of the predicted risk", ylabel="patients with an event")
right.spines[["top", "right"]].set_visible(False)
plt.show()
print(rates.round(3).to_dict())

# %%
# 6. Save, load, predict
# ----------------------
# The file contains no pickle and no row of X*. The process that predicts needs the
# seven packages of ``pip install lupi``, and the columns of day 0.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "event.skops"
    lupi.save(model, path)
    deployed = lupi.load(path)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
new = X_test.head()
print(
    new[["age", "cd40", "karnof"]]
    .assign(risk=deployed.predict_proba(new)[:, 1].round(3), happened=y_test.head())
    .to_string()
)

# %%
# The same on the command line
# ----------------------------
# .. code-block:: sh
#
#    lupi compare trial.csv --target event --privileged cd420,cd820 --labelled 100
#    lupi fit trial.csv --target event --privileged cd420,cd820 \
#        --method hedged-distillation-classifier
#    lupi predict model.skops new_patients.csv
#
# After deployment
# ----------------
# - Predictions need X only, so nothing changes where the model runs.
# - Outcomes arrive later than X*. Patients whose outcome is not known yet are training
#   rows too: give them a missing y and fit again, as :doc:`/guide/unlabelled` shows.
# - The gain shrinks as outcomes accumulate. Repeat step 3 with the larger table; when
#   the verdict changes to "no evidence", the plain model is as good and simpler.
