"""Learning using privileged information, with scikit-learn's interface.

Privileged information is what exists for the training rows and not when
predicting: lab results that arrive later, the future of a time series, an expert's
notes. Every estimator takes it as ``fit(X, y, privileged=P)`` and never needs it in
``predict(X)``.

The estimators live in packages (`lupi.svm`, `lupi.transfer`, `lupi.advice`,
`lupi.boosting`, `lupi.compose`) and are all importable from here. Nothing is loaded
before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lupi import (
        advice,
        base,
        boosting,
        compose,
        datasets,
        evaluation,
        exceptions,
        inspection,
        svm,
        testing,
        transfer,
    )
    from lupi._optional import show_versions
    from lupi._persistence import load, save
    from lupi.advice import Adviceptron, KnowledgeBasedSVC, Rule
    from lupi.boosting import GBPlusClassifier, IPLClassifier, IPLRegressor
    from lupi.compose import LUFeClassifier, PrivilegedColumns, TransformedPrivileged
    from lupi.svm import (
        DeviationSVCPlus,
        FairSVCDeltaPlus,
        HardMarginSVC,
        L2SVCPlus,
        LinearSVCDeltaPlus,
        LinearSVCPlus,
        LinearSVRPlus,
        MarginTransferSVC,
        SVCDeltaPlus,
        SVCPlus,
        SVRPlus,
        UnifiedSVC,
    )
    from lupi.transfer import (
        GeneralizedDistillationClassifier,
        GeneralizedDistillationRegressor,
        HedgedDistillationClassifier,
        HedgedDistillationRegressor,
        KnowledgeTransferClassifier,
        NoisyLabelClassifier,
    )

__version__ = "0.1.0"

__all__ = [
    "Adviceptron",
    "DeviationSVCPlus",
    "FairSVCDeltaPlus",
    "GBPlusClassifier",
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "HardMarginSVC",
    "HedgedDistillationClassifier",
    "HedgedDistillationRegressor",
    "IPLClassifier",
    "IPLRegressor",
    "KnowledgeBasedSVC",
    "KnowledgeTransferClassifier",
    "L2SVCPlus",
    "LUFeClassifier",
    "LinearSVCDeltaPlus",
    "LinearSVCPlus",
    "LinearSVRPlus",
    "MarginTransferSVC",
    "NoisyLabelClassifier",
    "PrivilegedColumns",
    "Rule",
    "SVCDeltaPlus",
    "SVCPlus",
    "SVRPlus",
    "TransformedPrivileged",
    "UnifiedSVC",
    "__version__",
    "advice",
    "base",
    "boosting",
    "compose",
    "datasets",
    "evaluation",
    "exceptions",
    "inspection",
    "load",
    "save",
    "show_versions",
    "svm",
    "testing",
    "transfer",
]

_MODEL_PACKAGES = ("svm", "transfer", "advice", "boosting", "compose")
_FUNCTIONS = {
    "load": "lupi._persistence",
    "save": "lupi._persistence",
    "show_versions": "lupi._optional",
}


if not TYPE_CHECKING:  # with it, a checker would accept every name

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'lupi' has no attribute {name!r}")
        if name in _FUNCTIONS:
            value = getattr(importlib.import_module(_FUNCTIONS[name]), name)
        elif name.islower():
            return importlib.import_module(f"lupi.{name}")
        else:
            packages = (importlib.import_module(f"lupi.{p}") for p in _MODEL_PACKAGES)
            value = next(getattr(p, name) for p in packages if name in p.__all__)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
