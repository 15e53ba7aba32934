"""Advice: rules of experts beside, or instead of, labelled rows.

`Rule` is what an expert knows, `KnowledgeBasedSVC` learns from rules and rows at
once, `Adviceptron` from rules and a stream of rows.
"""

from lupi.advice._bound import MistakeBound
from lupi.advice._rule import Rule, RuleError
from lupi.base._info import models_in

_MODELS = models_in(__name__, __path__)
globals().update(_MODELS)
__all__ = ["MistakeBound", "Rule", "RuleError", *_MODELS]
