"""Draw the packages of lupi, from the command line down to the kernels.

``python docs/architecture_figure.py`` writes images/lupi-architecture-light.svg and
images/lupi-architecture-dark.svg, the picture of architecture.md.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

IMAGES = Path(__file__).parent / "images"
WIDTH, LEFT, GAP, HEIGHT = 760, 8, 10, 58
# From the top down: each layer imports those below it only.
LAYERS = [
    [("cli", "the command lupi"), ("report", "one HTML page")],
    [("inspection", "displays")],
    [
        ("evaluation", "compare: arms, splits, statistics"),
        ("dask", "models of rows on a cluster"),
    ],
    [
        ("svm", "SVM+ family"),
        ("transfer", "distillation"),
        ("boosting", "IPL, GB+"),
        ("advice", "rules"),
        ("compose", "wrappers"),
    ],
    [
        ("base", "reads fit's arguments, sets the state"),
        ("_convex", "problem, solvers, certificate"),
    ],
    [("kernels", "Gram matrices")],
]
THEMES = {
    "light": {"ink": "#1f2933", "soft": "#52606d", "box": "#eef3f8", "line": "#7b8794"},
    "dark": {"ink": "#e4e7eb", "soft": "#b8c1cc", "box": "#26313d", "line": "#8a96a3"},
}


def box(x: float, y: float, width: float, title: str, note: str, colors: dict) -> str:
    """Return one package: a rectangle with its name and its task."""
    middle = x + width / 2
    text = 'text-anchor="middle" font-family="sans-serif"'
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="6" '
        f'fill="{colors["box"]}" stroke="{colors["line"]}"/>\n'
        f'<text x="{middle:.1f}" y="{y + 25:.1f}" {text} font-size="17" '
        f'font-weight="600" fill="{colors["ink"]}">{escape(title)}</text>\n'
        f'<text x="{middle:.1f}" y="{y + 45:.1f}" {text} font-size="13" '
        f'fill="{colors["soft"]}">{escape(note)}</text>\n'
    )


def draw(colors: dict) -> str:
    """Return the picture as SVG."""
    parts, y = [], 8.0
    step = HEIGHT + 26
    for number, layer in enumerate(LAYERS):
        width = (WIDTH - 2 * LEFT - GAP * (len(layer) - 1)) / len(layer)
        for i, (title, note) in enumerate(layer):
            parts.append(box(LEFT + i * (width + GAP), y, width, title, note, colors))
        if number:
            x, top = WIDTH / 2, y - 24
            parts.append(
                f'<path d="M {x} {top} v 14 m -5 -6 l 5 6 l 5 -6" fill="none" '
                f'stroke="{colors["line"]}" stroke-width="1.8"/>\n'
            )
        y += step
    height = y - 18
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" role="img">\n{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    for name, theme in THEMES.items():
        path = IMAGES / f"lupi-architecture-{name}.svg"
        path.write_text(draw(theme), encoding="utf-8")
