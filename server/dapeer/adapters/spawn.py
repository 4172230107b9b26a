"""The process of an adapter: its start, its pipes, its end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import cast

import anyio
from anyio.abc import Process

from dapeer.adapters.tail import LAG, Tail
from dapeer.adapters.template import UNSET, fill
from dapeer.adapters.vocabulary import TransportTable
from dapeer.errors import AdapterFailed

ENOUGH = 800
"""Characters of the last words that an error repeats."""


class Spawned:
    """A process of ours, in a session of its own, with the end of what it complains about."""

    def __init__(self, process: Process, tail: Tail, title: str) -> None:
        self.process = process
        self.tail = tail
        self._title = title

    def failed(self, what: str) -> AdapterFailed:
        """Return the error for something it did, with its last words, which often are the reason."""
        words = self.tail.text()[-ENOUGH:]
        said = f" It said: {words}" if words else ""
        return AdapterFailed(f"{self._title} {what}.{said}", "`dapeer doctor` checks the adapter.")

    async def died(self) -> AdapterFailed:
        """Return the error for its early end, when all about it is known."""
        await self.tail.settle()
        # Its pipes end a moment before we are told of its exit code, or it lives on without them.
        with anyio.move_on_after(LAG):
            await self.process.wait()
        code = self.process.returncode
        if code is None:
            return self.failed("closed its output without a word")
        return self.failed(f"ended at once, with exit code {code}")

    async def end(self) -> None:
        """Ask it to end, and wait until it has; when cancelled, kill it."""
        if self.process.stdin is None and self.process.returncode is None:
            # The end of stdin asks an adapter that has one; a server knows only this.
            self.process.terminate()
        await self.process.aclose()


async def spawn(title: str, transport: TransportTable, values: Mapping[str, object]) -> Spawned:
    """Start the adapter's process.

    Over stdio its stdin and stdout are the wire; a server has no stdin, and nobody reads its stdout.

    Raises:
        AdapterFailed: The program, or the folder to start it in, is not there or not usable.
    """
    command = [_text(part, values) for part in transport.command]
    folder = _text(transport.cwd, values) if transport.cwd else None
    additions = cast("Mapping[str, object]", fill(transport.env, values) or {})
    tail, stderr = await Tail.open()
    wire = subprocess.PIPE if transport.kind == "stdio" else None
    try:
        process = await anyio.open_process(
            command,
            stdin=wire or subprocess.DEVNULL,
            stdout=wire or stderr,
            stderr=stderr,
            cwd=folder,
            env={**os.environ, **{name: str(value) for name, value in additions.items()}},
            start_new_session=True,
        )
    except BaseException as error:
        tail.close()
        if not isinstance(error, OSError):
            raise
        raise AdapterFailed(
            f"{title} could not be started: {error.strerror}: {error.filename}.",
            "`dapeer adapters` shows what is installed, and how to get what is not.",
        ) from error
    finally:
        os.close(stderr)
    return Spawned(process, tail, title)


def _text(template: str, values: Mapping[str, object]) -> str:
    value = fill(template, values)
    if value is UNSET:
        raise AdapterFailed(
            f"`{template}` in the adapter's command has no value.", "Give it as an argument."
        )
    return str(value)
