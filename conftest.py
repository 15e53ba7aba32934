"""Modules that cannot be collected where an optional package is missing."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("torch") is None:
    collect_ignore.append("src/lupi/_convex/linalg/torch_device.py")
