"""Readers of files people may have, on small files written here."""

import numpy as np
import pytest

from lupi.datasets import read_mnist_plus, read_techtc


@pytest.fixture
def techtc(tmp_path):
    (tmp_path / "vectors.dat").write_text(
        "# two categories\n1 1:2 3:1\n\n-1 2:4 # a note\n+1 3:5\n"
    )
    (tmp_path / "features.idx").write_text("# index word\n1 apple\n2 pear\n3 plum\n")
    return tmp_path


def test_techtc_reads_counts_classes_and_words(techtc):
    data = read_techtc(techtc)
    np.testing.assert_array_equal(
        data.data.toarray(), [[2, 0, 1], [0, 4, 0], [0, 0, 5]]
    )
    assert data.target.tolist() == [1, -1, 1]
    assert data.feature_names == ["apple", "pear", "plum"]
    assert data.privileged is None


def test_techtc_does_without_the_word_list(techtc):
    (techtc / "features.idx").unlink()
    data = read_techtc(techtc / "vectors.dat")
    assert data.feature_names == ["word_1", "word_2", "word_3"]


@pytest.mark.parametrize("line", ["1 apple:2", "one 1:2", "1 0:3"])
def test_techtc_names_the_broken_line(techtc, line):
    (techtc / "vectors.dat").write_text(f"1 1:1\n{line}\n")
    with pytest.raises(ValueError, match="Line 2"):
        read_techtc(techtc)


def test_techtc_refuses_an_empty_file(techtc):
    (techtc / "vectors.dat").write_text("# nothing\n")
    with pytest.raises(ValueError, match="no document"):
        read_techtc(techtc)


def _write(path, rows, separator=" "):
    path.write_text(
        "\n".join(separator.join(f"{value:g}" for value in row) for row in rows) + "\n"
    )
    return path


@pytest.fixture
def digits():
    rng = np.random.default_rng(0)
    return {
        "pixels": rng.integers(0, 256, size=(6, 100)),
        "words": rng.integers(0, 6, size=(4, 21)),
        "labels": np.array([5, 8, 5, 8, 5, 8]),
    }


@pytest.mark.parametrize("where", ["before", "after", "own file"])
def test_mnist_plus_finds_the_class(tmp_path, digits, where):
    label, pixels = digits["labels"][:, None], digits["pixels"]
    rows = {"before": [label, pixels], "after": [pixels, label], "own file": [pixels]}
    images = _write(tmp_path / "images.txt", np.hstack(rows[where]))
    words = _write(tmp_path / "words.txt", digits["words"], separator=", ")
    labels = None
    if where == "own file":
        labels = _write(tmp_path / "labels.txt", label)
    data = read_mnist_plus(images, words, labels)
    np.testing.assert_array_equal(data.data, pixels)
    np.testing.assert_array_equal(data.target, digits["labels"])
    np.testing.assert_array_equal(data.privileged[:4], digits["words"])
    assert np.isnan(data.privileged[4:]).all()


def test_mnist_plus_says_what_is_wrong(tmp_path, digits):
    images = _write(tmp_path / "images.txt", digits["pixels"])
    words = _write(tmp_path / "words.txt", digits["words"])
    with pytest.raises(ValueError, match="labels="):
        read_mnist_plus(images, words)
    labels = _write(tmp_path / "labels.txt", digits["labels"][:, None])
    short = _write(tmp_path / "short.txt", digits["words"][:, :20])
    with pytest.raises(ValueError, match="expected 21"):
        read_mnist_plus(images, short, labels)
    few = _write(tmp_path / "few.txt", digits["labels"][:3, None])
    with pytest.raises(ValueError, match="6 images, 3 labels"):
        read_mnist_plus(images, words, few)
    words.write_text("1 2 3\n1 2\n")
    with pytest.raises(ValueError, match="Line 2"):
        read_mnist_plus(images, words, labels)
    words.write_text("1 two 3\n")
    with pytest.raises(ValueError, match="expected numbers only"):
        read_mnist_plus(images, words, labels)
    words.write_text("")
    with pytest.raises(ValueError, match="empty"):
        read_mnist_plus(images, words, labels)
