"""``lupi methods``: the table of methods."""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from lupi.cli._terminal import make_console


def show_methods() -> None:
    """Print every method with its requirements and its paper."""
    from lupi.evaluation._methods import all_methods

    known = all_methods()
    sections = {
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
    for heading, methods in sections.items():
        console.print(Text(f"\n{heading}", style="bold"))
        for method in methods:
            name = Text(method.kebab, "bold")
            name.append(" *" if method.info.default else "", style="green")
            about = Text(method.summary.replace("`", ""))
            if method.needs != "privileged":
                about.append(f" Needs {method.needs}.")
            about.append(f" {method.paper}.", style="dim")
            console.print(name)
            console.print(Padding(about, (0, 0, 0, 4)))
    console.print(
        Text(
            "\nAll methods need X, y and, unless noted otherwise, privileged columns. "
            "Those marked * are compared by default. The name of the class is also "
            "accepted: SVCPlus is svc-plus.",
            style="dim",
        )
    )
