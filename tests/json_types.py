"""JSON of the tests, as a type."""

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
"""A JSON object that is built or changed here, or that a tool has answered. One that is only read: `dapeer.json_types`."""
