"""The way of a stop to its text, in calls between rooms, of one real run."""

import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from dapeer.tools.base import waiting
from tests.harness import call, client
from tools.source import Source

UP = "calls up, into a room that imports the caller's"
PROGRAM = "def double(value):\n    return value * 2\n\n\ntotal = double(20)\ntotal += 2\n"


class Calls:
    """The calls that are made while `waiting.show_state` makes a stop's text, each from one room to another or the same."""

    def __init__(self, package: Path) -> None:
        self.between: Counter[tuple[str, str]] = Counter()
        """By the rooms of caller and callee."""
        self._package = package
        self._seen: dict[int, FrameType] = {}
        """A coroutine that goes on is no call; frames that are kept are not used again."""

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count one call; made for `sys.setprofile`."""
        if event != "call" or id(frame) in self._seen or not self._is_ours(frame):
            return
        above = list(_callers(frame))
        caller = next(filter(self._is_ours, above), None)
        if caller is None or not any(each.f_code is waiting.show_state.__code__ for each in above):
            return
        self._seen[id(frame)] = frame
        self.between[self._room(caller), self._room(frame)] += 1

    def _is_ours(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(f"{self._package}/")

    def _room(self, frame: FrameType) -> str:
        return Path(frame.f_code.co_filename).relative_to(self._package).parts[0]


def _callers(frame: FrameType) -> Iterator[FrameType]:
    above = frame.f_back
    while above is not None:
        yield above
        above = above.f_back


@contextmanager
def _program() -> Generator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.py").write_text(PROGRAM, encoding="utf-8")
        yield Path(folder)


async def traced(source: Source) -> dict[str, int]:
    """Stop a program of Python at a breakpoint, and count from its stop to the text that a client gets."""
    calls = Calls(source.package)
    with _program() as folder:
        async with client(folder) as one:
            places = [{"filename": "a.py", "line": 2}]
            sys.setprofile(calls.profile)
            try:
                await call(one, "dap_run", program="a.py", breakpoints=places)
            finally:
                sys.setprofile(None)
    others = {pair: number for pair, number in calls.between.items() if pair[0] != pair[1]}
    arrows = source.arrows()
    return {
        "calls": calls.between.total(),
        "calls between rooms": sum(others.values()),
        UP: sum(
            number for (caller, callee), number in others.items() if (callee, caller) in arrows
        ),
        "rooms": len({room for pair in calls.between for room in pair}),
    }
