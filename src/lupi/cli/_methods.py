"""``lupi methods``: the table of methods."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from lupi.cli._terminal import make_console


def show_methods() -> None:
    """Print every method with what it needs and where it comes from."""
    from lupi.evaluation._methods import all_methods

    known = all_methods()
    shelves = {
        "For classification": [
            each for each in known if each.comparable and each.task != "regression"
        ],
        "For regression": [
            each for each in known if each.comparable and each.task == "regression"
        ],
        "From Python only, because they need more than a table": [
            each for each in known if not each.comparable
        ],
    }
    console = make_console()
    for heading, methods in shelves.items():
        console.print(Text(f"\n{heading}", style="bold"))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column()
        for method in methods:
            name = Text("  " + method.kebab)
            name.append(" *" if method.info.default else "", style="green")
            about = Text(method.paper, style="dim")
            if method.needs != "privileged":
                about = Text(f"needs {method.needs}; ") + about
            table.add_row(name, about)
        console.print(table)
    console.print(
        Text(
            "\nAll need X, y and, unless said otherwise, privileged columns. The ones "
            "marked * are compared by default. The name of the class works too: "
            "SVCPlus is svc-plus.",
            style="dim",
        )
    )
