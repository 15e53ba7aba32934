"""Train on what is known later, predict from what is known now.

ACTG 175 is a clinical trial. X is what a doctor knows on day 0; the privileged
features are blood counts at week 20, which no new patient has when the question is
asked. Each model is trained on 60 patients, once without and once with these counts,
and tested on all others, for the same 24 random choices of the 60.
"""

from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi import GeneralizedDistillationClassifier, SVCPlus, TransformedPrivileged
from lupi.datasets import load_actg175

trial = load_actg175()
folds = StratifiedShuffleSplit(24, train_size=60, random_state=0)
models = {
    "SVM+": make_pipeline(
        StandardScaler(),
        TransformedPrivileged(SVCPlus(), StandardScaler()),
    ),
    "distillation": make_pipeline(GeneralizedDistillationClassifier()),
}

print(f"{'AUC':14s}{'without':>9s}{'with':>9s}{'gain':>16s}")
for name, model in models.items():
    argument = f"{model.steps[-1][0]}__privileged"
    without, taught = (
        cross_val_score(
            model, trial.data, trial.target, cv=folds, scoring="roc_auc", params=params
        )
        for params in ({}, {argument: trial.privileged})
    )
    gain = taught - without
    error = gain.std(ddof=1) / len(gain) ** 0.5
    print(
        f"{name:14s}{without.mean():9.3f}{taught.mean():9.3f}"
        f"{gain.mean():+9.3f} ± {error:.3f}"
    )
