"""Plans a start under an adapter of dapeer: which adapter, interpreter and arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dapeer.adapters.choice.choice import (
    check_page_is_served,
    check_port,
    check_process,
    choose,
    choose_for_process,
    others_with_argument,
    page_at,
    port_of,
)
from dapeer.adapters.choice.core_dump import read_core
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import check_version, find_python, unused_environment
from dapeer.adapters.definition.definition import TARGETS, Definition, RequestName, names_in
from dapeer.adapters.definition.placeholders import placeholders
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.adapters.named_tests import as_program, launch_of, node_id
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_array, as_object, is_array, is_object
from dapeer.base.system import folder_names
from dapeer.base.system.environment import environment_for
from dapeer.base.system.process_table import program_file
from dapeer.base.system.program_files import has_section, nearest_file, starts_others
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.dap.mapped import PathMapping
from dapeer.launch.request import check_files
from dapeer.sessions.breakpoints import moved_files
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.debugger.debugger import Debugger

# Where the files of a program are on this machine, from configurations.

OF_PYTHON, OF_CPP = "pathMappings", "sourceFileMap"


def take_mappings(
    definition: Definition, config: Json, project: Path
) -> tuple[dict[str, Any], tuple[PathMapping, ...]]:
    """Return a configuration for an adapter, and the path mappings that dapeer itself must apply.

    `config` are the configuration's keys. `pathMappings` (a list of `localRoot` and `remoteRoot`) and
    `sourceFileMap` (a table of remote and local folders) are taken out of it; local folders become absolute, from
    `project`, and `~` the home. An adapter that maps paths itself gets them as `pathMappings`, and dapeer applies
    none. Keys that only an adapter knows, as `substitutePath`, stay.

    Raises:
        ArgumentError: A mapping does not have that form.
    """
    mappings = [*_pairs(config.get(OF_PYTHON)), *_source_file_mappings(config.get(OF_CPP))]
    rest = {key: value for key, value in config.items() if key not in (OF_PYTHON, OF_CPP)}
    absolute = tuple(
        PathMapping(str((project / Path(each.local).expanduser()).absolute()), each.remote)
        for each in mappings
    )
    if not absolute or not definition.quirks.maps_paths:
        return rest, absolute
    own = [{"localRoot": each.local, "remoteRoot": each.remote} for each in absolute]
    return {**rest, OF_PYTHON: own}, ()


def _pairs(value: object) -> Iterator[PathMapping]:
    """Yield the mappings of `pathMappings`: none if it is None.

    Raises:
        ArgumentError: It is no list of objects with `localRoot` and `remoteRoot`.
    """
    if value is not None and not is_array(value):
        raise _mapping_error(OF_PYTHON)
    for pair in as_array(value):
        match pair:
            case {"localRoot": str(local), "remoteRoot": str(remote)}:
                yield PathMapping(local, remote)
            case _:
                raise _mapping_error(OF_PYTHON)


def _source_file_mappings(value: object) -> Iterator[PathMapping]:
    """Yield the mappings of `sourceFileMap`, a key of launch configurations for cpptools.

    `value` is that key's value; None yields nothing. Else the value is an object of local folders by remote
    ones: each is a text, or an object with the text `editorPath`.

    Raises:
        ArgumentError: The value does not have that form; raised when the first wrong entry is reached.
    """
    if value is not None and not is_object(value):
        raise _mapping_error(OF_CPP)
    for remote, local in as_object(value).items():
        match local:
            case str() | {"editorPath": str()}:
                yield PathMapping(local if isinstance(local, str) else local["editorPath"], remote)
            case _:
                raise _mapping_error(OF_CPP)


def _mapping_error(key: str) -> ArgumentError:
    """Return the error for a key with mappings of the wrong form."""
    form = {
        OF_PYTHON: '[{"localRoot": "/here", "remoteRoot": "/app"}]',
        OF_CPP: '{"/app": "/here"}',
    }[key]
    return ArgumentError(f"`{key}` must map one folder to another.", f"Write {form}.")


def _check_process_or_port(debugger: Debugger, definition: Definition, inputs: Json) -> None:
    """Check that a process or port can be attached to, since adapters often do not respond to a wrong one.

    `inputs` are arguments of dap_run: `pid`, or `port` and `host` (default: this machine). Nothing happens if they have neither. If
    `definition` says so, it connects to the port, and closes the connection: call it in a thread.

    Raises:
        ArgumentError: Both are given, the process is debugged already, or it cannot be attached to.
        ForeignListener: Another user of this machine listens at the port.
    """
    pid, port = inputs.get("pid"), inputs.get("port")
    if pid is not None and port is not None:
        raise ArgumentError("`pid` and `port` are two ways to one program.", "Give one of them.")
    if pid is not None:
        check_process(definition, pid)
        for session in debugger.sessions.values():
            if not session.is_over and session.mirror.process.get("systemProcessId") == pid:
                raise ArgumentError(
                    f"Process {pid} is debugged already, in session {session.id}.",
                    "Continue there, or dap_disconnect it first.",
                )
    elif port is not None:
        check_port(str(inputs.get("host") or LOOPBACK), port, definition.attach.get("tcp"))


def _with_port(definition: Definition, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return an attach's inputs with the process's port in place of its id, if the adapter needs a port."""
    pid = inputs.get("pid")
    port = port_of(definition, pid) if pid is not None and "port" not in inputs else None
    if port is None:
        return inputs
    return {name: value for name, value in inputs.items() if name != "pid"} | {"port": port}


def _with_page(
    definition: Definition, inputs: dict[str, Any], config: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an attach's inputs with the `url` and `page` to attach to, where the adapter needs a page.

    If the adapter's definition says where a browser lists its pages and `inputs` has a `port`, the list is
    requested there by HTTP, which blocks. The first of these that is not empty chooses the page: `url` or
    `program` of `inputs`, `urlFilter` or `url` of `config`, the adapter's own configuration. It is a URL, in
    which `*` stands for any text, or a page's id; without any the port must have just one page. The result is
    a new dict without `program`; its `url` is the page's whole URL and its `page` the page's id. Otherwise
    `inputs` itself comes back.

    Raises:
        ArgumentError: No page, or several, fit, or nothing lists pages at the port.
    """
    attach, port = definition.attach.get("tcp"), inputs.get("port")
    if attach is None or not attach.pages or port is None:
        return inputs
    urls = (inputs.get("url"), inputs.get("program"), config.get("urlFilter"), config.get("url"))
    url = str(next(filter(None, urls), ""))
    page = page_at(str(inputs.get("host") or LOOPBACK), port, attach.pages, url)
    return {name: value for name, value in inputs.items() if name != "program"} | page


def _definition(
    debugger: Debugger, kind: str | None, request: str, inputs: Mapping[str, Any]
) -> Definition:
    """Return the definition of the adapter for a start.

    `request` is `launch` or `attach`, `inputs` are arguments of dap_run. `kind` is the type that the caller
    gives; else the adapter is chosen by what is to run, or for an attach without that by the process or
    port. Of several that fit, installed ones come first; one that is not installed may be returned.

    Raises:
        DapeerError: No adapter fits, the program is a folder that the adapter cannot run, or nobody listens
            at the port.
    """
    targets = {name: inputs.get(name) for name in TARGETS}
    if targets["program"] is not None:
        targets["program"] = node_id(str(targets["program"]))[0]
    if request == "attach" and kind is None and not any(targets.values()):
        there = {name: inputs.get(name) for name in ("pid", "port", "host")}
        return choose_for_process(debugger.definitions, ready=_is_ready, **there)
    return choose(debugger.definitions, type=kind, ready=_is_ready, **targets)


def _is_ready(definition: Definition) -> bool:
    return detect(definition).ready


def _interpreter(inputs: Json, project: Path) -> dict[str, str]:
    """Return the inputs `python`, the path of the interpreter to use, and `remark`, if there is one.

    `inputs` are those of the start, of which `cwd` is required. The caller's `python` comes first (a
    relative path is seen from `cwd` or `project`), then what `find_python` finds for the program and `cwd`.
    `remark` has the remark of `inputs`, and, without a `python` of the caller's, a sentence on a likelier
    environment that was passed over since it is broken, joined by `; `; without either, the key is missing.

    Raises:
        ArgumentError: The caller's `python` is no interpreter, or none is found.
    """
    cwd, program, given = Path(inputs["cwd"]), inputs.get("program"), inputs.get("python")
    file = None if program is None else node_id(str(program))[0]
    around = environment_for(cwd)
    found = find_python(given, cwd, around, project=project, program=file)
    remark = "" if given else unused_environment(cwd, around, file, found)
    remarks = "; ".join(filter(None, [str(inputs.get("remark") or ""), remark]))
    return {"python": found, **({"remark": remarks} if remarks else {})}


def check_interpreter(plan: Plan) -> None:
    """Check that a launched program's interpreter is not too old for the adapter.

    It may run the interpreter to ask: call it in a thread.

    Raises:
        DapeerError: It is too old.
    """
    python, cwd = plan.inputs.get("python"), Path(str(plan.inputs["cwd"]))
    if python is not None and plan.launched:
        check_version(str(python), plan.definition.interpreter, cwd)


def _project_of(inputs: Json, project: Path) -> Path:
    """Return the project folder of a program: dapeer's own, or another one if the program lies outside.

    `inputs` have the `program`, or else its `cwd`. `project` is dapeer's own folder; where that is the person's home or `/`, it is not
    returned only because the program lies in it: what an adapter searches there takes it minutes. Another project is the nearest folder
    from the program's own upwards that has a mark such as `.git` or `pyproject.toml` (a home with one, too), or else the program's own.
    """
    program = inputs.get("program")
    folder = Path(node_id(str(program))[0]).parent if program else Path(inputs["cwd"])
    if folder.is_relative_to(project) and project not in _NO_PROJECTS:
        return project
    mark = nearest_file(folder, _MARKS)
    return mark.parent if mark is not None else folder


_NO_PROJECTS = (Path(folder_names.home()), Path("/"))
_MARKS = (".git/HEAD", "package.json", "pyproject.toml", "go.mod", "Cargo.toml", "CMakeLists.txt")


_STANDS_IN = "dapeer has no adapter `{}`: {} stands in for it, and knows none of its own keys"


def _check_target(inputs: Json, config: Json) -> None:
    """Check that something serves the page that a browser is to open, if there is one.

    Raises:
        ArgumentError: Nothing does.
    """
    if url := inputs.get("url") or config.get("url"):
        check_page_is_served(str(url))


def _machine_values(definition: Definition) -> Mapping[str, str]:
    """Return values that were found on this machine, by name, if the adapter's launch arguments name one."""
    found = definition.detect.placeholders()
    named = any(name in found for _, name in placeholders(definition.launch, ""))
    return detect(definition).found if named else {}


def _remarks(
    launch: LaunchRequest, definition: Definition, request: RequestName, inputs: Json, config: Json
) -> dict[str, str]:
    """Return a dict with or without the input `remark`: what the caller should know of a start.

    The dict is empty if there is nothing to say. `launch` is the caller's request, and `request` is `launch` or `attach`;
    `config` are keys that only the adapter knows. The remark joins, by `; `: an earlier remark in `inputs`, the remark
    that the adapter stands in for the type that was asked for, and what its definition says on such a start.
    """
    stands_in = launch.type in definition.stands_in_for
    remarks = (
        str(inputs.get("remark") or ""),
        _STANDS_IN.format(launch.type, definition.id) if stands_in else "",
        definition.remark(request, inputs, config),
    )
    return {"remark": "; ".join(filter(None, remarks))} if any(remarks) else {}


def plan_of(
    debugger: Debugger, launch: LaunchRequest, request: RequestName, dap_run_arguments: Json, config: Json,
    *, waits: bool = False,
) -> Plan:  # fmt: skip
    """Return the plan of a start under an adapter of dapeer, from checked arguments; nothing is started.

    `launch` is the caller's request, of which the name, type, filters, functions, conditions and tests count; `request`
    is `launch` or `attach`. `dap_run_arguments` are arguments of dap_run with absolute paths, `cwd` always among them,
    `config` keys that only the adapter knows. It reads files, connects to ports, and may ask programs for their
    versions or a port for its pages: call it in a thread. With `waits` (for an attach) the process waits for its
    debugger, and has allowed it; so it is not checked whether the process or port can be attached to.

    Raises:
        AdapterUnknown: No adapter fits.
        ArgumentError: An argument is useless to the adapter or wrong (such as the interpreter, a path mapping, a test
            that several classes have, or the core dump), nothing can be attached to, the page to open or attach to is
            not there, or a file is a named pipe, a device or the like.
        ForeignListener: Another user of this machine listens at the port of an attach.
    """
    inputs: dict[str, Any] = {"args": [], "stop_on_entry": False, **dap_run_arguments}
    check_files(config, Path(inputs["cwd"]))
    if request == "launch":
        _check_target(inputs, config)
    inputs["project"] = str(_project_of(inputs, debugger.project))
    definition = _definition(debugger, launch.type, request, inputs)
    inputs |= _remarks(launch, definition, request, inputs, config)
    if "python" in names_in(definition.launch, definition.transport):
        inputs |= _interpreter(inputs, debugger.project)
    inputs |= _machine_values(definition)
    if definition.tests is not None and request == "launch":
        inputs, config, name = as_program(definition.tests, inputs, config)
        launch = replace(launch, name=launch.name or name)
    if request == "attach":
        inputs = _with_port(definition, inputs)
        if not waits:
            _check_process_or_port(debugger, definition, inputs)
        inputs = _with_page(definition, inputs, config)
    for useless in definition.unsupported_inputs(request, inputs, config):
        there = others_with_argument(debugger.definitions, definition, useless, _is_ready)
        raise definition.unsupported_input_error(
            request, useless, there if request == "launch" else ()
        )
    chosen = debugger.breakpoints.exceptions if launch.filters is None else launch.filters
    if request == "launch" and (needed := definition.stopping.filters.environment(chosen)):
        inputs["env"] = {**needed, **(inputs.get("env") or {})}
    config, mappings = take_mappings(definition, config, debugger.project)
    inputs, config = _with_moved_maps(definition, inputs, config, debugger.project)
    core = read_core(inputs["core"]) if "core" in inputs else None
    file = str(inputs.get("program") or program_file(int(inputs.get("pid") or 0)))
    quirks = definition.quirks
    forks = has_section(file, quirks.unfollowed) or starts_others(
        file, definition.extensions, quirks.starts_others
    )
    return Plan(
        definition, request, inputs, config, launch.name, launch.filters, launch.functions, launch.conditions,
        launch.tests, mappings, core, forks,
    )  # fmt: skip


def _with_moved_maps(
    definition: Definition, inputs: dict[str, Any], config: Json, project: Path
) -> tuple[dict[str, Any], Json]:
    """Return inputs and configuration, with folders here for those that source maps name elsewhere.

    `inputs` are those of the start, `config` is the adapter's configuration. In a copy, `config` gets the key
    that the adapter's definition names (`map_overrides`), and in a copy of the inputs `remark` says what was
    found, behind an earlier remark. Both are returned unchanged if the definition names no such key, the
    configuration has it already, the inputs have no `program`, or no folder was moved. The source maps beside
    the program are read, which blocks; folders are looked for up to `project`.
    """
    key = definition.quirks.map_overrides
    if not key or key in config or not inputs.get("program"):
        return inputs, config
    folders = moved_files.moved_folders(str(inputs["program"]), project)
    if not folders:
        return inputs, config
    told = ", ".join(f"{there} as {here}" for there, here in folders.items())
    remark = "; ".join(filter(None, (str(inputs.get("remark") or ""), f"source maps have {told}")))
    return {**inputs, "remark": remark}, {**config, key: moved_files.overrides(folders)}


async def resolve_tests(
    launch: LaunchRequest, request: RequestName, inputs: Json
) -> tuple[LaunchRequest, Json]:
    """Return a request for tests as one for the test runner that runs them, with its inputs.

    `launch` is the caller's request, `inputs` are its arguments of dap_run, of which `request` is `launch` or
    `attach`. Both are returned unchanged for `attach`, if no tests of a known runner are requested, and for
    tests in Python. Else a changed request and the runner's inputs are returned; what `launch` itself says of
    type, name and keys of `config` comes before what the runner says. So do its exception filters, with their
    conditions and its functions to stop in; if `launch.filters` is None, all three are the runner's. A runner
    may have to build the tests first, or be asked for their names: that runs commands of the project, and is
    awaited.

    Raises:
        DapeerError: No runner is known for the tests (`AdapterUnknown`), they cannot be built
            (`AdapterFailed`), or the runner is not installed or no test has the name (`ArgumentError`).
    """
    of_runner = await launch_of(inputs) if request == "launch" else None
    if of_runner is None:
        return launch, inputs
    stops = of_runner if launch.filters is None else launch
    outcome = replace(
        launch,
        type=launch.type or of_runner.type,
        name=launch.name or of_runner.name,
        config={**of_runner.config, **launch.config},
        filters=stops.filters,
        functions=stops.functions,
        conditions=stops.conditions,
        tests=of_runner.tests,
    )
    return outcome, of_runner.inputs
