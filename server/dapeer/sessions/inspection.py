"""Looking at a stopped program: from the mirror, else asked once, however many ask."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from dapeer.adapters.definition.stopping import Expressions
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.requests import RESUMES
from dapeer.dap.types import Scope, StackFrame, Variable
from dapeer.errors import DapeerError, RequestFailed
from dapeer.mirror.mirror import UNKNOWN, Mirror
from dapeer.mirror.stops import Stop
from dapeer.sessions.explaining import explain, tell_members
from dapeer.sessions.settling import FLOOD, settled
from dapeer.sessions.source_versions import SourceVersions
from dapeer.sessions.turns import Turns
from dapeer.sessions.waiters import WaitFor
from dapeer.system.secret_files import HIDDEN, SecretFiles
from dapeer.text import excerpt
from dapeer.text.folding import is_folded, is_list, says_nothing
from dapeer.text.structure import READ
from dapeer.view import relevance, snapshot
from dapeer.view.stacks import frame_path

LAST_WORDS = 4000
"""Characters at the end of the output in which an error is looked for that has ended the program."""
LEVELS = 20
"""Frames fetched at a stop."""
DEEP = 1000
"""Frames of a stack that are fetched to reach the outermost."""
FAR = 100
"""Frames among which one of the user's own is looked for."""
UNFOLDED = 50
"""Locals whose elements are fetched where the adapter leaves them out."""
OPENED = 8
"""Locals of which so much is fetched in a session of somebody else's client, which waits meanwhile."""
FIRST = 5
"""Elements that are fetched of each."""
MEMBERS = 40
"""Members that are fetched of an object."""
DEPTH = 2
"""Levels that are opened below the first."""
SECONDS_TO_OPEN = 2.0
"""Seconds that this may take."""
SECONDS_WITHOUT_OUTPUT = 0.015
"""Seconds without output after which a stop's output counts as complete."""
SECONDS_TO_LOOK = 6.0
"""Seconds that a look at a stop waits for what is slow to come, such as a value whose `repr` takes long."""
CHASED = 50
"""Stops that are looked at unasked until the program is told to run on: with some adapters a look causes the next stop."""


class SendRequest(Protocol):
    """Sends one request and returns the body of its response."""

    def __call__(self, command: str, arguments: Body | None = None) -> Coroutine[Any, Any, Body]:
        """Send it."""
        ...


class Inspection:
    """Answers what a stopped program looks like.

    At every stop it fetches what everybody asks: stack, scopes, locals, the exception. A stop that the
    person in Neovim has caused is left to their own client, whose answers are ours, too, until somebody
    asks. What else is asked for is fetched when it is, once. A caller that gives up stops no fetch that
    others wait for.
    """

    def __init__(self, mirror: Mirror, request: SendRequest, wait_for: WaitFor) -> None:
        self._mirror = mirror
        self._request = request
        self._wait_for = wait_for
        self.editions = SourceVersions(time.time())
        self._fetching: dict[tuple[object, ...], asyncio.Future[None]] = {}
        self.expressions = Expressions()
        self.secret_files = SecretFiles()
        """Whose text is not shown."""
        self.traceback: re.Pattern[str] | None = None
        """How the program prints an error that ends it."""
        self.folded: re.Pattern[str] | None = None
        """What stands in a value for elements that the adapter has left out, besides what all write so."""
        self.compare: Callable[[Stop], Coroutine[Any, Any, None]] | None = None
        """Looks which frames the adapter leaves out of a stack, where it may do so."""
        self._first_look: tuple[asyncio.Task[None], asyncio.Event] | None = None
        self._chased = 0
        self._left: Stop | None = None
        """The stop that nobody looks at until somebody asks."""
        self.turns = Turns(mirror, wait_for)

    # -- at every stop

    def heard(self, message: Message) -> None:
        """Take note of a message of the session, which the mirror has taken in."""
        self.turns.heard(message)
        match message:
            case Event(event="stopped"):
                self._stopped()
            case Request(seq=seq, command=command) if command in RESUMES:
                self._resumed(by_person=seq < 0)
            case Response(command="stackTrace") if (stop := self._mirror.stop) and not stop.source:
                self._keep_source(stop)
            case _:
                pass

    def _resumed(self, *, by_person: bool) -> None:
        """Take note that somebody has the program run on: the next stop is not of our making."""
        self._chased = 0
        if (stop := self._mirror.history.latest) is not None:
            stop.left_by = "the person in Neovim" if by_person else "another call of a tool"

    def _stopped(self) -> None:
        """Begin to fetch what everybody asks at the stop that has just come, unless it is left."""
        stop = self._mirror.stop
        self._chased += 1
        if self._chased > CHASED or self.turns.persons:
            self._left = stop
        elif stop is not None:
            self._begin(stop)

    def _keep_source(self, stop: Stop) -> None:
        """Keep the lines around the place as they are now."""
        path = frame_path(stop.top) if stop.top else ""
        if stop.top and path:
            line = stop.top["line"]
            around = self.source(path, line, snapshot.SOURCE_AROUND)
            stop.source = around and excerpt.within(*around, line, stop.top["name"])
            stop.outdated_source = self.editions.warning(path, stop.top["line"])

    def wanted(self, stop: Stop) -> None:
        """Begin to look at a stop that was left to the person's client: somebody asks."""
        if stop is self._left and self._chased <= CHASED:
            self._left = None
            self._begin(stop)

    def _begin(self, stop: Stop) -> None:
        looked = asyncio.Event()
        # The task is kept: a loop holds on to no task by itself.
        self._first_look = asyncio.create_task(self._look(stop, looked)), looked

    async def complete(self, stop: Stop) -> None:
        """Wait until the stop's stack, scopes and locals are here, as far as they can be had."""
        if stop is self._left:
            self._left = None
            self._begin(stop)
        if self._first_look is not None:
            await self._first_look[1].wait()
        if stop.outdated or (stop.top is None and not stop.frames):
            await _quietly(self._locals(stop))

    async def _look(self, stop: Stop, looked: asyncio.Event) -> None:
        try:
            stop.output_flows = self._printed(stop) > FLOOD
            await self._look_around(stop)
            # A step of which no output has come by now has most likely printed nothing, and costs
            # no time; what comes later all the same is told with the next stop.
            if stop.reason != "step" or self._mirror.output.end != stop.output_start:
                await self.output_arrived(stop)
            if stop.raised and (found := self.printed(stop.output_start)):
                stop.exception = {"description": found.groupdict().get("error")}
        finally:
            looked.set()

    async def _look_around(self, stop: Stop) -> None:
        if stop.thread_id == UNKNOWN:
            await _quietly(self.threads())
        beside: list[Coroutine[Any, Any, object]] = []
        if not self._mirror.threads_known:
            beside.append(self.threads())
        if stop.reason == "exception":
            beside.append(self.exception_info(stop.thread_id))
        await _together(self._locals(stop), *beside)

    async def _locals(self, stop: Stop) -> None:
        frame = await self.top(stop)
        if frame is None:
            return
        self._keep_source(stop)
        await _quietly(explain(stop, self.expressions, self._evaluated))
        try:
            await self.scopes(frame["id"])
        except RequestFailed as error:
            stop.withheld = error.message
        references = [scope["variablesReference"] for scope in stop.local_scopes(frame["id"])]
        rest = self.whole_stack(stop.thread_id)
        await _together(rest, *map(self.variables, references))
        await self._open(stop)
        if self.compare is not None:
            await _quietly(self.compare(stop))

    async def _open(self, stop: Stop) -> None:
        """Fetch what is in the values that the adapter leaves out, of those that matter some levels deep."""
        needed = relevance.needed(stop)
        most = UNFOLDED if self.folded is None else OPENED
        if self.folded is not None:
            await _quietly(tell_members(stop, needed, self.expressions, self._evaluated))
        ranked = relevance.by_use(stop)[:most]
        await _together(*(self.unfold(each, whole=each in needed) for each in ranked))
        level = needed[:FIRST]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_TO_OPEN):
                for _ in range(DEPTH):
                    level = [inner for each in level for inner in stop.inside(each)][:most]
                    await _together(*map(self.unfold, level))

    async def _evaluated(self, expression: str, frame_id: int, context: str) -> str:
        arguments = {"expression": expression, "frameId": frame_id, "context": context}
        return str((await self._request("evaluate", arguments)).get("result") or "")

    def source(self, path: str, line: int, around: int) -> tuple[int, list[str]] | None:
        """Return the lines around a line, as the program has loaded them, and the first one's number.

        None when they cannot be read. Of a file that may hold secrets, it says so in place of the line.
        """
        if self.secret_files.hides(path):
            return line, [HIDDEN]
        return self.editions.window(path, line, around)

    async def output_settled(self, quiet: float) -> None:
        """Wait until nothing more has been printed for `quiet` seconds, or a little longer than is worth it."""
        await settled(self._mirror.output, self._wait_for, quiet)

    async def output_arrived(self, stop: Stop) -> None:
        """Wait until what was printed before a stop is here; the stop knows of what still flows."""
        stop.output_flows = True
        stop.output_flows = not await settled(
            self._mirror.output, self._wait_for, SECONDS_WITHOUT_OUTPUT, self._printed(stop)
        )

    def _printed(self, stop: Stop) -> int:
        return self._mirror.output.end - stop.left_at

    def printed(self, since: int) -> re.Match[str] | None:
        """Return the last error that the program has printed since a cursor."""
        if self.traceback is None:
            return None
        text = self._mirror.output.read(since).text.replace("\r\n", "\n")
        return next(reversed(list(self.traceback.finditer(text))), None)

    def last_words(self) -> re.Match[str] | None:
        """Return the last error in what the program has printed last."""
        return self.printed(self._mirror.output.end - LAST_WORDS)

    # -- when asked

    async def threads(self) -> Mapping[int, str]:
        """Return the names of all threads by id."""
        await self.turns.come()
        if not self._mirror.threads_known:
            await self._once("threads", {})
        return self._mirror.threads

    async def stack_trace(
        self, thread_id: int, start: int = 0, levels: int = LEVELS
    ) -> Sequence[StackFrame]:
        """Return `levels` frames of a stopped thread, from the `start`-th on; the innermost is 0."""
        await self.turns.come()
        stop = self._mirror.stopped(thread_id)
        first = len(stop.frames.get(thread_id, ()))
        last = min(start + levels, stop.total_frames.get(thread_id, start + levels))
        if first < last:
            arguments = {
                "threadId": thread_id,
                "startFrame": first,
                "levels": max(LEVELS, last - first),
            }
            await self._once("stackTrace", arguments)
        return stop.frames.get(thread_id, [])[start : start + levels]

    async def whole_stack(self, thread_id: int) -> Sequence[StackFrame]:
        """Return the frames of a stopped thread to the outermost, `DEEP` at most."""
        known = -1
        # Some adapters say of a deep stack only that there is more.
        while known < len(frames := await self.stack_trace(thread_id, levels=DEEP)) < DEEP:
            known = len(frames)
        return frames

    async def top(self, stop: Stop) -> StackFrame | None:
        """Return the frame to look at first, None when there is no stack."""
        if await self.stack_trace(stop.thread_id) and stop.front is None:
            await self.stack_trace(stop.thread_id, levels=FAR)
        return stop.top

    async def scopes(self, frame_id: int) -> Sequence[Scope]:
        """Return the scopes of a frame."""
        await self.turns.come()
        stop = self._mirror.stopped()
        if frame_id not in stop.scopes:
            await self._once("scopes", {"frameId": frame_id})
        return stop.scopes.get(frame_id, [])

    async def variables(self, reference: int) -> Sequence[Variable]:
        """Return the children of a scope or variable."""
        await self.turns.come()
        stop = self._mirror.stopped()
        if reference not in stop.variables or reference in stop.outdated:
            await self._once("variables", {"variablesReference": reference})
        return stop.variables.get(reference, [])

    async def page(self, reference: int, kind: str, start: int, count: int) -> Sequence[Variable]:
        """Return a part of the `indexed` or `named` children of a variable."""
        await self.turns.come()
        arguments = {
            "variablesReference": reference,
            "filter": kind,
            "start": start,
            "count": count,
        }
        return (await self._request("variables", arguments)).get("variables") or []

    def is_folded(self, variable: Variable) -> bool:
        """Whether the adapter has left out of a value what its elements are."""
        text = variable["value"]
        return is_folded(text) or bool(self.folded and self.folded.search(text[:READ]))

    async def unfold(self, variable: Variable, *, whole: bool = True) -> None:
        """Fetch the first elements of what the adapter shows without them, and if `whole` the members of what it tells by its class."""
        reference, text = variable["variablesReference"], variable["value"]
        lists = is_list(text)
        named = variable.get("type", "")
        hides = self.is_folded(variable) or ((whole or text != named) and says_nothing(text, named))
        if reference and hides and not variable.get("presentationHint", {}).get("lazy"):
            kind, most = ("indexed", FIRST) if lists else ("named", MEMBERS)
            await _quietly(self.page(reference, kind, 0, most))

    async def exception_info(self, thread_id: int) -> Body:
        """Return the body of `exceptionInfo` for a stopped thread."""
        await self.turns.come()
        stop = self._mirror.stopped(thread_id)
        if stop.exception is None:
            await self._once("exceptionInfo", {"threadId": thread_id})
        return stop.exception or {}

    async def _once(self, command: str, arguments: Body) -> None:
        """Join a fetch that is under way, or do it; what came of it is in the mirror.

        When the one who does it is cancelled, one of those who joined does it again.
        """
        key = (self._mirror.epoch, command, *arguments.values())
        while (fetch := self._fetching.get(key)) is not None:
            await asyncio.wait({fetch})
            if not fetch.cancelled():
                return fetch.result()
        fetch = self._fetching[key] = asyncio.get_running_loop().create_future()
        try:
            await self._request(command, arguments)
            fetch.set_result(None)
        except DapeerError as error:
            fetch.set_exception(error)
            fetch.exception()  # seen: where nobody has joined, it is not worth a log line
            raise
        finally:
            del self._fetching[key]
            fetch.cancel()
        return None


async def _together(*fetches: Coroutine[Any, Any, object]) -> None:
    """Do all of them side by side; one alone needs no task of its own."""
    if len(fetches) == 1:
        await _quietly(fetches[0])
    else:
        await asyncio.gather(*map(_quietly, fetches))


async def _quietly(fetch: Coroutine[Any, Any, object]) -> None:
    """A stop is told even when a part of it cannot be had."""
    try:
        await fetch
    except (DapeerError, KeyError, ValueError):
        return
