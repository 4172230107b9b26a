"""How a client says that it reads the data of results: MCP's `structuredContent`, besides the text.

A host may show its model the data of a result instead of its text, once there is any (`docs/hosts.md`).
So only who asks for data gets it: a client that names our extension among its capabilities (MCP 2026-07-28, which
has them in each request; before that they come with `initialize`), or that is started with `--data`.

Only the standard library: the bridge needs it.
"""

from __future__ import annotations

import json
from typing import Any, Final, cast

EXTENSION: Final = "dapeer/data"
"""Among `extensions` of the client's capabilities; it has no settings."""
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""Where a request has them in its `_meta`, since MCP 2026-07-28."""


_PLACES: Final = (("params", "capabilities"), ("params", "_meta", CAPABILITIES))


def asking(line: bytes) -> bytes:
    """Return a line of a client so that it asks for data; one that tells no capabilities as it is."""
    if b'"initialize"' not in line and CAPABILITIES.encode() not in line:
        return line
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return line
    for place in _PLACES:
        capabilities = _at(message, *place)
        if isinstance(capabilities, dict):
            told = cast("dict[str, Any]", capabilities)
            extensions: object = told.get("extensions")
            others = cast("dict[str, Any]", extensions) if isinstance(extensions, dict) else {}
            told["extensions"] = {**others, EXTENSION: {}}
    return json.dumps(message).encode() + b"\n"


def _at(value: object, *names: str) -> object:
    for name in names:
        value = cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
    return value
