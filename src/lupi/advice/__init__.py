"""Advice: rules of experts in addition to, or instead of, labelled rows.

A `Rule` assigns a label to a region. `KnowledgeBasedSVC` learns from rules and rows,
`Adviceptron` from rules and a stream of rows.
"""

from lupi.advice._bound import MistakeBound
from lupi.advice._rule import Rule, RuleError
from lupi.base._info import models_in

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = ["MistakeBound", "Rule", "RuleError", *_MODELS]
