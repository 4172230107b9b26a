"""Answers a client from its first byte, in a thread of its own, until the whole server takes over.

The whole server then gets the lines that were answered, so that it knows the client; its own answers to them are
compared, not sent.
"""

from __future__ import annotations

import os
import select
import threading

from dapeer.mcp.front.conversation import Conversation
from dapeer.mcp.front.streams import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

CHUNK_BYTES: Final = 1 << 16
MOST_WAITING: Final = 1 << 20
"""Bytes without the end of a line; more are left to the whole server."""


class Handover:
    """What the whole server must know of the client."""

    def __init__(self, answered: Sequence[tuple[bytes, bytes]], rest: bytes, *, left: bool) -> None:
        self.answered = answered
        """Each line with its answer."""
        self.rest = rest
        """What came after these: lines, the last one perhaps incomplete."""
        self.left = left
        """Whether nothing follows."""


class Front:
    """Reads stdin and writes to stdout until `hand_over`, or until it does not know an answer.

    Args:
        data: The client gets the data of results, whatever it says of itself.
    """

    def __init__(self, *, data: bool) -> None:
        self._conversation = Conversation(data=data)
        self._answered: list[tuple[bytes, bytes]] = []
        self._unfinished_line = b""
        self._has_left = self._has_notified = False
        self._stop_reader, self._stop_writer = os.pipe()
        self.news, self._news_writer = os.pipe()
        """A byte when the client has opened its connection; ends when the front does.

        That is when the whole server is needed, or the client has left.
        """
        self._thread = threading.Thread(target=self._run, name="front", daemon=True)

    def start(self) -> None:
        """Start the thread that reads stdin and answers the client."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the client has left, and all its messages were answered. Ask for it after the end of `news`."""
        return self._has_left and not self._unfinished_line

    def hand_over(self) -> Handover:
        """End the thread, close its file descriptors, and return what the client has sent and been answered.

        From then on nobody reads stdin, so the whole server can. It may be called once.
        """
        os.close(self._stop_writer)
        self._thread.join()
        os.close(self._stop_reader)
        os.close(self.news)
        return Handover(self._answered, self._unfinished_line, left=self._has_left)

    def _run(self) -> None:
        """Answer the client as far as the front can, then close the writing end of the pipe `news`.

        That end is how the main thread sees that this thread has ended. A client that does not read its answers counts as gone.
        """
        try:
            self._answer_all()
        except OSError:
            self._has_left, self._unfinished_line = True, b""
        finally:
            os.close(self._news_writer)

    def _answer_all(self) -> None:
        """Read stdin and answer the client.

        This ends when `hand_over` is called, an answer is unknown, or the client closes its input.
        """
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._stop_reader, select.POLLIN)
        while self._answer_lines() and not self._has_left:
            ready = {fd for fd, _ in poll.poll()}
            if self._stop_reader in ready:
                return
            read = os.read(0, CHUNK_BYTES)
            self._unfinished_line += read
            self._has_left = not read

    def _answer_lines(self) -> bool:
        """Answer the complete lines that were read; return whether to read on.

        False: only the whole server can answer the next line, or an incomplete line is too long. Each answer is written to stdout, and
        kept with its line in `_answered` for the whole server; the lines are removed from `_unfinished_line`.
        """
        while end := self._unfinished_line.find(b"\n") + 1:
            line = self._unfinished_line[:end]
            answer = self._conversation.answer(line)
            if answer is None:
                return False
            write(answer)
            self._answered.append((line, answer))
            self._unfinished_line = self._unfinished_line[end:]
            self._notify_once()
        return len(self._unfinished_line) <= MOST_WAITING

    def _notify_once(self) -> None:
        """Write a byte to `news` when the client has opened its connection, once."""
        if self._conversation.is_open and not self._has_notified:
            self._has_notified = True
            os.write(self._news_writer, b"o")
