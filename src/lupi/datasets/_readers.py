"""Readers for files of data sets that cannot be shipped with the library."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from lupi._optional import optional
from lupi.datasets._shipped import make_bunch

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Reading this data set")

MNIST_PLUS_PIXELS = 100
MNIST_PLUS_WORDS = 21


def read_techtc(path: str | os.PathLike[str]) -> Bunch:
    r"""Read a data set of the TechTC collection (Technion text categorization).

    Each data set is a folder with ``vectors.dat``, one document per line::

        # a comment
        1 3:2 17:1 204:5
        -1 17:4 33:1

    that is, the class (1 or −1) and index:count for each word, with indices from 1; and
    ``features.idx``, which names the words (``index word`` per line). The collection
    has no privileged information: the literature selects a few hundred words as X and
    uses the others as X*, as :class:`lupi.compose.LUFeClassifier` does inside the
    folds.

    Parameters
    ----------
    path : path-like
        ``vectors.dat`` or its folder.

    Returns
    -------
    bunch : Bunch
        ``data`` (CSR matrix of counts), ``target`` (1 or −1), ``privileged`` (None),
        ``feature_names``, ``DESCR``.

    References
    ----------
    E. Gabrilovich and S. Markovitch, "Text categorization with many redundant
    features", ICML 2004.

    Examples
    --------
    >>> import os, tempfile
    >>> from lupi.datasets import read_techtc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "vectors.dat"), "w") as file:
    ...         _ = file.write("1 1:2 3:1\n-1 2:4\n")
    ...     with open(os.path.join(folder, "features.idx"), "w") as file:
    ...         _ = file.write("1 learn\n2 cook\n3 teach\n")
    ...     texts = read_techtc(folder)
    >>> texts.data.toarray().tolist(), texts.target.tolist()
    ([[2.0, 0.0, 1.0], [0.0, 4.0, 0.0]], [1, -1])
    """
    path = Path(path)
    if path.is_dir():
        path = path / "vectors.dat"
    names = _techtc_names(path.with_name("features.idx"))
    labels, indices, counts, starts = [], [], [], [0]
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        label, *words = line.split()
        try:
            labels.append(int(float(label)))
            for word in words:
                index, count = word.split(":")
                if int(index) < 1:
                    raise ValueError
                indices.append(int(index) - 1)
                counts.append(float(count))
        except ValueError:
            raise ValueError(
                f"Line {number} of {path} reads {line[:60]!r}; expected a class and "
                "then index:count for each word, indices from 1."
            ) from None
        starts.append(len(indices))
    if not labels:
        raise ValueError(
            f"{path} has no document. Give the vectors.dat of a TechTC data set."
        )
    width = max([len(names), *(index + 1 for index in indices)])
    names += [f"word_{i + 1}" for i in range(len(names), width)]
    data = sp.csr_matrix((counts, indices, starts), shape=(len(labels), width))
    data.sum_duplicates()
    return Bunch(
        data=data,
        privileged=None,
        target=np.array(labels),
        feature_names=names,
        DESCR=read_techtc.__doc__,
    )


def _techtc_names(path: Path) -> list[str]:
    if not path.exists():
        return []
    words = {}
    for line in path.read_text("utf-8", "replace").splitlines():
        parts = line.split("#")[0].split()
        if parts and parts[0].isdigit():
            words[int(parts[0])] = parts[1] if len(parts) > 1 else f"word_{parts[0]}"
    return [words.get(i + 1, f"word_{i + 1}") for i in range(max(words, default=0))]


def read_mnist_plus(
    images: str | os.PathLike[str],
    descriptions: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None = None,
    *,
    as_frame: bool = False,
) -> Bunch:
    r"""Read MNIST+: the digits 5 and 8 as 10 x 10 images, with poetic descriptions.

    X is the pixels; X* is a poetic description of each image, coded as 21 numbers. It
    is the best-known privileged information of the literature.

    All files are plain text with one image per line and numbers separated by blanks,
    tabs, commas or semicolons; lines that start with ``#`` or ``%`` are skipped.

    Parameters
    ----------
    images : path-like
        File with 100 pixels per line. Unless ``labels`` is given, the line starts or
        ends with the class, which is 5 or 8, or −1 or 1.
    descriptions : path-like
        File with 21 numbers per line, in the order of the images. If there are fewer
        lines than images, the last images have no description.
    labels : path-like, default=None
        File with one class per line.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.

    Returns
    -------
    bunch : Bunch
        ``data`` (n, 100), ``privileged`` (n, 21; NaN where there is no description),
        ``target``, names, ``DESCR``.

    References
    ----------
    V. Vapnik and A. Vashist, "A new learning paradigm: learning using privileged
    information", Neural Networks 22 (2009), 544-557.

    Examples
    --------
    >>> import os, tempfile
    >>> from lupi.datasets import read_mnist_plus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images = os.path.join(folder, "images.txt")
    ...     words = os.path.join(folder, "poetry.txt")
    ...     with open(images, "w") as file:
    ...         _ = file.write("5 " + "0 " * 100 + "\n8 " + "1 " * 100 + "\n")
    ...     with open(words, "w") as file:
    ...         _ = file.write("2 " * 21 + "\n")
    ...     digits = read_mnist_plus(images, words)
    >>> digits.data.shape, digits.privileged.shape, digits.target.tolist()
    ((2, 100), (2, 21), [5, 8])
    """
    pixels = _numbers(images)
    words = _numbers(descriptions)
    if labels is not None:
        target = _numbers(labels).ravel()
    else:
        pixels, target = _split_label(pixels, images)
    for name, table, width in (
        (images, pixels, MNIST_PLUS_PIXELS),
        (descriptions, words, MNIST_PLUS_WORDS),
    ):
        if table.shape[1] != width:
            raise ValueError(
                f"{name} has {table.shape[1]} numbers per line; expected {width}. Give "
                "the files of MNIST+."
            )
    if len(target) != len(pixels) or len(words) > len(pixels):
        raise ValueError(
            f"There are {len(pixels)} images, {len(target)} labels and {len(words)} "
            "descriptions; give one label for every image, and at most as many "
            "descriptions as images."
        )
    privileged = np.full((len(pixels), MNIST_PLUS_WORDS), np.nan)
    privileged[: len(words)] = words
    return make_bunch(
        pd.DataFrame(pixels, columns=[f"pixel_{i}" for i in range(pixels.shape[1])]),
        pd.DataFrame(privileged, columns=[f"word_{i}" for i in range(words.shape[1])]),
        target.astype(int),
        as_frame=as_frame,
        description=read_mnist_plus.__doc__ or "",
    )


def _numbers(path: str | os.PathLike[str]) -> np.ndarray:
    rows = []
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        try:
            rows.append([float(part) for part in re.split(r"[\s,;]+", line.strip())])
        except ValueError:
            raise ValueError(
                f"Line {number} of {path} has text; expected numbers only."
            ) from None
        if len(rows[-1]) != len(rows[0]):
            raise ValueError(
                f"Line {number} of {path} has {len(rows[-1])} numbers where the lines "
                f"before have {len(rows[0])}."
            )
    if not rows:
        raise ValueError(f"{path} is empty; expected one image per line.")
    return np.array(rows)


def _split_label(
    table: np.ndarray, path: str | os.PathLike[str]
) -> tuple[np.ndarray, np.ndarray]:
    if table.shape[1] == MNIST_PLUS_PIXELS + 1:
        for column, rest in ((0, slice(1, None)), (-1, slice(None, -1))):
            label = table[:, column]
            classes = {frozenset(pair) for pair in ((5, 8), (-1, 1))}
            if frozenset(np.unique(label).tolist()) in classes:
                return table[:, rest], label
    raise ValueError(
        f"{path} has {table.shape[1]} numbers per line; expected {MNIST_PLUS_PIXELS} "
        "pixels with the class (5 or 8, or -1 or 1) before or after them. Give the "
        "classes in a separate file with labels=."
    )
