"""Real tables, split into X, X* and y: shipped ones, and readers of other files.

``data/README.md`` has the source and license of each table, and the changes made to it.
The privileged columns must be unknown at the time of prediction; every loader explains
its split, and which columns are left out of X and X*.
"""

from __future__ import annotations

import os
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.utils import Bunch

from lupi._optional import optional

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Reading a data set")

PIMA_PRIVILEGED = {
    "lab": ("glucose", "insulin"),
    "seed": ("glucose", "blood_pressure", "bmi", "age"),
    "seed-swapped": ("pregnancies", "skin_thickness", "insulin", "pedigree"),
}
# A zero in these columns cannot be a measurement.
PIMA_MEASURED = ["glucose", "blood_pressure", "skin_thickness", "insulin", "bmi"]
ACTG_ARMS = {1: "zidovudine+didanosine", 2: "zidovudine+zalcitabine", 3: "didanosine"}
ACTG_WEEK_20 = ["cd420", "cd820"]
# Between the first and the last column of the baseline.
ACTG_LEFT_OUT = ["zprior", "str2", "treat", "offtrt", "cd420", "cd496", "r"]
MNIST_PLUS_PIXELS = 100
MNIST_PLUS_WORDS = 21


def read_shipped(name: str) -> pd.DataFrame:
    """Return one of the shipped tables."""
    file = resources.files("lupi.datasets") / "data" / f"{name}.csv.gz"
    with resources.as_file(file) as path:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])


def make_bunch(
    data: pd.DataFrame,
    privileged: pd.DataFrame,
    target: pd.Series | np.ndarray,
    *,
    as_frame: bool,
    description: str | None = None,
    **more: object,
) -> Bunch:
    """Return a data set in the common layout of all loaders.

    The default description is that of the shipped tables: sources, licenses, changes.
    """
    if description is None:
        file = resources.files("lupi.datasets") / "data" / "README.md"
        description = file.read_text(encoding="utf-8")
    target = pd.Series(np.asarray(target), index=data.index, name="target")
    return Bunch(
        data=data if as_frame else data.to_numpy(dtype=float),
        privileged=privileged if as_frame else privileged.to_numpy(dtype=float),
        target=target if as_frame else target.to_numpy(),
        feature_names=list(data.columns),
        privileged_feature_names=list(privileged.columns),
        DESCR=description,
        **more,
    )


def load_pima(
    *,
    roles: Literal["lab", "seed", "seed-swapped"] = "lab",
    zeros_as_missing: bool = False,
    as_frame: bool = False,
) -> Bunch:
    """Load the Pima Indians Diabetes table (768 women, 8 measurements).

    Parameters
    ----------
    roles : {"lab", "seed", "seed-swapped"}, default="lab"
        The privileged columns.

        - ``"lab"``: plasma glucose and serum insulin, both from a two-hour glucose
          tolerance test, which follows the examination in which all other columns are
          measured.
        - ``"seed"``: glucose, blood pressure, body mass index and age (the 2nd, 3rd,
          6th and 8th attribute), the split printed in the literature on boosting
          with privileged information.
        - ``"seed-swapped"``: the same two groups with X and X* exchanged, which
          reproduces the printed accuracies of the baselines better.
    zeros_as_missing : bool, default=False
        Whether to replace impossible zeros (a blood pressure of 0) by NaN. The
        literature keeps them.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.

    Returns
    -------
    bunch : Bunch
        ``data``, ``privileged``, ``target`` (1: diabetes), ``feature_names``,
        ``privileged_feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import load_pima
    >>> pima = load_pima()
    >>> pima.data.shape, pima.privileged_feature_names
    ((768, 6), ['glucose', 'insulin'])
    """
    if roles not in PIMA_PRIVILEGED:
        raise ValueError(
            f"roles={roles!r} is not a split of the Pima table; choose one of "
            f"{', '.join(map(repr, PIMA_PRIVILEGED))}."
        )
    table = read_shipped("pima")
    if zeros_as_missing:
        measured = table[PIMA_MEASURED].astype(float)
        table[PIMA_MEASURED] = measured.replace(0.0, np.nan)
    later = list(PIMA_PRIVILEGED[roles])
    now = [name for name in table.columns[:-1] if name not in later]
    return make_bunch(
        table[now],
        table[later],
        table["diabetes"],
        as_frame=as_frame,
        target_names=["no diabetes", "diabetes"],
    )


def load_actg175(
    *, target: Literal["event", "cd4-week-96"] = "event", as_frame: bool = False
) -> Bunch:
    """Load the ACTG 175 trial: baseline as X, the counts of week 20 as X*.

    2139 patients with HIV were randomized to four treatments. At the start of the
    therapy only the baseline is known; CD4 and CD8 counts at week 20 are a later state
    of the same process, between the baseline and the outcome.

    X and X* do not contain columns that are known later than week 20 (``offtrt``, off
    treatment before week 96; ``cd496`` and ``r``; ``days``, the follow-up time), the
    identifier ``pidnum``, the constant ``zprior``, and ``str2`` and ``treat``, which
    repeat ``strat`` and the treatment arm.

    Parameters
    ----------
    target : {"event", "cd4-week-96"}, default="event"
        ``"event"`` (classification): whether the CD4 count halved, AIDS was
        diagnosed or the patient died during follow-up. In 13 patients this was before
        day 140, so that their counts of week 20 may follow the event; they are kept,
        as in the public copies. ``"cd4-week-96"`` (regression): the CD4 count at week
        96, for the 1342 patients who have one.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.

    Returns
    -------
    bunch : Bunch
        ``data`` (n, 18), ``privileged`` (n, 2), ``target``, ``feature_names``,
        ``privileged_feature_names``, ``DESCR``, and ``target_names`` when the
        target is the event.

    Examples
    --------
    >>> from lupi.datasets import load_actg175
    >>> trial = load_actg175()
    >>> trial.data.shape, trial.privileged.shape, int(trial.target.sum())
    ((2139, 18), (2139, 2), 521)
    """
    table = read_shipped("actg175")
    more: dict[str, Any] = {}
    if target == "event":
        outcome, more = table["cens"], {"target_names": ["no event", "event"]}
    elif target == "cd4-week-96":
        table = table[table["cd496"].notna()].reset_index(drop=True)
        outcome = table["cd496"].astype(float)
    else:
        raise ValueError(
            f"target={target!r} is not an outcome of ACTG 175; choose 'event' or "
            "'cd4-week-96'."
        )
    baseline = table.loc[:, slice("age", "cd80")].drop(columns=ACTG_LEFT_OUT)
    for code, arm in ACTG_ARMS.items():
        baseline[f"arm_{arm}"] = (table["arms"] == code).astype(int)
    return make_bunch(baseline, table[ACTG_WEEK_20], outcome, as_frame=as_frame, **more)


def load_german_credit(*, as_frame: bool = False) -> Bunch:
    """Load German Credit with the sensitive columns as privileged information.

    A lender may know sex, age and nationality of its customers but not be allowed to
    use them for decisions: they are available for training and not for prediction.
    ``personal_status`` is left out of X because it contains the sex. U. Grömping
    ("South German Credit Data: Correcting a Widely Used Data Set", 2019) found several
    columns of this public copy to be mislabelled, among them ``foreign_worker``, whose
    values are reversed; the fairness literature uses this copy.

    Parameters
    ----------
    as_frame : bool, default=False
        Whether to return data frames with categories as text. Otherwise categories
        are one-hot encoded.

    Returns
    -------
    bunch : Bunch
        ``data`` (1000 rows, 17 columns as a frame), ``privileged`` (``sex``,
        ``age``, ``foreign_worker``), ``target`` (1: good credit),
        ``sensitive_feature_names`` (the same three), ``feature_names``,
        ``privileged_feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import load_german_credit
    >>> credit = load_german_credit(as_frame=True)
    >>> credit.sensitive_feature_names
    ['sex', 'age', 'foreign_worker']
    """
    table = read_shipped("german_credit")
    good = (table.pop("class") == "good").astype(int)
    status = table.pop("personal_status")
    sensitive = pd.DataFrame(
        {
            "sex": np.where(status.str.startswith("female"), "female", "male"),
            "age": table.pop("age"),
            "foreign_worker": table.pop("foreign_worker"),
        }
    )
    if not as_frame:
        table = pd.get_dummies(table, dtype=float)
        sensitive["sex"] = sensitive["sex"] == "female"
        sensitive["foreign_worker"] = sensitive["foreign_worker"] == "yes"
    return make_bunch(
        table,
        sensitive,
        good,
        as_frame=as_frame,
        target_names=["bad", "good"],
        sensitive_feature_names=list(sensitive.columns),
    )


def load_digits_lowres(
    *,
    digits: tuple[int, ...] | None = (5, 8),
    size: Literal[4, 2] = 4,
    as_frame: bool = False,
) -> Bunch:
    """Load small digit images as X and the full 8 x 8 images as X*.

    This corresponds to predictions from a cheap camera, with training images from a
    better one. The images are those of :func:`sklearn.datasets.load_digits` (UCI,
    "Optical Recognition of Handwritten Digits", CC BY 4.0); X averages their pixels in
    blocks.

    Parameters
    ----------
    digits : tuple of int or None, default=(5, 8)
        The digits to keep; None keeps all ten.
    size : {4, 2}, default=4
        X is a ``size`` x ``size`` image.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.

    Returns
    -------
    bunch : Bunch
        ``data`` (n, size²), ``privileged`` (n, 64), ``target`` (the digit),
        ``feature_names``, ``privileged_feature_names``, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import load_digits_lowres
    >>> load_digits_lowres(size=2).data.shape
    (356, 4)
    """
    if size not in (2, 4):
        raise ValueError(f"size={size!r}: choose 4 or 2 pixels per side.")
    images = load_digits()
    keep = np.ones(len(images.target), dtype=bool)
    if digits is not None:
        unknown = sorted(set(digits) - set(range(10)))
        if unknown or len(set(digits)) < 2:
            raise ValueError(
                f"digits={digits!r}: give at least two different digits from 0 to 9, "
                "or None for all ten."
            )
        keep = np.isin(images.target, digits)
    full = images.data[keep]
    block = 8 // size
    small = full.reshape(-1, size, block, size, block).mean(axis=(2, 4))
    grid = [f"low_{row}_{column}" for row in range(size) for column in range(size)]
    return make_bunch(
        pd.DataFrame(small.reshape(len(full), -1), columns=grid),
        pd.DataFrame(full, columns=list(images.feature_names)),
        images.target[keep],
        as_frame=as_frame,
        description=images.DESCR,
    )


def load_breast_cancer_privileged(*, as_frame: bool = False) -> Bunch:
    """Load Wisconsin breast cancer: cell averages as X, the worst cells as X*.

    Every cell nucleus of each biopsy image was measured. The average over the nuclei
    can be estimated from a coarse measurement; the spread and the three largest nuclei
    need an exact outline of every nucleus, which may be available for the training
    cases only. The table is :func:`sklearn.datasets.load_breast_cancer` (UCI,
    CC BY 4.0).

    Parameters
    ----------
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.

    Returns
    -------
    bunch : Bunch
        ``data`` (569, 10; the ``mean`` columns), ``privileged`` (569, 20; ``error``
        and ``worst``), ``target`` (1: benign), ``feature_names``,
        ``privileged_feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import load_breast_cancer_privileged
    >>> load_breast_cancer_privileged().privileged.shape
    (569, 20)
    """
    cancer = load_breast_cancer(as_frame=True)
    average = [name for name in cancer.data if name.startswith("mean ")]
    careful = [name for name in cancer.data if name not in average]
    return make_bunch(
        cancer.data[average],
        cancer.data[careful],
        cancer.target,
        as_frame=as_frame,
        description=cancer.DESCR,
        target_names=list(cancer.target_names),
    )


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
