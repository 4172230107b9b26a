"""Decides where something starts, and starts it: under an adapter of dapeer, or in a Neovim."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from dapeer.adapters.choice.choice import find_definition
from dapeer.adapters.definition.definition import TARGETS, Definition, RequestName
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.adapters.named_tests import as_tests
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.json_types import Json, as_object, is_array
from dapeer.base.sources import with_home_folder
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import starter_environment
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.launch.commands import resolve_command
from dapeer.launch.configurations import (
    NVIM,
    Configuration,
    KnownConfigurations,
    argument_for,
    configurations_of_neovim,
    merge_configurations,
    read_project,
)
from dapeer.launch.launch_json import Compound, read_env_file
from dapeer.launch.other_languages import start_with_children
from dapeer.launch.plans import check_interpreter, plan_of, resolve_tests
from dapeer.launch.request import (
    BreakpointInFile,
    check_attach,
    check_files,
    check_named,
    folder_of,
    resolve_paths,
)
from dapeer.launch.tasks_json import TaskPlan
from dapeer.peers import Peer, Peers, unsaved_changes_error
from dapeer.sessions.broadcast import Broadcast
from dapeer.sessions.core.forwarded import ForwardedSession
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.triggers.trigger import ReadyCondition

# What a start is once all is decided: here, under an adapter of dapeer, or in a Neovim.

OUTSIDE = "It runs outside of Neovim, whose nvim-dap has no adapter for it: dap.adapters.{name}."
WAITED = "The start waited until the person was free in Neovim."


@dataclass(frozen=True, slots=True)
class Start:
    """A start with all decisions made, which has not begun: under an adapter of dapeer, or in a Neovim."""

    launched: bool
    """Whether a program is started; else one is attached to."""
    folder: Path
    """The folder that the program runs in, to which names of files may be relative."""
    adapter: str
    """The id of the definition by which it is started; empty: another client of DAP decides."""
    begin: Callable[[Debugger, Sequence[BreakpointInFile]], Awaitable[tuple[Session, Broadcast]]]
    """Starts it with breakpoints.

    It returns the session, and a task that sends the breakpoints to other programs meanwhile. It raises a `DapeerError` where it does not start.
    """
    notes: Callable[[Session], Sequence[str]]
    """Returns what the caller should know of how the session was started."""
    tasks: TaskPlan = field(default_factory=TaskPlan)
    """What runs before it, and after it."""
    ready: ReadyCondition = field(default_factory=ReadyCondition)
    """When its server is ready, as its configuration says."""


def start_here(plan: Plan, beside: Peer | None = None) -> Start:
    """Return a start under an adapter of dapeer, by a plan; nothing is started.

    The start begins when its `begin` is awaited with the debugger and the breakpoints. `begin` returns the session
    and the broadcast that sends the breakpoints to other programs; it raises a `DapeerError` if the program does
    not start, or if breakpoints are given for a core dump (`ArgumentError`). `beside` is the Neovim whose nvim-dap
    has no adapter for the plan's definition; None: there is no such Neovim. When the start begins, that Neovim is
    told that the program is debugged elsewhere, and `notes` of the start returns one note on this for the caller;
    else none.
    """
    adapter = plan.definition.id

    async def begin(
        debugger: Debugger, breakpoints: Sequence[BreakpointInFile]
    ) -> tuple[Session, Broadcast]:
        """Start the plan with breakpoints; return its session, and the sending of these to other programs.

        The sending goes on beside; the caller awaits it for its failures.

        Raises:
            DapeerError: It does not start, or breakpoints are given for a core dump.
        """
        if plan.core and breakpoints:
            raise ArgumentError(
                "No breakpoint is hit in a core dump: it does not run.", "Leave `breakpoints` out."
            )
        if beside is not None:
            beside.show_debugged_elsewhere(adapter)
        session = await start_with_children(debugger, plan, breakpoints)
        return session, debugger.push_breakpoints(*_files(breakpoints), started=session)

    notes = [OUTSIDE.format(name=adapter)] if beside is not None else []
    folder = Path(str(plan.inputs["cwd"]))
    return Start(plan.launched, folder, adapter, begin, lambda _: notes)


def start_in_neovim(peer: Peer, options: Json, *, launched: bool, folder: Path) -> Start:
    """Return a start in a Neovim's nvim-dap; nothing is started.

    `options` are those of the plugin's `run`: a `config`, or the name of a `configuration` with its `filetype` and `overrides`.
    `launched` is False for an attach; `folder` is where the program runs.
    """

    async def begin(
        debugger: Debugger, breakpoints: Sequence[BreakpointInFile]
    ) -> tuple[Session, Broadcast]:
        """Start the configuration in Neovim; return its session, and the sending of breakpoints to others.

        The sending goes on beside; the caller awaits it for its failures.

        Raises:
            DapeerError: It does not start, or a file with a breakpoint has unsaved changes.
        """
        # nvim-dap sends the breakpoints that are its signs.
        paths = _files(breakpoints)
        if paths and (there := await peer.unsaved_files(paths)):
            raise unsaved_changes_error(there[0])
        with debugger.breakpoints.adding(breakpoints):
            session = await peer.sessions.start_session(options)
        return session, debugger.push_breakpoints(*paths)

    return Start(launched, folder, "", begin, _notes_of_neovim)


def _notes_of_neovim(session: Session) -> Sequence[str]:
    """Return a note that the start waited until the person was free, if so; else nothing."""
    waited = isinstance(session, ForwardedSession) and session.hello.waited_for_person
    return [WAITED] if waited else []


def _files(breakpoints: Sequence[BreakpointInFile]) -> list[str]:
    """Return the files of some breakpoints, each once, sorted."""
    return sorted({path for path, _ in breakpoints})


MAX_DESCRIPTION_CHARS = 120
"""Characters of the description of missing variables."""
HERE_ONLY = "Start it with where='direct'."

Where: TypeAlias = Literal["auto", "nvim", "direct"]


@dataclass(frozen=True, slots=True)
class Launcher:
    """Decides what is started, and where."""

    debugger: Debugger
    peers: Peers
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the caller says for `${input:…}`, and `file` for the file in an editor."""

    async def prepare_start(
        self, launch: LaunchRequest, configuration: str | None = None, where: Where = "auto"
    ) -> Start:
        """Return the start of a configuration by name, or else of the call's arguments; nothing is started.

        `launch` is the caller's request, `configuration` a name or None. `where` is `nvim` (in Neovim), `direct`
        (under an adapter of dapeer) or `auto` (in Neovim if it can). The call may ask the attached Neovim for its
        configurations, build tests, and run an interpreter to ask for its version. The start of a configuration has
        the tasks to run before and after it, which are not run here.

        Raises:
            DapeerError: There is no such configuration or adapter, several configurations fit, it is a compound, an
                argument or a task does not fit, the tests cannot be built, Neovim does not answer or cannot start it,
                or something only a person can answer is missing.
        """
        if configuration is None:
            return await self._by_arguments(launch, where)
        found = await self.known_configurations(where)
        chosen = found.find(configuration, launch.type)
        tasks = found.task_plan(chosen, launch.config)
        config = {key: each for key, each in launch.config.items() if key not in _TASKS}
        start = await self._start_of_configuration(replace(launch, config=config), chosen, where)
        return replace(start, tasks=tasks, ready=chosen.ready)

    async def known_configurations(self, where: Where) -> KnownConfigurations:
        """Return all configurations that can be started by name: the project's, and those of its Neovim.

        The Neovim is `peer`; without one, only the project's are returned. With `where` `direct`, Neovim's are left out
        while it does not answer; with `auto` and `nvim`, its answer is awaited for some seconds.

        Raises:
            NeovimError: Neovim does not answer, or its plugin fails.
        """
        peer = self.peer
        configurations: list[dict[str, Any]] = []
        # A Neovim that waits for a key must not delay a start without it.
        if peer is not None and (where != "direct" or await peer.why_blocked() is None):
            configurations = await peer.configurations()
        return await self.all_configurations(configurations)

    async def compound(self, name: str | None, config: Json) -> tuple[Compound, TaskPlan] | None:
        """Return the compound of this name in the project's launch.json, with its tasks; None: there is none.

        The result is also None if `name` is None, or if a single configuration has the name, as that is preferred.
        The project's files are read anew; no task is run. The keys `preLaunchTask` and `postDebugTask` of the
        caller's `config` replace the compound's tasks; an empty one means none.

        Raises:
            ArgumentError: A task cannot be run, or asks what only a person can answer.
        """
        if name is None:
            return None
        here = await in_thread(read_project, self.debugger.project, self.answers)
        compound = here.compound(name)
        return None if compound is None else (compound, here.task_plan(compound, config))

    async def tasks_named(self, name: str, config: Json) -> list[str]:
        """Return a line `LABEL: COMMAND` for each task of a configuration or compound, for a consent question.

        The project's launch.json and tasks.json are read. `name` names the configuration, or the compound, whose own
        task comes before those of its members; for an unknown name the list is empty. The keys `preLaunchTask` and
        `postDebugTask` of the caller's `config` replace the tasks of each of them. Where a task of one cannot be run,
        or asks what only a person can answer, the tasks of that one are missing. Nothing is raised.
        """
        here = await in_thread(read_project, self.debugger.project, self.answers)
        compound = here.compound(name)
        members = compound.members if compound is not None else (name,)
        chosen = [each for each in here.configurations if each.name in members]
        named: list[str] = []
        for each in [*([] if compound is None else [compound]), *chosen]:
            with contextlib.suppress(ArgumentError):
                named += here.task_plan(each, config).named
        return named

    async def _start_of_configuration(
        self, launch: LaunchRequest, chosen: Configuration, where: Where
    ) -> Start:
        """Return the start of the configuration `chosen`; first check that the caller's `request` fits it.

        `launch` is the caller's request (its `request` None fits any), `where` is where the configuration may start, as
        for `start`. Nothing is started, but files are read, ports may be connected to, and an attached Neovim may be
        asked for its adapters, programs for their versions.

        Raises:
            DapeerError: The caller's `request` is not the configuration's, something only a person can answer is
                missing, no adapter or interpreter fits, an argument does not, or the Neovim that `where` wants is not
                attached or does not answer.
        """
        if launch.request not in {None, chosen.request}:
            raise ArgumentError(
                f"`{chosen.name}` is a configuration for {chosen.request}, not {launch.request}.",
                "Leave `request` out.",
            )
        return await self._by_name(launch, chosen, where)

    @property
    def peer(self) -> Peer | None:
        """The attached Neovim that works in the project, else the first attached one; None without any."""
        peers = list(self.peers.attached.values())
        project = self.debugger.project.resolve()
        here = [peer for peer in peers if _works_below(peer, project)]
        return next(iter(here or peers[:1]), None)

    async def all_configurations(self, of_neovim: Sequence[Json]) -> KnownConfigurations:
        """Return all configurations: those of the project, which it reads, and those that Neovim has sent."""
        project = self.debugger.project
        here = await in_thread(read_project, project, self.answers)
        return merge_configurations(here, configurations_of_neovim(of_neovim, project))

    async def _by_arguments(self, launch: LaunchRequest, where: Where) -> Start:
        """Return the start of what the call's arguments say, without a configuration.

        The program is not started: the caller does that by `Start.begin`. But tests that are requested by name may be built, and the
        interpreter may be run to ask for its version. The start is in Neovim if `where` and Neovim's nvim-dap allow it, else under an
        adapter of dapeer; `auto` counts as `direct` for a core dump, for mapped paths, and for a terminal of dapeer.

        Raises:
            DapeerError: An argument does not fit, no adapter does, the tests cannot be built, or `where` is `nvim` and Neovim cannot start
                it.
        """
        debugger = self.debugger
        launch = replace(launch, request=_request_of(launch))
        if launch.request != "attach" and "core" not in launch.inputs:
            launch = await in_thread(
                resolve_command, debugger.definitions, launch, debugger.project
            )
        request = "attach" if "core" in launch.inputs else launch.request or "launch"
        inputs = resolve_paths(launch.inputs, debugger.project, request)
        if request == "attach" and not launch.config and "core" not in inputs:
            check_attach(inputs.get("pid"), inputs.get("port"))
        if request == "launch" and launch.type is None:
            inputs = await in_thread(as_tests, debugger.definitions.values(), inputs)
        launch, inputs = await resolve_tests(launch, request, inputs)
        if request == "launch":
            check_named(launch)
        if launch.type is not None and find_definition(debugger.definitions, launch.type) is None:
            # A type that only nvim-dap may know; assume that its keys are the usual ones.
            there = await self._choose_neovim(where, (launch.type,))
            if there is not None:
                named = Configuration(launch.name or launch.type, launch.type, request, NVIM, {})
                return await self._start_configuration_in_neovim(there, launch, named, inputs)
        plan = await in_thread(plan_of, debugger, launch, request, inputs, launch.config)
        # nvim-dap maps no paths; if the adapter does not either, only dapeer can. Nor does nvim-dap open a
        # terminal unless the adapter asks for one.
        if where == "auto" and (plan.mappings or plan.in_our_terminal or plan.core):
            where = "direct"
        there = await self._choose_neovim(where, plan.definition.names)
        return await self._start_of_plan(there, plan, launch, where)

    async def _by_name(self, launch: LaunchRequest, chosen: Configuration, where: Where) -> Start:
        """Return the start of the configuration `chosen`, with the caller's arguments in place of its own.

        Nothing is started yet, but files are read, ports may be connected to, an attached Neovim may be asked which
        adapters it knows, and programs may be asked for their versions. The start is in Neovim if `where` allows it and
        the Neovim's nvim-dap knows the adapter, else under an adapter of dapeer. `launch` has the caller's arguments.

        Raises:
            NoNeovim: `where` is `nvim`, and no Neovim is attached.
            AdapterUnknown: There is no adapter of the configuration's type, or `where` is `nvim` and nvim-dap has none.
            ArgumentError: Something that only a person can answer is missing, an argument does not fit, or the
                configuration's `request` is neither launch nor attach, which may be left to nvim-dap.
            DapeerError: The Neovim does not answer or cannot do it, the interpreter is too old, or another user listens
                at the port of an attach.
        """
        debugger = self.debugger
        definition = find_definition(debugger.definitions, chosen.type)
        there = await self._choose_neovim(where, names_of(chosen.type, definition))
        _check_answered(chosen, launch, in_neovim=there is not None)
        own = definition is not None and chosen.type in definition.names
        if there is not None and (own or there[1] == chosen.type):
            ours = _as_adapter_keys(definition, launch) if definition else {}
            worded = replace(launch, config={**ours, **launch.config})
            inputs = resolve_paths(launch.inputs, debugger.project)
            return await self._start_configuration_in_neovim(there, worded, chosen, inputs)
        if definition is None:
            types = ", ".join(sorted(debugger.definitions))
            raise AdapterUnknown(
                f"There is no adapter of type `{chosen.type}`.", f"Types: {types}."
            )
        if chosen.request not in {"launch", "attach"}:
            raise ArgumentError(
                f"The `request` of `{chosen.name}` must be launch or attach.",
                "Fix the configuration.",
            )
        request = cast("RequestName", chosen.request)
        split, config = chosen.split(launch.inputs, launch.config)
        inputs = resolve_paths(split, debugger.project, request)
        inputs, config = await in_thread(_with_env_file, inputs, config)
        named = replace(launch, type=chosen.type, name=launch.name or chosen.name)
        plan = await in_thread(plan_of, debugger, named, request, inputs, config)
        return await self._start_of_plan(there, plan, named, where)

    async def _start_of_plan(
        self, there: tuple[Peer, str] | None, plan: Plan, launch: LaunchRequest, where: Where
    ) -> Start:
        """Return the start of a plan: in Neovim if `there` names one, else under an adapter of dapeer.

        Nothing is started yet. `there` is the Neovim and its nvim-dap's name for the adapter, or None. `launch` is
        the request of which `plan` is. With `there` None and `where` `auto`, an attached Neovim whose nvim-dap
        knows adapters, but not this one, is told when the start begins, and the caller gets a note. Also with
        `there` None, a launched program's interpreter may be run, in a thread, to ask for its version.

        Raises:
            ArgumentError: Neovim cannot do what the plan needs: it maps paths, or needs a terminal of dapeer.
            NeovimError: The attached Neovim does not answer when it is asked for its adapters.
            DapeerError: The interpreter is too old.
        """
        if there is not None:
            return self._start_plan_in_neovim(there, plan, launch)
        beside = self.peer if where == "auto" else None
        if beside is not None and not await beside.adapter_types():
            # It has no nvim-dap, or one that is not set up.
            beside = None
        await in_thread(check_interpreter, plan)
        return start_here(plan, beside)

    async def _choose_neovim(self, where: Where, names: Sequence[str]) -> tuple[Peer, str] | None:
        """Return the Neovim to start in, and its nvim-dap's name for the adapter; None: start without Neovim.

        The Neovim is the attached one that works in the project, else the first attached one; it is asked for the
        adapters that it knows. `where` `direct` always gives None, without asking; with `nvim` the result is
        never None. Any other `where` gives None if no Neovim is attached, or nvim-dap knows none of `names`.
        `names` are the names that nvim-dap may use for the adapter; the first that nvim-dap knows counts.

        Raises:
            NoNeovim: `where` is `nvim`, and no Neovim is attached.
            AdapterUnknown: `where` is `nvim`, and nvim-dap has none of `names`.
            NeovimError: The Neovim does not answer.
        """
        if where == "direct":
            return None
        peer = self.peers.peer() if where == "nvim" and not self.peers.attached else self.peer
        if peer is None:
            return None
        types = await peer.adapter_types()
        kind = next((name for name in names if name in types), None)
        if kind is None and where == "nvim":
            raise AdapterUnknown(
                f"nvim-dap has no adapter of type {' or '.join(dict.fromkeys(names))}.",
                f"It has: {', '.join(types) or 'none'}. where='direct' starts without Neovim.",
            )
        return None if kind is None else (peer, kind)

    def _start_plan_in_neovim(
        self, there: tuple[Peer, str], plan: Plan, launch: LaunchRequest
    ) -> Start:
        """Return the start of a plan in Neovim, as a configuration of nvim-dap.

        `there` is the Neovim, and the name of the adapter there. `launch` is the caller's request, of which the
        plan is. Nothing is started.

        Raises:
            ArgumentError: The plan maps paths, or needs a terminal of dapeer; or its inputs name nothing to
                run, two things, or what the adapter has no use for.
        """
        peer, kind = there
        name = plan.definition.id
        if plan.mappings:
            raise ArgumentError(f"Neovim cannot map paths for {name}.", HERE_ONLY)
        if plan.in_our_terminal:
            raise ArgumentError(f"Neovim cannot open a terminal for {name}.", HERE_ONLY)
        arguments = plan.definition.arguments(plan.request, plan.inputs, plan.config)
        named = {"type": kind, "request": plan.request, "name": plan.title()}
        return self._start_in_neovim(
            peer, {"config": {**arguments, **named}}, launch, launched=plan.launched
        )

    async def _start_configuration_in_neovim(
        self, there: tuple[Peer, str], launch: LaunchRequest, chosen: Configuration, inputs: Json
    ) -> Start:
        """Return the start of a configuration in a Neovim, with the caller's arguments in place of its keys.

        `there` is the Neovim (a peer, that is, an attached one), and the name of the adapter in its nvim-dap;
        `chosen` is the configuration, `launch` the caller's request. `inputs` are the caller's arguments, checked
        and with `cwd`. Those that the request names, and its `config`, replace the configuration's keys, but the
        argument `env` is added to its variables, and `host` and `port` to its `connect`. `terminal`,
        `follow_children` and `just_my_code`, which no adapter knows by these names, are ignored. Nothing is started;
        the files that keys name are only looked at.

        Raises:
            ArgumentError: A file that a key names is a named pipe, a device or the like, or there is no folder
                `cwd`.
        """
        peer, kind = there
        given = {key: inputs[key] for key in launch.inputs if key not in _OURS}
        keys = chosen.as_adapter_keys(given, launch.config)
        launched = chosen.request == "launch"
        await in_thread(check_files, {**chosen.values, **keys}, Path(inputs["cwd"]))
        named = {"type": kind, "name": launch.name or chosen.name}
        if chosen.origin == NVIM and chosen.filetype:
            how = {"configuration": chosen.name, "filetype": chosen.filetype}
            options = {**how, "overrides": {**keys, **named}}
        else:
            options = {"config": {**chosen.values, **keys, **named, "request": chosen.request}}
        return self._start_in_neovim(peer, options, launch, launched=launched)

    def _start_in_neovim(
        self, peer: Peer, options: Json, launch: LaunchRequest, *, launched: bool
    ) -> Start:
        """Return a start in Neovim with these options of its plugin, in the folder that the caller names."""
        folder = folder_of(launch.inputs.get("cwd"), self.debugger.project)
        return start_in_neovim(peer, {**options, **launch.opts}, launched=launched, folder=folder)


def _with_env_file(inputs: Json, config: Json) -> tuple[Json, Json]:
    """Return dap_run's arguments and a configuration's keys, with `envFile` replaced by its variables.

    `inputs` are arguments of dap_run, with `cwd`; `config` are keys of the configuration, whose `envFile` is
    a path or a list of paths, relative to `cwd`. Neither is changed. The returned arguments have the files'
    variables in `env`: a later file replaces what an earlier one sets, and the `env` that `inputs` has
    replaces both. Without variables `env` stays as it is; the returned keys never have `envFile`. The files
    are read, which blocks.

    Raises:
        ArgumentError: One of the files cannot be read, or is a named pipe, a device or the like.
    """
    written = config.get("envFile")
    files = [str(each) for each in (written if is_array(written) else [written]) if each]
    check_files({"envFile": files}, Path(inputs["cwd"]))
    found: dict[str, str] = {}
    for each in files:
        path = Path(inputs["cwd"]) / with_home_folder(each)
        try:
            text = foreign_files.read_bytes(path).decode("utf-8", "replace")
        except OSError as error:
            raise ArgumentError(f"`envFile`: {path}: {error.strerror}.", "Name a file.") from error
        found |= read_env_file(text, {**starter_environment(), **found})
    own = {**found, **as_object(inputs.get("env"))}
    return {**inputs, **({"env": own} if found else {})}, {
        key: each for key, each in config.items() if key != "envFile"
    }


def _request_of(launch: LaunchRequest) -> RequestName | None:
    """Return the request that the caller names, or `attach` for a process, or for a port with no program.

    None if neither is said.
    """
    has_target = {*TARGETS} & {*launch.inputs, *launch.config}
    is_there = "pid" in launch.inputs or ("port" in launch.inputs and not has_target)
    return launch.request or ("attach" if is_there else None)


def names_of(kind: str, definition: Definition | None) -> tuple[str, ...]:
    """Return the names that nvim-dap may use for the adapter of a type: the type, then the definition's."""
    return (kind, *(definition.names if definition else ()))


def _check_answered(chosen: Configuration, launch: LaunchRequest, *, in_neovim: bool) -> None:
    """Check that the caller's arguments answer all that a configuration asks a person.

    `chosen` is the configuration, `launch` the caller's request. `in_neovim` says that it is started in Neovim,
    where nvim-dap fills in variables for the current file; elsewhere dapeer finds the interpreter.

    Raises:
        ArgumentError: They do not; the error describes the first ten questions, and names all arguments to give.
    """
    asks = chosen.left_to_ask(launch.inputs, launch.config, in_neovim=in_neovim)
    if asks:
        listed = "; ".join(shortened(str(ask), MAX_DESCRIPTION_CHARS) for ask in asks[:10])
        fields = ", ".join(dict.fromkeys(argument_for(ask) for ask in asks if ask.field))
        answers = ", ".join(dict.fromkeys(f'"{ask.input}": …' for ask in asks if ask.input))
        fields = " or ".join(filter(None, [fields, f"inputs={{{answers}}}" * bool(answers)]))
        raise ArgumentError(
            f"`{chosen.name}` asks the person: {listed}.",
            f"Give {fields}." if fields else "Start the program without it.",
        )


_TASKS = ("preLaunchTask", "postDebugTask")
"""Keys by which a caller chooses the tasks of a configuration."""
_OURS = ("terminal", "follow_children", "just_my_code")
"""Arguments that no adapter knows by these names."""


def _as_adapter_keys(definition: Definition, launch: LaunchRequest) -> dict[str, Any]:
    """Return the caller's arguments that no adapter knows by name (`_OURS`), as keys of this adapter.

    The definition's launch variants and its template of launch arguments say which keys these are; others are left out.
    """
    given = [name for name in _OURS if name in launch.inputs]
    variants = [each.arguments for each in definition.launch_variants if set(each.given) & {*given}]
    template = definition.launch.items()
    keys = {key: launch.inputs[n] for n in given for key, value in template if value == f"${{{n}}}"}
    return dict(collections.ChainMap(*map(dict, variants), keys))


def _works_below(peer: Peer, folder: Path) -> bool:
    """Return whether a Neovim's working directory exists, and is this folder or below it."""
    cwd = Path(peer.cwd)
    return foreign_files.is_folder(peer.cwd) and cwd.resolve().is_relative_to(folder)
