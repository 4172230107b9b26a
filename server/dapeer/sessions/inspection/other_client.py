"""Decides who inspects a stop first: the person's own client, if the person has caused it."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from dapeer.base.system.exchange import WaitFor
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.requests import INSPECTIONS, RESUMES
from dapeer.dap.types import StackFrame
from dapeer.mirror.mirror import Mirror

DRIVES = RESUMES | {"pause", "restart"}
"""Requests that cause the next stop."""
LOOKS = INSPECTIONS | {"threads"}
"""Requests by which a client inspects a stop."""
PARTS = ("startFrame", "start", "count", "filter")
"""Arguments by which a client asks for a part of the answer only."""
SECONDS_WITHOUT_REQUEST = 0.2
"""Seconds without a request, after which the person's client sends no more.

Its Neovim waits for a key, or has other windows open.
"""
SECONDS_TO_ANSWER = 2.0
"""Seconds for which an answer to the person's client is waited for."""


class OtherClient:
    """Knows which requests about a stop the person's client has still to send; it observes every message.

    nvim-dap asks for stack, scopes and their variables at every stop, and its requests are the
    person's time: debugpy answers one after the other, and late. So where the person has caused the
    stop nothing of ours goes out before its last answer, which tells us what it tells the person. At
    other stops, too, a question that it is about to ask is left to it: its answer is ours, and its
    views show everything twice where they hear two.
    """

    def __init__(
        self, mirror: Mirror, wait_for: WaitFor, *, present: bool = False, first: bool = False
    ) -> None:
        """Know of no request yet; `present`: there is such a client.

        `first`: it looks at the first stop before dapeer.
        """
        self._mirror = mirror
        self._wait_for = wait_for
        self.first = first
        """Whether it looks first: the next stop, or the one that lasts, is the person's doing alone."""
        self.present = present
        """Whether there is such a client."""
        self._ours = False
        """Whether dapeer has resumed the program since the last stop; then one of its callers waits."""
        self._requests: dict[int, Request] = {}
        """The client's looks that have no answer yet, by number."""
        self._next = ""
        """What it asks next, as far as is known: `stackTrace`, or `scopes`."""
        self._frame: int | None = None
        """Of which frame it asks for the scopes."""
        self._due: set[int] | None = None
        """Containers that it has still to ask for; None: it does not know its scopes yet."""
        self._active = 0.0
        """When it was heard of last."""

    def on_message(self, message: Message) -> None:
        """Keep track of what the client has asked for at a stop; its requests have negative numbers.

        A resume decides who looks first at the next stop: the client, unless dapeer has resumed the program, too.
        """
        match message:
            case Event(event="stopped", body=body):
                self._due = None
                self._ours = False
                self._requests.clear()
                # Where a thread alone was paused, nvim-dap asks for no scopes.
                looks = self.present and not (
                    body.get("reason") == "pause" and not body.get("allThreadsStopped")
                )
                self._next = "stackTrace" if looks else ""
            case Event(event="dapeer.replayed" | "dapeer.blocked"):
                # It has inspected a stop from before dapeer attached; it cannot while its editor waits for a key.
                self._looked()
            case Request(seq=seq, command=command) if command in DRIVES:
                self._ours = self._ours or seq >= 0
                self.first = not self._ours
            case Request(seq=seq, command=command) if seq < 0 and command in LOOKS:
                self._requests[seq] = message
                self._next = "" if command == self._next else self._next
            case Response(request_seq=seq) if seq in self._requests:
                del self._requests[seq]
                self._answered(message)
            case _:
                return
        self._active = anyio.current_time()

    def _answered(self, response: Response) -> None:
        """Conclude from an adapter's answer to the client what the client asks for next."""
        if response.command == "stackTrace" and self.present and self._due is None:
            frames: list[StackFrame] = response.body.get("stackFrames") or []
            self._frame = next((each["id"] for each in frames if each.get("source")), None)
            self._next = "scopes"
        elif response.command == "scopes":
            scopes = response.body.get("scopes") or ()
            self._due = {s["variablesReference"] for s in scopes if not s.get("expensive")}
        elif response.command == "variables" and self._due:
            self._due.discard(response.arguments["variablesReference"])

    @property
    def asks(self) -> bool:
        """Whether the client waits for an answer to a request about the stop."""
        return bool(self._requests)

    async def wait_for_answer(self, command: str, arguments: Body) -> None:
        """Wait for the answer to the client's own request of the same kind, if it has sent it or is about to.

        The mirror then has the answer, so dapeer need not ask. The wait has a limit.
        """
        stop = self._mirror.stop

        def over() -> bool:
            """Return whether there is nothing to wait for: the request is not expected, or the stop is over."""
            return not self._expects(command, arguments) or self._mirror.stop is not stop

        if not await self._patiently(over) and self._mirror.stop is stop:
            self._next, self._due = "", set()

        def waits() -> bool:
            """Return whether the client waits for an answer to the same request."""
            return any(_is_same(each, command, arguments) for each in self._requests.values())

        if waits():
            await self._wait_for(lambda: not waits(), SECONDS_TO_ANSWER)

    async def wait_for_inspection(self) -> None:
        """Wait until the person's client has asked all that it wants of the stop, if it looks first.

        Return at once if dapeer looks first.
        """
        if not self.first:
            return
        stop = self._mirror.stop

        def over() -> bool:
            """Return whether the client has looked, or need not: it does not look first, or the stop is over."""
            looked = self._due == set() and not self.asks
            return looked or not self.first or stop is None or self._mirror.stop is not stop

        while not await self._patiently(over):
            self._looked()

    async def _patiently(self, over: Callable[[], bool]) -> bool:
        """Wait until `over()` is true, and return True; False: the client has sent nothing for a while.

        The wait goes on as long as the client sends something or awaits an answer that comes in time.
        """
        goes_on = True
        while goes_on and not over():
            if self.asks:
                goes_on = await self._wait_for(lambda: over() or not self.asks, SECONDS_TO_ANSWER)
            else:
                left = self._active + SECONDS_WITHOUT_REQUEST - anyio.current_time()
                goes_on = await self._wait_for(lambda: over() or self.asks, left)
        return goes_on

    def _expects(self, command: str, arguments: Body) -> bool:
        """Return whether the client is about to send this request; never one for a part of an answer."""
        if any(arguments.get(each) for each in PARTS):
            return False
        if command == "variables":
            reference = arguments["variablesReference"]
            is_requested = any(
                _is_same(each, command, arguments) for each in self._requests.values()
            )
            return self.present and reference in (self._due or ()) and not is_requested
        stop = self._mirror.stop
        about = {
            "stackTrace": ("threadId", stop and stop.thread_id),
            "scopes": ("frameId", self._frame),
        }
        name, value = about.get(command, ("", None))
        return command == self._next and arguments.get(name) == value

    def _looked(self) -> None:
        """Set that the client expects nothing more of the current stop, and waits for no answer."""
        self._next, self._due = "", set()
        self._requests.clear()


def _is_same(request: Request, command: str, arguments: Body) -> bool:
    """Return whether a pending request asks for the same as `command`, from the first item on."""
    if request.command != command or any(request.arguments.get(each) for each in PARTS):
        return False
    return all(
        request.arguments.get(each) == value
        for each, value in arguments.items()
        if each not in {*PARTS, "levels"}
    )
