"""Options with several values: ``--privileged a b c``.

An option of Click has a fixed number of values, so that a list is expanded before Click
reads the arguments: ``--privileged a b`` becomes ``--privileged a --privileged b``. A
list ends at the next option, so that it could include a FILE that follows it. If a FILE
is missing, values that look like one are removed from the ends of the lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

COLUMN_LISTS = ("--privileged", "-p", "--drop")
LISTS = {
    "columns": ("--drop",),
    "compare": (*COLUMN_LISTS, "--methods", "-m"),
    "fit": COLUMN_LISTS,
    "predict": ("--keep",),
}
FILES = {"columns": 1, "compare": 1, "fit": 1, "predict": 2}
FLAGS = ("--columns", "--force", "--no-model", "--quick", "--help")
FILE_ENDINGS = (
    *(".csv", ".tsv", ".txt", ".gz", ".parquet", ".pq", ".skops", ".json", ".jsonl"),
    *(".xlsx", ".xls", ".ods", ".db", ".sqlite", ".sqlite3", ".duckdb"),
)

Words = list[str]
Parts = list[tuple[str, Words]]


def write_out_lists(arguments: Sequence[str]) -> list[str]:
    """Repeat the option before every word of its list.

    Parameters
    ----------
    arguments : sequence of str
        Arguments that follow ``lupi`` on the command line.

    Returns
    -------
    list of str
        The arguments with one value per option.

    Examples
    --------
    >>> write_out_lists(["compare", "a.csv", "-p", "cd4", "cd8", "-t", "event"])
    ['compare', 'a.csv', '-t', 'event', '-p', 'cd4', '-p', 'cd8']
    """
    words = list(arguments)
    if not words or words[0] not in LISTS:
        return words
    command, *words = words
    plain, lists, rest = _take_apart(words, LISTS[command])
    missing = FILES[command] - sum(not option for option, _ in plain) - len(rest)
    files = _take_back_files(lists, missing)
    written = [command]
    for option, values in plain:
        written += [option, *values] if option else values
    for option, values in lists:
        # An option without a value is kept, for the error message of Click.
        written += [word for value in values for word in (option, value)] or [option]
    return [*written, *files, *rest]


def _take_apart(words: list[str], lists: Sequence[str]) -> tuple[Parts, Parts, Words]:
    """Return options and files, lists, and the arguments from ``--`` on."""
    plain: Parts = []
    gathered: Parts = []
    while words:
        word = words.pop(0)
        if word == "--":
            return plain, gathered, [word, *words]
        if word in lists:
            values = []
            while words and not _is_option(words[0]):
                values.append(words.pop(0))
            gathered.append((word, values))
        elif not _is_option(word):
            plain.append(("", [word]))
        elif word in FLAGS or "=" in word or not words:
            plain.append((word, []))
        else:
            plain.append((word, [words.pop(0)]))
    return plain, gathered, []


def _take_back_files(lists: Parts, missing: int) -> Words:
    """Remove missing files from the ends of the lists, and return them."""
    files: Words = []
    for _, values in reversed(lists):
        while missing > 0 and len(values) > 1 and _looks_like_a_file(values[-1]):
            files.insert(0, values.pop())
            missing -= 1
    return files


def _looks_like_a_file(word: str) -> bool:
    file = word.partition("::")[0]
    return Path(file).is_file() or file.lower().endswith(FILE_ENDINGS)


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1
