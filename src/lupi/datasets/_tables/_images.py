"""Tables of images: low quality when predicting, better images for training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lupi.datasets._shipped import load_digits_lowres
from lupi.datasets._tables._registry import r_table, table

if TYPE_CHECKING:
    from lupi.datasets._tables._registry import Parts


@table(
    subject="images",
    task="classification",
    source="UCI, Optical Recognition of Handwritten Digits, from scikit-learn",
    license="CC BY 4.0",
    why_privileged="Only the training images were taken with the better camera.",
)
def digits() -> Parts:
    """Images of 2 x 2 pixels; the same images of 8 x 8 pixels; 5 or 8."""
    bunch = load_digits_lowres(size=2, as_frame=True)
    return bunch.data, bunch.privileged, (bunch.target == 8).astype(int)


@table(
    subject="images",
    task="classification",
    source="R package modeldata, cells",
    license="MIT",
    why_privileged="Three of four stains are applied to the training images only.",
)
def cells() -> Parts:
    """Shape and brightness in one channel; three other stains; well segmented or not.

    High-content screening of cultured cells.
    """
    images = r_table("modeldata", "cells")
    names = [name for name in images if "_ch_" in name]
    first = [name for name in names if name.endswith("_ch_1")]
    others = [name for name in names if not name.endswith("_ch_1")]
    return images[first], images[others], (images["class"] == "WS").astype(int)
