"""A request's body is handed on when it is there as a whole, and is a message."""

from __future__ import annotations

from typing import Final

from dapeer.mcp.transports import jsonl
from dapeer.mcp.transports.guard import Application, AsgiMessage, AsgiSend, Receive, Refusal, answer

LONGEST_BODY: Final = 4 << 20
"""Bytes; the same as the SDK's own limit."""


class Arrival:
    """Takes the body of each POST request, and hands on those that the SDK can read.

    The SDK logs a traceback for a body that breaks off, takes a request with an odd id for a notification,
    and complains in the words of its own source.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: AsgiSend) -> None:
        """Pass one request on, or answer it; a disconnected client needs neither."""
        if scope["method"] != "POST":
            await self._application(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            return
        if len(body) > LONGEST_BODY:
            await answer(send, Refusal(413, f"A body may have at most {LONGEST_BODY} bytes."))
        elif isinstance(read := jsonl.parse(body), jsonl.Complaint):
            await _complain(send, read)
        else:
            await self._application(scope, _replayed(body, receive), send)


async def _body(receive: Receive) -> bytes | None:
    """Return a request's body, or the beginning of one that is too long; None: its client has left."""
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
    """Return a `receive` that gives the body first."""
    left: list[AsgiMessage] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> AsgiMessage:
        return left.pop() if left else await receive()

    return next_message


async def _complain(send: AsgiSend, complaint: jsonl.Complaint) -> None:
    body = jsonl.encoded(complaint.error)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
