"""The columns of tables of R that are made from others, by the name of the table.

The privileged columns are known for training rows, cannot be known when predicting, and
are observed before the outcome or with it, without being a part of it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

_YEAR = 365.25


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


def cirrhosis(visits: pd.DataFrame) -> pd.DataFrame:
    late = visits[visits["day"].between(151, 799)]
    late = late.sort_values("day").groupby("id").last().add_suffix("_later")
    first = visits[visits["day"] == 0].set_index("id")
    return _survival(first, "futime", first["status"] == 2, 7, 800).join(
        late, how="inner"
    )


def breast_cancer_recurrence(cohort: pd.DataFrame) -> pd.DataFrame:
    cohort = _survival(cohort, "dtime", cohort["death"] == 1, 7, 2 * _YEAR)
    return _relapse(cohort, "rtime", "recur")


def colon_cancer(events: pd.DataFrame) -> pd.DataFrame:
    events = events.set_index("id")
    death, relapse = (events[events["etype"] == kind] for kind in (2, 1))
    death = death.join(relapse[["time", "status"]].add_suffix("_relapse"))
    death = _survival(death, "time", death["status"] == 1, 5, 2 * _YEAR)
    return _relapse(death, "time_relapse", "status_relapse")


def light_chains(cohort: pd.DataFrame) -> pd.DataFrame:
    return _survival(cohort, "futime", cohort["death"] == 1, 10)


def birth_weight(births: pd.DataFrame) -> pd.DataFrame:
    return births.assign(up_to_270=births["gestation"].clip(upper=270))


def star(pupils: pd.DataFrame) -> pd.DataFrame:
    return pupils.assign(score_3=pupils["read3"] + pupils["math3"])


class_size = star


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


def wages(panel: pd.DataFrame) -> pd.DataFrame:
    return _by_year(panel, "nr", "lwage")


def labor_supply(panel: pd.DataFrame) -> pd.DataFrame:
    return _by_year(panel, "id", "lnhr", "lnwg")


def recidivism(released: pd.DataFrame) -> pd.DataFrame:
    released = released[released["week"] > 26]
    weeks = released[[f"emp{week}" for week in range(1, 27)]].eq("yes")
    return released.assign(
        first_quarter=weeks.iloc[:, :13].mean(axis=1),
        second_quarter=weeks.iloc[:, 13:].mean(axis=1),
    )


def flights(trips: pd.DataFrame) -> pd.DataFrame:
    return trips.assign(late=(trips["arr_delay"] > 15).astype(int))


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


def pigs(growth: pd.DataFrame) -> pd.DataFrame:
    weight = growth.pivot_table(index="Pig", columns="Time", values="Weight").dropna()
    weight.columns = [f"week_{int(week)}" for week in weight]
    return weight.join(growth.groupby("Pig")[["Evit", "Cu", "Litter"]].first())
