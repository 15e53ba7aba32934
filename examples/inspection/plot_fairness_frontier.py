"""
Accuracy paid for equal treatment
=================================

:class:`~lupi.inspection.FairnessFrontierDisplay` cross-validates the fair model at
several thresholds. Disparity is the difference between the largest and the smallest
share of rows of a group that get the good outcome. (At relaxed thresholds the group has
nothing to explain here: f* is zero, and the warning of it is silenced.)
"""

import warnings

import matplotlib.pyplot as plt

from lupi import FairSVCDeltaPlus
from lupi.datasets import make_biased_hiring
from lupi.inspection import FairnessFrontierDisplay

warnings.filterwarnings("ignore", message=".*trivial solution.*")
hiring = make_biased_hiring(120, bias=0.5, random_state=0, as_frame=True)
fair = FairSVCDeltaPlus(kernel="linear", privileged_kernel="linear", delta=1.0)
FairnessFrontierDisplay.from_estimator(
    fair, hiring.data, hiring.target, hiring.privileged
)
plt.show()
