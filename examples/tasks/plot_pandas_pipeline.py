"""
pandas, Pipeline and GridSearchCV
=================================

Three ways to pass privileged columns with scikit-learn's tools. All give a model that
predicts without them.
"""

# %%
# One table: name the columns
# ---------------------------
# ``PrivilegedColumns`` separates them from one table when fitting. When predicting they
# may be absent. Because only one table is passed, every tool of scikit-learn works on
# it, and each part has its own preprocessing.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn import config_context
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi import PrivilegedColumns, SVCPlus, TransformedPrivileged
from lupi.datasets import load_actg175

trial = load_actg175(as_frame=True)
table = pd.concat([trial.data, trial.privileged], axis=1).sample(300, random_state=0)
y = trial.target[table.index]
later = list(trial.privileged.columns)

inner = make_pipeline(
    SimpleImputer(),
    StandardScaler(),
    TransformedPrivileged(SVCPlus(), StandardScaler()),
)
model = PrivilegedColumns(inner, columns=later)
model.fit(table, y)
print("predicts from", table.shape[1] - len(later), "of", table.shape[1], "columns:")
others = trial.data.drop(index=table.index)
ranked = np.argsort(model.decision_function(others))
events = trial.target[others.index].to_numpy()[ranked]
print(
    f"events among the {len(others) // 10} patients with the lowest decision values:",
    f"{events[: len(others) // 10].mean():.0%},",
    f"with the highest: {events[-(len(others) // 10) :].mean():.0%}",
)

# %%
# A search over it
# ----------------
# Parameters of both spaces, by their path.
path = "estimator__transformedprivileged__estimator__"
search = GridSearchCV(
    model,
    {f"{path}C": [0.1, 1.0, 10.0], f"{path}privileged_reg": [0.1, 10.0]},
    scoring="roc_auc",
    cv=StratifiedShuffleSplit(4, test_size=0.5, random_state=0),
)
search.fit(table, y)
best = {key.removeprefix(path): value for key, value in search.best_params_.items()}
print(f"best {best}, AUC {search.best_score_:.3f}")

tried = pd.DataFrame(search.cv_results_).pivot_table(
    values="mean_test_score",
    index=f"param_{path}C",
    columns=f"param_{path}privileged_reg",
)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (reg, column), style in zip(tried.items(), ("o-", "s--"), strict=True):
    colour = "#0072B2" if style == "o-" else "#E69F00"
    ax.plot(tried.index, column, style, color=colour, label=f"privileged_reg = {reg:g}")
ax.set(xscale="log", xlabel="C", ylabel="AUC on the test folds")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Two tables: ``privileged=``
# ---------------------------
# The estimators take X* as an argument of ``fit``, and scikit-learn slices it per fold.
X, privileged = table.drop(columns=later), table[later]
direct = GridSearchCV(SVCPlus(), {"C": [0.1, 1.0, 10.0]}, scoring="roc_auc", cv=3)
direct.fit(X, y, privileged=privileged)
print("directly:", direct.best_params_)

# %%
# Through a Pipeline the argument has the name of its step in front. With metadata
# routing switched on it keeps its name.
inner.fit(X, y, transformedprivileged__privileged=privileged)
with config_context(enable_metadata_routing=True):
    routed = make_pipeline(StandardScaler(), SVCPlus()).fit(X, y, privileged=privileged)
print("both predict from X alone:", len(inner.predict(X)) == len(routed.predict(X)))

# %%
# Patients whose counts were never taken
# --------------------------------------
# A row in which every value of X* is missing is allowed: it has an ordinary slack.
some = privileged.astype(float).copy()
some.iloc[:100] = float("nan")
scaled = TransformedPrivileged(SVCPlus(), StandardScaler())
scaled.fit(StandardScaler().fit_transform(X), y, privileged=some)
print(
    "trained with X* for", int(some.notna().all(axis=1).sum()), "of", len(some), "rows"
)
