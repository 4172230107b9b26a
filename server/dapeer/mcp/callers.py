"""Who asks."""

from __future__ import annotations

from typing import Any, Final

from mcp.server import ServerRequestContext

OPENCODE: Final = "opencode"
"""What OpenCode calls itself."""


def client_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return name and version of the program that asks; empty: it has not told them."""
    params = context.session.client_params
    info = params.client_info if params else None
    return f"{info.name} {info.version}".strip() if info else ""


def is_opencode(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether OpenCode asks: it need not be told of what it has itself."""
    return client_of(context).partition(" ")[0] == OPENCODE
