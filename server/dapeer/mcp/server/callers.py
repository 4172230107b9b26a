"""Identifies the client of a request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Final

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from dapeer.mcp.data_extension import EXTENSION
from dapeer.mcp.server.commands import Commands, settings_of
from dapeer.peers import ConnectedClients
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus

_COMMANDS: Final = "dapeer.commands"
_AT_END: Final = "dapeer.at_end"
"""Where the state of a transport has what is to be called at its end."""


def client_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return name and version of the client; empty if it has not sent them."""
    params = context.session.client_params
    info = params.client_info if params else None
    return f"{info.name} {info.version}".strip() if info else ""


def count_client(context: ServerRequestContext[Any, Any], company: ConnectedClients) -> None:
    """Count the client of a request among those that people see, until its connection ends.

    Up to MCP 2025-11-25 that is its connection; since 2026-07-28, which has no handshake, it stays from its first request until the
    transport that it is served on (stdio, a bridge, or HTTP) ends. All commands count as one client, until `dapeer end --all`. A client
    that is counted already is not counted again. `company` are the clients that people see; `context` is that of the request.
    """
    if settings_of(context) is not None:
        commands_of(context).count_as_client(company)
        return
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    name = client_of(context)
    state: dict[str, Any] = context.lifespan_context if modern else connection_of(context).state
    at_end = state[_AT_END] if modern else connection_of(context).exit_stack
    key = f"dapeer.here {name}"
    if key not in state:
        state[key] = leave = company.add_client(name)
        at_end.callback(leave)


def asks_for_data(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client of a request has said among its capabilities that it reads the data of results."""
    capabilities = context.session.client_capabilities
    return EXTENSION in ((capabilities and capabilities.extensions) or {})


def comes_by_http_or_asks(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client of a request comes by HTTP, or has said that it reads the data of results."""
    return context.request is not None or asks_for_data(context)


def connection_of(context: ServerRequestContext[Any, Any]) -> Connection:
    """Return the client's connection; since 2026-07-28 each request has its own.

    The SDK keeps it private (2.3), though its class and its `exit_stack` are public; a test on
    every transport fails when that changes.
    """
    return context.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def focus_of(context: ServerRequestContext[Any, Any], debugger: Debugger) -> Focus:
    """Return the focus of the client of a request: its default session, and what it has read.

    A new client gets a new one. Up to MCP 2025-11-25 a client is its connection, and its focus ends with that, as does what it has asked
    to collect. Since 2026-07-28 it is a client's name on the transport that it is served on: stdio, a bridge, or HTTP. All commands are
    one client; each call forgets what they have read, and that `dapeer end --all` was said.
    """
    if settings_of(context) is not None:
        return commands_of(context).begin_command()
    state: dict[str, Any]
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        state = context.lifespan_context
        key = f"dapeer.focus {client_of(context)}"
    else:
        state = connection_of(context).state
        key = "dapeer.focus"
        if key not in state:
            connection_of(context).exit_stack.callback(_end_collecting, state, debugger)
    if key not in state:
        state[key] = Focus(debugger)
    return state[key]


def commands_of(context: ServerRequestContext[Any, Any]) -> Commands:
    """Return the one client that all commands of the command line are."""
    return context.lifespan_context[_COMMANDS]


@asynccontextmanager
async def lifespan(debugger: Debugger, commands: Commands) -> AsyncGenerator[dict[str, Any]]:
    """Yield the state of one transport that clients are served on: stdio, a bridge, or HTTP.

    Afterwards the clients since MCP 2026-07-28 have left: people no longer see them, and nothing is collected for them any more.
    `commands` is put into it, and is the same everywhere.
    """
    with ExitStack() as at_end:
        state: dict[str, Any] = {_COMMANDS: commands, _AT_END: at_end}
        at_end.callback(_end_collecting, state, debugger)
        yield state


def _end_collecting(state: Mapping[str, Any], debugger: Debugger) -> None:
    """End what the clients in a state have asked the debugger to collect."""
    for each in state.values():
        if isinstance(each, Focus):
            debugger.drop_client(each.key)
