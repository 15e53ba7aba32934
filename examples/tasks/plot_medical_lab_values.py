"""
A medical table with lab values that arrive later
=================================================

ACTG 175 is a clinical trial of 2139 patients with HIV. On day 0 only the baseline is
known. For the patients of the trial the blood counts of week 20 are known too, but not
for new patients at the time of prediction of an event.

The counts are therefore privileged information: they can be used for training, and are
not needed to predict.
"""

# %%
# One table, two parts
# --------------------
import matplotlib.pyplot as plt
import pandas as pd

from lupi import GeneralizedDistillationClassifier, SVCPlus
from lupi.datasets import load_actg175
from lupi.evaluation import compare

trial = load_actg175(as_frame=True)
print("known on day 0:  ", ", ".join(trial.data.columns[:8]), "…")
print("known at week 20:", ", ".join(trial.privileged.columns))

# %%
# Does it help?
# -------------
# Each method is trained on 60 patients, on the same 12 random choices of them, and
# tested on all others: without X*, with X*, with shuffled X*, with X as X*, and by an
# oracle that has X* when predicting. Preprocessing and parameters are fitted on the 60
# patients.
comparison = compare(
    trial.data,
    trial.target,
    trial.privileged,
    methods=[GeneralizedDistillationClassifier(), SVCPlus()],
    train_size=60,
    cv=12,
    n_candidates=6,
    random_state=0,
)
print(comparison.verdict)
print(comparison.table.round(3).to_string(index=False))
comparison.plot(kind="difference")
plt.show()

# %%
# Generalized distillation helps here: AUC 0.62 instead of 0.58, about 60 % of what the
# oracle gains, and shuffled X* has no gain. SVM+ does not help, on the same patients
# and with the same counts. Therefore compare several methods, with controls. The first
# choice is hedged distillation, which can also use the patients whose outcome is not
# known yet: see :doc:`/guide/unlabelled`.
#
# A model to keep
# ---------------
# ``comparison.best_estimator()`` is the best model, fitted on all patients. For a test,
# the best method is trained here on 400 patients, and ranks the others by risk, from
# the baseline alone.
model = GeneralizedDistillationClassifier().fit(
    trial.data[:400], trial.target[:400], privileged=trial.privileged[:400]
)
risk = model.decision_function(trial.data[400:])
fifths = pd.qcut(risk, 5, labels=["lowest", "second", "third", "fourth", "highest"])
rates = trial.target[400:].groupby(fifths, observed=True).mean()
print("patients with an event, by fifths of the predicted risk:")
print(rates.map("{:.0%}".format).to_string(header=False))
