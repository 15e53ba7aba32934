"""Who never draws never waits for matplotlib."""

import subprocess
import sys

import lupi


def test_matplotlib_is_imported_when_drawing_only():
    code = "import sys, lupi.inspection; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_room_is_public():
    assert "inspection" in dir(lupi)
    assert all(hasattr(lupi.inspection, name) for name in lupi.inspection.__all__)
