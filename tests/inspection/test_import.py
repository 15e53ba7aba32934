"""Who never draws never waits for matplotlib."""

import subprocess
import sys

from matplotlib.colors import to_rgb

import lupi
from lupi.inspection._style import ARM_COLORS, CYCLE


def test_matplotlib_is_imported_when_drawing_only():
    code = "import sys, lupi.inspection; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_room_is_public():
    assert "inspection" in dir(lupi)
    assert all(hasattr(lupi.inspection, name) for name in lupi.inspection.__all__)


def test_colours_differ_in_lightness_or_hue_as_seen_without_red_cones():
    # Protanopia by the matrix of Viénot, Brettel and Mollon (1999), in linear light.
    matrix = [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1]]

    def seen(colour):
        linear = [c**2.2 for c in to_rgb(colour)]
        mixed = [sum(m * c for m, c in zip(row, linear, strict=True)) for row in matrix]
        return [max(m, 0.0) ** (1 / 2.2) for m in mixed]

    for colours in (CYCLE, tuple(ARM_COLORS.values())):
        for i, one in enumerate(colours):
            for other in colours[:i]:
                apart = sum(
                    (a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)
                )
                assert apart**0.5 > 0.1, (one, other)
