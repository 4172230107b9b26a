"""Debugs programs of other languages that a program starts, as its children.

Our code in the debuggee starts a stand-in in their place (`companions/process/stand_in.py`), which calls here and waits. An adapter of
their language is attached to it; then it becomes the program, in which that adapter's breakpoints bind. A debugger of native code is
attached before. That of an interpreter says first with which environment the interpreter finds it.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from dapeer.adapters.choice.choice import choose_for_process
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import check_version
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.placeholders import fill_table, fill_texts
from dapeer.adapters.definition.sections import OF_WAITING, Command, InterpreterArguments
from dapeer.adapters.definition.table import COMPANIONS, installation_values
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.base.errors import DapeerError
from dapeer.base.json_types import as_object, is_array
from dapeer.base.system.process_table import (
    ancestors,
    command_line,
    descendants,
    program_file,
    tracer,
)
from dapeer.base.system.program_files import (
    has_section,
    interpreter_command,
    interpreter_path,
    shebang,
)
from dapeer.base.system.threads import in_thread
from dapeer.base.system.unix_peer import is_trusted, unix_peer
from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import escaped
from dapeer.launch.plans import plan_of
from dapeer.launch.request import BreakpointInFile
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.plan import Changes, Plan, WaitingProcess
from dapeer.sessions.core.program import Program
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

log = logging.getLogger(__name__)

SETTING = "DAPEER_CHILDREN"
"""The variable that tells our code in the debuggee who gets a stand-in, and where these call."""
STAND_IN = COMPANIONS / "process" / "stand_in.py"
LINE_SECTIONS = (".debug_info", ".zdebug_info")
"""Sections of a compiled program that has line numbers."""
SECONDS_TO_ATTACH = 5.0
"""How long a stand-in waits at most."""
ATTACHES_AT_ONCE = 8
"""Stand-ins that are attached to side by side: each takes a debugger."""
MAX_COMMAND_CHARS = 60
MAX_LINE_BYTES = 1 << 24
"""More than a command line and an environment can have, as JSON."""
UNDEBUGGED = "child {pid} `{command}` ran undebugged: {why}; {how}"
NAMED = "process {pid} `{command}` runs undebugged, and a breakpoint is in a file of its language; {how}"
BY_PID = 'dap_run(request="attach", pid={pid}) attaches'
BY_PORT = '`{listen}` makes it listen, then dap_run(request="attach", port={port}) attaches'


async def start_with_children(
    debugger: Debugger, plan: Plan, breakpoints: Sequence[BreakpointInFile]
) -> Session:
    """Start a plan; debug children of other languages, if a breakpoint is in a file of theirs.

    `breakpoints` are pairs of file and breakpoint; they are added to the shared set, whose breakpoints count, too.
    The children are left alone for a plan that attaches, with `follow_children` false, for an adapter whose
    definition has no stand-ins for them, and where there are no Unix sockets, or none can be listened at (a warning
    is logged then). A restart of the session starts the program in the same way.

    Raises:
        DapeerError: The program does not start.
    """
    if not _is_wanted(plan):
        return await debugger.start(plan, breakpoints)
    session = await _start(debugger, plan, breakpoints)
    debugger.sessions.set_restart(
        session, functools.partial(start_with_children, debugger, plan, ())
    )
    return session


async def _start(
    debugger: Debugger, plan: Plan, breakpoints: Sequence[BreakpointInFile]
) -> Session:
    """Start a plan; if a breakpoint is in a file of another language, listen for stand-ins beside.

    A stand-in is our process in the place of a child, which waits until it is debugged. `breakpoints` are pairs of
    file and breakpoint; those of the shared set count, too. Without a breakpoint in a file of another language,
    nothing listens. Where no socket can be listened at, a warning is logged, and the program is started without.
    The socket is closed if the start fails.

    Raises:
        DapeerError: The program does not start.
    """
    paths = {*debugger.breakpoints.paths, *(path for path, _ in breakpoints)}
    wanted = _adapters_for_files(debugger, plan, paths)
    if not wanted:
        return await debugger.start(plan, breakpoints)
    waiting = _StandIns(debugger, plan)
    with ExitStack() as undone:
        undone.callback(waiting.close)
        try:
            listening = await waiting.listen(wanted)
        except OSError as error:
            log.warning("children of other languages are not debugged: %s", error)
            return await debugger.start(plan, breakpoints)
        session = await debugger.start(listening, breakpoints)
        undone.pop_all()
    waiting.begin(session)
    return session


async def note_undebugged(debugger: Debugger, program: Program[Session]) -> None:
    """Note a program's processes that no debugger has, though a breakpoint is for their language.

    That is a language which the program's adapter does not debug: a shell has started them, say, or
    Node.js. A note says how to attach to the process; it is kept by the program, whose `take_undebugged`
    returns it. Each process is noted once. Nothing is done for a program that was attached to or has ended,
    whose process id is not known, or whose first session is nvim-dap's (forwarded to dapeer), or without
    such a breakpoint.
    """
    first = program.first
    if not isinstance(first, DirectSession) or not first.plan.launched or first.is_over:
        return
    wanted = _adapters_that_attach(debugger, first.plan, {*debugger.breakpoints.paths})
    pid = pid_of(first) if wanted else 0
    if pid:
        known = {pid_of(each) for each in program.sessions}
        for child, fitting in await in_thread(_undebugged_processes, pid, known, debugger, wanted):
            shown = shortened(escaped(command_line(child)), MAX_COMMAND_CHARS)
            how = _how_to_attach(fitting, child)
            program.add_undebugged(child, NAMED.format(pid=child, command=shown, how=how))


def _how_to_attach(definition: Definition, pid: int) -> str:
    """Return by which call a definition's adapter attaches to a process that runs."""
    attach = definition.attach.get("tcp")
    if "pid" in definition.attach or attach is None or not attach.listen:
        return BY_PID.format(pid=pid)
    listen = attach.listen.replace("${pid}", str(pid))
    return BY_PORT.format(listen=listen, port=attach.usual_ports[0])


def _undebugged_processes(
    pid: int, known: set[int], debugger: Debugger, wanted: Sequence[Definition]
) -> list[tuple[int, Definition]]:
    """Return those of a process and its descendants that a wanted definition debugs, each with that.

    Left out are descendants in `known` (process ids; `pid` itself is looked at all the same, since `os.execv` may have made it another
    program), processes that are traced or wait for dapeer, debuggers' own, and native programs without line numbers. It reads files of
    all processes: call it in a thread.
    """
    found: list[tuple[int, Definition]] = []
    # The program itself may have become another one (`os.execv`).
    for each in (pid, *descendants(pid)):
        if (each in known and each != pid) or tracer(each) or str(STAND_IN) in command_line(each):
            continue
        with suppress(DapeerError):
            fitting = choose_for_process(debugger.definitions, pid=each)
            relay = fitting.children.relay if fitting.children else ""
            if relay and re.search(relay, command_line(each)):
                continue
            lines = not fitting.binaries or has_section(program_file(each), LINE_SECTIONS)
            if fitting in wanted and lines:
                found.append((each, fitting))
    return found


def _is_wanted(plan: Plan) -> bool:
    """Return whether a plan launches a program whose children of other languages are to be debugged."""
    children = plan.definition.children
    able = plan.launched and children is not None and children.stand_ins
    return able and plan.inputs.get("follow_children") is not False and hasattr(socket, "AF_UNIX")


def _adapters_for_files(debugger: Debugger, plan: Plan, paths: set[str]) -> list[Definition]:
    """Return the adapters that debug a stand-in, for files that the plan's does not debug, by rank.

    Each is for at least one of the files. `paths` are files with breakpoints.
    """
    return [each for each in _adapters_that_attach(debugger, plan, paths) if each.debugs_waiting]


def _with_stand_ins(definition: Definition, env: Mapping[str, object]) -> dict[str, object]:
    """Return the environment `env` with the variables by which dapeer's code gets into the program.

    That code starts programs of other languages as stand-ins, which wait for their debugger. The variables are
    `stand_in_env` of the definition's `children`; what `env` has in one of them follows the new value behind a
    blank. The result is a new dict with all of `env`, and no more than that if the definition names no such
    variables.
    """
    children = definition.children
    ours = fill_table(
        children.stand_in_env if children else {}, {**installation_values(), "word": "${word}"}
    )
    joined = {name: f"{each} {env[name]}" if env.get(name) else each for name, each in ours.items()}
    return {**env, **joined}


def _can_debug(definition: Definition, told: _StandInFacts) -> bool:
    """Return whether a definition's adapter can debug a process that waits, judged by its command line.

    `told` is what the stand-in has told of that command line. The answer is True for an adapter that is not
    inserted into the command line (its way to attach to waiting processes has no `inserted`). For one that is
    inserted behind the interpreter's options, it is False if the interpreter runs neither a module, nor code, nor a
    file that exists, or if what it runs is a debugger itself (the definition's pattern `served_by`).
    """
    way = definition.attach.get(OF_WAITING)
    if way is None or not way.inserted:
        return True
    split = told.split_command(definition)[1]
    served = definition.attach["tcp"].served_by if "tcp" in definition.attach else ""
    is_there = split.how != "program" or (Path(told.folder) / split.target).exists()
    return bool(split.how) and is_there and not (served and re.search(served, split.target))


def _command_below_adapter(
    definition: Definition, told: _StandInFacts, reported: Mapping[str, object]
) -> dict[str, object]:
    """Return what a stand-in is told to run in place of its command: that, below its adapter's code.

    A stand-in is a process that waits before it runs its command. The result has `executable` (the
    interpreter's file), `command` (its words), and `environment`, changes to the variables of the stand-in:
    None removes one; the adapter's own variables are set only where the stand-in has none of the name. `told`
    is what the stand-in has told of its command. `reported` are values for the placeholders of
    `definition.attach[OF_WAITING]` that the adapter has told. The installed adapter is looked for by
    `detect`, which may start a program, and so blocks. Nothing is sent here.

    Raises:
        KeyError: `definition` has no way to attach to a waiting process.
    """
    way = definition.attach[OF_WAITING]
    interpreter, split = told.split_command(definition)
    values = {**installation_values(), **detect(definition).found, **reported}
    how = {"module": ["-m"], "code": ["-c"]}.get(split.how, [])
    words = [*fill_texts(way.inserted, values), *how, split.target, *split.args]
    ours = {
        name: each for name, each in definition.launch_env.items() if name not in told.environment
    }
    return {
        "executable": interpreter_path(told.path, told.environment)
        if told.is_script
        else told.executable,
        "command": [interpreter, *split.options, *words],
        "environment": {**ours, **dict.fromkeys(way.removed)},
    }


def _is_interpreter_of(definition: Definition, executable: str) -> bool:
    """Return whether a file is an interpreter of a definition's, or a script whose first line names it."""
    command = definition.command
    names = {Path(each).name for each in (executable, os.path.realpath(executable))}
    named = command is not None and any(map(command.is_interpreter, names))
    return named or shebang(executable) in definition.shebangs


def _adapters_that_attach(debugger: Debugger, plan: Plan, paths: set[str]) -> list[Definition]:
    """Return the adapters that attach, for any of the files that the plan's does not debug, by rank.

    `paths` are files with breakpoints. An adapter counts if its definition has a way to attach, and the extension of at least one file that
    the plan's adapter does not accept. It may be not installed. The list is empty if there is no such file.
    """
    foreign = [Path(each).suffix.lower() for each in paths if not plan.definition.accepts(each)]
    able = [
        each
        for each in debugger.definitions.values()
        if each.attach and {*each.extensions} & {*foreign}
    ]
    return sorted(able, key=lambda each: each.rank)


@dataclass(slots=True, eq=False)
class _StandIns:
    """Stand-ins of one program, and where they call."""

    debugger: Debugger
    plan: Plan
    _first_session: DirectSession | None = None
    _begun_event: anyio.Event = field(default_factory=anyio.Event)
    _limit: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(ATTACHES_AT_ONCE)
    )
    _cleanups: ExitStack = field(default_factory=ExitStack)

    async def listen(self, wanted: Sequence[Definition]) -> Plan:
        """Listen at a Unix socket that is this user's alone, until `close`; return the changed plan.

        `wanted` are the definitions of adapters that debug children. In the returned plan, the program's
        environment has the variable `SETTING`, by which the program's stand-ins find the socket, and the
        variables by which the definition gets the stand-ins into the program; `child_extensions` has the file
        extensions of `wanted`. `self.plan` stays as it is.

        Raises:
            OSError: The system gives no such socket.
        """
        folder = self._cleanups.enter_context(self.debugger.temporary_folder())
        server = await asyncio.start_unix_server(
            self._connected, folder / "children", limit=MAX_LINE_BYTES
        )
        self._cleanups.callback(server.close)
        setting = {
            "script": str(STAND_IN),
            "socket": str(folder / "children"),
            "seconds": SECONDS_TO_ATTACH,
            "python": sys.executable,
            "native": any(OF_WAITING not in each.attach for each in wanted),
            # Its own language's, too, for the children of its children.
            "names": "|".join(
                each.command.names
                for each in (*wanted, self.plan.definition)
                if OF_WAITING in each.attach and each.command
            ),
        }
        env = {**as_object(self.plan.inputs.get("env")), SETTING: json.dumps(setting)}
        env = _with_stand_ins(self.plan.definition, env)
        files = frozenset(name for each in wanted for name in each.extensions)
        return replace(self.plan, inputs={**self.plan.inputs, "env": env}, child_extensions=files)

    def close(self) -> None:
        """Listen no more; stand-ins that wait run on."""
        self._begun_event.set()
        self._cleanups.close()

    def begin(self, session: Session) -> None:
        """Attach to stand-ins as children of a session from now on, until its program has ended."""
        self._first_session = session if isinstance(session, DirectSession) else None
        self._begun_event.set()
        self.debugger.start_task(self._close_at_end, session)

    async def _close_at_end(self, session: Session) -> None:
        try:
            await session.wait_for(lambda: not session.program.living_sessions, None)
        finally:
            self.close()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.debugger.start_task(self._serve, reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Debug the stand-in that has connected, and let it go on in any case; errors are logged.

        It waits until the first session of the program is known. A process that is not of this program, or that
        nobody means, goes on undebugged; so does one whose start fails, of which the program gets a note. `reader`
        and `writer` are the connection, which is closed at the end: the stand-in sends what it is as a line of JSON,
        and goes on when it is sent one.
        """
        waiting: WaitingProcess | None = None

        def let_go(answer: Mapping[str, object]) -> None:
            """Tell the stand-in to become its program."""
            # It may have gone on by itself.
            with suppress(OSError):
                writer.write(json.dumps(answer).encode() + b"\n")

        try:
            pid = _peer_process(writer.get_extra_info("socket"))
            told = _StandInFacts.read(await reader.readline())
            await self._begun_event.wait()
            parent = self._parent(pid)
            definition = await in_thread(self._definition_for, told)
            if parent is not None and definition is not None:
                way = definition.attach.get(OF_WAITING)

                def go(changes: Changes, reported: Mapping[str, object]) -> None:
                    """Tell the stand-in to become its program under its adapter."""
                    under = _command_below_adapter(definition, told, reported) if reported else {}
                    let_go({"environment": changes, **under})

                event = way.event if way else ""
                waiting = WaitingProcess(pid, told.environment, go, event)
                await self._debug(parent, definition, waiting, told, reader)
        except Exception:
            log.exception("a child of another language")
        finally:
            if waiting is None:
                let_go({})
            else:
                waiting.become({})
            with suppress(OSError):
                writer.close()

    def _definition_for(self, told: _StandInFacts) -> Definition | None:
        """Return the definition of the adapter that is to debug the program of a stand-in, a child process.

        `told` is what the stand-in says of itself. The adapter must fit the file (its interpreter, or any binary
        where no definition knows the interpreter), and a breakpoint must be set in a file of its language, or it must
        be the program's own, which comes last. Of these the first by rank that is ready is chosen, or else the first,
        which is not ready: its start then fails. None: no adapter is such, or the chosen one cannot begin with such a
        command line, so the child is not to be debugged. It reads files: call it in a thread.
        """
        executable = told.path
        able = _adapters_for_files(self.debugger, self.plan, {*self.debugger.breakpoints.paths})
        able += [self.plan.definition] if OF_WAITING in self.plan.definition.attach else []
        interpreters = [
            each
            for each in self.debugger.definitions.values()
            if _is_interpreter_of(each, executable)
        ]
        fitting = [
            each
            for each in able
            if (each in interpreters if interpreters else OF_WAITING not in each.attach)
        ]
        chosen = next((each for each in fitting if detect(each).ready), next(iter(fitting), None))
        return chosen if chosen is not None and _can_debug(chosen, told) else None

    def _parent(self, pid: int) -> DirectSession | None:
        """Return the session to whose process a stand-in belongs: that of the nearest process above it.

        `pid` is the stand-in's process id. If no process above has a living session, the session that acts for the
        program's first one is returned, or None if that is over or no direct one. The result is also None if the
        first session is over, was ended by a tool or is no direct one, or if `pid` is 0 or no process that the
        program has started.
        """
        first = self._first_session
        if first is None or first.is_over or first.is_ended_by_tool or not pid:
            return None
        if not first.adapter_process.processes.has_started(pid):
            return None
        debugged = (each for each in first.program.debugged if isinstance(each, DirectSession))
        by_pid = {each.pid: each for each in debugged if not each.is_over}
        acting = first.program.session_for_tool(first, exactly=True)
        usual = acting if isinstance(acting, DirectSession) and not acting.is_over else None
        return next((by_pid[each] for each in ancestors(pid) if each in by_pid), usual)

    async def _debug(
        self, parent: DirectSession, definition: Definition, waiting: WaitingProcess, told: _StandInFacts, reader: asyncio.StreamReader
    ) -> None:  # fmt: skip
        """Start a session for a stand-in, or note why that was not done; return when it may go on.

        `definition` is that of its adapter, `told` what the stand-in says of itself, and `parent` the session that its
        own becomes a child of, and whose program gets the note. `reader` ends when the stand-in has gone on: if dapeer
        has not let it, and it is not traced yet, the start is cancelled, and the note says that no debugger came in
        time. No error of the start is raised: the note tells it.
        """
        shown = shortened(escaped(told.command), MAX_COMMAND_CHARS)
        why = f"no debugger came within {SECONDS_TO_ATTACH:g} s"
        async with anyio.create_task_group() as tasks:

            async def give_up() -> None:
                """Cancel the start when the stand-in does not wait any more."""
                await reader.read()
                if not waiting.has_gone and not tracer(waiting.pid):
                    tasks.cancel_scope.cancel()

            tasks.start_soon(give_up)
            try:
                async with self._limit:
                    plan = await in_thread(self._plan, definition, waiting, told, shown)
                    await self.debugger.start(plan, (), parent)
                why = ""
            except DapeerError as error:
                why = error.problem.rstrip(".")
            except Exception as error:
                log.exception("a child of session %s", parent.id)
                why = f"dapeer cannot do it: {error}"
            tasks.cancel_scope.cancel()
        if why:
            how = _how_to_attach(definition, waiting.pid)
            note = UNDEBUGGED.format(pid=waiting.pid, command=shown, why=why, how=how)
            parent.program.add_undebugged(waiting.pid, note)

    def _plan(
        self, definition: Definition, waiting: WaitingProcess, told: _StandInFacts, command: str
    ) -> Plan:
        """Return the plan of an attach to a stand-in, by the adapter of a definition; nothing is started.

        A stand-in is a process of dapeer's that was started in place of a program of another language; it waits,
        and becomes that program later. `waiting` is that process, `told` is what it says of the program (path,
        folder, environment), and `command` the program's command line, which becomes the session's name. Where
        the adapter attaches to a process that waits to execute its program, an interpreter of Python may be run
        for its version, which blocks: call this in a thread. An adapter that has no such way attaches by the
        process id.

        Raises:
            DapeerError: The adapter cannot debug that interpreter, or there can be no such plan.
        """
        inputs: dict[str, Any] = {"pid": waiting.pid, "cwd": self.plan.inputs["cwd"]}
        if OF_WAITING in definition.attach:
            executable = interpreter_path(told.path, told.environment)
            if definition.uses("python"):
                check_version(executable, definition.interpreter, Path(told.folder))
            env = _with_stand_ins(definition, told.environment)
            more = {"executable": executable, "python": executable, "follow_children": True}
            # Where its adapter starts it anew, it asks for the whole.
            more |= {} if definition.attach[OF_WAITING].inserted else {"env": env}
            inputs = {"cwd": told.folder, **more}
        launch = LaunchRequest(definition.id, "attach", command, inputs, {}, None)
        plan = plan_of(self.debugger, launch, "attach", inputs, {}, waits=True)
        return replace(plan, waiting_process=waiting)


@dataclass(frozen=True, slots=True)
class _StandInFacts:
    """What a stand-in tells of itself; of its environment what is text, without half a character."""

    words: Sequence[str]
    """Its command line, as it is."""
    executable: str
    """The file that it executes, seen from `folder`."""
    folder: str
    environment: Mapping[str, str]

    @property
    def command(self) -> str:
        """Its command line as a text."""
        return " ".join(map(_shown, self.words))

    @property
    def path(self) -> str:
        """The path of the file that it executes."""
        return os.path.join(self.folder, self.executable)  # noqa: PTH118 - it may be no text

    @property
    def is_script(self) -> bool:
        """Whether the file is a script, whose first line names its interpreter."""
        return bool(interpreter_command(self.path, self.environment))

    def split_command(self, definition: Definition) -> tuple[str, InterpreterArguments]:
        """Return the process's interpreter, and its arguments split by a definition's `[command]`.

        For a script, the interpreter is that of its first line, as a path if it is found, the arguments that
        line's options, the script's path and the script's own arguments. For any other command line, the
        interpreter is the first of `words` (the executable if there are no words), and the arguments are the
        others. The second item tells the interpreter's options from what it runs and the arguments of that; all
        its parts are empty where nothing that the interpreter runs is found. A definition without `[command]`
        counts as one with an empty one.
        """
        command = definition.command or Command()
        script = interpreter_command(self.path, self.environment)
        if script:
            # As the system does it.
            return script[0], command.split([*script[1:], self.executable, *self.words[1:]])
        name, *rest = self.words or [self.executable]
        return name, command.split(rest)

    @classmethod
    def read(cls, line: bytes) -> _StandInFacts:
        """Read what a stand-in tells of itself from its line of JSON.

        The keys of the object are `command` (a list of words), `executable`, `folder` and `environment` (an object). A key
        that is absent is read as empty, and so are all if the value is no object; variables whose name or value is no
        valid text are left out.

        Raises:
            ValueError: The line is no JSON.
        """
        said = as_object(json.loads(line))
        words = said.get("command")
        return cls(
            [str(each) for each in words] if is_array(words) else [],
            str(said.get("executable") or ""),
            str(said.get("folder") or ""),
            {
                name: str(value)
                for name, value in as_object(said.get("environment")).items()
                if _shown(name) == name and _shown(str(value)) == value
            },
        )


def _peer_process(connection: socket.socket) -> int:
    """Return the process id at the other end of a Unix socket; 0: unknown, or another user's."""
    if not is_trusted(unix_peer(connection)) or not hasattr(socket, "SO_PEERCRED"):
        return 0
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return memoryview(credentials).cast("i")[0]


def _shown(text: str) -> str:
    r"""Return an argument of a command line without what is no text, such as half a character.

    >>> ascii(_shown("h\udcffi"))
    "'h\\ufffdi'"
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def pid_of(session: Session) -> int:
    """Return the process id of a session's program; 0 if it is not known."""
    if isinstance(session, DirectSession):
        return session.pid
    return session.watched_pid() or int(session.mirror.process.get("systemProcessId") or 0)
