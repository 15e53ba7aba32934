"""`jit`: numba, compiled once per machine, also where nothing can be written.

Importing this module loads no numba; decorating a function does. A module that
decorates is therefore imported where its first caller needs it, not at the top.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``numba.njit`` with its cache on disk.

    numba keeps compiled code beside the source file or in the home folder and raises
    where neither can be written. Here the code then goes to a private folder for
    temporary files, and is compiled anew in each process if even that is impossible.

    Parameters
    ----------
    function : callable
        The function to compile.
    **options
        Passed on to `numba.njit`.

    Examples
    --------
    >>> from lupi._jit import jit
    >>> @jit
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    if function is None:
        return lambda function: jit(function, **options)
    import numba

    compiled = numba.njit(**options)(function)
    if compiled is function:  # with NUMBA_DISABLE_JIT
        return function
    try:
        compiled.enable_caching()
    except RuntimeError:
        _cache_in_temporary_folder(compiled)
    return compiled


def _cache_in_temporary_folder(compiled: Any) -> None:
    import numba

    folder = _private_folder()
    if folder is None:
        return
    # The setting is read while the cache is set up and is not ours to keep.
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder)
    try:
        compiled.enable_caching()
    except RuntimeError:
        return
    finally:
        settings.CACHE_DIR = before


def _private_folder() -> Path | None:
    """Find a folder that only this user can write, or None.

    numba unpickles what it finds in its cache, so a folder that anyone else made or
    can write to must not be trusted.
    """
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        folder = Path(tempfile.gettempdir()) / f"lupi-numba-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        return None
    return folder
