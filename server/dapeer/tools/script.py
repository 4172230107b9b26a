"""A script in one call: Python that uses the tools as methods, in a process of its own."""

from __future__ import annotations

import codecs
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Annotated, Final

import anyio
from anyio.abc import ByteReceiveStream
from pydantic import Field

from dapeer.adapters.process.owned_process import Processes
from dapeer.base.errors import ArgumentError, DapeerError, system_error
from dapeer.base.system.environment import environment_for
from dapeer.base.text.lines import indented
from dapeer.peers.consent_kinds import ALL, CallKinds
from dapeer.sessions.debugger.focus import Focus
from dapeer.tools.base.call import Call, Reply, ScriptClient, ServeScript
from dapeer.tools.base.tool import Section, tool

FIRST_CHARS: Final = 4_000
LAST_CHARS: Final = 6_000
"""Characters of what a script prints that are shown: of its beginning, and of its end."""
SECONDS_TO_END_SESSIONS: Final = 5.0
SCRIPT: Final = "<script>"
"""The file name of a script in tracebacks."""


@tool(
    "Run a script",
    section=Section.RUN,
    kinds=CallKinds(ALL, remark="any Python, with all tools"),
    destructive=True,
    starts=True,
)
async def dap_script(
    call: Call, code: str, timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 50_000
) -> Reply:
    """Run Python that has the tools as methods, and return what it prints: `with d.run("a.py", breakpoints=[…]) as s: print(s.place, s.value("x")); s.continue_()`.

    `code` runs in a process of its own, in the project's folder, for at most `timeout_ms`; then it is killed.
    `d` is a `Debugger`, whose calls of tools are made for this client. What the script has launched ends with
    it, and what it has attached to is detached from, unless it has kept it; notes name these sessions. The data
    has `printed` (stdout and stderr), of which the middle is left out if it is long. An exit code other than 0,
    or the end of the time, gives a failed reply.

    Raises:
        ArgumentError: The code is empty or no Python, the process cannot be started, or a script has called this.
        SystemUnsupported: The system lacks memory, processes, file descriptors or room on a disk for the process.
    """
    serve = call.serve_script
    if serve is None:
        raise ArgumentError("A script starts no scripts.", "Call the tools as methods of `d`.")
    _check_syntax(code)
    script = ScriptClient(Focus(call.debugger, call.focus), call.client)
    printed = ScriptOutput()
    async with call.debugger.own_processes() as processes, _ending_sessions(call, script):
        code_of_exit: int | None = None
        with anyio.move_on_after(timeout_ms / 1000) as limit:
            code_of_exit = await _run_script(call, serve, script, code, processes, printed)
    if limit.cancelled_caught:
        first = f"The script was ended after {timeout_ms:,} ms: give more timeout_ms, or do less. It printed:"
    elif code_of_exit:
        first = f"The script ended with exit code {code_of_exit}. It printed:"
    else:
        first = "The script printed:" if printed.text else "The script printed nothing."
    failed = limit.cancelled_caught or bool(code_of_exit)
    lines = [
        first,
        *filter(None, [indented(printed.text)]),
        *(f"({each})" for each in script.notes),
    ]
    return Reply("\n".join(lines), {"printed": printed.text}, failed=failed)


def _check_syntax(code: str) -> None:
    """Raise an error if a script is empty or is no valid Python; nothing has run by then.

    Raises:
        ArgumentError: It says what is wrong.
    """
    if not code.strip():
        raise ArgumentError(
            "`code` is empty.", 'Give Python that uses `d`, such as `d.run("a.py")`.'
        )
    try:
        compile(code, SCRIPT, "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ArgumentError(
            f"`code` is no Python: {error or 'it is nested too deeply'}.",
            "Nothing has run: mend it.",
        ) from error


async def _run_script(
    call: Call,
    serve: ServeScript,
    script: ScriptClient,
    code: str,
    processes: Processes,
    printed: ScriptOutput,
) -> int | None:
    """Run a Python process for the script, serve its calls until its output ends, return its exit code.

    The process reads `code` at standard input, works in the project's folder, and has its id added to `processes`.
    `serve` is called with dapeer's end of a socket and with `script`, the client whose calls come there; it must
    close that socket, and is cancelled once the process has ended. What the process writes to standard output and
    standard error is added to `printed`, both together; a child that keeps them open delays the return. A cancelled
    call kills the process. The exit code is negative after a signal, and never None, since the process has ended by
    then.

    Raises:
        SystemUnsupported: The system lacks memory, processes, file descriptors or room on a disk.
        ArgumentError: The process could not be started for another reason.
    """
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    command = [sys.executable, "-P", "-u", "-m", "dapeer.scripting", str(number)]
    try:
        with theirs:
            process = await anyio.open_process(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=call.debugger.project,
                env={**environment_for(call.debugger.project), **processes.mark},
                start_new_session=True,
                pass_fds=[number],
            )
    except OSError as error:
        ours.close()
        raise system_error(error) or ArgumentError(
            f"The script could not be started: {error}.",
            "Look whether the project's folder is there.",
        ) from error
    processes.add(process.pid)
    async with process, anyio.create_task_group() as tasks:
        tasks.start_soon(serve, ours, script)
        if process.stdin is not None and process.stdout is not None:
            # A script that ends before it was read whole says by itself why.
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await process.stdin.send(code.encode())
                await process.stdin.aclose()
            await printed.read(process.stdout)
        await process.wait()
        tasks.cancel_scope.cancel()
    return process.returncode


@contextlib.asynccontextmanager
async def _ending_sessions(call: Call, script: ScriptClient) -> AsyncGenerator[None]:
    """End at the exit of the block what the script has launched, and detach from what it has attached to.

    That is done also after an error or a cancellation, for each of its programs that still live; each has
    `SECONDS_TO_END_SESSIONS`. Programs that the script keeps become the caller's own instead. For each program a
    note is added to `script.notes`; one that cannot be ended in time, or at all, raises nothing else.
    """
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            for session in script.focus.own_programs:
                if session.id in script.outliving_sessions:
                    call.focus.record_start(session)
                    script.notes.append(f"kept: session {session.id}")
                    continue
                try:
                    with anyio.fail_after(SECONDS_TO_END_SESSIONS):
                        ended = await call.debugger.disconnect(session, terminate=None)
                    how = "ended" if ended else "detached from"
                    script.notes.append(f"{how} with the script: session {session.id}")
                except TimeoutError:
                    limit = f"{SECONDS_TO_END_SESSIONS:g} seconds"
                    script.notes.append(f"session {session.id} did not end in {limit}")
                except DapeerError as error:
                    script.notes.append(f"session {session.id} could not be ended: {error}")


@dataclass(slots=True)
class ScriptOutput:
    """What a script prints, in two parts: its beginning, and its end so far."""

    _first_part: str = ""
    _last_part: str = ""
    _left_out_chars: int = 0

    async def read(self, stream: ByteReceiveStream) -> None:
        """Read a stream of UTF-8 to its end, and keep the beginning and the end of its text."""
        # A chunk may end in the midst of a character.
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        async for chunk in stream:
            self._add(decoder.decode(chunk))
        self._add(decoder.decode(b"", final=True))

    def _add(self, text: str) -> None:
        """Append text to the beginning until that is full, then to the end, and count what is dropped.

        `FIRST_CHARS` and `LAST_CHARS` are their sizes.
        """
        room = FIRST_CHARS - len(self._first_part)
        self._first_part += text[:room]
        kept = self._last_part + text[room:]
        self._left_out_chars += max(0, len(kept) - LAST_CHARS)
        self._last_part = kept[-LAST_CHARS:]

    @property
    def text(self) -> str:
        """The text without newlines at its end; where characters were dropped, a line with their number."""
        left_out = f"\n… {self._left_out_chars:,} characters …\n" if self._left_out_chars else ""
        return f"{self._first_part}{left_out}{self._last_part}".rstrip("\n")
