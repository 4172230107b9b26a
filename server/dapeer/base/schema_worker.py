"""`python -m dapeer.base.schema_worker`: answers `judge`, within limits."""

from __future__ import annotations

from dapeer.base.json_types import Json
from dapeer.base.schemas import flaw_of, problem_of
from dapeer.base.system.limited_answers import answer_lines


def find_problem(schema: Json, *arguments: Json) -> str | None:
    """Return what is wrong with a schema, or with arguments for it; None: nothing."""
    return problem_of(arguments[0], schema) if arguments else flaw_of(schema)


if __name__ == "__main__":
    # Its library is loaded before a question counts.
    flaw_of({"type": "object"})
    answer_lines(find_problem)
