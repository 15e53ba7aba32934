# Written by .ci/stubs.py: run `make format`.
from lupi.transfer._distillation_classifier import GeneralizedDistillationClassifier
from lupi.transfer._distillation_regressor import GeneralizedDistillationRegressor
from lupi.transfer._hedged_classifier import HedgedDistillationClassifier
from lupi.transfer._hedged_regressor import HedgedDistillationRegressor
from lupi.transfer._knowledge_transfer import KnowledgeTransferClassifier
from lupi.transfer._propensity import (
    LabelPropensity,
    label_propensity,
)

_MODELS: dict[str, type]

__all__ = [
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "HedgedDistillationClassifier",
    "HedgedDistillationRegressor",
    "KnowledgeTransferClassifier",
    "LabelPropensity",
    "label_propensity",
]
