"""The addresses of resources that a client can read and subscribe to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SESSIONS: Final = "debug://sessions"
SESSION_TEMPLATE: Final = "debug://sessions/{id}"
OUTPUT_TEMPLATE: Final = "debug://sessions/{id}/output{?since}"

# More digits than any session or cursor has.
_SESSION = re.compile(
    r"debug://sessions/(?P<id>[1-9][0-9]{0,8})(?P<output>/output(\?since=(?P<since>[0-9]{1,15}))?)?"
)


@dataclass(frozen=True, slots=True)
class ResourceAddress:
    """The resource at an address: a session's state, or its program's output."""

    session: int
    output: bool = False
    since: int | None = None
    """The cursor from which output is returned; None: its newest part."""


def session_uri(session_id: int) -> str:
    """Return the address of one session's state."""
    return f"{SESSIONS}/{session_id}"


def output_uri(session_id: int, since: int | None = None) -> str:
    """Return the address of a program's output, from a cursor on, or its newest part."""
    return f"{SESSIONS}/{session_id}/output{'' if since is None else f'?since={since}'}"


def parse(uri: str) -> ResourceAddress | None:
    """Return what the address of a resource names; None: it is no address of a session's.

    >>> parse("debug://sessions/12/output?since=7")
    ResourceAddress(session=12, output=True, since=7)
    >>> parse("debug://sessions/12")
    ResourceAddress(session=12, output=False, since=None)
    >>> parse("debug://sessions/twelve")
    """
    match = _SESSION.fullmatch(uri)
    if match is None:
        return None
    since = None if match["since"] is None else int(match["since"])
    return ResourceAddress(int(match["id"]), match["output"] is not None, since)
