"""What an OpenCode server knows by name. It answers an unknown name with an error that says nothing."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable
from pathlib import Path

from dapeer.errors import ArgumentError, OpenCodeMissing
from dapeer.opencode.client import Json, OpenCode


async def agents(opencode: OpenCode, directory: Path) -> list[Json]:
    """Return the agents that are not for OpenCode's own use."""
    return [one for one in await opencode.get("/agent", directory) if not one.get("hidden")]


async def checked_agent(opencode: OpenCode, directory: Path, name: str | None) -> Json:
    """Return the part of a request that names an agent; empty: OpenCode chooses.

    Raises:
        ArgumentError: There is no such agent.
    """
    if name is None:
        return {}
    known = await agents(opencode, directory)
    return {"agent": _known(name, [one["name"] for one in known], "agent")}


async def checked_model(opencode: OpenCode, directory: Path, name: str | None) -> Json:
    """Return the part of a request that names a model, `provider/model`; empty: OpenCode chooses.

    Raises:
        ArgumentError: There is no such model.
    """
    if name is None:
        return {}
    told = await opencode.get("/config/providers", directory)
    known = [f"{each['id']}/{model}" for each in told["providers"] for model in each["models"]]
    provider, _, model = _known(name, known, "model").partition("/")
    return {"model": {"providerID": provider, "modelID": model}}


async def checked_command(opencode: OpenCode, directory: Path, name: str) -> str:
    """Return the name of a command, without its slash.

    Raises:
        ArgumentError: There is no such command.
    """
    known = [one["name"] for one in await opencode.get("/command", directory)]
    return _known(name.removeprefix("/"), known, "command")


async def session(opencode: OpenCode, name: str) -> Json:
    """Return a session.

    Raises:
        ArgumentError: There is no such session.
    """
    # An ill-formed id gets the error that says nothing.
    if name.startswith("ses") and name.isascii() and name.replace("_", "").isalnum():
        with contextlib.suppress(OpenCodeMissing):
            return await opencode.get(f"/session/{name}")
    raise ArgumentError(
        f"OpenCode has no session {name}.",
        "opencode_sessions lists those there are, opencode_session_create makes one.",
    )


def _known(name: str, known: Iterable[str], what: str) -> str:
    names = sorted(known)
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=3) or names[:20]
    raise ArgumentError(
        f"OpenCode has no {what} `{name}` here.", f"It has: {', '.join(near) or 'none'}."
    )
