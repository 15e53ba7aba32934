"""What every estimator shares: checks, missing rows, classes, multi-class.

An estimator of your own derives from one of three classes. `PrivilegedClassifierBase`
makes a classifier of one method for two classes, `PrivilegedRegressorBase` a regressor
of one method, and `PrivilegedEstimator` checks the arguments of a ``fit`` that you
write yourself, decorated by `atomic_fit`. A ``__lupi_info__`` of type `ModelInfo` has
the model listed, compared, saved and drawn like those of the library.

One file, one task:

- `_privileged`: the one reader of the argument ``privileged``
- `_target`: the one reader of the argument ``y``, which may be missing in some rows
- `_data_frames`: tables that are left to an estimator of the user's, as they came
- `_rows`: rows of whatever holds them
- `_training`: ``Training``, what ``fit`` was given, checked
- `_state`: ``atomic_fit``, which sets the fitted state in one step
- `_estimator`: ``PrivilegedEstimator``, which checks all arguments of ``fit`` at once
- `_info`: ``ModelInfo``, what a class says about its model for every list of models
- `_axes`: values of search spaces that are relative to the data
- `_rooms`: the models that the files of a package declare
- `_tags`: ``PrivilegedTags``, what an estimator says about the contract it keeps
- `_classes`: labels, class weights and the binary problems of a multi-class task
- `_templates`: ``fit`` and ``predict`` for models that are one machine (a regressor)
  or a handful of binary ones (a classifier)
"""

from lupi.base._axes import PerFeature, SharedOver, TargetUnits
from lupi.base._classes import (
    Labels,
    binary_problems,
    check_classes,
    class_weights,
    decisions_of_classes,
)
from lupi.base._estimator import PrivilegedEstimator, check_weight
from lupi.base._info import ModelInfo
from lupi.base._privileged import (
    Privileged,
    check_privileged,
    feature_names,
    missing_rows,
)
from lupi.base._state import atomic_fit
from lupi.base._tags import PrivilegedTags, uses_unlabelled
from lupi.base._target import Target, missing_targets, read_target
from lupi.base._templates import (
    Fitted,
    PrivilegedClassifierBase,
    PrivilegedRegressorBase,
)
from lupi.base._training import Training

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
