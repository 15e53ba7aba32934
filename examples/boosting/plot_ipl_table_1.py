"""
Table I: the two simulated data sets
====================================

**The paper** (Li et al., 2018) simulates privileged information on two tables, by
declaring some columns privileged: 768 rows of Pima with 4 + 4 columns, and 505 galaxies
with 21 privileged columns about shape and 127 about color (the text says 100).

**Here** Pima is the same table. Galaxy is not public in this form; a generated table of
as many rows stands in, whose X is a blurred image of X*.

**Measured:** Pima agrees in every number. What the table does not tell is which half is
the better one: in the picture, X* of Pima separates the classes better than X does. The
roles look exchanged in the text of the paper (see the errata).
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from ipl_protocol import galaxy, pima
from sklearn.cross_decomposition import PLSRegression

data = {"Pima": pima(), "Galaxy (stand-in)": galaxy()}
printed = {"Pima": (768, 4, 4), "Galaxy (stand-in)": (505, 21, 127)}
lines = {}
for name, table in data.items():
    shape = (len(table.data), table.privileged.shape[1], table.data.shape[1])
    lines[name] = [
        f"{here} ({paper})" for here, paper in zip(shape, printed[name], strict=True)
    ]
    lines[name].append(f"{np.mean(table.target == table.target.max()):.0%}")
columns = ["rows", "columns of X*", "columns of X", "second class"]
print("here (in brackets: printed)")
print(pd.DataFrame.from_dict(lines, orient="index", columns=columns).to_string())

# %%
# Both spaces, along the two directions that tell the classes apart best (partial least
# squares). They were chosen with the labels, so new rows would look less tidy.
figure, axes = plt.subplots(2, 2, figsize=(8.5, 7.5), layout="constrained")
for line, (name, table) in zip(axes, data.items(), strict=True):
    for ax, space, rows in zip(
        line, ("X", "X*"), (table.data, table.privileged), strict=True
    ):
        plane = PLSRegression(2).fit_transform(rows, table.target)[0]
        for label, colour, marker in zip(
            np.unique(table.target), ("#0072B2", "#D55E00"), "ox", strict=True
        ):
            own = plane[table.target == label]
            ax.scatter(*own.T, s=14, c=colour, marker=marker, alpha=0.6, label=label)
        ax.set_title(f"{name}: {space}", loc="left", fontweight="bold")
        ax.set(xticks=[], yticks=[])
    line[0].legend(frameon=False, title="class")
plt.show()
