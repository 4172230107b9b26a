"""Attaches to the descendants of a process that is attached to, as parts of its program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import anyio

from dapeer.adapters.choice.choice import choose_for_process
from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.base.errors import AdapterUnknown, DapeerError
from dapeer.base.system.process_table import command_line, descendants, is_running
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.launch.other_languages import pid_of
from dapeer.launch.plans import plan_of
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

ATTACHES_AT_ONCE = 8
"""Processes that are attached to side by side: each takes an adapter, and mostly a GDB."""
MAX_COMMAND_CHARS = 60
"""Characters of a command line that are shown."""
_OF_ROOT = ("pid", "port", "program", "project", "remark")
"""Inputs of a plan that say which process it is for."""


@dataclass(slots=True)
class ProcessTree:
    """A process that is attached to, and its descendants."""

    debugger: Debugger
    root: DirectSession
    pid: int
    """The process of the root."""
    undebugged: list[str] = field(default_factory=list[str])
    """The processes that are not debugged, each with the reason."""
    _by_pid: dict[int, Session] = field(default_factory=dict[int, Session], init=False)
    _limit: anyio.CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the root alone."""
        self._by_pid[self.pid] = self.root
        self._limit = anyio.CapacityLimiter(ATTACHES_AT_ONCE)

    @property
    def members(self) -> list[Session]:
        """The sessions of the processes that are debugged, the oldest first."""
        program = self.root.program
        return sorted(
            (each for each in program.debugged if not each.is_over), key=lambda each: each.id
        )

    async def attach(self) -> None:
        """Attach to all descendants of the process in its language, one generation after the other.

        Those of a generation are attached to side by side, and those that come meanwhile afterwards. One that is of
        another language, or cannot be attached to, runs on, and is added to `undebugged`, the latter unless it has
        ended by then.
        """
        seen = {self.pid}
        while True:
            parents = descendants(self.pid)
            self._by_pid |= {
                pid: each for each in self.root.program.living_sessions if (pid := pid_of(each))
            }
            seen |= self._by_pid.keys()
            generation = [each for each in parents if each not in seen and parents[each] in seen]
            if not generation:
                return
            seen |= {*generation}
            async with anyio.create_task_group() as tasks:
                for pid in sorted(generation):
                    tasks.start_soon(self._attach, pid, parents)

    async def _attach(self, pid: int, parents: Mapping[int, int]) -> None:
        """Attach to one descendant as a child of its nearest debugged ancestor, or add it to `undebugged`.

        `parents` has the parent of each descendant, by process id. The call first waits until fewer than
        `ATTACHES_AT_ONCE` others attach. A process of another language is not attached to: its entry in `undebugged` says
        how to do that. If attaching fails, the entry has the error, and no `DapeerError` or `OSError` leaves this method;
        nothing is added if the process has ended by then. The session of a process that was attached to is kept in `_by_pid`.
        """
        async with self._limit:
            command = shortened(command_line(pid), MAX_COMMAND_CHARS)
            try:
                other = await in_thread(self._definition_if_other_language, pid)
                if other is not None:
                    call = f'dap_run(request="attach", pid={pid}) attaches to it'
                    self.undebugged.append(f"{pid} ({command}): it is of another language; {call}")
                    return
                plan = await in_thread(self._plan, pid)
                parent = self._parent(pid, parents)
                self._by_pid[pid] = await self.debugger.start(plan, (), parent)
            except (DapeerError, OSError) as error:
                # What ends meanwhile needs no debugger.
                if is_running(pid):
                    reason = error.problem if isinstance(error, DapeerError) else error
                    self.undebugged.append(f"{pid} ({command}): {reason}")

    def _definition_if_other_language(self, pid: int) -> Definition | None:
        """Return the definition for a process of another language than the root's; None: of the same language.

        The root is the session of the process that was attached to first. One language in common is enough
        for None. Of the definitions that fit the process the first that is ready counts, or the first of
        all if none is ready. Where none fits, the root's own definition is returned: the process counts as
        one of another language. The search reads the process's files: call this in a thread.
        """
        ours = self.root.plan.definition
        try:
            fitting = choose_for_process(self.debugger.definitions, pid=pid, ready=_is_ready)
        except AdapterUnknown:
            return ours
        return None if {*fitting.languages} & {*ours.languages} else fitting

    def _plan(self, pid: int) -> Plan:
        """Return the plan of an attach to a descendant, made from that of the root.

        The root's adapter, configuration, exception filters and path mappings are taken over, and its inputs except
        those in `_OF_ROOT`. `pid` is the descendant's. The call reads files of the process, and may ask programs for
        their versions: make it in a thread.

        Raises:
            DapeerError: The process cannot be attached to.
        """
        root = self.root.plan
        shared = {name: value for name, value in root.inputs.items() if name not in _OF_ROOT}
        inputs = {**shared, "pid": pid}
        filters, kind = root.exception_filters, root.definition.id
        launch = LaunchRequest(kind, "attach", "", inputs, root.config, filters)
        plan = plan_of(self.debugger, launch, "attach", inputs, root.config)
        return replace(plan, mappings=root.mappings)

    def _parent(self, pid: int, parents: Mapping[int, int]) -> DirectSession:
        """Return the session of the nearest ancestor that is debugged and not over; the root's if none is.

        `pid` is the process whose ancestors are meant; itself does not count. `parents` has the parent of each descendant
        of the root, by process id. Where the ancestor's program is debugged as its first child, that child's session is
        returned. The root's session is also returned where the session found is no `DirectSession`.
        """
        while pid in parents:
            pid = parents[pid]
            known = self._by_pid.get(pid)
            if known is not None and not known.is_over:
                acting = known.program.session_for_tool(known, exactly=True)
                return acting if isinstance(acting, DirectSession) else self.root
        return self.root


def _is_ready(definition: Definition) -> bool:
    return detect(definition).ready
