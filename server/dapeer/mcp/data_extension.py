"""How a client says that it reads the data of results: MCP's `structuredContent`, besides the text.

A host may show its model the data of a result instead of its text, once there is any (`docs/hosts.md`). So a
client gets data only if it asks: by dapeer's extension among its capabilities (since MCP 2026-07-28 in each
request, before that with `initialize`), or by `--data`.

Only the standard library, and little of it: a bridge's start waits for this.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeGuard

EXTENSION: Final = "dapeer/data"
"""Among `extensions` of the client's capabilities; it has no settings."""
KEEP: Final = "notifications/dapeer/keep"
"""A script tells the server by it that a session is to outlive the script: its `session_id`."""
COMMAND: Final = "dapeer/command"
"""Among the same extensions: the client is one command of the command line.

All of them are one client. Its setting `environment` has the variables that programs get, each byte as one character.
"""
NEWS: Final = "dapeer/news"
"""In `_meta` of what a command gets: sentences on what became of sessions without a command."""
END: Final = "dapeer/end"
"""Request of `dapeer end --all`: end what commands have started, and the server, if it is theirs."""
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""Where a request has them in its `_meta`, since MCP 2026-07-28."""


_PLACES: Final = (("params", "capabilities"), ("params", "_meta", CAPABILITIES))


def ask_for_data(line: bytes) -> bytes:
    """Return a line of a client in which its capabilities ask for the data of results.

    `line` is one JSON-RPC message; its capabilities are those of an `initialize`, or of the request's `_meta`.
    dapeer's extension is added there, and other extensions stay. A line that has neither the word `"initialize"`
    nor the name of these capabilities in `_meta`, or is not JSON, is returned unchanged; any other is written anew
    as JSON, and ends with a newline, also if it has no capabilities.
    """
    if b'"initialize"' not in line and CAPABILITIES.encode() not in line:
        return line
    import json  # noqa: PLC0415 - few need it

    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return line
    for place in _PLACES:
        capabilities = _member_at(message, *place)
        if _is_object(capabilities):
            others = capabilities.get("extensions")
            known = others if _is_object(others) else {}
            capabilities["extensions"] = {**known, EXTENSION: {}}
    return json.dumps(message).encode() + b"\n"


def _member_at(value: object, *names: str) -> object:
    """Return the value at a path of property names in some JSON; None: there is none."""
    for name in names:
        value = value.get(name) if _is_object(value) else None
    return value


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
