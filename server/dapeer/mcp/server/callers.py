"""Identifies the client of a request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from dapeer.mcp.data_extension import EXTENSION
from dapeer.mcp.server.commands import Commands, settings_of
from dapeer.peers import Company
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus

_COMMANDS: Final = "dapeer.commands"


def client_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return name and version of the client; empty if it has not sent them."""
    params = context.session.client_params
    info = params.client_info if params else None
    return f"{info.name} {info.version}".strip() if info else ""


def welcome(context: ServerRequestContext[Any, Any], company: Company) -> None:
    """Record a client until its connection ends.

    Since 2026-07-28 there is no handshake: a client exists from its first request on.
    """
    if settings_of(context) is not None:
        commands_of(context).welcome(company)
        return
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    name = client_of(context)
    state: dict[str, Any] = context.lifespan_context if modern else connection_of(context).state
    key = f"dapeer.here {name}"
    if key not in state:
        state[key] = leave = company.come(name)
        if not modern:
            connection_of(context).exit_stack.callback(leave)


def asks_for_data(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether the client has said that it reads data."""
    capabilities = context.session.client_capabilities
    return EXTENSION in ((capabilities and capabilities.extensions) or {})


def comes_by_http_or_asks(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether a client is one of `dapeer serve --data`; `dapeer stdio` has that option, too."""
    return context.request is not None or asks_for_data(context)


def connection_of(context: ServerRequestContext[Any, Any]) -> Connection:
    """Return the client's connection; since 2026-07-28 each request has its own.

    The SDK keeps it private (2.3), though its class and its `exit_stack` are public; a test on
    every transport fails when that changes.
    """
    return context.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def focus_of(context: ServerRequestContext[Any, Any], debugger: Debugger) -> Focus:
    """Return which session is the client's default.

    Up to 2025-11-25 it is known by its connection, since then by what it was served on: stdio, a
    bridge, or HTTP, where nothing but its name tells one from another. All commands are one client.
    """
    if settings_of(context) is not None:
        return commands_of(context).begin()
    state: dict[str, Any]
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        state = context.lifespan_context
        key = f"dapeer.focus {client_of(context)}"
    else:
        state = connection_of(context).state
        key = "dapeer.focus"
        if key not in state:
            connection_of(context).exit_stack.callback(_left, state, debugger)
    if key not in state:
        state[key] = Focus(debugger)
    return state[key]


def commands_of(context: ServerRequestContext[Any, Any]) -> Commands:
    """Return the client that all commands are."""
    return context.lifespan_context[_COMMANDS]


@asynccontextmanager
async def lifespan(debugger: Debugger, commands: Commands) -> AsyncGenerator[dict[str, Any]]:
    """Yield what is known of the clients that are served on one thing since 2026-07-28; they go with it.

    `commands` are the same client, whatever they are served on.
    """
    state: dict[str, Any] = {_COMMANDS: commands}
    yield state
    _left(state, debugger)


def _left(state: Mapping[str, Any], debugger: Debugger) -> None:
    for each in state.values():
        if isinstance(each, Focus):
            debugger.left(each.key)
