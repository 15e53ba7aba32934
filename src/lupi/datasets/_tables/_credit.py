"""Tables of credit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lupi.datasets._shipped import load_german_credit
from lupi.datasets._tables._registry import r_table, shipped, table

if TYPE_CHECKING:
    from lupi.datasets._tables._registry import Parts


@table(
    subject="credit",
    task="classification",
    source="UCI, Statlog (German Credit Data); shipped with lupi",
    license="CC BY 4.0",
    why_privileged="A lender may hold sex, age and origin but not decide by them.",
)
def german_credit() -> Parts:
    """Application; sex, age and origin; credit repaid or not."""
    return shipped(load_german_credit)


@table(
    subject="credit",
    task="classification",
    source="R package AER, CreditCard",
    license="GPL-2 or GPL-3",
    why_privileged="The credit bureau reports after the application, against a fee.",
)
def credit_card() -> Parts:
    """Application for a card; derogatory reports of the bureau; card or no card.

    ``expenditure`` and ``share`` are left out: only holders of the card have values.
    """
    people = r_table("AER", "CreditCard")
    person = ["age", "income", "owner", "selfemp", "dependents", "months"]
    now = people[[*person, "majorcards", "active"]]
    return now, people[["reports"]], (people["card"] == "yes").astype(int)


@table(
    subject="credit",
    task="classification",
    source="R package AER, HMDA",
    license="GPL-2 or GPL-3",
    why_privileged="The credit file is bought after the application has come in.",
)
def mortgage() -> Parts:
    """Application for a mortgage; credit file; denied or not.

    ``insurance`` (mortgage insurance denied) is left out: it is almost the outcome.
    """
    people = r_table("AER", "HMDA")
    ratios = ["pirat", "hirat", "lvrat"]
    person = ["unemp", "selfemp", "single", "hschool", "afam", "condomin"]
    denied = (people["deny"] == "yes").astype(int)
    return people[[*ratios, *person]], people[["chist", "mhist", "phist"]], denied
