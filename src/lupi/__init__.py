"""Learning using privileged information, with scikit-learn's interface.

Privileged information is what exists for the training rows and not when
predicting: lab results that arrive later, the future of a time series, an expert's
notes. Every estimator takes it as ``fit(X, y, privileged=P)`` and never needs it in
``predict(X)``.

The estimators live in rooms (`lupi.svm`, `lupi.transfer`, `lupi.advice`,
`lupi.boosting`, `lupi.compose`) and are all importable from here. Nothing is loaded
before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Adding a public name takes a line here and the same line under TYPE_CHECKING, which
# is all that type checkers and editors see.
_HOMES = {
    "lupi.svm": (
        "SVCPlus",
        "SVCDeltaPlus",
        "MarginTransferSVC",
        "DeviationSVCPlus",
        "UnifiedSVC",
        "FairSVCDeltaPlus",
        "L2SVCPlus",
        "SVRPlus",
        "LinearSVCPlus",
        "LinearSVCDeltaPlus",
        "LinearSVRPlus",
        "HardMarginSVC",
    ),
    "lupi.transfer": (
        "KnowledgeTransferClassifier",
        "GeneralizedDistillationClassifier",
        "GeneralizedDistillationRegressor",
    ),
    "lupi.advice": ("Rule", "KnowledgeBasedSVC", "Adviceptron"),
    "lupi.boosting": ("IPLClassifier", "IPLRegressor", "GBPlusClassifier"),
    "lupi.compose": ("PrivilegedColumns", "TransformedPrivileged", "LUFeClassifier"),
    "lupi._persistence": ("save", "load"),
    "lupi._versions": ("show_versions",),
}
_ROOMS = (
    "advice",
    "boosting",
    "compose",
    "datasets",
    "evaluation",
    "inspection",
    "svm",
    "testing",
    "transfer",
)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from lupi import (
        advice,
        boosting,
        compose,
        datasets,
        evaluation,
        inspection,
        svm,
        testing,
        transfer,
    )
    from lupi._persistence import load, save
    from lupi._versions import show_versions
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
        KnowledgeTransferClassifier,
    )

__all__ = [
    "Adviceptron",
    "DeviationSVCPlus",
    "FairSVCDeltaPlus",
    "GBPlusClassifier",
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "HardMarginSVC",
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
    "PrivilegedColumns",
    "Rule",
    "SVCDeltaPlus",
    "SVCPlus",
    "SVRPlus",
    "TransformedPrivileged",
    "UnifiedSVC",
    "__version__",
    "advice",
    "boosting",
    "compose",
    "datasets",
    "evaluation",
    "inspection",
    "load",
    "save",
    "show_versions",
    "svm",
    "testing",
    "transfer",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"lupi.{name}")
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'lupi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
