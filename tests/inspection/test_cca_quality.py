"""Dots are the scores of the splits, diamonds their means."""

import numpy as np

from lupi import IPLClassifier
from lupi.datasets import make_plane
from lupi.evaluation import cca_quality
from lupi.inspection import CCAQualityDisplay


def test_dots_means_and_names():
    data = make_plane("overlapping", 60, random_state=0)
    quality = cca_quality(
        data.data,
        data.target,
        data.privileged,
        also={"IPL": IPLClassifier(n_estimators=5, random_state=0)},
        random_state=0,
    )
    display = CCAQualityDisplay.from_results(quality)
    table = quality.scores
    dots = display.splits_.get_offsets().data
    for height, name in enumerate(table.columns):
        np.testing.assert_array_equal(dots[dots[:, 1] == height, 0], table[name])
    np.testing.assert_allclose(display.means_.get_xdata(), table.mean())
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == [
        "common space, trained on X",
        "common space, trained on X*",
        "common space, trained on both",
        "IPL",
    ]
    first = np.asarray(quality.correlations)[:, 0].mean()
    assert f"{first:.2f}" in display.ax_.get_title(loc="left")
