"""The arms of a comparison: one table of names, labels and meanings.

Each method is scored in every arm, on the same splits. Columns, JSON, charts, terminal
and report all read this table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arm:
    """One way of running a method.

    ``name`` is the value of the column ``arm``, ``label`` what a reader sees,
    ``meaning`` what it tells.
    """

    name: str
    label: str
    meaning: str


ARMS = {
    arm.name: arm
    for arm in (
        Arm(
            "without",
            "without X*",
            "the same model trained without X*: the baseline",
        ),
        Arm("with", "with X*", "trained with X*, predicts without it: the claim"),
        Arm(
            "shuffled",
            "shuffled X*",
            "trained with the rows of X* permuted among the training rows: a gain "
            "that survives this does not come from the content of X*",
        ),
        Arm(
            "oracle",
            "oracle",
            "a model that sees X* when predicting too: how much there is to gain",
        ),
    )
}
# Methods of one family share the arms that do not train with X*.
FAMILY_ARMS: tuple[str, ...] = ("without", "oracle")
METHOD_ARMS = tuple(name for name in ARMS if name not in FAMILY_ARMS)
