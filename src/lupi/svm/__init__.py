"""The SVM+ family: one paper, one file."""

from ._l2_svm_plus import L2SVCPlus
from ._svm_delta_plus import SVCDeltaPlus
from ._svm_plus import SVCPlus
from ._svr_plus import SVRPlus
from ._unified import UnifiedSVC

__all__ = ["L2SVCPlus", "SVCDeltaPlus", "SVCPlus", "SVRPlus", "UnifiedSVC"]
