"""Our core at the OpenCode server of a Neovim: in each directory in which it works, while both run.

OpenCode keeps a registration in memory, for one directory, until that "instance" is disposed of. So each one is looked
after: it knows what is wanted and what is known, and brings the one to the other by one request at a time. What happens
only makes it look again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_object
from dapeer.base.system import folder_names, foreign_files
from dapeer.integrations.opencode.catalogue import CONNECTED
from dapeer.integrations.opencode.client import (
    OpenCode,
    OpenCodeError,
    OpenCodeFailed,
    OpenCodeLocked,
    OpenCodeMissing,
)
from dapeer.mcp.server.integration import Core

# Under which name a core is known to an OpenCode server.
#
# Several Neovims may share one server in one directory; of two cores that use one name, the first would lose its tools to
# the second, and the second when the first leaves. So a name is claimed by a lock on a file, which the system takes away
# when the process ends, in whatever way.

try:
    import fcntl
except ImportError:  # Windows, where two Neovims share a name
    fcntl = None

MAX_CORES: Final = 9
"""Cores at one server in one directory."""
MAX_PATH_BYTES: Final = 1 << 16
"""Bytes of a directory's path."""


@dataclass(frozen=True, slots=True)
class NameClaim:
    """A name at one server in one directory."""

    name: str
    directory: str
    _path: Path | None = None
    _lock: int = -1

    def release(self) -> None:
        """Give the name up, so that another core can have it: remove the file, and with it the lock."""
        if self._path is not None:
            # In this order: who has the lock of a file that is there has the name.
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._lock)


def claim_name(url: str, directory: str) -> NameClaim:
    """Claim the first name at a server, in a directory, that no other core has: `dapeer`, `dapeer-2`, ….

    A name is a locked file in the user's folder; the claim holds the lock until it is released, or the
    process ends. If the names up to `dapeer-8` are all taken, or no file can be opened, the claim has
    `dapeer-9`, and if the folder cannot be made or a file not written, `dapeer`; it shares that name
    with other cores then, as all do on Windows. No error is raised. `url` is the server's, `directory`
    is the directory as that server calls it.
    """
    with contextlib.suppress(OSError):
        folder = folder_names.make_private(_folder())
        for number in range(1, MAX_CORES):
            path = folder / f"{_hash(url)}-{_hash(directory)}-{number}"
            lock = _open_and_lock(path, os.O_RDWR | os.O_CREAT)
            if lock is not None:
                try:
                    os.ftruncate(lock, 0)
                    os.pwrite(lock, os.fsencode(directory), 0)
                except OSError:
                    os.close(lock)
                    raise
                return NameClaim(_numbered_name(number), directory, path, lock)
        return NameClaim(_numbered_name(MAX_CORES), directory)
    return NameClaim(_numbered_name(1), directory)


def claim_abandoned_names(url: str) -> Iterator[NameClaim]:
    """Yield a claim for each name at a server that a killed core has left behind, in any directory.

    `url` is the server's. The caller has to release each, which removes the file; the core itself is still registered at the server.
    Nothing is yielded where files cannot be locked.
    """
    if fcntl is None:
        return
    for path in sorted(_folder().glob(f"{_hash(url)}-*-[1-9]")):
        lock = _open_and_lock(path, os.O_RDWR)
        if lock is None:
            continue
        directory = ""
        with contextlib.suppress(OSError):
            directory = os.fsdecode(os.pread(lock, MAX_PATH_BYTES, 0))
        if directory:
            yield NameClaim(_numbered_name(int(path.name[-1])), directory, path, lock)
        else:
            os.close(lock)  # somebody is about to write it, or it cannot be read


def _folder() -> Path:
    return Path(folder_names.state()) / "opencode"


def _hash(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]


def _numbered_name(number: int) -> str:
    """Return the name with this number: `dapeer`, `dapeer-2`, …."""
    return "dapeer" if number == 1 else f"dapeer-{number}"


def _open_and_lock(path: Path, how: int) -> int | None:
    """Open a file and lock it, without waiting; return its file descriptor, which the caller closes.

    None: another core (server process) has the lock, or the file is gone, a symbolic link, or cannot be
    opened. `how` has the flags of `os.open`, such as `os.O_RDWR`; with `os.O_CREAT` a missing file is made,
    for this user only. Where the system has no `fcntl`, the file is opened without a lock.
    """
    lock = -1
    try:
        lock = os.open(path, how | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Who had it may have removed it a moment ago.
        if path.stat().st_ino == os.fstat(lock).st_ino:
            return lock
    except OSError:
        pass
    if lock >= 0:
        os.close(lock)
    return None


# Registers dapeer's tools with a running OpenCode server.

MILLISECONDS_FOR_A_CALL: Final = 60 * 60 * 1000
"""Milliseconds that OpenCode waits for a call; by default one minute, in which few bugs are found."""

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,24}")
"""OpenCode turns other characters into `_`, and models take names of 64 characters at most."""


CONNECTED_STATUS: Final = "connected"


@dataclass(frozen=True, slots=True)
class OwnConfiguration:
    """What the person's configuration of OpenCode has of our tools."""

    replaced_server: Json | None = None
    """The MCP server of our name, which is replaced; None: there is none."""
    other_names: tuple[str, ...] = ()
    """Other names under which it has a core of ours."""


def configuration(core: Core) -> Json:
    """Return the MCP configuration by which OpenCode reaches a dapeer server.

    It is a `remote` one with the server's address, enabled, without a login by OAuth, and with the timeout
    `MILLISECONDS_FOR_A_CALL`; the server's token, if there is one, is in its header `Authorization`.
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
    _check_name_and_directory(name, directory)
    await add_server(opencode, core, str(directory), name)
    return f"OpenCode at {opencode.url} has the tools as {name}_*, in sessions of {directory}."


async def add_server(opencode: OpenCode, core: Core, directory: str, name: str) -> None:
    """Register a dapeer server at OpenCode under a name, in place of what has the name there.

    `core` says where and with which token OpenCode reaches the server. `directory`, as OpenCode calls it, is
    the one in which the registration holds. `name` is the prefix of the tools there. The function returns
    once OpenCode has connected to the server. If OpenCode cannot connect, the registration stays at OpenCode,
    and its removal is left to the caller.

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


async def is_connected(opencode: OpenCode, directory: str, name: str) -> bool:
    """Ask OpenCode whether what is registered under a name is connected.

    False: it is not, or OpenCode does not answer.
    """
    with contextlib.suppress(OpenCodeError):
        state = _state(await opencode.get("/mcp", Path(directory)), name)
        return state.get("status") == CONNECTED_STATUS
    return False


async def request_own_configuration(
    opencode: OpenCode, directory: str, name: str
) -> OwnConfiguration:
    """Request from OpenCode the MCP servers in the person's configuration that concern dapeer.

    In the result `replaced_server` is the configured server named `name`, whatever it runs, under which dapeer
    registers itself (None: there is none), and `other_names` are the names of other servers that run dapeer,
    sorted. A server that is disabled or has no `type`, and what dapeer has registered while OpenCode runs, count as
    absent; where OpenCode does not answer, or refuses, the result is empty. `directory` is written as OpenCode
    does.
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
    return OwnConfiguration(servers.get(name), twice)


async def give_name_back(opencode: OpenCode, directory: str, name: str, own: Json | None) -> None:
    """Remove a registered server from OpenCode, and give its name back to what the person has configured.

    OpenCode starts what `own`, the person's configuration of that MCP server, says; where that is dapeer itself, `--no-bridge` is added to
    its command, so that it does not join the core that ends. None: there is none, and OpenCode only disconnects from the name. Errors of
    OpenCode, which may be gone, are ignored. `directory` is as OpenCode calls it.
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


def _check_name_and_directory(name: str, directory: Path) -> None:
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


log = logging.getLogger(__name__)

SECONDS_TO_LEAVE: Final = 2.0
"""What leaving may take at our end. To start what we have replaced takes OpenCode a while."""
SECONDS_TO_SWITCH_OFF: Final = 0.5
"""What it takes when that was too long."""

WHY: Final[Mapping[type[OpenCodeError], str]] = {
    OpenCodeLocked: "OpenCode requires a password: give `server.password` to opencode.nvim, or set "
    "OPENCODE_SERVER_PASSWORD.",
    OpenCodeMissing: "OpenCode cannot add tools while it runs: update OpenCode.",
}

Report = Callable[[Json], None]
"""Takes what became of a registration: url, directory, name and state.

The state is `connected` (then also `own`, whether it replaces what is configured, and `twice`), `disconnected` or
`failed` (then also `problem`).
"""


@dataclass(frozen=True, slots=True)
class ServerUse:
    """Which OpenCode server a Neovim uses."""

    url: str = ""
    """Where it listens; empty: it uses none."""
    authorization: str = ""
    """What the server wants to see in the header of this name."""
    directories: tuple[str, ...] = ()
    """Where the person works, as the server calls it."""
    core: str = ""
    """The URL of the core that the server is to have there; empty: none."""

    @classmethod
    def read(cls, sent: Json) -> Self:
        """Return what a Neovim has sent as a `ServerUse`; what is missing is empty.

        `sent` may have `url`, `authorization`, `directories` and `core` (the URL of the core that the OpenCode
        server is to have there). Lua's empty table counts as no directories.
        """
        directories: Sequence[object] = sent.get("directories") or ()
        return cls(
            url=str(sent.get("url") or ""),
            authorization=str(sent.get("authorization") or ""),
            directories=tuple(map(str, directories)),
            core=str(sent.get("core") or ""),
        )


class Registration:
    """A core at one server, in one directory.

    Args:
        opencode: Makes a connection to the server.
        url: Where that listens.
        core: Is registered.
        claim: Its name there, which is released at the end.
        report: Takes what becomes of it.
        was_left: It is there, of a core that was killed, and shall go.
    """

    def __init__(
        self,
        opencode: Callable[[], OpenCode],
        url: str,
        core: Core,
        claim: NameClaim,
        report: Report,
        *,
        was_left: bool = False,
    ) -> None:
        self.end_event = anyio.Event()
        """It has left."""
        self.directory = claim.directory
        self._opencode = opencode
        self._url = url
        self._core = core
        self._claim = claim
        self._report = report
        self._is_requested = not was_left
        self._is_there = was_left
        self._is_due = True
        """Something may have changed since it was looked at."""
        self._is_reported = False
        """Whether Neovim knows that it is there."""
        self._change_event = anyio.Event()
        self._own_configuration: OwnConfiguration | None = None
        """What the person has configured; None: nobody has looked."""

    def request_registration(self, opencode: Callable[[], OpenCode], report: Report) -> None:
        """Have the core registered from now on, and check whether it is; the task of `keep_up` does that.

        `opencode` makes a connection to the server, `report` takes what becomes of it.
        """
        self._opencode = opencode
        self._report = report
        self._is_requested = True
        self.recheck()

    def request_removal(self) -> None:
        """Have the core removed; the task of `keep_up` does that, and ends then."""
        self._is_requested = False
        self._change_event.set()

    def recheck(self) -> None:
        """Have the task of `keep_up` check whether the core is still registered with OpenCode."""
        self._is_due = True
        self._change_event.set()

    def forget_report(self) -> None:
        """Note that Neovim has disconnected, so that the next one gets the state anew."""
        self._is_reported = False

    def note_lost(self) -> None:
        """Note that OpenCode has lost its registrations, and have the core registered again.

        OpenCode has then what its configuration says.
        """
        self._is_there = False
        self.recheck()

    async def keep_up(self) -> None:
        """Register and remove the core as was requested, until it is removed; then release its name.

        Requests come by `request_registration` and `request_removal` of this object, between which the task
        waits. If cancelled, it removes the core first, within `SECONDS_TO_SWITCH_OFF`, and does not start again
        the person's server that the core has replaced. In the end, also after an error, the name is released
        and `end_event` is set. What the connection raises otherwise leaves here.
        """
        try:
            while self._is_requested or self._is_there:
                self._change_event = anyio.Event()
                if not self._is_requested:
                    await self._remove()
                elif self._is_due:
                    self._is_due = False
                    await self._register_unless_connected()
                else:
                    await self._change_event.wait()
        except anyio.get_cancelled_exc_class():
            if self._is_there:
                with anyio.move_on_after(SECONDS_TO_SWITCH_OFF, shield=True):
                    await self._remove(OwnConfiguration())
            raise
        finally:
            self._claim.release()
            self.end_event.set()

    async def _register_unless_connected(self) -> None:
        """Register the core at the OpenCode server, and report its state to Neovim.

        If the core counts as registered, OpenCode is asked for its state: a core that is still
        connected is only reported, and only if it was not yet. Otherwise the core replaces what has its name there,
        even a server that is connected; before, what the person's configuration of OpenCode has of dapeer is
        requested and kept for the removal. The state is `connected` or `failed`. An error of OpenCode raises
        nothing: it is reported, unless the removal was requested meanwhile, and `keep_up` does not try again before
        something changes.
        """
        async with self._opencode() as opencode:
            if self._is_there and await is_connected(opencode, self.directory, self._claim.name):
                if not self._is_reported:
                    self._report_connected()
                return
            self._is_there = False
            try:
                self._own_configuration = await request_own_configuration(
                    opencode, self.directory, self._claim.name
                )
                await add_server(opencode, self._core, self.directory, self._claim.name)
            except OpenCodeError as error:
                # A server that has ended meanwhile is no failure.
                if self._is_requested:
                    self._report_state("failed", problem=WHY.get(type(error), error.problem))
                return
        self._is_there = True
        self._report_connected()

    def _report_connected(self) -> None:
        """Report that the core is connected, and what it replaces or has twice in the person's configuration."""
        self._is_reported = True
        replaced = self._own_configuration or OwnConfiguration()
        self._report_state(
            "connected", own=replaced.replaced_server is not None, twice=list(replaced.other_names)
        )

    async def _remove(self, replaced: OwnConfiguration | None = None) -> None:
        """Remove the core from OpenCode, give its name back to what the person has configured, and report it.

        The core is this server process. `replaced` is the person's own configuration; None: the one that was
        found at the registration, or else it is requested now. OpenCode starts the server that has the name in
        this configuration, or only disconnects if there is none. The state `disconnected` is reported. Errors of
        OpenCode are ignored: the core counts as removed in any case.
        """
        async with self._opencode() as opencode:
            replaced = replaced or self._own_configuration
            if replaced is None:
                replaced = await request_own_configuration(
                    opencode, self.directory, self._claim.name
                )
            await give_name_back(
                opencode, self.directory, self._claim.name, replaced.replaced_server
            )
        self._is_there = False
        self._report_state("disconnected")

    def _report_state(self, state: str, **more: object) -> None:
        """Report a state of the registration to Neovim, with its URL, directory and name."""
        about = {"url": self._url, "directory": self.directory, "name": self._claim.name}
        self._report({**about, "state": state, **more})


class Registrations:
    """What the OpenCode servers of one Neovim are to have of our core, and have.

    Args:
        tasks: Where each is looked after.
        core: Is registered.
    """

    def __init__(self, tasks: TaskGroup, core: Core) -> None:
        self._tasks = tasks
        self._core = core
        self._by_server: dict[tuple[str, str], Registration] = {}

    def register_where_used(
        self, use: ServerUse, opencode: Callable[[], OpenCode], report: Report
    ) -> None:
        """Register the core in the directories where the Neovim works now, and remove it in all others.

        The core is this server process; the directories are those of `use`, at its server. If `use` names another
        core, this one is removed everywhere. A directory where it is registered already is checked anew. If `use` has
        directories for this core, what killed cores have left at the server is removed, too. All requests are sent in
        background tasks. `opencode` is called without arguments, and makes a connection to the server; `report` is
        called with what becomes of each registration (url, directory, name and state).
        """
        directories = use.directories if use.core == self._core.url else ()
        keys = {(use.url, directory) for directory in directories}
        for key, one in self._by_server.items():
            if key not in keys:
                one.request_removal()
        for url, directory in sorted(keys):
            if known := self._by_server.get((url, directory)):
                known.request_registration(opencode, report)
            else:
                claim = claim_name(url, directory)
                one = Registration(opencode, url, self._core, claim, report)
                self._begin((url, directory), one)
        if keys:
            for claim in claim_abandoned_names(use.url):
                left = Registration(opencode, use.url, self._core, claim, report, was_left=True)
                self._begin((use.url, f"{claim.directory}\n{claim.name}"), left)

    def forget_reports(self) -> None:
        """Note that the Neovim has disconnected, so that the next one gets all states anew."""
        for one in self._by_server.values():
            one.forget_report()

    def on_event(self, event: Json) -> None:
        """Take an event of the server: have registrations made again that it has lost, or checked after a gap.

        `event` is OpenCode's, with `type` and `properties`. After the disposal of an instance those of its directory
        are made again; all are if it names none, or after `global.disposed`. After a new connection all are checked.
        Other events are ignored. It does not wait.
        """
        match event:
            case {"type": "server.instance.disposed", "properties": {"directory": str(directory)}}:
                # OpenCode resolves links in the names of directories.
                where = os.path.realpath(directory)
                for one in self._by_server.values():
                    if os.path.realpath(one.directory) == where:
                        one.note_lost()
            case {"type": "global.disposed" | "server.instance.disposed"}:
                for one in self._by_server.values():
                    one.note_lost()
            case {"type": str(kind)} if kind == CONNECTED:
                # What happened before has not been heard of.
                for one in self._by_server.values():
                    one.recheck()
            case _:
                pass

    async def leave(self) -> None:
        """Have the core removed everywhere, and wait, without a limit, until that is done."""
        for one in self._by_server.values():
            one.request_removal()
        for one in list(self._by_server.values()):
            await one.end_event.wait()

    def _begin(self, key: tuple[str, str], registration: Registration) -> None:
        """Begin to look after a registration, in a task of its own."""
        self._by_server[key] = registration
        self._tasks.start_soon(self._look_after, key, registration)

    async def _look_after(self, key: tuple[str, str], registration: Registration) -> None:
        """Look after a registration until it was removed, then forget it.

        An error is logged, not raised, and ends the care of this registration only. `key` is the registration's
        key in `_by_server`, from which it is deleted at the end, also when this is cancelled.
        """
        try:
            await registration.keep_up()
        except Exception:
            # Whatever a server of somebody else tells us, debugging goes on.
            log.exception(
                "dapeer gives up its registration at OpenCode in %s", registration.directory
            )
        finally:
            del self._by_server[key]
