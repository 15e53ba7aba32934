"""Tables of work: panels of people over several years."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lupi._optional import optional
from lupi.datasets._tables._registry import r_table, table

if TYPE_CHECKING:
    import pandas as pd

    from lupi.datasets._tables._registry import Parts
else:
    pd = optional("pandas", "Reading a table")


def _wide(panel: pd.DataFrame, person: str, value: str) -> pd.DataFrame:
    """Return one row per person, one column per year."""
    return panel.pivot(index=person, columns="year", values=value)


@table(
    subject="work",
    task="regression",
    source="R package wooldridge, wagepan",
    license="GPL-3",
    why_privileged="The wages of 1981 to 1986 are not known in 1980.",
)
def wages() -> Parts:
    """Young men in 1980; their wages of 1981 to 1986; their wage of 1987."""
    panel = r_table("wooldridge", "wagepan")
    wage = _wide(panel, "nr", "lwage")
    first = panel[panel["year"] == 1980].set_index("nr").loc[wage.index]
    person = ["black", "hisp", "educ", "exper", "married", "south"]
    later = wage[list(range(1981, 1987))].add_prefix("lwage_")
    return first[[*person, "hours", "union", "lwage"]], later, wage[1987]


@table(
    subject="work",
    task="regression",
    source="R package plm, LaborSupply",
    license="GPL (>= 2)",
    why_privileged="Hours and wages of 1980 to 1987 are not known in 1979.",
)
def labor_supply() -> Parts:
    """Men in 1979; hours and wages of 1980 to 1987; hours worked in 1988."""
    panel = r_table("plm", "LaborSupply")
    hours, wage = _wide(panel, "id", "lnhr"), _wide(panel, "id", "lnwg")
    first = panel[panel["year"] == 1979].set_index("id").loc[hours.index]
    between = list(range(1980, 1988))
    later = pd.concat(
        [hours[between].add_prefix("lnhr_"), wage[between].add_prefix("lnwg_")], axis=1
    )
    return first[["lnhr", "lnwg", "kids", "age", "disab"]], later, hours[1988]


@table(
    subject="work",
    task="regression",
    source="R package wooldridge, jtrain3",
    license="GPL-3",
    why_privileged="The earnings of 1975 are not known in 1974.",
)
def earnings() -> Parts:
    """Men in 1974, trainees among them; earnings of 1975; earnings of 1978."""
    people = r_table("wooldridge", "jtrain3")
    person = ["train", "age", "educ", "black", "hisp", "married"]
    return people[[*person, "re74", "unem74"]], people[["re75"]], people["re78"]


@table(
    subject="work",
    task="classification",
    source="R package carData, Rossi",
    license="GPL (>= 2)",
    why_privileged="Whether somebody finds work is not known at the day of release.",
)
def recidivism() -> Parts:
    """Released prisoners; weeks in work; arrested in the second half of the year.

    Only those not arrested in the first half, so that X* is observed before y.
    """
    released = r_table("carData", "Rossi")
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
