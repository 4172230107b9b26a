"""Regular expressions of others, searched in a process of their own: some need days for a line."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from dapeer.base.errors import Overdue

SECONDS_TO_MATCH: Final = 1.0
"""Seconds for one text."""
SECONDS_TO_START: Final = 10.0
"""Seconds in which the process begins, on a busy machine."""
MAX_TEXT_CHARS: Final = 10_000
"""Characters of a line that are searched."""
_LITERAL = re.compile(r"[\w \-:/,;=@'\"<>!~%&#]*")
"""A text that means itself."""
_CODE: Final = """
import json, re, sys
print(flush=True)
for line in sys.stdin:
    pattern, text = json.loads(line)
    found = re.search(pattern, text)
    print(json.dumps(found and [found[0], *found.groups("")]), flush=True)
"""


class PatternOverdue(Overdue):
    """A pattern has taken too long for a text."""


class Matcher:
    """Searches texts by patterns that are checked before; close it, for it may have a process."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._answers: BufferedByteReceiveStream | None = None

    async def search(self, pattern: str, text: str) -> Sequence[str] | None:
        """Return what a regular expression finds first in a text: the match, then its groups; None if nothing.

        `pattern` must be valid for Python. Only the first `MAX_TEXT_CHARS` are searched. The first pattern that is not literal
        starts the process. A group without a match is "".

        Raises:
            PatternOverdue: The search took more than `SECONDS_TO_MATCH`; the process was killed.
        """
        text = text[:MAX_TEXT_CHARS]
        if _LITERAL.fullmatch(pattern):
            return [pattern] if pattern in text else None
        try:
            if self._process is None:
                with anyio.fail_after(SECONDS_TO_START):
                    await self._start()
            with anyio.fail_after(SECONDS_TO_MATCH):
                return await self._ask(json.dumps([pattern, text]))
        except (TimeoutError, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
            await self.aclose()
            raise PatternOverdue(
                f"The pattern {pattern!r} takes more than {SECONDS_TO_MATCH:g} s for a line.",
                "Give a simpler one.",
            ) from error

    async def _start(self) -> None:
        """Start the process that searches, and wait for its first line."""
        # `-I`: Python must not import a file of the project.
        command = [sys.executable, "-I", "-S", "-c", _CODE]
        process = self._process = await anyio.open_process(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        self._answers = BufferedByteReceiveStream(process.stdout)
        await self._answers.receive_until(b"\n", 100)

    async def _ask(self, question: str) -> Sequence[str] | None:
        """Send a question, the JSON of pattern and text, to the process, and return its decoded answer."""
        assert self._process is not None  # noqa: S101
        assert self._process.stdin is not None  # noqa: S101
        assert self._answers is not None  # noqa: S101
        await self._process.stdin.send(question.encode() + b"\n")
        return json.loads(await self._answers.receive_until(b"\n", 20 * MAX_TEXT_CHARS))

    async def aclose(self) -> None:
        """Kill the process, if there is one; a later search starts another."""
        process, self._process = self._process, None
        if process is not None:
            with anyio.CancelScope(shield=True):
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.aclose()
