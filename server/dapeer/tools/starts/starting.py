"""Tools that start debug sessions, under dapeer's own adapter or in a Neovim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from dapeer.adapters.choice.choice import typed
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import find_python
from dapeer.base.json_types import Json
from dapeer.base.system.environment import surroundings
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import indented, lines_of
from dapeer.launch.configurations import Configuration, KnownConfigurations
from dapeer.launch.repeat import Repeat
from dapeer.launch.request import LaunchRequest, RequestName, given, with_paths
from dapeer.launch.start import MAX_DESCRIPTION_CHARS, Launcher, Where, names_of
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.repetition import RepeatUntil
from dapeer.tools.base.arguments import BreakpointArgument, Milliseconds
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.collecting import mine, of_caller
from dapeer.tools.base.schema import Unlisted
from dapeer.tools.base.stop_options import Evaluate, Show, StopOptions, WaitUntilPaused
from dapeer.tools.base.tool import tool
from dapeer.tools.starts.inheritance import before
from dapeer.tools.starts.running import Running

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


@tool("Configurations", read_only=True, output=Configurations, starts=True)
async def dap_configurations(call: Call) -> Reply:
    """List what can be started by its name, from launch.json and Neovim, and what each asks for."""
    launcher = Launcher(call.debugger, call.peers)
    peer = launcher.peer
    problem = ""
    told: list[dict[str, Any]] = []
    types: list[str] = []
    if peer is not None:
        state = await peer.state()
        problem = f"Neovim does not answer: it {state}." if state else ""
        if not state:
            told, types = await peer.configurations(), await peer.types()
    found = await launcher.found(told)
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
    wanted = {each.type: typed(debugger.definitions, each.type) for each in found.configurations}
    by_id = {each.id: each for each in wanted.values() if each is not None}
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


@tool("Run or attach", starts=True)
async def dap_run(
    call: Call,
    program: Annotated[str | None, Field(description="or URL, or a.py::test_b")] = None,
    module: str | None = None,
    code: str | None = None,
    configuration: str | None = None,
    type: Annotated[str | None, Field(description="adapter")] = None,  # noqa: A002
    request: RequestName | None = None,
    pid: Annotated[int | None, Field(ge=1)] = None,
    host: str | None = None,
    port: Annotated[int | None, Field(ge=1, le=65535)] = None,
    core: Annotated[str | None, Field(description="core dump")] = None,
    name: Annotated[str | None, Unlisted()] = None,
    args: Sequence[str] | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    python: str | None = None,
    breakpoints: Sequence[BreakpointArgument] = (),
    exception_filters: list[str] | None = None,
    stop_on_entry: bool | None = None,
    config: Annotated[Mapping[str, Any] | None, Field(description="adapter's own keys")] = None,
    where: Where = "auto",
    terminal: Annotated[bool, Field(description="to type input")] = False,
    follow_children: bool = True,
    just_my_code: bool = True,
    fresh: Annotated[bool, Field(description="end all programs, drop breakpoints")] = False,
    repeat: Annotated[int, Field(ge=1, description="runs, ended by `until`")] = 1,
    until: RepeatUntil | None = None,
    evaluate: Evaluate = (),
    show: Show = None,
    wait_until_paused: WaitUntilPaused = True,
    timeout_ms: Milliseconds = 30_000,
) -> Reply:
    """Debug a program or attach to one, to its first stop or end."""
    debugger = call.debugger
    inputs = {"program": program, "module": module, "code": code, "args": args, "cwd": cwd}
    inputs |= {"env": env, "python": python, "pid": pid, "host": host, "port": port, "core": core}
    inputs |= {"stop_on_entry": stop_on_entry, "terminal": terminal}
    inputs |= {"follow_children": follow_children, "just_my_code": just_my_code}
    asked = LaunchRequest(type, request, name or "", given(inputs), config or {}, exception_filters)
    placed, functions = of_caller(call, breakpoints, program or "")
    collects = debugger.breakpoints.collects or any(each.records for each in breakpoints)
    again = Repeat(repeat, until, collects)
    start = await Launcher(debugger, call.peers).start(asked, configuration, again.place(where))
    again.check(start)
    wanted = mine(call, with_paths(placed, start.folder, debugger.project), start.adapter)
    inherited = await before(call, wanted, functions, exception_filters, fresh=fresh)
    running = Running(call, start, wanted, functions, inherited)
    shown = StopOptions(evaluate, show, wait_until_paused)
    return await running.run(again, timeout_ms, shown, stops=bool(stop_on_entry or core))


TOOLS = (dap_configurations, dap_run)
