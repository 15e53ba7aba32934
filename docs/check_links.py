"""Check the built pages offline: every local link leads somewhere, nothing is fetched.

    python docs/check_links.py docs/_build/html

Fails when a local ``href`` or ``src`` has no file, when a ``#anchor`` is not on its
page, or when a page loads a script, style sheet, image or font from the network. Links
that a reader may follow to the network are left alone.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself; an `a` is fetched only when somebody follows it.
_LOADED = {
    "img": ("src", "srcset"),
    "script": ("src",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
}
_LOADED_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect"}
_IN_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    """The anchors of a page, what it links to and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag defines, links to and loads."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[key] for key in ("id", "name") if key in given)
        if tag in ("a", "area") and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and "href" in given:
            relations = set(given.get("rel", "").split())
            target = self.loaded if relations & _LOADED_RELATIONS else self.links
            target.append(given["href"])
        for name in _LOADED.get(tag, ()):
            if name == "srcset":
                self.loaded += [
                    p.split()[0] for p in given.get(name, "").split(",") if p
                ]
            elif given.get(name):
                self.loaded.append(given[name])


@cache
def read(path: Path) -> Page:
    """Return the parsed page."""
    return Page(path.read_text(encoding="utf-8"))


def is_remote(address: str) -> bool:
    """Say whether an address leads to the network."""
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https")


def problem(page: Path, address: str, root: Path) -> str | None:
    """Say what is wrong with a local address on a page, if anything."""
    parts = urlsplit(address)
    if parts.scheme or not (parts.path or parts.fragment):
        return None
    target = page
    if parts.path:
        start = root if parts.path.startswith("/") else page.parent
        target = (start / unquote(parts.path).lstrip("/")).resolve()
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            return f"{address}: no such file"
        if not target.is_relative_to(root):
            return f"{address}: outside of the site"
    fragment = unquote(parts.fragment)
    # Other kinds of file have no anchors that a parser of pages could see.
    if fragment and target.suffix == ".html" and fragment not in read(target).anchors:
        return f"{address}: no such anchor"
    return None


def check(root: Path) -> tuple[int, list[str]]:
    """Check every page and style sheet; return the number of addresses and faults."""
    root = root.resolve()
    count, faults = 0, []
    for path in sorted(root.rglob("*.html")):
        if "_static" in path.parts:
            continue  # parts of the theme, not pages
        page = read(path)
        for address in page.links + page.loaded:
            count += 1
            fault = None if is_remote(address) else problem(path, address, root)
            if fault:
                faults.append(f"{path.relative_to(root)}: {fault}")
        faults += [
            f"{path.relative_to(root)}: {address}: loaded from the network"
            for address in page.loaded
            if is_remote(address)
        ]
    for path in sorted(root.rglob("*.css")):
        for found in _IN_STYLE.finditer(path.read_text(encoding="utf-8")):
            address = found[1] or found[2]
            count += 1
            if is_remote(address):
                fault = f"{address}: loaded from the network"
            else:
                fault = problem(path, address.split("#")[0], root)
            if fault:
                faults.append(f"{path.relative_to(root)}: {fault}")
    return count, faults


def main(arguments: list[str]) -> int:
    """Check the folder given on the command line."""
    if len(arguments) != 1 or not Path(arguments[0], "index.html").is_file():
        print("usage: check_links.py FOLDER, the folder with index.html")
        return 2
    count, faults = check(Path(arguments[0]))
    for fault in faults:
        print(fault)
    print(f"{count} links and resources checked, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
