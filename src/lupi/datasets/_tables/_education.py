"""Tables of education: pupils and students over the years."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lupi.datasets._tables._registry import r_table, table

if TYPE_CHECKING:
    import pandas as pd

    from lupi.datasets._tables._registry import Parts

KINDERGARTEN = ["stark", "readk", "mathk", "lunchk", "schoolk", "degreek"]


def _pupils() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pupils of project STAR with scores at both ends, and their X."""
    pupils = r_table("AER", "STAR")
    pupils = pupils.dropna(subset=["readk", "mathk", "read3", "math3"])
    now = ["gender", "ethnicity", *KINDERGARTEN, "experiencek", "tethnicityk"]
    return pupils, pupils[now]


@table(
    subject="education",
    task="regression",
    source="R package AER, STAR",
    license="GPL-2 or GPL-3",
    why_privileged="The scores of grades 1 and 2 come after kindergarten.",
)
def star() -> Parts:
    """Kindergarten; scores of grades 1 and 2; score of grade 3."""
    pupils, now = _pupils()
    later = pupils[["read1", "math1", "read2", "math2", "lunch1", "lunch2"]]
    return now, later, pupils["read3"] + pupils["math3"]


@table(
    subject="education",
    task="regression",
    source="R package AER, STAR",
    license="GPL-2 or GPL-3",
    why_privileged="The classes of grades 1 to 3 come after kindergarten.",
    null=True,
)
def class_size() -> Parts:
    """Kindergarten; kind of class and teacher in grades 1 to 3; score of grade 3.

    Pupils were randomly assigned to small and regular classes once, and the assignment
    is a part of X: its repetition in later grades adds almost nothing.
    """
    pupils, now = _pupils()
    later = ["star1", "star2", "star3", "degree1", "degree2", "degree3"]
    return now, pupils[later], pupils["read3"] + pupils["math3"]


@table(
    subject="education",
    task="regression",
    source="R package mlmRev, egsingle",
    license="GPL (>= 2)",
    why_privileged="The tests of the two years in between have not been written yet.",
)
def math_growth() -> Parts:
    """A first mathematics test; those of the next two years; that of the third."""
    tests = r_table("mlmRev", "egsingle")
    scores = tests.pivot_table(index="childid", columns="year", values="math")
    scores = scores[[-1.5, -0.5, 0.5, 1.5]].dropna()
    first = tests[tests["year"] == -1.5].set_index("childid").loc[scores.index]
    school = ["size", "lowinc", "mobility"]
    later = scores[[-0.5, 0.5]].set_axis(["math_1", "math_2"], axis=1)
    now = first[["math", "grade", "female", "black", "hispanic", *school]]
    return now, later, scores[1.5]


@table(
    subject="education",
    task="regression",
    source="R package wooldridge, attend",
    license="GPL-3",
    why_privileged="Attendance, homework and grades of a term are known at its end.",
)
def attendance() -> Parts:
    """Records before the course; attendance and grades of the term; final exam."""
    students = r_table("wooldridge", "attend").dropna()
    now = students[["priGPA", "ACT", "frosh", "soph"]]
    return now, students[["attend", "hwrte", "termGPA"]], students["final"]


@table(
    subject="education",
    task="regression",
    source="R package nlme, bdf",
    license="GPL (>= 2)",
    why_privileged="Both tests are written at the end of the year.",
)
def language_test() -> Parts:
    """Tests before the year; arithmetic at its end; language at its end.

    Arithmetic is not between X and language: a teacher of X* alone is misleading.
    """
    pupils = r_table("nlme", "bdf")
    before = ["IQ.verb", "IQ.perf", "aritPRET", "langPRET"]
    now = pupils[["sex", "Minority", "repeatgr", "ses", *before]]
    return now, pupils[["aritPOST"]], pupils["langPOST"].astype(float)


@table(
    subject="education",
    task="regression",
    source="R package wooldridge, voucher",
    license="GPL-3",
    why_privileged="How many years a pupil will use the voucher is not known before.",
    null=True,
)
def vouchers() -> Parts:
    """Score of 1990 and years selected; years in a private school; score of 1994.

    The years used depend on the years selected, which are a part of X, and have no
    further effect on the score: X* adds nothing.
    """
    pupils = r_table("wooldridge", "voucher").dropna(subset=["mnce", "mnce90"])
    now = pupils[["female", "black", "hispanic", "mnce90", "selectyrs"]]
    return now, pupils[["choiceyrs"]], pupils["mnce"]
