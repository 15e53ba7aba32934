# Written by .ci/stubs.py: run `make format`.
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
from lupi._persistence import (
    load,
    save,
)
from lupi._versions import show_versions
from lupi.advice import (
    Adviceptron,
    KnowledgeBasedSVC,
    Rule,
)
from lupi.boosting import (
    GBPlusClassifier,
    IPLClassifier,
    IPLRegressor,
)
from lupi.compose import (
    LUFeClassifier,
    PrivilegedColumns,
    TransformedPrivileged,
)
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
)

__version__: str

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
