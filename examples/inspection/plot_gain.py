"""
What a comparison found
=======================

:func:`lupi.evaluation.compare` scores each method without X*, with X*, with shuffled X*
(its rows permuted), with X as X*, and as an oracle that has X* when predicting.
``Comparison.plot`` draws a :class:`~lupi.inspection.GainDisplay`: scores with
intervals, and the verdict.
"""

import matplotlib.pyplot as plt

from lupi import GeneralizedDistillationClassifier, SVCPlus
from lupi.datasets import make_mediator
from lupi.evaluation import compare

mediator = make_mediator(300, random_state=0)
comparison = compare(
    mediator.data,
    mediator.target,
    mediator.privileged,
    methods=[GeneralizedDistillationClassifier(), SVCPlus()],
    cv=5,
    n_candidates=4,
    random_state=0,
)
print(comparison.verdict)
comparison.plot()

# %%
# Differences
# -----------
# The scores of different arms are correlated over the splits, so that the paired
# differences to “without X*” have narrower intervals than the scores.
comparison.plot(kind="difference")
plt.show()
