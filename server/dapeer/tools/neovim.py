"""Tools that list Neovims and attach to them, and the tools that attached ones offer."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from dapeer.base.errors import ArgumentError, NoNeovim
from dapeer.base.json_types import Json
from dapeer.base.schemas import convert_arguments, problem_of, without_filled
from dapeer.neovim import discovery
from dapeer.neovim.discovery import FoundNeovim
from dapeer.neovim.sockets import normalize_address
from dapeer.peers import OTHERS, Action, LuaTool, Peer, Peers
from dapeer.peers.consent_kinds import ALL, NOTHING, RUNS, CallKinds, Kinds
from dapeer.tools.base.call import AnyTool, Call, Reply, compact, reply_of, run_with_consent
from dapeer.tools.base.schema import schema_for_list, shorten_schema
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

    `target` is an address (a socket's path or `host:port`) or a process id as text; `auto` attaches to all Neovims
    of the project that respond. One that is attached already stays so, and is in the answer, too. If one of several
    cannot be attached to, the call fails; those before it stay attached. The data has `attached`, a list with a
    dict for each: `neovim_id`, `target`, `pid` and `cwd`.

    Raises:
        NoNeovim: None fits, none of the project responds, or it belongs to another user.
        NeovimBusy: It has not attached in time.
        NeovimError: It does not answer, or cannot be attached to.
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

    The keys that are always there are `target` (its address), `state` (`attached`, or else `free`, or `busy`: it
    has not answered in time) and `same_project` (whether its folder belongs to dapeer's project; False if the
    folder is not known). There may be `neovim_id` (of an attached one only), `pid`, `cwd` (a text), `version`,
    `plugin` (dapeer's plugin is `loaded` or `loadable`), `core_port` (where the dapeer server listens that runs in
    it), `waits_in_mode` (the mode in which it waits for a key) and, if it has answered in time, `dap` (whether
    nvim-dap is loaded). Nothing is asked of the Neovim.
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
    """Return a row of `nvim_targets` as one line: target, state, and other facts that are known.

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


# The tools of attached Neovims, and two tools for clients that ignore changes of the tool list.

PREFIX: Final = "nvim_"
READING: Final = ("editor", "buffer_read")
"""The group and name of the tool that shows whole files."""
CONNECTION: Final = "connection_id"
"""The argument that selects a Neovim, if several have the tool."""
GROUPS: Final = (
    "diagnostics", "lsp", "undo", "editor", "documents", "diff", "interview", "exec", "test", OTHERS,
)  # fmt: skip
"""Groups of the plugin's tools, and of all others, which can be named before a Neovim is attached."""


@dataclass(frozen=True, slots=True)
class NeovimTool:
    """One tool of one or several Neovims that describe it alike."""

    name: str
    """Its name in the tool list."""
    spec: LuaTool
    homes: Sequence[Peer]

    @property
    def title(self) -> str:
        """The title for people."""
        return self.spec.title

    @property
    def description(self) -> str:
        """The description for a model."""
        return self.spec.description

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.spec.read_only

    @property
    def destructive(self) -> bool:
        """Whether something may be lost."""
        return self.spec.destructive

    @property
    def idempotent(self) -> bool:
        """Whether calling it again changes nothing more."""
        return self.spec.idempotent

    @property
    def groups(self) -> Sequence[str]:
        """The names by which `--tools` selects it: `nvim`, and the group that its author gives."""
        return (PREFIX.rstrip("_"), self.spec.group)

    @property
    def output_schema(self) -> None:
        """None: a tool of Neovim does not specify its data."""
        return

    @property
    def input_schema(self) -> Json:
        """The JSON Schema of its arguments, with `connection_id` as a required one if several Neovims have it.

        That of a tool of other authors is as they wrote it; any other is shortened as for the list of tools.
        """
        # Schemas of other authors are not changed.
        return (
            self._schema
            if self.spec.group == OTHERS
            else schema_for_list(shorten_schema(self._schema))
        )

    @property
    def _schema(self) -> Json:
        """The JSON Schema of the tool's arguments as its author wrote it: the object itself, not a copy.

        It must not be changed. If several Neovims have the tool, and the tool has no argument `connection_id` of its
        own, a new object is returned instead, whose parts are shared: `connection_id` is an additional required
        argument there, whose `enum` has the ids of these Neovims.
        """
        schema = self.spec.input_schema
        if not self._needs_connection_id:
            return schema
        homes = "; ".join(f"{peer.id}: {peer.place}" for peer in self.homes)
        which = {"type": "integer", "enum": [peer.id for peer in self.homes], "description": homes}
        return {
            **schema,
            "properties": {CONNECTION: which, **schema.get("properties", {})},
            "required": [CONNECTION, *schema.get("required", ())],
        }

    @property
    def _needs_connection_id(self) -> bool:
        """Whether the caller has to select a Neovim by an argument that is not the tool's own."""
        return len(self.homes) > 1 and CONNECTION not in self.spec.input_schema.get(
            "properties", {}
        )

    async def __call__(self, call: Call, arguments: Json) -> Reply:
        """Check the arguments, ask the person in that Neovim for consent where needed, and run the tool there.

        Old names of arguments are replaced, and values converted if their meaning is clear.

        Raises:
            ArgumentError: An argument is unknown, missing or of a wrong type; nothing has happened.
            RefusedByPerson: The person did not allow it; nothing has happened.
            NeovimError: Neovim does not answer, or the tool failed.
        """
        named = self._with_present_names(arguments)
        if self._may_be_filled(named):
            named = without_filled(named, self._schema).arguments
        given = convert_arguments(named, self._schema)
        await self._check(given)
        peer = self._choose_neovim(given)
        work = functools.partial(self._run, call, peer, given)
        foreign: Kinds = ("read",) if await self._is_foreign(call, peer, given) else ()
        kinds = (*self._kinds(given), *foreign)
        action = Action(self.name, kinds, given, call.client) if kinds else None
        return await run_with_consent(peer.approvals, action, work)

    def _with_present_names(self, arguments: Json) -> Json:
        """Return a copy of the arguments in which old names are replaced by the present ones.

        The tool's author has declared the old names. One stays if the present name is given, too. Of several old
        names of one present name the last argument counts.
        """
        older = {
            name: now
            for name, now in self.spec.older_names.items()
            if name in arguments and now not in arguments
        }
        return {older.get(name, name): one for name, one in arguments.items()}

    def _may_be_filled(self, arguments: Json) -> bool:
        """Whether empty arguments of a call count as left out.

        A call that writes could write more without them, and a tool of other authors may mean them.
        """
        return self.spec.group != OTHERS and "write" not in self._kinds(arguments)

    def _kinds(self, arguments: Json) -> Kinds:
        """Return the kinds of action for which a call with these arguments needs consent; empty: for none."""
        when = self.spec.action_when
        return self.spec.kinds if when is None or arguments.get(when) else ()

    async def _is_foreign(self, call: Call, peer: Peer, given: Json) -> bool:
        """Whether the call would show a file of no project or library, which the person has not open.

        `peer` is the Neovim that is asked whether the file is open. False for any tool but the one that reads files.
        """
        if (self.spec.group, self.spec.name) != READING:
            return False
        path = call.debugger.files.path_needing_consent(str(given.get("filename") or ""), peer.cwd)
        # The person has opened the file, so the assistant may read it.
        return bool(path) and not await peer.neovim.call("return vim.fn.bufloaded(...)", path)

    async def _check(self, given: Json) -> None:
        """Raise an error if the arguments do not fit the tool's schema, or do not select a Neovim.

        Selecting one is needed if several have the tool. `given` are the arguments, already converted where
        their meaning is clear.

        Raises:
            ArgumentError: The arguments do not fit or select no Neovim, or cannot be checked. The error names
                the first wrong argument and what is allowed, or says why nothing could be checked.
        """
        if self._needs_connection_id and CONNECTION not in given:
            homes = "; ".join(f"{peer.id}: {peer.place}" for peer in self.homes)
            raise ArgumentError(
                f"Several Neovims have {self.name}: choose one by `{CONNECTION}` ({homes}).",
                "nvim_targets lists them.",
            )
        takes = self._schema.get("properties", {})
        # A caller may always select a Neovim, even if there is no choice.
        arguments = {
            name: one for name, one in given.items() if name != CONNECTION or name in takes
        }
        if self.spec.group == OTHERS:
            problem = await self.homes[0].judge.problem_of(arguments, self._schema)
        else:
            problem = problem_of(arguments, self._schema)
        if problem:
            raise ArgumentError(problem)

    def _choose_neovim(self, given: dict[str, Any]) -> Peer:
        """Return the Neovim that runs the call: the one that `connection_id` selects, or the first.

        `given` are the call's arguments. `connection_id` is removed from them in place, unless the tool itself
        has an argument of this name: that one stays, and selects a Neovim only if several have the tool.

        Raises:
            ArgumentError: The selected Neovim does not have the tool.
        """
        own = CONNECTION in self.spec.input_schema.get("properties", {})
        number = given.get(CONNECTION) if own else given.pop(CONNECTION, None)
        if number is None or (own and len(self.homes) == 1):
            return self.homes[0]
        for peer in self.homes:
            if peer.id == number:
                return peer
        known = ", ".join(str(peer.id) for peer in self.homes)
        raise ArgumentError(
            f"`{CONNECTION}`: Neovim {number} does not offer {self.name}.", f"It is in: {known}."
        )

    async def _run(self, call: Call, peer: Peer, given: Json) -> Reply:
        """Run the tool in a Neovim, and return its result as a reply; the client gets its progress."""
        # Its own, which may allow more time than another Neovim's.
        spec = peer.tools.get(self.spec.name, self.spec)
        return reply_of(await peer.run_tool(spec, given, call.client, call.progress))


def neovim_tools(peers: Peers, *, taken: Collection[str]) -> Iterator[NeovimTool]:
    """Yield the tools of the attached Neovims whose names are free, each with `PREFIX` before its name.

    The others are reported to their Neovims as refused, before the first is yielded: a name is not free if it is
    in `taken`, the names of other tools, with or without `PREFIX`. Tools that several Neovims describe alike are
    one; of those that differ, the first has no suffix, and each other one has `_` and the id of the first Neovim
    that describes it so, repeated while another tool has that name.
    """
    homes: dict[str, list[tuple[LuaTool, list[Peer]]]] = {}
    for peer in peers.attached.values():
        for name, spec in peer.tools.items():
            clash = next((one for one in (PREFIX + name, name) if one in taken), None)
            if clash:
                peer.refuse_tool(name, f"dapeer has a tool {clash} of its own.")
                continue
            variants = homes.setdefault(name, [])
            alike = next((found for one, found in variants if one == spec), None)
            if alike is None:
                variants.append((spec, [peer]))
            else:
                alike.append(peer)
    used = {*taken, *(PREFIX + name for name in homes)}
    for name, ((first, found), *others) in homes.items():
        yield NeovimTool(PREFIX + name, first, found)
        for spec, there in others:
            variant = f"{PREFIX}{name}_{there[0].id}"
            while variant in used:
                variant += f"_{there[0].id}"
            used.add(variant)
            yield NeovimTool(variant, spec, there)


# -- for clients that do not follow changes of the list


@tool("List Neovim's tools", section=Section.NEOVIM, read_only=True)
async def nvim_lua_tools(
    call: Call,
    name: Annotated[str | None, Field(description="in full")] = None,
) -> Reply:
    """List tools of attached Neovims, which may be missing from your tool list.

    With `name` (its prefix `nvim_` may be left out) that tool alone is returned: the data has `name`,
    `description` and `input_schema`. Without, it has `tools`, each with `name`, `description` and `arguments`, a
    list of names in which an optional one ends with `?`; an empty list: no Neovim is attached, or it offers none.

    Raises:
        NoNeovim: A tool is named, and there are none at all.
        ArgumentError: There is no such tool.
    """
    tools = call.neovim_tools
    if name is not None:
        one = _find_tool(tools, name)
        facts = {"name": one.name, "description": one.description, "input_schema": one.input_schema}
        return Reply(compact(facts), facts)
    rows = [
        {"name": one.name, "arguments": _arguments(one), "description": one.description}
        for one in tools.values()
    ]
    lines = [f"{row['name']}({', '.join(row['arguments'])}): {row['description']}" for row in rows]
    return Reply(
        "\n".join(lines) or "No Neovim is attached, or it offers no tools.", {"tools": rows}
    )


@tool(
    "Call a tool of Neovim's",
    section=Section.NEOVIM,
    kinds=CallKinds(NOTHING, remark="asked as the tool that it calls"),
)
async def nvim_lua_call(call: Call, name: str, arguments: Mapping[str, Any] | None = None) -> Reply:
    """Call a tool of nvim_lua_tools by its name."""
    return await _find_tool(call.neovim_tools, name)(call, arguments or {})


def _find_tool(tools: Mapping[str, AnyTool], name: str) -> AnyTool:
    """Return the tool of Neovim with this name, which may lack the prefix `nvim_`.

    `tools` are those of the attached Neovims, by name.

    Raises:
        NoNeovim: There are no tools at all.
        ArgumentError: There is no such tool.
    """
    if not tools:
        raise NoNeovim("No attached Neovim offers tools.", "nvim_targets lists the Neovims.")
    for known in (name, PREFIX + name):
        if known in tools:
            return tools[known]
    raise ArgumentError(f"`name`: there is no tool {name}.", "nvim_lua_tools lists them.")


def _arguments(one: AnyTool) -> list[str]:
    """Return the names of a tool's arguments; an optional one ends with `?`."""
    schema = one.input_schema
    needed = schema.get("required", ())
    return [name if name in needed else f"{name}?" for name in schema.get("properties", {})]
