"""How something is debugged, and a process that waits for that before it becomes its program."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from dapeer.adapters.choice.choice import command_line
from dapeer.adapters.choice.core_dump import CoreDump
from dapeer.adapters.choice.interpreter import why_slow
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.placeholders import fill
from dapeer.adapters.definition.quirks import ANY_FILE
from dapeer.adapters.definition.sections import first_hint
from dapeer.adapters.definition.table import installation_values
from dapeer.adapters.launch_request import NamedTests
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import starter_environment
from dapeer.base.system.program_files import C_LIBRARY, has_section, named_libraries
from dapeer.dap.mapped import PathMapping
from dapeer.dap.messages import Body
from dapeer.mirror.post_mortem import PostMortem
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.view.advice import Advice

Changes = Mapping[str, str | None]
"""Variables of an environment to set, or with None to remove."""


@dataclass(slots=True, eq=False)
class WaitingProcess:
    """A process that a debuggee has started, and that waits before `exec`."""

    pid: int
    environment: Mapping[str, str]
    """The variables that it has."""
    _let_go: Callable[[Changes, Mapping[str, object]], None]
    """Tells it to go on, with changes of its environment, and what its adapter has reported."""
    event: str = ""
    """The event by which its adapter tells that it may go on; empty: none does."""
    has_gone: bool = field(default=False, init=False)
    """Whether it was told to go on."""

    def become(self, environment: Changes, reported: Mapping[str, object] | None = None) -> None:
        """Have the process become its program, with the variables of `environment` over its own.

        Those that have the same value already are left out. `reported` is what its adapter says with `event`. Nothing
        happens if the process was told so before.
        """
        if not self.has_gone:
            self.has_gone = True
            known = self.environment
            changes = {name: to for name, to in environment.items() if to != known.get(name)}
            self._let_go(changes, reported or {})


LONGEST_NAME = 60
STARTERS = frozenset(
    {"cargo", "cmake", "ctest", "env", "make", "ninja", "sudo", "time", "timeout", "xargs"}
)
"""Programs whose work is to start others."""
STARTS = "{} starts other programs, which {} does not follow: give one of those as `program`, or attach to it by its pid"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is needed to start a session, and to restart it."""

    definition: Definition
    request: Literal["launch", "attach"]
    inputs: Mapping[str, object]
    """The values of the definition's placeholders: program, args, cwd, env, python, pid, …"""
    config: Mapping[str, object] = field(default_factory=dict[str, object])
    """Adapter-specific keys, passed through untouched."""
    name: str = ""
    exception_filters: Sequence[str] | None = None
    functions: Sequence[str] = ()
    """Functions to stop in, in addition to the shared set."""
    conditions: Mapping[str, str] = field(default_factory=dict[str, str])
    """By exception filter: when it stops."""
    tests: NamedTests | None = None
    """The tests that are debugged, where they have a name."""
    mappings: Sequence[PathMapping] = ()
    """Where the program's files are here, as far as the adapter does not know it."""
    core: CoreDump | None = None
    """The core dump that is looked at."""
    calls_unfollowed: bool = False
    """Whether the program calls one of the `unfollowed` functions of its adapter."""
    breakpoints: Breakpoints | None = None
    """Where it stops and collects; None: as all others do."""
    environment: Mapping[str, str] = field(
        default_factory=starter_environment, repr=False, compare=False
    )
    """The variables of whoever has asked for the start; a restart has them as well."""
    offered: bool = False
    """Whether the adapter of another session has offered it: it has no adapter of its own."""
    waiting_process: WaitingProcess | None = field(default=None, repr=False, compare=False)
    """The process of a launched program that waits for this adapter; None: none does."""

    child_extensions: frozenset[str] = frozenset()
    """Extensions of files of other languages, in which programs that it starts are debugged."""

    @property
    def post_mortem(self) -> PostMortem | None:
        """Settings for a core dump."""
        return PostMortem(self.core.cause) if self.core else None

    @property
    def launched(self) -> bool:
        """Whether it starts the debuggee itself."""
        return self.request == "launch"

    @property
    def in_our_terminal(self) -> bool:
        """Whether the program starts in a terminal that is opened before its adapter."""
        return (
            self.launched and bool(self.inputs.get("terminal")) and self.definition.needs_terminal
        )

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of the `launch` or `attach` request, made of the definition, `inputs` and `config`.

        Raises:
            ArgumentError: The adapter cannot use an argument.
        """
        children = self.definition.children
        offered = {"follow_children": True} if children is not None and children.refuse else {}
        return self.definition.arguments(self.request, {**self.inputs, **offered}, self.config)

    @property
    def to_entry(self) -> Plan:
        """The same, but for a stop at the program's entry."""
        return replace(self, inputs={**self.inputs, "stop_on_entry": True})

    def begins_stopped(self, breakpoints: Breakpoints) -> bool:
        """Return whether the program is to stop at its entry, where it is told at which functions it collects.

        That is so for a launch of an adapter whose definition says so, if `breakpoints` collect at functions.
        """
        return (
            self.launched and self.definition.collect.at_entry and bool(breakpoints.function_points)
        )

    @property
    def runs_in_first_child(self) -> bool:
        """Whether the program is debugged as the first child of its session."""
        children = self.definition.children
        return children is not None and children.primary and not self.offered

    @property
    def refuses_children(self) -> bool:
        """Whether dapeer rejects the processes that the adapter offers.

        An adapter without `refuse` offers no unwanted process. What it offers all the same, such as a worker
        thread, is a part of the program, and waits until it is debugged.
        """
        children = self.definition.children
        unwanted = self.inputs.get("follow_children") is False
        return unwanted and children is not None and children.refuse

    def may_run_elsewhere(self, path: str, libraries: Iterable[str] = ()) -> bool:
        """Return whether the source file `path` may run in a process that the adapter does not debug.

        Where the quirk `unfollowed` lists `ANY_FILE`, that is so for every path but that of the program.
        Otherwise `path` does not matter: the result is true if the plan's `calls_unfollowed` is, or if a library
        calls one of the functions that the quirk lists, as far as the library's bytes tell. If the quirk lists
        none, the result is `calls_unfollowed`. `libraries` are paths; if there are none, the libraries that the
        program's file names are searched. The C library is skipped. The files are read, so this blocks.
        """
        functions = self.definition.quirks.unfollowed
        if ANY_FILE in functions:
            return path != self.inputs.get("program")
        if self.calls_unfollowed or not functions:
            return self.calls_unfollowed
        known = list(libraries) or named_libraries(str(self.inputs.get("program") or ""))
        return any(has_section(each, functions) for each in known if not C_LIBRARY.search(each))

    @property
    def relay(self) -> str:
        """A pattern for command lines of processes that the debugger starts beside the program; empty: none."""
        return self.definition.children.relay if self.definition.children else ""

    def plan_of_child(self, offered: Body) -> Plan:
        """Return the plan for a child process that the adapter offers.

        `offered` has the keys `request` and `configuration`, either of which may be missing. The request is
        "attach" unless `offered` says "launch"; the plan's `config` is the configuration, by default empty. The
        name is made by `child_name`, which may read the child's command line from the system. Of this plan's
        `inputs` only `follow_children` is kept; the new plan's `offered` is True, and no process waits for it.
        Everything else is as in this plan.
        """
        config: Mapping[str, object] = offered.get("configuration") or {}
        kept = {name: self.inputs[name] for name in ("follow_children",) if name in self.inputs}
        request = "launch" if offered.get("request") == "launch" else "attach"
        return replace(
            self,
            request=request,
            inputs=kept,
            config=config,
            name=self.child_name(config),
            offered=True,
            waiting_process=None,
        )

    def child_name(self, config: Mapping[str, object]) -> str:
        """Return a name for a child's session: its command line, else `config["name"]`, else the title.

        A child is a process that the program has started. `config` is the configuration that the adapter offers for
        it. Of the command line, which is read from the running process, the name is the part that the definition's
        pattern takes, without the project's folder and cut to `LONGEST_NAME` characters. The command line is passed
        over if the definition has no pattern or the pattern does not match, or the process id is unknown. The title
        is this plan's own.
        """
        children = self.definition.children
        pid = children.pid_of(config) if children is not None else 0
        if children is not None and pid and children.command:
            command = command_line(pid, children.command)
            if command:
                return command.replace(f"{self.inputs.get('project')}/", "")[:LONGEST_NAME]
        return str(config.get("name") or self.title())

    @property
    def advice(self) -> Advice:
        """The hints and remarks that the session's answers get, filled with this plan's inputs.

        They are made of the definition's hints on messages, of why a test's name is unknown, of a remark on the start (a program that
        starts others, a way to attach), and, for a launched Python program, of why it is slow.
        """
        python = (
            self.inputs.get("python") if self.launched and self.definition.uses("python") else None
        )
        values = {**self.inputs, "exception_filters": self.exception_filters}
        hint = functools.partial(first_hint, self.definition.hints, values)
        missing = self.tests.why_unknown if self.tests else None
        program = str(self.inputs.get("program") or "") if self.launched else ""
        remarks = [str(self.inputs.get("remark") or "")]
        by_pid = "pid" in self.inputs and "pid" in self.definition.attach
        if not self.launched and by_pid and self.waiting_process is None:
            remarks.append(self.definition.attach["pid"].say)
        if Path(program).name in STARTERS and self.definition.children is None:
            remarks.append(STARTS.format(Path(program).name, self.definition.id))
        remark = "; ".join(filter(None, remarks))
        if python is None:
            return Advice(hint, None, missing, program, remark)
        cwd = Path(str(self.inputs["cwd"]))
        slow = functools.partial(why_slow, str(python), self.definition.interpreter, cwd)
        return Advice(hint, str(python), missing, program, remark, slow)

    def why_untested(self, printed: str) -> str | None:
        """Return why a program that ended well has run no test, though it was to run some.

        The reason is a clause without a period, such as `its output says so`. None: it has run some, was to run
        none, or whether it has run any is not known. `printed` is all output of the program. The program's file
        may be read for the answer. The caller checks that the program has ended well.

        Raises:
            OSError: The program's file is there, but cannot be read.
        """
        if self.tests is not None:
            return self.tests.why_none_ran(printed)
        tests, program = self.definition.tests, str(self.inputs.get("program") or "")
        if tests is None or not self.launched or not program:
            return None
        if program == fill(tests.launcher, installation_values()):
            none = tests.none and re.search(tests.none, printed, re.MULTILINE)
            return "its output says so" if none else None
        if foreign_files.is_file(program) and tests.none_in(
            program, foreign_files.read_text(program)
        ):
            return f"it ran as a program; dap_run with program={Path(program).name}:: runs the tests of the file"
        return None

    def title(self) -> str:
        """Return `name`, else what is debugged (program, module, url, pid, …), else the adapter's id.

        What is debugged is the first of `core`, `program`, `module`, `code`, `url`, `pid` and `port` in `inputs` that
        is not None. For a program or core dump the result is its file's name, for a URL its first `LONGEST_NAME`
        characters, for others the kind with the value, such as `pid 12`, cut to 60. Names of files, and `name`, are not
        cut.
        """
        for key in ("core", "program", "module", "code", "url", "pid", "port"):
            value = self.inputs.get(key)
            if value is not None and not self.name:
                if key == "url":
                    return str(value)[:LONGEST_NAME]
                return (
                    Path(str(value)).name if key in {"core", "program"} else f"{key} {value}"[:60]
                )
        return self.name or self.definition.id
