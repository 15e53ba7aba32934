"""How the reader gets from the page to predictions: commands and lines of Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lupi.evaluation import Comparison

SAVED = "model.skops"


@dataclass(frozen=True)
class Usage:
    """How the reader gets from the page to predictions.

    Attributes
    ----------
    source : str
        What was compared: a file, or the name of a data set.
    model : str or None
        Path of the saved model as the reader would write it; None when none is saved.
    commands : mapping of str to str
        Per method, the command that fits and saves it, for the reader to copy.

    Examples
    --------
    >>> from lupi.report import Usage
    >>> Usage("patients.csv", model="model.skops").source
    'patients.csv'
    """

    source: str = "data"
    model: str | None = None
    commands: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CodePart:
    """How to save a model and use it."""

    sentences: list[str]
    command: str | None
    code: str


def page_usage(usage: Usage, comparison: Comparison) -> CodePart:
    """Say which model to use and how."""
    if comparison.verdict.kind == "failed":
        return CodePart(["There is no model to use."], None, four_lines(SAVED))
    method, arm = comparison.choice
    which = f"{method}, trained with X*"
    if arm == "without":
        which = (
            f"{method} without X*, because nothing here supports using the privileged "
            "information"
        )
    if usage.model:
        sentence = f"The model saved as {usage.model} is {which}. In Python:"
        return CodePart([sentence], None, four_lines(usage.model))
    sentences = [f"The model to use is {which}."]
    command = usage.commands.get(method) if arm == "with" else None
    if command:
        sentences.append("Fit and save it, then use it in four lines of Python:")
    else:
        sentences.append(
            f"Save it with lupi.save(comparison.best_estimator(), {SAVED!r}), then:"
        )
    return CodePart(sentences, command, four_lines(SAVED))


def method_usage(usage: Usage, comparison: Comparison, method: str) -> CodePart:
    """Say how to save this very method, trained with X*, and use it."""
    if usage.model and comparison.choice == (method, "with"):
        sentence = f"It is the model saved as {usage.model}:"
        return CodePart([sentence], None, four_lines(usage.model))
    command = usage.commands.get(method)
    if command:
        return CodePart(
            ["To fit it on all rows, save it and predict without X*:"],
            command,
            four_lines(SAVED),
        )
    sentence = (
        f"Save it with lupi.save(comparison.best_estimator(method={method!r}), "
        f"{SAVED!r}), then:"
    )
    return CodePart([sentence], None, four_lines(SAVED))


def four_lines(model: str) -> str:
    """Return the four lines that load a model and predict."""
    return "\n".join(
        [
            "import lupi, pandas as pd",
            f"model = lupi.load({model!r})",
            'table = pd.read_csv("new.csv")  # the privileged columns are not needed',
            "print(model.predict(table[model.feature_names_in_]))",
        ]
    )
