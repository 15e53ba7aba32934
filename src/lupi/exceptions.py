"""What the library raises and warns of beyond Python's and scikit-learn's own."""

from __future__ import annotations

__all__ = ["ModelFileError", "ModelVersionWarning"]


class ModelFileError(ValueError):
    """A file that `lupi.load` refuses, or a model that `lupi.save` cannot write.

    Examples
    --------
    >>> import lupi
    >>> from lupi.exceptions import ModelFileError
    >>> try:
    ...     lupi.save("no estimator", "model.skops")
    ... except ModelFileError as error:
    ...     print(error)
    lupi.save writes estimators; it was given a str.
    """


class ModelVersionWarning(UserWarning):
    """A model file was written by another version of lupi.

    Examples
    --------
    Refuse such files instead of being warned:

    >>> import warnings
    >>> from lupi.exceptions import ModelVersionWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ModelVersionWarning)
    ...     # lupi.load("model.skops")
    """
