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
        """Keep the end of what a pipe brings; `words`, if given, gets all of it as the program's output."""
        self.patch_mark = secrets.token_hex(8)
        """What a line has that tells of a patch, so that none of the program's does."""
        self._filter = words
        if words is not None:
            words.hide(f"{MARK}{self.patch_mark} ")
        self._end_event = anyio.Event()
        self._kept_bytes = bytearray()
        self._pipe: asyncio.ReadTransport | None = None
        self._line = b""
        """The beginning of the current line, as far as it may name a patch that is off."""
        self._patches_off: list[Body] = []
        self._report_patch_off: Callable[[Body], None] | None = None

    @classmethod
    async def open(cls, words: OutputFilter | None = None) -> tuple[Tail, int]:
        """Create a pipe that is read from now on; return its tail, and the descriptor for a child to write to.

        The caller closes that descriptor. `words` gets all that is written as the program's output.
        """
        ours, theirs = os.pipe()
        pipe = os.fdopen(ours, "rb", 0)
        loop = asyncio.get_running_loop()
        _, tail = await loop.connect_read_pipe(lambda: cls(words), pipe)
        return tail, theirs

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the pipe's transport, to close it."""
        self._pipe = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep the newest `MAX_KEPT_BYTES`, report patches that are off, and pass the data on as output."""
        self._kept_bytes += data
        del self._kept_bytes[:-MAX_KEPT_BYTES]
        self._look_for_patches(data)
        if self._filter is not None:
            self._filter.pass_on(data)

    def on_patch_off(self, listener: Callable[[Body], None]) -> None:
        """Call `listener` with each patch of ours that the process reports as off, those so far first.

        The body has `name`, `lost` and `why`.
        """
        self._report_patch_off = listener
        for body in self._patches_off:
            listener(body)
        self._patches_off.clear()

    def _look_for_patches(self, data: bytes) -> None:
        """Report what whole lines of the process's stderr say of patches that are off.

        `data` is the newest piece of the stderr. Each report goes to the listener, or is kept until there is one.
        The unfinished last line is kept for the next piece only while it begins as such a report does, and has
        less than `MAX_KEPT_BYTES`; other text is ignored.
        """
        *lines, rest = (self._line + data).split(b"\n")
        for line in lines:
            for body in patches_off(line.decode("utf-8", "replace"), self.patch_mark):
                (self._report_patch_off or self._patches_off.append)(body)
        mark = f"{MARK}{self.patch_mark} ".encode()
        begins = rest[: len(mark)] == mark[: len(rest)]
        self._line = rest if begins and len(rest) < MAX_KEPT_BYTES else b""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Pass on the last output, and wake those who wait in `settle`."""
        if self._filter is not None:
            self._filter.pass_on(b"", final=True)
        self._end_event.set()

    def text(self) -> str:
        """Return the output that is kept, without colours, control characters and lines on patches.

        White space at both ends is removed. It may be empty.
        """
        text = self._kept_bytes.decode("utf-8", "replace").replace("\r\n", "\n")
        text = re.sub(rf"(?m)^{MARK}{self.patch_mark} .*\n?", "", text)
        return _CONTROL.sub("", _ANSI.sub("", text)).strip()

    async def settle(self) -> None:
        """Wait until the pipe has ended, at most `SECONDS_OF_LAG`: the last output may be late."""
        with anyio.move_on_after(SECONDS_OF_LAG):
            await self._end_event.wait()

    def close(self) -> None:
        """Stop reading the pipe."""
        if self._pipe is not None:
            self._pipe.close()


def without_patches_off(text: str, patch_mark: str) -> tuple[str, list[Body]]:
    r"""Return a text without the lines that report patches of ours that are off, and these reports.

    `patch_mark` is the secret that such lines contain. A report is the JSON object of such a line,
    unchecked; dapeer's own have `name`, `lost` and `why`. Reports come in the order of the text. A line is
    removed with the line ends before and behind it, which whoever reports writes with it. A line that is marked
    but has no JSON object stays, and is no report.

    >>> without_patches_off(f'a\n{MARK}7 {{"name": "x"}}\n{MARK}7 {{"name": "y"}}\n', "7")
    ('a', [{'name': 'x'}, {'name': 'y'}])
    """
    found: list[Body] = []

    def taken(line: re.Match[str]) -> str:
        """Keep the reports of a line, and return what stays of it."""
        bodies = [*patches_off(line[0].lstrip("\n"), patch_mark)]
        found.extend(bodies)
        return "" if bodies else line[0]

    line = re.compile(rf"\n?^{MARK}{patch_mark} .*\n?", re.MULTILINE)
    rest = line.sub(taken, text) if MARK in text else text
    return rest, found


def patches_off(text: str, patch_mark: str) -> Iterator[Body]:
    """Yield the reports of patches of ours that are off in the lines of a text; others are ignored.

    `patch_mark` is the secret that such a line has after `MARK`, at its beginning; a JSON object follows. This
    object is yielded as it is; dapeer's own have the texts `name` (the patch's), `lost` (what is missing without
    it) and `why` (why it is off).
    """
    mark = f"{MARK}{patch_mark} "
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            body: object = json.loads(line.removeprefix(mark)) if line.startswith(mark) else None
            if isinstance(body, dict):
                yield cast("Body", body)


class OutputFilter:
    """A program's output on the stdout or stderr of its adapter, without the adapter's own lines."""

    def __init__(self, hide: Sequence[str]) -> None:
        """Leave out lines that begin with one of `hide`: they are the adapter's own."""
        self.listener: Callable[[str], None] | None = None
        """Gets the output; until it is set, output is kept."""
        self._hidden_beginnings = tuple(hide)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unfinished_line = ""
        self._inside_line = False
        """A part of the current line has been passed on."""

    def hide(self, beginning: str) -> None:
        """Also leave out lines that begin like this."""
        self._hidden_beginnings = (*self._hidden_beginnings, beginning)

    def listen(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the output, from its beginning, and with what comes."""
        self.listener = listener
        self.pass_on(b"")

    def pass_on(self, data: bytes, *, final: bool = False) -> None:
        """Pass a piece of output on to the listener, without hidden lines; keep it while there is no listener.

        The listener is called once with all that can be shown now, and not at all if that is nothing. The beginning of a
        line is kept back as long as the line may have to be hidden. `final`: nothing more comes, so nothing is kept back,
        unless there is no listener. `data` is UTF-8, and may end within a character; other bytes are replaced.
        """
        self._unfinished_line += self._decoder.decode(data, final)
        if self.listener is None:
            return
        shown: list[str] = []
        *lines, rest = self._unfinished_line.split("\n")
        for line in lines:
            shown += [f"{line}\n"] * (
                self._inside_line or not line.startswith(self._hidden_beginnings)
            )
            self._inside_line = False
        # The beginning of a line, such as a prompt, is passed on at once, unless it may be hidden.
        if rest and not final and not self._inside_line and self._may_be_hidden(rest):
            self._unfinished_line = rest
        else:
            hidden = not self._inside_line and rest.startswith(self._hidden_beginnings)
            shown += [rest] * (not hidden)
            self._unfinished_line, self._inside_line = "", self._inside_line or bool(rest)
        if any(shown):
            self.listener("".join(shown))

    def _may_be_hidden(self, beginning: str) -> bool:
        """Return whether the line with this beginning is, or may become, one to hide."""
        return any(
            beginning.startswith(hidden) or hidden.startswith(beginning)
            for hidden in self._hidden_beginnings
        )
