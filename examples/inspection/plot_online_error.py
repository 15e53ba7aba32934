"""
Rules before the first row
==========================

:class:`~lupi.inspection.OnlineErrorDisplay` trains learners with ``partial_fit`` on the
same orders of the rows. The Adviceptron is given two rules before the first row, the
perceptron none. Here the rules help for the first rows only.
"""

import matplotlib.pyplot as plt
import numpy as np

from lupi import Adviceptron
from lupi.inspection import OnlineErrorDisplay

rng = np.random.default_rng(0)
stream = rng.normal(size=(400, 8))
label = (stream[:, 0] + 0.6 * stream[:, 1] > 0).astype(int)
rules = ["x0 >= 1 => 1", "x0 <= -1 => 0"]
OnlineErrorDisplay.from_estimator(
    {
        "Adviceptron, two rules": Adviceptron(advice=rules, advice_weight=0.01),
        "perceptron": Adviceptron(),
    },
    stream[:100],
    label[:100],
    stream[100:],
    label[100:],
    every=2,
    random_state=0,
)
plt.show()
