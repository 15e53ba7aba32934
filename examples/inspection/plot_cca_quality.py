"""
Do X and X* tell of the same thing?
===================================

:func:`lupi.evaluation.cca_quality` trains in the common space of X and X*, on X, on X*
or on both, and tests on X. :class:`~lupi.inspection.CCAQualityDisplay` draws the
scores.
"""

import matplotlib.pyplot as plt

from lupi.datasets import make_mediator
from lupi.evaluation import cca_quality
from lupi.inspection import CCAQualityDisplay

mediator = make_mediator(300, random_state=0)
CCAQualityDisplay.from_results(
    cca_quality(mediator.data, mediator.target, mediator.privileged, random_state=0)
)
plt.show()
