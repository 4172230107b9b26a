"""Fields by which dataclasses and the like show an object: their `__repr__` would call the fields'."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

from . import objects

GENERATED = "<attrs generated "
"""Begins the name of the file of what attrs has written."""
OF_PYDANTIC = ("__pydantic_fields__", "model_fields", "__fields__")
"""Where classes of pydantic keep their fields: in its versions from 2.10 on, from 2.0 on, and before."""


def names_of(kind: Any, shows: Any) -> list[str] | None:
    """Return the names of the fields that a class's generated `__repr__` shows; None: it is not generated.

    `shows` is that `__repr__`. Classes of dataclasses, attrs and pydantic have one.
    """
    fields: Any = objects.found(kind, "__dataclass_fields__")
    if fields is not None and objects.written_in(shows, "/dataclasses.py", "/reprlib.py"):
        return shown_fields(fields.items())
    fields = objects.found(kind, "__attrs_attrs__")
    if fields is not None and file_of(shows).startswith(GENERATED):
        return [each.name for each in fields if getattr(each, "repr", True)]
    for name in OF_PYDANTIC if is_of_pydantic(kind, shows) else ():
        fields = objects.found(kind, name)
        how: Any = type(fields)  # pyright: ignore[reportUnknownVariableType]
        if how is dict:
            return shown_fields(fields.items())
    return None


def shown_fields(fields: Iterable[tuple[str, Any]]) -> list[str]:
    """Return the names of the fields (name and field) that are not declared with `repr=False`."""
    return [name for name, each in fields if getattr(each, "repr", True)]


def is_of_pydantic(kind: Any, shows: Any) -> bool:
    """Return whether the `__repr__` of a class, `shows`, is one that pydantic has defined."""
    for klass in objects.MRO.__get__(kind):
        if objects.NAMESPACE.__get__(klass).get("__repr__") is shows:
            return bool(objects.module_of(klass).partition(".")[0] == "pydantic")
    return False


def file_of(function: Any) -> str:
    """Return the name of the file of a function of Python; empty for anything else."""
    return str(function.__code__.co_filename) if type(function) is types.FunctionType else ""
