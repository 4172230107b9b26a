"""Making our tools known to an OpenCode server that runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapeer.errors import ArgumentError, OpenCodeFailed
from dapeer.json_types import Json
from dapeer.opencode.client import OpenCode

MILLISECONDS_FOR_A_CALL: Final = 60 * 60 * 1000
"""Milliseconds that OpenCode waits for a call; by default one minute, in which few bugs are found."""

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,24}")
"""OpenCode turns other characters into `_`, and models take names of 64 characters at most."""


@dataclass(frozen=True, slots=True)
class Core:
    """A dapeer server."""

    url: str
    token: str
    """Empty: it requires none."""


def configuration(core: Core) -> Json:
    """Return how OpenCode reaches a core."""
    config: Json = {
        "type": "remote",
        "url": core.url,
        "enabled": True,
        # Without this, a wrong token makes OpenCode try a login, which hides the error.
        "oauth": False,
        "timeout": MILLISECONDS_FOR_A_CALL,
    }
    return config | {"headers": {"Authorization": f"Bearer {core.token}"}} if core.token else config


async def register(opencode: OpenCode, core: Core, directory: Path, *, name: str) -> str:
    """Give OpenCode's sessions in a directory the tools of a core; return that in a sentence.

    It lasts until OpenCode ends or reads its configuration anew.

    Raises:
        ArgumentError: The name cannot be a prefix of tool names, or there is no such directory.
        OpenCodeError: OpenCode cannot be reached, refuses, or cannot reach the core.
    """
    _check(name, directory)
    body = {"name": name, "config": configuration(core)}
    told: Json = await opencode.post("/mcp", body, directory)
    state: Json = told.get(name) or {"status": "unknown to it"}
    if state["status"] != "connected":
        why = state.get("error") or state["status"]
        raise OpenCodeFailed(
            f"OpenCode at {opencode.url} cannot reach dapeer at {core.url}: {why}.",
            "OpenCode must run on this machine, outside a container.",
        )
    return f"OpenCode at {opencode.url} has the tools as {name}_*, in sessions of {directory}."


def _check(name: str, directory: Path) -> None:
    if not NAME.fullmatch(name):
        raise ArgumentError(
            f"`{name}` cannot be a prefix of tool names.",
            "Give up to 24 letters, digits, `-` or `_`.",
        )
    if not directory.is_dir():
        raise ArgumentError(f"There is no directory {directory}.", "Give an existing directory.")
