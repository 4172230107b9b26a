"""`dapeer doctor`: what is installed, what is missing, and how to install it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

import anyio

import dapeer
from dapeer.adapters.choice.choice import require_definition
from dapeer.adapters.choice.detection import UNUSED, Detection, Patch, detect, patches, printed_rows
from dapeer.adapters.definition.definition import (
    Definition,
    load_all,
    names_in,
    shipped,
    user_folder,
)
from dapeer.adapters.definition.table import RETIRED, read_toml, retired_in
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.adapters.process.adapter import Adapter, open_adapter
from dapeer.adapters.process.children import HASTENED, why_not_allowed
from dapeer.adapters.process.owned_process import Reaper
from dapeer.base.errors import DapeerError, RequestFailed
from dapeer.base.json_types import Json
from dapeer.base.system import ownership
from dapeer.base.system.process_table import ptrace_scope
from dapeer.base.system.tasks import BackgroundTask
from dapeer.base.text.fitting import shortened
from dapeer.cli.install.clients import CLIENTS
from dapeer.cli.install.command import places_of_process
from dapeer.cli.install.reach import try_clients
from dapeer.companions.python.dapeer_debuggee import patching
from dapeer.dap.channel import Channel
from dapeer.dap.handshake import CLIENT
from dapeer.dap.messages import Body, Request
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.types import Variable
from dapeer.launch.plans import check_interpreter, plan_of
from dapeer.neovim.program import (
    find_nvim,
    find_nvim_dap,
    is_too_old,
    nvim_dap_install_folder,
    plugin_folder,
    version_of,
)
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

# Debugs a small program under each adapter, for `dapeer doctor`: start, breakpoint, local, end.

SECONDS_FOR_ALL: Final = 16.0
"""Seconds for the programs of all adapters together. To end those that are late takes up to 3 more."""
SECONDS_TO_END: Final = 1.0
MAX_READY_PROCESSES: Final = 2
"""Processes that are ready to run, for each processor, above which a machine is busy."""
NAME: Final = "answer"
VALUE: Final = "42"
COMPILERS: Final = ("cc", "gcc", "clang")
NO_KEYS: Final[Json] = {}
"""Nothing specific to an adapter."""

_C = """int main(void) {
    volatile int answer = 42;
    return answer - 42;
}
"""
_GO = """package main

func main() {
	answer := 42
	println(answer)
}
"""
_JAVA = """public class Trial {
    public static void main(String[] args) {
        int answer = 42;
        System.out.println(answer);
    }
}
"""
_HTML = """<!doctype html>
<script>
{
  const answer = 42;
  console.log(answer);
}
</script>
"""
PROGRAMS: Final = {
    ".c": ("trial.c", _C),
    ".cmake": ("trial.cmake", "set(answer 42)\nmessage(${answer})\n"),
    ".go": ("trial.go", _GO),
    ".html": ("trial.html", _HTML),
    ".java": ("Trial.java", _JAVA),
    ".js": ("trial.js", "const answer = 42;\nconsole.log(answer);\n"),
    ".pl": ("trial.pl", 'my $answer = 42;\nprint "$answer\\n";\n'),
    ".py": ("trial.py", "answer = 42\nprint(answer)\n"),
    ".rb": ("trial.rb", "answer = 42\nputs answer\n"),
    ".sh": ("trial.sh", "answer=42\necho $answer\n"),
}
"""By extension: the name and text of a program that sets `answer` to 42, and uses it in a later line."""


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """How a trial has gone."""

    state: Literal["ready", "failed", "slow"]
    """Slow: the time was up on a busy machine, so nobody knows."""
    detail: str
    """What was done, or what went wrong: the end of a sentence."""


async def try_adapters(definitions: Sequence[Definition], folder: Path) -> dict[str, TrialOutcome]:
    """Debug a small program under each of these adapters at once, and return the outcomes by id.

    Programs are written below `folder`. An adapter that is late is ended. All of it takes at most `SECONDS_FOR_ALL`
    and about 3 seconds more, or until a compiler that still runs has ended.
    """
    async with Debugger({each.id: each for each in definitions}, folder) as debugger:
        trials = {each.id: _Trial(debugger, each, folder / each.id) for each in definitions}
        running = {name: BackgroundTask(each.outcome()) for name, each in trials.items()}
        with anyio.move_on_after(SECONDS_FOR_ALL):
            await _wait_until_ended(running.values())
        outcomes = {
            name: task.result() if task.done else trials[name].late()
            for name, task in running.items()
        }
        for task in running.values():
            task.cancel()
        # What does not end by then, ends by force with the debugger.
        with anyio.move_on_after(SECONDS_TO_END):
            await _wait_until_ended(running.values())
    await _wait_until_ended(running.values())
    return outcomes


async def _wait_until_ended(tasks: Iterable[BackgroundTask[TrialOutcome]]) -> None:
    """Wait until all tasks have ended."""
    for each in tasks:
        await each.wait_for_end()


class _Trial:
    """A program under one adapter."""

    def __init__(self, debugger: Debugger, definition: Definition, folder: Path) -> None:
        self._debugger = debugger
        self._definition = definition
        self._folder = folder
        self._step_name = "start"

    def late(self) -> TrialOutcome:
        """Return the outcome of a trial whose time is up: failed, or slow if the machine is busy."""
        late = f"did not {self._step_name} within {SECONDS_FOR_ALL:g} s"
        if os.getloadavg()[0] <= MAX_READY_PROCESSES * (os.cpu_count() or 1):
            return TrialOutcome("failed", late)
        alone = f"`dapeer doctor {self._definition.id}` tries it alone"
        return TrialOutcome("slow", f"not tried to the end, this machine is busy: {late}; {alone}")

    async def outcome(self) -> TrialOutcome:
        """Debug the small program of the adapter's language, and return how that went.

        The outcome is `ready`, or `failed` with the error of dapeer, the system or the compiler, which is not raised. Where dapeer has no
        program for it, or lacks a compiler, the adapter is only started. Files are written into the trial's folder.
        """
        began = time.perf_counter()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            names = (*self._definition.opens, *self._definition.extensions)
            known = next((e for e in names if e in PROGRAMS), None)
            if known is None:
                return await self._start_adapter_only("dapeer has no program for it")
            source, text = self._folder / PROGRAMS[known][0], PROGRAMS[known][1]
            source.write_text(text, encoding="utf-8")
            program = source
            if self._definition.binaries and known == ".c":
                compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
                if compiler is None:
                    return await self._start_adapter_only(
                        f"needs a compiler: {' or '.join(COMPILERS)}"
                    )
                program = await anyio.to_thread.run_sync(_compile_program, compiler, source)
            await self._debug_program(source, program, 1 + _last_line_with(text))
        except (DapeerError, OSError, subprocess.SubprocessError) as error:
            return TrialOutcome("failed", getattr(error, "what", "") or str(error))
        return TrialOutcome("ready", f"debugged a program in {time.perf_counter() - began:.1f} s")

    async def _start_adapter_only(self, why: str) -> TrialOutcome:
        """Start the adapter without a program, and return a ready outcome that says `why`.

        Raises:
            DapeerError: It does not start, or does not answer.
        """
        await start_without_program(self._definition, self._folder)
        return TrialOutcome("ready", f"starts; not tried with a program: {why}")

    async def _debug_program(self, source: Path, program: Path, line: int) -> None:
        """Launch a program with a breakpoint at `line` of `source`, read a local there, and end the program.

        `program` is what is launched: the source, or what was compiled of it. `_step_name` is set to what is tried, for `late`.

        Raises:
            DapeerError: It does not start, does not stop, the local there is wrong, or it does not end. It may
                run on: the end of the debugger, which the caller has opened, ends it.
        """
        inputs = {"program": str(program), "cwd": str(self._folder)}
        request = LaunchRequest(self._definition.id, "launch", "", inputs, NO_KEYS, [])
        plan = await anyio.to_thread.run_sync(
            plan_of, self._debugger, request, "launch", inputs, NO_KEYS
        )
        await anyio.to_thread.run_sync(check_interpreter, plan)
        own = Breakpoints(exceptions=[])
        own.add(str(source), RequestedBreakpoint(line=line))
        session = await self._debugger.start(replace(plan, breakpoints=own))
        self._step_name = "stop at a breakpoint"
        stopped = await session.program.next_stop(session, 0, SECONDS_FOR_ALL)
        if stopped is None or stopped.mirror.stop is None:
            raise DapeerError("passed the breakpoint without a stop", "")
        self._step_name = "show a local variable"
        value = await _fetch_local_value(stopped)
        if value != VALUE:
            raise DapeerError(f"showed the local variable {NAME} as {value}, not {VALUE}", "")
        self._step_name = "end the program"
        await self._debugger.terminate(session)


def _last_line_with(text: str) -> int:
    """Return the number, from 0, of the last line of a text that has the variable's name."""
    lines = text.splitlines()
    return max(number for number, line in enumerate(lines) if NAME in line)


def _compile_program(compiler: str, source: Path) -> Path:
    """Compile a C file with debug information, and return the program's path.

    Raises:
        subprocess.SubprocessError: The compiler fails.
    """
    target = source.with_suffix("")
    command = [compiler, "-g", "-O0", "-o", target, source]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return target


async def _fetch_local_value(session: Session) -> str | None:
    """Fetch the locals at a session's stop, and return the value of the local `NAME` as text.

    The local is looked for among the locals, and then among the children of each of them, which are requested until
    it is found. A `$` before a name and quotes around a value are dropped. None means that there is no such variable.
    The wait for the stop's locals has no limit of its own: the caller sets one.

    Raises:
        NotStopped: The session is not stopped.
        DapeerError: The request for the children of a local failed.
    """
    stop = session.mirror.require_stop()
    await session.inspect.wait_until_inspected(stop)
    found = _value_of_name(stop.locals())
    for each in stop.locals():
        if found is None and each["variablesReference"]:
            found = _value_of_name(await session.inspect.variables(each["variablesReference"]))
    return found


def _value_of_name(variables: Sequence[Variable]) -> str | None:
    """Return the value of the variable `NAME`, without quotes; None if it is not among these."""
    values = {each["name"].lstrip("$"): each["value"].strip("\"'") for each in variables}
    return values.get(NAME)


# -- an adapter alone


async def start_without_program(definition: Definition, folder: Path) -> tuple[int | None, Body]:
    """Start an adapter without a program, end it again, and return its process id and its capabilities.

    The id is None if the adapter runs elsewhere; the capabilities are those in its response to `initialize`.
    `folder` is where a program is written, and left, for an adapter that starts with one. The end of the
    adapter is waited for.

    Raises:
        DapeerError: The adapter does not start, ends, rejects `initialize`, or does not answer in its
            definition's time.
        OSError: The program cannot be written.
    """
    reaper = Reaper()
    try:
        inputs = _inputs_to_start_adapter(definition, folder)
        async with open_adapter(definition, "launch", inputs, reaper) as adapter:
            return adapter.pid, await _capabilities(definition, adapter)
    finally:
        await reaper.aclose()


def _inputs_to_start_adapter(definition: Definition, folder: Path) -> dict[str, object]:
    """Return the inputs to start an adapter with, by name, where nothing is to be debugged.

    They have `cwd`, which is `folder`. If the adapter starts together with a program, a file with the single line
    `0` is written into `folder`, and the inputs also have its path as `program`, and empty `args`.

    Raises:
        OSError: The file cannot be written.
    """
    if "program" not in names_in({}, definition.transport):
        return {"cwd": str(folder)}
    program = folder / f"empty{next(iter(definition.extensions), '')}"
    # A line there has to be: the debugger of Ruby stops at the first one, and lives till then.
    program.write_text("0\n", encoding="utf-8")
    return {"cwd": str(folder), "program": str(program), "args": []}


async def _capabilities(definition: Definition, adapter: Adapter) -> Body:
    """Send `initialize` to a started adapter, and return the capabilities in its response.

    Raises:
        RequestFailed: The adapter rejects the request.
        RequestTimeout: It does not answer in the time that its definition gives.
        ChannelClosed: It ends first.
    """
    channel = Channel(adapter.transport, lambda _message: None, _refuse)
    receiving = BackgroundTask(channel.run())
    arguments = {**CLIENT, "adapterID": definition.adapter_id}
    try:
        return await channel.request("initialize", arguments, seconds=definition.timeouts.start)
    finally:
        receiving.cancel()
        await receiving.wait_for_end()


async def _refuse(request: Request) -> Body:
    """Reject a request of the adapter's.

    Raises:
        RequestFailed: Always.
    """
    raise RequestFailed(request.command, "dapeer only looks whether the adapter works")


NOTHING_READY: Final = 1
"""Exit code when nothing can be debugged."""


LANGUAGES_COLUMNS: Final = 45
"""Columns for languages, in a terminal of 80."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a report."""

    state: Literal["ok", "ready", "note", "missing", "failed", "slow"]
    subject: str
    detail: str = ""

    def data(self) -> dict[str, str]:
        """Return it as data."""
        return {"state": self.state, "what": self.subject, "detail": self.detail}

    def __str__(self) -> str:
        return f"  {self.state:8} {self.subject:22} {self.detail}".rstrip()


def report() -> int:
    """Print the state of this installation, its debug adapters and assistants; return the exit code.

    Each ready adapter debugs a small program, and each assistant's command is started; this blocks for a
    while. The code is 0 if at least one adapter is `ready` after that, else `NOTHING_READY`; assistants do not
    count. An adapter that dapeer has no program for, or no compiler, is `ready` if it starts.
    """
    _print([f"dapeer {dapeer.__version__}", *map(str, _installation())])
    sys.stdout.flush()  # what follows takes a while
    found = _examine_all()
    _print(["", "Debug adapters", *map(str, found), *map(str, _retired_keys())])
    _print([f"  Put your own into {user_folder()}"])
    _print(["", "Assistants", *map(str, _assistants())])
    return 0 if any(finding.state == "ready" for finding in found) else NOTHING_READY


def report_as_data() -> int:
    """Print the state of this installation, its adapters and assistants as JSON; return the exit code.

    Each ready adapter debugs a small program, or is only started where dapeer has none or lacks a compiler, and
    each assistant's command is started. The keys are `version`, `installation`, `adapters` and `assistants`; the
    last three are lists of findings, each with `state`, `what` and `detail`. The code is 0 if an adapter is still
    `ready` after that, else `NOTHING_READY`. It runs event loops of its own, so it must not be called in one.

    Raises:
        DefinitionError: The definition of an adapter is wrong; nothing is printed.
    """
    found = _examine_all()
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
    """Print each known debug adapter as JSON, with whether it is ready, and return 0.

    Programs may be run to ask for their versions; none is started to debug. The key `adapters` has a list of
    objects with `adapter` (the id), `languages` (a list), `ready` (true or false), `version`, `missing` (what is
    missing, as the end of a sentence), `install` (the command that gets the adapter) and `definition` (the path of
    its file); the user's definitions come first. What is not known is an empty text; `install` is there for a ready
    adapter, too.

    Raises:
        DefinitionError: A definition is wrong, or a folder has an id twice; nothing is printed.
    """
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

    Programs may be run to ask for their versions, and are waited for; none is started to debug. Of an adapter that
    the user has defined, the definition's file is printed, too.

    Raises:
        DefinitionError: A definition file is wrong, or one folder defines an id twice; nothing was printed then.
    """
    for definition in _definitions():
        found = detect(definition)
        languages = ", ".join(definition.languages) or definition.title
        title = f"{definition.id} {found.version}".rstrip()
        row = Finding(
            "ready" if found.ready else "missing", title, shortened(languages, LANGUAGES_COLUMNS)
        )
        own = definition.path.parent != shipped()
        _print([str(row), *([_further_line(f"defined in {definition.path}")] if own else [])])
        if not found.ready:
            get = [_further_line(f"Get it: {found.install}")] if found.install else []
            _print([_further_line(f"{found.missing}."), *get])
    return 0


def print_trial(name: str, *, as_data: bool = False) -> int:
    """Start one adapter, debug a small program with it, and print how that went; return the exit code.

    Raises:
        AdapterUnknown: There is no adapter of this name.
    """
    return anyio.run(_check, require_definition(load_all(shipped(), user_folder()), name), as_data)


async def _check(definition: Definition, as_data: bool) -> int:
    """Print the findings of an adapter's trial as they come, or with `as_data` all at the end as JSON.

    The trial starts the adapter and debugs a small program with it. The JSON has `adapter`, the adapter's id, and
    `findings`. Return the exit code: `NOTHING_READY` if the last finding is `missing`, `failed` or `slow`, else
    0.

    Raises:
        OSError: The program or its temporary folder cannot be written; with `as_data` nothing is printed then.
    """
    findings: list[Finding] = []
    async with aclosing(_trial_findings(definition)) as trial:
        async for finding in trial:
            findings.append(finding)
            if not as_data:
                _print([str(finding)])
    if as_data:
        _print_data({"adapter": definition.id, "findings": [each.data() for each in findings]})
    return NOTHING_READY if findings[-1].state in ("missing", "failed", "slow") else 0


async def _trial_findings(definition: Definition) -> AsyncGenerator[Finding]:
    """Yield what a trial of one adapter finds, as it comes: installed, starts, debugs a program.

    Notes on the adapter (state `note`) come after the first finding. If a step fails, the last finding says so by
    its state `missing`, `failed` or `slow`, and later steps are left out. Programs are written into a temporary
    folder, and run. A `DapeerError` of a start or trial is not raised, but becomes a finding.

    Raises:
        OSError: The program for the start, or the temporary folder, cannot be written.
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
            yield Finding("failed", definition.id, error.problem)
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


def _examine_all() -> list[Finding]:
    """Return findings on all adapters: whether each is installed, and debugs a small program, and notes.

    Each adapter has one finding, in the order of the definitions; behind it are its notes if it was tried. Only
    adapters that are ready are tried: all at once, each on a program in a folder that is removed afterwards.
    The trials take at most `SECONDS_FOR_ALL` and about 3 seconds more. The call blocks until all is known, and
    runs an event loop of its own, so it must not be called in one.

    Raises:
        DefinitionError: A definition is wrong, or a folder defines an id twice.
    """
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
        rows += [
            Finding(outcome.state, each.subject, f"{where}{outcome.detail}"),
            *_notes(definition),
        ]
    return rows


def _notes(definition: Definition) -> list[Finding]:
    """Return notes on an installed adapter: who else can use it, and which patches are off."""
    rows = rows_of(definition, detect(definition))
    return [*access_note(definition), *rows_off(definition.id, rows)]


def rows_off(name: str, rows: Iterable[Patch]) -> list[Finding]:
    """Return a note for each patch that is off for the installed version of some software.

    `name` is the software's, for the notes.
    """
    return [
        Finding("note", name, f"not changed: {patch_text(each)}")
        for each in rows
        if each.state == "off"
    ]


def access_note(definition: Definition) -> list[Finding]:
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
    get = f"\n{_further_line(f'Get it: {detection.install}')}" if detection.install else ""
    return Finding("missing", name, f"{detection.missing}.{get}")


def _further_line(text: str) -> str:
    """Return a further line on what the line above is about."""
    return f"{'':11}{text}"


def _installation() -> Iterator[Finding]:
    """Yield findings on what dapeer itself needs: Python, packages, Neovim, and what the system allows.

    Neovim is run for its version, and for the changes in nvim-dap that are off.
    """
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
            "this system does not show who owns a port, so other users can reach adapters that listen on one",
        )
    if sys.platform == "linux":
        yield ptrace_finding(ptrace_scope())


def neovim_finding(path: str | None) -> Finding:
    """Return the finding on the Neovim at `path`; None for `path` means that there is no Neovim.

    The Neovim is run for its version, which blocks until it ends, without a limit. The finding is `ok`, or a
    `note` that Neovim is missing, too old, or does not report a version.
    """
    if path is None:
        return Finding("note", "Neovim", "not found; only for sharing sessions with nvim-dap")
    version = version_of(path)
    if version is None:
        return Finding("note", "Neovim", f"{path} does not report its version")
    if is_too_old(version):
        return Finding("note", f"Neovim {version}", f"{path} is too old: 0.10 is needed")
    return Finding("ok", f"Neovim {version}", path)


def ptrace_finding(scope: int) -> Finding:
    """Return the finding on what Linux lets a debugger attach to, by its `ptrace_scope`.

    With 0 it is `ok`; with any other number a note on what attaching needs, or that it is off until the next boot (3). The meaning of the
    numbers: Documentation/admin-guide/LSM/Yama.rst of the kernel.
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


# What dapeer changes in other software: all rows of the register, in all languages, with states.

PRINT_ROWS: Final = """
local internals = require('dapeer.nvim_dap.internals')
internals.when_loaded(function() end)
require('dap')
io.stdout:write(internals.rows() .. '\\n')
"""
"""What Neovim runs to print the rows of nvim-dap."""


def report_patches() -> int:
    """Print all that dapeer changes in other software, with the state of each change, and return 0.

    It runs other programs, such as adapters and Neovim, to ask for the changes that fit them.

    Raises:
        DefinitionError: A definition file is wrong, or one folder defines an id twice; nothing is printed.
    """
    lines = [
        f"{patching.SETTING}=off runs without all of these, {patching.SETTING}=-NAME without one."
    ]
    for title, rows, missing in _changes_by_software():
        lines += ["", title, *(line for row in rows for line in _lines(row))]
        lines += [f"  missing  {missing}"] * (not rows)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _changes_by_software() -> Iterator[tuple[str, list[Patch], str]]:
    """Yield (title, rows of its changes, reason) for each software that dapeer changes.

    These are the adapters whose definition, shipped or the user's, has patches, and last Neovim with
    nvim-dap. A row is a `Patch`, one change. The reason tells why there are no rows; where there are some, it
    is also a text, but means nothing. Programs are run to ask for versions and rows, Neovim among them, so
    each step blocks.

    Raises:
        DefinitionError: A definition file is wrong, or one folder defines an id twice.
    """
    for definition in load_all(shipped(), user_folder()).values():
        if definition.detect.patches:
            detection = detect(definition)
            rows = rows_of(definition, detection)
            yield definition.title, rows, detection.missing or "it did not answer"
    yield "Neovim (nvim-dap)", *rows_of_nvim_dap()


def _lines(row: Patch) -> list[str]:
    """Return two lines on a change, its state and what is lost without it, then why it is off, if it is.

    The first line has the state (`on`, `off`, or `unused`: the software needs no change as it is), the name, whose
    software it is, and the versions that the change was tried with. Only the third line, with the reason, is
    missing for a change that is `on`. The lines have no line ends; nothing is printed.
    """
    off = [f"           Off: {row.off.removeprefix(UNUSED)}"] if row.off else []
    return [
        f"  {row.state:8} {row.name:26} {row.whose} {row.tried}".rstrip(),
        f"           {row.lost}",
        *off,
    ]


def rows_of(definition: Definition, detection: Detection) -> list[Patch]:
    """Return the changes that dapeer makes in an installed adapter, and around it; empty if not ready."""
    if not detection.ready:
        return []
    hastened = [_nodelay_row()] if definition.children and definition.children.relay else []
    return [*patches(definition, detection.found), *hastened]


def _nodelay_row() -> Patch:
    """Return the row of the change that has connections of a program send small messages at once.

    The row's last field says why the change is off: it is switched off, or the system does not allow it; empty:
    it is on. Unless it is switched off, a short-lived process is started to find that out, for which this blocks.

    Raises:
        OSError: That process cannot be started.
    """
    off = (
        f"switched off by {patching.SETTING}"
        if patching.is_switched_off(HASTENED.name)
        else why_not_allowed()
    )
    tried = " to ".join(dict.fromkeys(patching.tried[HASTENED.whose]))
    return Patch(HASTENED.name, HASTENED.whose, tried, HASTENED.lost, off)


def rows_of_nvim_dap() -> tuple[list[Patch], str]:
    """Return the changes that dapeer makes in nvim-dap, and why there are none, if the list is empty.

    Neovim is started with the nvim-dap that is found, and asked; this blocks. The list is empty if Neovim or
    nvim-dap is missing, or if Neovim prints nothing in time. If Neovim prints something else than the changes, such
    as an error, each line of that is a row without a name, which is off and has the line as `lost`. The reason is a
    text in any case, and counts only with an empty list.
    """
    nvim, nvim_dap = find_nvim(), find_nvim_dap()
    if nvim is None:
        return [], "nvim was not found"
    if nvim_dap is None:
        return (
            [],
            f"nvim-dap is not in {nvim_dap_install_folder()}; $DAPEER_NVIM_DAP names another folder",
        )
    found = f"set runtimepath^={plugin_folder()},{nvim_dap}"
    start = [nvim, "--clean", "-n", "--headless", "--cmd", found]
    rows = printed_rows([*start, "-c", f"lua {' '.join(PRINT_ROWS.split())}", "-c", "quitall!"])
    return rows, "Neovim did not answer"


def patch_text(patch: Patch) -> str:
    """Return a patch's name, what is lost without it, and why it is off, as one text."""
    named = f"{patch.name}: {patch.lost}" if patch.name else patch.lost
    return f"{named} ({patch.off})"
