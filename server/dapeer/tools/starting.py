"""Tools that start debug sessions, under dapeer's own adapter or in a Neovim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from dapeer.adapters.choice.choice import find_definition
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import find_python
from dapeer.adapters.definition.definition import INPUTS, RequestName
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.adapters.named_tests import node_id
from dapeer.base.errors import ArgumentError, NeovimError
from dapeer.base.json_types import Json
from dapeer.base.sources import with_home_folder
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import environment_for
from dapeer.base.system.tasks import first_of
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import indented, lines_of
from dapeer.launch.configurations import Configuration, KnownConfigurations
from dapeer.launch.inheritance import end_earlier_programs, inheritance_of
from dapeer.launch.launch_json import Compound
from dapeer.launch.request import given_arguments, resolve_breakpoint_files
from dapeer.launch.start import MAX_DESCRIPTION_CHARS, Launcher, Where, names_of
from dapeer.launch.tasks import StartTasks
from dapeer.launch.tasks_json import TaskPlan
from dapeer.peers.consent_kinds import (
    ALL,
    EVALUATE,
    RUN,
    THEN,
    VALUES,
    WRITE,
    ArgumentKinds,
    CallKinds,
    has_condition,
)
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.registry import Group
from dapeer.sessions.triggers.runs import SECONDS_TO_STOP, TriggerRun
from dapeer.tools.base.arguments import (
    BreakpointArgument,
    claim_breakpoints,
    resolve_column,
    split_breakpoints,
)
from dapeer.tools.base.call import Call, RemainingTime, Reply, with_notes
from dapeer.tools.base.groups import SECONDS_AFTER_FIRST, group_line
from dapeer.tools.base.report import StopOptions
from dapeer.tools.base.schema import Unlisted
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import TriggerArguments, next_stop
from dapeer.tools.running import RepeatUntil, StartedProgram

# Starts several programs as one group: a compound of launch.json, or one program several times.


@dataclass(frozen=True, slots=True)
class StartedGroup:
    """What is started together, by the labels of its members."""

    call: Call
    name: str
    members: Mapping[str, StartedProgram]
    tasks: TaskPlan
    stop_all: bool = False

    async def run(self, options: StopOptions, triggers: TriggerArguments) -> Reply:
        """Start all members, and return the state of the session that stops first, as a reply.

        The sessions become a group with this object's name; with `stop_all`, all end once one has ended. `triggers`
        (requests or input for the program) are sent in the background, to the first member. Tasks that come before
        are awaited; those that run beside end with the last member. `options` say what to evaluate and show, and
        how long to wait; with `wait_until_paused` false there is no wait. If no member stops in that time, or all
        end, the reply shows one that still runs, or else the first. The session shown becomes the client's default.

        Raises:
            DapeerError: A task fails, a member does not start, or the triggers are not valid or type into a program
                that has no terminal; members and tasks that have started are ended, but for processes that were
                attached to.
        """
        tasks = StartTasks(self.call.debugger, self.tasks)
        told = await tasks.run_before()
        sessions: dict[str, Session] = {}
        try:
            for label, each in self.members.items():
                sessions[label] = await each.begin()
            first = next(iter(sessions.values()))
            ready = next(iter(self.members.values())).start.ready
            triggers.begin(self.call, first, ready)
        except BaseException:
            tasks.release()
            for label, session in sessions.items():
                await self.members[label].end(session)
            raise
        client = self.call.focus.key
        news = self.call.debugger.triggers
        tasks.until_end_of_all([*sessions.values()], lambda line: news.add_line(client, line))
        group = self.call.debugger.groups.add(self.name, sessions, stop_all=self.stop_all)
        if self.stop_all:
            self.call.debugger.start_task(self._end_together, group)
        return await self._show_first_stop(
            group, told, options, news.find_untold_run(first, client)
        )

    async def _show_first_stop(
        self, group: Group, told: Sequence[str], options: StopOptions, run: TriggerRun | None
    ) -> Reply:
        """Wait for the first stop of a group's members, and return the state of that session as a reply.

        `told` are notes for the reply; `run` is the sending of triggers (requests or commands that make the programs
        do something), or None. If nothing stops in time, or soon after the triggers have ended, a member that still
        runs is shown, or the first if all have ended. The shown session becomes the client's default, and what is
        shown of it counts as shown. Once one has stopped, the others get `SECONDS_AFTER_FIRST` at most to stop, too.
        `options` say what to evaluate and show, and how long to wait: not at all if `wait_until_paused` is false. The
        reply's notes have the group, `told`, and what the members' tasks had to say.

        Raises:
            NotStopped: The program left the stop before the first expression of `options` was evaluated.
        """
        left = RemainingTime(options.timeout_ms if options.wait_until_paused else 0)
        sessions = [*group.members.values()]
        stopped = await first_stop(sessions, left.remaining_ms / 1000, run)
        shown = stopped or next((each for each in sessions if not each.is_over), sessions[0])
        self.call.focus.set_default(shown)
        reply = await next_stop(self.call, shown, 0, 0, options=options)
        notes = [note for each in self.members.values() for note in each.task_notes]
        return with_notes(
            reply,
            [f"{group_line(group)}; group={group.name!r} asks all", *told, *dict.fromkeys(notes)],
        )

    async def _end_together(self, group: Group) -> None:
        """Wait until the program of one member has ended, then end all others; those attached to are left."""
        sessions = group.members
        await first_of(*(partial(_wait_for_program_end, each) for each in sessions.values()))
        for label, session in sessions.items():
            if session.program.living_sessions:
                await self.members[label].end(session)


async def _wait_for_program_end(session: Session) -> None:
    """Wait until all processes of the session's program have ended."""
    await session.program.waiters.wait_for(lambda: not session.program.is_alive, None)


async def first_stop(
    sessions: Sequence[Session], seconds: float, run: TriggerRun | None
) -> Session | None:
    """Wait until one of several programs is stopped; return the session that is, the first in order.

    `sessions` has one session of each program; the returned one may be another of its program, such as a child
    process's. Once one is stopped, the other programs get up to `SECONDS_AFTER_FIRST` to stop, too. None: all
    have ended, `seconds` have passed, or the triggers `run` (None: there are none) have ended and no stop has
    followed within `SECONDS_TO_STOP`. These two limits come on top of `seconds`, and are no longer than it.
    Nothing is sent.
    """

    def all_still() -> bool:
        return all(each.program.stopped_sessions or not each.program.is_alive for each in sessions)

    def stopped() -> Session | None:
        return next((each for one in sessions for each in one.program.stopped_sessions), None)

    def over() -> bool:
        done = run is not None and run.ended_at is not None
        return stopped() is not None or done or not any(each.program.is_alive for each in sessions)

    await _until(sessions, over, seconds)
    if run is not None and run.ended_at is not None:
        await _until(sessions, lambda: stopped() is not None, min(seconds, SECONDS_TO_STOP))
    if (first := stopped()) is not None:
        # The others are about to stop where it has.
        await _until(sessions, all_still, min(seconds, SECONDS_AFTER_FIRST))
        return first
    return None


async def _until(sessions: Sequence[Session], happened: Callable[[], bool], seconds: float) -> None:
    """Wait until `happened` is true, for at most `seconds`.

    It is asked again whenever one of the programs reports something.
    """
    waits = (partial(each.program.waiters.wait_for, happened, seconds) for each in sessions)
    await first_of(*waits)


def replace_number(
    env: Mapping[str, str] | None, args: Sequence[str] | None, number: int
) -> dict[str, Any]:
    """Return those of `env` and `args` that are not None, with `{i}` in their values replaced by `number`.

    The keys of the result are `env` and `args`.
    """
    sign, own = "{i}", str(number)
    changed: dict[str, Any] = {}
    if env is not None:
        changed["env"] = {name: value.replace(sign, own) for name, value in env.items()}
    if args is not None:
        changed["args"] = [each.replace(sign, own) for each in args]
    return changed


MAX_PROCESSES = 64
"""Processes that one call starts side by side."""
MAX_LISTED_CONFIGURATIONS = 50
"""Configurations that are listed."""


class ConfigurationFacts(TypedDict):
    """A configuration, and where it can be started."""

    name: str
    type: str
    request: str
    origin: str
    where: list[str]
    asks: NotRequired[list[str]]
    tasks: NotRequired[list[str]]
    """What runs before and after it, each with its command."""
    problem: NotRequired[str]
    """Why its tasks cannot be run."""


class Configurations(TypedDict):
    """The configurations that can be started by name."""

    configurations: list[ConfigurationFacts]
    compounds: NotRequired[dict[str, list[str]]]
    """Names for several configurations that are started together."""
    problem: NotRequired[str]


_START_KINDS: Final = CallKinds(
    RUN,
    (
        ArgumentKinds("code", EVALUATE),
        ArgumentKinds("config", ALL, "(it may hold commands)"),
        ArgumentKinds("configuration", ALL, "(it may hold commands)"),
        ArgumentKinds("breakpoints", WRITE),
        ArgumentKinds("breakpoints[].condition", EVALUATE),
        ArgumentKinds("breakpoints[].hit_condition", EVALUATE),
        ArgumentKinds("breakpoints[].log_message", EVALUATE),
        ArgumentKinds("breakpoints[].collect", EVALUATE),
        ArgumentKinds("breakpoints[].calls", EVALUATE),
        ArgumentKinds("breakpoints[].expect", EVALUATE),
        ArgumentKinds("exception_filters", WRITE),
        ArgumentKinds("fresh", WRITE),
        ArgumentKinds("exception_filters[]", EVALUATE, "with a condition", has_condition),
        *VALUES,
        *THEN,
    ),
    "any program, with any arguments and environment: enough to run any code",
)


@tool("Configurations", section=Section.START, read_only=True, output=Configurations, starts=True)
async def dap_configurations(call: Call) -> Reply:
    """List what can be started by its name, from launch.json and Neovim, and what each asks for.

    Programs are started to find which adapters are ready. The data has `configurations`, at most
    `MAX_LISTED_CONFIGURATIONS`, each with `name`, `type`, `request`, `origin`, `where` (a list of `nvim` and
    `direct`; empty: no adapter is ready), and maybe `asks` and `tasks` (lists of texts) and `problem`, why its
    tasks cannot be run. If there are compounds, `compounds` has the names of the members by the compound's name.
    A `problem` beside these says that a file cannot be read, that Neovim does not answer or tell its
    configurations, or that there is no Python interpreter, without which no adapter is known to be ready.
    """
    launcher = Launcher(call.debugger, call.peers)
    peer = launcher.peer
    problem = ""
    of_neovims: list[dict[str, Any]] = []
    types: list[str] = []
    if peer is not None:
        state = await peer.why_blocked()
        problem = f"Neovim does not answer: it {state}." if state else ""
        if not state:
            try:
                of_neovims, types = await peer.configurations(), await peer.adapter_types()
            except NeovimError as error:
                problem = str(error)
    found = await launcher.all_configurations(of_neovims)
    try:
        ready = await in_thread(_ready_definition_ids, call.debugger, found)
    except ArgumentError as error:
        ready, problem = set[str](), f"{problem} {error}".strip()
    rows = [
        {**_row(each, types, ready, call.debugger), **_tasks_of(found, each)}
        for each in found.configurations[:MAX_LISTED_CONFIGURATIONS]
    ]
    lines = [indented(_line(row)) for row in rows] or ["There are no configurations."]
    compounds = {name: [*each.members] for name, each in found.compounds.items()}
    lines += [
        indented(f"{name} (compound): {', '.join(each)}; starts them together, as a group")
        for name, each in compounds.items()
    ]
    cut = len(found.configurations) - len(rows)
    problem = " ".join(filter(None, [found.problem, problem]))
    lines += [f"… and {cut} more."] * bool(cut) + [problem] * bool(problem)
    data: dict[str, Any] = {"configurations": rows, **({"problem": problem} if problem else {})}
    data |= {"compounds": compounds} if compounds else {}
    return Reply(lines_of(lines), data)


def _ready_definition_ids(debugger: Debugger, found: KnownConfigurations) -> set[str]:
    """Return the ids of the installed adapters' definitions that found configurations need.

    Configurations whose type no adapter has are left out. This blocks while programs are asked for their
    versions, so it runs in a thread.

    Raises:
        ArgumentError: No Python interpreter is found for the project.
    """
    python = find_python(None, debugger.project, environment_for(debugger.project))
    by_type = {
        each.type: find_definition(debugger.definitions, each.type) for each in found.configurations
    }
    by_id = {each.id: each for each in by_type.values() if each is not None}
    return {name for name, each in by_id.items() if detect(each, python=python).ready}


def _row(
    each: Configuration, types: Sequence[str], ready: set[str], debugger: Debugger
) -> dict[str, Any]:
    """Return a configuration as data: `name`, `type`, `request`, `origin`, `where`, and maybe `asks`.

    `origin` is `launch.json`, or `nvim` for one of Neovim's. `where` is a list: it has `nvim` if the type, or
    another name of its adapter, is among the `types` of nvim-dap, and `direct` if the id of its adapter's
    definition is in `ready`. `asks` has descriptions of the inputs that only a person can give, ten at most; it
    is left out if there are none. `debugger` has the definitions.
    """
    definition = find_definition(debugger.definitions, each.type)
    names = names_of(each.type, definition)
    where = ["nvim"] * any(name in types for name in names)
    where += ["direct"] * (definition is not None and definition.id in ready)
    asks = [
        shortened(str(ask), MAX_DESCRIPTION_CHARS)
        for ask in each.left_to_ask({}, {}, in_neovim="nvim" in where)
    ]
    row = {"name": each.name, "type": each.type, "request": each.request}
    row |= {"origin": each.origin, "where": where}
    return row | ({"asks": asks[:10]} if asks else {})


def _tasks_of(found: KnownConfigurations, chosen: Configuration) -> dict[str, Any]:
    """Return the tasks of a configuration as `tasks`, or as `problem` why they cannot be run.

    `tasks` are shortened texts `LABEL: COMMAND`, of those before and after the configuration with what they depend
    on. `found` has all configurations with the project's tasks, `chosen` is one of them. Empty: it has no tasks, or
    the project has no launch.json that could be read.
    """
    try:
        plan = found.task_plan(chosen, {})
    except ArgumentError as error:
        return {"problem": shortened(error.problem, 2 * MAX_DESCRIPTION_CHARS)}
    tasks = [shortened(each, MAX_DESCRIPTION_CHARS) for each in plan.named]
    return {"tasks": tasks} if tasks else {}


def _line(row: Json) -> str:
    """Return the data of a configuration, as `_row` and `_tasks_of` make it, as one line.

    The line is `NAME (TYPE, REQUEST) of ORIGIN: WHERE`, and then what it asks for, its tasks and its problem, as
    far as the data has them. Where `where` is empty, the line says that no adapter is ready.
    """
    where = ", ".join(row["where"]) or "cannot be started: no adapter is ready"
    asks = f"; asks for {'; '.join(row['asks'])}" if "asks" in row else ""
    tasks = f"; runs {'; '.join(row['tasks'])}" if "tasks" in row else ""
    problem = f"; {row['problem']}" if "problem" in row else ""
    head = f"{row['name']} ({row['type']}, {row['request']}) of {row['origin']}"
    return f"{head}: {where}{asks}{tasks}{problem}"


@dataclass(frozen=True)
class StartArguments:
    """What a caller asks to be started: the target, or what is there already, and how it is debugged."""

    program: Annotated[str | None, Field(description="or URL, or a.py::test_b")] = None
    module: str | None = None
    code: str | None = None
    configuration: str | None = None
    inputs: Annotated[Mapping[str, str] | None, Unlisted()] = None
    """Answers for `${input:…}` of a configuration; `file` is the file in an editor."""
    type: Annotated[str | None, Field(description="adapter")] = None
    request: RequestName | None = None
    pid: Annotated[int | None, Field(ge=1)] = None
    tree: Annotated[bool, Unlisted(), Field(description="its descendants, too")] = False
    host: Annotated[str | None, Unlisted()] = None
    port: Annotated[int | None, Field(ge=1, le=65535)] = None
    core: Annotated[str | None, Unlisted()] = None
    name: Annotated[str | None, Unlisted()] = None
    args: Sequence[str] | None = None
    cwd: str | None = None
    env: Mapping[str, str] | None = None
    python: Annotated[str | None, Unlisted()] = None
    breakpoints: Sequence[BreakpointArgument] = ()
    exception_filters: Annotated[list[str] | None, Field(description="[] none")] = None
    stop_on_entry: bool | None = None
    config: Annotated[Mapping[str, Any] | None, Field(description="adapter's own keys")] = None
    where: Where = "auto"
    terminal: Annotated[bool, Field(description="to type input")] = False
    stdin: Annotated[str | None, Unlisted(), Field(description="a file to read")] = None
    follow_children: bool = True
    just_my_code: bool = True
    fresh: Annotated[bool, Field(description="start clean")] = False
    repeat: Annotated[int, Field(ge=1)] = 1
    processes: Annotated[
        int,
        Unlisted(),
        Field(ge=1, le=MAX_PROCESSES, description="at once; env {i}: number"),
    ] = 1
    until: RepeatUntil | None = None

    def as_request(self, *, terminal: bool = False) -> LaunchRequest:
        """Return these arguments as a launch request; what the caller has left out is not in it.

        `terminal`: the program is to run in a terminal, even if the arguments do not say so.
        """
        named = (name for name in INPUTS if name != "url")
        inputs = given_arguments({name: getattr(self, name) for name in named})
        inputs |= {"terminal": True} if terminal else {}
        kind, name, config = self.type, self.name or "", self.config or {}
        return LaunchRequest(kind, self.request, name, inputs, config, self.exception_filters)

    @property
    def is_repeated(self) -> bool:
        """Whether there is more than one run."""
        return self.repeat > 1

    @property
    def is_stopped(self) -> bool:
        """Whether the arguments themselves say where it stops: at its entry, or in a core dump."""
        return bool(self.stop_on_entry or self.core)

    def check_repetition(self, *, sends: bool) -> None:
        """Raise an error if `until` is given without `repeat`, or triggers (`sends`) together with `repeat`.

        Raises:
            ArgumentError: One of the two.
        """
        if sends and self.is_repeated:
            raise ArgumentError(
                "`then` is for one run, not for `repeat`.", "Leave one of them out."
            )
        if self.until is not None and not self.is_repeated:
            raise ArgumentError("`until` says when to stop repeating.", "Give `repeat`, too.")

    def check_tree(self) -> None:
        """Raise an error if `tree` is given without a process to attach to, or with `where="nvim"`.

        `tree` debugs a process with its descendants. Nothing happens without it.

        Raises:
            ArgumentError: `tree` is given, and `pid` is not, `request` is `launch`, or `where` is `nvim`.
        """
        if self.tree and (self.pid is None or self.request == "launch"):
            raise ArgumentError(
                "`tree` attaches to a process and its descendants.",
                "Give the `pid` of the process.",
            )
        if self.tree and self.where == "nvim":
            raise ArgumentError(
                "nvim-dap attaches to one process.", "Leave `where` out, or `tree`."
            )

    def check_stdin(self) -> None:
        """Raise an error if the file `stdin` is given for a program that cannot read it.

        Nothing is checked if `stdin` is None.

        Raises:
            ArgumentError: The program is attached to, is a core dump, has a terminal, or is to be started by
                nvim-dap.
        """
        if self.stdin is None:
            return
        if self.request == "attach" or self.pid or self.port or self.core:
            raise ArgumentError(
                "`stdin` is for a program that dapeer starts.", "Leave `stdin` out."
            )
        if self.terminal:
            raise ArgumentError(
                "A program reads either the file `stdin` or its terminal.",
                "Leave `terminal` out, or `stdin`.",
            )
        if self.where == "nvim":
            raise ArgumentError(
                "nvim-dap gives a program no file to read.", "Leave `where` out, or `stdin`."
            )

    def where_to_start(self, *, collects: bool) -> Where:
        """Return where to start the program: what `where` says, but `direct` for `auto` in some cases.

        These are several runs, a run that `collects`, a process with its descendants, and a program that reads a file as
        its standard input: nvim-dap is of no use for them.
        """
        elsewhere = self.is_repeated or collects or self.tree or self.stdin is not None
        return "direct" if elsewhere and self.where == "auto" else self.where


async def _tasks_to_explain(call: Call, values: Json) -> Json:
    """Return the tasks that a call's configuration or compound runs, for the consent question to a person.

    The result has one key `tasks`, a list of texts `LABEL: COMMAND` read from the project's files; nothing
    runs. `values` are the checked arguments of `dap_run`. Nothing is raised: where a task cannot be run, or
    asks what only a person can answer, all tasks of its configuration are missing.
    The result is empty if `configuration` is None, is unknown, or has no tasks.
    """
    name = values["configuration"]
    if name is None:
        return {}
    launcher = Launcher(call.debugger, call.peers, values["inputs"] or {})
    tasks = await launcher.tasks_named(name, values["config"] or {})
    return {"tasks": tasks} if tasks else {}


@tool(
    "Run or attach",
    section=Section.START,
    kinds=_START_KINDS,
    is_lean=True,
    starts=True,
    explain=_tasks_to_explain,
)
async def dap_run(
    call: Call, arguments: StartArguments, triggers: TriggerArguments, options: StopOptions
) -> Reply:
    """Debug a program or attach to one, to its first stop or end.

    The arguments name a `program`, `module`, `code` or `configuration` to launch, or a process to attach to (`pid`,
    `port`), and how it is debugged; with `repeat` it runs several times one after the other, with `processes` side by
    side, as do the members of a compound configuration. `fresh` ends this client's earlier programs first. Breakpoints
    are set before it starts. `then` lists what is sent once it is ready. The options say what is evaluated at the next
    stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how many milliseconds to wait
    (`wait_until_paused`, `timeout_ms`). The first stop, or the end, is returned, or the state if neither comes in that
    time; the session becomes the default. Notes say what was inherited from before.

    Raises:
        ArgumentError: The arguments contradict each other, or a file or breakpoint is invalid: nothing was started;
            or the adapter lacks an exception filter: tasks before the program were run then.
        DapeerError: It does not start, or a task before it fails; of several programs, those that were started are
            ended. Or, with `fresh`, an earlier program does not end; others may have been ended then.
    """
    triggers.check()
    arguments.check_repetition(sends=bool(triggers.then))
    arguments.check_tree()
    arguments.check_stdin()
    compound = await _launcher(call, arguments).compound(
        arguments.configuration, arguments.config or {}
    )
    if compound is not None:
        return await _start_compound(call, arguments, triggers, options, *compound)
    if arguments.processes > 1:
        return await _start_several(call, arguments, triggers, options)
    started = await _prepare(call, arguments, triggers)
    return await started.run(
        arguments.repeat, arguments.until or "stop", options, stops=arguments.is_stopped
    )


def _launcher(call: Call, arguments: StartArguments) -> Launcher:
    """Return a new launcher, which decides where programs start, with the caller's answers for inputs."""
    return Launcher(call.debugger, call.peers, arguments.inputs or {})


async def _prepare(
    call: Call, arguments: StartArguments, triggers: TriggerArguments, *, is_last: bool = True
) -> StartedProgram:
    """Return the program that arguments describe, ready to be started, its breakpoints checked.

    Files and columns of the breakpoints are resolved, and those that collect are marked as the client's; none is
    set, and nothing is started. Neovim may be asked for configurations, and tests may be built. With `fresh`, when
    all this is checked, the client's earlier programs are ended (attached ones are detached from), and breakpoints
    that tools have set and the exception filters are forgotten if they are not given again; breakpoints of a
    person, and what other clients collect, stay. `is_last`: it is the last of a group; those before it end nothing
    and forget nothing. `triggers` are what to do while the program runs.

    Raises:
        DapeerError: The program cannot be started as described (ArgumentError for most), or an earlier
            program does not end; others may have been ended then.
    """
    debugger, filters = call.debugger, arguments.exception_filters
    placed, functions = split_breakpoints(call, arguments.breakpoints, arguments.program or "")
    collects = debugger.breakpoints.collects or any(
        each.is_collecting for each in arguments.breakpoints
    )
    request = arguments.as_request(terminal=triggers.has_typed_input)
    start = await _launcher(call, arguments).prepare_start(
        request, arguments.configuration, arguments.where_to_start(collects=collects)
    )
    if (arguments.is_repeated or arguments.processes > 1) and not start.launched:
        given = "repeat" if arguments.is_repeated else "processes"
        raise ArgumentError(
            f"Only a program that dap_run starts can have `{given}`.", f"Leave `{given}` out."
        )
    _check_secret_input(call, arguments.stdin, start.folder)
    around = _folders_named(request, start.folder, debugger.project)
    named = resolve_breakpoint_files(placed, start.folder, debugger.project, around)
    breakpoints = [(path, resolve_column(path, each)) for path, each in named]
    claim_breakpoints(call, breakpoints, start.adapter, forgets_earlier=arguments.fresh)
    if arguments.fresh and is_last:
        before = await end_earlier_programs(debugger, call.focus, breakpoints, functions, filters)
    else:
        before = inheritance_of(debugger, call.focus, breakpoints, functions, filters)
    tree = arguments.pid if arguments.tree else None
    return StartedProgram(call, start, breakpoints, functions, before, triggers, tree)


def _check_secret_input(call: Call, name: str | None, folder: Path) -> None:
    """Check that the file `name` that a program reads, if there is one, may not hold secrets.

    Nothing is checked if `name` is None or empty. The name may begin with `~`, and be relative: the file is
    refused if it may hold secrets in `folder`, which is the program's, or in the project's folder. The file
    is not opened.

    Raises:
        ArgumentError: It may hold secrets.
    """
    files, bases = call.debugger.files, (folder, call.debugger.project)
    if name and any(files.secret.hides(str(base / with_home_folder(name))) for base in bases):
        raise ArgumentError(
            f"`stdin`: {name} may hold secrets, so no tool reads it.",
            "The person can change `secrets` in setup() of their Neovim.",
        )


async def _start_compound(
    call: Call,
    arguments: StartArguments,
    triggers: TriggerArguments,
    options: StopOptions,
    compound: Compound,
    tasks: TaskPlan,
) -> Reply:
    """Start the configurations that a compound names, as a group; return the first stop.

    All members are prepared before the first is started; with `arguments.fresh`, programs that the client has
    started before are ended then. A configuration that is named twice is started once. The group has the
    compound's name, or that with a number. `tasks` are those that run before the compound, which are awaited.
    `triggers` (what to do while a program runs) are for the first member; `options` say what to evaluate and
    show, and how long to wait. If nothing stops in time, the reply shows a member that runs, or the first if all
    have ended.

    Raises:
        ArgumentError: The compound names no configuration, or arguments are given that only one program can
            have: any input of the program but `env`, or `repeat`, or several `processes`.
        DapeerError: A task fails, a member cannot be started, or `triggers` cannot be begun; members that were
            started are ended.
    """
    given = arguments.as_request().inputs.keys() - {"env"}
    if given or arguments.is_repeated or arguments.processes > 1:
        named = min(given, default="repeat")
        raise ArgumentError(
            f"`{named}` is for one program, and `{compound.name}` is a compound of several.",
            "Leave it out, or start one of them by its name.",
        )
    if not compound.members:
        raise ArgumentError(
            f"The compound `{compound.name}` names no configurations.", "Fix launch.json."
        )
    names = [*dict.fromkeys(compound.members)]
    members = {
        name: await _prepare(
            call,
            replace(arguments, configuration=name),
            triggers,
            is_last=name == names[-1],
        )
        for name in names
    }
    together = StartedGroup(call, compound.name, members, tasks, compound.stop_all)
    return await together.run(options, triggers)


async def _start_several(
    call: Call, arguments: StartArguments, triggers: TriggerArguments, options: StopOptions
) -> Reply:
    """Start the program `processes` times side by side, as a group; return the state of the first stop.

    The group has the name of the program's file, else of the module or the configuration, or `code`; its members
    have the labels 0, 1 and so on. In arguments and environment `{i}` is the number of the process, from 0. With
    `fresh`, earlier programs are ended once all members are prepared. `triggers` (requests or input for the
    program) are sent in the background, to the first member. `options` say what to evaluate and show, and how long
    to wait: if nothing stops in that time, the reply shows one that runs, or else the first. The session shown
    becomes the client's default.

    Raises:
        ArgumentError: The program is to be repeated as well, or is not launched by dapeer; nothing is started.
        DapeerError: A member cannot be started as described, or does not start; those that have started are ended.
    """
    if arguments.is_repeated:
        raise ArgumentError(
            "`processes` runs side by side, `repeat` one after the other.", "Give one of them."
        )
    members = {
        str(n): await _prepare(
            call,
            replace(arguments, **replace_number(arguments.env, arguments.args, n)),
            triggers,
            is_last=n == arguments.processes - 1,
        )
        for n in range(arguments.processes)
    }
    target = arguments.program or arguments.module or arguments.configuration or "code"
    together = StartedGroup(call, Path(target).name, members, TaskPlan())
    return await together.run(options, triggers)


def _folders_named(request: LaunchRequest, cwd: Path, project: Path) -> list[Path]:
    """Return the folders of existing files that a request names as its program or as arguments.

    Relative names may be below `cwd`, the folder in which it starts, or below the project.
    """
    program, args = request.inputs.get("program"), request.inputs.get("args") or ()
    named = [node_id(str(each), cwd, project)[0] for each in (program, *args) if each]
    paths = [base / with_home_folder(each) for each in named for base in (cwd, project)]
    return [each.parent for each in paths if foreign_files.is_file(each)]
