"""The breakpoints that one adapter was told, and what it made of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from dapeer.dap.messages import Body
from dapeer.dap.types import Breakpoint, DataBreakpoint, InstructionBreakpoint, SourceBreakpoint


@dataclass(slots=True)
class Placed:
    """Each breakpoint that was sent, with the adapter's answer. `Mirror` feeds it."""

    lines: dict[str, list[tuple[SourceBreakpoint, Breakpoint]]] = field(
        default_factory=dict[str, list[tuple[SourceBreakpoint, Breakpoint]]]
    )
    """By source path."""
    functions: list[tuple[str, Breakpoint]] = field(default_factory=list[tuple[str, Breakpoint]])
    data: list[tuple[DataBreakpoint, Breakpoint]] = field(
        default_factory=list[tuple[DataBreakpoint, Breakpoint]]
    )
    names: dict[str, str] = field(default_factory=dict[str, str])
    """What callers call the data, by `dataId`; the wire does not tell it."""
    instructions: list[tuple[InstructionBreakpoint, Breakpoint]] = field(
        default_factory=list[tuple[InstructionBreakpoint, Breakpoint]]
    )

    @property
    def on_response(self) -> Mapping[str, Callable[[Body, Body], None]]:
        """What takes in each response: what was asked, and what was answered."""
        return {
            "setBreakpoints": self._set_lines,
            "setFunctionBreakpoints": self._set_functions,
            "setDataBreakpoints": self._set_data,
            "setInstructionBreakpoints": self._set_instructions,
        }

    def changed(self, body: Body) -> None:
        """Take in a `breakpoint` event."""
        changed = cast("Breakpoint", body.get("breakpoint") or {})
        number = changed.get("id")
        if number is None:
            return
        if body.get("reason") == "removed":
            changed = Breakpoint(id=number, verified=False, message="removed by the adapter")
        every: list[list[tuple[Any, Breakpoint]]] = [
            *self.lines.values(),
            self.functions,
            self.data,
            self.instructions,
        ]
        for pairs in every:
            found = [index for index, (_, known) in enumerate(pairs) if known.get("id") == number]
            # js-debug gives a new one the number of another; their lines still differ.
            there = [i for i in found if pairs[i][1].get("line") == changed.get("line")]
            for index in there or found:
                wanted, known = pairs[index]
                pairs[index] = wanted, _merged(known, changed)

    def _set_lines(self, asked: Body, body: Body) -> None:
        path = str(asked["source"].get("path"))
        self.lines[path] = _paired(asked, body)

    def _set_functions(self, asked: Body, body: Body) -> None:
        self.functions = [(str(wanted["name"]), made) for wanted, made in _paired(asked, body)]

    def _set_data(self, asked: Body, body: Body) -> None:
        self.data = _paired(asked, body)

    def _set_instructions(self, asked: Body, body: Body) -> None:
        self.instructions = _paired(asked, body)


def _merged(known: Breakpoint, changed: Breakpoint) -> Breakpoint:
    """Return what is true now; why it was not verified is forgotten with that."""
    over = {"message", "reason"} if changed.get("verified") else set[str]()
    kept = {key: value for key, value in known.items() if key not in over}
    return cast("Breakpoint", {**kept, **changed})


def _paired(asked: Body, body: Body) -> list[tuple[Any, Breakpoint]]:
    wanted = cast("Sequence[Any]", asked.get("breakpoints") or ())
    made = cast("Sequence[Breakpoint]", body.get("breakpoints") or ())
    return list(zip(wanted, made, strict=False))
