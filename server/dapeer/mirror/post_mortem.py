"""Sessions on a core dump: nothing runs in them. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from dapeer.base.errors import RequestFailed, Unsupported
from dapeer.dap.messages import Event, Message
from dapeer.dap.requests import NEED_PROCESS

REASON = "core dump"
LOOK = "Look at it: dap_stacktrace, dap_threads, dap_variables, dap_evaluate."


class PostMortem:
    """The differences of such a session."""

    def __init__(self, cause: str) -> None:
        """`cause` is the signal that killed the program, as in `SIGSEGV at address 0x0`; empty if unknown."""
        self._cause = cause
        self._is_reported = False

    def translate_message(self, message: Message) -> Message | None:
        """Return the message to handle instead of an adapter's message about a core dump; None: drop it.

        The first `stopped` event becomes a stop of all threads, with the reason `core dump`, the cause as its
        `description`, and of its own keys only `threadId`. Later ones, and `exited` and `continued` events, are
        dropped: some adapters send a stop for each thread, and an exit. Other messages stay as they are.
        """
        match message:
            case Event(event="stopped", body=body):
                if self._is_reported:
                    return None
                self._is_reported = True
                known = {key: body[key] for key in ("threadId", "allThreadsStopped") if key in body}
                why = {"reason": REASON, "description": self._cause, "allThreadsStopped": True}
                return Event("stopped", {**known, **why})
            case Event(event="exited" | "continued"):
                return None
            case _:
                return message

    def check(self, command: str) -> None:
        """Raise if a request needs a process, which a core dump does not have; `command` is DAP's name of it.

        Raises:
            Unsupported: It needs one.
        """
        if not self.allows(command):
            raise Unsupported(
                f"This is a core dump, in which nothing runs; it does not support `{command}`.",
                LOOK,
            )

    def allows(self, command: str) -> bool:
        """Return whether a request, by DAP's name of it, works without a process."""
        return command not in NEED_PROCESS


@contextlib.contextmanager
def explain_lack_of_process(post_mortem: PostMortem | None) -> Generator[None]:
    """Run the body of a `with`; to a `RequestFailed` in it, add that a core dump can call no function.

    `post_mortem` is None for a session on a process: then the error stays as it is.

    Raises:
        RequestFailed: The body's, with a longer hint on a core dump.
    """
    try:
        yield
    except RequestFailed as error:
        if post_mortem is None:
            raise
        hint = f"{error.hint} This is a core dump: no function can be called in it.".strip()
        raise RequestFailed(error.command, error.message, hint) from error
