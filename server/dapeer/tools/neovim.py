"""Tools that list Neovims, and attach to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from dapeer.base.errors import NoNeovim
from dapeer.neovim import discovery
from dapeer.neovim.discovery import FoundNeovim
from dapeer.neovim.sockets import normalize_address
from dapeer.peers import Peer, Peers
from dapeer.peers.consent_kinds import ALL, RUNS, CallKinds
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Section, tool


class NeovimFacts(TypedDict):
    """A Neovim that runs."""

    target: str
    state: Literal["attached", "free", "busy"]
    neovim_id: NotRequired[int]
    pid: NotRequired[int]
    cwd: NotRequired[str]
    same_project: bool
    version: NotRequired[str]
    dap: NotRequired[bool]
    plugin: NotRequired[Literal["loaded", "loadable"]]
    core_port: NotRequired[int]
    waits_in_mode: NotRequired[str]


class Targets(TypedDict):
    """The Neovims that run."""

    neovims: list[NeovimFacts]


@tool("List Neovims", section=Section.NEOVIM, read_only=True, output=Targets)
async def nvim_targets(call: Call) -> Reply:
    """List this user's running Neovims: address, process, working directory, which are attached."""
    found = await discovery.find_neovims(call.debugger.project)
    rows = [_row(each, call) for each in [*found, *await _unsearched_neovims(call, found)]]
    none = f"No Neovim was found. {discovery.START_ONE}"
    return Reply("\n".join(map(_line, rows)) or none, {"neovims": rows})


@tool("Attach to Neovim", section=Section.NEOVIM, kinds=RUNS, idempotent=True)
async def nvim_connect(
    call: Call,
    target: Annotated[str, Field(description="address, pid, or auto")] = discovery.AUTO,
) -> Reply:
    """Attach to a Neovim, to share its sessions, breakpoints and tools; auto: all of this project.

    `target` is an address or a process id; `auto` attaches to all Neovims of the project. One that is attached already stays so. The data
    has `attached`, a row for each.

    Raises:
        NoNeovim: None fits, or it does not answer.
    """
    known = [peer for peer in call.peers.attached.values() if _means(target, peer)]
    peers = known or [
        await _attach(found, call.peers)
        for found in await discovery.resolve_target(target, call.debugger.project)
    ]
    lines = [f"Attached to Neovim {_peer_line(peer)}." for peer in peers]
    return Reply("\n".join(lines), {"attached": [_peer_row(peer) for peer in peers]})


@tool(
    "Detach from Neovim",
    section=Section.NEOVIM,
    kinds=CallKinds(ALL, remark="what the person was asked about before is refused afterwards"),
    idempotent=True,
)
async def nvim_disconnect(
    call: Call,
    target: Annotated[str | None, Field(description="neovim_id, address or pid")] = None,
) -> Reply:
    """Detach from a Neovim; its sessions run on."""
    peer = _attached_peer(call.peers, target)
    await call.peers.detach_keeping_consent(peer.id)
    return Reply(f"Detached from Neovim {_peer_line(peer)}.", {"detached": _peer_row(peer)})


async def _attach(found: FoundNeovim, peers: Peers) -> Peer:
    """Attach to a Neovim, unless it is attached already by another of its addresses; return it.

    Raises:
        NeovimError: It does not answer, or cannot be attached to.
    """
    peer = _peer_of(found, peers)
    return peer or await peers.connect(found.address)


def _attached_peer(peers: Peers, target: str | None) -> Peer:
    """Return the attached Neovim with this id, process id or address; for None the only one.

    `target` is the id, the process id as text, or the address.

    Raises:
        NoNeovim: There is no such Neovim, or none is named and not exactly one is attached.
    """
    if target is None and len(peers.attached) == 1:
        return peers.peer()
    for peer in peers.attached.values():
        if target is not None and (target == str(peer.id) or _means(target, peer)):
            return peer
    known = "; ".join(map(_peer_line, peers.attached.values()))
    what = "No `target` is given" if target is None else f"Neovim {target} is not attached"
    raise NoNeovim(f"{what}.", f"Attached: {known or 'none'}.")


def _means(target: str, peer: Peer) -> bool:
    """Whether a target, which is a process id or an address, is that of an attached Neovim."""
    return target == str(peer.pid) or normalize_address(target) == normalize_address(peer.target)


def _peer_of(found: FoundNeovim, peers: Peers) -> Peer | None:
    """Return the attached Neovim that was found by a search; None: it is not attached.

    They are compared by process and by address, as a busy Neovim may not report its process.
    """
    for peer in peers.attached.values():
        if found.pid == peer.pid or found.address == peer.target:
            return peer
    return None


def _row(found: FoundNeovim, call: Call) -> dict[str, Any]:
    """Return a Neovim that was found as a row of `nvim_targets`, without the facts that are not known.

    Its keys are `target`, `state`, `same_project`, and maybe `neovim_id`, `pid`, `cwd`, `version`, `dap`, `plugin`, `core_port` and
    `waits_in_mode`.
    """
    peer = _peer_of(found, call.peers)
    cwd = found.cwd or (Path(peer.cwd) if peer and peer.cwd else None)
    facts = {
        "target": peer.target if peer else found.address,
        "state": "attached" if peer else found.state,
        "neovim_id": peer and peer.id,
        "pid": found.pid or (peer and peer.pid),
        "cwd": cwd and str(cwd),
        "same_project": cwd is not None
        and discovery.belongs_to_project(cwd, call.debugger.project),
        "version": found.version or None,
        "dap": found.dap if found.state == "free" else None,
        "plugin": found.plugin,
        "core_port": found.port,
        "waits_in_mode": found.waits_in or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


async def _unsearched_neovims(call: Call, found: Sequence[FoundNeovim]) -> list[FoundNeovim]:
    """Return the attached Neovims that a search has not `found`.

    They listen at other addresses than those that are searched, such as a port. Each is asked for its facts. One that does not answer is
    missing.
    """
    shown = {peer.id for each in found if (peer := _peer_of(each, call.peers))}
    targets = [peer.target for peer in call.peers.attached.values() if peer.id not in shown]
    looks = [await discovery.look_at(target, call.debugger.project) for target in targets]
    return [each for each in looks if each is not None]


def _peer_row(peer: Peer) -> dict[str, Any]:
    return {"neovim_id": peer.id, "target": peer.target, "pid": peer.pid, "cwd": peer.cwd}


def _peer_line(peer: Peer) -> str:
    return f"{peer.id} at {peer.target} (pid {peer.pid}, in {peer.place})"


def _home(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words on a row's working directory: which it is, and whether it belongs to this project."""
    if "cwd" not in row:
        return ("in no project: its folder is not known, or was deleted",)
    return (f"in {row['cwd']}", "this project" if row["same_project"] else "another project")


def _line(row: Mapping[str, Any]) -> str:
    """Return a row of `nvim_targets` as one line.

    `row` is what `_row` makes.
    """
    state = f"attached as {row['neovim_id']}" if "neovim_id" in row else row["state"]
    facts = [
        f"pid {row['pid']}" if "pid" in row else "",
        *_home(row),
        f"waits for a key in mode {row['waits_in_mode']}" if "waits_in_mode" in row else "",
        "nvim-dap is loaded" if row.get("dap") else "",
        f"its core listens on port {row['core_port']}" if "core_port" in row else "",
    ]
    return f"{row['target']} {state}: {', '.join(filter(None, facts))}"
