"""Base classes of all estimators: input checks, missing rows, classes, multi-class.

A new estimator derives from one of three classes. `PrivilegedClassifierBase` turns one
method for binary problems into a classifier, `PrivilegedRegressorBase` turns one method
into a regressor, and `PrivilegedEstimator` checks the arguments of a ``fit`` that the
subclass defines and decorates with `atomic_fit`. A class with a ``__lupi_info__`` of
type `ModelInfo` is listed, compared, saved and drawn like the models of the library.

Each file has one task:

- `_privileged`, `_target`: read the arguments ``privileged`` and ``y``
- `_index`: compares and aligns the pandas indexes of X and X*
- `_data_frames`: data frames whose values are read by an estimator of the user's
- `_rows`, `_missing`, `_text`: rows, missing values and text of tables of any type
- `_training`: ``Training``, the checked arguments of ``fit``
- `_state`: ``atomic_fit``, which sets the fitted state in one step
- `_estimator`: ``PrivilegedEstimator``, which checks all arguments of ``fit``
- `_metadata`: passes weights and X* to an estimator inside another one
- `_delegate`: predictions and certificates of an estimator inside another one
- `_probabilities`: ``predict_proba`` of classifiers without probabilities
- `_info`: ``ModelInfo``, the declaration of a model, and the list of declared models
- `_axes`: values of search spaces that are relative to the data
- `_tags`: ``PrivilegedTags``, the exceptions of an estimator from the contract checks
- `_classes`: labels, class weights and the binary problems of a multi-class task
- `_templates`: ``fit`` and ``predict`` of regressors that are one machine and of
  classifiers that are several binary machines
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
