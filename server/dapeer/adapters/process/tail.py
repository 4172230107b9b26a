"""The last output of a process."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import anyio

from dapeer.companions.python.dapeer_debuggee.patching import MARK
from dapeer.dap.messages import Body

MAX_KEPT_BYTES = 8192
"""Bytes of a process's stderr that are kept."""
SECONDS_OF_LAG = 0.2
"""Seconds to wait for late output. A process that has inherited the pipe may hold it open for ever."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Tail(asyncio.Protocol):
    """Reads a pipe at full speed, so that the writer never blocks, and keeps the end."""

    def __init__(self, words: OutputFilter | None = None) -> None:
        self.word = secrets.token_hex(8)
        """What a line has that tells of a patch, so that none of the program's does."""
        self._words = words
        if words is not None:
            words.hide(f"{MARK}{self.word} ")
        self._ended = anyio.Event()
        self._kept = bytearray()
        self._pipe: asyncio.ReadTransport | None = None
        self._line = b""
        """The beginning of the current line, as far as it may name a patch that is off."""
        self._off: list[Body] = []
        self._report_patch_off: Callable[[Body], None] | None = None

    @classmethod
    async def open(cls, words: OutputFilter | None = None) -> tuple[Tail, int]:
        """Return a tail, and the descriptor for a child to write to, which the caller closes."""
        ours, theirs = os.pipe()
        pipe = os.fdopen(ours, "rb", 0)
        loop = asyncio.get_running_loop()
        _, tail = await loop.connect_read_pipe(lambda: cls(words), pipe)
        return tail, theirs

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember a pipe to close."""
        self._pipe = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep the newest bytes."""
        self._kept += data
        del self._kept[:-MAX_KEPT_BYTES]
        self._look_for_patches(data)
        if self._words is not None:
            self._words.hear(data)

    def on_patch_off(self, listener: Callable[[Body], None]) -> None:
        """Report what the adapter's process says of patches of ours that are off there, from its beginning."""
        self._report_patch_off = listener
        for body in self._off:
            listener(body)
        self._off.clear()

    def _look_for_patches(self, data: bytes) -> None:
        *lines, rest = (self._line + data).split(b"\n")
        for line in lines:
            for body in patches_off(line.decode("utf-8", "replace"), self.word):
                (self._report_patch_off or self._off.append)(body)
        mark = f"{MARK}{self.word} ".encode()
        begins = rest[: len(mark)] == mark[: len(rest)]
        self._line = rest if begins and len(rest) < MAX_KEPT_BYTES else b""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Note the end."""
        if self._words is not None:
            self._words.hear(b"", final=True)
        self._ended.set()

    def text(self) -> str:
        """Return the kept output, without colours and control characters."""
        text = self._kept.decode("utf-8", "replace").replace("\r\n", "\n")
        text = re.sub(rf"(?m)^{MARK}{self.word} .*\n?", "", text)
        return _CONTROL.sub("", _ANSI.sub("", text)).strip()

    async def settle(self) -> None:
        """Wait for the last output of a process that has ended, which may be late."""
        with anyio.move_on_after(SECONDS_OF_LAG):
            await self._ended.wait()

    def close(self) -> None:
        """Read no more."""
        if self._pipe is not None:
            self._pipe.close()


def without_patches_off(text: str, word: str) -> tuple[str, list[Body]]:
    """Return a program's output without what rows in it say of patches of ours that are off, and that."""
    found: list[Body] = []

    def taken(line: re.Match[str]) -> str:
        bodies = [*patches_off(line[0].lstrip("\n"), word)]
        found.extend(bodies)
        return "" if bodies else line[0]

    rest = re.sub(rf"(?:^|\n){MARK}{word} .*\n?", taken, text) if MARK in text else text
    return rest, found


def patches_off(text: str, word: str) -> Iterator[Body]:
    """Yield what lines with a word say of patches of ours that are off."""
    mark = f"{MARK}{word} "
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            body: object = json.loads(line.removeprefix(mark)) if line.startswith(mark) else None
            if isinstance(body, dict):
                yield cast("Body", body)


class OutputFilter:
    """A program's output on the stdout or stderr of its adapter, without the adapter's own lines."""

    def __init__(self, hide: Sequence[str]) -> None:
        """`hide` are the beginnings of the adapter's own lines."""
        self.listener: Callable[[str], None] | None = None
        """Gets the output; until it is set, output is kept."""
        self._hide = tuple(hide)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._inside_line = False
        """A part of the current line has been passed on."""

    def hide(self, beginning: str) -> None:
        """Leave lines out that begin so, too."""
        self._hide = (*self._hide, beginning)

    def listen(self, listener: Callable[[str], None]) -> None:
        """Pass the output on, from its beginning."""
        self.listener = listener
        self.hear(b"")

    def hear(self, data: bytes, *, final: bool = False) -> None:
        """Take in output."""
        self._held += self._decoder.decode(data, final)
        if self.listener is None:
            return
        shown: list[str] = []
        *lines, rest = self._held.split("\n")
        for line in lines:
            shown += [f"{line}\n"] * (self._inside_line or not line.startswith(self._hide))
            self._inside_line = False
        # The beginning of a line, such as a prompt, is passed on at once, unless it may be hidden.
        if rest and not final and not self._inside_line and self._may_be_hidden(rest):
            self._held = rest
        else:
            hidden = not self._inside_line and rest.startswith(self._hide)
            shown += [rest] * (not hidden)
            self._held, self._inside_line = "", self._inside_line or bool(rest)
        if any(shown):
            self.listener("".join(shown))

    def _may_be_hidden(self, beginning: str) -> bool:
        return any(
            beginning.startswith(hidden) or hidden.startswith(beginning) for hidden in self._hide
        )
