"""Decides which HTTP requests are accepted: the outermost layers, before every route."""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from dapeer.mcp.transports import jsonl

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

        `path` is the request's path: those of `OPEN_PATHS` need no token. `headers` are pairs of bytes, the names in lower case. The
        status is 421 for a wrong Host, 403 for a wrong Origin, and 401 for a missing or wrong token.
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
