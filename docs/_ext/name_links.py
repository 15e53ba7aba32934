"""Make code names in running text lead to their page.

A literal that is a public name (``SVCPlus``, ``lupi.evaluation.compare``) becomes a
link into the API reference, and ``examples/<room>/plot_x.py`` one to its gallery page,
so that the Markdown of the guide stays plain and reads well outside of the site too.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

import lupi

_EXAMPLE = re.compile(r"(?:python )?examples/(\w+/plot_\w+)\.py\b.*")
_CALL = re.compile(r"\(.*\)$")


def public_homes() -> dict[str, str]:
    """Return the dotted home of every public name, by every way to write it."""
    homes = {}
    values = [getattr(lupi, name) for name in lupi.__all__]
    for module in (lupi, *filter(inspect.ismodule, values)):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) or name.startswith("__"):
                continue
            home = f"{module.__name__}.{name}"
            if module is not lupi or inspect.isclass(value):
                homes[name] = home
            else:
                # `load` alone could be anybody's.
                homes[f"lupi.{name}"] = home
                continue
            homes[f"{module.__name__}.{name}"] = homes.get(name, home)
    return homes


class NameLinks(SphinxPostTransform):
    """Wrap literals that name something public in a reference to it."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Visit every literal of the page that is not part of a link or a heading."""
        homes = self.app.name_links_homes
        for literal in list(self.document.findall(nodes.literal)):
            if isinstance(literal.parent, (nodes.reference, addnodes.pending_xref)):
                continue
            if isinstance(literal.parent, nodes.title):
                continue
            text = literal.astext()
            reference = self._reference(text, homes)
            if reference is not None:
                literal.replace_self(reference)
                reference += literal

    def _reference(self, text: str, homes: dict[str, str]) -> nodes.Element | None:
        example = _EXAMPLE.fullmatch(text)
        if example is not None:
            target = f"auto_examples/{example[1]}"
            if target not in self.env.found_docs:
                return None
            return self._pending("std", "doc", f"/{target}", refexplicit=True)
        # The longest public name in front; what follows is one of its methods.
        parts = _CALL.sub("", text).split(".")
        for end in range(len(parts), 0, -1):
            home = homes.get(".".join(parts[:end]))
            if home is not None:
                return self._pending("py", "obj", ".".join([home, *parts[end:]]))
        return None

    def _pending(
        self, domain: str, kind: str, target: str, refexplicit: bool = False
    ) -> nodes.Element:
        return addnodes.pending_xref(
            "",
            refdomain=domain,
            reftype=kind,
            reftarget=target,
            refexplicit=refexplicit,
            refwarn=True,
            refdoc=self.env.docname,
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.name_links_homes = public_homes()  # type: ignore[attr-defined]
    app.add_post_transform(NameLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
