"""A prompt in an OpenCode session, from its start until it ends or needs an answer.

Events only say when to look: the state is requested anew each time. So a gap in the stream loses nothing, and
the order of events does not matter.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

import anyio

from dapeer.base.json_types import Json
from dapeer.base.system.tasks import BackgroundTask, first_of
from dapeer.integrations.opencode.catalogue import CONNECTED, HEARTBEAT, follow
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.errors import NoOpenCode, OpenCodeError, OpenCodeFailed
from dapeer.integrations.opencode.messages import PromptOutcome, PromptTurn, error_of, last_prompt
from dapeer.integrations.opencode.prompt_session import PAGE_MESSAGES, OpenCodeSession

# Picks from a session's events what a waiting client may want to read, a line at a time.

LONGEST_LINE: Final = 200
STEP_CHARS: Final = 150
"""Characters by which a line has grown when it is shown again."""


class Narration:
    """Collects the text in the events of a session and its subagents' sessions.

    Args:
        session: The session's id.
    """

    def __init__(self, session: str) -> None:
        self._session_ids = {session}
        self._texts: dict[str, str] = {}
        """By the id of the part: the text so far of its last line."""
        self._last_text = ""

    def new_text(self, event: Json) -> str:
        """Return what a waiting client reads at an event: a line of text, or a call's state.

        Empty: there is nothing new. The event's text is kept. What was returned last is not returned again.
        """
        words = self._words(event)
        if not words or words == self._last_text:
            return ""
        self._last_text = words
        return words

    def _words(self, event: Json) -> str:
        """Return the text of an event, which may have been returned before; empty: it has none.

        New sessions of subagents are noted. `event` is OpenCode's, with `type` and `properties`.
        """
        match event:
            case {"type": "session.created", "properties": {"info": {"id": str(child), **info}}}:
                if info.get("parentID") in self._session_ids:
                    self._session_ids.add(child)
            case {"properties": {"part": {"sessionID": session} as part}}:
                return self._part(part) if session in self._session_ids else ""
            case {"properties": {"partID": str(part), "delta": str(delta)}}:
                return self._delta(part, delta)
            case {"type": "session.status", "properties": {"sessionID": session, "status": status}}:
                return _trying_again(status) if session in self._session_ids else ""
            case _:
                pass
        return ""

    def _part(self, part: Json) -> str:
        """Return a call of a tool with its state, or the last line of a complete text; else empty.

        `part` is a part of a message, as OpenCode sends it.
        """
        match part:
            case {"type": "tool", "tool": str(tool), "state": {"status": str(status), **more}}:
                title = str(more.get("title") or "")[:LONGEST_LINE]
                return f"{tool} {title} ({status})" if title else f"{tool} ({status})"
            case {"type": "text", "id": str(name), "text": "", "time": {"start": _}}:
                # Prompts of users and the reasoning of models have no such beginning.
                self._texts[name] = ""
            case {"type": "text", "id": str(name), "text": str(text)} if name in self._texts:
                del self._texts[name]
                return text.rstrip().rpartition("\n")[2][:LONGEST_LINE]
            case _:
                pass
        return ""

    def _delta(self, part: str, delta: str) -> str:
        """Add a piece to a text that grows, and return the line that is to be shown, or an empty text.

        That is the newest complete line, or an incomplete one that has grown long. `part` is the id of the text, `delta` the piece.
        """
        if part not in self._texts:
            return ""
        before = self._texts[part]
        *lines, self._texts[part] = (before + delta).split("\n")
        line_now = next((line.strip() for line in reversed(lines) if line.strip()), "")
        now = self._texts[part]
        if not line_now and len(now) // STEP_CHARS > len(before) // STEP_CHARS:
            line_now = now.strip()
        return line_now[-LONGEST_LINE:]


def _trying_again(status: Json) -> str:
    """Return a sentence if a session's status is that OpenCode asks the model again; else empty."""
    match status:
        case {"type": "retry", "message": str(message)}:
            return f"OpenCode retries: {message}"
        case _:
            return ""


QUESTION_EVENTS: Final = ("permission.asked", "question.asked")
ENDED: Final = ("session.idle", "session.error")
HEARTBEATS_TO_ARRIVE: Final = 6
"""Heartbeats after which a prompt whose message is not there will not come any more."""
HEARTBEATS_TO_ANSWER: Final = 2
"""Heartbeats after which nothing will come of a message without an answer."""
SECONDS_TO_STOP: Final = 4
UNANSWERED: Final = "OpenCode stopped before it answered"

ReportText = Callable[[str], Awaitable[None]]
Begin = Callable[[], Coroutine[Any, Any, Any]]

_ours: deque[str] = deque(maxlen=1000)
"""The prompts that dapeer has sent to idle sessions: it may stop these runs."""


class PromptRun:
    """One prompt, or one command.

    Args:
        opencode: Where it runs.
        session: Its session, as OpenCode sends it.
        prompt: The id of its message, which need not exist yet; None: the last prompt of the session.
    """

    def __init__(self, opencode: OpenCode, session: Json, prompt: str | None = None) -> None:
        self._opencode = opencode
        self._error = ""
        self._reply_to = ""
        self._event_arrived = anyio.Event()
        """Set when the event stream is open."""
        self._arrival_event = anyio.Event()
        """Set when its message is known to be there."""
        self._start_event = anyio.Event()
        """Set when OpenCode works at it, or has done so."""
        self._may_be_queued = prompt is not None
        """Whether the session may be busy with another prompt."""
        self._silent_beats = 0
        self._why_unsure = ""
        """Why it may never have reached OpenCode; empty: it has."""
        self.session = OpenCodeSession(opencode, session)
        self.prompt = prompt

    async def wait(
        self, begin: Begin | None, report: ReportText, seconds: float, reply_to: str = ""
    ) -> PromptOutcome:
        """Start the run, and wait until it ends or needs an answer.

        After `seconds` it goes on without a waiter. If cancelled, stop the run, if this or an earlier `wait` has started it.

        Args:
            begin: Starts or resumes it; called once the event stream is open. None: it runs already.
            report: Is called with the newest text of the session.
            seconds: How long to wait.
            reply_to: The id of the request that `begin` answers; empty: it begins a prompt.

        Returns:
            The outcome; its state is `running` after the timeout.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        self._reply_to = reply_to
        if reply_to or begin is None:
            self._arrival_event.set()
        async with self._started(begin, report) as (watching, beginning):
            try:
                try:
                    with anyio.fail_after(seconds):
                        return await self._wait_for_first_outcome(watching, beginning)
                except TimeoutError:
                    # OpenCode drops a prompt that it has not begun if the connection closes.
                    ended = await self._until(self._arrival_event, watching, beginning)
                    return ended or PromptOutcome("running", await self._turn())
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(SECONDS_TO_STOP, shield=True):
                    await self._stop()
                raise

    async def begin(self, begin: Begin) -> PromptOutcome:
        """Start the run, and return when OpenCode works on it or has queued it, or when it has ended by then.

        `begin` sends the request; it is called once the event stream is open.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        async with self._started(begin, _nobody) as (watching, beginning):
            started = self._arrival_event if self._may_be_queued else self._start_event
            ended = await self._until(started, watching, beginning)
            # From now on, the session's state is that of this prompt.
            return ended or PromptOutcome("running", PromptTurn(()))

    @asynccontextmanager
    async def _started(
        self, begin: Begin | None, report: ReportText
    ) -> AsyncGenerator[tuple[BackgroundTask[PromptOutcome], BackgroundTask[None]]]:
        """Yield two background tasks while the body runs: one watches the run, the other starts it.

        Both are cancelled afterwards. The first one's result is the outcome. If the session was idle before, dapeer may stop the run.
        `begin` sends the request that starts or resumes it; None: it runs already.
        """
        if begin is not None and not self._reply_to:
            self._may_be_queued = await self._is_busy_before()
            if not self._may_be_queued and self.prompt:
                _ours.append(self.prompt)
        watching = BackgroundTask(self._watch(report, look_at_once=begin is None))
        beginning = BackgroundTask(self._begin(begin))
        try:
            yield watching, beginning
        finally:
            watching.cancel()
            beginning.cancel()
            await watching.ended()
            await beginning.ended()

    async def _is_busy_before(self) -> bool:
        """Whether the session is busy before the run is started."""
        return await self.session.is_busy()

    async def _begin(self, begin: Begin | None) -> None:
        """Wait until the event stream is open, then send the request that starts the run, if there is one."""
        await self._event_arrived.wait()
        if begin is not None:
            await begin()

    async def _wait_for_first_outcome(
        self, watching: BackgroundTask[PromptOutcome], beginning: BackgroundTask[None]
    ) -> PromptOutcome:
        """Wait for the outcome, from events or from the state after the first request, and return it.

        That is the request that starts the run.
        """
        # A caller that is cancelled still needs both.
        await first_of(watching.ended, beginning.ended)
        if not watching.done and (outcome := await self._outcome_after_start(beginning)):
            return outcome
        await watching.ended()
        return watching.result()

    async def _outcome_after_start(self, beginning: BackgroundTask[None]) -> PromptOutcome | None:
        """Return the outcome once the request that starts the run was answered.

        None: the run goes on, or nothing is known of it. `beginning` is the task that has sent the request, and has ended.

        Raises:
            OpenCodeError: OpenCode rejects the request, or is gone and the request was an answer.
        """
        try:
            beginning.result()
        except NoOpenCode as error:
            if self._reply_to:
                raise
            # OpenCode may live on, and have taken it, when a connection breaks; a command's is open for long.
            self._why_unsure = str(error)
        with contextlib.suppress(NoOpenCode):
            return await self.look()
        return None

    async def _until(
        self,
        event: anyio.Event,
        watching: BackgroundTask[PromptOutcome],
        beginning: BackgroundTask[None],
    ) -> PromptOutcome | None:
        """Wait until `event` is set, or the run has ended; return its outcome if it has ended, else None.

        `watching` and `beginning` are the tasks that `_started` yields.

        Raises:
            OpenCodeError: The request that starts the run was rejected, or OpenCode is gone.
        """
        await first_of(event.wait, watching.ended, beginning.ended)
        if beginning.done and not self._arrival_event.is_set():
            beginning.result()
        if not (event.is_set() or watching.done):
            # OpenCode announces a stream shortly before it sends events on it.
            with contextlib.suppress(NoOpenCode):
                if outcome := await self.look():
                    return outcome
        await first_of(event.wait, watching.ended)
        return watching.result() if watching.done else None

    async def _watch(self, report: ReportText, *, look_at_once: bool) -> PromptOutcome:
        """Follow events until the prompt has an outcome, and return that; report new text.

        The state is requested at events that may end the prompt. `look_at_once`: also when the stream begins. `report` is called with each
        new text.

        Raises:
            OpenCodeError: OpenCode is gone, or its events have ended.
        """
        narration = Narration(self.session.id)
        async with aclosing(follow(self._opencode)) as events:
            async for event in events:
                first = event["type"] == CONNECTED and not self._event_arrived.is_set()
                self._event_arrived.set()
                if first and not look_at_once:
                    continue
                if self._note_event(event) and (outcome := await self._try_to_look(event)):
                    return outcome
                if words := narration.new_text(event):
                    await report(words)
        raise OpenCodeFailed("OpenCode's events have ended.", "opencode_status shows the state.")

    async def _try_to_look(self, event: Json) -> PromptOutcome | None:
        """Request the state after an event, and return the outcome.

        None: there is none yet, or the server cannot be reached just now.
        """
        # Events show that OpenCode is alive; after a gap, or at the next heartbeat, the state is requested.
        with contextlib.suppress(NoOpenCode):
            return await self.look(beat=event["type"] == HEARTBEAT)
        return None

    def _note_event(self, event: Json) -> bool:
        """Note what an event says; return whether the state of the session is to be requested because of it."""
        kind, properties = event["type"], event["properties"]
        if kind == CONNECTED:
            self._may_be_queued = True
        if kind in (CONNECTED, HEARTBEAT, *QUESTION_EVENTS):
            return True
        info: Json = properties.get("info") or {}
        if self.session.id not in (properties.get("sessionID"), info.get("sessionID")):
            return False
        if kind == "session.error":
            self._error = error_of(properties.get("error"))
        if kind == "session.status" and properties.get("status") == {"type": "busy"}:
            if not self._arrival_event.is_set():
                return True
            self._note_busy()
        return kind in ENDED or (kind == "message.updated" and self._is_mine_among_others(info))

    def _note_busy(self) -> None:
        """Note that OpenCode works at this prompt, if the session is busy and can be so with nothing else."""
        if self._arrival_event.is_set() and not self._may_be_queued:
            self._start_event.set()

    def _is_mine_among_others(self, info: Json) -> bool:
        """Note a message; return whether it may end this prompt while the session is busy.

        `info` is the message's. A message of the user may give the id of this prompt, or show that the session has others. The assistant's
        answers to this prompt show that OpenCode works on it.
        """
        if info.get("role") == "user":
            self.prompt = self.prompt or info.get("id")
            if info.get("id") == self.prompt:
                self._arrival_event.set()
            else:
                self._may_be_queued = True
            return False
        if info.get("parentID") != self.prompt:
            return False
        self._arrival_event.set()
        self._start_event.set()
        return self._may_be_queued and bool(info.get("finish") or info.get("error"))

    async def look(self, *, beat: bool = False) -> PromptOutcome | None:
        """Request the state of the session; return the prompt's outcome, or None while it runs.

        The outcome may be that it needs an answer.

        Args:
            beat: Whether this is at a heartbeat, so that time has passed since the last one: after several without an answer the prompt
                counts as failed.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        if asks := await self.session.asks(self._reply_to):
            return PromptOutcome("needs_input", await self._turn(), asks)
        if await self.session.is_busy():
            # When a stream begins, OpenCode says so a moment before it listens itself.
            unsure = self._may_be_queued or not self._arrival_event.is_set()
            turn = await self._turn() if unsure else PromptTurn(())
            self._note_busy()
            return _ended(turn) if turn.answered else None
        turn = await self._turn()
        if turn.ended:
            return _ended(turn)
        if self._error:
            return PromptOutcome("failed", turn, error=self._error)
        self._silent_beats += beat
        limit = HEARTBEATS_TO_ANSWER if turn.messages else HEARTBEATS_TO_ARRIVE
        stopped = turn.messages and self._start_event.is_set()
        if stopped or self._silent_beats >= limit:
            return PromptOutcome("failed", turn, error=self._why_unsure or UNANSWERED)
        return None

    async def state(self) -> PromptOutcome:
        """Request the state of the session, and return how far the prompt is, without waiting."""
        if outcome := await self.look():
            return outcome
        return PromptOutcome(
            "running" if await self.session.is_busy() else "idle", await self._turn()
        )

    async def _turn(self) -> PromptTurn:
        """Request the prompt with its answers, and note if its message is there."""
        turn = await self.session.turn(self.prompt)
        if turn.messages:
            self._arrival_event.set()
        return turn

    async def _stop(self) -> None:
        """Stop the run that dapeer has started, unless another client has written to the session since."""
        if self.prompt not in _ours or not self._event_arrived.is_set():
            return
        with contextlib.suppress(OpenCodeError):
            if not self._reply_to:
                # Until OpenCode works at it, there is nothing to stop, and it would begin afterwards.
                await self._start_event.wait()
            if last_prompt(await self.session.messages(PAGE_MESSAGES)) == self.prompt:
                await self.session.abort(self._reply_to)


def _ended(turn: PromptTurn) -> PromptOutcome:
    """Return the outcome of a turn that has ended: done or failed."""
    return PromptOutcome("failed" if turn.error else "done", turn, error=turn.error)


async def _nobody(_words: str) -> None:
    """Ignore the text."""
