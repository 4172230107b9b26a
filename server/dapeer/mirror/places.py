"""Where the threads and tasks of a program are, from its adapter or the program itself. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dapeer.base.json_types import Value, as_array, as_object, is_object
from dapeer.dap.types import Source, StackFrame

SPEC = "${spec}"
"""Stands in an expression for what is asked, as a text of JSON."""
MAX_THREAD_FRAMES = 60
"""Frames of one thread that are kept."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What can be found out about a running program."""

    expression: str = ""
    """An expression whose value says where threads and tasks are, as `parse_places` reads it."""
    hides: str = ""
    """Why the adapter leaves out frames that the expression returns; empty: it leaves out none."""
    silence: str = ""
    """Why the adapter may not answer while the program computes."""
    waits: tuple[str, ...] = ()
    """Expressions, with `SPEC` for a question, of what threads and tasks wait for or frames hold.

    Each is evaluated if the one before fails.
    """
    outside: OutsideReader | None = None
    """How another program reads the places where the adapter does not answer."""


@dataclass(frozen=True, slots=True)
class OutsideReader:
    """A program that prints where the threads of a process are, without its help."""

    command: Sequence[str]
    """With `${pid}`."""
    thread: re.Pattern[str]
    """The line before a thread's frames, with the group `name`, and perhaps `holds`.

    `holds` is there where the thread keeps the others from running.
    """
    frame: re.Pattern[str]
    """The line of a frame, with the groups `function`, `file` and `line`."""
    own: re.Pattern[str]
    """In the paths of the debugger's files, whose frames are left out."""
    missing: str
    """How to get the program."""
    denied: str = ""
    """What to do where the system does not let it read the process, with `${pid}`."""

    def read(self, text: str) -> list[ThreadLocation]:
        """Return the threads that the reader's command has printed in `text`, in its order, with their frames.

        A line that `thread` matches begins a thread; one that `frame` matches is a frame of the last thread.
        Any other line is ignored, as is a frame before the first thread, or one that matches `own`, the
        debugger's. Of a thread the first `MAX_THREAD_FRAMES` are kept. A thread whose line has the group
        `holds` gets `blocks_others`. Empty: no line was a thread's.
        """
        places: list[ThreadLocation] = []
        for line in text.splitlines():
            if found := self.thread.search(line):
                holds = bool(found.groupdict().get("holds"))
                places.append(ThreadLocation(found["name"] or "", blocks_others=holds))
            elif places and (found := self.frame.search(line)) and not self.own.search(line):
                frame = _frame([found["function"], found["file"], int(found["line"])])
                places[-1] = replace(
                    places[-1], frames=[*places[-1].frames, frame][:MAX_THREAD_FRAMES]
                )
        return places


@dataclass(frozen=True, slots=True)
class ThreadLocation:
    """Where one thread is, or one task."""

    name: str
    thread_id: int | None = None
    """None: it is a task, or a thread that the adapter has not named."""
    own_id: int = 0
    """The program's own number of it."""
    stopped: bool = False
    frames: Sequence[StackFrame] = ()
    """The innermost first; empty if unknown."""
    awaited_by: str = ""
    """The task that waits for this one; empty: none that is known."""
    blocks_others: bool = False
    """It is known to keep the other threads from running."""

    @property
    def label(self) -> str:
        """Its name, with the adapter's number of a thread."""
        return self.name if self.thread_id is None else f"{self.thread_id} {self.name}"


@dataclass(frozen=True, slots=True)
class ThreadLocations:
    """The locations of all threads, and of the known tasks, at one time."""

    threads: Sequence[ThreadLocation] = ()
    tasks: Sequence[ThreadLocation] = ()
    has_timed_out: bool = False
    """The adapter did not answer in time."""
    why_unread: str = ""
    """Why no other program has read the places, and how it could; empty: one has, or none is known."""

    @property
    def has_frames(self) -> bool:
        """Whether the frames of at least one thread are known."""
        return any(each.frames for each in self.threads)


def parse_object_value(text: str) -> Mapping[str, Any]:
    """Parse the result of an evaluated expression as a JSON object, and return that object.

    `text` is the value as an adapter shows it: if it begins with `'` or `"`, it is first read as a literal of
    Python, whatever the program's language.

    Raises:
        ValueError: The value is no JSON object. The message is `text` itself, or `nothing was told` if it is
            empty.
    """
    try:
        # Some adapters show a text as the program would write it.
        value = json.loads(ast.literal_eval(text) if text[:1] in "'\"" else text)
    except (ValueError, SyntaxError, TypeError, RecursionError) as error:
        raise ValueError(text or "nothing was told") from error
    if not is_object(value):
        raise ValueError(text)
    return value


def parse_places(text: str) -> Mapping[str, Sequence[ThreadLocation]]:
    """Return the places in a program's answer, a text of JSON, by the keys `threads` and `tasks`.

    Each entry of the two lists has `name` and `frames`, and may have `id` and `awaited_by`; a frame is a list of function,
    file and line. Entries and frames of another form are left out; a text that is not JSON gives an empty mapping.
    """
    try:
        known = as_object(json.loads(text))
    except ValueError:
        return {}
    return {kind: list(_places(as_array(known.get(kind)))) for kind in ("threads", "tasks")}


def _places(listed: Sequence[Value]) -> Iterator[ThreadLocation]:
    """Yield a `ThreadLocation` for each entry with `name` and `frames`; skip entries of another form.

    `listed` are the entries of a program's answer (see `parse_places`). Of the first `MAX_THREAD_FRAMES`
    frames the valid ones are kept. Without a whole number as `id` the own id is 0.
    """
    for each in listed:
        match each:
            case {"name": str(name), "frames": [*frames], **more}:
                known = [*map(_frame, filter(_is_frame, frames[:MAX_THREAD_FRAMES]))]
                own_id = more.get("id")
                yield ThreadLocation(
                    name,
                    own_id=own_id if isinstance(own_id, int) else 0,
                    frames=known,
                    awaited_by=str(more.get("awaited_by") or ""),
                )
            case _:
                pass


def _is_frame(frame: object) -> bool:
    """Return whether a value is a list of function, file and line."""
    match frame:
        case [str(), str(), int()]:
            return True
        case _:
            return False


def _frame(frame: Sequence[Any]) -> StackFrame:
    """Return a DAP frame of a list of function, file and line, without an id or a column."""
    function, file, line = frame
    source = Source(name=Path(file).name, path=file)
    return StackFrame(id=0, name=function, line=line, column=0, source=source)


def match_by_name(
    threads: Mapping[int, str], places: Sequence[ThreadLocation]
) -> Mapping[int, ThreadLocation]:
    """Return the place of each thread, by thread id; a thread without a place is left out.

    `threads` are the adapter's names by id. A place belongs to the first thread of its name that has none yet: of several
    threads of one name, each gets one, in order.
    """
    left = list(places)
    found: dict[int, ThreadLocation] = {}
    for thread_id, name in threads.items():
        place = next((each for each in left if each.name == name), None)
        if place is not None:
            left.remove(place)
            found[thread_id] = place
    return found
