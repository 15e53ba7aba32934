"""The SVM+ family, one file per paper."""

from lupi.svm._deviation import DeviationSVCPlus
from lupi.svm._fair import FairSVCDeltaPlus
from lupi.svm._hard_margin import HardMarginSVC
from lupi.svm._l2_svm_plus import L2SVCPlus
from lupi.svm._linear import LinearSVCDeltaPlus, LinearSVCPlus, LinearSVRPlus
from lupi.svm._margin_transfer import MarginTransferSVC
from lupi.svm._svm_delta_plus import SVCDeltaPlus
from lupi.svm._svm_plus import SVCPlus
from lupi.svm._svr_plus import SVRPlus
from lupi.svm._unified import UnifiedSVC

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
