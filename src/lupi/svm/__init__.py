"""The SVM+ family: one paper, one file."""

from ._svm_plus import SVCPlus

__all__ = ["SVCPlus"]
