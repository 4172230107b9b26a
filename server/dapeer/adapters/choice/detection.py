"""Whether an adapter is installed, and how to get it."""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from dapeer.adapters.definition.definition import Definition, own_values
from dapeer.adapters.definition.installation import Need, Version
from dapeer.adapters.definition.placeholders import fill_texts

Found: TypeAlias = Mapping[str, str]

SECONDS_FOR_VERSION = 3
"""A program that needs longer has no version that is known."""
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
    """The one command that gets the adapter."""
    found: Found = field(default_factory=dict[str, str])
    """Values of placeholders, like `gdb`: its path."""


def detect(definition: Definition, *, python: str = sys.executable) -> Detection:
    """Look for an adapter: on PATH, and next to the interpreter that runs dapeer.

    It may start a program to ask for its version, once per file, so it blocks: call it in a thread.
    `python` is the value of `${python}`.
    """
    needs = definition.detect
    groups = [[need] for need in needs.all] + ([list(needs.any)] if needs.any else [])
    choices = [list(itertools.chain.from_iterable(map(_candidates, group))) for group in groups]
    install = _install(definition)
    for group, choice in zip(groups, choices, strict=True):
        if not choice:
            names = " or ".join(need.names[0] for need in group)
            return Detection(ready=False, missing=f"{names} was not found", install=install)
    old = ""
    for combination in itertools.product(*choices):
        found = {name: value for part in combination for name, value in part.items()}
        version = _version(needs.version, {**own_values(), "python": python, **found})
        if needs.version is None or _at_least(version, needs.version.min):
            return Detection(ready=True, version=version, install=install, found=found)
        told = f"{version} is too old" if version else "does not tell its version"
        old = old or f"{told}, {needs.version.min} is needed"
    return Detection(ready=False, missing=f"{definition.id} {old}", install=install)


def unpatched(definition: Definition) -> list[str]:
    """Return what dapeer changes in other versions of the adapter, and cannot change in the installed one."""
    command = fill_texts(definition.detect.patches, own_values())
    return _asked(command).splitlines() if command else []


def _candidates(need: Need) -> Iterator[Found]:
    """Yield each way in which something needed is there, as values of placeholders."""
    match need.kind:
        case "executable":
            for path in itertools.chain.from_iterable(map(_executables, need.names)):
                yield {"executable": path, need.names[0]: path}
        case "python_module":
            yield from ({} for name in need.names if _has_module(name))
        case "file":
            for path in itertools.chain.from_iterable(map(_files, need.names)):
                yield {"file": path, "file_dir": str(Path(path).parent)}


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of a package that is not there
        return False


def _executables(name: str) -> Iterator[str]:
    name = os.path.expanduser(name)
    folders = [*os.get_exec_path(), str(Path(sys.executable).parent)]
    for folder in dict.fromkeys(folders):
        if path := shutil.which(name, path=folder or os.curdir):
            yield os.path.abspath(path)


def _files(pattern: str) -> list[str]:
    path = os.path.expanduser(os.path.expandvars(pattern))
    return sorted(glob.glob(path), reverse=True)


def _version(version: Version | None, values: Mapping[str, object]) -> str:
    if version is None:
        return ""
    command = fill_texts(version.command, values)
    try:
        changed = Path(command[0]).stat().st_mtime_ns
    except OSError:
        changed = 0
    key = (*command, changed)
    if key not in _versions and (found := re.search(version.regex, _asked(command))):
        _versions[key] = found[1]
    return _versions.get(key, "")


_versions: dict[tuple[str | int, ...], str] = {}
"""By a command and the time of its file, the version that it has told. One that tells none is asked again: what it looks for, such as a module of Perl, may be installed by then."""


def _asked(command: Sequence[str]) -> str:
    """Return a command's output."""
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
        return ""
    timer = threading.Timer(SECONDS_FOR_VERSION, _kill, (process,))
    timer.start()
    with process:
        said = process.stdout.read(LONGEST_VERSION) if process.stdout else b""
        _kill(process)
        timer.cancel()
    return said.decode("utf-8", "replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    # Its process id cannot be reused until it was waited for.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _at_least(version: str, minimum: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", text)]

    return minimum == "0" or numbers(version) >= numbers(minimum)


def _install(definition: Definition) -> str:
    """Return the best command to install the adapter here: the first whose installer is available."""
    fitting = [install for install in definition.install if install.fits()]
    there = [way for way in fitting if way.manager == "pip" or shutil.which(way.manager)]
    way = next(iter(there or fitting or definition.install), None)
    if way is None:
        return ""
    # Into dapeer's own environment, where it is found.
    command = re.sub(r"^pip install\b", _pip_install(), way.command)
    # Other users need `sudo`; a container often has only root, and no sudo.
    sudo = command.startswith("apt-get ") and os.geteuid() and shutil.which("sudo")
    return f"sudo {command}" if sudo else command


def _pip_install() -> str:
    if _has_module("pip"):
        return f"{sys.executable} -m pip install"
    return f"uv pip install --python {sys.executable}"
