"""The debugger's state and output, as resources that a client reads and subscribes to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import mcp.types as t
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from dapeer.base.text.fitting import shortened
from dapeer.mcp.server.clients import connection_of
from dapeer.mcp.server.hub import (
    OUTPUT_TEMPLATE,
    SESSION_TEMPLATE,
    SESSIONS,
    Hub,
    output_uri,
    parse_resource_uri,
    session_uri,
)
from dapeer.mcp.server.integration import Integration
from dapeer.mcp.server.results import DOCUMENT, ResultFinisher, check_cursor
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import summary, view_of
from dapeer.sessions.debugger.debugger import Debugger

Context = ServerRequestContext[Any, Any]

LONGEST_OUTPUT: Final = 64_000
"""Characters of output in one answer."""
LONGEST_SHOWN: Final = 200
"""Characters of an unknown address that an error repeats."""


class Resources:
    """Answers the `resources/*` requests from memory; nothing here asks an adapter, or another program."""

    def __init__(
        self,
        debugger: Debugger,
        integrations: Sequence[Integration],
        hub: Hub,
        *,
        shows_secrets: bool,
    ) -> None:
        self._debugger = debugger
        self._integrations = integrations
        self._hub = hub
        self._finish = ResultFinisher(masks=not shows_secrets)

    async def list(
        self, _context: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourcesResult:
        """Answer `resources/list`: the overview of sessions, each session, then those of integrations.

        A session has two: its state and its output. Sessions that have ended, but are still listed by the debugger, are among them.

        Raises:
            MCPError: The request has a cursor, though all is one page.
        """
        check_cursor(params)
        of_sessions = (
            resource
            for session in self._debugger.sessions.values()
            for resource in self._resources_of(session)
        )
        others = chain.from_iterable(each.resources() for each in self._integrations)
        return t.ListResourcesResult(resources=[_OVERVIEW, *of_sessions, *others])

    def _resources_of(self, session: Session) -> Iterator[t.Resource]:
        """Yield a session's two resources as `resources/list` has them: its state, and its program's output."""
        name = self._finish.text(session.name)
        yield t.Resource(
            uri=session_uri(session.id),
            name=f"session {session.id}",
            title=f"{name}: where it is, stack and locals",
            mime_type="application/json",
        )
        yield t.Resource(
            uri=output_uri(session.id),
            name=f"session {session.id} output",
            title=f"{name}: what the program has printed",
            mime_type="text/plain",
        )

    async def templates(
        self, _context: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        check_cursor(params)
        return t.ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    async def read(
        self, _context: Context, params: t.ReadResourceRequestParams
    ) -> t.ReadResourceResult:
        """Answer `resources/read`: return what is at an address, without secrets unless they are to be shown.

        An integration's resource comes before dapeer's own, and is returned as it is, secrets included.

        Raises:
            MCPError: There is no such resource (`data.uri` repeats which).
        """
        uri = str(params.uri)
        for each in self._integrations:
            if content := each.resource(uri):
                return DOCUMENT.resource([content])
        return self._finish.resource(self._read(uri))

    def _read(self, uri: str) -> Sequence[t.TextResourceContents]:
        """Return what is at an address of dapeer's own: all sessions, the state of one, or a program's output.

        Raises:
            MCPError: There is no such resource (`data.uri` repeats the address, shortened).
        """
        if uri == SESSIONS:
            sessions = self._debugger.sessions.values()
            return [_json(uri, {"sessions": [summary(session) for session in sessions]})]
        place = parse_resource_uri(uri)
        session = self._debugger.sessions.get(place.session) if place else None
        if place is None or session is None:
            shown = shortened(uri, LONGEST_SHOWN)
            raise MCPError(t.INVALID_PARAMS, f"Resource not found: {shown}", data={"uri": shown})
        return (
            _output(uri, session, place.cursor) if place.output else [_json(uri, view_of(session))]
        )

    async def subscribe(self, context: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        """Answer `resources/subscribe`: the connection gets updates of an address from now on.

        Nothing need be at the address yet.
        """
        self._hub.subscriber_of(connection_of(context)).uris.add(str(params.uri))
        return t.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: t.UnsubscribeRequestParams
    ) -> t.EmptyResult:
        """Answer `resources/unsubscribe`: the connection gets no more updates of an address."""
        self._hub.subscriber_of(connection_of(context)).uris.discard(str(params.uri))
        return t.EmptyResult()


def _json(uri: str, data: Mapping[str, object]) -> t.TextResourceContents:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return t.TextResourceContents(uri=uri, mime_type="application/json", text=text)


def _output(uri: str, session: Session, since: int | None) -> Sequence[t.TextResourceContents]:
    """Return a program's output, from the cursor `since` on, or its newest part if that is None.

    The first content has at most `LONGEST_OUTPUT` characters, and in `_meta` the cursor after them and how many characters the log has
    dropped behind `since`, or in all if that is None. If the log has more behind it, or with None before it, a second one names the
    address of the rest. `uri` is the address that was asked for.
    """
    log = session.program.output
    begin = max(log.start, log.end - LONGEST_OUTPUT) if since is None else since
    output = log.read(begin)
    text = output.text[:LONGEST_OUTPUT]
    # dap_program_output and this address take `cursor` as `since`.
    cursor = output.cursor - len(output.text) + len(text)
    dropped = log.start if since is None else output.dropped
    meta = {"dapeer/cursor": cursor, "dapeer/dropped": dropped}
    contents = [_plain(uri, text, meta)]
    if cursor < log.end:
        contents.append(_left_out_notice(session.id, log.end - cursor, "more", cursor))
    elif since is None and begin > log.start:
        contents.append(_left_out_notice(session.id, begin - log.start, "earlier", log.start))
    return contents


def _plain(uri: str, text: str, meta: dict[str, Any] | None = None) -> t.TextResourceContents:
    return t.TextResourceContents(uri=uri, mime_type="text/plain", text=text, _meta=meta)


def _left_out_notice(session: int, count: int, which: str, since: int) -> t.TextResourceContents:
    """Return a content that names the address of output that is left out."""
    uri = output_uri(session, since)
    return _plain(uri, f"({count} {which} characters of output are left out; read {uri})")


_OVERVIEW = t.Resource(
    uri=SESSIONS,
    name="sessions",
    title="All debug sessions",
    description="Every debug session with its program, state and place.",
    mime_type="application/json",
)

_TEMPLATES = [
    t.ResourceTemplate(
        uri_template=SESSION_TEMPLATE,
        name="session",
        title="One debug session",
        description="Where the program is, with its stack and locals.",
        mime_type="application/json",
    ),
    t.ResourceTemplate(
        uri_template=OUTPUT_TEMPLATE,
        name="output",
        title="A program's output",
        description="What the program has printed: its newest part, or what came after a cursor (in `_meta` of each part).",
        mime_type="text/plain",
    ),
]
