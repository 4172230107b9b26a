"""Stacks in the debuggee: no frame of the program is left out, and that of a task goes on where the task is awaited.

pydevd leaves out the frames of libraries without a word where it stops in none (`justMyCode`); here they are told, as
`subtle`. Below the frames of an asyncio task lies its event loop, which says nothing of who waits for it; so these
follow, each with its variables, behind a frame with the hint `label`. No code of the program is run for that.
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
"""Stands for the file of a frame that is a label."""
OWN = str(Path(__file__).absolute().parent.parent) + os.sep


def current_task() -> Any:
    """Return the task that this thread runs, None: it runs none."""
    asyncio: Any = sys.modules.get("asyncio")
    loop = asyncio and asyncio._get_running_loop()  # noqa: SLF001
    return asyncio.current_task(loop) if loop is not None else None


# -- pydevd


def improve(*, prints: bool) -> None:  # noqa: ARG001 - every part is called alike
    """Tell stacks so.

    Raises:
        AttributeError: pydevd is not the one we know.
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
    """Return what makes lists of frames that go on where a task is awaited, and hold none of ours."""

    def create(*arguments: Any, **named: Any) -> Any:
        frames = stock(*arguments, **named)
        with contextlib.suppress(Exception):
            known: list[Any] = frames._frames  # noqa: SLF001
            known[:] = [each for each in known if not each.f_code.co_filename.startswith(OWN)]
            while known and is_starter(known[-1]):
                del known[-1]
            follow(known, lists)
        return frames

    return create


def labelled(stock: Callable[..., Any], lists: Any) -> Callable[..., Any]:
    """Return what makes lists of the frames of an exception that led to another one, behind a label that names it."""

    def create(*arguments: Any) -> Any:
        frames = stock(*arguments)
        with contextlib.suppress(Exception):  # the program's own classes
            error: Any = frames.exc_desc
            label = f"before it: {type(error).__qualname__}: {error}"
            frames._frames.insert(0, lists.Frame(None, 0, lists.FCode(label, LABEL), {}))  # noqa: SLF001
            # pydevd writes it before the name of each frame.
            frames.exc_desc = LABEL
        return frames

    return create


def is_starter(frame: Any) -> bool:
    """Whether a frame, the outermost, only starts a module or a child process."""
    path, name = frame.f_code.co_filename, frame.f_code.co_name
    return (
        path == "<frozen runpy>"
        or os.path.basename(path) == "runpy.py"  # noqa: PTH119
        or (path == "<string>" and name == "<module>" and "spawn_main" in frame.f_code.co_names)
    )


def follow(known: list[Any], lists: Any) -> None:
    """Add the frames that wait for the task which runs now, behind the task's own."""
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
    """pydevd's debugger, as one that leaves out no frame."""

    is_files_filter_enabled = False

    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger

    def __getattr__(self, name: str) -> Any:
        """Return what the debugger has."""
        return getattr(self._debugger, name)


def tell_all(factory: Any, command: Any) -> None:
    """Have stacks told whole."""
    stock = factory.make_get_thread_stack_message

    def make(self: Any, debugger: Any, *arguments: Any, **named: Any) -> Any:
        made = stock(self, Whole(debugger), *arguments, **named)
        if made is None or LABEL.encode() not in made._as_bytes:  # noqa: SLF001
            return made
        told = made.as_dict
        told["body"]["stackFrames"] = [as_label(each) for each in told["body"]["stackFrames"]]
        return command(made.id, 0, told, is_json=True)

    factory.make_get_thread_stack_message = make


def as_label(frame: dict[str, Any]) -> dict[str, Any]:
    """Return a frame as a label, if it stands for one; without what pydevd writes before its name."""
    source: dict[str, Any] = frame.get("source") or {}
    frame["name"] = frame["name"].replace(f"[Chained Exc: {LABEL}] ", "")
    if source.get("path") != LABEL:
        return frame
    place = {"line": 0, "column": 0, "presentationHint": "label"}
    return {"id": frame["id"], "name": frame["name"], **place}
