"""What single adapters do differently, by name: the one place where such a name means something. Pure."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from dapeer.adapters.table import Table

ExitCode: TypeAlias = Literal["plain", "256-signal", "signal"]


@dataclass(frozen=True, slots=True)
class Quirks:
    """The `[quirks]` table of a definition."""

    exit_code: ExitCode = "plain"
    """How `exited.exitCode` tells a deadly signal: not at all, as 256 - signal, or as the signal."""
    repl_is_command: bool = False
    """`evaluate` in the context `repl` runs a debugger command, where `s` and `n` are steps."""
    detach_launched: bool = True
    """False: a launched program cannot be let go; `disconnect` would not be answered."""

    @classmethod
    def read(cls, table: Table) -> Quirks:
        """Read the `[quirks]` table."""
        quirks = cls(
            exit_code=cast(
                "ExitCode", table.one_of("exit_code", ("plain", "256-signal", "signal"), "plain")
            ),
            repl_is_command=table.get("repl_is_command", bool, default=False),
            detach_launched=table.get("detach_launched", bool, default=True),
        )
        table.done()
        return quirks


def deadly_signal(style: ExitCode, exit_code: int) -> str | None:
    """Return the name of the signal that an exit code stands for, or None.

    A program can exit with such a code by itself, so say "probably".

    >>> deadly_signal("256-signal", 245)
    'SIGSEGV'
    >>> deadly_signal("256-signal", 3)
    """
    number = {"plain": 0, "256-signal": 256 - exit_code, "signal": exit_code}[style]
    return signal.Signals(number).name if number in _DEADLY else None


# A small exit code like 1 or 2 is far more often the program's own than SIGHUP or SIGINT.
_DEADLY = {
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGILL,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGKILL,
    signal.SIGSEGV,
    signal.SIGPIPE,
    signal.SIGTERM,
}
