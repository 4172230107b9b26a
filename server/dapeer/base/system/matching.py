"""Regular expressions of others, searched in a process of their own: some need days for a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from dapeer.base.errors import ToolTimeout
from dapeer.base.system.limited_answers import MAX_PROCESSOR_SECONDS
from dapeer.base.system.limited_process import Closed, LimitedProcess, NoAnswer

MAX_TEXT_CHARS: Final = 10_000
"""Characters of a text that are searched."""
WORKER: Final = "dapeer.base.system.limited_answers"
_LITERAL = re.compile(r"[\w \-:/,;=@'\"<>!~%&#]*")
"""A text that means itself."""


class PatternOverdue(ToolTimeout):
    """A pattern has taken too long for a text."""


class Matcher:
    """Searches texts by patterns that are checked before; close it, for it may have a process."""

    def __init__(self) -> None:
        self._process = LimitedProcess(WORKER)

    async def search(self, pattern: str, text: str) -> Sequence[str] | None:
        """Return what a regular expression finds first in a text: the match, then its groups; None if nothing.

        `pattern` must be valid for Python. Only the first `MAX_TEXT_CHARS` are searched. The first pattern that is not literal
        starts the process. A group without a match is "".

        Raises:
            PatternOverdue: The search needs too much time or memory; the process was killed.
        """
        text = text[:MAX_TEXT_CHARS]
        if _LITERAL.fullmatch(pattern):
            return [pattern] if pattern in text else None
        return await self._ask(pattern, text, "a line")

    async def those_with(self, pattern: str, texts: Sequence[str]) -> Sequence[str]:
        """Return those of some texts in which a regular expression is found, in their order.

        `pattern` must be valid for Python; only the first `MAX_TEXT_CHARS` of each text are searched.

        Raises:
            PatternOverdue: It needs too much time or memory for all of them; the process was killed.
        """
        cut = [each[:MAX_TEXT_CHARS] for each in texts]
        having: Sequence[int] = await self._ask(pattern, cut, "all values")
        return [texts[index] for index in having]

    async def _ask(self, pattern: str, text: object, texts_name: str) -> Any:  # noqa: ANN401 - as JSON has it
        """Return the process's answer to a pattern and texts; `texts_name` names these in the error.

        `text` is one text or a list of texts. For one text the answer is a list of the match and its groups, or
        None; for a list it has the indices of those in which the pattern is found. Callers have compiled
        `pattern` before, with `re`: an invalid one would end the process, and look as if it took too long. A
        process that takes too long is killed, and the next question starts another.

        Raises:
            PatternOverdue: The process cannot be started, has ended or not answered in time, or `aclose` was
                called.
        """
        try:
            return await self._process.ask(pattern, text)
        except (NoAnswer, Closed) as error:
            raise PatternOverdue(
                f"The pattern {pattern!r} takes more than {MAX_PROCESSOR_SECONDS:g} s for {texts_name}.",
                "Give a simpler one: nothing that repeats within what repeats.",
            ) from error

    async def aclose(self) -> None:
        """Kill the process, if there is one."""
        await self._process.aclose()


class AwaitedLines:
    """Waits for lines that fit patterns, one pattern after the other; close it, as a `Matcher`."""

    def __init__(self, *patterns: str) -> None:
        """Begin with the first of the patterns, which are valid for Python; one line may fit several."""
        self._patterns = patterns
        self._found_count = 0
        self._matcher = Matcher()

    async def search_lines(self, lines: Iterable[str]) -> Sequence[str] | None:
        """Search the lines that follow those of the last call; return what the last pattern finds, or None.

        What is found is the text of the match and those of its groups; lines behind that one are not searched.
        None: the last pattern has not been found yet. Which pattern comes next is kept for the next call; the
        last one stays the next once it is found; one line may fit several patterns, one after the other.

        Raises:
            PatternOverdue: A pattern needs too much time or memory for a line.
        """
        for line in lines:
            while found := await self._matcher.search(self._patterns[self._found_count], line):
                if self._found_count == len(self._patterns) - 1:
                    return found
                self._found_count += 1
        return None

    async def aclose(self) -> None:
        """Kill the process that searches, if there is one."""
        await self._matcher.aclose()
