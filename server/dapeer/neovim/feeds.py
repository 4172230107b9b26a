"""The two ways in which a session of nvim-dap reaches dapeer. Both carry the same frames.

The *tap* is a socket per session. Lua writes to it in the callbacks of nvim-dap's event loop, so it works
also while Neovim waits for a key. The *listeners* are nvim-dap's documented ones, forwarded over the RPC
channel: they pause whenever Neovim's main thread does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

import anyio

from dapeer.base.errors import ForeignListener, NeovimBusy, NeovimGone
from dapeer.base.json_types import as_array
from dapeer.base.system import folder_names
from dapeer.base.system.folders import remove_left_folders, temporary_folder
from dapeer.base.system.ownership import check_peer
from dapeer.base.system.tasks import Mailbox
from dapeer.dap.decoding import decode, from_json, without_surrogates
from dapeer.dap.messages import Body, Message, Request, Response
from dapeer.neovim.client import SECONDS_TO_ANSWER, Neovim

FeedName = Literal["tap", "listeners"]

CHUNK_BYTES = 1 << 16

REQUEST = "return require('dapeer.nvim_dap.listeners').request(...)"


class FeedFrame(NamedTuple):
    """A message that has passed nvim-dap."""

    kind: str
    """i: from the adapter, o: to the adapter, x: a request of dapeer that could not be sent, e: the end."""
    number: int
    """Of an outgoing frame: dapeer's number of the request; 0: a request of the person."""
    message: Message | str | None
    """For x: the reason. None: a frame without a DAP message."""


class Feed(Protocol):
    """Carries requests to nvim-dap, and frames back."""

    name: FeedName
    is_closed_by_nvim_dap: bool
    """Whether nvim-dap has closed the session; otherwise the connection broke."""

    async def send(self, number: int, command: str, arguments: Body) -> None:
        """Have nvim-dap send a request; its frame will carry this number.

        Raises:
            anyio.BrokenResourceError: The session has ended.
            NeovimBusy: The main thread is needed, and does not run; the request will not be sent.
        """
        ...

    async def receive(self) -> FeedFrame:
        """Return the next frame.

        Raises:
            anyio.EndOfStream: The session has ended.
        """
        ...

    async def aclose(self) -> None:
        """Close the feed; nvim-dap's session continues."""
        ...


class Tap:
    """A session's own socket. lua/dapeer/nvim_dap/tap.lua describes its protocol."""

    name: FeedName = "tap"

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._buffer = bytearray()
        self._frames: deque[FeedFrame] = deque()
        self.is_closed_by_nvim_dap = False

    async def send(self, number: int, command: str, arguments: Body) -> None:
        """Have nvim-dap send a request with `command` and `arguments` to its adapter.

        `number` is dapeer's own number of the request, from 1 on: Neovim repeats it in the frame that tells that the
        request was sent, or why it was not. This method waits until the socket has room, not for the response.

        Raises:
            anyio.BrokenResourceError: The session has ended.
        """
        body = _request(command, arguments).encode()
        if self._writer.is_closing():
            raise anyio.BrokenResourceError
        self._writer.write(b"%d %d\n%b" % (number, len(body), body))
        try:
            await self._writer.drain()
        except ConnectionError as error:
            raise anyio.BrokenResourceError from error

    async def receive(self) -> FeedFrame:
        """Wait for the next frame and return it, without a limit; the frame of the end is never returned.

        A frame is a message between nvim-dap and its adapter, or one on the fate of a request of dapeer's.

        Raises:
            ValueError: What was received is no frame.
            anyio.EndOfStream: nvim-dap has closed the session (`is_closed_by_nvim_dap` is set then), or the
                connection ended.
        """
        while not self._frames:
            try:
                data = await self._reader.read(CHUNK_BYTES)
            except ConnectionError as error:
                raise anyio.EndOfStream from error
            if not data:
                raise anyio.EndOfStream
            self._buffer += data
            self._frames.extend(_take_frames(self._buffer))
        frame = self._frames.popleft()
        if frame.kind == "e":
            self.is_closed_by_nvim_dap = True
            raise anyio.EndOfStream
        return frame

    async def aclose(self) -> None:
        """Close the socket."""
        self._writer.close()


def _take_frames(buffer: bytearray) -> Iterator[FeedFrame]:
    """Yield each complete frame at the front of a buffer; when all are yielded, remove them from it.

    A frame is a line of kind (see `FeedFrame`), number and length in bytes, then that many bytes: a DAP
    message, or for the kind `x` a text in UTF-8. The `message` of a frame without a valid DAP message is
    None. An incomplete frame stays. Nothing is removed if the iteration is given up, or raises.

    Raises:
        ValueError: The line of a frame does not have three fields, or number or length is no integer, or the
            length is negative.
    """
    start = 0
    while (end := buffer.find(b"\n", start)) >= 0:
        kind, number, length = bytes(buffer[start:end]).split()
        stop = end + 1 + int(length)
        if stop <= end:
            raise ValueError(f"a frame of {int(length)} bytes")
        if len(buffer) < stop:
            break
        body = bytes(buffer[end + 1 : stop])
        message = body.decode("utf-8", "replace") if kind == b"x" else decode(body)
        yield FeedFrame(kind.decode(), int(number), message)
        start = stop
    del buffer[:start]


class Listeners:
    """A session's share of the notifications of a Neovim."""

    name: FeedName = "listeners"

    def __init__(self, neovim: Neovim, session: int, seconds_ahead: float = 0.0) -> None:
        """Begin a feed of nvim-dap's session number `session`; Neovim has to pass its frames to `queue_frame`.

        `seconds_ahead`: seconds by which Neovim's clock is ahead of dapeer's.
        """
        self._neovim = neovim
        self._seconds_ahead = seconds_ahead
        self._session = session
        self._frames = Mailbox[FeedFrame]()
        self.is_closed_by_nvim_dap = False

    def queue_frame(self, kind: str, number: int, message: object) -> None:
        """Queue a frame that Lua has sent for `receive`.

        `message` is a DAP message as decoded from MessagePack.
        """
        self._frames.put(FeedFrame(kind, number, from_json(without_surrogates(message))))

    def mark_ended(self) -> None:
        """Set `is_closed_by_nvim_dap`, and end `receive` after the queued frames: the session has ended."""
        self.is_closed_by_nvim_dap = True
        self._frames.end()

    async def send(self, number: int, command: str, arguments: Body) -> None:
        """Have nvim-dap send a request, if Neovim's main thread gets to it within `SECONDS_TO_ANSWER`.

        `number` is dapeer's number of the request, which the feed's frame of this request will carry; `command`
        and `arguments` are the request's. It waits until Neovim has answered that the request was sent, not for
        the response.

        Raises:
            anyio.BrokenResourceError: The session or its Neovim has ended.
            NeovimBusy: Neovim waits for a key or was busy too long; the request will not be sent.
            NeovimFailed: The Lua code that sends the request failed.
        """
        latest = time.time() + self._seconds_ahead + SECONDS_TO_ANSWER
        text = _request(command, arguments)
        neovim = self._neovim
        try:
            mode = await neovim.mode()
            if mode is not None and mode.blocking:
                raise NeovimBusy(
                    f"This session is reached only through Neovim, and Neovim {mode}.",
                    "Try again when the person has finished there.",
                )
            done = await neovim.call(REQUEST, neovim.channel, self._session, number, text, latest)
        except NeovimGone as error:
            raise anyio.BrokenResourceError from error
        if done is None:
            raise anyio.BrokenResourceError
        if not done:
            raise NeovimBusy("Neovim was busy too long.", "Try again.")

    async def receive(self) -> FeedFrame:
        """Wait for the next frame and return it.

        Raises:
            anyio.EndOfStream: The session has ended.
        """
        return await self._frames.take()

    async def aclose(self) -> None:
        """End `receive`; nvim-dap's session continues."""
        self.mark_ended()


def _request(command: str, arguments: Body) -> str:
    """Return a request for Lua as a text of JSON, with `command` and `arguments`."""
    return json.dumps({"command": command, "arguments": arguments}, separators=(",", ":"))


class Hello(NamedTuple):
    """What Lua sends about a session before its messages."""

    session: int
    """nvim-dap's number for it."""
    name: str
    type: str
    """The adapter's name in nvim-dap."""
    request: str
    parent: int | None
    launch: int | None
    """The id of the start from which it came, if dapeer requested it."""
    waited_for_person: bool = False
    """Whether the start had to wait for the person."""
    exception_filters: list[str] | None = None
    """The start's own."""

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Hello:
        """Return what Lua has sent about a session, from its decoded JSON; only `session` must be there.

        `facts` may also have `name` and `type` (else empty), `request` (else `launch`), `waited` (into
        `waited_for_person`), `exception_filters` (absent: None; no list: an empty one), and `parent` and `launch`,
        which are taken as they are.

        Raises:
            KeyError: `facts` has no `session`.
            ValueError: `session` is a text that is no number.
            TypeError: `session` is null, a list or an object.
        """
        filters = facts.get("exception_filters")
        return cls(
            int(facts["session"]),
            str(facts.get("name") or ""),
            str(facts.get("type") or ""),
            str(facts.get("request") or "launch"),
            facts.get("parent"),
            facts.get("launch"),
            bool(facts.get("waited")),
            None if filters is None else [*map(str, as_array(filters))],
        )


# The socket to which the taps of attached Neovims connect, once for each session.


SECONDS_FOR_HELLO = 2.0
LONGEST_FOLDER = 75
"""Bytes; the path of a socket has some hundred at most, on some systems."""

Joined = Callable[[Hello, Tap], None]


class Taps:
    """Listens on a unix socket in a folder that only its owner can enter."""

    def __init__(self) -> None:
        self.path = ""
        self._expected_sessions: dict[str, Joined] = {}
        self._server: asyncio.Server | None = None
        self._folder = contextlib.ExitStack()
        self._silent_connections: set[asyncio.StreamWriter] = set()
        """Silent connections, whose end shows Neovim that dapeer has ended."""

    async def open(self) -> None:
        """Create the socket, listen on it, and set `path` to where it is; a second call changes nothing.

        The socket lies in a new folder, which `aclose` removes: in the login session's folder if that is usable,
        else in the folder for temporary files. In the former, folders that killed dapeer servers have left are
        removed first.

        Raises:
            OSError: The folder or the socket cannot be made; without a socket the folder stays until `aclose`.
        """
        if self._server is None:
            parent = _runtime_folder()
            if parent is not None:
                # Cores that were killed have left theirs.
                remove_left_folders(parent)
            self.path = str(self._folder.enter_context(temporary_folder(parent)) / "tap")
            self._server = await asyncio.start_unix_server(self._serve_connection, self.path)

    def expect(self, joined: Joined) -> str:
        """Return a new secret; each session that connects with it is passed to `joined`, until `forget`."""
        secret = secrets.token_urlsafe(16)
        self._expected_sessions[secret] = joined
        return secret

    def forget(self, secret: str) -> None:
        """Accept no more sessions with this secret; those that are connected stay."""
        self._expected_sessions.pop(secret, None)

    async def aclose(self) -> None:
        """Stop listening, close connections that wait for dapeer's end, and remove the socket's folder.

        Connections of sessions stay: whoever got the `Tap` closes it. Nothing is done unless `open` was called; a
        folder that `open` has left without a socket is removed, too.
        """
        if self._server is not None:
            self._server.close()
        for line in self._silent_connections:
            line.close()
        self._folder.close()

    async def _serve_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve a new connection: read its first line, and pass the session to the function that expects it.

        The line is JSON with `secret`, as `expect` has returned it, and the facts for `Hello.read`. The function
        that was given to `expect` is called with the `Hello` and a `Tap`, which has the connection from then on.
        If the line has a true `line`, no session is passed: the connection only shows Neovim when dapeer ends,
        and is kept until the other end or `aclose` closes it. The connection is closed without an answer or an
        error for an unknown secret, a malformed line, another user's connection, or silence for
        `SECONDS_FOR_HELLO`.

        Raises:
            OSError: The connection has been closed before its user was looked up.
        """
        odd = (TimeoutError, ValueError, KeyError, TypeError, ConnectionError, ForeignListener)
        with contextlib.suppress(*odd):
            check_peer(writer.get_extra_info("socket"), self.path)
            with anyio.fail_after(SECONDS_FOR_HELLO):
                facts = json.loads(await reader.readline())
            joined = self._expected_sessions[str(facts["secret"])]
            if not facts.get("line"):
                joined(Hello.read(facts), Tap(reader, writer))
                return
            self._silent_connections.add(writer)
            await reader.read()
        self._silent_connections.discard(writer)
        writer.close()


def _runtime_folder() -> str | None:
    """Return the login session's folder for sockets.

    The result is None if it is unusable, as after `su` or in a container.
    """
    folder = folder_names.folder_of_variable("XDG_RUNTIME_DIR")
    usable = len(os.fsencode(folder)) <= LONGEST_FOLDER and os.access(folder, os.W_OK | os.X_OK)
    return folder if usable else None


# A session of nvim-dap as a transport: the messages between the person's client and its adapter.


MAX_UNANSWERED_REQUESTS = 1000
"""Requests whose responses may still arrive; an adapter that owes more will never answer the oldest."""


class NvimTransport:
    """Carries one session over either feed.

    nvim-dap numbers the requests that go over its wire, ours among them; here they get our own
    numbers back. The person's requests are told too, by their negative number, so that whoever
    watches learns of a step when it is sent, and knows what was asked when it is answered.
    """

    def __init__(self, feed: Feed, names: Mapping[str, str] = MappingProxyType({})) -> None:
        """Keep `names`, those of files with breakpoints here, by their paths in Neovim if these differ."""
        self._feed = feed
        self._names = names
        self._requests: OrderedDict[int, Request] = OrderedDict()
        """By nvim-dap's number: the request with dapeer's number."""
        self._is_closed = False

    async def send(self, message: Message) -> None:
        """Have nvim-dap send a request.

        Any other message is dropped, since nvim-dap answers its adapter's requests itself.

        Raises:
            anyio.BrokenResourceError: The session has ended.
            anyio.ClosedResourceError: `aclose` was called.
            NeovimBusy: It cannot be sent now, and will not be sent later.
        """
        if self._is_closed:
            raise anyio.ClosedResourceError
        if isinstance(message, Request):
            await self._feed.send(message.seq, message.command, message.arguments)

    async def receive(self) -> Message:
        """Return the next message: the adapter's event or response, or a request that the person has sent.

        A response has our number of the request, with the request's command and arguments.

        Raises:
            anyio.EndOfStream: The session has ended, or its Neovim has.
        """
        while True:
            message = self._message_of_frame(await self._feed.receive())
            if message is not None:
                return message

    async def send_eof(self) -> None:
        """Do nothing: the connection to the adapter is nvim-dap's, and the person may still need it."""

    async def aclose(self) -> None:
        """Close the feed; nvim-dap's session continues."""
        self._is_closed = True
        await self._feed.aclose()

    def _message_of_frame(self, frame: FeedFrame) -> Message | None:
        """Return the message of a frame as dapeer's session is to see it; None: the session is not to see it.

        A frame is a message of nvim-dap's session that Lua forwards: `o` has one that was sent to the adapter, `i` one of
        the adapter. A request that the person has sent is seen, dapeer's own is not; either is kept for its response, which
        is returned with our number, command and arguments. A response whose request is not kept is not seen. A request of
        dapeer's that could not be sent (`x`) becomes a failed response. Requests of the adapter are not seen, as nvim-dap
        answers them. Events of the adapter are returned unchanged.
        """
        match frame:
            case FeedFrame("o", number, Request() as request):
                return self._keep_request(number, request)
            case FeedFrame("i", _, Response() as response):
                return self._answer(response)
            case FeedFrame("x", number, str(why)):
                return Response(number, "", success=False, message=why)
            case FeedFrame("i", _, message) if not isinstance(message, Request | str):
                return message
            case _:
                # nvim-dap answers its adapter's requests (runInTerminal, startDebugging) itself.
                return None

    def _keep_request(self, number: int, request: Request) -> Message | None:
        """Keep a request that nvim-dap has sent until its response comes; return it only if a person sent it.

        `number` is the number of dapeer's own request, and the result is None then. It is 0 for a request of the
        person: this is returned with nvim-dap's number, negated, as its `seq`. What is kept and returned is one new
        `Request` with the same `arguments` object, by nvim-dap's number (`request.seq`); a `setBreakpoints` has new
        `arguments`, with the path on this machine in place of Neovim's. Above `MAX_UNANSWERED_REQUESTS` the oldest
        kept request is dropped.
        """
        mine = number > 0
        known = replace(request, seq=number if mine else -request.seq)
        if request.command == "setBreakpoints":
            known = replace(known, arguments=_with_local_path(request.arguments, self._names))
        self._requests[request.seq] = known
        if len(self._requests) > MAX_UNANSWERED_REQUESTS:
            self._requests.popitem(last=False)
        return None if mine else known

    def _answer(self, response: Response) -> Message | None:
        """Return a response with the number, command and arguments of its request; None if that is not known.

        The request is forgotten, so a second response to it gives None.
        """
        request = self._requests.pop(response.request_seq, None)
        if request is None:
            return None
        return replace(
            response, request_seq=request.seq, command=request.command, arguments=request.arguments
        )


def _with_local_path(arguments: Body, names: Mapping[str, str]) -> Body:
    """Return the arguments of `setBreakpoints` with the file's path on this machine in place of Neovim's.

    `names` are the paths here, by Neovim's; for a path that is not among them, `arguments` come back as they are. They are not edited.
    """
    source: Mapping[str, Any] = arguments.get("source") or {}
    name = names.get(str(source.get("path")))
    return arguments if name is None else {**arguments, "source": {**source, "path": name}}
