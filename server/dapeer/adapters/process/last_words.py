"""Tells the debugger of an attached program, if dapeer is killed, to remove its breakpoints first."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import ByteStream, SocketAttribute

from dapeer.base.json_types import as_object
from dapeer.dap.messages import Body, Message, Request
from dapeer.dap.transport import Transport

_PROGRAM = Path(__file__).parents[2] / "companions" / "process" / "last_words.py"


class LastWords:
    """Owns a small process that holds the connection, too, and speaks there once dapeer has gone."""

    def __init__(self, stream: ByteStream, pid: int) -> None:
        """Start a process that removes the breakpoints of an attached program if dapeer is killed.

        Args:
            stream: The connection to the adapter, a socket; the process inherits it.
            pid: The program.
        """
        self._removals: dict[tuple[str, str], Body] = {}
        """By command and source file: the arguments that remove what was set there."""
        descriptor = stream.extra(SocketAttribute.raw_socket).fileno()  # noqa: S610 - this is no database
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM), str(descriptor), str(pid)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            pass_fds=[descriptor],
            start_new_session=True,
        )

    def note(self, message: Message) -> None:
        """Keep what removes the breakpoints that a request sets, and send the process all of that.

        A request without breakpoints needs no removal any more. Other messages change nothing.
        """
        match message:
            case Request(command="setBreakpoints" | "setFunctionBreakpoints" as command):
                source = as_object(message.arguments.get("source"))
                kept: Body = {"source": source} if source else {}
                key = command, str(source.get("path") or "")
                if message.arguments.get("breakpoints"):
                    self._removals[key] = {**kept, "breakpoints": []}
                else:
                    self._removals.pop(key, None)
                self._write()
            case _:
                pass

    async def aclose(self) -> None:
        """Have the process end without sending anything, and wait for that, after the session's proper end."""
        self._removals.clear()
        self._write()
        if self._child.stdin is not None:
            self._child.stdin.close()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._child.wait)

    def _write(self) -> None:
        """Send the process the requests that it is to send once dapeer has gone; they replace those before."""
        requests = [(command, body) for (command, _), body in self._removals.items()]
        # It may have been killed just now; debugging continues without it.
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.write(json.dumps(requests).encode() + b"\n")


class NotedTransport(Transport):
    """Messages of an adapter, of which last words are made."""

    def __init__(self, transport: Transport, words: LastWords) -> None:
        self._transport = transport
        self._words = words

    async def send(self, message: Message) -> None:
        """Note the breakpoints of a message for the last words, and send the message."""
        self._words.note(message)
        await self._transport.send(message)

    async def receive(self) -> Message:
        """Wait for the adapter's next message and return it."""
        return await self._transport.receive()

    async def send_eof(self) -> None:
        """Tell the adapter that nothing more will be sent."""
        await self._transport.send_eof()

    async def aclose(self) -> None:
        """Close both directions."""
        await self._transport.aclose()
