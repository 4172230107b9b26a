"""`dapeer doctor`: what is installed, what is missing, and how to install it."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

import anyio

import dapeer
from dapeer.adapters.choice.choice import require_definition
from dapeer.adapters.choice.detection import Detection, Patch, detect
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.loading import load_all, shipped, user_folder
from dapeer.adapters.definition.retired import RETIRED, retired_in
from dapeer.adapters.definition.table import read_toml
from dapeer.base.connections import ownership
from dapeer.base.errors import DapeerError
from dapeer.base.system.process_table import ptrace_scope
from dapeer.base.text.fitting import shortened
from dapeer.cli.install.clients import CLIENTS
from dapeer.cli.install.command import places_of_process
from dapeer.cli.install.reach import try_clients
from dapeer.cli.patches import described, rows_of, rows_of_nvim_dap
from dapeer.cli.trial import start_without_program, try_adapters
from dapeer.neovim.discovery.program import too_old, version_of

NOTHING_READY: Final = 1
"""Exit code when nothing can be debugged."""


LANGUAGES_COLUMNS: Final = 45
"""Columns for languages, in a terminal of 80."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a report."""

    state: Literal["ok", "ready", "note", "missing", "failed", "slow"]
    what: str
    detail: str = ""

    def data(self) -> dict[str, str]:
        """Return it as data."""
        return {"state": self.state, "what": self.what, "detail": self.detail}

    def __str__(self) -> str:
        return f"  {self.state:8} {self.what:22} {self.detail}".rstrip()


def report() -> int:
    """Print the state of this installation, its debug adapters and assistants; return the exit code.

    Each ready adapter debugs a small program, and each assistant's command is started. The code is `NOTHING_READY` if no adapter debugs.
    """
    _print([f"dapeer {dapeer.__version__}", *map(str, _installation())])
    sys.stdout.flush()  # what follows takes a while
    found = _examined()
    _print(["", "Debug adapters", *map(str, found), *map(str, _retired_keys())])
    _print([f"  Put your own into {user_folder()}"])
    _print(["", "Assistants", *map(str, _assistants())])
    return 0 if any(finding.state == "ready" for finding in found) else NOTHING_READY


def report_as_data() -> int:
    """Print what `report` does as JSON; return the exit code, which is the same.

    Its keys are `version`, `installation`, `adapters` and `assistants`, the last three lists of findings.
    """
    found = _examined()
    _print_data(
        {
            "version": dapeer.__version__,
            "installation": [each.data() for each in _installation()],
            "adapters": [each.data() for each in (*found, *_retired_keys())],
            "assistants": [each.data() for each in _assistants()],
        }
    )
    return 0 if any(finding.state == "ready" for finding in found) else NOTHING_READY


def report_adapters_as_data() -> int:
    """Print each known debug adapter as JSON, with whether it is ready, and return 0; none is started."""
    rows: list[dict[str, object]] = []
    for definition in _definitions():
        found = detect(definition)
        rows.append(
            {
                "adapter": definition.id,
                "languages": list(definition.languages),
                "ready": found.ready,
                "version": found.version,
                "missing": found.missing,
                "install": found.install,
                "definition": str(definition.path),
            }
        )
    _print_data({"adapters": rows})
    return 0


def report_adapters() -> int:
    """Print each known debug adapter, what it debugs, and whether it is ready or how to get it; return 0.

    None is started to debug anything.
    """
    for definition in _definitions():
        found = detect(definition)
        languages = ", ".join(definition.languages) or definition.title
        title = f"{definition.id} {found.version}".rstrip()
        row = Finding(
            "ready" if found.ready else "missing", title, shortened(languages, LANGUAGES_COLUMNS)
        )
        own = definition.path.parent != shipped()
        _print([str(row), *([_below(f"defined in {definition.path}")] if own else [])])
        if not found.ready:
            get = [_below(f"Get it: {found.install}")] if found.install else []
            _print([_below(f"{found.missing}."), *get])
    return 0


def check(name: str, *, as_data: bool = False) -> int:
    """Start one adapter, debug a small program with it, and print how that went; return the exit code.

    Raises:
        AdapterUnknown: There is no adapter of this name.
    """
    return anyio.run(_check, require_definition(load_all(shipped(), user_folder()), name), as_data)


async def _check(definition: Definition, as_data: bool) -> int:
    """Print the findings of an adapter's trial as they come, or with `as_data` all at the end as JSON.

    Return the exit code: `NOTHING_READY` if the last finding is an error.
    """
    findings: list[Finding] = []
    async with aclosing(_trial(definition)) as trial:
        async for finding in trial:
            findings.append(finding)
            if not as_data:
                _print([str(finding)])
    if as_data:
        _print_data({"adapter": definition.id, "findings": [each.data() for each in findings]})
    return NOTHING_READY if findings[-1].state in ("missing", "failed", "slow") else 0


async def _trial(definition: Definition) -> AsyncGenerator[Finding]:
    """Yield the findings of one adapter as they come: installed, started, debugged a program.

    An error is the last one; nothing is raised.
    """
    there = await anyio.to_thread.run_sync(_adapter, definition)
    yield there
    if there.state == "missing":
        return
    for note in await anyio.to_thread.run_sync(_notes, definition):
        yield note
    with tempfile.TemporaryDirectory() as folder:
        try:
            pid, capabilities = await start_without_program(definition, Path(folder))
        except DapeerError as error:
            yield Finding("failed", definition.id, error.what)
            return
        yield Finding("ok", "starts", f"process {pid}")
        yield Finding(
            "ok", "answers `initialize`", f"{sum(map(bool, capabilities.values()))} capabilities"
        )
        outcome = (await try_adapters([definition], Path(folder)))[definition.id]
    if outcome.state == "ready":
        yield Finding("ok", "a program", outcome.detail)
    else:
        yield Finding(outcome.state, definition.id, outcome.detail)


def _assistants() -> list[Finding]:
    """Return a finding for each client that has dapeer in its configuration, or one that there is none.

    Their commands are started for that.
    """
    found = [
        Finding(reach.state, f"{reach.client.title} ({reach.scope})", reach.detail)
        for reach in anyio.run(try_clients, places_of_process())
    ]
    return found or [Finding("note", "none", f"`dapeer install {'|'.join(CLIENTS)}` connects one")]


def _definitions() -> Iterable[Definition]:
    return load_all(shipped(), user_folder()).values()


def _retired_keys() -> Iterator[Finding]:
    """Yield each key in the user's definitions of adapters and test runners that dapeer ignores now."""
    folder = user_folder()
    for path in sorted((*folder.glob("*.toml"), *folder.glob("tests/*.toml"))):
        for name in dict.fromkeys(retired_in(read_toml(path))):
            sentence = f"`{name}` in {path} is ignored: {RETIRED[name]} Remove it."
            yield Finding("note", path.stem, sentence)


def _adapter(definition: Definition) -> Finding:
    return finding_of(definition.id, detect(definition))


def _examined() -> list[Finding]:
    """Return findings on all adapters: whether each is installed, and debugs a small program, and notes."""
    definitions = list(_definitions())
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(_adapter, definitions))
    ready = [d for d, each in zip(definitions, found, strict=True) if each.state == "ready"]
    with tempfile.TemporaryDirectory() as folder:
        outcomes = anyio.run(try_adapters, ready, Path(folder))
    rows: list[Finding] = []
    for definition, each in zip(definitions, found, strict=True):
        outcome = outcomes.get(definition.id)
        if outcome is None:
            rows.append(each)
            continue
        where = f"{each.detail}: " * bool(each.detail)
        rows += [Finding(outcome.state, each.what, f"{where}{outcome.detail}"), *_notes(definition)]
    return rows


def _notes(definition: Definition) -> list[Finding]:
    """Return notes on an installed adapter: who else can use it, and which patches are off."""
    rows = rows_of(definition, detect(definition))
    return [*doors(definition), *rows_off(definition.id, rows)]


def rows_off(name: str, rows: Iterable[Patch]) -> list[Finding]:
    """Return a note for each patch that is off for the installed version of some software.

    `name` is the software's, for the notes.
    """
    return [
        Finding("note", name, f"not changed: {described(each)}")
        for each in rows
        if each.state == "off"
    ]


def doors(definition: Definition) -> list[Finding]:
    """Return a note on what other users of the machine can do while an adapter debugs; empty if nothing."""
    sentence = definition.open_to_others
    return [Finding("note", definition.id, sentence)] if sentence else []


def finding_of(name: str, detection: Detection) -> Finding:
    """Return the finding on whether an adapter is installed, and if not, how to get it.

    `name` is the adapter's id, `detection` what was found of it.
    """
    if detection.ready:
        return Finding(
            "ready", f"{name} {detection.version}".rstrip(), detection.found.get(name, "")
        )
    get = f"\n{_below(f'Get it: {detection.install}')}" if detection.install else ""
    return Finding("missing", name, f"{detection.missing}.{get}")


def _below(text: str) -> str:
    """Return a further line on what the line above is about."""
    return f"{'':11}{text}"


def _installation() -> Iterator[Finding]:
    """Yield findings on what dapeer itself needs: Python, packages, Neovim, and what the system allows."""
    yield Finding("ok", f"Python {platform.python_version()}", sys.executable)
    for package in ("mcp", "debugpy"):
        try:
            yield Finding("ok", f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            get = f"Get it: {sys.executable} -m pip install {package}"
            yield Finding("missing", package, get)
    yield neovim_finding(shutil.which("nvim"))
    yield from rows_off("nvim-dap", rows_of_nvim_dap()[0])
    if not ownership.reports_port_owners():
        yield Finding(
            "note",
            "TCP ports",
            "this system does not show who owns a port,  so other users can reach adapters that listen on one",
        )
    if sys.platform == "linux":
        yield ptrace_finding(ptrace_scope())


def neovim_finding(path: str | None) -> Finding:
    """Return the finding on the Neovim at `path`, which is run for its version; None: there is none."""
    if path is None:
        return Finding("note", "Neovim", "not found; only for sharing sessions with nvim-dap")
    version = version_of(path)
    if version is None:
        return Finding("note", "Neovim", f"{path} does not report its version")
    if too_old(version):
        return Finding("note", f"Neovim {version}", f"{path} is too old: 0.10 is needed")
    return Finding("ok", f"Neovim {version}", path)


def ptrace_finding(scope: int) -> Finding:
    """Return the finding on what Linux lets a debugger attach to, by its `ptrace_scope`.

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


def _print_data(data: object) -> None:
    sys.stdout.write(f"{json.dumps(data, ensure_ascii=False, indent=2)}\n")


def _print(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
