"""Learning using privileged information, with scikit-learn's interface.

Privileged information is what exists for the training rows and not when
predicting: lab results that arrive later, the future of a time series, an expert's
notes. Every estimator takes it as ``fit(X, y, privileged=P)`` and never needs it in
``predict(X)``.

The estimators live in packages (`lupi.svm`, `lupi.transfer`, `lupi.advice`,
`lupi.boosting`, `lupi.compose`) and are all importable from here. Nothing is loaded
before it is used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# What type checkers and editors see is in __init__.pyi, which `make format` writes.
_PACKAGES = (
    "advice",
    "base",
    "boosting",
    "compose",
    "datasets",
    "evaluation",
    "exceptions",
    "inspection",
    "svm",
    "testing",
    "transfer",
)
_HOMES = {
    "load": "lupi._persistence",
    "save": "lupi._persistence",
    "show_versions": "lupi._versions",
}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"lupi.{name}")
    if name == "__all__":
        value: Any = _all_names()
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name.startswith("_"):
        raise AttributeError(f"module 'lupi' has no attribute {name!r}")
    else:
        from lupi._models import model_named

        value = model_named(name)
    globals()[name] = value
    return value


def _all_names() -> list[str]:
    from lupi._models import public_names

    return sorted(["__version__", *_PACKAGES, *_HOMES, *public_names()])


def __dir__() -> list[str]:
    return _all_names()
