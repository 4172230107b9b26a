"""Tools that start debug sessions, under dapeer's own adapter or in a Neovim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from dapeer.adapters.choice.choice import typed
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import find_python
from dapeer.adapters.definition.definition import INPUTS
from dapeer.adapters.runners.node_ids import node_id
from dapeer.base.json_types import Json
from dapeer.base.sources import expanded
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import surroundings
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import indented, lines_of
from dapeer.launch.configurations import Configuration, KnownConfigurations
from dapeer.launch.inheritance import before
from dapeer.launch.request import LaunchRequest, RequestName, given, with_paths
from dapeer.launch.start import MAX_DESCRIPTION_CHARS, Launcher, Where, names_of
from dapeer.peers.consent_kinds import (
    ALL,
    EVALUATE,
    RUN,
    VALUES,
    WRITE,
    CallKinds,
    If,
    has_condition,
)
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.reruns.repetition import RepeatUntil
from dapeer.tools.base.arguments import BreakpointArgument
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.collect_arguments import mine, of_caller
from dapeer.tools.base.schema import Unlisted
from dapeer.tools.base.stop.options import StopOptions
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.starts.running import Repeat, Running

MAX_LISTED_CONFIGURATIONS = 50
"""Configurations that are listed."""


class ConfigurationFacts(TypedDict):
    """A configuration, and where it can be started."""

    name: str
    type: str
    request: str
    origin: str
    where: list[str]
    asks: NotRequired[list[str]]


class Configurations(TypedDict):
    """The configurations that can be started by name."""

    configurations: list[ConfigurationFacts]
    problem: NotRequired[str]


_START_KINDS: Final = CallKinds(
    RUN,
    (
        If("code", EVALUATE),
        If("config", ALL, "(it may hold commands)"),
        If("configuration", ALL, "(it may hold commands)"),
        If("breakpoints", WRITE),
        If("breakpoints[].condition", EVALUATE),
        If("breakpoints[].hit_condition", EVALUATE),
        If("breakpoints[].log_message", EVALUATE),
        If("breakpoints[].collect", EVALUATE),
        If("breakpoints[].calls", EVALUATE),
        If("breakpoints[].expect", EVALUATE),
        If("exception_filters", WRITE),
        If("fresh", WRITE),
        If("exception_filters[]", EVALUATE, "with a condition", has_condition),
        *VALUES,
    ),
    "any program, with any arguments and environment: enough to run any code",
)


@tool("Configurations", section=Section.START, read_only=True, output=Configurations, starts=True)
async def dap_configurations(call: Call) -> Reply:
    """List what can be started by its name, from launch.json and Neovim, and what each asks for."""
    launcher = Launcher(call.debugger, call.peers)
    peer = launcher.peer
    problem = ""
    of_neovims: list[dict[str, Any]] = []
    types: list[str] = []
    if peer is not None:
        state = await peer.state()
        problem = f"Neovim does not answer: it {state}." if state else ""
        if not state:
            of_neovims, types = await peer.configurations(), await peer.types()
    found = await launcher.found(of_neovims)
    ready = await in_thread(_ready_types, call.debugger, found)
    rows = [
        _row(each, types, ready, call.debugger)
        for each in found.configurations[:MAX_LISTED_CONFIGURATIONS]
    ]
    lines = [indented(_line(row)) for row in rows] or ["There are no configurations."]
    cut = len(found.configurations) - len(rows)
    problem = " ".join(filter(None, [found.problem, problem]))
    lines += [f"… and {cut} more."] * bool(cut) + [problem] * bool(problem)
    data = {"configurations": rows, **({"problem": problem} if problem else {})}
    return Reply(lines_of(lines), data)


def _ready_types(debugger: Debugger, found: KnownConfigurations) -> set[str]:
    """Return the ids of the definitions that could start one of these; asking programs blocks."""
    python = find_python(None, debugger.project, surroundings(debugger.project))
    by_type = {each.type: typed(debugger.definitions, each.type) for each in found.configurations}
    by_id = {each.id: each for each in by_type.values() if each is not None}
    return {name for name, each in by_id.items() if detect(each, python=python).ready}


def _row(
    each: Configuration, types: Sequence[str], ready: set[str], debugger: Debugger
) -> dict[str, Any]:
    definition = typed(debugger.definitions, each.type)
    names = names_of(each.type, definition)
    where = ["nvim"] * any(name in types for name in names)
    where += ["direct"] * (definition is not None and definition.id in ready)
    asks = [
        shortened(str(ask), MAX_DESCRIPTION_CHARS)
        for ask in each.left_to_ask({}, {}, in_neovim="nvim" in where)
    ]
    row = {"name": each.name, "type": each.type, "request": each.request}
    row |= {"origin": each.origin, "where": where}
    return row | ({"asks": asks[:10]} if asks else {})


def _line(row: Json) -> str:
    where = ", ".join(row["where"]) or "cannot be started: no adapter is ready"
    asks = f"; asks for {'; '.join(row['asks'])}" if "asks" in row else ""
    return f"{row['name']} ({row['type']}, {row['request']}) of {row['origin']}: {where}{asks}"


@dataclass(frozen=True)
class _Target:
    """What is started, and how."""

    program: Annotated[str | None, Field(description="or URL, or a.py::test_b")] = None
    module: str | None = None
    code: str | None = None
    configuration: str | None = None
    type: Annotated[str | None, Field(description="adapter")] = None
    request: RequestName | None = None


@dataclass(frozen=True)
class _Existing:
    """What is there already: a process, a server of an adapter, a core dump."""

    pid: Annotated[int | None, Field(ge=1)] = None
    host: str | None = None
    port: Annotated[int | None, Field(ge=1, le=65535)] = None
    core: Annotated[str | None, Field(description="core dump")] = None


@dataclass(frozen=True)
class _Process:
    """The session's name, and what its process is started with."""

    name: Annotated[str | None, Unlisted()] = None
    args: Sequence[str] | None = None
    cwd: str | None = None
    env: Mapping[str, str] | None = None
    python: str | None = None


@dataclass(frozen=True)
class _Stops:
    """Where it stops."""

    breakpoints: Sequence[BreakpointArgument] = ()
    exception_filters: Annotated[list[str] | None, Field(description="[] none")] = None
    stop_on_entry: bool | None = None


@dataclass(frozen=True)
class _Debugging:
    """How it is debugged."""

    config: Annotated[Mapping[str, Any] | None, Field(description="adapter's own keys")] = None
    where: Where = "auto"
    terminal: Annotated[bool, Field(description="to type input")] = False
    follow_children: bool = True
    just_my_code: bool = True


@dataclass(frozen=True)
class _Runs:
    """What is before it, and how often it runs."""

    fresh: Annotated[bool, Field(description="end programs, drop breakpoints")] = False
    repeat: Annotated[int, Field(ge=1, description="runs")] = 1
    until: RepeatUntil | None = None


@tool("Run or attach", section=Section.START, kinds=_START_KINDS, is_lean=True, starts=True)
async def dap_run(
    call: Call,
    target: _Target,
    existing: _Existing,
    process: _Process,
    stops: _Stops,
    how: _Debugging,
    runs: _Runs,
    options: StopOptions,
) -> Reply:
    """Debug a program or attach to one, to its first stop or end."""
    debugger = call.debugger
    every = {**vars(target), **vars(process), **vars(existing), **vars(stops), **vars(how)}
    inputs = given({name: value for name, value in every.items() if name in INPUTS})
    filters, config = stops.exception_filters, how.config or {}
    request = LaunchRequest(
        target.type, target.request, process.name or "", inputs, config, filters
    )
    placed, functions = of_caller(call, stops.breakpoints, target.program or "")
    collects = debugger.breakpoints.collects or any(each.records for each in stops.breakpoints)
    again = Repeat(runs.repeat, runs.until, collects)
    launcher = Launcher(debugger, call.peers)
    start = await launcher.start(request, target.configuration, again.place(how.where))
    again.check(start)
    around = _folders_named(request, start.folder, debugger.project)
    in_files = with_paths(placed, start.folder, debugger.project, around)
    breakpoints = mine(call, in_files, start.adapter)
    inherited = await before(
        debugger, call.focus, breakpoints, functions, filters, fresh=runs.fresh
    )
    running = Running(call, start, breakpoints, functions, inherited)
    return await running.run(again, options, stops=bool(stops.stop_on_entry or existing.core))


def _folders_named(request: LaunchRequest, cwd: Path, project: Path) -> list[Path]:
    """Return the folders of the files that a request names as its program, or as arguments of it."""
    program, args = request.inputs.get("program"), request.inputs.get("args") or ()
    named = [node_id(str(each), cwd, project)[0] for each in (program, *args) if each]
    paths = [base / expanded(each) for each in named for base in (cwd, project)]
    return [each.parent for each in paths if foreign_files.is_file(each)]
