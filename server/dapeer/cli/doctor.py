"""`dapeer doctor`: what is installed, what is missing, and how to install it."""

from __future__ import annotations

import asyncio
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

import anyio

import dapeer
from dapeer.adapters.choice.choice import typed
from dapeer.adapters.choice.detection import Detection, detect, unpatched
from dapeer.adapters.definition.definition import Definition, names_in
from dapeer.adapters.definition.loading import load_all, shipped, user_folder
from dapeer.adapters.process.adapter import Adapter, open_adapter
from dapeer.adapters.process.reaper import Reaper
from dapeer.base.errors import AdapterUnknown, DapeerError, RequestFailed
from dapeer.base.system import ownership
from dapeer.base.system.process_table import ptrace_scope
from dapeer.base.system.promptness import refusal
from dapeer.cli.install.clients import CLIENTS
from dapeer.cli.install.command import here
from dapeer.cli.install.reach import reached
from dapeer.dap.channel import Channel
from dapeer.dap.handshake import CLIENT
from dapeer.dap.messages import Body, Request

OLDEST_NEOVIM: Final = (0, 10)

NOTHING_READY: Final = 1
"""Exit code when nothing can be debugged."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a report."""

    state: Literal["ok", "ready", "note", "missing", "failed"]
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"  {self.state:8} {self.what:22} {self.detail}".rstrip()


def report() -> int:
    """Print the state of this installation and its debug adapters; return the exit code."""
    found = [each for definition in _definitions() for each in _adapter_and_doors(definition)]
    _print([f"dapeer {dapeer.__version__}", *map(str, _installation())])
    _print(["", "Debug adapters", *map(str, found), f"  Put your own into {user_folder()}"])
    _print(["", "Assistants", *map(str, _assistants())])
    return 0 if any(finding.state == "ready" for finding in found) else NOTHING_READY


def report_adapters() -> int:
    """Print each known debug adapter, what it debugs, and whether it is ready."""
    for definition in _definitions():
        languages = ", ".join(definition.languages) or definition.title
        _print([str(_adapter(definition)), f"{'':11}{languages}; defined in {definition.path}"])
    return 0


def check(name: str) -> int:
    """Start one adapter for real, have it introduce itself, end it, and print all that; return the exit code.

    Raises:
        AdapterUnknown: There is no adapter of this name.
    """
    known = load_all(shipped(), user_folder())
    definition = typed(known, name)
    if definition is None:
        raise AdapterUnknown(
            f"There is no adapter `{name}`.", f"Adapters: {', '.join(sorted(known))}."
        )
    return anyio.run(_check, definition)


async def _check(definition: Definition) -> int:
    findings: list[Finding] = []
    async with aclosing(_trial(definition)) as trial:
        async for finding in trial:
            findings.append(finding)
            _print([str(finding)])
    return NOTHING_READY if findings[-1].state in ("missing", "failed") else 0


async def _trial(definition: Definition) -> AsyncGenerator[Finding]:
    """Yield the results step by step; an error is the last."""
    there = await anyio.to_thread.run_sync(_adapter, definition)
    yield there
    if there.state == "missing":
        return
    for door in doors(definition):
        yield door
    began = time.perf_counter()
    reaper = Reaper()
    try:
        with tempfile.TemporaryDirectory() as folder:
            inputs = _nothing_to_run(definition, Path(folder))
            async with open_adapter(definition, "launch", inputs, reaper) as adapter:
                yield Finding("ok", "starts", f"process {adapter.pid}")
                told = await _introduced(definition, adapter)
                yield Finding(
                    "ok", "answers `initialize`", f"{sum(map(bool, told.values()))} capabilities"
                )
    except DapeerError as error:
        yield Finding("failed", definition.id, str(error))
        return
    finally:
        await reaper.aclose()
    yield Finding("ok", "ends", f"{time.perf_counter() - began:.1f} s in total")


def _assistants() -> list[Finding]:
    found = [
        Finding(reach.state, f"{reach.client.title} ({reach.scope})", reach.detail)
        for reach in anyio.run(reached, here())
    ]
    return found or [Finding("note", "none", f"`dapeer install {'|'.join(CLIENTS)}` connects one")]


def _nothing_to_run(definition: Definition, folder: Path) -> dict[str, object]:
    """Return the inputs of adapters that start together with a program: one that does nothing."""
    if "program" not in names_in({}, definition.transport):
        return {"cwd": str(folder)}
    program = folder / f"empty{next(iter(definition.extensions), '')}"
    # A line there has to be: the debugger of Ruby stops at the first one, and lives till then.
    program.write_text("0\n", encoding="utf-8")
    return {"cwd": str(folder), "program": str(program), "args": []}


async def _introduced(definition: Definition, adapter: Adapter) -> Body:
    """Return the capabilities in an adapter's `initialize` response."""
    channel = Channel(adapter.transport, lambda _message: None, _refuse)
    receiving = asyncio.create_task(channel.run())
    arguments = {**CLIENT, "adapterID": definition.adapter_id}
    try:
        return await channel.request("initialize", arguments, seconds=definition.timeouts.start)
    finally:
        receiving.cancel()
        await asyncio.wait([receiving])


async def _refuse(request: Request) -> Body:
    raise RequestFailed(request.command, "dapeer only looks whether the adapter works")


def _definitions() -> Iterable[Definition]:
    return load_all(shipped(), user_folder()).values()


def _adapter(definition: Definition) -> Finding:
    return finding_of(definition.id, detect(definition))


def _adapter_and_doors(definition: Definition) -> list[Finding]:
    found = _adapter(definition)
    if found.state != "ready":
        return [found]
    late = delays(definition, refusal()) if has_relay(definition) else ()
    unfit = [
        Finding("note", definition.id, f"not changed: {each}") for each in unpatched(definition)
    ]
    return [found, *doors(definition), *late, *unfit]


def has_relay(definition: Definition) -> bool:
    """Return whether a program's messages reach the adapter by a connection that dapeer hastens."""
    return bool(definition.children and definition.children.relay)


def delays(definition: Definition, refusal: str) -> list[Finding]:
    """Return what is slow with an adapter, since the system refuses to let dapeer hasten it. Pure."""
    said = f"each stop and each answer takes 40 ms longer or more: the system does not let dapeer hasten them ({refusal})"
    return [Finding("note", definition.id, said)] if refusal else []


def doors(definition: Definition) -> list[Finding]:
    """Return what other users of the machine can do while an adapter debugs. Pure."""
    said = definition.open_to_others
    return [Finding("note", definition.id, said)] if said else []


def finding_of(name: str, detection: Detection) -> Finding:
    """Return the line on an adapter. Pure."""
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
    if not ownership.tells():
        yield Finding(
            "note",
            "TCP ports",
            "this system does not show who owns a port,  so other users can reach adapters that listen on one",
        )
    if sys.platform == "linux":
        yield ptrace_finding(ptrace_scope())


def neovim_finding(path: str | None) -> Finding:
    """Say which Neovim there is to debug along in; nothing else needs one."""
    if path is None:
        return Finding("note", "Neovim", "not found; only for sharing sessions with nvim-dap")
    done = subprocess.run(
        [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    match = re.match(r"NVIM v(\d+)\.(\d+)\S*", done.stdout)
    if match is None:
        return Finding("note", "Neovim", f"{path} does not report its version")
    version = match[0].removeprefix("NVIM v")
    if (int(match[1]), int(match[2])) < OLDEST_NEOVIM:
        return Finding("note", f"Neovim {version}", f"{path} is too old: 0.10 is needed")
    return Finding("ok", f"Neovim {version}", path)


def ptrace_finding(scope: int) -> Finding:
    """Return what Linux lets a debugger attach to; launching always works. Pure.

    The meaning of the numbers: Documentation/admin-guide/LSM/Yama.rst of the kernel.
    """
    what = f"ptrace scope {scope}"
    if scope == 0:
        return Finding("ok", what, "attaching to your own processes works")
    if scope == 3:
        return Finding("note", what, "attaching by pid is off until the next boot; launching works")
    return Finding(
        "note",
        what,
        "attaching by pid needs: sudo sysctl kernel.yama.ptrace_scope=0; launching works",
    )


def _print(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
