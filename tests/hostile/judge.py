"""What must be true whatever happens, in one place: who breaks it is told of, and counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from dapeer.base.json_types import Json

FAULTS = (
    "deaths", "hangs", "internal errors", "orphans", "leftovers", "leaks", "consents passed",
    "foreign connections", "strangers hit",
)  # fmt: skip
"""What must never happen; of each there is a count, and it is 0."""

TALK, STARTS, SLACK = 15.0, 60.0, 20.0
"""Seconds that a call may take: one that talks to adapters, one that starts programs, and for a machine with other work."""
STARTING = frozenset({"dap_run", "dap_restart", "nvim_connect", "nvim_lua_call"})

_BUGS = re.compile(
    r"Traceback \(most recent call last\)|Internal error|by a fault of dapeer|never retrieved|"
    r"was never awaited|Unhandled exception|Fatal Python error|Exception in callback"
)
_TOLD = re.compile(r'Internal error|by a fault of dapeer|File "[^"]*/dapeer/')
"""A bug of ours in an answer; the tracebacks of programs are theirs."""
INTERNAL = -32603
"""JSON-RPC's code for an error that is the server's own."""


def patience(tool: str, arguments: object) -> float:
    """Return the seconds after which a call hangs."""
    limit = STARTS if tool in STARTING else TALK
    given = cast("Json", arguments).get("timeout_ms") if isinstance(arguments, Mapping) else None
    return SLACK + limit + (given / 1000 if isinstance(given, int) and given > 0 else 0)


@dataclass
class Judge:
    """Takes notes of what attacks have done."""

    figures: Counter[str] = field(default_factory=Counter[str])
    """Rounds by kind, calls, and faults."""
    evidence: list[str] = field(default_factory=list[str])
    """One line or more for each fault."""

    def count(self, what: str, number: int = 1) -> None:
        """Count something that is no fault."""
        self.figures[what] += number

    def fault(self, kind: str, what: str) -> None:
        """Note that something has happened that must not."""
        assert kind in FAULTS, kind
        self.figures[kind] += 1
        self.evidence.append(f"{kind}: {what}")

    def answer(self, asked: str, answer: Json) -> None:
        """Look at the response to a request: whatever it says, it must not be a bug of ours."""
        self.count("calls")
        code = cast("Json", answer.get("error") or {}).get("code")
        if code in {INTERNAL, 0} or _TOLD.search(str(answer)):
            self.fault("internal errors", f"{asked[:600]} -> {str(answer)[:600]}")

    def log(self, text: str) -> None:
        """Look at what a server has logged."""
        for found in _BUGS.finditer(text):
            self.fault("internal errors", f"logged: {text[max(0, found.start() - 400) :][:3000]}")

    def hang(self, asked: str, seconds: float) -> None:
        """Note that a call was not answered."""
        self.fault("hangs", f"no answer within {seconds:g} s: {asked[:800]}")

    def orphans(self, commands: Iterable[str]) -> None:
        """Note processes that live on and should not."""
        for command in commands:
            self.fault("orphans", command)

    @property
    def faults(self) -> int:
        """How many things have happened that must not."""
        return sum(self.figures[kind] for kind in FAULTS)

    def verdict(self) -> str:
        """Return the evidence, nothing when there is none."""
        return "\n\n".join(self.evidence)
