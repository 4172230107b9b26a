"""JSON of others, as types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read. One that is built here is a `dict`."""
Value: TypeAlias = Any
"""Any JSON value."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def as_object(value: object) -> Json:
    """Return a JSON value that should be an object; an empty one where it is something else."""
    return value if is_object(value) else {}


def as_array(value: object) -> list[Any]:
    """Return a JSON value that should be an array; an empty one where it is something else."""
    return value if is_array(value) else []
