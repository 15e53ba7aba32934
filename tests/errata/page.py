"""The numbers of docs/errata.md, for comparison with what a test computes."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
NUMBER = r"(−?\d+(?: \d{3})*(?:\.\d+)?)"


def page_says(sentence, *values, within=0.0):
    """Check numbers of the page, to the digits that it prints.

    ``sentence`` is found once on the page, with ``#`` for every number; these are the
    ``values`` when rounded. Trees may differ a little from one release of scikit-learn
    to the next: their numbers may be off by ``within``.
    """
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    parts = " ".join(sentence.split()).split("#")
    found = re.findall(NUMBER.join(map(re.escape, parts)), text)
    assert len(found) == 1, f"{len(found)} times on the page: {sentence}"
    numbers = [found[0]] if len(parts) == 2 else found[0]
    assert len(numbers) == len(values)
    for number, value in zip(numbers, values, strict=True):
        plain = number.replace("−", "-").replace(" ", "")
        unit = 10.0 ** -len(plain.partition(".")[2])
        assert abs(float(plain) - value) <= 0.51 * unit + within, (sentence, value)
