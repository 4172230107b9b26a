"""Plans a start under an adapter of dapeer: which adapter, interpreter and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dapeer.adapters.choice.attachable import check_port, check_process, choose_for_process
from dapeer.adapters.choice.choice import able, choose
from dapeer.adapters.choice.core_dump import read_core
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import check_version, find_python
from dapeer.adapters.definition.definition import LOOPBACK, Definition, names_in
from dapeer.adapters.definition.magic import above
from dapeer.adapters.mappings import taken
from dapeer.adapters.runners.named_tests import Launch, launch_of
from dapeer.adapters.runners.node_ids import as_program, node_id
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.system.environment import surroundings
from dapeer.launch.request import LaunchRequest, RequestName
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.plan import Plan


def _check_reach(debugger: Debugger, definition: Definition, inputs: Json) -> None:
    """Reject an impossible attach before it starts, because adapters often do not respond to one."""
    pid, port = inputs.get("pid"), inputs.get("port")
    if pid is not None:
        check_process(definition, pid)
        for session in debugger.sessions.values():
            if not session.over and session.mirror.process.get("systemProcessId") == pid:
                raise ArgumentError(
                    f"Process {pid} is debugged already, in session {session.id}.",
                    "Continue there, or dap_disconnect it first.",
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


def _interpreter(inputs: Json, project: Path) -> str:
    cwd, program = Path(inputs["cwd"]), inputs.get("program")
    file = None if program is None else node_id(str(program))[0]
    return find_python(inputs.get("python"), cwd, surroundings(cwd), project=project, program=file)


def check_interpreter(plan: Plan) -> None:
    """Reject a program whose interpreter is too old for the adapter.

    It may run the interpreter to ask: call it in a thread.
    """
    python, cwd = plan.inputs.get("python"), Path(str(plan.inputs["cwd"]))
    if python is not None and plan.launched:
        check_version(str(python), plan.definition.interpreter, cwd)


def _project_of(inputs: Json, project: Path) -> Path:
    """Return the project folder of a program: dapeer's working directory, or another one if the program is outside.

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
    debugger: Debugger, asked: LaunchRequest, request: RequestName, given: Json, config: Json
) -> Plan:
    """Return the plan of a start without Neovim, from checked arguments.

    Where several adapters fit, it may ask programs for their versions: call it in a thread.

    Raises:
        AdapterUnknown: No adapter fits.
    """
    inputs: dict[str, Any] = {"args": [], "stop_on_entry": False, **given}
    inputs["project"] = str(_project_of(inputs, debugger.project))
    definition = _definition(debugger, asked.type, request, inputs)
    if "python" in names_in(definition.launch, definition.transport):
        inputs["python"] = _interpreter(inputs, debugger.project)
    if definition.tests is not None and request == "launch":
        inputs, config, name = as_program(definition.tests, inputs, config)
        asked = replace(asked, name=asked.name or name)
    if request == "attach":
        _check_reach(debugger, definition, inputs)
    for useless in definition.useless(request, inputs, config):
        there = able(debugger.definitions, definition, useless, _is_ready)
        raise definition.refusal(request, useless, there if request == "launch" else ())
    chosen = debugger.breakpoints.exceptions if asked.filters is None else asked.filters
    if request == "launch" and (needed := definition.stopping.filters.environment(chosen)):
        inputs["env"] = {**needed, **(inputs.get("env") or {})}
    config, mappings = taken(definition, config, debugger.project)
    core = read_core(inputs["core"]) if "core" in inputs else None
    return Plan(
        definition, request, inputs, config, asked.name, asked.filters, asked.functions, asked.conditions,
        asked.tests, mappings, core,
    )  # fmt: skip


def _stops(launch: Launch) -> dict[str, Any]:
    """Return where failing tests stop, unless the caller has chosen that."""
    conditions = {name: text for name, text in (launch.exceptions or {}).items() if text}
    filters = None if launch.exceptions is None else tuple(launch.exceptions)
    return {"filters": filters, "functions": launch.functions, "conditions": conditions}


async def tests_of(
    asked: LaunchRequest, request: RequestName, inputs: Json
) -> tuple[LaunchRequest, Json]:
    """Return the program and its arguments; for tests, those of their runner.

    Raises:
        DapeerError: No runner is known for the tests, they cannot be built, or no test has the name.
    """
    launch = await launch_of(inputs) if request == "launch" else None
    if launch is None:
        return asked, inputs
    told = replace(
        asked,
        type=asked.type or launch.type,
        name=asked.name or launch.title,
        config={**launch.config, **asked.config},
        **(_stops(launch) if asked.filters is None else {}),
        tests=launch.named,
    )
    return told, launch.inputs
