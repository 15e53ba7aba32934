"""Knowledge transfer and distillation: a model of X* trains a model of X.

A teacher, or a set of functions of X*, is learned on the rows that have X*; a student
learns to predict its outputs from x. Both may be any scikit-learn estimators.
"""

from lupi.transfer._distillation import (
    GeneralizedDistillationClassifier,
    GeneralizedDistillationRegressor,
)
from lupi.transfer._hedged import (
    HedgedDistillationClassifier,
    HedgedDistillationRegressor,
)
from lupi.transfer._knowledge_transfer import KnowledgeTransferClassifier
from lupi.transfer._noisy_labels import NoisyLabelClassifier
from lupi.transfer._propensity import LabelPropensity, label_propensity

__all__ = [
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "HedgedDistillationClassifier",
    "HedgedDistillationRegressor",
    "KnowledgeTransferClassifier",
    "LabelPropensity",
    "NoisyLabelClassifier",
    "label_propensity",
]
