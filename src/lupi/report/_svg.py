"""The displays of `lupi.inspection` as inline SVG with the colors of the page.

Text stays text, and every color of the displays is replaced by a variable of the
stylesheet, so that charts follow light and dark color schemes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape
from typing import Any

from lupi._optional import require
from lupi.inspection._style import ARM_COLORS, BLACK

# Colors that are replaced by a variable of the stylesheet.
INK, SOFT, LINE, PANEL = BLACK, "#5b666d", "#e6e6e6", "#f2f4f3"
VARIABLES = {color.lower(): f"--{arm}" for arm, color in ARM_COLORS.items()} | {
    INK: "--ink",
    SOFT: "--soft",
    LINE: "--line",
    PANEL: "--panel",
}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lupi",
    "font.size": 12,
    "text.color": SOFT,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": SOFT,
    "axes.facecolor": PANEL,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "axes.labelsize": 12,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


def inline_svg(
    draw: Callable[[Any], None], size: tuple[int, int], label: str, name: str
) -> str:
    """Return a drawing as an SVG element.

    Parameters
    ----------
    draw : callable
        Function that draws on given matplotlib axes.
    size : (int, int)
        Width and height in pixels.
    label : str
        Text alternative for screen readers.
    name : str
        Prefix of the identifiers, unique on the page.
    """
    matplotlib = require("matplotlib", "The report")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        # 72 units are an inch, so that one unit is one pixel.
        figure = Figure(figsize=(size[0] / 72, size[1] / 72), layout="constrained")
        ax = figure.subplots()
        draw(ax)
        ax.set_title("", loc="left")
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
        for artist in ax.findobj():
            artist.set_clip_on(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return _restyled(buffer.getvalue(), size, label, name)


def _restyled(svg: str, size: tuple[int, int], label: str, name: str) -> str:
    body = svg[svg.index("<g id=") : svg.rindex("</svg>")]
    body = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    for color, variable in VARIABLES.items():
        body = re.sub(color, f"var({variable})", body, flags=re.IGNORECASE)
    # Older versions of matplotlib write "font: 12px …", newer ones "font-family: …".
    family = r"((?:font: [\d.]+px|font-family:) )[^;\"]*"
    body = re.sub(family, r"\1system-ui, sans-serif", body)
    body = re.sub(r"<!--.*?-->|\n\s*", "\n", body)
    width, height = size
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" '
        f'style="max-width: {width}px" aria-label="{escape(label, quote=True)}">\n'
        f"{body}</svg>"
    )
