"""Files that appear whole or not at all.

A run that is interrupted, or a disk that fills up, must leave the file that was there
before: so the new content goes to a temporary neighbor first and is renamed in one
step, which every file system does atomically within a folder.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write `content` to `path` in one step, replacing what was there.

    If `path` is a symbolic link, the file that it leads to is replaced.

    Parameters
    ----------
    path : str or path-like
        The file to write. Its folder must exist.
    content : bytes or str
        Text is written as UTF-8.

    Returns
    -------
    pathlib.Path
        The file written.
    """
    path = Path(os.path.realpath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=".part"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for_new_files())
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return path


def _mode_for_new_files() -> int:
    # mkstemp makes files private; a result file should obey the user's umask as any
    # other file does. The umask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
