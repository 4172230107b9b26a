"""Questions that may need hours, or all memory, answered in a process of their own with limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Any, Final

import anyio

SECONDS_TO_ANSWER: Final = 20
"""For the start of the process and one answer; its limit of the processor's time is far lower."""
MAX_ANSWER_CHARS: Final = 1 << 20
"""Characters of an answer."""


class NoAnswer(Exception):
    """The process has ended at a question, or has not answered in time."""


class Closed(Exception):
    """Nobody is asked any more."""


class LimitedProcess:
    """The client of such a process, which starts at the first question.

    The process runs `limited_answers`.
    """

    def __init__(self, module: str) -> None:
        """Keep the name of the module that the process runs; it answers lines of JSON with lines of JSON."""
        self._module = module
        self._process: Process | None = None
        self._request_lock = anyio.Lock(fast_acquire=True)
        self._is_closed = False

    async def aclose(self) -> None:
        """Kill the process; questions that are open or come later get no answer."""
        self._is_closed = True
        await self._end()

    async def _end(self) -> None:
        """Kill the process, if it runs, and wait until it has ended."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def ask(self, *question: object) -> Any:  # noqa: ANN401 - as JSON has it
        """Send one question to the process, and return its answer, decoded from JSON.

        Questions wait for each other. The arguments are written as one JSON list. The process is started if it does not
        run. It is killed if it does not answer in `SECONDS_TO_ANSWER`, or if the caller is cancelled after its turn has
        come; the next question starts another.

        Raises:
            Closed: `aclose` was called.
            NoAnswer: The process cannot be started, ended, or did not answer in time with valid JSON.
            RecursionError: The question is nested too deeply to be written as JSON.
            TypeError: The question has a value that JSON does not have.
        """
        line = json.dumps(question).encode() + b"\n"
        async with self._request_lock:
            if self._is_closed:
                raise Closed
            try:
                with anyio.fail_after(SECONDS_TO_ANSWER):
                    return await self._answer(line)
            except BaseException as error:
                # Its late answer must not be taken for the next one.
                with anyio.CancelScope(shield=True):
                    await self._end()
                if not isinstance(error, OSError | ValueError):
                    raise
                raise (Closed if self._is_closed else NoAnswer) from error

    async def _answer(self, line: bytes) -> Any:  # noqa: ANN401 - as JSON has it
        """Start the process if it does not run, write one line of JSON to it, and return its decoded answer.

        It waits without a limit. `line` ends with a line feed. After an error or a cancellation the process may still
        run, and answer later: to end it is left to the caller.

        Raises:
            Closed: `aclose` was called, while the process was started or before; nothing was written.
            OSError: The process cannot be started, or has ended.
            ValueError: The process ended without an answer, or the answer is no JSON or longer than `MAX_ANSWER_CHARS`.
        """
        process = self._process
        if process is None or process.returncode is not None:
            # `-P`: Python must not import a file of the project in place of a module of dapeer.
            process = self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", self._module),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=MAX_ANSWER_CHARS,
                # Ctrl-C in dapeer's terminal is for dapeer, which ends this process itself.
                start_new_session=True,
            )
        if self._is_closed:
            raise Closed
        assert process.stdin  # noqa: S101 - it is a pipe
        assert process.stdout  # noqa: S101
        process.stdin.write(line)
        await process.stdin.drain()
        # Nothing at all is no JSON, which is a ValueError.
        return json.loads(await process.stdout.readline())
