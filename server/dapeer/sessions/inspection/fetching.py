"""What is known of a stopped program: from the mirror, else asked once, however many ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, cast, overload

import anyio

from dapeer.base.errors import DapeerError
from dapeer.base.system.exchange import Answer, WaitFor
from dapeer.base.text.folding import is_folded, is_list, says_nothing
from dapeer.base.text.structure import MAX_READ_CHARS
from dapeer.dap.messages import Body
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
from dapeer.mirror.stops.stops import Stop
from dapeer.sessions.inspection.other_client import OtherClient
from dapeer.sessions.traits import FRAMES_AT_ONCE, Traits
from dapeer.view.stacks import has_enough_frames

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


class _Part(TypedDict, total=False):
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
        present, first = traits.is_shared, traits.is_theirs
        self.other_client = OtherClient(mirror, wait_for, present=present, first=first)
        self.folded: re.Pattern[str] | None = None
        """The adapter's placeholder in a value for omitted elements, besides the usual ones."""
        self.more_elements = traits.stopping.more_elements
        """`NAME: TYPE` of a child that stands for more elements of its container."""
        self._levels = traits.stack_levels
        self._mirror = mirror
        self._request = request
        self._fetching: dict[tuple[object, ...], Answer[Literal["here", "given up"]]] = {}

    async def threads(self) -> Mapping[int, str]:
        """Return the names of all threads by id; `threads` is sent only if the mirror does not know them."""
        await self.other_client.wait_for_inspection()
        if not self._mirror.has_all_threads:
            await self._once("threads", {}, lambda: self._mirror.has_all_threads)
        return self._mirror.threads

    async def stack_trace(
        self, thread_id: int, start: int = 0, levels: int = FRAMES_AT_ONCE
    ) -> Sequence[StackFrame]:
        """Return up to `levels` frames of a stopped thread, from the `start`-th on; the innermost is 0.

        What the mirror lacks is requested from the adapter. Empty: the stack has no frames there.

        Raises:
            NotStopped: The thread runs.
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
            await self._once(
                "stackTrace", arguments, lambda: len(stop.stack.frames.get(thread_id, ())) > first
            )
        return stop.stack.frames.get(thread_id, [])[start : start + levels]

    async def whole_stack(self, thread_id: int) -> Sequence[StackFrame]:
        """Return the frames of a stopped thread, innermost first, to the outermost one, `MAX_FRAMES` at most.

        What the mirror lacks is requested, several times if the adapter gives a part of a deep stack.
        """
        known = -1
        # Some adapters say of a deep stack only that there is more.
        while (
            known < len(frames := await self.stack_trace(thread_id, levels=MAX_FRAMES)) < MAX_FRAMES
        ):
            known = len(frames)
        return frames

    async def ends_of_stack(self, stop: Stop) -> None:
        """Fetch what is shown of the stack: the innermost frames, and the outermost one of the user's.

        The mirror keeps them. The frames between them are fetched, too, if they are few, if those ends do not tell what lies between, or
        if the adapter does not say how many there are.

        Raises:
            DapeerError: A request failed.
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
            await self._once("stackTrace", asks, lambda: bool(stop.stack.outer))
            if any(map(self._mirror.frames.is_users, stop.stack.outer)):
                return
        await self.whole_stack(thread)

    async def top(self, stop: Stop) -> StackFrame | None:
        """Return the frame of a stop to show first, the user's if there is one; None: there is no stack.

        It is fetched if the mirror lacks it; up to `MAX_SEARCHED_FRAMES` frames are fetched to find one of the user's.
        """
        if stop.top is None or stop.stack.front is None or self.other_client.first:
            frames = await self.stack_trace(stop.thread_id, levels=self._levels)
            if frames and stop.stack.front is None:
                await self.stack_trace(stop.thread_id, levels=MAX_SEARCHED_FRAMES)
        return stop.top

    async def scopes(self, frame_id: int) -> Sequence[Scope]:
        """Return the scopes of a frame of the current stop, by the adapter's frame id; requested if not known.

        Raises:
            NotStopped: The program runs.
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        stop = self._mirror.require_stop()
        if frame_id not in stop.values.scopes:
            await self._once(
                "scopes", {"frameId": frame_id}, lambda: frame_id in stop.values.scopes
            )
        return stop.values.scopes.get(frame_id, [])

    async def variables(self, reference: int) -> Sequence[Variable]:
        """Return the children of a scope or variable, by its `variablesReference`.

        They are requested if the mirror does not have them, or has them from before an evaluation.

        Raises:
            NotStopped: The program runs.
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        stop = self._mirror.require_stop()

        def known() -> bool:
            """Return whether the mirror has the children, as they are now."""
            return reference in stop.values.variables and reference not in stop.values.outdated

        if not known():
            await self._once("variables", {"variablesReference": reference}, known)
        return stop.values.variables.get(reference, [])

    async def page(self, reference: int, kind: str, start: int, count: int) -> Sequence[Variable]:
        """Send `variables` for a part of a variable's children, and return the answer as it is.

        `kind` is "indexed" or "named". The adapter may ignore it, or the part: `children.page_of` corrects that.
        """
        return await self._chosen(reference, filter=kind, start=start, count=count)

    async def named_children(self, reference: int) -> Sequence[Variable]:
        """Send `variables` for all `named` children of a variable, and return the answer as it is."""
        return await self._chosen(reference, filter="named")

    async def _chosen(self, reference: int, **which: Unpack[_Part]) -> Sequence[Variable]:
        """Send `variables` with the options `which`, after the person's client has looked.

        Return the children.
        """
        await self.other_client.wait_for_inspection()
        arguments: VariablesArguments = {"variablesReference": reference, **which}
        return (await self._request("variables", arguments)).get("variables") or []

    def is_folded(self, variable: Variable) -> bool:
        """Return whether the adapter has left elements out of a variable's value."""
        text = variable["value"]
        return is_folded(text) or bool(self.folded and self.folded.search(text[:MAX_READ_CHARS]))

    def is_closed(self, variable: Variable, *, whole: bool = True) -> bool:
        """Return whether a variable's value is shown without its elements, though it has children to fetch.

        With `whole`, an object whose value says nothing about its members counts, too. Lazy values do not count.
        """
        text, named = variable["value"], variable.get("type", "")
        if not variable["variablesReference"] or variable.get("presentationHint", {}).get("lazy"):
            return False
        return self.is_folded(variable) or ((whole or text != named) and says_nothing(text, named))

    async def unfold(self, variable: Variable) -> None:
        """Fetch the first elements, or the members, of a variable that the adapter shows without them.

        The mirror keeps them; nothing is returned, and errors raise nothing.
        """
        if self.is_closed(variable):
            kind, most = (
                ("indexed", FIRST_ELEMENTS)
                if is_list(variable["value"])
                else ("named", MAX_MEMBERS)
            )
            await ignore_failure(self.page(variable["variablesReference"], kind, 0, most))

    async def exception_info(self, thread_id: int) -> Body:
        """Return the body of `exceptionInfo` for a stopped thread; empty: the adapter gives none.

        It is requested once for each stop.

        Raises:
            NotStopped: The thread runs.
            DapeerError: The request failed.
        """
        await self.other_client.wait_for_inspection()
        stop = self._mirror.require_stop(thread_id)
        if stop.exception is None:
            asks: ExceptionInfoArguments = {"threadId": thread_id}
            await self._once("exceptionInfo", asks, lambda: stop.exception is not None)
        return stop.exception or {}

    @overload
    async def _once(
        self, command: Literal["threads"], arguments: Nothing, known: Callable[[], bool]
    ) -> None: ...
    @overload
    async def _once(
        self,
        command: Literal["stackTrace"],
        arguments: StackTraceArguments,
        known: Callable[[], bool],
    ) -> None: ...
    @overload
    async def _once(
        self, command: Literal["scopes"], arguments: ScopesArguments, known: Callable[[], bool]
    ) -> None: ...
    @overload
    async def _once(
        self,
        command: Literal["variables"],
        arguments: VariablesArguments,
        known: Callable[[], bool],
    ) -> None: ...
    @overload
    async def _once(
        self,
        command: Literal["exceptionInfo"],
        arguments: ExceptionInfoArguments,
        known: Callable[[], bool],
    ) -> None: ...
    async def _once(self, command: str, arguments: Body, known: Callable[[], bool]) -> None:
        """Send a request whose answer the mirror keeps, or wait for the same one that another caller has sent.

        `known` tells whether the mirror has the answer. A request that the person's client has sent already is not sent again if it is
        `known` by its answer. If the fetching caller is cancelled, one of those that joined fetches again.

        Raises:
            DapeerError: The request failed, whoever has sent it.
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
    """Run all coroutines side by side, and wait for all of them; errors of requests are dropped."""
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
