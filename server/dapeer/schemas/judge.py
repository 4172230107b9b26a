"""Judges schemas of others, and arguments for them, in a process of its own.

A schema of a few lines can ask for hours of work, or for all memory: alternatives that refer to each other, thousands of
values compared with thousands. So what others have written is read where nothing but the answer to this one question is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Final

import anyio

from dapeer.json_types import Json
from dapeer.schemas.rules import UNCHECKED

SECONDS: Final = 20
"""For the start of the process and one answer; the process itself allows far less of the processor's time."""
LONGEST: Final = 1 << 20
"""Characters of an answer."""


class Judge:
    """Asks the process, which is started at the first question and ends with us."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._asking = asyncio.Lock()

    async def aclose(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def flaw_of(self, schema: object) -> str | None:
        """Return what is wrong with a schema of arguments, as a clause; None: nothing."""
        try:
            return await self._ask(schema)
        except _NoAnswer:
            return "checking its schema takes too much time or memory"
        except RecursionError:
            return "its schema is nested too deeply"

    async def problem_of(self, arguments: Json, schema: Json) -> str | None:
        """Return in one sentence what is wrong with the first wrong argument; None: nothing."""
        try:
            return await self._ask(schema, arguments)
        except _NoAnswer:
            return f"{UNCHECKED}: that takes too much time or memory."
        except RecursionError:
            return f"{UNCHECKED}: they or the tool's schema are nested without end."

    async def _ask(self, *question: object) -> str | None:
        line = json.dumps(question).encode() + b"\n"
        async with self._asking:
            try:
                async with asyncio.timeout(SECONDS):
                    return await self._answer(line)
            except BaseException as error:
                # Nobody reads what it may still answer to this.
                with anyio.CancelScope(shield=True):
                    await self.aclose()
                if isinstance(error, OSError | ValueError):
                    raise _NoAnswer from error
                raise

    async def _answer(self, line: bytes) -> str | None:
        process = self._process
        if process is None or process.returncode is not None:
            # Without `-P` a file of the project could be taken for a module of ours.
            command = (sys.executable, "-P", "-m", "dapeer.schemas.worker")
            process = self._process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LONGEST
            )
        assert process.stdin  # noqa: S101 - it is a pipe
        assert process.stdout  # noqa: S101
        process.stdin.write(line)
        await process.stdin.drain()
        # Nothing at all is no JSON, which is a ValueError.
        return json.loads(await process.stdout.readline())


class _NoAnswer(Exception):
    """The process has ended, or has not answered in time."""
