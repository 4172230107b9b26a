"""JSON of others, as a type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read. One that is built here is a `dict`."""
