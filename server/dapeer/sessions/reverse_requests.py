"""What an adapter asks us to do, and whether it is done.

Programs are run for adapters that we have started for a program that we launch, and for no other: what is
attached to may be in a container, on another machine, or somebody else's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from dapeer.adapters.process.adapter import Adapter
from dapeer.adapters.process.terminal import Terminal
from dapeer.dap.messages import Body, Request
from dapeer.errors import DapeerError, Overstepped, RequestFailed, Unsupported
from dapeer.text.fitting import shortened

QUOTED = 200
"""Characters of a command in an error."""


class Orders:
    """Does what the adapter of one session asks for."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        launched: bool,
        adopt: Callable[[Body], Awaitable[None]] | None,
        enter: Callable[[Terminal], None],
        blame: Callable[[str], None],
    ) -> None:
        """`launched`: the program is ours. `adopt` gives a process that the debuggee has started a session of its own, None: nobody does; `enter` says that the program is in a terminal, `blame` what was refused."""
        self._adapter = adapter
        self._launched = launched
        self._adopt = adopt
        self._enter = enter
        self._blame = blame

    async def answer(self, request: Request) -> Body:
        """Do what the adapter asks for.

        Raises:
            RequestFailed: It cannot be done, or is not wanted.
        """
        asked = request.arguments
        try:
            match request.command:
                case "startDebugging" if self._adopt is not None:
                    await self._adopt(asked)
                    return {}
                case "runInTerminal" if asked.get("args"):
                    return {"processId": self._run_in_terminal(asked)}
                case _:
                    raise Unsupported(f"dapeer does not support `{request.command}`.", "")
        except DapeerError as error:
            if isinstance(error, Overstepped):
                self._blame(error.what)
            raise RequestFailed(request.command, str(error)) from error

    def _run_in_terminal(self, asked: Body) -> int:
        """Run a program in a terminal of ours, and return its process, which ends with the session.

        Raises:
            Overstepped: It is not for this adapter to ask.
        """
        command = [str(word) for word in asked["args"]]
        if not self._launched or self._adapter.address is not None:
            words = shortened(" ".join(command), QUOTED)
            raise Overstepped(
                f"The adapter asked dapeer to run `{words}`, which is done only for a program that dapeer launches under "
                "an adapter that it has started."
            )
        terminal = self._adapter.terminal = Terminal()
        wanted: Mapping[str, str | None] = asked.get("env") or {}
        environment = {**wanted, **self._adapter.processes.mark}
        pid = terminal.run(command, asked.get("cwd"), environment)
        self._adapter.own(pid)
        self._enter(terminal)
        return pid
