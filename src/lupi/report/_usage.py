"""Commands and Python code that use the model, for the page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lupi.report._words import choice_words

if TYPE_CHECKING:
    from lupi.evaluation import Comparison

SAVED = "model.skops"


@dataclass(frozen=True)
class Usage:
    """Source of the data and path of the saved model, for the report.

    Attributes
    ----------
    source : str
        Name of the file or of the data set.
    model : str or None
        Path of the saved model; None if no model is saved.
    commands : mapping of str to str
        Commands that fit and save each method, by method.

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
    """Sentences, commands and Python code that use the model."""

    sentences: list[str]
    commands: list[str]
    code: str


def page_usage(usage: Usage, comparison: Comparison) -> CodePart:
    """Return the model to use, with commands and code."""
    if comparison.verdict.kind == "failed":
        return CodePart(["There is no model to use."], [], "")
    method, arm = comparison.choice
    which = choice_words(comparison)
    predict = shlex.join(["lupi", "predict", usage.model or SAVED, "new.csv"])
    if usage.model:
        sentences = [f"The model saved as {usage.model} is {which}."]
        commands = [predict]
    else:
        sentences = [f"The model to use is {which}."]
        fitted = usage.commands.get(method) if arm == "with" else None
        commands = [fitted, predict] if fitted else []
    others = [name for name in usage.commands if (name, "with") != (method, arm)]
    if others:
        sentences.append("The last command fits another method, or this one with X*.")
        commands.append(usage.commands[others[0]])
    lines = [
        "import lupi, pandas as pd",
        f"model = lupi.load({usage.model or SAVED!r})",
        'table = pd.read_csv("new.csv")  # the privileged columns are not needed',
        "print(model.predict(table[model.feature_names_in_]))",
    ]
    if not commands:
        lines.insert(1, f"lupi.save(comparison.best_estimator(), {SAVED!r})")
    return CodePart(sentences, commands, "\n".join(lines))
