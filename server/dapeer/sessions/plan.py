"""How something is debugged."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from dapeer.adapters.choice.attachable import command_line
from dapeer.adapters.choice.core_dump import CoreDump
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.hints import advise
from dapeer.adapters.runners.named_tests import Named
from dapeer.dap.mapped import PathMapping
from dapeer.dap.messages import Body
from dapeer.mirror.post_mortem import PostMortem
from dapeer.sessions.breakpoints import Breakpoints
from dapeer.view.advice import Advice

LONGEST_NAME = 60


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
    tests: Named | None = None
    """The tests that are debugged, where they have a name."""
    mappings: Sequence[PathMapping] = ()
    """Where the program's files are here, as far as the adapter does not know it."""
    core: CoreDump | None = None
    """The core dump that is looked at."""
    breakpoints: Breakpoints | None = None
    """Where it stops and collects; None: as all others do."""

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
        """The arguments of its request.

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

    def begins_stopped(self, wanted: Breakpoints) -> bool:
        """Whether the program is stopped at its entry for a moment: what it collects at functions is known only there."""
        return self.launched and self.definition.collect.at_entry and bool(wanted.collecting)

    @property
    def delegates(self) -> bool:
        """Whether the program is debugged as the first child of its session."""
        return self.definition.children is not None and self.definition.children.primary

    def child(self, offered: Body) -> Plan:
        """Return how to debug a child process, with the configuration that the adapter offers."""
        config = cast("Mapping[str, object]", offered.get("configuration") or {})
        kept = {name: self.inputs[name] for name in ("follow_children",) if name in self.inputs}
        request = "launch" if offered.get("request") == "launch" else "attach"
        return replace(
            self, request=request, inputs=kept, config=config, name=self.child_name(config)
        )

    def child_name(self, config: Mapping[str, object]) -> str:
        """Name the session of a process that the program has started, after its command line where that is known."""
        children = self.definition.children
        pid = children.pid_of(config) if children is not None else 0
        if children is not None and pid and children.command:
            command = command_line(pid, children.command)
            if command:
                return command.replace(f"{self.inputs.get('project')}/", "")[:LONGEST_NAME]
        return str(config.get("name") or self.title())

    @property
    def advice(self) -> Advice:
        """The hints on messages of the adapter and the program."""
        python = (
            self.inputs.get("python") if self.launched and self.definition.uses("python") else None
        )
        hint = functools.partial(advise, self.definition.hints, self.inputs)
        missing = self.tests.missing if self.tests else None
        program = str(self.inputs.get("program") or "") if self.launched else ""
        return Advice(hint, None if python is None else str(python), missing, program)

    def title(self) -> str:
        """Name the session after its program, unless it has a name."""
        for key in ("core", "program", "module", "code", "pid", "port"):
            value = self.inputs.get(key)
            if value is not None and not self.name:
                return (
                    Path(str(value)).name if key in {"core", "program"} else f"{key} {value}"[:60]
                )
        return self.name or self.definition.id
