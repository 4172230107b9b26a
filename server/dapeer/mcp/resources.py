"""The debugger's state and output, as resources that a client reads and subscribes to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mcp import MCPError
from mcp import types as t
from mcp.server import ServerRequestContext

from dapeer.debugger import Debugger
from dapeer.mcp.callers import connection_of
from dapeer.mcp.hub import Hub
from dapeer.mcp.skills import Skills
from dapeer.mcp.uris import (
    OUTPUT_TEMPLATE,
    SESSION_TEMPLATE,
    SESSIONS,
    output_uri,
    parse,
    session_uri,
)
from dapeer.session import Session

Context = ServerRequestContext[Any, Any]


class Resources:
    """Answers the `resources/*` requests from memory; nothing here asks an adapter, or OpenCode."""

    def __init__(self, debugger: Debugger, skills: Skills, hub: Hub) -> None:
        self._debugger = debugger
        self._skills = skills
        self._hub = hub

    async def list(
        self, _context: Context, _params: t.PaginatedRequestParams | None
    ) -> t.ListResourcesResult:
        """Answer `resources/list`: the sessions together, then each with its output, then skills."""
        of_sessions = (
            resource for session in self._debugger.sessions.values() for resource in _of(session)
        )
        return t.ListResourcesResult(resources=[_OVERVIEW, *of_sessions, *self._skills.resources()])

    async def templates(
        self, _context: Context, _params: t.PaginatedRequestParams | None
    ) -> t.ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        return t.ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    async def read(
        self, _context: Context, params: t.ReadResourceRequestParams
    ) -> t.ReadResourceResult:
        """Answer `resources/read`.

        Raises:
            MCPError: There is no such resource (`data.uri` repeats which).
        """
        uri = str(params.uri)
        if uri == SESSIONS:
            sessions = self._debugger.sessions.values()
            return _json(uri, {"sessions": [session.summary() for session in sessions]})
        if skill := self._skills.resource(uri):
            return t.ReadResourceResult(contents=[skill])
        number, output = parse(uri) or (0, False)
        session = self._debugger.sessions.get(number)
        if session is None:
            raise MCPError(t.INVALID_PARAMS, f"Resource not found: {uri}", data={"uri": uri})
        return _text(uri, session) if output else _json(uri, session.view())

    async def subscribe(self, context: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        """Answer `resources/subscribe`; what does not exist yet may be waited for."""
        self._hub.attach(connection_of(context)).uris.add(str(params.uri))
        return t.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: t.UnsubscribeRequestParams
    ) -> t.EmptyResult:
        """Answer `resources/unsubscribe`."""
        self._hub.attach(connection_of(context)).uris.discard(str(params.uri))
        return t.EmptyResult()


def _of(session: Session) -> Iterator[t.Resource]:
    yield t.Resource(
        uri=session_uri(session.id),
        name=f"session {session.id}",
        title=f"{session.name}: where it is, stack and locals",
        mime_type="application/json",
    )
    yield t.Resource(
        uri=output_uri(session.id),
        name=f"session {session.id} output",
        title=f"{session.name}: what the program has printed",
        mime_type="text/plain",
    )


def _json(uri: str, data: Mapping[str, object]) -> t.ReadResourceResult:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    contents = t.TextResourceContents(uri=uri, mime_type="application/json", text=text)
    return t.ReadResourceResult(contents=[contents])


def _text(uri: str, session: Session) -> t.ReadResourceResult:
    output = session.mirror.output.read()
    contents = t.TextResourceContents(
        uri=uri,
        mime_type="text/plain",
        text=output.text,
        # `cursor` is what dap_program_output takes as `since`.
        _meta={"dapeer/cursor": output.cursor, "dapeer/dropped": output.dropped},
    )
    return t.ReadResourceResult(contents=[contents])


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
        description="What the program has printed, as far as it is kept.",
        mime_type="text/plain",
    ),
]
