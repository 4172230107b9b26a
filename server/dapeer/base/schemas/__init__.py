"""JSON Schemas that others have written: whether they are any, and whether arguments fit them."""

from dapeer.base.schemas.filling import Unfilled, without_filled
from dapeer.base.schemas.rules import flaw_of, problem_of, unknown
from dapeer.base.schemas.unpacking import convert_arguments, notes

__all__ = [
    "Unfilled",
    "convert_arguments",
    "flaw_of",
    "notes",
    "problem_of",
    "unknown",
    "without_filled",
]
