"""A prompt in an OpenCode session, from its start until it ends or needs an answer.

Events only say when to look: the state is requested anew each time. So a gap in the stream loses nothing, and
the order of events does not matter.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio

from dapeer.base.json_types import Json
from dapeer.base.system.tasks import BackgroundTask, first_of
from dapeer.integrations.opencode.catalogue import CONNECTED, HEARTBEAT, follow_events
from dapeer.integrations.opencode.client import (
    NoOpenCode,
    OpenCode,
    OpenCodeError,
    OpenCodeFailed,
    OpenCodeMissing,
)
from dapeer.integrations.opencode.messages import (
    PromptOutcome,
    PromptTurn,
    error_of,
    last_prompt,
    reply_request,
    turn_of,
)

# One session of an OpenCode server: what it says, what it asks, and how it is stopped.


PAGE_MESSAGES: Final = 50
"""Messages that are asked for at first; then twice as many, until the prompt is among them."""


class OpenCodeSession:
    """A session.

    Args:
        opencode: Where it is.
        sent: The session, as OpenCode sends it.
    """

    def __init__(self, opencode: OpenCode, sent: Json) -> None:
        self.id: str = sent["id"]
        self.directory = Path(sent["directory"])
        self._opencode = opencode
        self._parents: dict[str, str | None] = {}

    async def asks(self, answered: str = "") -> list[Json]:
        """Request the permissions and questions for which the session, or a subagent's session of it, waits.

        Each is as OpenCode sends it, with its `kind` (`permission` or `question`); permissions come first. `answered` is the id of one
        that was answered this moment, and is left out; empty: none was.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        found = [
            {"kind": kind, **ask}
            for kind in ("permission", "question")
            for ask in await self._opencode.get(f"/{kind}", self.directory)
        ]
        return [
            ask
            for ask in found
            if ask["id"] != answered and await self._is_in_tree(ask["sessionID"])
        ]

    async def abort(self, answered: str = "") -> None:
        """Stop what the session does, whichever client started it, and reject what it and subagents ask.

        `answered` is the id of a permission or question that was answered this moment, and is left out; one that is gone meanwhile is
        ignored.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        await self.stop()
        # OpenCode itself would keep a question of a session that no longer waits.
        for ask in await self.asks(answered):
            path, body = reply_request(ask, "reject", None, None)
            with contextlib.suppress(OpenCodeMissing):
                await self._opencode.post(path, body, self.directory)

    async def stop(self) -> None:
        """Stop what the session does; its permissions and questions stay.

        Raises:
            OpenCodeError: OpenCode is gone.
        """
        await self._opencode.post(f"/session/{self.id}/abort", None, self.directory)

    async def _is_in_tree(self, session: str | None) -> bool:
        """Return whether a session, by its id, is this one or a descendant of it; None is not.

        The parent of each is requested from OpenCode, once.
        """
        while session is not None and session != self.id:
            if session not in self._parents:
                self._parents[session] = await self._parent(session)
            session = self._parents[session]
        return session is not None

    async def _parent(self, session: str) -> str | None:
        """Request a session's parent, and return its id; None: it has none, or the session is gone."""
        with contextlib.suppress(OpenCodeMissing):
            answer: Json = await self._opencode.get(f"/session/{session}", self.directory)
            return answer.get("parentID")
        return None

    async def is_busy(self) -> bool:
        """Request from OpenCode whether the session works on a prompt now."""
        return self.id in await self._opencode.get("/session/status", self.directory)

    async def turn(self, prompt: str | None) -> PromptTurn:
        """Request messages until a prompt is among them, and return the prompt with its answers.

        `prompt` is the id of its message; None: the last prompt of the session. The turn is empty if the prompt is not in the session, all
        of which was requested then.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        count = PAGE_MESSAGES
        while True:
            messages = await self.messages(count)
            message = prompt or last_prompt(messages)
            turn = turn_of(messages, message) if message else PromptTurn(())
            if turn.messages or len(messages) < count:
                return turn
            count *= 2

    async def messages(self, count: int) -> list[Json]:
        """Request the newest `count` messages of the session, and return them, oldest first."""
        path = f"/session/{self.id}/message"
        return await self._opencode.get(path, self.directory, limit=count)


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
        words = self._text_of_event(event)
        if not words or words == self._last_text:
            return ""
        self._last_text = words
        return words

    def _text_of_event(self, event: Json) -> str:
        """Return the text of an event, which may have been returned before; empty: it has none.

        Text that is not complete is kept for later events, and new sessions of subagents are added to those
        whose text counts; events of other sessions have none. `event` is OpenCode's, with `type` and
        `properties`.
        """
        match event:
            case {"type": "session.created", "properties": {"info": {"id": str(child), **info}}}:
                if info.get("parentID") in self._session_ids:
                    self._session_ids.add(child)
            case {"properties": {"part": {"sessionID": session} as part}}:
                return self._text_of_part(part) if session in self._session_ids else ""
            case {"properties": {"partID": str(part), "delta": str(delta)}}:
                return self._add_delta(part, delta)
            case {"type": "session.status", "properties": {"sessionID": session, "status": status}}:
                return _trying_again(status) if session in self._session_ids else ""
            case _:
                pass
        return ""

    def _text_of_part(self, part: Json) -> str:
        """Return a call of a tool with its state, or the last line of a complete text; else an empty text.

        `part` is a part of a message, as OpenCode sends it. An empty text with a start time begins a text of
        the model: its id is recorded, so that `_add_delta` adds to it, until the complete text comes. A text
        that did not begin so, such as a user's prompt, is ignored. The tool's title and the line are cut to
        `LONGEST_LINE` characters.
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

    def _add_delta(self, part: str, delta: str) -> str:
        """Add a piece to a text that grows, and return the line that is to be shown, or an empty text.

        That is the newest complete line that is not blank, if the piece ends one; else the incomplete line, if its
        length has reached another multiple of `STEP_CHARS`. It is stripped, and only its last `LONGEST_LINE`
        characters are returned. `part` is the id of the text, `delta` the piece. A text whose beginning was not
        seen is ignored.
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
        self._stream_open_event = anyio.Event()
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

        After `seconds` the run goes on in OpenCode, and this returns; that may take longer, until OpenCode has the
        prompt. If this call is cancelled, the run is stopped (which takes at most `SECONDS_TO_STOP`), provided that
        dapeer has started it in a session that was idle, and no other client has written to that session since;
        otherwise it goes on.

        Args:
            begin: Awaited once the event stream is open; sends the request that starts or resumes the run. None:
                the run is going on already.
            report: Awaited with each new text of the session.
            seconds: How long to wait.
            reply_to: The id of the permission or question that `begin` answers; empty: `begin` sends a prompt.

        Returns:
            The outcome; its state is `done`, `failed` or `needs_input`, and `running` after the timeout.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        self._reply_to = reply_to
        if reply_to or begin is None:
            self._arrival_event.set()
        async with self._running_tasks(begin, report) as (watching, beginning):
            try:
                try:
                    with anyio.fail_after(seconds):
                        return await self._wait_for_first_outcome(watching, beginning)
                except TimeoutError:
                    # OpenCode drops a prompt that it has not begun if the connection closes.
                    ended = await self._wait_for_event_or_outcome(
                        self._arrival_event, watching, beginning
                    )
                    return ended or PromptOutcome("running", await self._turn())
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(SECONDS_TO_STOP, shield=True):
                    await self._stop()
                raise

    async def begin(self, begin: Begin) -> PromptOutcome:
        """Start the run, and return when OpenCode works on it or has queued it, or when it has ended by then.

        `begin` sends the request; it is called once the event stream is open. The outcome's state is `running` unless it has ended or
        needs an answer. There is no timeout.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        async with self._running_tasks(begin, _nobody) as (watching, beginning):
            started = self._arrival_event if self._may_be_queued else self._start_event
            ended = await self._wait_for_event_or_outcome(started, watching, beginning)
            # From now on, the session's state is that of this prompt.
            return ended or PromptOutcome("running", PromptTurn(()))

    @asynccontextmanager
    async def _running_tasks(
        self, begin: Begin | None, report: ReportText
    ) -> AsyncGenerator[tuple[BackgroundTask[PromptOutcome], BackgroundTask[None]]]:
        """Yield two background tasks while the body runs: one watches the run, the other starts it.

        The first task's result is the outcome; it calls `report` with each new text. The second task waits until
        the event stream is open, then calls `begin`, which sends the request that starts or resumes the run; None:
        the run goes on already, and nothing is sent. For a `begin` that is no reply to a question, `_is_busy_before`
        tells first whether the session is busy; if not, the prompt is recorded in `_ours`, as one whose run dapeer may
        stop. Both tasks are cancelled and awaited after the body; their errors are raised only by their `result`.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request for the session's status.
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
            await watching.wait_for_end()
            await beginning.wait_for_end()

    async def _is_busy_before(self) -> bool:
        """Whether the session is busy before the run is started."""
        return await self.session.is_busy()

    async def _begin(self, begin: Begin | None) -> None:
        """Wait until the event stream is open, then send the request that starts the run, if there is one."""
        await self._stream_open_event.wait()
        if begin is not None:
            await begin()

    async def _wait_for_first_outcome(
        self, watching: BackgroundTask[PromptOutcome], beginning: BackgroundTask[None]
    ) -> PromptOutcome:
        """Wait for the outcome, and return it: from events, or from the state after the start's answer.

        The latter is requested once the request that starts the run was answered. `watching` and `beginning` are the tasks
        that `_running_tasks` yields. There is no timeout.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        # A caller that is cancelled still needs both.
        await first_of(watching.wait_for_end, beginning.wait_for_end)
        if not watching.done and (outcome := await self._outcome_after_start(beginning)):
            return outcome
        await watching.wait_for_end()
        return watching.result()

    async def _outcome_after_start(self, beginning: BackgroundTask[None]) -> PromptOutcome | None:
        """Request the outcome once the request that starts the run was answered, and return it.

        None: the run goes on, or the server cannot be reached just now. `beginning` is the task that has sent the request, and has ended.
        If the connection broke before the answer, that is kept as the reason should the prompt never arrive.

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
            return await self.request_outcome()
        return None

    async def _wait_for_event_or_outcome(
        self,
        event: anyio.Event,
        watching: BackgroundTask[PromptOutcome],
        beginning: BackgroundTask[None],
    ) -> PromptOutcome | None:
        """Wait until `event` is set, or the run has ended; return its outcome if it has ended, else None.

        `watching` and `beginning` are the tasks that `_running_tasks` yields. There is no timeout. If the start is
        answered before either, the state is requested once, and an outcome that it shows is returned at once; that
        OpenCode cannot be reached then (`NoOpenCode`) is passed over.

        Raises:
            OpenCodeError: OpenCode is gone, or has rejected the request that starts the run or one for its state.
        """
        await first_of(event.wait, watching.wait_for_end, beginning.wait_for_end)
        if beginning.done and not self._arrival_event.is_set():
            beginning.result()
        if not (event.is_set() or watching.done):
            # OpenCode announces a stream shortly before it sends events on it.
            with contextlib.suppress(NoOpenCode):
                if outcome := await self.request_outcome():
                    return outcome
        await first_of(event.wait, watching.wait_for_end)
        return watching.result() if watching.done else None

    async def _watch(self, report: ReportText, *, look_at_once: bool) -> PromptOutcome:
        """Follow OpenCode's events until the prompt has an outcome, and return that; report new text.

        The state of the session is requested at events that may end the prompt, among them heartbeats and the
        beginning of a stream after an interruption. `look_at_once`: also when the first stream begins. A request
        that does not reach OpenCode is passed over. `report` is awaited with each new text; what it raises leaves
        here. Once the stream is open, `_stream_open_event` is set, for which the start waits. There is no time
        limit.

        Raises:
            OpenCodeError: OpenCode is gone after several attempts to follow it, rejects a request, or its events
                have ended.
        """
        narration = Narration(self.session.id)
        async with aclosing(follow_events(self._opencode)) as events:
            async for event in events:
                first = event["type"] == CONNECTED and not self._stream_open_event.is_set()
                self._stream_open_event.set()
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
            return await self.request_outcome(at_heartbeat=event["type"] == HEARTBEAT)
        return None

    def _note_event(self, event: Json) -> bool:
        """Record what an event says; return whether the state of the session is to be requested because of it.

        That is so for a new stream, a heartbeat and a question, of any session; and in the prompt's own session
        for the end of its work, an error, a message that may end the prompt, and work that begins before the
        prompt's own message was seen. Other events of other sessions are ignored. `event` is OpenCode's, with
        `type` and `properties`. Recorded are a new stream, an error, that the session works, and what messages
        tell.
        """
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
        return kind in ENDED or (kind == "message.updated" and self._may_end_prompt(info))

    def _note_busy(self) -> None:
        """Note that OpenCode works at this prompt, if the session is busy and can be so with nothing else."""
        if self._arrival_event.is_set() and not self._may_be_queued:
            self._start_event.set()

    def _may_end_prompt(self, info: Json) -> bool:
        """Record what a message tells; return whether it may end this prompt while the session is busy.

        `info` is the message's, as OpenCode sends it. For a message of the user the result is False: if the id of this
        prompt is not known yet, the message's becomes it; a message with this id shows that the prompt has arrived, any
        other one that the session has further prompts. A message of the assistant that answers another prompt changes
        nothing, and gives False. One that answers this prompt shows that OpenCode works on it; the result is then True
        if the session has further prompts, and the message has finished or failed.
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

    async def request_outcome(self, *, at_heartbeat: bool = False) -> PromptOutcome | None:
        """Request the state of the session; return the prompt's outcome, or None while it runs.

        The outcome is `needs_input`, with the questions and permissions, before anything else; else `done` or
        `failed` as the answer has ended. It is `failed` also if the session is idle, and OpenCode has reported an
        error, the answer has broken off, or none has come for several heartbeats.

        Args:
            at_heartbeat: Whether a heartbeat's time has passed since the last such call; only these calls are
                counted.

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
            return _final_outcome(turn) if turn.answered else None
        turn = await self._turn()
        if turn.ended:
            return _final_outcome(turn)
        if self._error:
            return PromptOutcome("failed", turn, error=self._error)
        self._silent_beats += at_heartbeat
        limit = HEARTBEATS_TO_ANSWER if turn.messages else HEARTBEATS_TO_ARRIVE
        stopped = turn.messages and self._start_event.is_set()
        if stopped or self._silent_beats >= limit:
            return PromptOutcome("failed", turn, error=self._why_unsure or UNANSWERED)
        return None

    async def state(self) -> PromptOutcome:
        """Request the state of the session, and return how far the prompt is, without waiting for its end.

        Of a prompt without an outcome the state is `running` while the session works, and else `idle`.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        if outcome := await self.request_outcome():
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
        """Stop the run and reject what it asks, unless another client has written to the session since.

        Nothing is done unless dapeer has begun the prompt in an idle session, and the event stream was open. A
        run that began with a prompt is stopped only when OpenCode works on it, for which the call waits without a
        limit: the caller sets one. A run that an answer has resumed is stopped at once; what was answered is not
        rejected. Errors of OpenCode are ignored.
        """
        if self.prompt not in _ours or not self._stream_open_event.is_set():
            return
        with contextlib.suppress(OpenCodeError):
            if not self._reply_to:
                # Until OpenCode works at it, there is nothing to stop, and it would begin afterwards.
                await self._start_event.wait()
            if last_prompt(await self.session.messages(PAGE_MESSAGES)) == self.prompt:
                await self.session.abort(self._reply_to)


def _final_outcome(turn: PromptTurn) -> PromptOutcome:
    """Return the outcome of a turn that has ended: done or failed."""
    return PromptOutcome("failed" if turn.error else "done", turn, error=turn.error)


async def _nobody(_words: str) -> None:
    """Ignore the text."""
