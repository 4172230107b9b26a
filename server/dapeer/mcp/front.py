"""Answers a client from its first byte, in a thread of its own, until the whole server takes over.

The answers come from `known.json`, without the library. The whole server then gets the lines that were answered, so that it
knows the client; its own answers to them are compared, not sent. A message that is not understood completely, or that the whole server might answer otherwise, is left to it.
`python -m tools.known_answers` writes `known.json`; a test compares both servers in every protocol version.
Only the standard library, and little of it: this is what a start waits for.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import stat
import threading
from os import path

from dapeer.mcp.data_extension import CAPABILITIES, EXTENSION

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final, TypeGuard

# Stdin and stdout of a client of `dapeer stdio`.

MILLISECONDS_TO_READ: Final = 1000
"""How long a client that has closed its input may read nothing before it counts as gone."""


def can_serve() -> bool:
    """Return whether stdin and stdout can be waited for (pipe, socket or terminal), and stderr is open.

    It is False if stdin or stdout is a file or closed, and on systems without `select.poll`, such as Windows.
    """
    try:
        os.fstat(2)
        # Windows cannot wait for a pipe.
        return hasattr(select, "poll") and _can_wait_for(0) and _can_wait_for(1)
    except OSError:
        return False


def _can_wait_for(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def write(data: bytes) -> None:
    """Write all bytes to stdout; wait for a client that reads slowly, as long as its input is open.

    Raises:
        OSError: The client has left: nobody reads stdout, or it has closed its input and reads nothing for a second. A part may be written.
    """
    rest = memoryview(data)
    while rest:
        _wait_for_room()
        # More than this may wait in the call itself, where nobody sees that the client leaves.
        with contextlib.suppress(BlockingIOError):
            rest = rest[os.write(1, rest[: select.PIPE_BUF]) :]


def _wait_for_room() -> None:
    """Wait until stdout takes a write or fails; there is no timeout while stdin is open.

    A failure is that nobody reads stdout any more; the next write then tells. Once the client has closed stdin,
    only `MILLISECONDS_TO_READ` are waited.

    Raises:
        TimeoutError: The client has closed stdin, and reads nothing for `MILLISECONDS_TO_READ`.
    """
    room = select.poll()
    room.register(1, select.POLLOUT)
    if room.poll(0):
        return
    either = select.poll()
    either.register(1, select.POLLOUT)
    # That nothing more comes is told of a pipe in any case, of a socket on Linux where it is asked for.
    either.register(0, getattr(select, "POLLRDHUP", 0))
    if all(fd == 0 for fd, _ in either.poll()) and not room.poll(MILLISECONDS_TO_READ):
        raise TimeoutError("the client has left its answers unread")


KNOWN: Final = path.join(path.dirname(__file__), "known.json")
NOTHING: Final = b""
"""The answer to what is not answered: a notification, a blank line."""

MAX_LINE_BYTES: Final = 1 << 16
"""Bytes of a line that is looked at."""
MOST_NESTED: Final = 100
"""Objects and lists within one message; more is left to the whole server, which limits the depth."""
LARGEST_ID: Final = 1 << 53

_PREFIX: Final = "io.modelcontextprotocol/"
_VERSION: Final = f"{_PREFIX}protocolVersion"
"""In `_meta` of each request since MCP 2026-07-28, which has no `initialize`."""
_CLIENT: Final = f"{_PREFIX}clientInfo"

_KINDS: Final = {"versions", "initialize", "lists", "modern"}
"""The keys of the known answers."""

_MESSAGE: Final = {"jsonrpc", "id", "method", "params"}
_OPENING: Final = {"protocolVersion", "capabilities", "clientInfo"}
_IMPLEMENTATION: Final = {"name", "version", "title", "description", "websiteUrl"}


class Conversation:
    """A connection from its first byte.

    Args:
        data: The client gets the data of results, whatever it says of itself.
    """

    def __init__(self, *, data: bool) -> None:
        self._data = data
        self._known_answers: dict[str, Any] = {}
        self.is_open = False
        """Whether `initialize`, or a request of MCP 2026-07-28, was answered."""
        self._is_modern = False

    def answer(self, line: bytes) -> bytes | None:
        """Return the answer to one line of JSON from the client; the connection's state changes with it.

        The answer is a line of JSON, with its line end. `NOTHING` (empty bytes) means that the line needs no
        answer: it is blank, or the notification `notifications/initialized`, without parameters, on a
        connection that `initialize` has opened. None means that only the whole server can answer, or handle any
        other notification; the state has not changed then.
        """
        if not line.strip():
            return NOTHING
        message = _read_message(line)
        if message is None:
            return None
        if "id" not in message:
            opens = message.get("method") == "notifications/initialized" and not self._is_modern
            is_known = self.is_open and opens
            return NOTHING if is_known and message.get("params", {}) == {} else None
        number = _plain_id(message["id"])
        result = self._result(message.get("method"), message.get("params", {})) if number else None
        if result is None:
            return None
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (number, _dumped(result))

    def _result(self, method: object, params: object) -> object:
        """Return the result of a request, as a JSON value; None: only the whole server can answer.

        `method` and `params` are the request's, of any type. A result of `initialize`, or of a request of MCP 2026-07-28, opens the
        connection.
        """
        if not isinstance(method, str) or not _is_object(params):
            return None
        if (
            params.keys() == {"_meta"}
            and _is_object(params["_meta"])
            and _VERSION in params["_meta"]
        ):
            return self._modern_result(method, params["_meta"])
        if self._is_modern:
            return None
        if method == "initialize":
            return None if self.is_open else self._initialize_result(params)
        if not self.is_open or not _is_plain(params):
            return None
        if method == "ping":
            return {}
        return self._known_answers["lists"].get(method)

    def _initialize_result(self, params: dict[str, Any]) -> object:
        """Return the result of `initialize`, and open the connection; None: only the whole server can answer.

        `params` are the request's parameters. What the lists of tools contain from then on depends on the client's capabilities. The
        result has the client's protocol version, or one of the server's where that is unknown. With None the connection stays closed;
        it is None, too, if `known.json` cannot be read.
        """
        if params.keys() != _OPENING or not _is_implementation(params["clientInfo"]):
            return None
        capabilities, version = params["capabilities"], params["protocolVersion"]
        if not isinstance(version, str) or not _are_capabilities(capabilities):
            return None
        if not self._load():
            return None
        if not self._gives_data(capabilities):
            self._known_answers["lists"]["tools/list"] = _without_data(
                self._known_answers["lists"]["tools/list"]
            )
        self.is_open = True
        if version in self._known_answers["versions"]:
            self._known_answers["initialize"]["protocolVersion"] = version
        return self._known_answers["initialize"]

    def _modern_result(self, method: str, meta: dict[str, Any]) -> object:
        """Return the known result of a request since MCP 2026-07-28; None: only the whole server can answer.

        `method` is the request's. `meta` is its `_meta`, and must have the protocol version. The result is None if
        `known.json` cannot be read, if no result is known for the method or the version, if `meta` names no valid client and capabilities or has
        anything else than a progress token, or if the client has opened the connection by `initialize`. A result of
        `tools/list` has no output schemas if the client gets no data. With a result, the connection counts as open
        and modern from then on. The known answers are read from `known.json` for the first such request, and again
        until one has a result.
        """
        capabilities = meta.get(CAPABILITIES)
        rest = {
            key: each for key, each in meta.items() if key not in {_VERSION, _CLIENT, CAPABILITIES}
        }
        known = _is_implementation(meta.get(_CLIENT)) and _are_capabilities(capabilities)
        if (self.is_open and not self._is_modern) or not (known and _is_token(rest)):
            return None
        if not self._is_modern and not self._load():
            return None
        if meta[_VERSION] not in self._known_answers["modern"]["versions"]:
            return None
        result = self._known_answers["modern"]["results"].get(method)
        if result is None:
            return None
        self.is_open = self._is_modern = True
        data = method != "tools/list" or self._gives_data(capabilities)
        return result if data else _without_data(result)

    def _load(self) -> bool:
        """Read the known answers from `known.json`; return whether it can be read, and has all kinds of them."""
        try:
            with open(KNOWN, encoding="utf-8") as file:
                known: object = json.load(file)
        except (OSError, ValueError, RecursionError):
            return False
        if not _is_object(known) or not known.keys() >= _KINDS:
            return False
        self._known_answers = known
        return True

    def _gives_data(self, capabilities: object) -> bool:
        """Whether a client with these capabilities gets the data of results.

        Its list of tools has output schemas then.
        """
        if self._data or not _is_object(capabilities):
            return self._data
        return EXTENSION in capabilities.get("extensions", {})


def _without_data(listed: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a result of `tools/list` whose tools have no output schemas."""
    tools = [
        {key: each for key, each in tool.items() if key != "outputSchema"}
        for tool in listed["tools"]
    ]
    return {**listed, "tools": tools}


def is_modern(line: bytes) -> bool:
    """Whether a line that the front has answered is of MCP 2026-07-28.

    There a client gets notifications of changes only if it subscribes.
    """
    return _VERSION.encode() in line


def _read_message(line: bytes) -> dict[str, Any] | None:
    """Return the object in a line that has no other keys than a request or notification; else None.

    `line` is what the client has sent, as bytes. The object has `jsonrpc`, which is "2.0", and may have `id`,
    `method` and `params`, of any type: the caller checks them. A key that is there twice has its last value.
    None is returned for a line that is no JSON or no UTF-8, or holds `NaN`, `Infinity`, or a backslash before
    `ud` or `uD`, which may begin half of a surrogate pair. None is also returned for a line of more than
    `MAX_LINE_BYTES`, or with more than `MOST_NESTED` opening brackets.
    """
    if len(line) > MAX_LINE_BYTES or line.count(b"{") + line.count(b"[") > MOST_NESTED:
        return None
    if rb"\ud" in line.lower():
        return None
    try:
        message: object = json.loads(line.decode(), parse_constant=_refuse)
    except ValueError:
        return None
    if _is_object(message) and message.keys() <= _MESSAGE and message.get("jsonrpc") == "2.0":
        return message
    return None


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _refuse(name: str) -> None:
    """Raise `ValueError` for a constant such as `NaN`, which is no valid JSON."""
    raise ValueError(name)


def _plain_id(value: object) -> bytes | None:
    """Return a request's id as JSON; None: it is not plain.

    Plain are a text of printable ASCII characters without double quotes and backslashes, which may be empty, and
    an integer from 0 to below `LARGEST_ID`.
    """
    if isinstance(value, str):
        is_plain = (
            value.isascii() and value.isprintable() and '"' not in value and "\\" not in value
        )
        return b'"%b"' % value.encode() if is_plain else None
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_ID
    return str(value).encode() if is_number else None


def _is_plain(params: dict[str, Any]) -> bool:
    """Whether a request's parameters have nothing but perhaps a `_meta` with a progress token."""
    meta = params.get("_meta", {})
    return not params.keys() - {"_meta"} and _is_object(meta) and _is_token(meta)


def _is_token(meta: dict[str, Any]) -> bool:
    """Whether a `_meta` is empty, or has a valid progress token and nothing else."""
    return not meta or (
        meta.keys() == {"progressToken"} and _plain_id(meta["progressToken"]) is not None
    )


def _is_implementation(value: object) -> bool:
    """Whether a value is a valid `clientInfo`: texts under `name`, `version`, and other known keys."""
    return (
        _is_object(value)
        and {"name", "version"} <= value.keys() <= _IMPLEMENTATION
        and all(isinstance(each, str) for each in value.values())
    )


def _are_capabilities(value: object) -> bool:
    """Whether all protocol versions' schemas accept a value as a client's capabilities.

    A capability that no schema names may have any value.
    """
    if not _is_object(value):
        return False
    return all(_ACCEPTS.get(name, _anything)(each) for name, each in value.items())


def _anything(_value: object) -> bool:
    return True


def _is_object_of_objects(value: object) -> bool:
    """Whether this is an object of objects."""
    return _is_object(value) and all(_is_object(each) for each in value.values())


def _only_objects(value: object) -> bool:
    """Whether a value is an object whose values are such objects, down to empty ones."""
    return _is_object(value) and all(map(_only_objects, value.values()))


def _is_roots_capability(value: object) -> bool:
    """Whether a value is a valid capability `roots`."""
    return (
        _is_object(value)
        and not value.keys() - {"listChanged"}
        and isinstance(value.get("listChanged", False), bool)
    )


_ACCEPTS: Final = {
    "experimental": _is_object_of_objects,
    "extensions": _is_object_of_objects,
    "roots": _is_roots_capability,
    "sampling": _only_objects,
    "elicitation": _only_objects,
    "tasks": _only_objects,
}


def _dumped(result: object) -> bytes:
    return json.dumps(result, separators=(",", ":"), ensure_ascii=False).encode()


CHUNK_BYTES: Final = 1 << 16
MOST_WAITING: Final = 1 << 20
"""Bytes without the end of a line; more are left to the whole server."""


class Handover:
    """What the whole server must know of the client."""

    def __init__(
        self, answered: Sequence[tuple[bytes, bytes]], unfinished_line: bytes, *, has_left: bool
    ) -> None:
        self.answered_lines = answered
        """Each line with its answer."""
        self.unanswered_bytes = unfinished_line
        """What came after these: lines, the last one perhaps incomplete."""
        self.has_left = has_left
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
        self.news_reader, self._news_writer = os.pipe()
        """A byte when the client has opened its connection; ends when the front does.

        That is when the whole server is needed, or the client has left.
        """
        self._thread = threading.Thread(target=self._run, name="front", daemon=True)

    def start(self) -> None:
        """Start the thread that reads stdin and answers the client."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the client has left, and all is answered. Ask for it after the end of `news_reader`."""
        return self._has_left and not self._unfinished_line

    def hand_over(self) -> Handover:
        """End the thread, close its file descriptors, and return what the client has sent and been answered.

        It waits for the thread, which may be writing an answer that the client has not read yet. From then on nobody reads stdin, so the
        whole server can. It may be called once.
        """
        os.close(self._stop_writer)
        self._thread.join()
        os.close(self._stop_reader)
        os.close(self.news_reader)
        return Handover(self._answered, self._unfinished_line, has_left=self._has_left)

    def _run(self) -> None:
        """Answer the client as far as the front can, then close the writing end of the pipe `news_reader`.

        That end is how the main thread sees that this thread has ended. A client that does not read its answers counts as gone, and what
        it has sent since is dropped; no error is raised.
        """
        try:
            self._answer_all()
        except OSError:
            self._has_left, self._unfinished_line = True, b""
        finally:
            os.close(self._news_writer)

    def _answer_all(self) -> None:
        """Read stdin and answer the client on stdout; block until there is nothing more to answer here.

        This ends when `hand_over` is called, when only the whole server can answer the next line, when an
        incomplete line is too long, or when the client closes its input. What was read and not answered stays in
        `_unfinished_line`, and each answered line is kept in `_answered`, for the whole server.

        Raises:
            OSError: The client has left without reading its answers.
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

        False: only the whole server can answer the next line, or an incomplete line is too long; it stays in
        `_unfinished_line`. Each answer is written to stdout, and kept with its line in `_answered` for the whole
        server; the lines are removed from `_unfinished_line`. A line that needs no answer, such as a blank one, is kept
        with an empty one. Once the client has opened its connection, a byte is written for the readers of
        `news_reader`.

        Raises:
            OSError: The client has left without reading its answers.
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
        """Write a byte for `news_reader` when the client has opened its connection, once."""
        if self._conversation.is_open and not self._has_notified:
            self._has_notified = True
            os.write(self._news_writer, b"o")
