"""The page of errata shows every number of its file, and no other by that name."""

import re

from tests.errata.page import DOCS, PRINTED


def test_the_page_shows_every_number_of_the_file():
    page = (DOCS / "errata.md").read_text(encoding="utf-8")
    shown = re.findall(r"\{\{ errata\.(\w+)\[(\d+)\] \}\}", page)
    expected = {
        (key, str(place)) for key, row in PRINTED.items() for place in range(len(row))
    }
    assert set(shown) == expected
    assert page.count("{{") == len(shown)
    # Substitutions do nothing inside code.
    assert not re.findall(r"`[^`\n]*\{\{[^`\n]*`", page)
