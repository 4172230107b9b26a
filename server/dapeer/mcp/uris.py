"""The addresses of what a client can read and subscribe to."""

from __future__ import annotations

import re
from typing import Final

SESSIONS: Final = "debug://sessions"
SESSION_TEMPLATE: Final = "debug://sessions/{id}"
OUTPUT_TEMPLATE: Final = "debug://sessions/{id}/output"

_SESSION = re.compile(r"debug://sessions/(?P<id>[1-9][0-9]*)(?P<output>/output)?")


def session_uri(session_id: int) -> str:
    """Return the address of one session's state."""
    return f"{SESSIONS}/{session_id}"


def output_uri(session_id: int) -> str:
    """Return the address of what one session's program has printed."""
    return f"{SESSIONS}/{session_id}/output"


def parse(uri: str) -> tuple[int, bool] | None:
    """Return a session's number, and whether its output is meant; None for any other address.

    >>> parse("debug://sessions/12/output")
    (12, True)
    >>> parse("debug://sessions/12")
    (12, False)
    >>> parse("debug://sessions/twelve")
    """
    match = _SESSION.fullmatch(uri)
    return (int(match["id"]), match["output"] is not None) if match else None
