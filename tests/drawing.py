"""Charts that are left empty, where a test reads the words alone."""

import io
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

EMPTY = '<svg><g id="empty"></g></svg>'


def _plot_nothing(display, ax=None, **options):
    from matplotlib.figure import Figure

    display.ax_, display.figure_ = ax, Figure() if ax is None else ax.figure
    return display


def _save_nothing(figure, file, **options):
    file.write(EMPTY if isinstance(file, io.TextIOBase) else EMPTY.encode())


@contextmanager
def undrawn():
    """Leave displays and images empty: charts take most of the time of a report."""
    from lupi import inspection

    with ExitStack() as stack:
        for name in inspection.__all__:
            display = getattr(inspection, name)
            stack.enter_context(patch.object(display, "plot", _plot_nothing))
        stack.enter_context(patch("matplotlib.figure.Figure.savefig", _save_nothing))
        yield
