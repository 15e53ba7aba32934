"""Mutations of model files that know their format.

A model file is a zip archive: ``schema.json`` describes the objects, arrays are
``.npy`` parts, sparse matrices ``.npz`` parts, documents of XGBoost ``.bin`` parts, and
``lupi.json`` says who wrote it. Every mutation leaves a readable archive, so that the
damage reaches the code behind the reading.
"""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np

# What stands in schema.json in the place of a number, a string or a flag.
SCALARS = [0, 1, -1, 2, 3, 7, 1000, 10**6, 2**31 - 1, -(2**31), 2**40, 10**30]
SCALARS += [0.5, 1e308, -1e-320, float("nan"), float("inf"), None, True, False]
SCALARS += ["", "a", "linear", "rbf", "precomputed", "ovr", [], [1, 2], {}]
INDICES = [-1, -2, 0, 1, 5, 1000, 10**6, 2**31 - 1, -(2**31)]
NUMBERS = [0.0, -1.0, 1e-320, 1e30, 1e308, np.nan, np.inf, -np.inf]
DTYPES = ["f4", "f8", "i4", "i8", "u1", "?", "c16", "U3", "S1", "M8[s]", ">f8", "f2"]


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a model file with one to three mutations."""
    parts = read_parts(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        arrays = [name for name in parts if name.endswith((".npy", ".npz", ".bin"))]
        kind = rng.random()
        if arrays and kind < 0.5:
            name = arrays[rng.integers(len(arrays))]
            parts[name] = mutated_part(name, parts[name], rng)
        elif arrays and kind < 0.55:
            one, other = (arrays[i] for i in rng.integers(len(arrays), size=2))
            parts[one], parts[other] = parts[other], parts[one]
        elif kind < 0.98:
            parts["schema.json"] = mutated_schema(parts["schema.json"], rng)
        else:
            name = sorted(parts)[rng.integers(len(parts))]
            parts[name] = parts[name][: rng.integers(len(parts[name]) + 1)]
            break
    return write_parts(parts)


def read_parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def mutated_part(name: str, content: bytes, rng: np.random.Generator) -> bytes:
    try:
        if name.endswith(".bin"):
            document = json.loads(content)
            _mutate_json(document, rng)
            return json.dumps(document).encode()
        buffer = io.BytesIO()
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(content), allow_pickle=False)
            np.save(buffer, mutated_array(array, rng), allow_pickle=False)
            return buffer.getvalue()
        arrays = dict(np.load(io.BytesIO(content), allow_pickle=False))
        key = sorted(arrays)[rng.integers(len(arrays))]
        arrays[key] = mutated_array(arrays[key], rng)
        np.savez(buffer, **arrays)
        return buffer.getvalue()
    except (ValueError, TypeError, KeyError, EOFError, OSError, zipfile.BadZipFile):
        return content[: len(content) // 2]  # it was mutated before


def mutated_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an array with other values, another shape or another type."""
    kind = rng.integers(12)
    if kind < 5 and array.size:
        array = array.copy()
        field = array
        if array.dtype.names:
            field = array[array.dtype.names[rng.integers(len(array.dtype.names))]]
        at = np.unravel_index(rng.integers(array.size), array.shape)
        pool = NUMBERS if field.dtype.kind in "fc" else INDICES
        with np.errstate(all="ignore"):
            value = np.array(pool[rng.integers(len(pool))])
            where = at if kind < 4 else (...,)
            field[where] = value.astype(field.dtype, casting="unsafe")
        return array
    if kind < 7 and array.ndim:
        axis = rng.integers(array.ndim)
        length = array.shape[axis]
        count = rng.choice([0, 1, max(length - 1, 0), length + 1, 2 * length, 50])
        if length == 0:
            return np.zeros((count,), array.dtype)
        return np.take(array, np.arange(count) % length, axis)
    if kind < 8:
        return array.T if array.ndim > 1 else array[:, None] if array.ndim else array
    if kind < 9:
        return array.reshape(-1) if array.ndim > 1 else array[None]
    if kind < 10 and array.size:
        return array.reshape(-1)[0]
    if kind < 11:
        return np.zeros(tuple(rng.integers(4, size=rng.integers(4))), array.dtype)
    with np.errstate(all="ignore"):
        return array.astype(DTYPES[rng.integers(len(DTYPES))])


def mutated_schema(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a description with another value, type, reference or structure."""
    schema = json.loads(content)
    nodes = list(_nodes(schema))
    node = nodes[rng.integers(len(nodes))]
    other = nodes[rng.integers(len(nodes))]
    kind = rng.random()
    if kind < 0.6:  # a number, a string or a flag
        plain = [one for one in nodes if one.get("__loader__") == "JsonNode"]
        if plain:
            node = plain[rng.integers(len(plain))]
            node["content"] = json.dumps(SCALARS[rng.integers(len(SCALARS))])
    elif kind < 0.75:  # two attributes change places
        holders = [one for one in nodes if _attributes(one)]
        one, two = (_attributes(holders[i]) for i in rng.integers(len(holders), size=2))
        a, b = (list(names)[rng.integers(len(names))] for names in (one, two))
        one[a], two[b] = two[b], one[a]
    elif kind < 0.85:  # an attribute is gone
        holders = [one for one in nodes if _attributes(one)]
        names = _attributes(holders[rng.integers(len(holders))])
        del names[list(names)[rng.integers(len(names))]]
    elif kind < 0.95:  # another type, or another way to build it
        key = ["__class__", "__module__", "__loader__", "file", "type"][rng.integers(5)]
        if key in node and key in other:
            node[key] = other[key]
    else:
        key = list(node)[rng.integers(len(node))]
        node[key] = SCALARS[rng.integers(len(SCALARS))]
    return json.dumps(schema).encode()


def _nodes(item: object):
    if isinstance(item, dict):
        if "__loader__" in item:
            yield item
        for value in item.values():
            yield from _nodes(value)
    elif isinstance(item, list):
        for value in item:
            yield from _nodes(value)


def _attributes(node: dict) -> dict:
    """Return the described attributes of an object, by name."""
    content = node.get("content")
    if node.get("__loader__") != "DictNode" or not isinstance(content, dict):
        return {}
    return content


def _mutate_json(document: object, rng: np.random.Generator) -> None:
    places = []

    def walk(item):
        pairs = item.items() if isinstance(item, dict) else enumerate(item)
        for key, value in pairs:
            places.append((item, key))
            if isinstance(value, dict | list):
                walk(value)

    walk(document)
    # Half of the time one of the few that are no entries of a long list.
    short = [(item, key) for item, key in places if isinstance(item, dict)]
    chosen = short if rng.random() < 0.5 else places
    item, key = chosen[rng.integers(len(chosen))]
    value = SCALARS[rng.integers(len(SCALARS))]
    old = item[key]
    if isinstance(old, list) and old and rng.random() < 0.8:
        item[key] = old[: rng.integers(len(old))] if rng.random() < 0.5 else old + old
    else:
        item[key] = str(value) if isinstance(old, str) else value
