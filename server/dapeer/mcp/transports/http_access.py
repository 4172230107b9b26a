"""Who may use the server over HTTP: the token that a client shows, and which requests are accepted."""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import json
import os
import re
import secrets
import socket
import stat
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dapeer.base.credentials import TOKEN
from dapeer.base.errors import ArgumentError
from dapeer.base.system import folder_names
from dapeer.mcp.rendezvous.announcement import hold_lock, sweep_leftovers
from dapeer.mcp.transports import jsonl

# The token: where it comes from, and where it is kept.
#
# It is never on a command line or in a log, where other users of the machine could read it.

MAX_TOKEN_CHARS: Final = 4096
"""Characters of a token file."""

_TOKEN = re.compile(r"[!-~]{8,}")


def token_from_environment(credentials: Mapping[str, str]) -> str | None:
    """Return the token among the variables that were in the environment; None: there is none.

    Raises:
        ArgumentError: It is not a valid token.
    """
    value = credentials.get(TOKEN)
    return None if value is None else _check_token(value, f"${TOKEN}")


def read_or_create_token(path: Path) -> str:
    """Return the token in a file; create the file, with a new token, if it does not exist.

    Only the user can read a new file. Its folder must exist.

    Raises:
        ArgumentError: The file cannot be read or made, is open to other users, or contains no valid token.
    """
    try:
        return _check_token(_read(path), str(path))
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise _token_file_error(path, error) from error
    try:
        return _create(path)
    except OSError as error:
        raise _token_file_error(path, error) from error


@contextmanager
def temporary_token(port: int) -> Generator[tuple[str, Path]]:
    """Make a token for the server on `port`, in a file that lasts as long as the body runs.

    Token and path are yielded. An older file of the same port is replaced, and those of killed servers are removed.

    Raises:
        ArgumentError: The folder for it cannot be made, locked or written, or is another user's.
    """
    path = Path(folder_names.state()) / f"token-{port}"
    lock = ExitStack()
    try:
        with sweep_leftovers(folder_names.make_private(path.parent)):
            path.unlink(missing_ok=True)
            token = _create(path)
            lock.enter_context(hold_lock(path))
    except OSError as error:
        raise ArgumentError(
            f"Cannot keep a token in {path.parent}: {error.strerror}.",
            f"Give one in ${TOKEN}, or name its file with --token-file.",
        ) from error
    with lock:
        try:
            yield token, path
        finally:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _read(path: Path) -> str:
    """Return the content of a token file, blanks included; any line end becomes a line feed.

    Raises:
        ArgumentError: It is not a regular file, has more than `MAX_TOKEN_CHARS` characters, or other users
            own it, or can read or write it.
        OSError: It cannot be read, or is not there.
        UnicodeDecodeError: It is not text.
    """
    # Opening a FIFO would hang until a process writes to it.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise _token_file_error(path, "it is not a regular file")
    with os.fdopen(fd, encoding="utf-8") as file:
        if status.st_uid != os.getuid():
            raise _token_file_error(path, "another user owns it")
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            # It is not closed to them for the user: they may have read it, or written it.
            raise ArgumentError(
                f"Other users can read or change the token file {path}.",
                "Remove it, and dapeer creates a new one; or `chmod 600` it if no other user has used it.",
            )
        text = file.read(MAX_TOKEN_CHARS + 1)
        if len(text) > MAX_TOKEN_CHARS:
            raise _token_file_error(path, f"it has more than {MAX_TOKEN_CHARS} characters")
        return text


def _token_file_error(path: Path, why: Exception | str) -> ArgumentError:
    """Return the error which says that a token file at `path` cannot be used, and names `--token-file`.

    `why` is the reason. Of an `OSError` its text is taken; any other exception counts as a file that is not
    text. A `str` is taken as it is: a clause without a period, such as `another user owns it`.
    """
    match why:
        case OSError():
            reason = why.strerror
        case Exception():
            reason = "it is not text"
        case _:
            reason = why
    return ArgumentError(
        f"Cannot use the token file {path}: {reason}.", "Name another with --token-file."
    )


def _create(path: Path) -> str:
    """Write a new token and a line end to a new file that only the user can read; return the token alone.

    The file is removed again if it cannot be written.

    Raises:
        OSError: The file exists, or cannot be created or written.
    """
    token = secrets.token_urlsafe(32)
    # Exclusive, and closed to others from the first moment.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(token + "\n")
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return token


def _check_token(text: str, source: str) -> str:
    """Return a text without blanks around it, if that is a valid token.

    A valid token is one word of at least 8 visible ASCII characters. `source` is where the text comes from (a file or a
    variable); the error begins with this name, and never shows the text itself.

    Raises:
        ArgumentError: The text is not a valid token.
    """
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise ArgumentError(
            f"{source} contains no valid token.",
            "A token is one word of at least 8 visible ASCII characters.",
        )
    return token


# Which requests are accepted: the outermost layers, before every route.

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
OPEN_PATHS: Final = frozenset({"/health", "/live", "/live/page.js", "/live/page.css"})
"""Paths that need no token; Host and Origin are checked there too."""

LONGEST_BODY: Final = 4 << 20
"""Bytes; the same as the SDK's own limit."""
LET_IN: Final = "dapeer.let_in"
"""The key in the `state` of an ASGI scope of a function to call when a request is authorized."""

Headers = Iterable[tuple[bytes, bytes]]

# The three types of ASGI; a web framework is the business of http.py alone.
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
Application = Callable[[AsgiMessage, Receive, AsgiSend], Awaitable[None]]

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://(?P<host>.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """Which requests are let in. Pure.

    A web page can make a browser send requests to loopback (its `Origin` tells), and with a name of
    its own that resolves to 127.0.0.1 even read the answers (the `Host` tells).
    """

    token: str | None
    allowed_hosts: frozenset[str] = LOOPBACK
    any_address: bool = False
    """Let in every `Host` that is an IP address: rebinding needs a name."""

    def refusal(self, path: str, headers: Headers) -> Refusal | None:
        """Return why a request is rejected, by its Host, Origin and token; None: it is accepted.

        `path` is the request's path: those of `OPEN_PATHS` need no token, and without a `token` of this server
        none does. `headers` are pairs of bytes, the names in lower case. The status is 421 for a wrong Host, or
        not exactly one, 403 for a wrong Origin (none at all is accepted), and 401 for a missing or wrong token,
        or several Authorization headers.
        """
        given = list(headers)
        hosts, origins = _values(given, b"host"), _values(given, b"origin")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(421, "This server does not accept that Host header.")
        if any(not self._is_our_origin(origin, hosts[0]) for origin in origins):
            return Refusal(403, "This server does not accept that Origin header.")
        if self.token is not None and path not in OPEN_PATHS:
            return self._refused_without_token(_values(given, b"authorization"))
        return None

    def _is_our_origin(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may send requests to this Host.

        Without a token, only a page of this server's own may.
        """
        match = _ORIGIN.fullmatch(origin)
        if match is None or not self._is_ours(match["host"]):
            return False
        return self.token is not None or _port(match["host"]) == _port(host)

    def _is_ours(self, host: str) -> bool:
        """Whether a Host header, with or without port, is one of this server."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["name"].lower()
        return name in self.allowed_hosts or (self.any_address and _is_address(name))

    def _refused_without_token(self, authorizations: list[str]) -> Refusal | None:
        """Return the refusal of a request without the right token; None: it has the token.

        There must be exactly one Authorization header.
        """
        # Of two, others on the way may have looked at the other one.
        scheme, _, token = (authorizations[0] if len(authorizations) == 1 else "").partition(" ")
        expected = (self.token or "").encode()
        if scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), expected):
            return None
        return Refusal(401, "This server requires a token: `Authorization: Bearer …`.")


def is_loopback(bound: str) -> bool:
    """Whether only programs on this machine reach a server that is bound to this host."""
    return _as_host(bound) in LOOPBACK


def rules_for(bound: str, token: str | None) -> AdmissionRules:
    """Return the rules of a server that is bound to a host; that host is accepted besides loopback.

    With an address that stands for all of the machine, every IP address is accepted, and the machine's name. `token` is the one that
    clients must send; None: none.
    """
    name = _as_host(bound)
    if name in {"0.0.0.0", "[::]"}:  # noqa: S104 - compared with, not bound to
        hosts = LOOPBACK | {socket.gethostname().lower()}
        return AdmissionRules(token, hosts, any_address=True)
    return AdmissionRules(token, LOOPBACK | {name})


class Guard:
    """Lets a request through to the application, or answers it."""

    def __init__(self, application: Application, rules: AdmissionRules) -> None:
        self._application = application
        self._rules = rules
        self._is_closed = False

    def close(self) -> None:
        """Accept no more requests."""
        self._is_closed = True

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: AsgiSend) -> None:
        """Pass a request on to the application if the rules accept it, else answer it with the refusal.

        After `close` every request is refused.
        """
        refusal = self._rules.refusal(scope["path"], scope["headers"])
        if refusal is None and self._is_closed:
            refusal = Refusal(503, "The server is shutting down.")
        if refusal is None:
            if scope["path"] not in OPEN_PATHS:
                scope["state"][LET_IN]()
            await self._application(scope, receive, send)
        else:
            await send_refusal(send, refusal)


async def send_refusal(send: AsgiSend, refusal: Refusal) -> None:
    """Send the response to a refused request: its status, and its sentence as JSON under `error`.

    With status 401 it names the scheme, Bearer.
    """
    body = json.dumps({"error": refusal.message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="dapeer"'))
    await send(
        {"type": "http.response.start", "status": refusal.status, "headers": headers},
    )
    await send({"type": "http.response.body", "body": body})


def _values(headers: Headers, name: bytes) -> list[str]:
    """Return the values of all headers with this name, which is in lower case."""
    return [value.decode("latin-1").strip() for key, value in headers if key == name]


def _as_host(bound: str) -> str:
    """Return the name or address to which a server is bound as a Host header has it."""
    return f"[{bound}]" if ":" in bound else bound.lower()


def _is_address(name: str) -> bool:
    """Whether a host is an IP address; one of IPv6 may be in brackets."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _port(host: str) -> str | None:
    """Return the port of a Host header; None: it has none, or is not valid."""
    match = _HOST.fullmatch(host)
    return match["port"] if match else None


class Arrival:
    """Takes the body of each POST request, and hands on those that the SDK can read.

    The SDK logs a traceback for a body that breaks off, takes a request with an odd id for a notification,
    and complains in the words of its own source.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: AsgiSend) -> None:
        """Pass a request on to the application; answer a POST whose body is too long, or no valid message.

        The application gets the whole body of a POST at once. If the client leaves before, nothing happens.
        """
        if scope["method"] != "POST":
            await self._application(scope, receive, send)
            return
        body = await _receive_body(receive)
        if body is None:
            return
        if len(body) > LONGEST_BODY:
            await send_refusal(send, Refusal(413, f"A body may have at most {LONGEST_BODY} bytes."))
        elif isinstance(read := jsonl.parse_message(body), jsonl.ErrorResponse):
            await _send_error(send, read)
        else:
            await self._application(scope, _replayed(body, receive), send)


async def _receive_body(receive: Receive) -> bytes | None:
    """Receive a request's body, and return it; None: its client has left.

    Of a body that is longer than `LONGEST_BODY`, only the beginning is read, which is longer than that, too.
    """
    body = bytearray()
    while len(body) <= LONGEST_BODY:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the whole body first, then what `receive` gives."""
    left: list[AsgiMessage] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> AsgiMessage:
        return left.pop() if left else await receive()

    return next_message


async def _send_error(send: AsgiSend, complaint: jsonl.ErrorResponse) -> None:
    """Send a response with status 400 and a JSON-RPC error."""
    body = jsonl.encode_message(complaint.error)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
