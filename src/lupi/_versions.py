"""What is installed, for bug reports."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "threadpoolctl",
    "clarabel",
    "joblib",
    "pandas",
    "matplotlib",
    "jinja2",
    "rich",
    "typer",
    "skrub",
    "pyarrow",
    "skops",
    "xgboost",
    "fairlearn",
    "dask",
    "torch",
)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of lupi, Python and some packages."""
    from lupi import __version__

    found = {"lupi": __version__, "python": platform.python_version()}
    return found | {package: _version(package) for package in packages}


def show_versions() -> None:
    """Print the versions of lupi, Python and every package lupi can use.

    Examples
    --------
    >>> import lupi
    >>> lupi.show_versions()
    lupi: ...
    """
    from lupi import __version__

    rows = {
        "lupi": __version__,
        "python": sys.version.replace("\n", " "),
        "machine": platform.platform(),
    }
    rows.update((package, _version(package)) for package in _PACKAGES)
    for name, version in rows.items():
        print(f"{name}: {version}")
