"""
Rules before the first row
==========================

The Adviceptron learns row by row with ``partial_fit``. It is given two rules before the
first row; with rules of weight zero it is the perceptron. Both are tested after every
row, in ten orders of the rows. Here the rules help for the first rows only.
"""

import matplotlib.pyplot as plt
import numpy as np
from adviceptron_protocol import draw_errors, errors_by_round

from lupi import Adviceptron

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 8))
y = (X[:, 0] + 0.6 * X[:, 1] > 0).astype(int)
rules = ["x0 >= 1 => 1", "x0 <= -1 => 0"]
orders = [rng.permutation(100) for _ in range(10)]
weights = {"Adviceptron, two rules": 0.01, "perceptron": 0.0}
errors = {
    name: [
        errors_by_round(
            Adviceptron(advice=rules, advice_weight=weight),
            X,
            y,
            order,
            np.arange(100, 400),
            classes=[0, 1],
        )
        for order in orders
    ]
    for name, weight in weights.items()
}
figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
draw_errors(ax, errors, "error on test rows")
plt.show()
