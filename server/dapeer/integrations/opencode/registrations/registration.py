"""Registers dapeer's tools with a running OpenCode server."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_object
from dapeer.base.system import foreign_files
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.errors import OpenCodeError, OpenCodeFailed
from dapeer.mcp.server.integration import Core

MILLISECONDS_FOR_A_CALL: Final = 60 * 60 * 1000
"""Milliseconds that OpenCode waits for a call; by default one minute, in which few bugs are found."""

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,24}")
"""OpenCode turns other characters into `_`, and models take names of 64 characters at most."""


CONNECTED_STATUS: Final = "connected"


@dataclass(frozen=True, slots=True)
class Configured:
    """What the person's configuration of OpenCode has of our tools."""

    own: Json | None = None
    """The MCP server of our name, which is replaced; None: there is none."""
    twice: tuple[str, ...] = ()
    """Other names under which it has a core of ours."""


def configuration(core: Core) -> Json:
    """Return the MCP configuration by which OpenCode reaches a dapeer server.

    It has the server's token if there is one.
    """
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
    """Give OpenCode's sessions in a directory the tools of a dapeer server; return that in a sentence.

    `name` is the prefix of the tools there. It lasts until OpenCode ends or reads its configuration anew.

    Raises:
        ArgumentError: The name cannot be a prefix of tool names, or there is no such directory.
        OpenCodeError: OpenCode cannot be reached, refuses, or cannot reach the server.
    """
    _check(name, directory)
    await add(opencode, core, str(directory), name)
    return f"OpenCode at {opencode.url} has the tools as {name}_*, in sessions of {directory}."


async def add(opencode: OpenCode, core: Core, directory: str, name: str) -> None:
    """Register a dapeer server at OpenCode under a name, in place of what has the name.

    `directory` is as OpenCode calls it.

    Raises:
        OpenCodeError: OpenCode cannot be reached, refuses, or cannot reach the server.
    """
    body = {"name": name, "config": configuration(core)}
    state = _state(await opencode.post("/mcp", body, Path(directory)), name)
    if state.get("status") != CONNECTED_STATUS:
        why = state.get("error") or state.get("status") or "unknown to it"
        raise OpenCodeFailed(
            f"OpenCode at {opencode.url} cannot reach dapeer at {core.url}: {why}.",
            "OpenCode must run on this machine, outside a container.",
        )


async def is_there(opencode: OpenCode, directory: str, name: str) -> bool:
    """Ask OpenCode whether what is registered under a name is connected.

    False: it is not, or OpenCode does not answer.
    """
    with contextlib.suppress(OpenCodeError):
        state = _state(await opencode.get("/mcp", Path(directory)), name)
        return state.get("status") == CONNECTED_STATUS
    return False


async def configured(opencode: OpenCode, directory: str, name: str) -> Configured:
    """Request what the person's configuration of OpenCode has of dapeer's tools.

    What dapeer has registered itself is not in it. Both fields of the result are empty where OpenCode does not answer. `name` is the one
    under which dapeer is registered; `directory` is as OpenCode calls it.
    """
    config: object = None
    with contextlib.suppress(OpenCodeError):
        config = await opencode.get("/config", Path(directory))
    servers = {
        each: server
        for each, server in _objects(as_object(config).get("mcp")).items()
        if server.get("type") and server.get("enabled") is not False
    }
    twice = tuple(sorted(each for each, one in servers.items() if each != name and _is_ours(one)))
    return Configured(servers.get(name), twice)


async def give_back(opencode: OpenCode, directory: str, name: str, own: Json | None) -> None:
    """Remove a registered server from OpenCode, and give its name back to what the person has configured.

    `own` is that MCP server's configuration; None: there is none, and the name is only disconnected. Errors of OpenCode, which may be gone,
    are ignored. `directory` is as OpenCode calls it.
    """
    with contextlib.suppress(OpenCodeError):
        if own is None:
            await opencode.post(f"/mcp/{name}/disconnect", None, Path(directory))
        else:
            if _is_ours(own):
                # OpenCode starts it while our core ends, and it would join that core, to end with it.
                own = {**own, "command": [*own["command"], "--no-bridge"]}
            await opencode.post("/mcp", {"name": name, "config": own}, Path(directory))


def _is_ours(config: Json) -> bool:
    """Whether a configured MCP server is started by `dapeer stdio`."""
    command: object = config.get("command")
    words = [str(word) for word in config["command"]] if isinstance(command, list) else []
    return "stdio" in words and any(Path(word).name == "dapeer" for word in words)


def _state(answer: object, name: str) -> Json:
    """Return what OpenCode tells of the MCP server with this name; empty: it does not know it."""
    return _objects(answer).get(name, {})


def _objects(answer: object) -> dict[str, Json]:
    """Return the values of a JSON object that are objects by name; others become empty ones."""
    return {name: as_object(each) for name, each in as_object(answer).items()}


def _check(name: str, directory: Path) -> None:
    """Raise an error if a name cannot be a prefix of tool names, or a directory does not exist.

    Raises:
        ArgumentError: It says which of the two, and why.
    """
    if not NAME.fullmatch(name):
        raise ArgumentError(
            f"`{name}` cannot be a prefix of tool names.",
            "Give up to 24 letters, digits, `-` or `_`.",
        )
    if reason := foreign_files.why_no_folder(directory):
        raise ArgumentError(f"{directory} {reason}.", "Give an existing directory.")
