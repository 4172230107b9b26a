"""Whether an adapter is installed, and how to get it."""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import itertools
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.placeholders import fill_texts
from dapeer.adapters.definition.sections import Install, Need, Version
from dapeer.adapters.definition.table import installation_values
from dapeer.base.json_types import as_object, is_array
from dapeer.base.system import folder_names

Found: TypeAlias = Mapping[str, str]

SECONDS_FOR_VERSION = 8
"""The version of a program that needs longer stays unknown.

Perl and Ruby take more than three seconds on a busy machine.
"""
SECONDS_FOR_PATCHES = 15
"""Timeout for a command that lists what dapeer changes in an adapter."""
UNUSED = "unused: "
"""Begins the reason of a row that is off where it has nothing to change."""
_LATE = "did not tell its version"
LONGEST_VERSION = 1 << 16
"""Bytes of its output that are read."""


@dataclass(frozen=True, slots=True)
class Detection:
    """The result of looking for an adapter on this machine."""

    ready: bool
    version: str = ""
    missing: str = ""
    """What is missing, as the end of a sentence; empty if it is ready."""
    install: str = ""
    """The one command that gets the adapter; empty where it is there, and has only not answered in time."""
    found: Found = field(default_factory=dict[str, str])
    """Values of placeholders, like `gdb`: its path."""
    install_way: Install | None = None
    """How to get what is missing."""


def detect(definition: Definition, *, python: str = sys.executable) -> Detection:
    """Look for an installed adapter on PATH, in dapeer's own folders, and next to dapeer's interpreter.

    If there is a version to ask for, a program is run for each way in which the adapter is found until one
    fits; each run blocks for `SECONDS_FOR_VERSION` at most, so call this in a thread. `python` is the value
    of `${python}`. If all is there, `ready` of the result is True, `version` is what the program printed
    (maybe empty), and `found` has the values of placeholders, such as the adapter's path. Else `missing`
    says what is missing, too old or does not answer, as the end of a sentence. `install` is the command that
    gets the adapter or what is missing; it is empty if there is none, or if the adapter was found but did not
    answer in time.
    """
    needs = definition.detect
    groups = [[need] for need in needs.all] + ([list(needs.any)] if needs.any else [])
    choices = [list(itertools.chain.from_iterable(map(_candidates, group))) for group in groups]
    for group, choice in zip(groups, choices, strict=True):
        if not choice:
            names = " or ".join(need.shown for need in group)
            way = way_to_get(definition, names_of(group))
            get = _install_command(definition, way)
            return Detection(
                ready=False, missing=f"{names} was not found", install=get, install_way=way
            )
    old = ""
    way = way_to_get(definition)
    install = _install_command(definition, way)
    for combination in itertools.product(*choices):
        found = {name: value for part in combination for name, value in part.items()}
        version = _printed_version(
            needs.version, {**installation_values(), "python": python, **found}
        )
        if needs.version is None or _at_least(version or "", needs.version.min):
            return Detection(ready=True, version=version or "", install=install, found=found)
        fault = f"{version} is too old" if version else "does not tell its version"
        late = f"{_LATE} within {SECONDS_FOR_VERSION} s; the machine may be busy, so try again"
        old = old or (late if version is None else f"{fault}, {needs.version.min} is needed")
    late = old.startswith(_LATE)
    install = "" if late else install
    return Detection(
        ready=False, missing=f"{definition.id} {old}", install=install, install_way=way
    )


def names_of(group: Iterable[Need]) -> set[str]:
    """Return the names of all things that these needs can be met by."""
    return {name for need in group for name in need.names}


@dataclass(frozen=True, slots=True)
class Patch:
    """A row of our register: one change of other software."""

    name: str
    whose: str = ""
    tried: str = ""
    """The versions that it was tried with."""
    lost: str = ""
    """One sentence: what is lost without it."""
    off: str = ""
    """Why the software is not changed; empty where it is."""

    @property
    def state(self) -> Literal["on", "off", "unused"]:
        """Whether the software is changed; unused: it needs no change as it is."""
        if not self.off:
            return "on"
        return "unused" if self.off.startswith(UNUSED) else "off"


def patches(definition: Definition, found: Mapping[str, str]) -> list[Patch]:
    """Return what dapeer changes in an adapter and around it; `found` has the placeholders' values.

    The definition's command is run, and prints a JSON list of them. A line that is none names a change that the installed
    adapter does not get. It blocks.
    """
    command = fill_texts(definition.detect.patches, {**installation_values(), **found})
    return printed_rows(command) if command else []


def printed_rows(command: Sequence[str]) -> list[Patch]:
    """Run a command and return the rows of the patches' register that it prints; it blocks.

    The first line that is a JSON list has them, as objects; a key without a value becomes an empty text. If
    no line is one, each line becomes a row that is off, with the line as what is lost. Stdout and stderr
    count alike, up to `LONGEST_VERSION` bytes. The command is killed after `SECONDS_FOR_PATCHES`, or once
    so much was read; what it has printed by then counts. A command that prints nothing, or cannot be
    started, has no rows.
    """
    lines = _output_of(command, SECONDS_FOR_PATCHES)[0].splitlines()
    for line in lines:
        with contextlib.suppress(ValueError):
            if is_array(rows := json.loads(line)):
                return [
                    Patch(*(str(row.get(each) or "") for each in _FIELDS))
                    for row in map(as_object, rows)
                ]
    return [Patch("", lost=line, off="it does not fit") for line in lines]


_FIELDS = ("name", "whose", "tried", "lost", "off")


def _candidates(need: Need) -> Iterator[Found]:
    """Yield each way in which something needed is there, as values of placeholders by name.

    An executable has its path as `executable` and under its first name, a file as `file`, with its folder as `file_dir`, a Python
    module its folder as `module_dir`. Nothing is yielded if it is missing.
    """
    match need.kind:
        case "executable":
            for path in itertools.chain.from_iterable(map(_executables, need.names)):
                yield {"executable": path, need.names[0]: path}
        case "python_module":
            yield from ({"module_dir": each} for each in map(_module_folder, need.names) if each)
        case "file":
            for path in itertools.chain.from_iterable(map(_files, need.names)):
                yield {"file": path, "file_dir": str(Path(path).parent)}


def _module_folder(name: str) -> str | None:
    """Return the folder of a package, or the one that a module is in; None: it is not there."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # of a package that is not there
        return None
    return None if found is None else str(Path(found.origin or "").parent)


def _executables(name: str) -> Iterator[str]:
    """Yield paths of executables of this name on PATH, beside dapeer's Python, and of its adapters.

    The paths are absolute, in the order of preference. `name` may be a path, also with `~`: if that is executable, it is yielded, once for
    each of these folders.
    """
    name = os.path.expanduser(name)
    own = sorted(Path(folder_names.adapters()).glob("*/bin"))
    folders = [*os.get_exec_path(), str(Path(sys.executable).parent), *map(str, own)]
    for folder in dict.fromkeys(folders):
        if path := shutil.which(name, path=folder or os.curdir):
            yield os.path.abspath(path)


def _files(pattern: str) -> list[str]:
    """Return the files that a pattern matches, the last in the order of names first.

    The pattern may have `${adapters}`, variables of the environment and `~`.
    """
    path = pattern.replace("${adapters}", glob.escape(folder_names.adapters()))
    path = os.path.expanduser(os.path.expandvars(path))
    return sorted(glob.glob(path), reverse=True)


def _printed_version(version: Version | None, values: Mapping[str, object]) -> str | None:
    """Return the version that a program prints; empty: it prints none, None: none in time.

    The program is run, which blocks for `SECONDS_FOR_VERSION` at most, unless its version was found before and
    its file is unchanged since; it is killed when that time has passed. Its version is the first group of the
    regular expression of `version` in what it prints. The result is also empty if the program cannot be started,
    or if `version` is None: there is none to ask for. `values` are those of the placeholders in the command, by
    name.
    """
    if version is None:
        return ""
    command = fill_texts(version.command, values)
    try:
        changed = Path(command[0]).stat().st_mtime_ns
    except OSError:
        changed = 0
    key = (*command, changed)
    if key in _versions:
        return _versions[key]
    output, in_time = _output_of(command)
    if found := re.search(version.regex, output):
        _versions[key] = found[1]
    return _versions.get(key, "" if in_time else None)


_versions: dict[tuple[str | int, ...], str] = {}
"""The version that a command has printed, by the command and the time of its file.

One that prints none is run again: what it looks for, such as a module of Perl, may be installed by then.
"""


def _output_of(command: Sequence[str], seconds: float | None = None) -> tuple[str, bool]:
    """Run a command; return its output, as far as it comes in time, and whether it ended in time.

    The call blocks for `seconds` at most (None or 0: `SECONDS_FOR_VERSION`). The output is stdout and stderr
    together, of at most `LONGEST_VERSION` bytes, decoded as UTF-8. The command gets no input. It is killed, with
    all processes of its group, after that time, once that many bytes were read, or once its output has ended. A
    process that has left the group runs on, and its output is not waited for any longer. Only a command that is
    killed for its time counts as late (False). One that cannot be started gives an empty output and True.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Processes that it has started, and that still hold the pipe, end with it.
            start_new_session=True,
        )
    except OSError:
        return "", True
    output, in_time = b"", True
    with process:
        try:
            if process.stdout is not None:
                pipe = process.stdout.fileno()
                output, in_time = _read_for(pipe, seconds or SECONDS_FOR_VERSION)
        finally:
            _kill(process)
    return output.decode("utf-8", "replace"), in_time


def _read_for(pipe: int, seconds: float) -> tuple[bytes, bool]:
    """Read from a pipe; return at most `LONGEST_VERSION` bytes, and whether that took less than `seconds`.

    It reads until the end of the pipe, until there are so many bytes, or until the time is over.
    """
    output, deadline = b"", time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(output) < LONGEST_VERSION:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                return output, False
            read = os.read(pipe, LONGEST_VERSION - len(output))
            if not read:
                break
            output += read
    return output, True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group, unless they have ended."""
    # Its process id cannot be reused until it was waited for.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _at_least(version: str, minimum: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", text)]

    return minimum == "0" or numbers(version) >= numbers(minimum)


def way_to_get(definition: Definition, missing: Collection[str] = ()) -> Install | None:
    """Return the best way to install an adapter, or what is `missing` of it; None: there is none.

    Ways for this platform come first, and of these one whose installer is here. `missing` are names of executables.
    """
    bringing = [install for install in definition.install if install.gets in missing]
    able = bringing or [install for install in definition.install if not install.gets]
    fitting = [install for install in able if install.fits()]
    there = [way for way in fitting if way.manager == "pip" or shutil.which(way.manager)]
    return next(iter(there or fitting or able), None)


def _install_command(definition: Definition, way: Install | None) -> str:
    """Return the one command that gets an adapter, or what is missing for it, here; empty without a way.

    `way` is how it is installed: dapeer's own command if `way` has packages, else the way's command. An `apt-get`
    gets `sudo` before it if the user is not root and `sudo` is on PATH.
    """
    if way is None:
        return ""
    if way.packages:
        return f"{own_command()} adapters install {definition.id}"
    # Other users need `sudo`; a container often has only root, and no sudo.
    sudo = way.command.startswith("apt-get ") and os.geteuid() and shutil.which("sudo")
    return f"sudo {way.command}" if sudo else way.command


def own_command() -> str:
    """Return what a person types to run dapeer."""
    return "dapeer" if shutil.which("dapeer") else f"{sys.executable} -m dapeer"
