"""Base classes of all estimators: input checks, missing rows, classes, multi-class.

A new estimator derives from one of three classes. `PrivilegedClassifierBase` turns one
method for binary problems into a classifier, `PrivilegedRegressorBase` turns one method
into a regressor, and `PrivilegedEstimator` checks the arguments of ``fit`` and calls
``_fit_training``. A subclass that defines ``fit`` itself decorates it with
`atomic_fit`. A class with a ``__lupi_info__`` of type `ModelInfo` is listed, compared,
saved and drawn like the models of the library.

- `_rows`: tables of any type, their rows, missing cells, text and index
- `_arguments`: the checked arguments of ``fit``, such as ``Training``; labels, class
  weights and the binary problems of a multi-class task
- `_state`: ``atomic_fit``, which sets the fitted state in one step
- `_estimator`: the three base classes
- `_metadata`: an estimator inside another one
- `_info`: ``ModelInfo`` and ``PrivilegedTags``, which a model declares
"""

from lupi.base._arguments import (
    Labels,
    Privileged,
    Target,
    Training,
    binary_problems,
    check_classes,
    check_privileged,
    check_weight,
    class_weights,
    decisions_of_classes,
    missing_rows,
    missing_targets,
    read_target,
)
from lupi.base._estimator import (
    Fitted,
    PrivilegedClassifierBase,
    PrivilegedEstimator,
    PrivilegedRegressorBase,
)
from lupi.base._info import (
    ModelInfo,
    PerFeature,
    PrivilegedTags,
    SharedOver,
    TargetUnits,
    uses_unlabelled,
)
from lupi.base._rows import feature_names
from lupi.base._state import atomic_fit

__all__ = [
    "Fitted",
    "Labels",
    "ModelInfo",
    "PerFeature",
    "Privileged",
    "PrivilegedClassifierBase",
    "PrivilegedEstimator",
    "PrivilegedRegressorBase",
    "PrivilegedTags",
    "SharedOver",
    "Target",
    "TargetUnits",
    "Training",
    "atomic_fit",
    "binary_problems",
    "check_classes",
    "check_privileged",
    "check_weight",
    "class_weights",
    "decisions_of_classes",
    "feature_names",
    "missing_rows",
    "missing_targets",
    "read_target",
    "uses_unlabelled",
]
