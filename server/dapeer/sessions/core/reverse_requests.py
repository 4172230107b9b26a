"""Answers the requests that an adapter sends.

dapeer runs programs only for adapters that it has started, for a program that it launches. An attached
program may be in a container, on another machine, or another user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dapeer.adapters.process.adapter import Adapter
from dapeer.adapters.process.terminal import Terminal
from dapeer.base.errors import DapeerError, Overstepped
from dapeer.base.system.exchange import Answer
from dapeer.base.text.fitting import MAX_QUOTED_CHARS, shortened
from dapeer.dap.messages import Body


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """A process that a debuggee has started, and that is to be debugged in a session of its own."""

    arguments: Body
    """How its adapter wants that done: `configuration`, and perhaps `request`."""
    _answer: Answer[None] = field(default_factory=Answer[None])

    async def wait_until_accepted(self) -> None:
        """Wait until the holder of the session calls `accept` or `refuse`.

        Raises:
            DapeerError: The offer was refused with this error: the process is not wanted, or cannot be reached, and runs on
                undebugged.
        """
        await self._answer.wait()

    def accept(self) -> None:
        """Tell the waiting `wait_until_accepted` that a session for the process has begun."""
        self._answer.give(None)

    def refuse(self, error: DapeerError) -> None:
        """Have the waiting `wait_until_accepted` raise `error`: there is no session for the process."""
        self._answer.fail(error)


def run_in_terminal(
    adapter: Adapter, arguments: Body, *, launched: bool, screen: bool = False
) -> Terminal:
    """Start the command of a `runInTerminal` request in a new terminal; return the terminal.

    `arguments` are the request's: `args`, `cwd`, `env`. The process belongs to `adapter`, and is killed with it. `launched`: dapeer has
    launched the debuggee; `screen`: the program may draw on the whole screen.

    Raises:
        Overstepped: The debuggee was attached to, or dapeer has not started the adapter; nothing was started.
    """
    command = [str(word) for word in arguments["args"]]
    if not launched or adapter.address is not None:
        words = shortened(" ".join(command), MAX_QUOTED_CHARS)
        raise Overstepped(
            f"The adapter asked dapeer to run `{words}`, which is done only for a program that dapeer launches under "
            "an adapter that it has started."
        )
    terminal = adapter.open_terminal()
    requested: Mapping[str, str | None] = arguments.get("env") or {}
    environment = {**requested, **adapter.processes.mark}
    adapter.own(terminal.run(command, arguments.get("cwd"), environment, screen=screen))
    return terminal
