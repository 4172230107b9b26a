"""Completes stacks: frames of libraries are kept, and below an asyncio task follow the tasks that await it.

With `justMyCode`, pydevd silently leaves out frames of libraries; here they are `subtle`. Below the frames of an
asyncio task pydevd shows the event loop, but not the awaiting tasks. Their frames follow here, with variables, after
a frame with DAP's hint `label`. That runs no code of the program.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

awaits: Any = importlib.import_module("in_debuggee.dapeer_awaiting")

LABEL = "<dapeer label>"
"""The file of a frame that is a label."""
OWN = str(Path(__file__).absolute().parent.parent) + os.sep


def current_task() -> Any:
    """Return the task that this thread runs; None if it runs none."""
    asyncio: Any = sys.modules.get("asyncio")
    loop = asyncio and asyncio._get_running_loop()
    return asyncio.current_task(loop) if loop is not None else None


# -- pydevd


def improve(*, prints: bool) -> None:
    """Patch how pydevd lists stacks.

    Raises:
        AttributeError: pydevd has another structure.
    """
    lists: Any = importlib.import_module("_pydevd_bundle.pydevd_frame_utils")
    commands: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command")
    answers: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command_factory_json")
    tell_all(answers.NetCommandFactoryJson, commands.NetCommand)
    known = (lists.FCode, lists.Frame)  # are they there?
    if not all(map(callable, known)):
        raise AttributeError
    lists.create_frames_list_from_frame = followed(lists.create_frames_list_from_frame, lists)
    lists.create_frames_list_from_traceback = followed(
        lists.create_frames_list_from_traceback, lists
    )
    lists.create_frames_list_from_exception_cause = labelled(
        lists.create_frames_list_from_exception_cause, lists
    )


def followed(stock: Callable[..., Any], lists: Any) -> Callable[..., Any]:
    """Return a function that lists frames with those of awaiting tasks, without dapeer's own."""

    def create(*arguments: Any, **named: Any) -> Any:
        frames = stock(*arguments, **named)
        with contextlib.suppress(Exception):
            known: list[Any] = frames._frames
            known[:] = [each for each in known if not each.f_code.co_filename.startswith(OWN)]
            while known and is_starter(known[-1]):
                del known[-1]
            follow(known, lists)
        return frames

    return create


def labelled(stock: Callable[..., Any], lists: Any) -> Callable[..., Any]:
    """Return a function that lists the frames of an exception's cause after a label with its name."""

    def create(*arguments: Any) -> Any:
        frames = stock(*arguments)
        with contextlib.suppress(Exception):  # classes of the program
            error: Any = frames.exc_desc
            label = f"before it: {type(error).__qualname__}: {error}"
            frames._frames.insert(0, lists.Frame(None, 0, lists.FCode(label, LABEL), {}))
            # pydevd puts this in front of the name of each frame.
            frames.exc_desc = LABEL
        return frames

    return create


def is_starter(frame: Any) -> bool:
    """Whether the outermost frame only starts a module or a child process."""
    path, name = frame.f_code.co_filename, frame.f_code.co_name
    return (
        path == "<frozen runpy>"
        or os.path.basename(path) == "runpy.py"
        or (path == "<string>" and name == "<module>" and "spawn_main" in frame.f_code.co_names)
    )


def follow(known: list[Any], lists: Any) -> None:
    """Add the frames of the tasks that await the current task after its own."""
    task = current_task()
    root = getattr(task and sys.modules["asyncio"].Task.get_coro(task), "cr_frame", None)
    place = next((n for n, each in enumerate(known) if each is root), None)
    if place is None:
        return
    ids = set(map(id, known))
    waits = [each for each in awaits.awaiting(task) if id(each) not in ids]
    known[place + 1 : place + 1] = [
        lists.Frame(None, 0, lists.FCode(each, LABEL), {}) if isinstance(each, str) else each
        for each in waits
    ]


class Whole:
    """pydevd's debugger, except that it leaves out no frame."""

    is_files_filter_enabled = False

    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the debugger."""
        return getattr(self._debugger, name)


def tell_all(factory: Any, command: Any) -> None:
    """Make pydevd list stacks with all frames."""
    stock = factory.make_get_thread_stack_message

    def make(self: Any, debugger: Any, *arguments: Any, **named: Any) -> Any:
        made = stock(self, Whole(debugger), *arguments, **named)
        if made is None or LABEL.encode() not in made._as_bytes:
            return made
        told = made.as_dict
        told["body"]["stackFrames"] = [as_label(each) for each in told["body"]["stackFrames"]]
        return command(made.id, 0, told, is_json=True)

    factory.make_get_thread_stack_message = make


def as_label(frame: dict[str, Any]) -> dict[str, Any]:
    """Return a frame as DAP's label, if it is one, without pydevd's prefix."""
    source: dict[str, Any] = frame.get("source") or {}
    frame["name"] = frame["name"].replace(f"[Chained Exc: {LABEL}] ", "")
    if source.get("path") != LABEL:
        return frame
    place = {"line": 0, "column": 0, "presentationHint": "label"}
    return {"id": frame["id"], "name": frame["name"], **place}
