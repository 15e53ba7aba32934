# Written by .ci/stubs.py: run `make format`.
from lupi.transfer._distillation_classifier import GeneralizedDistillationClassifier
from lupi.transfer._distillation_regressor import GeneralizedDistillationRegressor
from lupi.transfer._knowledge_transfer import KnowledgeTransferClassifier

_MODELS: dict[str, type]

__all__ = [
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "KnowledgeTransferClassifier",
]
