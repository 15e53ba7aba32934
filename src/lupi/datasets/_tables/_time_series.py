"""Tables in which X* is observed between the time of prediction and the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lupi._optional import optional
from lupi.datasets._tables._registry import r_table, table

if TYPE_CHECKING:
    import pandas as pd

    from lupi.datasets._tables._registry import Parts
else:
    pd = optional("pandas", "Reading a table")


@table(
    subject="time series",
    task="classification",
    source="R package nycflights13, flights (US Department of Transportation)",
    license="CC0 1.0",
    why_privileged="Delay at departure and time in the air are not in the schedule.",
)
def flights() -> Parts:
    """Schedule; delay at departure, time in the air; more than 15 minutes late."""
    trips = r_table("nycflights13", "flights").dropna(subset=["arr_delay"])
    date = ["month", "day", "hour", "sched_dep_time", "sched_arr_time"]
    now = trips[[*date, "distance", "carrier", "origin"]]
    return now, trips[["dep_delay", "air_time"]], (trips["arr_delay"] > 15).astype(int)


@table(
    subject="time series",
    task="regression",
    source="R package nycflights13, weather (NOAA, Integrated Surface Database)",
    license="CC0 1.0",
    why_privileged="The readings of the next 18 hours have not been taken yet.",
)
def weather() -> Parts:
    """Sensors of an airport now; 6, 12 and 18 hours later; air pressure in 24 hours."""
    readings = r_table("nycflights13", "weather")
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


@table(
    subject="time series",
    task="regression",
    source="R package dplyr, storms (NOAA, Atlantic hurricane database)",
    license="MIT",
    why_privileged="Track and wind of the next 36 hours have not been observed yet.",
)
def storms() -> Parts:
    """A storm when first recorded; 12, 24 and 36 hours later; its wind after 48."""
    records = r_table("dplyr", "storms")
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


@table(
    subject="time series",
    task="regression",
    source="R package geepack, dietox",
    license="GPL (>= 3)",
    why_privileged="The weights of weeks 3 to 11 have not been taken yet.",
)
def pigs() -> Parts:
    """Diet and weights of weeks 1 and 2; weights of weeks 3 to 11; weight of week 12.

    Growth is close to a Markov chain: the last week before the outcome predicts best.
    """
    growth = r_table("geepack", "dietox")
    weight = growth.pivot_table(index="Pig", columns="Time", values="Weight").dropna()
    diet = growth.groupby("Pig")[["Evit", "Cu", "Litter"]].first().loc[weight.index]
    weight.columns = [f"week_{int(week)}" for week in weight]
    now = diet.join(weight[["week_1", "week_2"]])
    later = weight[[f"week_{week}" for week in range(3, 12)]]
    return now, later, weight["week_12"]
