"""Waits for a program's output to arrive: output and stops travel separately."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from dapeer.base.errors import DapeerError, RequestTimeout
from dapeer.base.system.tasks import Waiters
from dapeer.dap.messages import Body
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.output import OutputLog
from dapeer.mirror.stops import Stop

# The errors that a program prints, as its language writes them.

LAST_WORDS = 4000
"""Characters at the end of the output in which an error is looked for that has ended the program."""


class PrintedErrors:
    """Finds the errors that a program prints, as its language writes them."""

    def __init__(
        self,
        output: OutputLog,
        pattern: re.Pattern[str] | None,
        debugger: re.Pattern[str] | None = None,
    ) -> None:
        """Find errors by a pattern.

        Args:
            output: What is printed.
            pattern: How the program prints an error that ends it; None: nobody knows.
            debugger: A pattern of the files of the debugger, where that runs in the program.
        """
        self._output = output
        self._pattern = pattern
        self._debugger = debugger

    def since(self, cursor: int) -> re.Match[str] | None:
        """Return the last error of the program itself that was printed since the position `cursor`.

        None: none. The match has the groups of the pattern, such as `error`, `file` and `line`.
        """
        return next(
            (each for each in self._errors_since(cursor) if not self._is_debuggers(each)), None
        )

    def debugger_error_clause(self) -> str:
        """Return a clause on the debugger's own last error in the last `LAST_WORDS` characters of the output.

        The clause is "the debugger has failed, not the program, at FILE:LINE: ERROR", with the file's name without folders,
        and without the error where its text is not known. Empty: there is no such error, or the adapter's definition has no
        pattern for errors or for the debugger's files.
        """
        found = self._errors_since(self._output.end - LAST_WORDS)
        error = next(filter(self._is_debuggers, found), None)
        if error is None:
            return ""
        named = f": {error['error']}" if error.groupdict().get("error") else ""
        place = f"{error['file'].rpartition('/')[2]}:{error['line']}"
        return f"the debugger has failed, not the program, at {place}{named}"

    def _errors_since(self, cursor: int) -> list[re.Match[str]]:
        """Return the errors that were printed since the position `cursor`, the last one first."""
        if self._pattern is None:
            return []
        text = self._output.read(cursor).text.replace("\r\n", "\n")
        return list(self._pattern.finditer(text))[::-1]

    def _is_debuggers(self, error: re.Match[str]) -> bool:
        """Return whether an error was raised in a file of the debugger, which runs in the program."""
        file = error.groupdict().get("file")
        return bool(self._debugger and file and self._debugger.search(file))

    def last(self) -> re.Match[str] | None:
        """Return the last error of the program itself in its latest output, as `since` does; None: none."""
        return self.since(self._output.end - LAST_WORDS)


SECONDS_AT_STOP = 0.005
"""Seconds without output, after a look at a stop, for its output to count as complete.

None came later at 1,600 stops of eleven adapters.
"""
SECONDS_WITHOUT_OUTPUT = 0.05
"""Seconds without output after which that of an ended program, or to typed input, counts as complete."""
SECONDS_TO_SETTLE = 0.3
"""Seconds after which occasional lines are no longer awaited: another process may print for ever."""
FLOOD_CHARS = 20_000
"""Characters at a time, or per second, that indicate a queue of output."""
SECONDS_WITHOUT_FLOOD = 0.25
"""Seconds without output after which a flood is over; a busy machine makes pauses in it."""
LATE_PAUSES = 1.5
"""A delay of so many pauses is an overloaded machine's: silence says nothing about unread output then."""
SECONDS_OF_FLOOD = 5.0
"""Seconds after which the end of a flood of output is no longer awaited."""


Drain: TypeAlias = Callable[[], Awaitable[Body]]
"""Asks an adapter to answer behind the program's output, and to say whether that was `sent`."""


class ArrivingOutput:
    """Waits for the output of a program, which arrives apart from its stops."""

    def __init__(self, output: OutputLog, waiters: Waiters) -> None:
        """Wait for what arrives in `output`, which is looked at whenever `waiters` are woken."""
        self._output = output
        self._waiters = waiters
        self._drain: Drain | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the adapter tells when all has been sent."""
        return self._drain is not None

    def confirm_by(self, drain: Drain) -> None:
        """Call `drain` from now on to learn whether all output was sent, instead of waiting for silence.

        Once a call of it fails, silence counts again.
        """
        self._drain = drain

    def floods(self, stop: Stop) -> bool:
        """Return whether so much was printed since the stop before that more is probably on its way."""
        return self._since(stop) > FLOOD_CHARS

    def _since(self, stop: Stop) -> int:
        """Return how many characters were printed since the stop before `stop` was left."""
        return self._output.end - stop.presentation.previous_output_end

    async def wait_for_output(self, mirror: Mirror, stop: Stop) -> None:
        """Wait for the output that was printed before a stop.

        The mirror is told whether more is still arriving.
        """
        mirror.mark_flowing(stop, flows=True)
        mirror.mark_flowing(stop, flows=not await self._is_complete(stop))

    async def _is_complete(self, stop: Stop) -> bool:
        """Wait for the output before a stop, by the adapter's confirmation or by silence.

        Return whether it is complete; False if the confirmation does not come in time, or output still flows. An adapter that rejects the
        question, or does not confirm that all was sent, is not asked again: then silence counts, now and later.
        """
        try:
            if self._drain is not None and (await self._drain()).get("sent"):
                return True
        except RequestTimeout:
            return False
        except DapeerError:
            pass
        self._drain = None
        return await self.wait_for_silence(SECONDS_AT_STOP, self._since(stop))

    async def wait_for_silence(
        self, quiet: float = SECONDS_WITHOUT_OUTPUT, printed: int = 0
    ) -> bool:
        """Wait for `quiet` seconds without output, and return True; return False if that takes too long.

        Too long is `SECONDS_TO_SETTLE`, or `SECONDS_OF_FLOOD` while a flood goes on with `FLOOD_CHARS` a second or more,
        since a fast program has stopped long before its last line is here. Output is a flood if `printed`, the number of
        characters that arrived just before the call, or the number of those that arrive during the wait exceeds
        `FLOOD_CHARS`; then the silence must last `SECONDS_WITHOUT_FLOOD` at least. A silence that took more than
        `LATE_PAUSES` times as long as wanted does not count, as the machine is overloaded: the wait goes on, and may return
        False although nothing arrived.
        """
        output, clock = self._output, anyio.current_time
        started_at, first, seen = clock(), output.end, -1
        flood = printed > FLOOD_CHARS
        while seen != output.end:
            passed = clock() - started_at
            flood = flood or output.end - first > FLOOD_CHARS
            flows = flood and output.end - first >= FLOOD_CHARS * passed
            if passed > (SECONDS_OF_FLOOD if flows else SECONDS_TO_SETTLE):
                return False
            seen, asleep = output.end, clock()
            pause = max(quiet, SECONDS_WITHOUT_FLOOD) if flood else quiet
            came = await self._waiters.wait_for(lambda: output.end > seen, pause)  # noqa: B023 - used up at once
            if not came and clock() - asleep > LATE_PAUSES * pause:
                seen = -1
        return True
