"""What is installed, what is missing, and the one command that gets it."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

import dapeer
from dapeer.adapters.definition import Definition, load_all, shipped, user_folder
from dapeer.adapters.detection import Detection, detect

PTRACE_SCOPE: Final = Path("/proc/sys/kernel/yama/ptrace_scope")

OLDEST_NEOVIM: Final = (0, 10)

NOTHING_READY: Final = 1
"""Exit code when nothing can be debugged."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a report."""

    state: Literal["ok", "ready", "note", "missing"]
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"  {self.state:8} {self.what:22} {self.detail}".rstrip()


def report() -> int:
    """Print the state of this installation and its debug adapters; return the exit code."""
    found = [_adapter(definition) for definition in _definitions()]
    _print([f"dapeer {dapeer.__version__}", *map(str, _installation())])
    _print(["", "Debug adapters", *map(str, found), f"  Your own belong into {user_folder()}"])
    return 0 if any(finding.state == "ready" for finding in found) else NOTHING_READY


def report_adapters() -> int:
    """Print each debug adapter that is known, what it debugs, and whether it is ready."""
    for definition in _definitions():
        languages = ", ".join(definition.languages) or definition.title
        _print([str(_adapter(definition)), f"{'':11}{languages}; defined in {definition.path}"])
    return 0


def _definitions() -> Iterable[Definition]:
    return load_all(shipped(), user_folder()).values()


def _adapter(definition: Definition) -> Finding:
    return finding_of(definition.id, detect(definition))


def finding_of(name: str, detection: Detection) -> Finding:
    """Say what was found of an adapter. Pure."""
    if detection.ready:
        return Finding(
            "ready", f"{name} {detection.version}".rstrip(), detection.found.get(name, "")
        )
    get = f" Get it: {detection.install}" if detection.install else ""
    return Finding("missing", name, f"{detection.missing}.{get}")


def _installation() -> Iterator[Finding]:
    yield Finding("ok", f"Python {platform.python_version()}", sys.executable)
    for package in ("mcp", "debugpy"):
        try:
            yield Finding("ok", f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            get = f"Get it: {sys.executable} -m pip install {package}"
            yield Finding("missing", package, get)
    yield neovim_finding(shutil.which("nvim"))
    if sys.platform == "linux":
        yield ptrace_finding(_ptrace_scope())


def neovim_finding(path: str | None) -> Finding:
    """Say which Neovim there is to debug along in; nothing else needs one."""
    if path is None:
        return Finding("note", "Neovim", "not found; only for sharing sessions with nvim-dap")
    done = subprocess.run(
        [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    match = re.match(r"NVIM v(\d+)\.(\d+)\S*", done.stdout)
    if match is None:
        return Finding("note", "Neovim", f"{path} does not tell its version")
    version = match[0].removeprefix("NVIM v")
    if (int(match[1]), int(match[2])) < OLDEST_NEOVIM:
        return Finding("note", f"Neovim {version}", f"{path} is too old: 0.10 is needed")
    return Finding("ok", f"Neovim {version}", path)


def _ptrace_scope() -> str:
    try:
        return PTRACE_SCOPE.read_text("ascii").strip()
    except OSError:
        return "0"


def ptrace_finding(scope: str) -> Finding:
    """Say what Linux lets a debugger attach to; launching always works. Pure.

    The meaning of the numbers: Documentation/admin-guide/LSM/Yama.rst of the kernel.
    """
    what = f"ptrace scope {scope}"
    if scope == "0":
        return Finding("ok", what, "attaching to your own processes works")
    if scope == "3":
        return Finding("note", what, "attaching by pid is off until the next boot; launching works")
    return Finding(
        "note",
        what,
        "attaching by pid needs: sudo sysctl kernel.yama.ptrace_scope=0; launching works",
    )


def _print(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
