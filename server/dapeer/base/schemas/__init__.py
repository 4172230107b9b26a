"""JSON Schemas that others have written: whether they are any, and whether arguments fit them."""

from dapeer.base.schemas.rules import flaw_of, problem_of, unknown
from dapeer.base.schemas.unpacking import (
    StrippedArguments,
    convert_arguments,
    notes,
    without_filled,
)

__all__ = [
    "StrippedArguments",
    "convert_arguments",
    "flaw_of",
    "notes",
    "problem_of",
    "unknown",
    "without_filled",
]
