"""What an adapter asks us to do: its own requests, such as `runInTerminal`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from dapeer.adapters.process import Adapter
from dapeer.adapters.terminal import Terminal
from dapeer.dap.messages import Body, Request
from dapeer.errors import DapeerError, RequestFailed, Unsupported


class Orders:
    """Does what the adapter of one session asks for."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        adopt: Callable[[Body], Awaitable[None]] | None,
        enter: Callable[[Terminal], None],
    ) -> None:
        """`adopt` gives a process that the debuggee has started a session of its own, None: nobody does; `enter` says that the program is in a terminal."""
        self._adapter = adapter
        self._adopt = adopt
        self._enter = enter

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
            raise RequestFailed(request.command, str(error)) from error

    def _run_in_terminal(self, asked: Body) -> int:
        """Run a program in a terminal of ours, and return its process, which ends with the session."""
        terminal = self._adapter.terminal = Terminal()
        command = [str(word) for word in asked["args"]]
        pid = terminal.run(command, asked.get("cwd"), asked.get("env") or {})
        self._adapter.own(pid)
        self._enter(terminal)
        return pid
