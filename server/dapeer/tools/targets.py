"""What a caller wants to be started, checked before anything happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from dapeer.adapters.choice.attachable import check_port, check_process, choose_for_process
from dapeer.adapters.choice.choice import able, choose
from dapeer.adapters.choice.core_dump import read_core
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import check_version, find_python
from dapeer.adapters.definition.definition import LOOPBACK, Definition, names_in
from dapeer.adapters.definition.magic import above
from dapeer.adapters.mappings import taken
from dapeer.adapters.runners.named_tests import Launch, Named, launch_of
from dapeer.adapters.runners.test_files import as_program, node_id
from dapeer.dap.types import SourceBreakpoint
from dapeer.errors import ArgumentError
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.plan import Plan
from dapeer.system.environment import surroundings
from dapeer.tools.base.arguments import BreakpointArgument, check_line, expanded, source_file

Json = Mapping[str, Any]
RequestName = Literal["launch", "attach"]


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What a caller has asked to be started; what was not given is not there."""

    type: str | None
    request: RequestName | None
    name: str
    inputs: Json
    config: Json
    filters: Sequence[str] | None
    functions: Sequence[str] = ()
    """Functions to stop in."""
    conditions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the filters."""
    tests: Named | None = None

    @property
    def opts(self) -> dict[str, Any]:
        """Return what Neovim is told besides the configuration."""
        return {} if self.filters is None else {"exception_filters": list(self.filters)}


def plain(value: object) -> object:
    """Return a value as JSON has it."""
    match value:
        case Mapping():
            return dict(cast("Json", value))
        case list() | tuple():
            return list(cast("Sequence[object]", value))
        case _:
            return value


def checked(inputs: Json, project: Path, request: str = "launch") -> dict[str, Any]:
    """Return the arguments with absolute paths that exist."""
    where = folder_of(inputs.get("cwd"), project)
    checked = {**inputs, "cwd": str(where)}
    if "core" in inputs:
        return {**checked, **_with_core(inputs, where, project)}
    if request == "launch" and inputs.get("program") is not None:
        checked["program"] = _program(str(inputs["program"]), where, project)
    return checked


def folder_of(cwd: str | None, project: Path) -> Path:
    """Return the folder to run in, default the project.

    Raises:
        ArgumentError: There is no such folder.
    """
    folder = (project / expanded(cwd)).absolute() if cwd else project
    if not folder.is_dir():
        raise ArgumentError(f"`cwd`: {folder} is no directory.", "Give an existing one.")
    return folder


def _program(program: str | None, cwd: Path, project: Path) -> str | None:
    """Return the absolute path of a program, given absolute or relative to `cwd` or the project.

    A test by its node id is the file that it is in, and what names it there.
    """
    if program is None:
        return None
    file, test = node_id(program)
    tried = [(base / expanded(file)).absolute() for base in (cwd, project)]
    for path in tried:
        if path.exists():
            return f"{path}{test}"
    raise ArgumentError(f"`program`: {tried[0]} does not exist.", "Give an existing file.")


def check_attach(pid: int | None, port: int | None) -> None:
    """Refuse to attach to nothing."""
    if pid is None and port is None:
        raise ArgumentError("There is nothing to attach to.", "Give `pid`, or `port` and `host`.")


def _with_core(inputs: Json, where: Path, project: Path) -> dict[str, Any]:
    """Return the absolute paths of a core dump and of the program that it is of.

    Raises:
        ArgumentError: It is no core dump, or does not tell its program and nobody has.
    """
    path = str(where / expanded(str(inputs["core"])))
    program = inputs.get("program") or read_core(path).program
    if not program:
        raise ArgumentError(f"`core`: {path} does not tell its program.", "Give `program`, too.")
    return {"core": path, "program": _program(str(program), where, project)}


def _check_reach(debugger: Debugger, definition: Definition, inputs: Json) -> None:
    """Refuse what cannot be attached to; adapters often do not answer at all then."""
    pid, port = inputs.get("pid"), inputs.get("port")
    if pid is not None:
        check_process(definition, pid)
        for session in debugger.sessions.values():
            if not session.over and session.mirror.process.get("systemProcessId") == pid:
                raise ArgumentError(
                    f"Process {pid} is debugged already, in session {session.id}.",
                    "Go on there, or dap_disconnect it first.",
                )
    elif port is not None:
        check_port(str(inputs.get("host") or LOOPBACK), port, definition.attach.get("tcp"))


def _definition(
    debugger: Debugger, kind: str | None, request: str, inputs: Mapping[str, Any]
) -> Definition:
    targets = {name: inputs.get(name) for name in ("program", "module", "code")}
    if targets["program"] is not None:
        targets["program"] = node_id(str(targets["program"]))[0]
    if request == "attach" and kind is None and not any(targets.values()):
        there = {name: inputs.get(name) for name in ("pid", "port")}
        return choose_for_process(debugger.definitions, ready=_is_ready, **there)
    return choose(debugger.definitions, type=kind, ready=_is_ready, **targets)


def _is_ready(definition: Definition) -> bool:
    return detect(definition).ready


def wanted_breakpoints(
    breakpoints: Sequence[BreakpointArgument], cwd: Path, project: Path
) -> list[tuple[str, SourceBreakpoint]]:
    """Return the breakpoints with the absolute paths of their files, all of them checked."""
    wanted = [
        (_breakpoint_file(each.filename, cwd, project), each.wanted()) for each in breakpoints
    ]
    for path, each in wanted:
        check_line(path, each["line"])
    return wanted


def _breakpoint_file(filename: str, cwd: Path, project: Path) -> str:
    return source_file(filename, cwd if (cwd / filename).is_file() else project)


def _interpreter(inputs: Json, project: Path) -> str:
    cwd, program = Path(inputs["cwd"]), inputs.get("program")
    file = None if program is None else node_id(str(program))[0]
    return find_python(inputs.get("python"), cwd, surroundings(cwd), project=project, program=file)


def check_interpreter(plan: Plan) -> None:
    """Refuse a program that our adapter cannot debug, because its interpreter is too old.

    It may run the interpreter to ask: call it in a thread.
    """
    python, cwd = plan.inputs.get("python"), Path(str(plan.inputs["cwd"]))
    if python is not None and plan.launched:
        check_version(str(python), plan.definition.interpreter, cwd)


def _project_of(inputs: Json, project: Path) -> Path:
    """Return the folder of the project that a program belongs to: ours, unless it lies elsewhere.

    There it is the nearest folder above that looks like a project. A home is none: what an adapter
    searches there takes it minutes.
    """
    program = inputs.get("program")
    folder = Path(node_id(str(program))[0]).parent if program else Path(inputs["cwd"])
    if folder.is_relative_to(project) and project not in _NO_PROJECTS:
        return project
    mark = above(folder, _MARKS)
    return mark.parent if mark is not None else folder


_NO_PROJECTS = (Path.home(), Path("/"))
_MARKS = (".git/HEAD", "package.json", "pyproject.toml", "go.mod", "Cargo.toml", "CMakeLists.txt")


def plan_of(
    debugger: Debugger, wish: LaunchRequest, request: RequestName, given: Json, config: Json
) -> Plan:
    """Return how we would start it ourselves, from arguments that are checked.

    Where several adapters fit, it may ask programs for their versions: call it in a thread.

    Raises:
        AdapterUnknown: No adapter fits.
    """
    inputs: dict[str, Any] = {"args": [], "stop_on_entry": False, **given}
    inputs["project"] = str(_project_of(inputs, debugger.project))
    definition = _definition(debugger, wish.type, request, inputs)
    if "python" in names_in(definition.launch, definition.transport):
        inputs["python"] = _interpreter(inputs, debugger.project)
    if definition.tests is not None and request == "launch":
        inputs, config, name = as_program(definition.tests, inputs, config)
        wish = replace(wish, name=wish.name or name)
    if request == "attach":
        _check_reach(debugger, definition, inputs)
    for useless in definition.useless(request, inputs, config):
        there = able(debugger.definitions, definition, useless, _is_ready)
        raise definition.refusal(request, useless, there if request == "launch" else ())
    chosen = debugger.breakpoints.exceptions if wish.filters is None else wish.filters
    if request == "launch" and (needed := definition.stopping.filters.environment(chosen)):
        inputs["env"] = {**needed, **(inputs.get("env") or {})}
    config, mappings = taken(definition, config, debugger.project)
    core = read_core(inputs["core"]) if "core" in inputs else None
    return Plan(
        definition, request, inputs, config, wish.name, wish.filters, wish.functions, wish.conditions,
        wish.tests, mappings, core,
    )  # fmt: skip


def _stops(launch: Launch) -> dict[str, Any]:
    """Return where failing tests stop, unless somebody has said where to."""
    conditions = {name: text for name, text in (launch.exceptions or {}).items() if text}
    filters = None if launch.exceptions is None else tuple(launch.exceptions)
    return {"filters": filters, "functions": launch.functions, "conditions": conditions}


async def tests_of(
    wish: LaunchRequest, request: RequestName, inputs: Json
) -> tuple[LaunchRequest, Json]:
    """Return what to start, and its arguments, in the words of a test runner if it is tests.

    Raises:
        DapeerError: No runner is known for them, they cannot be built, or there are none of the name.
    """
    launch = await launch_of(inputs) if request == "launch" else None
    if launch is None:
        return wish, inputs
    told = replace(
        wish,
        type=wish.type or launch.type,
        name=wish.name or launch.title,
        config={**launch.config, **wish.config},
        **(_stops(launch) if wish.filters is None else {}),
        tests=launch.named,
    )
    return told, launch.inputs
