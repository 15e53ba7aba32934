"""Models on disk, in skops' format: arrays and names, no pickle.

A model file is a zip archive: skops' description of the object with its arrays, and
``lupi.json``, which says who wrote it. Loading builds only the types listed in
`lupi._trusted_types`, so a file from a stranger cannot run code; one that asks for any
other type is refused, and the type is named.
"""

from __future__ import annotations

import io
import json
import os
import platform
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from lupi._atomic import write_atomically
from lupi._compat import read_model_tree, tree_nodes
from lupi._privacy import without_privileged
from lupi._trusted_types import trusted_types
from lupi._words import listed
from lupi.exceptions import ModelFileError, ModelVersionWarning

_DETAILS = "lupi.json"
_FORMAT = 1
MAX_SIZE = 1_000_000_000


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    keep_privileged: bool = False,
) -> None:
    """Write a model to disk without pickle, and without the rows of X*.

    Parameters
    ----------
    model : estimator
        An estimator of lupi, or a scikit-learn pipeline or search that holds one. One
        of `lupi.dask` is saved as the ordinary estimator.
    path : str or path-like
        The file to write, by custom ending in ``.skops``. It is replaced in one step
        if it exists: an interrupted write leaves the old file. A symbolic link stays
        one, and the file that it leads to is replaced.
    keep_privileged : bool, default=False
        Whether to keep what predicting does not need and what may hold rows of X*:
        the functions behind ``correction``, teachers, transformers of X*, soft labels.
        By default the file holds no row of X*.

    Raises
    ------
    ModelFileError
        If the model holds something that `load` would refuse, such as a function of
        your own as kernel: the message names it.

    See Also
    --------
    load : Read the model back.

    Examples
    --------
    >>> import os, tempfile
    >>> import lupi
    >>> from sklearn.svm import SVC
    >>> model = SVC().fit([[0.0], [1.0]], ["low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.skops")
    ...     lupi.save(model, path)
    ...     lupi.load(path).predict([[0.9]])
    array(['high'], dtype='<U4')
    """
    if hasattr(model, "to_local"):
        model = model.to_local()
    write_atomically(path, model_file(model, {}, keep_privileged=keep_privileged))


def load(path: str | os.PathLike[str], *, max_size: int = MAX_SIZE) -> Any:
    """Read a model that `save` wrote.

    No code from the file is run: only types of a list kept inside lupi are built.
    A file that holds any other type is refused.

    Parameters
    ----------
    path : str or path-like
        The file to read.
    max_size : int, default=1_000_000_000
        Most bytes that the file may take when it is unpacked. A small file can unpack
        to more than there is memory.

    Returns
    -------
    estimator
        The model, fitted as it was when saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, was not written by `save`, is too large, or holds a
        type that is not allowed; the message says which.

    Warns
    -----
    ModelVersionWarning
        If another version of lupi wrote the file.

    See Also
    --------
    save : Write a model to disk.

    Examples
    --------
    >>> import os, tempfile
    >>> import lupi
    >>> from sklearn.svm import SVC
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.skops")
    ...     lupi.save(SVC(C=3.0).fit([[0.0], [1.0]], [0, 1]), path)
    ...     lupi.load(path).C
    3.0
    """
    return load_with_details(path, max_size=max_size)[0]


def _dumped(model: BaseEstimator) -> bytes:
    import skops.io

    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"lupi.save writes estimators; it was given a {type(model).__name__}."
        )
    try:
        data = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    except Exception as error:  # whatever skops cannot take apart, and its reasons
        raise ModelFileError(
            f"This {type(model).__name__} cannot be saved: {error} Put another part "
            "in its place."
        ) from error
    refused = sorted(set(skops.io.get_untrusted_types(data=data)) - trusted_types())
    if refused:
        raise ModelFileError(
            f"This {type(model).__name__} holds {listed(refused)}, which lupi.load "
            "would refuse. Put another part in its place; of a search, save the "
            "best_estimator_."
        )
    from lupi._soundness import check_model

    try:
        check_model(model)
    except Exception as error:  # of arrays that somebody changed
        raise ModelFileError(
            f"This {type(model).__name__} cannot be saved, since lupi.load would "
            f"refuse it: {error}. Fit it again."
        ) from error
    return data


def model_file(
    model: BaseEstimator, details: Mapping[str, Any], *, keep_privileged: bool = False
) -> bytes:
    """Return the file of a model together with facts about it that JSON can hold."""
    from lupi import __version__

    data = _dumped(model if keep_privileged else without_privileged(model))
    about = {
        "format": _FORMAT,
        "lupi": __version__,
        "python": platform.python_version(),
        "model": type(model).__name__,
        "details": dict(details),
    }
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_DETAILS, json.dumps(about, indent=2))
    return buffer.getvalue()


def load_with_details(
    path: str | os.PathLike[str], *, max_size: int = MAX_SIZE
) -> tuple[Any, dict[str, Any]]:
    """Read a model and the facts saved with it."""
    path = Path(path)
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            _check_size(archive, path, max_size)
            about = _read_about(archive, path)
            model = _read_model(archive, path)
    except (ModelFileError, OSError, MemoryError):
        raise
    except ImportError as error:
        raise ModelFileError(
            f"{path} needs {error.name}, which is not installed here."
        ) from error
    except Exception as error:
        # A damaged file can fail anywhere inside zipfile, json, numpy or skops, each
        # with errors of its own; the user needs to know one thing.
        raise ModelFileError(
            f"{path} is damaged or is not a model file written by lupi.save "
            f"({type(error).__name__}: {error})."
        ) from error
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}, where an estimator was expected."
        )
    return model, about["details"]


def _check_size(archive: zipfile.ZipFile, path: Path, max_size: int) -> None:
    """Refuse a file that unpacks to more than was allowed."""
    # What is announced here bounds what can be read; the description may ask for the
    # same part many times.
    sizes = {part.filename: part.file_size for part in archive.infolist()}
    total = sum(sizes.values())
    if total <= max_size and "schema.json" in sizes:
        waiting = [json.loads(archive.read("schema.json"))]
        total = sizes["schema.json"]
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict):
                waiting.extend(item.values())
                name = item.get("file")
                total += sizes.get(name, 0) if isinstance(name, str) else 0
            elif isinstance(item, list):
                waiting.extend(item)
    if total > max_size:
        raise ModelFileError(
            f"{path} takes {total / 1e6:.0f} MB when it is unpacked, more than the "
            f"{max_size / 1e6:.0f} MB that are allowed. If you trust its maker, load "
            f"it with lupi.load(path, max_size={total})."
        )


def _read_about(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    from lupi import __version__

    if _DETAILS not in archive.namelist():
        raise ModelFileError(
            f"{path} was not written by lupi.save: it does not say which version of "
            "lupi made it. Load it with the library that wrote it."
        )
    about = json.loads(archive.read(_DETAILS))
    if about["format"] > _FORMAT:
        raise ModelFileError(
            f"{path} was written by lupi {about['lupi']} in a newer format than lupi "
            f"{__version__} can read. Update lupi."
        )
    if about["lupi"] != __version__:
        warnings.warn(
            f"{path} was written by lupi {about['lupi']} and is read by lupi "
            f"{__version__}: predictions may differ. Fit and save it again when in "
            "doubt.",
            ModelVersionWarning,
            stacklevel=5,
        )
    details = about.setdefault("details", {})
    for kind in ("features", "numbers", "privileged", "missing"):
        names = details.get(kind, [])
        if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
            raise ValueError(f"its {kind} are not a list of names")
    return about


def _read_model(archive: zipfile.ZipFile, path: Path) -> Any:
    # skops.io.load does the same three steps; the trees have to be looked at between
    # the audit of the types and the building of the objects.
    trusted = trusted_types()  # before anything of the file is looked at
    root = read_model_tree(archive, sorted(trusted))
    refused = sorted(root.get_unsafe_set() - trusted)
    if refused:
        raise ModelFileError(
            f"{path} holds {listed(refused)}, which lupi does not load: it is not "
            "one of the types a lupi model is made of. Nothing was loaded."
        )
    from lupi._soundness import check_model, check_tree_state

    for node in tree_nodes(root):
        check_tree_state(node.args.construct(), node.attrs.construct())
    model = root.construct()
    check_model(model)
    return model
