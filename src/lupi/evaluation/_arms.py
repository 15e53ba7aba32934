"""The arms of a comparison: one table of names and labels.

Each method is scored in every arm, on the same splits. Columns, JSON, charts, terminal
and report all use this table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arm:
    """One way of running a method.

    Attributes
    ----------
    name : str
        Value of the column ``arm``.
    label : str
        Label in charts, in the terminal and in the report.
    meaning : str
        Explanation of the arm.
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
        Arm("with", "with X*", "trained with X*, predicts without it: the method"),
        Arm(
            "shuffled",
            "shuffled X*",
            "trained with the rows of X* permuted among the training rows: a gain in "
            "this arm does not come from the content of X*",
        ),
        Arm(
            "self",
            "X as X*",
            "trained with the features X in the place of X*: a gain in this arm comes "
            "from the method, not from X*",
        ),
        Arm(
            "oracle",
            "oracle",
            "a model that has X* when predicting: an estimate of the possible gain",
        ),
    )
}
# Methods of one family share the arms in which the method has no X*.
FAMILY_ARMS: tuple[str, ...] = ("without", "oracle")
METHOD_ARMS = tuple(name for name in ARMS if name not in FAMILY_ARMS)
