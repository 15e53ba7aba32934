"""The command line ``lupi`` and its commands.

This module imports only what ``lupi --help`` needs; each command imports the rest when
it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from lupi._words import option_names, printable

__all__ = ["main"]

WRONG_INPUT = 2
INTERRUPTED = 130


class InputError(Exception):
    """Input that cannot be used; the message is one sentence for the user."""


class Interrupted(Exception):
    """An interrupt by the user; the message says what is kept."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments that follow ``lupi``; those of the process by default.

    Returns
    -------
    int
        Exit status: 0 for success, 2 if the input could not be used (one line on the
        standard error gives the reason, and nothing is written), 130 if interrupted.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # A file or a pipe may have an encoding without Greek letters, as on Windows.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    for package in ("typer", "rich", "pandas", "jinja2", "matplotlib"):
        if find_spec(package) is None:
            return _refuse(
                f"The command line needs the package {package}, which is not "
                'installed. Install it with: pip install "lupi[cli]"'
            )
    from lupi.cli._app import ClickException, app

    try:
        with option_names():
            result = app(
                arguments or ["--help"], standalone_mode=False, prog_name="lupi"
            )
    except ClickException as error:
        said = error.format_message().rstrip(".")
        context = getattr(error, "ctx", None)
        command = "lupi" if context is None else context.command_path
        return _refuse(f"{said}. Try: {command} --help")
    except InputError as error:
        return _refuse(str(error))
    except Interrupted as interrupt:
        print(printable(f"lupi: {interrupt}"), file=sys.stderr)
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _refuse(sentence: str) -> int:
    # One line, even if a column name in the message has a line break.
    print(printable(f"lupi: {' '.join(sentence.split())}"), file=sys.stderr)
    return WRONG_INPUT
