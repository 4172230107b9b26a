"""`python -m dapeer.base.schemas.worker`: answers each line of `judge` with one JSON line.

The kernel ends the process at a question that takes too much time or memory.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import sys
from typing import Final

from dapeer.base.schemas.rules import flaw_of, problem_of

MAX_PROCESSOR_SECONDS: Final = 1
"""Of the processor's time, for one question: a busy machine makes no difference."""
MAX_MEMORY_BYTES: Final = 1 << 29
"""Of memory."""


def main() -> None:
    """Answer each line of stdin with a line of JSON at stdout, until stdin ends.

    It limits its own memory to `MAX_MEMORY_BYTES`. A question that takes more than `MAX_PROCESSOR_SECONDS` ends the process by SIGPROF.
    """
    with contextlib.suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Its library is loaded before a question counts.
    flaw_of({"type": "object"})
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, MAX_PROCESSOR_SECONDS)
        sys.stdout.write(f"{json.dumps(_answer(line))}\n")
        sys.stdout.flush()
        signal.setitimer(signal.ITIMER_PROF, 0)


def _answer(line: str) -> str | None:
    """Return the verdict on one line, the JSON of `[schema]` or `[schema, arguments]`; None: it is valid.

    Raises:
        ValueError: The line is no such question.
    """
    match json.loads(line):
        case [schema]:
            return flaw_of(schema)
        case [schema, arguments]:
            return problem_of(arguments, schema)
        case _:
            raise ValueError(line)


if __name__ == "__main__":
    main()
