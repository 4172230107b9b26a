"""Finds the running Neovims, and those of the project among them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import anyio

from dapeer.base.errors import ForeignListener, NoNeovim
from dapeer.base.system import foreign_files
from dapeer.base.system.process_table import working_directory
from dapeer.neovim.probe import probe
from dapeer.neovim.project import steps_between
from dapeer.neovim.sockets import (
    HOST_AND_PORT,
    announced_addresses,
    neovim_addresses,
    normalize_address,
)

AUTO: Final = "auto"
"""The target `auto`: every Neovim of the same project."""

START_ONE: Final = (
    "Start `nvim` in the project's folder, or name one that listens elsewhere: "
    "`:echo v:servername` in it shows its address."
)

_PID_IN_NAME: Final = re.compile(r"\.(\d+)\.\d+$")


@dataclass(frozen=True, slots=True)
class FoundNeovim:
    """A running Neovim, from a quick look at it."""

    address: str
    """A path, or `host:port`."""
    state: Literal["free", "busy"]
    """busy: it did not answer in time, and may later."""
    pid: int | None = None
    cwd: Path | None = None
    version: str = ""
    waits_in: str = ""
    """The mode in which it waits for a key, if that is why it is busy."""
    plugin: Literal["loaded", "loadable"] | None = None
    dap: bool = False
    """Whether nvim-dap is loaded."""
    port: int | None = None
    """Where the core listens that runs in it."""
    folder_distance: int | None = None
    """The number of folders between it and dapeer's project; None if it belongs to another project."""


async def find_neovims(project: Path) -> list[FoundNeovim]:
    """Look at all Neovims of this user in parallel, and return them, those of this project first.

    The nearest to the project's folder comes first; each Neovim is there once, though it listens at several
    addresses. It takes as long as the slowest answer, half a second at most; those that have not answered by then
    are `busy`. Dead sockets, and those where another user listens, are skipped.
    """
    found: list[FoundNeovim] = []

    async def look(address: str) -> None:
        if neovim := await look_at(address, project):
            found.append(neovim)

    async with anyio.create_task_group() as tasks:
        for address in neovim_addresses():
            tasks.start_soon(look, address)
    return sorted(_once_each(found), key=_rank)


async def find_project_neovims(project: Path) -> list[FoundNeovim]:
    """Return the Neovims of this project, the nearest folder first, busy ones included."""
    return [each for each in await find_neovims(project) if each.folder_distance is not None]


async def look_at(address: str, project: Path) -> FoundNeovim | None:
    """Look at the Neovim at a path or `host:port`, for half a second at most, and return what it is.

    The result is None if none listens there, or another user's.
    """
    with contextlib.suppress(ForeignListener):
        return await _look_at_neovim(address, project)
    return None


async def _look_at_neovim(address: str, project: Path) -> FoundNeovim | None:
    """Look at the Neovim at an address, and return what it is; None if there is none.

    None is also returned if the connection ends early, or an answer is an error. A Neovim that does not
    answer in time is returned with the state `busy`, its mode if it told that, and what is known from
    elsewhere. `project` is dapeer's working directory, from which `folder_distance` is counted; the
    distance is None if Neovim's folder is unknown, deleted, or of another project.

    Raises:
        ForeignListener: Another user of this machine listens there.
    """
    answer = await probe(address)
    if answer is None:
        return None
    found = (
        _busy_neovim(address, answer.mode)
        if answer.facts is None
        else _free_neovim(address, answer.facts)
    )
    return replace(found, folder_distance=found.cwd and _steps(found.cwd, project))


async def resolve_target(target: str, project: Path) -> list[FoundNeovim]:
    """Return the Neovims for a target: path, `host:port`, process id, or `auto` for the project's.

    There is at least one, and one only except for `auto`, which gives all of the project that respond, the nearest to
    `project` first. Any other target also gives a busy one, and one of another project. Neovims are looked at side by
    side, for half a second at most. `project` is dapeer's working directory, absolute.

    Raises:
        NoNeovim: There is none, for `auto` none that responds; or it belongs to another user.
    """
    if target == AUTO:
        if found := [each for each in await find_project_neovims(project) if each.state == "free"]:
            return found
        raise NoNeovim(f"No responding Neovim works in {project}.", START_ONE)
    if target.isdecimal():
        found = [each for each in await find_neovims(project) if each.pid == int(target)]
        if found:
            return found
        raise NoNeovim(f"No Neovim with the process id {target} was found.", START_ONE)
    address = normalize_address(target)
    try:
        neovim = await _look_at_neovim(address, project)
    except ForeignListener as error:
        raise NoNeovim(error.problem, error.hint) from error
    if neovim is not None:
        return [neovim]
    raise NoNeovim(_why_not(address), START_ONE)


def belongs_to_project(cwd: Path, project: Path) -> bool:
    """Return whether a Neovim's folder belongs to the project; one that was deleted belongs to none."""
    return _steps(cwd, project) is not None


def _steps(cwd: Path, project: Path) -> int | None:
    """Return the number of folders between a Neovim's folder and the project; None: another project.

    Links are followed. A folder that was deleted belongs to none: the system's name of it may be another's.
    """
    # Of a deleted folder Neovim has no name, and the system a name that another folder may get.
    if not cwd.is_absolute() or not foreign_files.is_folder(cwd):
        return None
    return steps_between(cwd.resolve(), project.resolve())


def _free_neovim(address: str, facts: Mapping[str, Any]) -> FoundNeovim:
    """Return the Neovim at `address` from `facts` that it has answered, those of `ProbeAnswer`.

    Its state is `free`; `folder_distance` is left to the caller.
    """
    return FoundNeovim(
        address,
        "free",
        pid=facts["pid"],
        cwd=Path(facts["cwd"]) if facts["cwd"] else None,
        version=facts["version"],
        plugin=facts.get("plugin"),
        dap=facts["dap"],
        port=facts.get("port"),
    )


def _busy_neovim(address: str, mode: str | None) -> FoundNeovim:
    """Return a Neovim that does not respond, with process id and folder if known from elsewhere.

    The id is in the socket's name, or in the announcement of the plugin; the folder is the system's for that process. `mode` is the one in
    which it waits for a key, or None. `folder_distance` is left to the caller.
    """
    match = _PID_IN_NAME.search(address)
    pid = int(match[1]) if match else announced_addresses().get(address)
    return FoundNeovim(address, "busy", pid=pid, cwd=_cwd_of(pid), waits_in=mode or "")


def _cwd_of(pid: int | None) -> Path | None:
    """Return a process's working directory.

    The result is None if the process is unknown or the system does not report it.
    """
    folder = working_directory(pid) if pid is not None else ""
    return Path(folder) if folder else None


def _once_each(found: Iterable[FoundNeovim]) -> Iterable[FoundNeovim]:
    """Return each Neovim once, though one may listen at several addresses.

    The address that Neovim has made itself is kept before others.
    """
    by_process = {each.pid or each.address: each for each in sorted(found, key=_address_rank)}
    return by_process.values()


def _address_rank(found: FoundNeovim) -> tuple[bool, str]:
    """Return a key that sorts the address last that Neovim has made itself: there, the last one counts."""
    return _PID_IN_NAME.search(found.address) is not None, found.address


def _rank(found: FoundNeovim) -> tuple[bool, int, bool, str]:
    """Return a key that sorts Neovims: this project's first, by distance, free before busy, by address."""
    far = found.folder_distance is None
    return far, found.folder_distance or 0, found.state == "busy", found.address


def _why_not(address: str) -> str:
    """Return as a sentence why there is no Neovim at an address."""
    if HOST_AND_PORT.fullmatch(address):
        return f"No Neovim listens at {address}."
    if not foreign_files.exists(address):
        return f"There is no Neovim at {address}: the path {foreign_files.why_no_file(address)}."
    return f"No Neovim listens at {address}: it has ended, or something else does."
