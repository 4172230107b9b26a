"""`dapeer stdio` as a bridge: lines between this process's stdio and a server that runs already.

Two clients in one project then see the same sessions, and a client waits 30 ms instead of half a second. If
the server ends, alone or with its Neovim, the client stays connected, and the bridge finds or starts another
server. Only the standard library, and little of it: the client waits for this.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress

from dapeer.base.system import termination
from dapeer.base.system.termination import SECONDS_OF_A_HANG
from dapeer.mcp.rendezvous.standing import ClientRequests, response_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Final, TypeVar

    from dapeer.mcp.rendezvous.reaching import ReachedServer
    from dapeer.mcp.rendezvous.standing import ClientWish

    T = TypeVar("T")

CHUNK_BYTES: Final = 1 << 16
MOST_LINES: Final = 1000
"""That wait for a server; no more is read from the client then."""
SECONDS_TO_OPEN: Final = 30
"""Timeout for a starting server to answer."""
SECONDS_TO_END: Final = 3
"""Seconds for a server to end, which nobody uses any more."""
SERVER_LEFT: Final = 1
"""Exit code when there is no server any more."""


class BridgedClient:
    """The client that has started the bridge: its lines, in order, for whichever server is current."""

    def __init__(self, *, data: bool) -> None:
        self._as_sent: Callable[[bytes], bytes] = bytes
        if data:
            from dapeer.mcp.data_extension import ask_for_data

            self._as_sent = ask_for_data
        self._lines: deque[bytes] = deque()
        self._change_condition = threading.Condition()
        self._has_left = False
        self.leaving, self._leaving_writer = os.pipe()
        """Becomes readable when it has disconnected."""

    @property
    def is_gone(self) -> bool:
        """Whether it has left, and all that it has sent was passed on."""
        return self._has_left and not self._lines

    def read(self) -> None:
        """Read the client's lines from stdin into the queue until stdin ends or fails, then end the process.

        This runs in a thread of its own, and never returns. It waits while `MOST_LINES` are queued. A line is
        queued as `_as_sent` makes it, or unchanged if that fails; an incomplete last line counts, too. When the
        client has left, `leaving` becomes readable, and those who wait in `take_line` are woken. The process
        then gets `SECONDS_OF_A_HANG` to end by itself, in case a server hangs; then it is ended with code 0,
        without any cleaning up.
        """
        with suppress(OSError):
            for line in _lines(lambda: os.read(0, CHUNK_BYTES), partial=True):
                with self._change_condition:
                    self._change_condition.wait_for(lambda: len(self._lines) < MOST_LINES)
                    self._lines.append(_unless_it_fails(self._as_sent, line))
                    self._change_condition.notify_all()
        with self._change_condition:
            self._has_left = True
            os.close(self._leaving_writer)
            self._change_condition.notify_all()
        # Who carries lines may wait for a server that hangs.
        time.sleep(SECONDS_OF_A_HANG)
        os._exit(0)

    def put_back(self, lines: Iterable[bytes]) -> None:
        """Put lines back at the front of the queue, in their order."""
        with self._change_condition:
            self._lines.extendleft(reversed(list(lines)))

    def take_line(self, server: Server) -> bytes | None:
        """Wait for the client's next line, without a limit, and take it from the queue.

        None: the client has left, and has no more lines, or `server` gets no more lines (`stop_sending_to`).
        """
        with self._change_condition:
            self._change_condition.wait_for(lambda: self._lines or self._has_left or server.is_over)
            if server.is_over or not self._lines:
                return None
            self._change_condition.notify_all()
            return self._lines.popleft()

    def stop_sending_to(self, server: Server) -> None:
        """Mark a server as one that gets no more lines, and wake whoever waits for a line for it."""
        with self._change_condition:
            server.is_over = True
            self._change_condition.notify_all()


class Server:
    """The current server."""

    def __init__(
        self,
        connection: socket.socket,
        reached: ReachedServer | None = None,
        process: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self.connection = connection
        self.reached_server = reached
        """Its announcement; None if the bridge has started it."""
        self.is_over = False
        self.has_answered = False
        self.lines = _lines(lambda: connection.recv(CHUNK_BYTES))
        self._process = process

    def open(self, client_requests: ClientRequests) -> None:
        """Send a new server what it must know of the client, and have `client_requests` record its answer.

        That is the client's `initialize`, whose answer is awaited, then its `initialized`, its subscriptions, and its
        requests that are still open. If no `initialize` of the client was answered with a result yet, nothing is
        awaited. The client gets nothing of this. Other lines that come before that answer are dropped.

        Raises:
            OSError: The server has ended, or for `SECONDS_TO_OPEN` sends or takes nothing; the connection keeps that
                timeout then.
        """
        self.connection.settimeout(SECONDS_TO_OPEN)
        if opening := client_requests.opening_request():
            line, number = opening
            self.connection.sendall(line)
            answer = next((each for each in self.lines if response_id(each) == number), None)
            if answer is None:
                raise ConnectionResetError
            client_requests.record_received(answer)
        for line in client_requests.messages_after_opening():
            self.connection.sendall(line)
        self.connection.settimeout(None)

    def send_lines(self, client: BridgedClient, client_requests: ClientRequests) -> None:
        """Send the server the client's lines until either ends; `client_requests` records each before.

        This runs in a thread of its own, and raises no error of the connection; a line that could not be sent is recorded all the same.
        When the client has left, the server sees the end of its input.
        """
        with suppress(OSError):
            # The other direction notices when it has ended.
            while (line := client.take_line(self)) is not None:
                _unless_it_fails(client_requests.record_sent, line)
                self.connection.sendall(line)
            if not self.is_over:
                self.connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Disconnect from the server; if the bridge has started it, wait up to `SECONDS_TO_END` for its end.

        Such a server runs on if others use it. No error is raised.
        """
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        if self._process is not None:
            with suppress(Exception):
                self._process.wait(SECONDS_TO_END)


def carry_lines(reached: ReachedServer, wish: ClientWish) -> int:
    """Carry lines between stdio and servers until the client leaves; return the process's exit code.

    `reached` is the first server; when one ends, another is found or started, as `wish` says. The code is 0 when the client has left, and
    `SERVER_LEFT`, with a sentence on stderr, if there is no server any more. Signals end the process from then on, and so does a thread
    that reads stdin, some seconds after the client has left.
    """
    # The server sees its client disconnect then, and cancels its calls.
    termination.end_at_signals()
    client, standing = BridgedClient(data=wish.data), ClientRequests()
    # Each direction has its own thread, so that one that is stuck does not hold up the other.
    threading.Thread(target=client.read, daemon=True).start()
    server: Server | None = Server(reached.connection, reached)
    with suppress(BrokenPipeError):
        while server is not None:
            _pass_on_answers(server, client, standing)
            server = None if client.is_gone else _find_next_server(server, wish, client, standing)
        if not client.is_gone:
            from dapeer.base.system.stderr import say

            say("the server of this client has ended, and a new one cannot be started.")
            return SERVER_LEFT
    return 0


def _pass_on_answers(
    server: Server, client: BridgedClient, client_requests: ClientRequests
) -> None:
    """Send the client what a server answers, until the server or the client has ended; then disconnect.

    The client's lines are sent meanwhile by another thread. `client_requests` records the answers, and keeps those to
    the bridge's own requests from the client.
    """
    with _sending(server, client, client_requests), suppress(ConnectionError):
        for line in server.lines:
            server.has_answered = True
            if (reply := _unless_it_fails(client_requests.record_received, line)) is not None:
                _write(reply)


@contextmanager
def _sending(
    server: Server, client: BridgedClient, client_requests: ClientRequests
) -> Generator[None]:
    """Send a server the client's lines, in another thread, while the body runs.

    After the body the server gets no more lines, it is disconnected from, and the thread's end is awaited;
    where the bridge has started the server, its end is awaited, too, for `SECONDS_TO_END` at most. Lines
    that were not yet taken from the client's queue stay there. `client_requests` records each line before
    it is sent, so also one that could not be sent.
    """
    sending = threading.Thread(
        target=server.send_lines, args=(client, client_requests), daemon=True
    )
    sending.start()
    try:
        yield
    finally:
        client.stop_sending_to(server)
        server.close()
        sending.join()


def _find_next_server(
    lost: Server, wish: ClientWish, client: BridgedClient, client_requests: ClientRequests
) -> Server | None:
    """Find or start the next server after `lost` has ended, and return it once it knows the client.

    The client gets errors for its open requests (a diff is rejected, streams stay) before, on stdout, and
    afterwards notifications that everything may have changed; an `initialize` that was not answered is put back
    into its queue. It may take as long as a server may take to start; it also waits for other processes that start
    a server for the project. None: the client has left, or a server that the bridge itself has started ended
    without having answered anything, and no other is found.

    Args:
        lost: The server that has ended.
        wish: What the client has asked of a server: the command line, credentials, and the Neovim to attach to.
        client: The client itself; its end is watched.
        client_requests: What it has sent that a new server must know, and its open requests, which are taken out
            here.

    Raises:
        OSError: No process can be started for a server, or stdout is closed.
    """
    # Most bridges never need these.
    from dapeer.base.system import logs
    from dapeer.mcp.rendezvous import reaching, server_start

    # Where the command line has set it up, this does nothing.
    logs.set_up("warning", None)

    answers, again = client_requests.take_lost_requests()
    for line in answers:
        _write(line)
    client.put_back(again)
    server, what = None, "A new one"
    if (
        reached := server_start.wait_for_successor(lost.reached_server, wish, client.leaving)
    ) is None:
        if client.is_gone or (lost.reached_server is None and not lost.has_answered):
            return None
        project = lost.reached_server.announcement.project if lost.reached_server else os.getcwd()  # noqa: PTH109 - pathlib is slow to import
        with server_start.hold_start_lock(project):
            # Another bridge may have started one meanwhile.
            if (reached := reaching.connect_to_server(project, wish.nvim, SECONDS_TO_OPEN)) is None:
                connection, process = server_start.start_own_server(wish, project)
                server = Server(connection, process=process)
    if reached is not None:
        server, what = Server(reached.connection, reached), "Another one"
    return server and _open_or_find_next(server, what, wish, client, client_requests)


def _open_or_find_next(
    server: Server,
    what: str,
    wish: ClientWish,
    client: BridgedClient,
    client_requests: ClientRequests,
) -> Server | None:
    """Send a new server what it must know of the client, and return it, or the next if it fails first.

    None: there is no next server, or the client has left. The new server fails if it has ended, or sends or takes
    nothing for `SECONDS_TO_OPEN`; the search for a next one takes as long as a server may take to start. A server
    that fails is closed. On stdout, the client gets errors for what it has asked a server that failed, and
    notifications that everything may have changed. `what` is a name of the server for the client, as the beginning
    of a sentence, `wish` what the client has asked of a server, `client` the client itself, which is watched for
    its end, and `client_requests` what it has sent that a new server must know.

    Raises:
        OSError: No process can be started for a next server, or stdout is closed.
    """
    try:
        server.open(client_requests)
    except OSError:
        server.close()
        return _find_next_server(server, wish, client, client_requests)
    except BaseException:
        server.close()
        raise
    for line in client_requests.announce_change(what):
        _write(line)
    return server


def _unless_it_fails(read: Callable[[bytes], T], line: bytes) -> T | bytes:
    """Return what `read` makes of a line, or the line itself if `read` raises an `Exception`.

    So a message that is not understood is passed on. Only the type of the error is written to stderr, not
    its text.
    """
    try:
        return read(line)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the reading
        from dapeer.base.system.stderr import say

        say(f"a message is passed on unread: {type(error).__name__}.")
        return line


def _lines(read: Callable[[], bytes], *, partial: bool = False) -> Iterator[bytes]:
    """Yield each line, with its line feed, of what `read` gives in pieces, until it gives no bytes.

    With `partial` an incomplete last line is yielded, too, with a line feed added; otherwise it is dropped.
    """
    pieces: list[bytes] = []
    while data := read():
        *ended, rest = data.split(b"\n")
        for line in ended:
            pieces += (line, b"\n")
            yield b"".join(pieces)
            pieces.clear()
        pieces.append(rest)
    if partial and any(pieces):
        yield b"".join((*pieces, b"\n"))


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]
