"""Advice: rules of experts beside, or instead of, labelled rows.

`Rule` is what an expert knows, `KnowledgeBasedSVC` learns from rules and rows at
once, `Adviceptron` from rules and a stream of rows.
"""

from lupi.advice.adviceptron import Adviceptron, MistakeBound
from lupi.advice.knowledge_svc import KnowledgeBasedSVC
from lupi.advice.rule import Rule, RuleError

__all__ = ["Adviceptron", "KnowledgeBasedSVC", "MistakeBound", "Rule", "RuleError"]
