"""Which clients have dapeer in their configuration, and whether what stands there starts a server."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, TextIO

import anyio
from mcp import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client

from dapeer.base.errors import ArgumentError, unwrap_group
from dapeer.base.json_types import Json, as_object
from dapeer.base.system import foreign_files
from dapeer.cli.install.changes import entry_in, value_for_project
from dapeer.cli.install.clients import (
    CLIENTS,
    LAST,
    NAME,
    Client,
    ClientFolders,
    ConfigScope,
    command_in,
    switched_off,
)

SECONDS_TO_ANSWER: Final = 15
_RUNNERS: Final = {"uvx", "uv", "pipx"}
_OF_REGISTRY: Final = re.compile(rf"{NAME}([\[=<>!~@][^/]*)?")
"""What such a program takes from a package registry.

dapeer is on none, so it could be anybody's: this goes when it is.
"""
SCOPES: Final[tuple[ConfigScope, ...]] = ("user", "project")


@dataclass(frozen=True, slots=True)
class Reach:
    """What was found of dapeer in a client's configuration."""

    client: Client
    scope: ConfigScope | Literal["local"]
    state: Literal["ok", "failed", "note"]
    detail: str


@dataclass(frozen=True, slots=True)
class _Entry:
    client: Client
    scope: ConfigScope | Literal["local"]
    path: Path
    command: tuple[str, ...]
    is_elsewhere: bool
    """Whether the client finds a server at an address, and starts none."""
    disabled_by: str
    """The member by which the client does not use it; empty: it does."""

    @classmethod
    def read(
        cls, client: Client, scope: ConfigScope | Literal["local"], path: Path, entry: Json
    ) -> _Entry:
        """Return what an entry says: command, whether it is at an address, and whether it is off.

        `path` is the file in which it is.
        """
        command = tuple(command_in(entry))
        elsewhere = not command and any(key.lower().endswith("url") for key in entry)
        return cls(client, scope, path, command, elsewhere, switched_off(entry))

    def why_untried(self) -> Reach | None:
        """Return what is said of an entry that is not to be started; None: it is to be started.

        It is not started if it is switched off, has an address, takes dapeer from a registry, names a program that is not there, or has
        another command than `dapeer stdio` in the project's file. The `state` is `failed` for a registry and a missing program, else `note`.
        """
        if self.disabled_by:
            sentence = f"{self.path}: {self.client.title} has it switched off; take `{self.disabled_by}` out to use it"
            return Reach(self.client, self.scope, "note", sentence)
        sentence = f"{self.path}: `{' '.join(self.command)}`"
        scope = " --project" if self.scope == "project" else ""
        mends = f"`dapeer install {self.client.id}{scope}` mends it"
        if self.scope == "local":
            mends = f"`{self.client.id} mcp remove --scope local {NAME}`, typed here, removes it"
        if self.is_elsewhere:
            sentence = f"{self.path}: a server at an address, which was not tried"
            return Reach(self.client, self.scope, "note", sentence)
        if takes_from_registry(self.command):
            why = f"would run whatever a package registry has under this name, and dapeer is on none; {mends}"
            return Reach(self.client, self.scope, "failed", f"{sentence} {why}")
        if self.command and shutil.which(self.command[0]) is None:
            return Reach(
                self.client,
                self.scope,
                "failed",
                f"{sentence} names a program that is not there; {mends}",
            )
        if self.scope == "project" and self.command != (NAME, LAST):
            # Who has written the project may be anybody. A client asks the person before it starts this.
            why = "was not started, since the project says what it runs"
            return Reach(self.client, self.scope, "note", f"{sentence} {why}")
        return None


def takes_from_registry(command: Sequence[str]) -> bool:
    """Whether a command has uv or pipx take dapeer from a package registry.

    What follows `--from` or `--spec` decides; without these options, any word that is `dapeer`, perhaps with a
    version, counts. An empty command, or one of uv without `tool run`, gives False.

    >>> [takes_from_registry(("/bin/uvx", *each)) for each in (("dapeer", "stdio"), ("--from", "dapeer==1", "dapeer"))]
    [True, True]
    >>> [takes_from_registry(("uvx", "--from", each, "dapeer")) for each in (".", "dapeer @ file:///a", "/b/dapeer.whl")]
    [False, False, False]
    >>> takes_from_registry(("uv", "tool", "run", "dapeer")), takes_from_registry(("uv", "run", "--project", "/a", "dapeer"))
    (True, False)
    """
    program = Path(command[0]).name if command else ""
    if program not in _RUNNERS or (program == "uv" and [*command[1:3]] != ["tool", "run"]):
        return False
    words = [
        part
        for each in command
        for part in (each.split("=", 1) if each.startswith("--") else [each])
    ]
    named = [after for each, after in pairwise(words) if each in ("--from", "--spec")]
    return any(_OF_REGISTRY.fullmatch(each.replace(" ", "")) for each in named or words)


async def try_clients(places: ClientFolders) -> Sequence[Reach]:
    """Start each server for dapeer that a client has in its configuration; return what was found.

    The scopes are the user, the project, and `local`: an entry for this project in the user's file. One row
    comes back for each client and scope with an entry (`state` is `ok`, `failed` or `note`), or with a file
    that cannot be read (`failed`; not for `local`). Rows of servers that were not started come first. Entries
    for which `_Entry.why_untried` gives a row are not started, such as those that are switched off. Equal
    commands are started once; all run side by side, in the project's folder, and are ended again. Nothing is
    raised for one that fails.
    """
    entries: list[_Entry] = []
    found: list[Reach] = []
    for client in CLIENTS.values():
        for scope in SCOPES if client.project_file else SCOPES[:1]:
            try:
                entry = entry_in(client, scope, places)
            except ArgumentError as error:
                found.append(Reach(client, scope, "failed", str(error)))
                continue
            if entry is not None:
                entries.append(_Entry.read(client, scope, client.file(scope, places), entry))
        if entry := as_object(value_for_project(client, places, client.local, client.key, NAME)):
            entries.append(_Entry.read(client, "local", client.file("user", places), entry))
    untried = [each.why_untried() for each in entries]
    found.extend(filter(None, untried))
    entries = [each for each, reason in zip(entries, untried, strict=True) if reason is None]
    answers: dict[tuple[str, ...], str | None] = {}
    async with anyio.create_task_group() as group:
        # Clients mostly have the same command, which needs to be tried but once.
        for command in {entry.command for entry in entries}:
            group.start_soon(_try, command, places.project, answers)
    return [*found, *(_reach(entry, answers[entry.command], places) for entry in entries)]


def _reach(entry: _Entry, failure: str | None, places: ClientFolders) -> Reach:
    """Return the row for an entry of a client's configuration whose command was tried.

    `failure` says why the command is no server; None: it answers. The row's state is `ok` only if it answers
    and the client would start it in this project; if it answers, but the client does not trust the folder, the
    state is `failed`, and the text says how to trust it. `places` has the clients' folders, in which their trust is
    looked up.
    """
    if failure is None and not (
        trusts_project(entry.client, places)
        and (entry.scope != "project" or reads_project_file(entry.client, places))
    ):
        title = entry.client.title
        sentence = f"{entry.path}: configured, but {title} starts no server in a folder that it does not trust: start {title} here, and trust it"
        return Reach(entry.client, entry.scope, "failed", sentence)
    if failure is None:
        return Reach(entry.client, entry.scope, "ok", f"{entry.path}: the server answers")
    return Reach(entry.client, entry.scope, "failed", f"{entry.path}: {failure}")


def reads_project_file(client: Client, places: ClientFolders) -> bool:
    """Whether a client reads its file in the project, as far as its list of trusted projects says."""
    level = value_for_project(client, places, client.trust, "trust_level")
    return not client.trust or level == "trusted"


def trusts_project(client: Client, places: ClientFolders) -> bool:
    """Return whether a client starts servers in the project, as far as its list of trusted folders says.

    `places` has the project and the client's folders. The result is True for a client that has no such
    list, or whose settings switch the list off. Else the closest entry counts, the first of equally close
    ones: `TRUST_PARENT` is for the folder around the named one and all in it, every other value for the
    named folder and all in it, and `DO_NOT_TRUST` makes the result False. It is False, too, if no entry is
    of the project or around it, or the list cannot be read.
    """
    if not client.trusted or _trusts_all(client.file("user", places)):
        return True
    folders = _json(client.root("user", places) / client.trusted)
    best, trusted = -1, False
    for name, how in folders.items():
        folder = Path(name).parent if how == "TRUST_PARENT" else Path(name)
        if places.project.is_relative_to(folder) and len(folder.parts) > best:
            best, trusted = len(folder.parts), how != "DO_NOT_TRUST"
    return trusted


def _trusts_all(settings: Path) -> bool:
    """Whether a client's settings switch its list of trusted folders off."""
    trust = as_object(as_object(_json(settings).get("security")).get("folderTrust"))
    return trust.get("enabled") is False


def _json(path: Path) -> Json:
    """Return the JSON object in a file; empty: there is none, or it cannot be read."""
    try:
        return as_object(json.loads(foreign_files.read_text(path)))
    except (OSError, ValueError, RecursionError):
        return {}


async def _try(
    command: tuple[str, ...], folder: Path, answers: dict[tuple[str, ...], str | None]
) -> None:
    """Start a command in `folder` and end it; put into `answers` why it is no MCP server; None: it is."""
    answers[command] = await _why_no_server(command, folder)


async def _why_no_server(command: tuple[str, ...], folder: Path) -> str | None:
    """Start a command in a folder as an MCP server, list its tools, and end it; return why that fails.

    None: it is a server. It has `SECONDS_TO_ANSWER`, and its stderr is dropped; nothing is raised.
    """
    if not command:
        return "the entry has no command"
    line = " ".join(command)
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), cwd=folder)
    try:
        with anyio.fail_after(SECONDS_TO_ANSWER):
            with _open_null() as log:
                async with McpClient(stdio_client(parameters, errlog=log)) as client:
                    await client.list_tools()
    except TimeoutError:
        return f"`{line}` did not answer within {SECONDS_TO_ANSWER} s"
    except Exception as error:  # noqa: BLE001 - whatever it is, the report is about it
        return f"`{line}` does not answer: {unwrap_group(error)}"
    return None


def _open_null() -> TextIO:
    """Return the null device, opened as the log of a server whose log nobody reads."""
    return Path(os.devnull).open("w", encoding="utf-8")
