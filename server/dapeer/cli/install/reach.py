"""Which clients have dapeer in their configuration, and whether what stands there starts a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TextIO

import anyio
from mcp import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client

from dapeer.base.errors import ArgumentError, single
from dapeer.cli.install.changes import entry_in
from dapeer.cli.install.clients import CLIENTS, Client, Places, Scope, command_in

SECONDS_TO_ANSWER: Final = 15
SCOPES: Final[tuple[Scope, ...]] = ("user", "project")


@dataclass(frozen=True, slots=True)
class Reach:
    """What was found of dapeer in a client's configuration."""

    client: Client
    scope: Scope
    state: Literal["ok", "failed"]
    detail: str


@dataclass(frozen=True, slots=True)
class _Entry:
    client: Client
    scope: Scope
    path: Path
    command: tuple[str, ...]


async def reached(places: Places) -> Sequence[Reach]:
    """Start the server of each client that has one for dapeer, as the client would, and say what came of it."""
    entries: list[_Entry] = []
    found: list[Reach] = []
    for client in CLIENTS.values():
        for scope in SCOPES:
            try:
                entry = entry_in(client, scope, places)
            except ArgumentError as error:
                found.append(Reach(client, scope, "failed", str(error)))
                continue
            if entry is not None:
                path = client.file(scope, places)
                entries.append(_Entry(client, scope, path, tuple(command_in(entry))))
    answers: dict[tuple[str, ...], str | None] = {}
    async with anyio.create_task_group() as group:
        # Clients mostly have the same command, which needs to be tried but once.
        for command in {entry.command for entry in entries}:
            group.start_soon(_try, command, places.project, answers)
    return [*found, *(_reach(entry, answers[entry.command]) for entry in entries)]


def _reach(entry: _Entry, failure: str | None) -> Reach:
    if failure is None:
        return Reach(entry.client, entry.scope, "ok", f"{entry.path}: the server answers")
    return Reach(entry.client, entry.scope, "failed", f"{entry.path}: {failure}")


async def _try(
    command: tuple[str, ...], folder: Path, answers: dict[tuple[str, ...], str | None]
) -> None:
    answers[command] = await _failure(command, folder)


async def _failure(command: tuple[str, ...], folder: Path) -> str | None:
    """Return why a command is no MCP server, or nothing if it is one."""
    if not command:
        return "the entry has no command"
    said = " ".join(command)
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), cwd=folder)
    try:
        with anyio.fail_after(SECONDS_TO_ANSWER):
            with _nowhere() as log:
                async with McpClient(stdio_client(parameters, errlog=log)) as client:
                    await client.list_tools()
    except TimeoutError:
        return f"`{said}` did not answer within {SECONDS_TO_ANSWER} s"
    except Exception as error:  # noqa: BLE001 - whatever it is, the report is about it
        return f"`{said}` does not answer: {single(error)}"
    return None


def _nowhere() -> TextIO:
    """Return where a server logs to whose log nobody reads."""
    return Path(os.devnull).open("w", encoding="utf-8")
