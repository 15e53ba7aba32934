"""Every public name says what it is, what it takes and returns, and shows it.

That the examples run is checked by the doctests of the ordinary run.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest
from numpydoc.docscrape import FunctionDoc, NumpyDocString
from sklearn.base import BaseEstimator

from tests.docs.public import members, objects

OBJECTS = dict(objects())
METHODS = {
    f"{name}.{member}": value
    for name, owner in OBJECTS.items()
    if inspect.isclass(owner)
    for member, value in members(owner)
}
# `fit` and the like return the estimator; properties are what they say.
FUNCTIONS = {name: value for name, value in OBJECTS.items() if inspect.isroutine(value)}


def read(value: Any) -> NumpyDocString:
    text = inspect.getdoc(value)
    assert text, "no docstring"
    return (
        FunctionDoc(None, doc=text)
        if inspect.isroutine(value)
        else NumpyDocString(text)
    )


def documented(doc: NumpyDocString, *sections: str) -> set[str]:
    found = set()
    for section in sections:
        for entry in doc[section]:
            found.update(part.strip(" *") for part in entry.name.split(","))
    return found


def taken(value: Any) -> set[str]:
    signature = inspect.signature(value)
    return {name for name in signature.parameters if name not in ("self", "cls")}


def unwrapped(value: Any) -> Any:
    if isinstance(value, (classmethod, staticmethod)):
        return value.__func__
    # `available_if` of scikit-learn keeps the function behind a descriptor.
    return getattr(value, "fn", value)


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_classes_and_functions_show_how_they_are_used(name):
    doc = read(OBJECTS[name])
    assert doc["Summary"]
    assert any(line.startswith(">>>") for line in map(str.strip, doc["Examples"]))


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_every_parameter_is_told(name):
    value = OBJECTS[name]
    if inspect.isclass(value) and issubclass(value, Exception):
        return
    doc = read(value)
    told = documented(doc, "Parameters", "Other Parameters")
    # An estimator has other attributes than its parameters.
    fields = dataclasses.is_dataclass(value) and not issubclass(value, BaseEstimator)
    if fields:
        told |= documented(doc, "Attributes")
    assert taken(value) <= told, taken(value) - told
    if not fields:
        assert told <= taken(value), told - taken(value)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_and_property_is_told(name):
    value = unwrapped(METHODS[name])
    doc = read(value)
    assert doc["Summary"]
    if not inspect.isfunction(value):
        return
    told = documented(doc, "Parameters", "Other Parameters")
    assert told == taken(value), told ^ taken(value)
    gives = inspect.signature(value).return_annotation
    if gives not in (None, "None"):
        assert doc["Returns"] or doc["Yields"], "no word on what it returns"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_says_what_it_returns(name):
    doc = read(FUNCTIONS[name])
    gives = inspect.signature(FUNCTIONS[name]).return_annotation
    if gives not in (None, "None"):
        assert doc["Returns"] or doc["Yields"]
