"""Commands as text and as data, so that a comparison can be repeated."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lupi.cli._data import Request
from lupi.cli._errors import InputError, refusing
from lupi.evaluation._compare import read_json
from lupi.evaluation._methods import find_method

# Parameters of `lupi compare` that do not concern what is compared.
PLACE = ("context", "again", "out", "force", "jobs")
# Parameters that add results to a comparison without changing its scores.
BESIDE = ("no_model", "columns", "column_group")
FILES = ("file", "privileged_file")
# Parameters that replace others, with which they cannot be combined.
DRAWN = {"train_size": ("labelled", "unlabelled"), "labelled": ("train_size",)}


def without_place(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that determine what is compared."""
    return {name: value for name, value in asked.items() if name not in PLACE}


def _words(asked: Mapping[str, Any]) -> list[str]:
    """Return the words of a command that gives these parameters."""
    words = []
    for name, value in asked.items():
        option = f"--{name.replace('_', '-')}"
        if value is None or value is False or value == [] or value == ():
            continue
        if name == "file":
            words.append(str(value))
        elif value is True:
            words.append(option)
        elif name == "column_group":
            words += [word for group in value for word in (option, group)]
        elif isinstance(value, list | tuple):
            words += [option, *value]
        else:
            words += [option, str(value)]
    return words


def fit_commands(request: Request, methods: list[str]) -> dict[str, str]:
    """Return the commands that fit each method on the same columns, by method."""
    if request.file is None:
        return {}
    commands = {}
    for name in methods:
        # A method that is given twice has the name "SVCPlus (2)" the second time.
        kebab = find_method(name.split(" (")[0]).kebab
        end = ["--method", kebab, "--out", "model.skops"]
        commands[name] = shlex.join(["lupi", "fit", *_words(asdict(request)), *end])
    return commands


def remember(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command as text and as data, for the results file."""
    return {
        "command": shlex.join(["lupi", "compare", *_words(asked)]),
        "asked": {
            name: str(value) if isinstance(value, Path) else value
            for name, value in asked.items()
        },
    }


@refusing(ValueError)
def recall(
    path: Path, asked: Mapping[str, Any], given: Iterable[str]
) -> tuple[dict[str, Any], str | None]:
    """Return the parameters of a study that is repeated, and its fingerprint.

    Parameters
    ----------
    path : Path
        The results of the study.
    asked : dict
        The parameters of the present command.
    given : iterable of str
        Those given on the command line: they replace those of the study. The
        fingerprint is then None.
    """
    if not path.exists():
        raise InputError(f"No such file: {path}")
    made = read_json(path)["settings"].get("made", {})
    if "asked" not in made:
        raise InputError(
            f"{path} has no command, because the comparison was made in Python. "
            "Repeat it there."
        )
    kept = {name: value for name, value in made["asked"].items() if name in asked}
    kept |= {name: Path(kept[name]) for name in FILES if kept.get(name) is not None}
    typed = {name: asked[name] for name in given}
    dropped = {other: None for name in DRAWN if name in typed for other in DRAWN[name]}
    changed = set(typed) - set(BESIDE)
    return (
        {**asked, **kept, **dropped, **typed},
        None if changed else made["fingerprint"],
    )
