# Written by .ci/stubs.py: run `make format`.
from lupi.advice._adviceptron import Adviceptron
from lupi.advice._bound import MistakeBound
from lupi.advice._grammar import RuleError
from lupi.advice._knowledge_svc import KnowledgeBasedSVC
from lupi.advice._rule import Rule

_MODELS: dict[str, type]

__all__ = [
    "Adviceptron",
    "KnowledgeBasedSVC",
    "MistakeBound",
    "Rule",
    "RuleError",
]
