"""Advice: rules of experts in addition to, or instead of, labelled rows.

A `Rule` assigns a label to a region. `KnowledgeBasedSVC` learns from rules and rows,
`Adviceptron` from rules and a stream of rows.
"""

from lupi.advice._adviceptron import Adviceptron, MistakeBound
from lupi.advice._knowledge_svc import KnowledgeBasedSVC
from lupi.advice._rule import Rule, RuleError

__all__ = ["Adviceptron", "KnowledgeBasedSVC", "MistakeBound", "Rule", "RuleError"]
