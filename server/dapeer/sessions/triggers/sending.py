"""Sends HTTP requests to programs that are debugged, each to an address that was checked before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin, urlsplit

import httpx2

from dapeer.base.errors import DapeerError
from dapeer.base.text.fitting import quoted
from dapeer.sessions.triggers.responses import (
    MAX_BODY_BYTES,
    STREAM_BYTES,
    Body,
    Response,
    is_stream,
)
from dapeer.sessions.triggers.trigger import HttpRequest

MAX_REDIRECTS: Final = 5
"""Redirects that are followed."""
_KEEPS_METHOD: Final = (307, 308)
"""Statuses of redirects by which a request is sent as it was."""

FindAddress = Callable[[str, int], Awaitable[str]]
"""Returns the numeric address of a program, by a host of this machine and a port, or raises."""


class TriggerFailed(DapeerError):
    """A trigger has not done what it should, and why, as a clause."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends one request, and follows its redirects as far as they lead to programs that are debugged."""

    address: FindAddress

    async def send(self, request: HttpRequest) -> Response:
        """Send a request once and read its response.

        Follow redirects to debugged programs, at most `MAX_REDIRECTS`.

        Raises:
            NotReached: Nothing of the program's is at its address; nothing was sent.
            TriggerFailed: There is no response.
        """
        try:
            return await self._followed(request)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise TriggerFailed(_reason(error)) from error

    async def _followed(self, request: HttpRequest) -> Response:
        """Send a request, follow its redirects, and return the last response, with all statuses.

        A redirect that leads elsewhere is not followed, and a note says so.
        """
        statuses: list[str] = []
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._sent(request)
            statuses.append(str(answer.status))
            following = _redirected(request, answer)
            if following is None:
                return Response(" → ".join(statuses), answer.body)
            if not following.is_here and not _same_origin(request.url, following.url):
                note = (
                    f"its redirect to {quoted(following.url)} was not followed: it leads elsewhere"
                )
                return Response(" → ".join(statuses), answer.body, notes=(note,))
            request = following
        return Response(" → ".join(statuses), None, notes=("it goes on redirecting",))

    async def _sent(self, request: HttpRequest) -> _Answer:
        """Send one request, to the checked numeric address if it is for this machine.

        Return status, location, body. For this machine no proxy is used, and no certificate is checked.
        """
        url = httpx2.URL(request.url)
        here = request.is_here
        host = url.host
        pinned = url.copy_with(host=await self.address(host, request.port)) if here else url
        headers = {"Host": url.netloc.decode("ascii"), "Accept": "*/*", **request.headers}
        options = {"sni_hostname": host} if here and pinned.host != host else {}
        # No proxy of the environment, and no certificate, concerns this machine's loopback.
        async with (
            httpx2.AsyncClient(trust_env=not here, verify=not here, timeout=None) as client,
            client.stream(
                request.method,
                pinned,
                headers=headers,
                content=request.body or None,
                extensions=options,
                follow_redirects=False,
            ) as response,
        ):
            return _Answer(
                response.status_code, response.headers.get("location", ""), await _body(response)
            )


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    location: str
    body: Body


async def _body(response: httpx2.Response) -> Body:
    """Read a response's body, up to `MAX_BODY_BYTES`, or `STREAM_BYTES` of a stream; the rest is not read."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    limit = STREAM_BYTES if is_stream(kind) else MAX_BODY_BYTES
    content = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            content += piece
            if len(content) >= limit:
                return Body(bytes(content[:limit]), kind, cut=True)
    return Body(bytes(content), kind)


def _redirected(request: HttpRequest, answer: _Answer) -> HttpRequest | None:
    """Return the request to which a response redirects; None: it redirects nowhere.

    Another origin does not get `Authorization` and cookies. Statuses other than 307 and 308 make it a GET without a body.
    """
    if not (300 <= answer.status < 400 and answer.location):
        return None
    url = urljoin(request.url, answer.location)
    following = replace(request, url=url)
    if not _same_origin(request.url, url):
        kept = {
            k: v for k, v in request.headers.items() if k.lower() not in {"authorization", "cookie"}
        }
        following = replace(following, headers=kept)
    if answer.status in _KEEPS_METHOD or request.method in {"GET", "HEAD"}:
        return following
    headers = {k: v for k, v in following.headers.items() if k.lower() != "content-type"}
    return replace(following, method="GET", body=b"", headers=headers)


def _same_origin(one: str, other: str) -> bool:
    """Return whether two URLs have the same scheme, host and port."""
    a, b = urlsplit(one), urlsplit(other)
    return (a.scheme, a.hostname, a.port) == (b.scheme, b.hostname, b.port)


def _reason(error: Exception) -> str:
    """Return a clause on why there is no response."""
    match error:
        case httpx2.ConnectError():
            return f"it did not connect: {error}"
        case httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
            return f"the server closed the connection without a whole response{_more(error)}"
        case _:
            return f"{type(error).__name__}: {quoted(str(error))}"


def _more(error: Exception) -> str:
    """Return an error's text behind a colon; empty if it has none."""
    return f": {quoted(str(error))}" if str(error) else ""
