"""Checks the schemas of Lua tools, and arguments for them, in a process of its own.

A schema of a few lines can need hours, or all memory: alternatives that refer to each other, thousands of
values compared with thousands. The extra process limits the damage to one answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Final

import anyio

from dapeer.base.json_types import Json
from dapeer.base.schemas.rules import UNCHECKED

SECONDS_TO_JUDGE: Final = 20
"""For the start of the process and one answer; its limit of the processor's time is far lower."""
MAX_ANSWER_CHARS: Final = 1 << 20
"""Characters of an answer."""


class Judge:
    """The client of that process, which starts at the first question and ends with dapeer."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._asking = anyio.Lock(fast_acquire=True)
        self._closed = False

    async def aclose(self) -> None:
        """Kill the process; questions that are open or come later get no verdict."""
        self._closed = True
        await self._end()

    async def _end(self) -> None:
        """Kill the process, if it runs, and wait until it has ended."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def flaw_of(self, schema: object) -> str | None:
        """Return what is wrong with a tool's JSON Schema of arguments, as a clause; None if it is valid.

        The check runs in the process; a schema that takes it more than `SECONDS_TO_JUDGE`, or too much memory, counts as wrong.
        After `aclose` it is None as well.
        """
        try:
            return await self._ask(schema)
        except _Closed:
            return None
        except _NoAnswer:
            return "checking its schema takes too much time or memory"
        except RecursionError:
            return "its schema is nested too deeply"

    async def problem_of(self, arguments: Json, schema: Json) -> str | None:
        """Return in one sentence what is wrong with the first invalid argument; None if all are valid.

        The check runs in the process. If it takes too much time or memory, or after `aclose`, the sentence says that the arguments
        cannot be checked.
        """
        try:
            return await self._ask(schema, arguments)
        except _Closed:
            return f"{UNCHECKED}: dapeer ends."
        except _NoAnswer:
            return f"{UNCHECKED}: that takes too much time or memory."
        except RecursionError:
            return f"{UNCHECKED}: they or the tool's schema are nested without end."

    async def _ask(self, *question: object) -> str | None:
        """Send one question to the process and return its answer; questions wait for each other.

        `question` is a schema, or a schema and the arguments. The process is killed if it does not answer in `SECONDS_TO_JUDGE`, or
        if the caller is cancelled.

        Raises:
            _Closed: `aclose` was called.
            _NoAnswer: The process ended, or did not answer in time.
            RecursionError: The question is nested too deeply to be written as JSON.
        """
        line = json.dumps(question).encode() + b"\n"
        async with self._asking:
            if self._closed:
                raise _Closed
            try:
                with anyio.fail_after(SECONDS_TO_JUDGE):
                    return await self._answer(line)
            except BaseException as error:
                # Its late answer must not be taken for the next one.
                with anyio.CancelScope(shield=True):
                    await self._end()
                if not isinstance(error, OSError | ValueError):
                    raise
                raise (_Closed if self._closed else _NoAnswer) from error

    async def _answer(self, line: bytes) -> str | None:
        """Start the process if it does not run, write one line of JSON to it, and return its decoded answer.

        Raises:
            _Closed: `aclose` was called.
            OSError: The process cannot be started, or has ended.
            ValueError: The process ended without an answer.
        """
        process = self._process
        if process is None or process.returncode is not None:
            # `-P`: Python must not import a file of the project in place of a module of dapeer.
            command = (sys.executable, "-P", "-m", "dapeer.base.schemas.worker")
            process = self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=MAX_ANSWER_CHARS,
                # Ctrl-C in dapeer's terminal is for dapeer, which ends this process itself.
                start_new_session=True,
            )
        if self._closed:
            raise _Closed
        assert process.stdin  # noqa: S101 - it is a pipe
        assert process.stdout  # noqa: S101
        process.stdin.write(line)
        await process.stdin.drain()
        # Nothing at all is no JSON, which is a ValueError.
        return json.loads(await process.stdout.readline())


class _NoAnswer(Exception):
    """The process has ended, or has not answered in time."""


class _Closed(Exception):
    """dapeer ends, and judges nothing any more."""
