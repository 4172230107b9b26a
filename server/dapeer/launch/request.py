"""A caller's request to start something, checked before anything happens."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from dapeer.adapters.choice.core_dump import read_core
from dapeer.adapters.choice.interpreter import find_program
from dapeer.adapters.definition.definition import TARGETS
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.adapters.named_tests import node_id
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.sources import check_line, source_file, with_home_folder
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import environment_for
from dapeer.dap.requested_breakpoints import RequestedBreakpoint

BreakpointInFile: TypeAlias = tuple[str, RequestedBreakpoint]
"""A breakpoint, with its file."""


USUAL = {"follow_children": True, "just_my_code": True, "terminal": False}
"""Arguments that say nothing when they have this value."""


def given_arguments(arguments: Json) -> dict[str, Any]:
    """Return the arguments of a call that say something, as JSON has them.

    Those that are None, or have the value of `USUAL`, are left out. A URL as `program` becomes `url`.
    """
    return {
        "url" if name == "program" and is_url(str(value)) else name: _plain(value)
        for name, value in arguments.items()
        if value is not None and value != USUAL.get(name)
    }


def is_url(program: str) -> bool:
    """Return whether a program is a page that a browser opens, and no file."""
    return re.match(r"(?:https?|file)://|about:", program, re.IGNORECASE) is not None


def _plain(value: object) -> object:
    """Return a mapping as a new dict, a list or tuple as a new list, as JSON has them; others as they are.

    What is in them is not copied.
    """
    match value:
        case Mapping():
            return dict(cast("Json", value))
        case list() | tuple():
            return list(cast("Sequence[object]", value))
        case _:
            return value


def resolve_paths(inputs: Json, project: Path, request: str = "launch") -> dict[str, Any]:
    """Return a call's arguments with absolute paths of what exists: `cwd`, `program`, `stdin`, `core`.

    `inputs` are these arguments; others are copied as they are. `cwd` is relative to `project`, and always in
    the result: without it the program runs in `project`. `core` is relative to `cwd`, the others are to `cwd`
    or else to the project. With `core` the result also has `program`, if need be the one that the core dump
    names; only for that the core dump is read: if `program` is given, `core` is not checked here. With
    `core`, `stdin` is copied as it is. Without `core`, a program is looked for only if `request` is `launch`
    (not `attach`). It may be a folder, a file with a test's name behind it, or the name of a command on PATH
    or in an environment; then `remark` says which file the command is.

    Raises:
        ArgumentError: A file or folder does not exist, `core` is no core dump, or does not name its program, or
            `python` is no interpreter, which is checked only where a command is looked for.
    """
    where = folder_of(inputs.get("cwd"), project)
    checked = {**inputs, "cwd": str(where)}
    if "core" in inputs:
        return {**checked, **_with_core(inputs, where, project)}
    if inputs.get("stdin") is not None:
        checked["stdin"] = _existing_input(str(inputs["stdin"]), where, project)
    if request == "launch" and inputs.get("program") is not None:
        program = str(inputs["program"])
        path = _called(program, where, project, str(inputs.get("python") or ""))
        checked["program"] = path or _program(program, where, project)
        if path is not None:
            checked["remark"] = f"{program} is {path}"
    return checked


def _called(name: str, cwd: Path, project: Path, python: str) -> str | None:
    """Return the path of a program given by its bare name, on PATH or in an environment.

    None if a file or folder here has this name, if it has a folder, or if it is not found. `python` is the interpreter that the
    caller gives, or empty.
    """
    if os.sep in name or any(os.path.lexists(base / name) for base in (cwd, project)):
        return None
    return find_program(name, cwd, environment_for(cwd), project, python)


def _existing_input(name: str, cwd: Path, project: Path) -> str:
    """Return the absolute path of a file that a program reads as its standard input.

    Raises:
        ArgumentError: There is no such file.
    """
    tried = [(base / with_home_folder(name)).absolute() for base in (cwd, project)]
    found = next((each for each in tried if foreign_files.is_file(each)), None)
    if found is None:
        raise ArgumentError(f"`stdin`: there is no file {tried[0]}.", "Give an existing file.")
    return str(found)


def folder_of(cwd: str | None, project: Path) -> Path:
    """Return the absolute folder that a program runs in: `cwd`, relative to the project, or the project.

    Raises:
        ArgumentError: There is no such folder.
    """
    folder = (project / with_home_folder(cwd)).absolute() if cwd else project
    if reason := foreign_files.why_no_folder(folder):
        raise ArgumentError(f"`cwd`: {folder} {reason}.", "Give an existing folder.")
    return folder


def _program(program: str | None, cwd: Path, project: Path) -> str | None:
    """Return the absolute path of a program, with the name of a test behind it if it had one.

    `program` is absolute, perhaps with `~`, or relative to `cwd` or else the project; it may be a folder, or a
    test such as `test_a.py::test_b`. Whether the file has the test is not checked. Links and `..` stay in the
    path. None for None.

    Raises:
        ArgumentError: There is no such file or folder.
    """
    if program is None:
        return None
    bases = (cwd, project)
    file, test = node_id(program, *bases)
    tried = [(base / with_home_folder(file)).absolute() for base in bases]
    for path in tried:
        if foreign_files.is_file(path) or foreign_files.is_folder(path):
            return f"{path}{test}"
    reasons = map(foreign_files.why_no_file, tried)
    path, reason = next(
        ((path, why) for path, why in zip(tried, reasons, strict=True) if why != "does not exist"),
        (tried[0], "does not exist"),
    )
    or_command = "" if os.sep in program else ", or the name of a command on PATH"
    raise ArgumentError(f"`program`: {path} {reason}.", f"Give an existing file{or_command}.")


def check_files(values: Mapping[str, Any], cwd: Path) -> None:
    """Check that no file that a configuration names for reading blocks who opens it.

    `values` are the configuration's keys. A text counts if the name of its key ends in `file`, `files`, `path` or
    `paths` (`envFile`, `classPaths`), unless the name begins with `std`, `out`, `tty`, `log`, `trace` or `socket`;
    upper and lower case are the same. Texts in a list count by the list's key; objects, also those in a list, are
    checked by their own keys; lists in lists are not looked at. Paths are relative to `cwd`, and may begin with
    `~`. Files that do not exist, folders and `/dev/null` are allowed. An adapter would wait for a named pipe
    without a word.

    Raises:
        ArgumentError: One is a named pipe, a device or the like.
    """
    for name, value in values.items():
        found = value if is_array(value) else [value]
        for each in found:
            if is_object(each):
                check_files(each, cwd)
            elif isinstance(each, str) and _READ.search(name) and each != os.devnull:
                path = cwd / with_home_folder(each)
                if reason := foreign_files.why_to_wait(path):
                    raise ArgumentError(
                        f"`{name}`: {path} {reason}.", "Remove it there, or name a file."
                    )


_READ = re.compile("(?i)^(?!std|out|tty|log|trace|socket).*(file|path)s?$")
"""Keys of configurations whose values are files that an adapter reads: `envFile`, `classPaths`."""


def check_named(launch: LaunchRequest) -> None:
    """Check that a request with a `name` also says what to run, since a configuration may have been meant.

    Raises:
        ArgumentError: It does not.
    """
    if launch.name and not launch.config and not {*TARGETS} & launch.inputs.keys():
        raise ArgumentError(
            f"`name` only names the new session: nothing says what {launch.name!r} runs.",
            f"To start the configuration of that name, give configuration={launch.name!r}.",
        )


def check_attach(pid: int | None, port: int | None) -> None:
    """Check that an attach has a process id or a port.

    Raises:
        ArgumentError: It has neither.
    """
    if pid is None and port is None:
        raise ArgumentError("There is nothing to attach to.", "Give `pid`, or `port` and `host`.")


def _with_core(inputs: Json, where: Path, project: Path) -> dict[str, Any]:
    """Return the absolute paths of a core dump and of the program that it is of.

    Raises:
        ArgumentError: It is no core dump, or its program is unknown.
    """
    path = str(where / with_home_folder(str(inputs["core"])))
    program = inputs.get("program") or read_core(path).program
    if not program:
        raise ArgumentError(f"`core`: {path} does not name its program.", "Give `program`, too.")
    return {"core": path, "program": _program(str(program), where, project)}


def resolve_breakpoint_files(
    breakpoints: Iterable[BreakpointInFile], cwd: Path, project: Path, around: Sequence[Path] = ()
) -> list[BreakpointInFile]:
    """Return breakpoints with the absolute paths of their files, which are checked to have the line.

    `breakpoints` are pairs of file and breakpoint; their order stays. A file is absolute, begins with `~`, or
    is relative to the first of these folders in which it exists: `cwd`, where the program runs, `project`, and
    those `around`, the folders of the files that the call itself names. A file in a zip archive is looked for
    below `project` only. The files are read; one that cannot be read as text is not checked for the line.

    Raises:
        ArgumentError: A file does not exist or is no regular file, or ends before the line.
    """

    def base_of(name: str) -> Path:
        """Return the folder to which a file's name is relative; the project if it is nowhere."""
        folders = (cwd, project, *around)
        return next((each for each in folders if foreign_files.is_file(each / name)), project)

    requested = [(source_file(name, base_of(name)), each) for name, each in breakpoints]
    for path, each in requested:
        check_line(path, each["line"])
    return requested
