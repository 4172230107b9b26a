"""The HTTP interface of one OpenCode server: the only place that knows the HTTP library."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final, Self

import httpx2

from dapeer.base.errors import ArgumentError, DapeerError, ForeignListener
from dapeer.base.json_types import Json, as_object
from dapeer.base.system.ownership import check_peer
from dapeer.base.text.fitting import shortened
from dapeer.integrations.variables import OPENCODE_PASSWORD, OPENCODE_URL

# Everything that is reported as a failure of an OpenCode server.


class OpenCodeError(DapeerError):
    """An error of the connection to an OpenCode server."""


class NoOpenCode(OpenCodeError):
    """No server listens there, or it has ended."""


class OpenCodeLocked(OpenCodeError):
    """It requires a password, or a different one."""


class OpenCodeFailed(OpenCodeError):
    """It rejected the request, or the request failed there."""


class OpenCodeMissing(OpenCodeFailed):
    """It does not know the name or id of the request."""


USERNAME: Final = "OPENCODE_SERVER_USERNAME"
USUAL: Final = "http://127.0.0.1:4096"

SECONDS_TO_ANSWER: Final = 60
"""For one answer; a directory's first takes long, for OpenCode starts all that belongs to it."""
SECONDS_TO_CONNECT: Final = 5
SECONDS_OF_SILENCE: Final = 30
"""Seconds without an event, heartbeats included, after which a stream is dead. There is one in 10 s."""
MAX_QUOTED_CHARS: Final = 200
"""Characters of an error of an unknown form."""
LARGEST_EVENT: Final = 64 << 20
"""Bytes of an event: a message may contain a tool's output, and files."""
PORTS: Final = {"http": 80, "https": 443}


_USER_IN_URL = re.compile(r"//[^/]*@")
"""The user and password of an address, which no message has, of an invalid one neither."""


def opencode_url(url: str | None) -> str:
    """Return the URL of OpenCode: the given one, else that of the environment, else OpenCode's default.

    An empty text counts as none, in the environment, too. All slashes at the end are left out; nothing is
    connected to.

    Raises:
        ArgumentError: The chosen one is no HTTP or HTTPS address, or has a user in it.
    """
    chosen = (url or os.environ.get(OPENCODE_URL) or USUAL).rstrip("/")
    try:
        parsed = httpx2.URL(chosen)
    except httpx2.InvalidURL:
        parsed = httpx2.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo:
        raise ArgumentError(
            f"{_USER_IN_URL.sub('//', chosen)} is not an address of an OpenCode server.",
            f"It looks like {USUAL}; a password comes from ${OPENCODE_PASSWORD}.",
        )
    return chosen


def is_on_this_machine(url: str) -> bool:
    """Return whether a URL is that of an HTTP server on this machine; False also for what is no URL.

    True are `http` and `https` with `localhost`, a loopback address, or an unspecified one such as `0.0.0.0`.
    Any other name or address counts as another machine, also this machine's own in a network: no name is looked
    up.
    """
    with contextlib.suppress(httpx2.InvalidURL, ValueError):
        parsed = httpx2.URL(url)
        if parsed.scheme in PORTS and parsed.host != "localhost":
            address = ipaddress.ip_address(parsed.host)
            return address.is_loopback or address.is_unspecified
        return parsed.scheme in PORTS
    return False


class OpenCode:
    """One OpenCode server. Use it as a context manager, or close it.

    Args:
        url: Where it listens.
        credentials: Its password, by the name that OpenCode itself has for it, and maybe a user's name.
        silence: Seconds without an event after which a stream is dead.
    """

    def __init__(
        self, url: str, credentials: Mapping[str, str], *, silence: float = SECONDS_OF_SILENCE
    ) -> None:
        self.url = url
        self._max_silence_s = silence
        parsed = httpx2.URL(url)
        self._port = parsed.port or PORTS[parsed.scheme]
        password = credentials.get(OPENCODE_PASSWORD)
        user = credentials.get(USERNAME) or os.environ.get(USERNAME) or "opencode"
        self._http = httpx2.AsyncClient(
            base_url=url,
            auth=(user, password) if password else None,
            timeout=httpx2.Timeout(SECONDS_TO_ANSWER, connect=SECONDS_TO_CONNECT),
            # A proxy has no business between two programs of one machine.
            trust_env=not is_on_this_machine(url),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._http.aclose()

    async def get(self, path: str, directory: Path | None = None, **query: str | int | None) -> Any:
        """Send a GET request, and return the JSON of the response; None: the response is empty.

        `directory` is the one that OpenCode is to work in; None: its own. `query` are parameters; those that are None are left out.

        Raises:
            OpenCodeError: There is no answer, or it is a refusal.
        """
        return await self._ask("GET", path, None, directory, query)

    async def post(
        self,
        path: str,
        body: object = None,
        directory: Path | None = None,
        *,
        seconds: float | None = SECONDS_TO_ANSWER,
    ) -> Any:
        """Send a POST request with a JSON body, and return the JSON of the response; None: it is empty.

        The body is `{}` if `body` is None. `directory` is the one that OpenCode is to work in; None: its own. `seconds` is the timeout,
        None: there is none.

        Raises:
            OpenCodeError: There is no answer, or it is a refusal.
        """
        return await self._ask("POST", path, {} if body is None else body, directory, {}, seconds)

    async def delete(self, path: str, directory: Path | None = None) -> Any:
        """Send a DELETE request, and return the JSON of the response; None: it is empty.

        `directory` is the one that OpenCode is to work in; None: its own.

        Raises:
            OpenCodeError: There is no answer, or it is a refusal.
        """
        return await self._ask("DELETE", path, None, directory, {})

    async def _ask(
        self,
        method: str,
        path: str,
        body: object,
        directory: Path | None,
        query: Mapping[str, str | int | None],
        seconds: float | None = SECONDS_TO_ANSWER,
    ) -> Any:
        """Send a request, and return the JSON of the response; None: the response is empty.

        `method` is that of HTTP, `path` begins with `/`. `body` is sent as JSON unless it is None; `directory` is the
        one that OpenCode is to work in, None: its own; `query` are the URL's parameters, of which those that are None
        are left out. `seconds` limits each wait for data, not the whole; None: there is no limit. To connect may take
        `SECONDS_TO_CONNECT`.

        Raises:
            NoOpenCode: The server cannot be reached, does not answer in time, or belongs to another user.
            OpenCodeLocked: It requires a password, or another one.
            OpenCodeMissing: It does not know the path or the id in it.
            OpenCodeFailed: It refuses the request, or its response is no JSON, so that it is no OpenCode server.
            OSError: The connection was closed while its owner was checked.
        """
        timeout = httpx2.Timeout(seconds, connect=SECONDS_TO_CONNECT)
        try:
            answer = await self._http.request(
                method,
                path,
                json=body,
                params=_parameters(directory, query),
                timeout=timeout,
                extensions={"trace": self._check_owner},
            )
        except httpx2.TimeoutException as error:
            raise NoOpenCode(
                f"OpenCode at {self.url} did not answer {method} {path} in time.",
                "It may be busy or hung: try again, or restart it.",
            ) from error
        except httpx2.TransportError as error:
            raise self._unreachable_error(error) from error
        except ForeignListener as error:
            raise NoOpenCode(error.problem, error.hint) from error
        self._raise_for_status(answer, f"{method} {path}")
        return _content(answer)

    @asynccontextmanager
    async def events(self) -> AsyncGenerator[AsyncGenerator[Json]]:
        """Connect to the stream of events of all directories; yield a generator of events, as JSON objects.

        The generator ends with the stream; the connection is closed after the body. What has happened is under an
        event's `payload`. Events that are no JSON objects are left out. Where the stream breaks, or nothing comes
        for the client's `silence` in seconds, the generator raises an `httpx2.TransportError`, which becomes an
        `OpenCodeError` when it leaves the body: catch that around the `async with`.

        Raises:
            OpenCodeError: The server cannot be reached, refuses (such as for a missing password), is another user's
                or no OpenCode, or the stream breaks or is silent for too long.
        """
        try:
            async with self._http.sse(
                "/global/event",
                timeout=httpx2.Timeout(self._max_silence_s, connect=SECONDS_TO_CONNECT),
                extensions={"trace": self._check_owner},
                max_event_size=LARGEST_EVENT,
            ) as source:
                answer = source.response
                if answer.is_error:
                    await answer.aread()
                self._raise_for_status(answer, "GET /global/event")
                if "text/event-stream" not in answer.headers.get("content-type", ""):
                    raise _unknown(answer)
                async with aclosing(_events(source)) as events:
                    yield events
        except httpx2.TransportError as error:
            raise self._unreachable_error(error) from error
        except ForeignListener as error:
            raise NoOpenCode(error.problem, error.hint) from error

    async def _check_owner(self, name: str, info: Mapping[str, Any]) -> None:
        """Check the owner of the other end of a new connection, before a password or token is sent.

        The HTTP library calls this at each step of a connection, with the step's `name` and `info`; only at the end
        of connecting something is done. A connection to another port than the server's, which is one to a proxy, is not
        checked. After an error the connection is closed.

        Raises:
            ForeignListener: Another user of this machine owns the other end.
            OSError: The connection has been closed.
        """
        if name != "connection.connect_tcp.complete":
            return
        stream = info["return_value"]
        # A proxy listens at another port, which may belong to any user.
        if stream.get_extra_info("server_addr")[1] != self._port:
            return
        try:
            check_peer(stream.get_extra_info("socket"), self.url)
        except (OSError, ForeignListener):
            await stream.aclose()
            raise

    def _unreachable_error(self, error: Exception) -> NoOpenCode:
        """Return the error that the server cannot be reached, with the reason."""
        why = str(error) or type(error).__name__
        return NoOpenCode(
            f"OpenCode at {self.url} cannot be reached ({why}).",
            "Start it with `opencode serve`, or name another with --url or $" + OPENCODE_URL + ".",
        )

    def _raise_for_status(self, answer: httpx2.Response, what: str) -> None:
        """Raise the fitting error if a response is not a success; `what` is the request, for the error.

        Raises:
            OpenCodeLocked: The status is 401: it requires a password.
            OpenCodeMissing: The status is 404 or 405.
            OpenCodeFailed: Any other status than success.
        """
        if answer.status_code == 401:
            raise OpenCodeLocked(
                f"OpenCode at {self.url} requires a password.",
                f"Put the one that it was started with into ${OPENCODE_PASSWORD}.",
            )
        if not answer.is_success:
            raise (OpenCodeMissing if answer.status_code in (404, 405) else OpenCodeFailed)(
                f"OpenCode refused {what}: HTTP {answer.status_code}, {_reason(answer)}.",
                "Its log may say more; this needs OpenCode 1.18 or newer.",
            )


def _parameters(
    directory: Path | None, query: Mapping[str, str | int | None]
) -> dict[str, str | int]:
    """Return the parameters of a request's URL, without those that are None."""
    given = {name: value for name, value in query.items() if value is not None}
    return given if directory is None else {"directory": str(directory), **given}


def _content(answer: httpx2.Response) -> Any:
    """Return the JSON of a response; None: it is empty, or `null`.

    Raises:
        OpenCodeFailed: It is no JSON.
    """
    if not answer.content:
        return None
    try:
        return answer.json()
    except ValueError as error:
        raise _unknown(answer) from error


def _unknown(answer: httpx2.Response) -> OpenCodeFailed:
    """Return the error for a response that no OpenCode server of a known version gives."""
    return OpenCodeFailed(
        f"What answers at {answer.url.copy_with(path='/', query=None)} is not a known OpenCode server.",
        "This needs OpenCode 1.18 or newer.",
    )


def _reason(answer: httpx2.Response) -> str:
    """Return the message in an error response of OpenCode, without periods at its end.

    If the JSON has no message, the error's name is returned; if it has neither, the beginning of the JSON. Of a
    body that is not JSON the beginning of the text is returned, and of an empty body the reason phrase of the HTTP
    status. These others keep their periods. Beginnings are cut to `MAX_QUOTED_CHARS` characters and a note of the
    length; a message is not cut.
    """
    try:
        body: Any = answer.json()
    except ValueError:
        return shortened(answer.text.strip(), MAX_QUOTED_CHARS) or answer.reason_phrase
    match body:
        case {"data": {"message": str(message)}} | {"message": str(message)}:
            return message.rstrip(".")
        case {"name": str(name)}:
            return name
        case _:
            return shortened(json.dumps(body), MAX_QUOTED_CHARS)


async def _events(source: httpx2.EventSource) -> AsyncGenerator[Json]:
    """Yield the events of a stream that are JSON objects."""
    async for event in source:
        with contextlib.suppress(ValueError):
            if data := as_object(event.json()):
                yield data
