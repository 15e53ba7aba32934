"""The tests, a package: others install a `tests` that would hide it."""
