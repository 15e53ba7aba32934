"""The SVM+ family: one paper, one file."""

from ._deviation import DeviationSVCPlus
from ._fair import FairSVCDeltaPlus
from ._hard_margin import HardMarginSVC
from ._l2_svm_plus import L2SVCPlus
from ._linear import LinearSVCDeltaPlus, LinearSVCPlus, LinearSVRPlus
from ._margin_transfer import MarginTransferSVC
from ._svm_delta_plus import SVCDeltaPlus
from ._svm_plus import SVCPlus
from ._svr_plus import SVRPlus
from ._unified import UnifiedSVC

__all__ = [
    "DeviationSVCPlus",
    "FairSVCDeltaPlus",
    "HardMarginSVC",
    "L2SVCPlus",
    "LinearSVCDeltaPlus",
    "LinearSVCPlus",
    "LinearSVRPlus",
    "MarginTransferSVC",
    "SVCDeltaPlus",
    "SVCPlus",
    "SVRPlus",
    "UnifiedSVC",
]
