"""JSON Schemas that others have written: whether they are any, and whether arguments fit them."""

from dapeer.base.schemas.rules import flaw_of, problem_of
from dapeer.base.schemas.unpacking import unpacked

__all__ = ["flaw_of", "problem_of", "unpacked"]
