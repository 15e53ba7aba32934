"""Methods that carry knowledge from X* over to a model of X.

A teacher, or a set of functions, is learned where X* is known; a student learns
from x what the teacher knows. The student may be any scikit-learn estimator.
"""

from __future__ import annotations

from lupi.transfer._distillation_classifier import GeneralizedDistillationClassifier
from lupi.transfer._distillation_regressor import GeneralizedDistillationRegressor
from lupi.transfer._knowledge_transfer import KnowledgeTransferClassifier

__all__ = [
    "GeneralizedDistillationClassifier",
    "GeneralizedDistillationRegressor",
    "KnowledgeTransferClassifier",
]
