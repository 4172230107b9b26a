"""The tools that one Neovim offers, and its calls of them that run."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

import anyio

from dapeer.base.errors import NeovimBusy, NeovimFailed, NeovimGone
from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.schema_judge import Judge
from dapeer.base.system.tasks import Mailbox
from dapeer.neovim.client import SECONDS_TO_ANSWER, Neovim
from dapeer.peers.lua_tool import OTHERS, LuaTool, clean, read_tools

log = logging.getLogger(__name__)


START: Final = "require('dapeer.registry.serving').start(...)"
STOP: Final = "require('dapeer.registry.serving').stop(...)"
REFUSE: Final = "require('dapeer.registry').refuse(...)"

SECONDS_ON_THE_WAY: Final = 0.25
SECONDS_FOR_LAST_WORDS: Final = 1.0
"""Seconds in which what a Neovim has sent is here, also from one that was killed."""


class ProgressCallback(Protocol):
    """Receives the progress of a running tool: a text, and how far it is, if known."""

    def __call__(
        self, text: str, done: float | None = None, total: float | None = None
    ) -> Awaitable[None]:
        """Send the progress to the client: a text, how much is done, and of how much; None: unknown."""
        ...


class LuaTools:
    """The tools of one Neovim, kept in memory: nothing here asks Neovim for them."""

    def __init__(self, neovim: Neovim, seconds_ahead: float, judge: Judge) -> None:
        """Begin without tools; `judge` checks schemas that are not the plugin's own.

        `seconds_ahead`: seconds by which Neovim's clock is ahead of dapeer's.
        """
        self.by_name: Mapping[str, LuaTool] = {}
        self._neovim = neovim
        self._seconds_ahead = seconds_ahead
        self._judge = judge
        self._flaws: dict[str, str | None] = {}
        """Of the schemas of others that are known, by their text."""
        self._newest = 0
        """The number of the latest list."""
        self._taken_event = anyio.Event()
        """Set while no list is being read."""
        self._numbers = itertools.count(1)
        self._refused_tools: set[tuple[str, str]] = set()
        self._running_calls: dict[int, Mailbox[tuple[Any, ...]]] = {}
        self._results_if_lost: dict[int, Any] = {}
        """The results of calls that Neovim does not come to answer, as their tools have named them."""

    async def replace_tools(self, sent: object) -> None:
        """Replace `by_name` by the tools in a list from Neovim, a text of JSON, unless a newer list has come.

        A tool of others than the plugin with an invalid schema is left out, and the person is shown why.
        Schemas of others that are not known yet are checked in another process first. After an error `by_name`
        stays as it is. Calls that wait for the newest list go on in either case.

        Raises:
            ValueError: The list is not JSON.
            KeyError: A tool lacks its name, description or schema.
        """
        number = self.announce_newer_list()
        try:
            tools = read_tools(str(sent))
            flaws = {one.name: await self._schema_flaw(one) for one in tools}
            if number < self._newest:
                return
            for name, flaw in flaws.items():
                if flaw:
                    self.refuse(name, f"{flaw}.")
            self.by_name = {one.name: one for one in tools if not flaws[one.name]}
        finally:
            # An invalid list is over, too: no call waits for it.
            if number == self._newest:
                self._taken_event.set()

    def announce_newer_list(self) -> int:
        """Announce that a newer list of tools is being read, and return its number.

        Calls of `run` whose tool has answered wait until `replace_tools` has read a list from then on, for a moment.
        """
        self._newest += 1
        if self._taken_event.is_set():
            self._taken_event = anyio.Event()
        return self._newest

    async def _schema_flaw(self, lua_tool: LuaTool) -> str | None:
        """Return what is wrong with the schema of a tool's arguments, as a clause, or None.

        None: the schema is valid, or was not checked, as the tool is one of dapeer's own Neovim plugin, or dapeer
        is about to end. Schemas of other tools are checked in another process with limits, each schema once; one
        that takes too much time or memory counts as wrong.
        """
        if lua_tool.group != OTHERS:
            return None
        schema = json.dumps(lua_tool.input_schema)
        if schema not in self._flaws:
            self._flaws[schema] = await self._judge.flaw_of(lua_tool.input_schema)
        return self._flaws[schema]

    def refuse(self, name: str, why: str) -> None:
        """Show the person why a tool of theirs is not offered, each time; the first time, it is also logged.

        `name` is the tool's, and `why` a sentence. `by_name` is not changed.
        """
        if (name, why) not in self._refused_tools:
            self._refused_tools.add((name, why))
            log.warning("tool %s of Neovim at %s: %s", name, self._neovim.target, why)
        self._neovim.send(REFUSE, name, why)

    async def run(
        self, lua_tool: LuaTool, arguments: Json, client: str, progress: ProgressCallback
    ) -> Any:
        """Run a tool in Neovim and return its result, decoded from JSON; a cancelled call cancels the tool.

        `client` is the name of the assistant for the tool, maybe empty. `arguments` are the call's, by name.
        `progress` is awaited with each report of the tool: its text, how much is done, and of how much (None:
        unknown). The result may take as long as the tool's own timeout, without one forever. After it, a list of
        tools that is being read is awaited, `SECONDS_TO_ANSWER` at most, so that tools that the call has defined
        are known. If Neovim ends first, the result is the one that the tool has named for this case, if it has.

        Raises:
            NeovimBusy: Neovim has not begun within `SECONDS_TO_ANSWER`; it will not do so later.
            NeovimFailed: The tool failed, with its own message, or timed out; then it is cancelled.
            NeovimGone: Neovim has ended, and the tool has named no result for that.
        """
        neovim = self._neovim
        number = next(self._numbers)
        news = self._running_calls[number] = Mailbox[tuple[Any, ...]]()
        if neovim.closed_event.is_set():
            self.end_open_calls(f"The Neovim at {neovim.target} has ended.")
        # A little less than the timeout here, so that the outcome of a started tool is known.
        latest = time.time() + self._seconds_ahead + SECONDS_TO_ANSWER - SECONDS_ON_THE_WAY
        options = {"latest": latest, **({"client": client} if client else {})}
        neovim.send(START, neovim.channel, number, lua_tool.name, json.dumps(arguments), options)
        over = False
        try:
            await self._wait_for_start(news)
            answer = await self._wait_for_result(lua_tool, news, progress)
            over = True
            # The tools that a call has made are there when it has answered.
            with anyio.move_on_after(SECONDS_TO_ANSWER):
                await self._taken_event.wait()
            return answer
        finally:
            del self._running_calls[number]
            self._results_if_lost.pop(number, None)
            if not over:
                neovim.send(STOP, neovim.channel, number)

    async def _wait_for_start(self, answers: Mailbox[tuple[Any, ...]]) -> None:
        """Wait until Neovim has begun to run a tool, and drop its message `started`; nothing is returned.

        `answers` gets what Neovim sends on this call. Another message that comes first is put back there, so that
        `_wait_for_result` finds it. Where the time has passed and a message has come all the same, the method
        returns, too. Before it raises, Neovim is asked why it is busy, which takes `SECONDS_FOR_MODE` more at most.

        Raises:
            NeovimBusy: Neovim has sent nothing on this call within `SECONDS_TO_ANSWER`; the message says what it
                does.
        """
        try:
            with anyio.fail_after(SECONDS_TO_ANSWER):
                if (first := await answers.take())[0] != "started":
                    answers.put(first)
        except TimeoutError as error:
            if answers:
                return
            state = await self._neovim.why_blocked() or "was busy"
            raise NeovimBusy(
                f"Neovim did not start it within {SECONDS_TO_ANSWER:g} s: it {state}. Nothing was done.",
                "Try again when the person has finished there.",
            ) from error

    async def _wait_for_result(
        self, lua_tool: LuaTool, answers: Mailbox[tuple[Any, ...]], progress: ProgressCallback
    ) -> Any:
        """Pass a running tool's progress on until its result arrives, and return that, decoded from JSON.

        `answers` gets what Neovim sends on this call. `progress` is awaited with text, done and total of each
        report. The method waits for the tool's own timeout (`lua_tool.seconds`, or without one for ever); ending
        the tool in Neovim is left to the caller.

        Raises:
            NeovimFailed: The tool failed, or did not answer within its own timeout.
            NeovimGone: Neovim or dapeer's server has ended, and the tool had named no result for that case.
        """
        try:
            with anyio.fail_after(lua_tool.seconds):
                while True:
                    match await answers.take():
                        case ("progress", text, done, total):
                            await progress(text, done, total)
                        case ("result", answer):
                            return answer
                        case ("failed", NeovimFailed() | NeovimGone() as error):
                            raise error
                        case _:
                            pass
        except TimeoutError as error:
            raise NeovimFailed(
                f"The tool {lua_tool.name} timed out after {lua_tool.seconds:g} s and was cancelled: "
                "it neither returned a value nor called its callback.",
                "`timeout` in its definition, or bridge.tool_timeout, sets that limit.",
            ) from error

    # -- notifications of Neovim

    @property
    def handlers(self) -> Mapping[str, Callable[..., None]]:
        """The handlers of Neovim's notifications about calls of its tools, by kind.

        They are called with the notification's arguments; `number` is the call's: `tool_started` (number),
        `tool_progress` (number, done, total, text), `tool_if_lost` (number, JSON of the result if Neovim ends
        first), and `tool_result` (number, ok, JSON of the result or the error's message).
        """
        return {
            "tool_started": self._started,
            "tool_progress": self._progressed,
            "tool_if_lost": self._keep_result_if_lost,
            "tool_result": self._hand_over_result,
        }

    def _started(self, number: int) -> None:
        self._put(number, "started")

    def _progressed(self, number: int, done: object, total: object, text: object) -> None:
        self._put(number, "progress", clean(_text(text)), _number(done), _number(total))

    def _hand_over_result(self, number: int, ok: object, text: object) -> None:
        """Hand a call's result, JSON in `text`, to its waiter in `run`; it is dropped if that call is over.

        A failed call (not `ok`) has its error's message there. A result that is no JSON, or has strings that are not UTF-8, fails the
        call. `number` is the call's.
        """
        content = _text(text)
        if not ok:
            self._put(number, "failed", NeovimFailed(clean(content)))
            return
        try:
            place = _place_of_invalid_text(content)
            result = json.loads(content)
        except (ValueError, RecursionError) as error:
            what = f"The tool returned a result that is no JSON: {error}."
            self._put(number, "failed", NeovimFailed(what, "Return what vim.json.encode takes."))
            return
        if place is None:
            self._put(number, "result", result)
        else:
            what = f"The tool returned a result that is not text: {place} is not UTF-8."
            self._put(number, "failed", NeovimFailed(what, "Send bytes in base64."))

    def _keep_result_if_lost(self, number: int, text: object) -> None:
        """Keep the result that a call shall have if Neovim ends before it answers.

        `text` is JSON; nothing is kept of anything else.
        """
        if number in self._running_calls:
            with contextlib.suppress(ValueError, RecursionError):
                self._results_if_lost[number] = json.loads(clean(_text(text)))

    async def end(self) -> None:
        """Answer all open calls at the server's end, after what Neovim has sent by now has been read.

        For that it waits `SECONDS_FOR_LAST_WORDS` at most, or not at all without open calls. A call that is still open then gets the
        result that its tool has named for this case, or else fails with `NeovimGone`. Later calls are not prevented: the caller sees to
        that.
        """
        if self._running_calls:
            with anyio.move_on_after(SECONDS_FOR_LAST_WORDS):
                try:
                    await self._neovim.mode(SECONDS_FOR_LAST_WORDS)
                except NeovimGone:
                    await self._neovim.closed_event.wait()
        self.end_open_calls("The dapeer server ended before the tool answered.")

    def end_open_calls(self, what: str) -> None:
        """Answer all open calls, since Neovim will not: with the result that the tool named, or with an error.

        Such a result is what the tool has sent as `tool_if_lost`; a call without one fails with `NeovimGone`. `what` has happened, as a
        sentence for the error. Later calls are not prevented.
        """
        for number in list(self._running_calls):
            if number in self._results_if_lost:
                self._put(number, "result", self._results_if_lost[number])
            else:
                self._put(number, "failed", NeovimGone(what, "nvim_targets lists those that run."))

    def _put(self, number: int, *what: object) -> None:
        """Hand a message about call `number` to its waiter; it is dropped if the call is over."""
        if number in self._running_calls:
            self._running_calls[number].put(what)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None


def _place_of_invalid_text(text: str) -> str | None:
    """Return the place of the first string in a text of JSON that is not UTF-8; None if all are.

    The place reads like `result.lines[2]`, counted from 1 as in Lua. pynvim has decoded the invalid bytes to surrogates, which are looked
    for.

    Raises:
        ValueError: There is one, and the text is no JSON.
        RecursionError: The same, and it is nested too deeply.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return _place_of_surrogates(json.loads(text), "result") or "it"
    return None


def _place_of_surrogates(value: Any, where: str) -> str | None:
    """Return the place of the first string or key with surrogates in some decoded JSON; None: none.

    `where` is the place of `value` itself, which the result begins with: `result` gives `result.lines[2]`, counted from 1. Keys of an
    object come before its values.
    """
    match value:
        case str():
            return where if clean(value) != value else None
        case _ if is_array(value):
            inner = enumerate(value, 1)
            places = (_place_of_surrogates(one, f"{where}[{number}]") for number, one in inner)
        case _ if is_object(value):
            names = (clean(f"{where}.{name}") for name in value if clean(name) != name)
            inner_places = (
                _place_of_surrogates(one, f"{where}.{name}") for name, one in value.items()
            )
            places = itertools.chain(names, inner_places)
        case _:
            return None
    return next(filter(None, places), None)
