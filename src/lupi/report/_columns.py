"""The gains of single privileged columns, for the page and for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lupi.inspection import ColumnGainDisplay
from lupi.report._svg import inline_svg
from lupi.report._words import score_with_error

if TYPE_CHECKING:
    from lupi.evaluation import ColumnGains

WIDE, NARROW = 900, 340
HEIGHT_OF_GROUP, HEIGHT_OF_AXIS = 34, 56

LONGEST_NAME = {WIDE: 40, NARROW: 16}

HEADINGS = ("alone", "left out", "contribution")


def shortened(name: str, longest: int) -> str:
    """Return a name that is not too long for the label of a chart.

    Examples
    --------
    >>> shortened("cd4", 16), shortened("viral load after 20 weeks", 16)
    ('cd4', 'viral load afte…')
    """
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def column_gains(gains: ColumnGains) -> dict[str, Any]:
    """Return the values of the template for the gains of single columns."""
    return {
        "sentence": gains.sentence,
        "charts": [_chart(gains, width) for width in (WIDE, NARROW)],
        "columns": ["privileged", *HEADINGS],
        "lines": gain_lines(gains),
        "note": (
            f"Gains of {gains.method} over the same model without X*, on the same "
            "splits, each with its own search, ± standard errors, not corrected for "
            "the number of columns. Contribution: the gain of all columns minus the "
            "gain with this one left out. Redundant columns have large gains alone and "
            "small contributions."
        ),
    }


def gain_lines(gains: ColumnGains) -> list[list[str]]:
    """Return the cells of the table of gains."""
    return [
        [
            str(line["group"]),
            *(
                score_with_error(line[name], line[f"{name}_std_error"], sign=True)
                for name in ("gain_alone", "gain_left_out", "contribution")
            ),
        ]
        for line in gains.table.to_dict("records")
    ]


def _chart(gains: ColumnGains, width: int) -> str:
    """Draw the gains, for wide screens or for phones."""
    groups = gains.table["group"].tolist()
    said = "; ".join(
        f"{line['group']} alone {line['gain_alone']:+.3f}, left out "
        f"{line['gain_left_out']:+.3f}"
        for line in gains.table.to_dict("records")
    )

    def draw(ax: Any) -> None:
        ColumnGainDisplay.from_results(gains, ax=ax)
        names = [shortened(group, LONGEST_NAME[width]) for group in groups]
        ax.set_yticks(range(len(names)), names)
        if width == NARROW:
            ax.set_xlabel("gain (95 % interval)")

    height = HEIGHT_OF_AXIS + HEIGHT_OF_GROUP * len(gains.groups)
    return inline_svg(draw, (width, height), f"Gains: {said}", f"columns-{width}")
