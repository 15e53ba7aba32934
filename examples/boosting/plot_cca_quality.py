"""
Do X and X* tell of the same thing?
===================================

:func:`lupi.evaluation.cca_quality` trains in the common space of X and X*, on X, on X*
or on both, and tests on X. Where training on X* is as good as training on X, the two
tables contain the same information about y.
"""

import matplotlib.pyplot as plt
from ipl_protocol import draw_quality

from lupi.datasets import make_mediator
from lupi.evaluation import cca_quality

mediator = make_mediator(300, random_state=0)
quality = cca_quality(
    mediator.data, mediator.target, mediator.privileged, random_state=0
)
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
draw_quality(ax, quality)
plt.show()
