"""The side of a `limited_process` that answers: the kernel ends it at a question that needs too much.

Run by itself, it searches texts by regular expressions, for `matching`. Only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

MAX_PROCESSOR_SECONDS: Final = 1
"""Of the processor's time, for one question: a busy machine makes no difference."""
MAX_MEMORY_BYTES: Final = 1 << 29
"""Of memory."""


def answer_lines(answer: Callable[..., Any]) -> None:
    """Answer each line of stdin with a line of JSON at stdout, until stdin ends.

    `answer` is called with the elements of the JSON list that a line is; what it returns is written as JSON. It
    blocks. The process limits its own memory to `MAX_MEMORY_BYTES` for good, where the system has such a limit,
    and writes no core dumps. A question that takes more than `MAX_PROCESSOR_SECONDS` of processor time ends the
    process by SIGPROF. What `answer` raises leaves here, and so does the error of a line that is no JSON list:
    later lines are not answered then.
    """
    with contextlib.suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, MAX_PROCESSOR_SECONDS)
        sys.stdout.write(f"{json.dumps(answer(*json.loads(line)))}\n")
        sys.stdout.flush()
        signal.setitimer(signal.ITIMER_PROF, 0)


def find_pattern(pattern: str, text: str | Sequence[str]) -> Sequence[str] | Sequence[int] | None:
    """Return what a pattern finds in a text, then its groups, or None; of several texts, which have it.

    >>> find_pattern("a(b)?", "xa"), find_pattern("a", "x"), find_pattern("a", ["xa", "b", "a"])
    (['a', ''], None, [0, 2])
    """
    search = re.compile(pattern).search
    if not isinstance(text, str):
        return [index for index, each in enumerate(text) if search(each)]
    match = search(text)
    return match and [match[0], *match.groups("")]


if __name__ == "__main__":
    answer_lines(find_pattern)
