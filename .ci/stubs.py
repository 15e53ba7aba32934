"""Write what type checkers and editors see of packages whose names are found.

The packages of models import every file they have, and `lupi` finds a name where it is
first used; neither can be read off the source. The stubs beside them say the same in
plain imports: ``python .ci/stubs.py`` writes them, ``--check`` compares.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "lupi"
sys.path.insert(0, str(SOURCE.parent))


def imports(homes: dict[str, str]) -> list[str]:
    """Import statements that bring names from the modules they live in."""
    lines = []
    for home in sorted(set(homes.values())):
        names = sorted(name for name in homes if homes[name] == home)
        if len(names) == 1 and len(f"from {home} import {names[0]}") <= 88:
            lines.append(f"from {home} import {names[0]}")
            continue
        lines += [f"from {home} import (", *(f"    {name}," for name in names), ")"]
    return lines


def stub(homes: dict[str, str], more: list[str], names: list[str]) -> str:
    """Text of a stub file."""
    listed = [f'    "{name}",' for name in sorted(names)]
    parts = [
        "# Written by .ci/stubs.py: run `make format`.",
        *imports(homes),
        "",
        *more,
        "__all__ = [",
        *listed,
        "]",
    ]
    return "\n".join(parts) + "\n"


def stubs() -> dict[Path, str]:
    """Text of every stub, by its path."""
    import lupi
    from lupi._models import ROOMS, public_names

    homes = public_names() | lupi._HOMES | dict.fromkeys(lupi._PACKAGES, "lupi")
    written = {
        SOURCE / "__init__.pyi": stub(homes, ["__version__: str", ""], lupi.__all__)
    }
    for room in ROOMS:
        module = importlib.import_module(f"lupi.{room}")
        inside = {name: getattr(module, name).__module__ for name in module.__all__}
        written[SOURCE / room / "__init__.pyi"] = stub(
            inside, ["_MODELS: dict[str, type]", ""], module.__all__
        )
    return written


def main() -> int:
    """Write the stubs, or say which of them are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = [
        path
        for path, text in stubs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        if not check:
            path.write_text(stubs()[path], encoding="utf-8")
        print(f"{'out of date' if check else 'written'}: {path}")
    return int(check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
