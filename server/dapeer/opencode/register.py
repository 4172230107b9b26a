"""Making our tools known to an OpenCode server that runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapeer.errors import OpenCodeFailed
from dapeer.opencode.client import Json, OpenCode

TIMEOUT: Final = 60 * 60 * 1000
"""Milliseconds that OpenCode waits for a call; by default one minute, in which few bugs are found."""


@dataclass(frozen=True, slots=True)
class Core:
    """A server of ours."""

    url: str
    token: str
    """Empty: it wants none."""


def configuration(core: Core) -> Json:
    """Return how OpenCode reaches a core."""
    config: Json = {
        "type": "remote",
        "url": core.url,
        "enabled": True,
        # Without this a wrong token makes OpenCode look for a place to log in, and hides what is wrong.
        "oauth": False,
        "timeout": TIMEOUT,
    }
    return config | {"headers": {"Authorization": f"Bearer {core.token}"}} if core.token else config


async def register(opencode: OpenCode, core: Core, directory: Path, *, name: str) -> str:
    """Give OpenCode's sessions in a directory the tools of a core; return that in a sentence.

    It lasts until OpenCode ends or reads its configuration anew.

    Raises:
        OpenCodeError: OpenCode cannot be reached, refuses, or cannot reach the core.
    """
    body = {"name": name, "config": configuration(core)}
    told: Json = await opencode.post("/mcp", body, directory)
    state: Json = told.get(name) or {"status": "unknown to it"}
    if state["status"] != "connected":
        why = state.get("error") or state["status"]
        raise OpenCodeFailed(
            f"OpenCode at {opencode.url} does not reach dapeer at {core.url}: {why}.",
            "If it runs in a container or on another machine, it cannot.",
        )
    return f"OpenCode at {opencode.url} has the tools as {name}_*, in sessions of {directory}."
