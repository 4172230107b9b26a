"""What is known of a stopped program: from the mirror, else asked once, however many ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, cast, overload

import anyio

from dapeer.base.errors import DapeerError
from dapeer.base.system.tasks import Answer, WaitFor
from dapeer.base.text.fitting import MAX_READ_CHARS, is_folded, is_list, says_nothing
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.requests import INSPECTIONS, RESUMES
from dapeer.dap.sent_requests import (
    ExceptionInfoArguments,
    Nothing,
    ScopesArguments,
    SendRequest,
    StackTraceArguments,
    VariablesArguments,
)
from dapeer.dap.types import Scope, StackFrame, Variable
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.stops import Stop
from dapeer.sessions.traits import FRAMES_AT_ONCE, Traits
from dapeer.view.stacks import has_enough_frames

# Decides who inspects a stop first: the person's own client, if the person has caused it.

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
        self.looks_first = first
        """Whether it looks first: the next stop, or the one that lasts, is the person's doing alone."""
        self.is_present = present
        """Whether there is such a client."""
        self._resumed_by_dapeer = False
        """Whether dapeer has resumed the program since the last stop; then one of its callers waits."""
        self._requests: dict[int, Request] = {}
        """The client's looks that have no answer yet, by number."""
        self._next_command = ""
        """What it asks next, as far as is known: `stackTrace`, or `scopes`."""
        self._frame: int | None = None
        """Of which frame it asks for the scopes."""
        self._unasked_containers: set[int] | None = None
        """Containers that it has still to ask for; None: it does not know its scopes yet."""
        self._active = 0.0
        """When it was heard of last."""

    def on_message(self, message: Message) -> None:
        """Keep track of what the person's client (nvim-dap) has asked for at a stop, by each message.

        Its requests have negative numbers. A `stopped` event begins anew: the client's `stackTrace` is expected next,
        unless there is no client, or one thread alone was paused. The events `dapeer.replayed` and `dapeer.blocked`
        say that nothing more is to be expected of it at this stop. A resume decides who looks first at the next stop:
        the client, unless dapeer has resumed the program, too, since the last stop. Messages other than these, the
        client's looks and the answers to them are ignored.
        """
        match message:
            case Event(event="stopped", body=body):
                self._unasked_containers = None
                self._resumed_by_dapeer = False
                self._requests.clear()
                # Where a thread alone was paused, nvim-dap asks for no scopes.
                looks = self.is_present and not (
                    body.get("reason") == "pause" and not body.get("allThreadsStopped")
                )
                self._next_command = "stackTrace" if looks else ""
            case Event(event="dapeer.replayed" | "dapeer.blocked"):
                # It has inspected a stop from before dapeer attached; it cannot while its editor waits for a key.
                self._expect_nothing_more()
            case Request(seq=seq, command=command) if command in DRIVES:
                self._resumed_by_dapeer = self._resumed_by_dapeer or seq >= 0
                self.looks_first = not self._resumed_by_dapeer
            case Request(seq=seq, command=command) if seq < 0 and command in LOOKS:
                self._requests[seq] = message
                self._next_command = "" if command == self._next_command else self._next_command
            case Response(request_seq=seq) if seq in self._requests:
                del self._requests[seq]
                self._apply_response(message)
            case _:
                return
        self._active = anyio.current_time()

    def _apply_response(self, response: Response) -> None:
        """Set what the person's client asks for next, by the adapter's `response` to a request of that client.

        After `stackTrace` it asks for the scopes of the first frame with a source, if there is such a client, and the
        scopes of this stop are not known yet. After `scopes` it asks for the variables of each scope that is not
        expensive, whose references are put into `_unasked_containers`; a `variables` response takes its reference out
        of there. A response without a list, such as a failed one, counts as an empty list, and other responses change
        nothing.
        """
        if (
            response.command == "stackTrace"
            and self.is_present
            and self._unasked_containers is None
        ):
            frames: list[StackFrame] = response.body.get("stackFrames") or []
            self._frame = next((each["id"] for each in frames if each.get("source")), None)
            self._next_command = "scopes"
        elif response.command == "scopes":
            scopes = response.body.get("scopes") or ()
            self._unasked_containers = {
                s["variablesReference"] for s in scopes if not s.get("expensive")
            }
        elif response.command == "variables" and self._unasked_containers:
            self._unasked_containers.discard(response.arguments["variablesReference"])

    @property
    def is_waiting(self) -> bool:
        """Whether the client waits for an answer to a request about the stop."""
        return bool(self._requests)

    async def wait_for_answer(self, command: str, arguments: Body) -> None:
        """Wait for the answer to the person's client's own request of this kind, if that is due.

        `command` and `arguments` are those of a request that dapeer wants to send. The client's request is due if
        it has sent the same one, or is about to; otherwise this returns at once. Afterwards the mirror has the
        answer, unless the stop is over, the adapter failed, or nothing came within `SECONDS_WITHOUT_REQUEST` (for
        a request) or `SECONDS_TO_ANSWER` (for an answer): the caller looks there, and sends the request if the
        mirror lacks it. If the client has become silent, no more requests of it are expected at this stop.
        """
        stop = self._mirror.stop

        def over() -> bool:
            """Return whether there is nothing to wait for: the request is not expected, or the stop is over."""
            return not self._expects(command, arguments) or self._mirror.stop is not stop

        if not await self._wait_patiently(over) and self._mirror.stop is stop:
            self._next_command, self._unasked_containers = "", set()

        def waits() -> bool:
            """Return whether the client waits for an answer to the same request."""
            return any(_is_same(each, command, arguments) for each in self._requests.values())

        if waits():
            await self._wait_for(lambda: not waits(), SECONDS_TO_ANSWER)

    async def wait_for_inspection(self) -> None:
        """Wait until the person's client has asked all that it wants of the stop, if it looks first.

        Return at once if dapeer looks first. Return also when the stop is over, or when the client does not look
        first any more. If the client sends nothing for `SECONDS_WITHOUT_REQUEST`, or one of its requests has no
        answer within `SECONDS_TO_ANSWER`, it counts as finished with this stop, and nothing more of it is
        expected. As long as it goes on asking, the wait has no limit.
        """
        if not self.looks_first:
            return
        stop = self._mirror.stop

        def over() -> bool:
            """Return whether the client has looked, or need not: it does not look first, or the stop is over."""
            looked = self._unasked_containers == set() and not self.is_waiting
            return looked or not self.looks_first or stop is None or self._mirror.stop is not stop

        while not await self._wait_patiently(over):
            self._expect_nothing_more()

    async def _wait_patiently(self, is_over: Callable[[], bool]) -> bool:
        """Wait until `is_over()` is true, and return True; False: the client or adapter has become silent.

        The wait goes on as long as the client sends something every `SECONDS_WITHOUT_REQUEST`, and its answers come
        within `SECONDS_TO_ANSWER`.
        """
        goes_on = True
        while goes_on and not is_over():
            if self.is_waiting:
                goes_on = await self._wait_for(
                    lambda: is_over() or not self.is_waiting, SECONDS_TO_ANSWER
                )
            else:
                left = self._active + SECONDS_WITHOUT_REQUEST - anyio.current_time()
                goes_on = await self._wait_for(lambda: is_over() or self.is_waiting, left)
        return goes_on

    def _expects(self, command: str, arguments: Body) -> bool:
        """Return whether the person's client is about to send this request, by what it has sent before.

        `command` and `arguments` are those of a request that dapeer wants to send: `stackTrace` of the stopped thread
        or `scopes` of its first frame with a source, if the client asks that next, or `variables` of a container in
        `_unasked_containers` for which the client's request is not under way. Others are not expected, nor is a request
        for a part of an answer (a page, say).
        """
        if any(arguments.get(each) for each in PARTS):
            return False
        if command == "variables":
            reference = arguments["variablesReference"]
            is_requested = any(
                _is_same(each, command, arguments) for each in self._requests.values()
            )
            return (
                self.is_present
                and reference in (self._unasked_containers or ())
                and not is_requested
            )
        stop = self._mirror.stop
        about = {
            "stackTrace": ("threadId", stop and stop.thread_id),
            "scopes": ("frameId", self._frame),
        }
        name, value = about.get(command, ("", None))
        return command == self._next_command and arguments.get(name) == value

    def _expect_nothing_more(self) -> None:
        """Set that the client expects nothing more of the current stop, and waits for no answer."""
        self._next_command, self._unasked_containers = "", set()
        self._requests.clear()


def _is_same(request: Request, command: str, arguments: Body) -> bool:
    """Return whether the pending `request` asks for the same as `command` with `arguments`.

    All keys of `arguments` must have the same values in the request, except `levels` and those in `PARTS`, which
    ask for a part of an answer; keys that only the request has are not compared. A request with one of `PARTS`
    (other than 0 or empty) is never the same.
    """
    if request.command != command or any(request.arguments.get(each) for each in PARTS):
        return False
    return all(
        request.arguments.get(each) == value
        for each, value in arguments.items()
        if each not in {*PARTS, "levels"}
    )


MAX_FRAMES = 1000
"""Frames of a stack that are fetched to reach the outermost."""
FIRST_ELEMENTS = 5
"""Elements that are fetched of each."""
MAX_MEMBERS = 40
"""Members that are fetched of an object."""
MAX_SEARCHED_FRAMES = 100
"""Frames among which one of the user's own is looked for."""
OUTER_FRAMES = 50
"""Outermost frames that are fetched of a longer stack: more than a test runner has around a test."""


_SendAny: TypeAlias = Callable[[str, Body], Coroutine[Any, Any, Body]]


class _VariablesPart(TypedDict, total=False):
    """Which children of a variable are asked for, as `variables` has it."""

    filter: str
    start: int
    count: int


class Fetching:
    """Answers questions on a stopped program from the mirror, and requests what the mirror lacks.

    The person's own client, where there is one, asks first. A caller that gives up stops no fetch that others wait for.
    """

    def __init__(
        self,
        mirror: Mirror,
        request: SendRequest,
        wait_for: WaitFor,
        traits: Traits,
    ) -> None:
        """Fetch nothing yet.

        Answers are read from `mirror`, and requested by `request`; `wait_for` waits until a condition holds, for some seconds. `traits`
        say whether another client holds the adapter, and how the adapter differs.
        """
        present, first = traits.is_shared, traits.is_theirs
        self.other_client = OtherClient(mirror, wait_for, present=present, first=first)
        self.omission_pattern: re.Pattern[str] | None = None
        """The adapter's placeholder in a value for omitted elements, besides the usual ones."""
        self.more_elements = traits.stopping.more_elements
        """`NAME: TYPE` of a child that stands for more elements of its container."""
        self._levels = traits.stack_levels
        self._mirror = mirror
        self._request = request
        self._fetching: dict[tuple[object, ...], Answer[Literal["here", "given up"]]] = {}

    async def threads(self) -> Mapping[int, str]:
        """Return the names of all threads by id; `threads` is sent only if the mirror does not know them.

        The program may run or be stopped. If the person's client looks at a stop first, the call waits for that.

        Raises:
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        if not self._mirror.has_all_threads:
            await self._request_once("threads", {}, lambda: self._mirror.has_all_threads)
        return self._mirror.threads

    async def stack_trace(
        self, thread_id: int, start: int = 0, levels: int = FRAMES_AT_ONCE
    ) -> Sequence[StackFrame]:
        """Return up to `levels` frames of a stopped thread, from the `start`-th on; the innermost is 0.

        What the mirror lacks is requested from the adapter, once the person's client has looked, if it looks first.
        The list is shorter than asked if the stack ends or the adapter sends less. Empty: the stack has no frames
        there.

        Raises:
            NotStopped: The thread or the program runs, a pause is pending, or the program has ended.
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        stop = self._mirror.require_stop(thread_id)
        first = len(stop.stack.frames.get(thread_id, ()))
        last = min(start + levels, stop.stack.total_frames.get(thread_id, start + levels))
        if first < last:
            arguments: StackTraceArguments = {
                "threadId": thread_id,
                "startFrame": first,
                "levels": max(FRAMES_AT_ONCE, last - first),
            }
            await self._request_once(
                "stackTrace", arguments, lambda: len(stop.stack.frames.get(thread_id, ())) > first
            )
        return stop.stack.frames.get(thread_id, [])[start : start + levels]

    async def whole_stack(self, thread_id: int) -> Sequence[StackFrame]:
        """Return the frames of a stopped thread, innermost first, to the outermost one, `MAX_FRAMES` at most.

        What the mirror lacks is requested, several times if the adapter gives a part of a deep stack.

        Raises:
            NotStopped: The thread runs.
            DapeerError: A request failed.
        """
        known = -1
        # Some adapters say of a deep stack only that there is more.
        while (
            known < len(frames := await self.stack_trace(thread_id, levels=MAX_FRAMES)) < MAX_FRAMES
        ):
            known = len(frames)
        return frames

    async def fetch_stack_ends(self, stop: Stop) -> None:
        """Fetch the frames of a stop's stack that are shown, and are not fetched yet; the mirror keeps them.

        Of a deep stack of which the innermost frames were fetched before, only the outermost frames are
        requested. The whole stack is fetched (`whole_stack`) if it is small, if too few innermost frames were
        fetched, if no outermost frame is the user's, or if the adapter does not say how many frames there are.

        Raises:
            DapeerError: A request failed, or the thread runs.
        """
        thread = stop.thread_id
        total, known = (
            stop.stack.total_frames.get(thread, 0),
            len(stop.stack.frames.get(thread, ())),
        )
        if total > max(MAX_SEARCHED_FRAMES, known) and has_enough_frames(stop, self._mirror.frames):
            # One more than there are: some adapters tell a number to say that there are more.
            asks: StackTraceArguments = {
                "threadId": thread,
                "startFrame": total - OUTER_FRAMES,
                "levels": OUTER_FRAMES + 1,
            }
            await self._request_once("stackTrace", asks, lambda: bool(stop.stack.outer))
            if any(map(self._mirror.frames.is_users, stop.stack.outer)):
                return
        await self.whole_stack(thread)

    async def fetch_shown_frame(self, stop: Stop) -> StackFrame | None:
        """Return the frame of a stop to show first; None: there is no stack.

        At a planned stop, unless data was written, that is the innermost; else the innermost of the user's among
        `MAX_SEARCHED_FRAMES`, or the innermost of all if none is the user's. What the mirror lacks is requested, once
        the person's client (Neovim's nvim-dap) has looked, if that looks first.

        Raises:
            NotStopped: The thread runs, and frames are needed or the person's client looks first.
            DapeerError: The request failed.
        """
        if (
            stop.default_frame is None
            or stop.stack.default_index is None
            or self.other_client.looks_first
        ):
            frames = await self.stack_trace(stop.thread_id, levels=self._levels)
            if frames and stop.stack.default_index is None:
                await self.stack_trace(stop.thread_id, levels=MAX_SEARCHED_FRAMES)
        return stop.default_frame

    async def scopes(self, frame_id: int) -> Sequence[Scope]:
        """Return the scopes of a frame of the current stop, by the adapter's frame id; requested if not known.

        Empty: it has none. If the person's client looks at the stop first, the call waits for that.

        Raises:
            NotStopped: The program runs, is about to pause, or has ended.
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        stop = self._mirror.require_stop()
        if frame_id not in stop.values.scopes:
            await self._request_once(
                "scopes", {"frameId": frame_id}, lambda: frame_id in stop.values.scopes
            )
        return stop.values.scopes.get(frame_id, [])

    async def variables(self, reference: int) -> Sequence[Variable]:
        """Return the children of a scope or variable, by its `variablesReference`.

        They are requested if the mirror does not have them, or has them from before an evaluation. Empty: it has none,
        or the mirror got none. If the person's client looks at the stop first, the call waits for that.

        Raises:
            NotStopped: The program runs, a pause is pending, or it has ended.
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        stop = self._mirror.require_stop()

        def known() -> bool:
            """Return whether the mirror has the children, as they are now."""
            return (
                reference in stop.values.variables
                and reference not in stop.values.outdated_references
            )

        if not known():
            await self._request_once("variables", {"variablesReference": reference}, known)
        return stop.values.variables.get(reference, [])

    async def page(self, reference: int, kind: str, start: int, count: int) -> Sequence[Variable]:
        """Send `variables` for a part of a variable's children, and return the answer as it is.

        `kind` is "indexed" or "named". The adapter may ignore it, or the part: `children.page_of` corrects that.
        """
        return await self._request_children(reference, filter=kind, start=start, count=count)

    async def named_children(self, reference: int) -> Sequence[Variable]:
        """Send `variables` for all `named` children of a variable, and return the answer as it is."""
        return await self._request_children(reference, filter="named")

    async def _request_children(
        self, reference: int, **which: Unpack[_VariablesPart]
    ) -> Sequence[Variable]:
        """Send `variables` with the options `which`, after the person's client has looked.

        Return the children.
        """
        await self.other_client.wait_for_inspection()
        arguments: VariablesArguments = {"variablesReference": reference, **which}
        return (await self._request("variables", arguments)).get("variables") or []

    def is_folded(self, variable: Variable) -> bool:
        """Return whether the adapter has left elements out of a variable's value."""
        text = variable["value"]
        return is_folded(text) or bool(
            self.omission_pattern and self.omission_pattern.search(text[:MAX_READ_CHARS])
        )

    def hides_children(self, variable: Variable, *, whole: bool = True) -> bool:
        """Return whether a variable's value is shown without its elements, though it has children to fetch.

        With `whole`, an object whose value says nothing about its members counts, too. Lazy values do not count.
        """
        text, named = variable["value"], variable.get("type", "")
        if not variable["variablesReference"] or variable.get("presentationHint", {}).get("lazy"):
            return False
        return self.is_folded(variable) or ((whole or text != named) and says_nothing(text, named))

    async def fetch_members(self, variable: Variable) -> None:
        """Fetch the first elements, or the members, of a variable if the adapter shows it without them.

        Otherwise, and for a lazy value, nothing is sent. The mirror keeps what is fetched; nothing is returned, and
        errors raise nothing.
        """
        if self.hides_children(variable):
            kind, most = (
                ("indexed", FIRST_ELEMENTS)
                if is_list(variable["value"])
                else ("named", MAX_MEMBERS)
            )
            await ignore_failure(self.page(variable["variablesReference"], kind, 0, most))

    async def exception_info(self, thread_id: int) -> Body:
        """Return the body of `exceptionInfo` for the thread of a stop, from the mirror or else by a request.

        The call first waits until the person's client has looked at the stop, if that client looks first. The request is
        sent only if the mirror has nothing on the exception. What the mirror has may be less than a whole body, such as
        only a `description`. The result is empty if the answer tells nothing.

        Raises:
            NotStopped: The thread runs.
            Unsupported: The adapter does not support `exceptionInfo`, and the mirror has nothing on the exception.
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        stop = self._mirror.require_stop(thread_id)
        if stop.exception is None:
            asks: ExceptionInfoArguments = {"threadId": thread_id}
            await self._request_once("exceptionInfo", asks, lambda: stop.exception is not None)
        return stop.exception or {}

    @overload
    async def _request_once(
        self, command: Literal["threads"], arguments: Nothing, known: Callable[[], bool]
    ) -> None: ...
    @overload
    async def _request_once(
        self,
        command: Literal["stackTrace"],
        arguments: StackTraceArguments,
        known: Callable[[], bool],
    ) -> None: ...
    @overload
    async def _request_once(
        self, command: Literal["scopes"], arguments: ScopesArguments, known: Callable[[], bool]
    ) -> None: ...
    @overload
    async def _request_once(
        self,
        command: Literal["variables"],
        arguments: VariablesArguments,
        known: Callable[[], bool],
    ) -> None: ...
    @overload
    async def _request_once(
        self,
        command: Literal["exceptionInfo"],
        arguments: ExceptionInfoArguments,
        known: Callable[[], bool],
    ) -> None: ...
    async def _request_once(self, command: str, arguments: Body, known: Callable[[], bool]) -> None:
        """Have the mirror get the answer to a request: send it, or join the same one that is under way.

        `command` and `arguments` are DAP's name of the request and its arguments. While another caller of this
        method has the same request under way at this stop, its answer is awaited instead. Otherwise the answer
        to the person's client's own request of this kind is awaited first, if that is due; then the request is
        sent, unless `known()` is true. `known` takes no arguments and tells whether the mirror has the answer
        now: it alone keeps a request that was answered from being sent again. If the caller that fetches is
        cancelled, one of those that joined it fetches again. Nothing is returned: the answer is in the mirror.

        Raises:
            DapeerError: The request failed, whichever caller has sent it.
        """
        key = (self._mirror.epoch, command, *arguments.values())
        while (fetch := self._fetching.get(key)) is not None:
            if await fetch.wait() == "here":
                return
        fetch = self._fetching[key] = Answer()
        try:
            await self.other_client.wait_for_answer(command, arguments)
            if not known():
                await cast("_SendAny", self._request)(command, arguments)
            fetch.give("here")
        except DapeerError as error:
            fetch.fail(error)
            raise
        finally:
            del self._fetching[key]
            fetch.give("given up")


async def run_together(*fetches: Coroutine[Any, Any, object]) -> None:
    """Run all coroutines side by side, and wait for all of them; their results are dropped.

    A `DapeerError`, `KeyError` or `ValueError` that one of them raises is dropped, and the others go on. Any other
    error cancels the rest, and is raised in an `ExceptionGroup`. Nothing happens without coroutines.
    """
    if not fetches:
        return
    async with anyio.create_task_group() as tasks:
        for each in fetches[1:]:
            tasks.start_soon(ignore_failure, each)
        await ignore_failure(fetches[0])


async def ignore_failure(fetch: Coroutine[Any, Any, object]) -> None:
    """Await a request for a part of what is shown; a `DapeerError`, `KeyError` or `ValueError` is dropped."""
    try:
        await fetch
    except (DapeerError, KeyError, ValueError):
        return
