"""Commands as text and as data: to be typed again, or run again from their results."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lupi.cli._data import Request
from lupi.cli._errors import OPTIONS, InputError, refusing
from lupi.evaluation._json import read_json
from lupi.evaluation._methods import find_method


def _data_words(request: Request) -> list[str]:
    """Return the words of a command that name the file and its columns."""
    if request.file is None:
        return []
    words = [str(request.file), "--target", str(request.target)]
    for option, values in (
        ("--privileged", request.privileged),
        ("--drop", request.drop),
    ):
        words += [option, *values] if values else []
    if request.privileged_file is not None:
        words += ["--privileged-file", str(request.privileged_file)]
        words += ["--key", str(request.key)]
    if request.group:
        words += ["--group", request.group]
    if request.task:
        words += ["--task", request.task]
    return words


def fit_commands(request: Request, methods: list[str]) -> dict[str, str]:
    """Return, per method, the command that fits it on the same columns."""
    if request.file is None:
        return {}
    commands = {}
    for name in methods:
        # A method asked for twice is called "SVCPlus (2)" the second time.
        kebab = find_method(name.split(" (")[0]).kebab
        end = ["--method", kebab, "--out", "model.skops"]
        commands[name] = shlex.join(["lupi", "fit", *_data_words(request), *end])
    return commands


def remember(
    request: Request, methods: list[str], options: dict[str, Any]
) -> dict[str, Any]:
    """Return what a results file keeps of a command: as text, and as data."""
    words = ["lupi", "compare", *_data_words(request), "--methods", ",".join(methods)]
    for name, value in options.items():
        if value is not None:
            words += [OPTIONS[name], str(value)]
    asked = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in asdict(request).items()
    }
    return {
        "command": shlex.join(words),
        "asked": {"request": asked, "methods": methods, "options": options},
    }


@refusing(ValueError)
def recall(path: Path) -> tuple[Request, list[str], dict[str, Any], str]:
    """Return request, methods, options and fingerprint from the results of a study."""
    if not path.exists():
        raise InputError(f"No such file: {path}")
    made = read_json(path)["settings"].get("made", {})
    if "asked" not in made:
        raise InputError(
            f"{path} does not hold a command: that comparison was made in Python."
        )
    asked = made["asked"]
    fields = dict(asked["request"])
    for name in ("file", "privileged_file"):
        if fields.get(name) is not None:
            fields[name] = Path(fields[name])
    return Request(**fields), asked["methods"], asked["options"], made["fingerprint"]
