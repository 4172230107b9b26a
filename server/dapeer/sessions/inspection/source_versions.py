"""The text of source files as a program has loaded it: a file may change while its program runs."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dapeer.base.sources import read_lines
from dapeer.base.text.source_lines import runs_late

MAX_KEPT_FILES = 200
"""Files of one session whose text is kept."""
MAX_COMPARED_LINES = 40_000
"""Lines of both versions together: comparing them takes about 0.2 s."""
"""Lines that differ, at most, for which it is found out where each of them is now."""
MAX_LOADED_FILES = 10_000
"""Files of which it is kept when they were loaded."""
RESTART = "dap_restart runs what is there now"


def lines_around(lines: list[str], line: int, line_count: int) -> tuple[int, list[str]] | None:
    """Return the lines around a 1-based line: the first one's number, and their text; None: no such line.

    >>> lines_around(["a", "b", "c", "d"], 3, 1)
    (2, ['b', 'c', 'd'])
    >>> lines_around(["a"], 2, 1)
    """
    if not 1 <= line <= len(lines):
        return None
    first = max(1, line - line_count)
    return first, lines[first - 1 : line + line_count]


@dataclass(frozen=True, slots=True)
class OutdatedCode:
    """What a program has of a file's text from before the file was loaded again."""

    text: list[str]
    frames: frozenset[tuple[str, int]] = frozenset()
    """Name and line of each frame that runs it."""
    functions: tuple[str, ...] = ()
    """Names of functions of it that something in the program still holds."""

    def runs_in(self, function: str, line: int) -> bool:
        """Return whether a frame, by its function's name and its line, runs this old code."""
        return (function.rpartition(".")[2], line) in self.frames

    @property
    def words(self) -> str:
        """A clause on where the old code runs, or is held; empty: nowhere, as far as is known."""
        running = sorted({f"{name} (line {line})" for name, line in self.frames})
        places = [f"runs in {', '.join(running)}"] * bool(running)
        places += [f"is held as {', '.join(self.functions)}"] * bool(self.functions)
        return f"old code of it {' and '.join(places)}" if places else ""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A file differs from what its program has loaded."""

    old_lines: list[str] | None
    """Its lines when the program began; None: it had been changed before they were read."""
    new_lines: list[str]

    @property
    def is_comparable(self) -> bool:
        """Whether each line can be found, or is gone: the loaded text is known, and none is too long."""
        known = self.old_lines is not None
        return known and len(self.old_lines or ()) + len(self.new_lines) <= MAX_COMPARED_LINES

    def line_now(self, line: int) -> int | None:
        """Return where a 1-based line of the loaded version is now; None if nowhere, or unknown.

        All lines are unknown if the loaded text is. If both versions together have more than `MAX_COMPARED_LINES`
        lines, only the lines before the first difference and behind the last one are known. A line that the loaded
        version does not have is nowhere.

        >>> SourceChange(["a", "b", "c"], ["new", "a", "c"]).line_now(3)
        3
        >>> SourceChange(["a", "b", "c"], ["new", "a", "c"]).line_now(2)
        """
        if self.old_lines is None or not 0 < line <= len(self.old_lines):
            return None
        same = _common(self.old_lines, self.new_lines)
        if line <= same:
            return line
        from_end = len(self.old_lines) - line
        if from_end < _common(self.old_lines[same:][::-1], self.new_lines[same:][::-1]):
            return len(self.new_lines) - from_end
        if not self.is_comparable:
            return None
        blocks = difflib.SequenceMatcher(None, self.old_lines, self.new_lines).get_matching_blocks()
        found = [b.b + line - 1 - b.a for b in blocks if b.a < line <= b.a + b.size]
        return found[0] + 1 if found else None

    def moved(self, lines: Iterable[int]) -> tuple[dict[int, int], list[int]]:
        """Return where those lines are now that have moved, and those that are gone.

        Lines of which neither is known are in neither.

        >>> SourceChange(["a", "b", "c"], ["new", "a", "c"]).moved([1, 2, 3])
        ({1: 2}, [2])
        >>> SourceChange(["a"] * 30_000, ["b"] * 30_000).moved([2])
        ({}, [])
        """
        now = {line: self.line_now(line) for line in lines}
        moves = {line: to for line, to in now.items() if to is not None and to != line}
        return moves, [line for line, to in now.items() if to is None and self.is_comparable]

    def line_then(self, line: int) -> int | None:
        """Return a 1-based line's number in the file as it was loaded; None: it was nowhere, or is unknown.

        >>> SourceChange(["a", "b", "c"], ["new", "a", "c"]).line_then(2)
        1
        """
        return (
            None
            if self.old_lines is None
            else SourceChange(self.new_lines, self.old_lines).line_now(line)
        )


def _common(one: list[str], other: list[str]) -> int:
    """Return how many lines two texts begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


class SourceVersions:
    """The texts of one program's files as they were loaded."""

    def __init__(self, program_start: float) -> None:
        """Hold no texts yet; `program_start` is when the program began, in seconds since 1970."""
        self._program_start = program_start
        self._kept_lines: dict[str, list[str] | None] = {}
        """By path; None: the file was changed after the program had begun, before it was read."""
        self._loaded: dict[str, float] = {}
        """By path: when the program has loaded a file, where that is told."""
        self._outdated_codes: dict[str, OutdatedCode] = {}
        """By path: what is left of the text from before the file was loaded again."""

    def keep(self, path: str) -> None:
        """Read and keep the present text of a file, unless one is kept, or `MAX_KEPT_FILES` are.

        A file that cannot be read is not kept, and raises nothing. None is kept in place of the text if the file was
        modified after the start of the program and after the program had loaded the file last: then the text that the
        program has loaded is not known.
        """
        if path in self._kept_lines or len(self._kept_lines) >= MAX_KEPT_FILES:
            return
        lines = read_lines(path)
        if lines is not None:
            since = max(self._program_start, self._loaded.get(path, 0))
            self._kept_lines[path] = lines if _modified(path) <= since else None

    def record_load(self, path: str, loaded_at: float) -> None:
        """Record when the program has loaded a file, and compare the file's present text with the kept one.

        `loaded_at` is in seconds since 1970; it is recorded for `MAX_LOADED_FILES` files at most. Only if a text of
        the file was kept before, the file is read, and its present text is kept instead; if the texts differ, the one
        before is kept as old code. A file that was modified after both `loaded_at` and the program's start has no
        known text then, and no old code is kept. The same holds for a file that cannot be read: the text that was
        kept before is dropped.
        """
        if path in self._loaded or len(self._loaded) < MAX_LOADED_FILES:
            self._loaded[path] = loaded_at
        before = self._kept_lines.pop(path, None)
        if before is None:
            return
        self.keep(path)
        if (now := self._kept_lines.get(path)) is not None and now != before:
            self._outdated_codes[path] = OutdatedCode(before)

    def find_old(
        self, path: str, frames: Iterable[tuple[str, int]], functions: Iterable[str]
    ) -> None:
        """Record which frames (name and line) and functions still have a file's old text, if any is kept."""
        if path in self._outdated_codes:
            self._outdated_codes[path] = OutdatedCode(
                self._outdated_codes[path].text, frozenset(frames), tuple(functions)
            )

    def old(self, path: str) -> OutdatedCode | None:
        """Return what is left of the text from before a file was loaded again; None: it was not."""
        return self._outdated_codes.get(path)

    def change(self, path: str) -> SourceChange | None:
        """Return how a file differs from what the program has loaded; None: it does not, or that is unknown.

        The file is read now; a file that was not kept before is kept.
        """
        self.keep(path)
        now = read_lines(path)
        if now is None or path not in self._kept_lines or self._kept_lines[path] == now:
            return None
        return SourceChange(self._kept_lines[path], now)

    def known_change(self, path: str) -> SourceChange | None:
        """Return what `change` does for a file whose text is kept already; None for any other."""
        return self.change(path) if path in self._kept_lines else None

    def window(
        self, path: str, line: int, line_count: int, function: str = ""
    ) -> tuple[int, list[str]] | None:
        """Return the lines around a 1-based line, as loaded if known: the first's number, and their text.

        `line_count` is how many lines on either side. `function` is the name of the frame there, which may run old
        code. None: the file cannot be read, is too large, or has no such line. The file's present text is kept, if
        none is yet (`keep`).
        """
        self.keep(path)
        old = self._outdated_codes.get(path)
        if old is not None and old.runs_in(function, line):
            return lines_around(old.text, line, line_count)
        lines = self._kept_lines.get(path) or read_lines(path)
        return None if lines is None else lines_around(lines, line, line_count)

    def is_late(self, path: str, line: int) -> bool:
        """Return whether a 1-based line is of Python, in a function that may run while the interpreter ends."""
        whole = self.window(path, line, sys.maxsize) if path.endswith(".py") else None
        return whole is not None and runs_late(whole[1], line)

    def warning(self, path: str, line: int, function: str = "") -> str:
        """Return one line of text that the file is not what the frame runs; empty: no difference is known.

        The text says that the file has changed since the program loaded it and where the line is now, that the
        file was changed before its text could be kept, or that the frame still runs the text from before a
        reload. `path`, the 1-based `line` and `function` are those of the frame that is shown; without
        `function`, no frame counts as running old text. The file is read at each call, and its text is kept if
        no text of the file is kept yet.
        """
        change, name, old = self.change(path), Path(path).name, self._outdated_codes.get(path)
        if old is not None and old.runs_in(function, line):
            return f"{name} was loaded again; this frame still runs the text from before, which is shown"
        if change is None:
            return ""
        if change.old_lines is None:
            return f"{name} was changed after the program had started, so this may not be the source that runs; {RESTART}"
        now = change.line_now(line)
        where = f"line {line} is line {now} now" if now else f"line {line} no longer exists"
        if now is None and not change.is_comparable:
            where = f"where line {line} is now is not known"
        return f"{name} has changed since the program loaded it: the source shown is the loaded one, {where}; {RESTART}"


def _modified(path: str) -> float:
    """Return when a file was modified, in seconds since 1970; 0: it cannot be read."""
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0
