"""Tables of medicine: cohorts and trials that were followed over years."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lupi._optional import optional
from lupi.datasets._shipped import (
    load_actg175,
    load_breast_cancer_privileged,
    load_pima,
)
from lupi.datasets._tables._registry import r_table, shipped, table

if TYPE_CHECKING:
    import pandas as pd

    from lupi.datasets._tables._registry import Parts
else:
    pd = optional("pandas", "Reading a table")

YEAR = 365.25


@table(
    subject="medicine",
    task="classification",
    source="AIDS Clinical Trials Group Study 175; shipped with lupi",
    license="CC BY 4.0",
    why_privileged="The counts are taken 20 weeks after the therapy has been chosen.",
)
def actg175() -> Parts:
    """Baseline of 2139 patients with HIV; CD4 and CD8 at week 20; event or not."""
    return shipped(load_actg175)


@table(
    subject="medicine",
    task="classification",
    source="UCI, Pima Indians Diabetes; shipped with lupi",
    license="published without a license text",
    why_privileged=(
        "Glucose and insulin come from a two-hour test that follows the examination."
    ),
)
def pima() -> Parts:
    """Examination of 768 women, then a glucose tolerance test; diabetes or not."""
    return shipped(load_pima)


@table(
    subject="medicine",
    task="classification",
    source="UCI, Breast Cancer Wisconsin (Diagnostic), from scikit-learn",
    license="CC BY 4.0",
    why_privileged="Spread and extremes need every nucleus outlined by hand.",
    null=True,
)
def breast_cancer() -> Parts:
    """Averages over the cell nuclei of 569 biopsies; spread and extremes as X*.

    The averages separate the classes so well (AUC about 0.99) that X* adds nothing.
    """
    return shipped(load_breast_cancer_privileged)


@table(
    subject="medicine",
    task="classification",
    source="R package survival, pbcseq",
    license="LGPL (>= 2)",
    why_privileged="The laboratory values are those of later visits, up to day 800.",
)
def cirrhosis() -> Parts:
    """First visit; laboratory within 800 days; dead within seven years.

    Only patients alive at day 800 whose status at seven years is known.
    """
    visits = r_table("survival", "pbcseq")
    late = visits[visits["day"].between(151, 799)]
    late = late.sort_values("day").groupby("id").last()
    first = visits[visits["day"] == 0].set_index("id")
    died = first["status"] == 2
    known = (first["futime"] > 800) & (died | (first["futime"] >= 7 * YEAR))
    first = first[known & first.index.isin(late.index)]
    laboratory = ["bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"]
    signs = ["ascites", "hepato", "spiders", "edema", "stage"]
    later = late.loc[first.index, [*signs[:-1], *laboratory]].add_suffix("_later")
    dead = died[first.index] & (first["futime"] < 7 * YEAR)
    return first[["trt", "age", "sex", *signs, *laboratory]], later, dead.astype(int)


def _relapse(time: pd.Series, event: pd.Series, landmark: float) -> pd.DataFrame:
    """Return the indicator and the day of a relapse up to the landmark."""
    seen = (event == 1) & (time <= landmark)
    return pd.DataFrame({"relapse": seen, "relapse_day": time.where(seen, landmark)})


@table(
    subject="medicine",
    task="classification",
    source="R package survival, rotterdam",
    license="LGPL (>= 2)",
    why_privileged="A relapse within two years is not known when surgery is done.",
)
def breast_cancer_recurrence() -> Parts:
    """Tumor at surgery; relapse within two years; dead within seven years.

    Only patients alive after two years (so that X* is observed before y) whose status
    at seven years is known.
    """
    cohort = r_table("survival", "rotterdam")
    died = cohort["death"] == 1
    known = (cohort["dtime"] > 2 * YEAR) & (died | (cohort["dtime"] >= 7 * YEAR))
    cohort = cohort[known].reset_index(drop=True)
    later = _relapse(cohort["rtime"], cohort["recur"], 2 * YEAR)
    dead = (cohort["death"] == 1) & (cohort["dtime"] < 7 * YEAR)
    tumor = ["size", "grade", "nodes", "pgr", "er"]
    return (
        cohort[["year", "age", "meno", *tumor, "hormon", "chemo"]],
        later,
        dead.astype(int),
    )


@table(
    subject="medicine",
    task="classification",
    source="R package survival, colon",
    license="LGPL (>= 2)",
    why_privileged="A relapse within two years is not known when surgery is done.",
)
def colon_cancer() -> Parts:
    """Tumor and treatment at surgery; relapse within two years; dead within five.

    Only patients alive after two years (so that X* is observed before y) whose status
    at five years is known.
    """
    events = r_table("survival", "colon").set_index("id")
    death = events[events["etype"] == 2]
    relapse = events[events["etype"] == 1].loc[death.index]
    died = death["status"] == 1
    known = (death["time"] > 2 * YEAR) & (died | (death["time"] >= 5 * YEAR))
    death, relapse = death[known], relapse[known]
    later = _relapse(relapse["time"], relapse["status"], 2 * YEAR)
    dead = (death["status"] == 1) & (death["time"] < 5 * YEAR)
    tumor = ["obstruct", "perfor", "adhere", "nodes", "node4", "differ", "extent"]
    return death[["rx", "sex", "age", "surg", *tumor]], later, dead.astype(int)


@table(
    subject="medicine",
    task="classification",
    source="R package survival, flchain",
    license="LGPL (>= 2)",
    why_privileged="The free light chains were assayed in stored samples, years later.",
)
def light_chains() -> Parts:
    """Age, sex and creatinine of residents; free light chains; dead in ten years.

    Residents of Olmsted County aged 50 or more whose status at ten years is known.
    """
    cohort = r_table("survival", "flchain")
    died = cohort["death"] == 1
    cohort = cohort[died | (cohort["futime"] >= 10 * YEAR)]
    dead = (cohort["death"] == 1) & (cohort["futime"] < 10 * YEAR)
    return (
        cohort[["age", "sex", "sample.yr", "creatinine"]],
        cohort[["kappa", "lambda"]],
        dead.astype(int),
    )


@table(
    subject="medicine",
    task="classification",
    source="R package survival, nwtco",
    license="LGPL (>= 2)",
    why_privileged="The reading of the central laboratory reaches the clinic later.",
)
def wilms_tumor() -> Parts:
    """Stage, age and the hospital's own histology; central histology; relapse."""
    cohort = r_table("survival", "nwtco")
    return (
        cohort[["instit", "stage", "study", "age"]],
        cohort[["histol"]],
        cohort["rel"],
    )


@table(
    subject="medicine",
    task="classification",
    source="R package causaldata, nhefs (NHANES I Epidemiologic Follow-up Study)",
    license="MIT",
    why_privileged="Weight and smoking of 1982 are not known in 1971.",
)
def smokers() -> Parts:
    """Smokers examined in 1971; weight and smoking in 1982; dead by 1992.

    Nobody in the table died before 1982. X* is partly missing for those who were not
    examined again.
    """
    cohort = r_table("causaldata", "nhefs")
    habits = ["smokeintensity", "smokeyrs", "alcoholfreq", "active", "exercise"]
    body = ["ht", "wt71", "sbp", "dbp", "cholesterol"]
    history = ["asthma", "bronch", "hbp", "diabetes", "tumor", "chroniccough"]
    person = ["age", "sex", "race", "income", "marital", "school"]
    return (
        cohort[[*person, *body, *habits, *history]],
        cohort[["qsmk", "smkintensity82_71", "wt82"]],
        cohort["death"],
    )


@table(
    subject="medicine",
    task="regression",
    source="R package mosaicData, Gestation",
    license="GPL (>= 2)",
    why_privileged="The length of a pregnancy is known at its end.",
)
def birth_weight() -> Parts:
    """Parents of 1200 children; length of the pregnancy; weight at birth."""
    births = r_table("mosaicData", "Gestation").dropna(subset=["wt", "gestation"])
    mother = ["parity", "race", "age", "ed", "ht", "wt.1", "smoke"]
    father = ["drace", "dage", "ded", "dht", "dwt", "marital", "inc"]
    weeks = births["gestation"]
    later = pd.DataFrame({"gestation": weeks, "up_to_270": weeks.clip(upper=270)})
    return births[[*mother, *father]], later, births["wt"].astype(float)
