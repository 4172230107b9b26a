"""Tools that start debug sessions: here, or in the Neovim of a person who wants to see them."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, cast

from anyio import to_thread
from pydantic import Field
from typing_extensions import TypedDict

from dapeer.adapters.choice.choice import typed
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import find_python
from dapeer.adapters.definition.definition import Definition
from dapeer.dap.types import SourceBreakpoint
from dapeer.errors import AdapterUnknown, ArgumentError
from dapeer.launch.configurations import (
    NVIM,
    Configuration,
    Found,
    argument_for,
    in_neovim,
    in_project,
    together,
)
from dapeer.peers import Peer, unsaved
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.plan import Plan
from dapeer.sessions.pushes import Push
from dapeer.sessions.session import Session
from dapeer.system.environment import surroundings
from dapeer.tools.base.arguments import BreakpointArgument, Milliseconds
from dapeer.tools.base.asked import Asked, Evaluate, Show, WaitUntilPaused
from dapeer.tools.base.notes import located, noted
from dapeer.tools.base.tool import Call, Reply, Unlisted, tool
from dapeer.tools.base.waiting import next_stop
from dapeer.tools.inheritance import before
from dapeer.tools.targets import (
    LaunchRequest,
    RequestName,
    check_attach,
    check_interpreter,
    checked,
    folder_of,
    plain,
    plan_of,
    tests_of,
    wanted_breakpoints,
)

NOTHING_TO_WAIT_FOR = 1000
"""Milliseconds to wait for a stop after an attach that nothing is going to stop."""
LISTED = 50
"""Configurations that are listed."""
LONGEST = 120
"""Characters of what a configuration asks for."""

Json = Mapping[str, Any]
Where = Literal["auto", "nvim", "direct"]


@dataclass(frozen=True, slots=True)
class InNeovim:
    """Something to start in a Neovim, in its own words."""

    peer: Peer
    options: Json
    launched: bool


class ConfigurationFacts(TypedDict):
    """A configuration, and where it can be started."""

    name: str
    type: str
    request: str
    origin: str
    where: list[str]
    asks: NotRequired[list[str]]


class Configurations(TypedDict):
    """What can be started by name."""

    configurations: list[ConfigurationFacts]
    problem: NotRequired[str]


@tool("Configurations", read_only=True, output=Configurations, starts=True)
async def dap_configurations(call: Call) -> Reply:
    """List what dap_run can start by name, from launch.json and Neovim, and what each asks for."""
    peer = _peer(call)
    problem = ""
    told: list[dict[str, Any]] = []
    types: list[str] = []
    if peer is not None:
        state = await peer.state()
        problem = f"Neovim does not answer: it {state}." if state else ""
        if not state:
            told, types = await peer.configurations(), await peer.types()
    found = await _found(call, told)
    ready = await to_thread.run_sync(_ready_types, call.debugger, found)
    rows = [_row(each, types, ready, call.debugger) for each in found.configurations[:LISTED]]
    lines = [_line(row) for row in rows] or ["There are no configurations."]
    cut = len(found.configurations) - len(rows)
    problem = " ".join(filter(None, [found.problem, problem]))
    lines += [f"… and {cut} more."] * bool(cut) + [problem] * bool(problem)
    data = {"configurations": rows, **({"problem": problem} if problem else {})}
    return Reply("\n".join(lines), data)


def _ready_types(debugger: Debugger, found: Found) -> set[str]:
    """Return the ids of the definitions that could start one of these; asking programs blocks."""
    python = find_python(None, debugger.project, surroundings(debugger.project))
    wanted = {each.type: typed(debugger.definitions, each.type) for each in found.configurations}
    by_id = {each.id: each for each in wanted.values() if each is not None}
    return {name for name, each in by_id.items() if detect(each, python=python).ready}


def _row(
    each: Configuration, types: Sequence[str], ready: set[str], debugger: Debugger
) -> dict[str, Any]:
    definition = typed(debugger.definitions, each.type)
    names = _nvim_names(each.type, definition)
    where = ["nvim"] * any(name in types for name in names)
    where += ["direct"] * (definition is not None and definition.id in ready)
    asks = [str(ask)[:LONGEST] for ask in each.left_to_ask({}, {}, in_neovim="nvim" in where)]
    row = {"name": each.name, "type": each.type, "request": each.request}
    row |= {"origin": each.origin, "where": where}
    return row | ({"asks": asks[:10]} if asks else {})


def _line(row: Json) -> str:
    where = ", ".join(row["where"]) or "cannot be started here: no adapter is ready"
    asks = f"; asks for {'; '.join(row['asks'])}" if "asks" in row else ""
    return f"{row['name']} ({row['type']}, {row['request']}) of {row['origin']}: {where}{asks}"


@tool("Run or attach", starts=True)
async def dap_run(
    call: Call,
    program: Annotated[str | None, Field(description="or a test: a.py::test_b")] = None,
    module: str | None = None,
    code: str | None = None,
    configuration: str | None = None,
    type: Annotated[str | None, Field(description="adapter; guessed from the program")] = None,  # noqa: A002
    request: RequestName | None = None,
    pid: Annotated[int | None, Field(ge=1)] = None,
    host: str | None = None,
    port: Annotated[int | None, Field(ge=1, le=65535)] = None,
    core: Annotated[str | None, Field(description="a core dump")] = None,
    name: Annotated[str | None, Unlisted()] = None,
    args: Sequence[str] | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    python: str | None = None,
    breakpoints: Sequence[BreakpointArgument] = (),
    exception_filters: list[str] | None = None,
    stop_on_entry: bool | None = None,
    config: Annotated[Mapping[str, Any] | None, Field(description="adapter-specific keys")] = None,
    where: Annotated[Where, Field(description="in nvim-dap, or not")] = "auto",
    terminal: Annotated[bool, Field(description="for dap_send_input")] = False,
    follow_children: bool = True,
    just_my_code: bool = True,
    fresh: Annotated[bool, Field(description="end earlier programs, drop breakpoints")] = False,
    evaluate: Evaluate = (),
    show: Show = None,
    wait_until_paused: WaitUntilPaused = True,
    timeout_ms: Milliseconds = 30_000,
) -> Reply:
    """Debug a program, or attach to one, and return its first stop or its end."""
    project = call.debugger.project
    inputs = {"program": program, "module": module, "code": code, "args": args, "cwd": cwd}
    inputs |= {"env": env, "python": python, "pid": pid, "host": host, "port": port, "core": core}
    inputs |= {"stop_on_entry": stop_on_entry, "terminal": terminal or None}
    wanted = {"follow_children": follow_children, "just_my_code": just_my_code}
    inputs |= {name: False for name, value in wanted.items() if not value}
    given = {key: plain(value) for key, value in inputs.items() if value is not None}
    wish = LaunchRequest(type, request, name or "", given, config or {}, exception_filters)
    start = await _start(call, wish, configuration, where)
    base = Path(str(start.inputs["cwd"])) if isinstance(start, Plan) else folder_of(cwd, project)
    wanted = wanted_breakpoints(breakpoints, base, project)
    inherited = await before(call, wanted, filters=exception_filters is not None, fresh=fresh)
    session, push = await _started(call, start, wanted)
    can_stop = start.launched or stop_on_entry or core or call.debugger.breakpoints.by_path
    limit = timeout_ms if can_stop else min(timeout_ms, NOTHING_TO_WAIT_FOR)
    asked = Asked(evaluate, show, wait_until_paused)
    reply = await next_stop(call, session, 0, limit, asked=asked)
    return noted(reply, [*located(call, session), *await inherited.told(session, push)])


# -- what to start, and where


async def _start(
    call: Call, wish: LaunchRequest, configuration: str | None, where: Where
) -> Plan | InNeovim:
    if configuration is None:
        return await _by_arguments(call, wish, where)
    peer = _peer(call)
    told: list[dict[str, Any]] = []
    # A Neovim that waits for a key must not keep anybody from starting without it.
    if peer is not None and (where != "direct" or await peer.state() is None):
        told = await peer.configurations()
    found = await _found(call, told)
    chosen = found.named(configuration, wish.type)
    if wish.request not in {None, chosen.request}:
        raise ArgumentError(
            f"`{chosen.name}` is a configuration for {chosen.request}, not {wish.request}.",
            "Leave `request` out.",
        )
    return await _by_name(call, wish, chosen, where)


async def _by_arguments(call: Call, wish: LaunchRequest, where: Where) -> Plan | InNeovim:
    debugger = call.debugger
    request = "attach" if "core" in wish.inputs else wish.request or "launch"
    inputs = checked(wish.inputs, debugger.project, request)
    if request == "attach" and not wish.config and "core" not in inputs:
        check_attach(inputs.get("pid"), inputs.get("port"))
    wish, inputs = await tests_of(wish, request, inputs)
    if wish.type is not None and typed(debugger.definitions, wish.type) is None:
        # A type that only nvim-dap may know, whose keys are the usual ones.
        there = await _neovim(call, where, (wish.type,))
        if there is not None:
            named = Configuration(wish.name or wish.type, wish.type, request, NVIM, {})
            return _verbatim(there, wish, named, inputs)
    plan = await to_thread.run_sync(plan_of, debugger, wish, request, inputs, wish.config)
    # nvim-dap maps no paths; where an adapter does not either, only we can. Nor does it open a terminal
    # unless the adapter asks for one.
    where = (
        "direct"
        if (plan.mappings or plan.in_our_terminal or plan.core) and where == "auto"
        else where
    )
    there = await _neovim(call, where, plan.definition.names)
    return await _here(plan) if there is None else _translated(there, plan, wish)


async def _by_name(
    call: Call, wish: LaunchRequest, chosen: Configuration, where: Where
) -> Plan | InNeovim:
    debugger = call.debugger
    definition = typed(debugger.definitions, chosen.type)
    there = await _neovim(call, where, _nvim_names(chosen.type, definition))
    _refuse_asking(chosen, wish, in_neovim=there is not None)
    own = definition is not None and chosen.type in definition.names
    if there is not None and (own or there[1] == chosen.type):
        ours = _in_its_words(definition, wish) if definition else {}
        wished = replace(wish, config={**ours, **wish.config})
        return _verbatim(there, wished, chosen, checked(wish.inputs, debugger.project))
    if definition is None:
        types = ", ".join(sorted(debugger.definitions))
        raise AdapterUnknown(f"There is no adapter of type `{chosen.type}`.", f"Types: {types}.")
    if chosen.request not in {"launch", "attach"}:
        raise ArgumentError(f"`{chosen.name}` has no request that is launch or attach.", "Mend it.")
    request = cast("RequestName", chosen.request)
    split, config = chosen.split(wish.inputs, wish.config)
    inputs = checked(split, debugger.project, request)
    named = replace(wish, type=chosen.type, name=wish.name or chosen.name)
    plan = await to_thread.run_sync(plan_of, debugger, named, request, inputs, config)
    return await _here(plan) if there is None else _translated(there, plan, named)


async def _here(plan: Plan) -> Plan:
    """Return how we start it ourselves, when we can."""
    await to_thread.run_sync(check_interpreter, plan)
    return plan


def _nvim_names(kind: str, definition: Definition | None) -> tuple[str, ...]:
    """Return what nvim-dap may call the adapter of a type, its own name first."""
    return (kind, *(definition.names if definition else ()))


def _refuse_asking(chosen: Configuration, wish: LaunchRequest, *, in_neovim: bool) -> None:
    asks = chosen.left_to_ask(wish.inputs, wish.config, in_neovim=in_neovim)
    if asks:
        listed = "; ".join(str(ask)[:LONGEST] for ask in asks[:10])
        fields = ", ".join(dict.fromkeys(argument_for(ask) for ask in asks if ask.field))
        raise ArgumentError(
            f"`{chosen.name}` asks the person: {listed}.",
            f"Give {fields}." if fields else "Start the program without it.",
        )


def _translated(there: tuple[Peer, str], plan: Plan, wish: LaunchRequest) -> InNeovim:
    """Return what we would start ourselves as a configuration of nvim-dap."""
    peer, kind = there
    if plan.mappings:
        raise ArgumentError(
            f"In Neovim nobody maps paths for {plan.definition.id}.",
            "Start it with where='direct'.",
        )
    if plan.in_our_terminal:
        raise ArgumentError(
            f"In Neovim nobody opens a terminal for {plan.definition.id}.",
            "Start it with where='direct'.",
        )
    arguments = plan.definition.arguments(plan.request, plan.inputs, plan.config)
    named = {"type": kind, "request": plan.request, "name": plan.title()}
    return InNeovim(peer, {"config": {**arguments, **named}, **wish.opts}, plan.launched)


def _verbatim(
    there: tuple[Peer, str], wish: LaunchRequest, chosen: Configuration, inputs: Json
) -> InNeovim:
    """Return a configuration as it stands, with what the caller has given over it."""
    peer, kind = there
    given = {key: inputs[key] for key in wish.inputs if key not in _OURS}
    keys = chosen.keys(given, wish.config)
    launched = chosen.request == "launch"
    if chosen.origin == NVIM and chosen.filetype:
        named = {"type": kind, "name": wish.name or chosen.name}
        how = {"configuration": chosen.name, "filetype": chosen.filetype}
        return InNeovim(peer, {**how, "overrides": {**keys, **named}, **wish.opts}, launched)
    named = {"type": kind, "request": chosen.request, "name": wish.name or chosen.name}
    return InNeovim(peer, {"config": {**chosen.values, **keys, **named}, **wish.opts}, launched)


_OURS = ("terminal", "follow_children", "just_my_code")
"""Arguments that no adapter knows by these names."""


def _in_its_words(definition: Definition, wish: LaunchRequest) -> dict[str, Any]:
    """Return such arguments as the adapter knows them."""
    given = [name for name in _OURS if name in wish.inputs]
    said = [each.arguments for each in definition.launch_variants if set(each.given) & {*given}]
    template = definition.launch.items()
    keys = {key: wish.inputs[n] for n in given for key, value in template if value == f"${{{n}}}"}
    return dict(collections.ChainMap(*map(dict, said), keys))


# -- Neovim


def _peer(call: Call) -> Peer | None:
    """Return the Neovim of the person who works on the project: the only one, or the first of it."""
    peers = list(call.peers.attached.values())
    project = call.debugger.project.resolve()
    here = [peer for peer in peers if Path(peer.cwd).resolve().is_relative_to(project)]
    return next(iter(here or peers[:1]), None)


async def _neovim(call: Call, where: Where, names: Sequence[str]) -> tuple[Peer, str] | None:
    """Return the Neovim to start in, and its name of the type; None: start without one."""
    if where == "direct":
        return None
    peer = call.peers.peer() if where == "nvim" and not call.peers.attached else _peer(call)
    if peer is None:
        return None
    types = await peer.types()
    kind = next((name for name in names if name in types), None)
    if kind is None and where == "nvim":
        raise AdapterUnknown(
            f"nvim-dap has no adapter of type {' or '.join(dict.fromkeys(names))}.",
            f"It has: {', '.join(types) or 'none'}. where='direct' starts without Neovim.",
        )
    return None if kind is None else (peer, kind)


async def _found(call: Call, told: Sequence[Json]) -> Found:
    project = call.debugger.project
    here = await to_thread.run_sync(in_project, project)
    return together(here, in_neovim(told, project))


async def _started(
    call: Call, start: Plan | InNeovim, wanted: Sequence[tuple[str, SourceBreakpoint]]
) -> tuple[Session, Push]:
    """Start; tell the other programs of the breakpoints while this one runs."""
    debugger = call.debugger
    paths = {path for path, _ in wanted}
    if isinstance(start, Plan):
        if start.core and wanted:
            raise ArgumentError(
                "No breakpoint is hit in a core dump: it does not run.", "Leave `breakpoints` out."
            )
        session = await debugger.start(start, wanted)
    else:
        if paths and (there := await start.peer.unsaved(sorted(paths))):
            raise unsaved(there[0])
        # nvim-dap sends what is a sign when its session begins.
        with debugger.breakpoints.wanting(wanted):
            session = await start.peer.run(start.options)
    debugger.expect(session, ((path, each["line"]) for path, each in wanted))
    call.focus.started(session)
    return session, debugger.push(*paths, started=session if isinstance(start, Plan) else None)


TOOLS = (dap_configurations, dap_run)
