"""JSON of others, as types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read. One that is built here is a `dict`."""
Value: TypeAlias = Any
"""Any JSON value."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a decoded JSON value is an object, which is a dict."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Return whether a decoded JSON value is an array, which is a list."""
    return isinstance(value, list)


def as_object(value: object) -> Json:
    """Return a decoded JSON value if it is an object, else a new empty one."""
    return value if is_object(value) else {}


def as_array(value: object) -> list[Any]:
    """Return a decoded JSON value if it is an array, else a new empty one."""
    return value if is_array(value) else []
