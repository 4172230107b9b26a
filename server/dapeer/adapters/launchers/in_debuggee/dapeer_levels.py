"""Describes only those frames of a stack that a client asks for.

A client asks for the innermost 20 frames, say. pydevd describes all frames of the stack, and sends those 20.

Of many frames, those at one place are described once: a deep stack is a recursion, and has few places.
"""

from __future__ import annotations

import copy
import importlib
import inspect
from collections.abc import Callable
from typing import Any

ASKED = (
    "self", "py_db", "seq", "thread_id", "topmost_frame", "fmt", "must_be_suspended", "start_frame", "levels",
)  # fmt: skip
"""The parameters of pydevd's function."""
FRAMES = "dapeerFrames"
"""Key in the body of an answer that has a frame for each place: the `ids` of all frames, and which of those each is `like`."""
FEW = 50
"""Frames that are described one by one."""


class Part:
    """pydevd's debugger, except that a suspended thread has only some frames."""

    def __init__(self, debugger: Any, frames: Any) -> None:
        self._debugger = debugger
        self._frames = frames

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the debugger."""
        return getattr(self._debugger, name)

    @property
    def suspended_frames_manager(self) -> Part:
        """What knows the frames."""
        return self

    def get_frames_list(self, _: str) -> Any:
        """Return the frames, of any thread."""
        return self._frames


def listed(debugger: Any, frames: Any) -> list[Any]:
    """Return the frames of a stack that pydevd lists: those of all files but its own."""
    own: object = debugger.PYDEV_FILE
    known: dict[int, bool] = {}
    found: list[Any] = []
    for frame in frames:
        code = frame.f_code
        # Many frames of a deep stack share few code objects, and each of these stays alive with its frame.
        shows = known.get(id(code))
        if shows is None:
            has_name = code is not None and code.co_name is not None
            shows = known[id(code)] = has_name and debugger.get_file_type(frame) != own
        if shows:
            found.append(frame)
    return found


def places(frames: Any, wanted: list[Any]) -> tuple[list[Any], list[int]]:
    """Return a frame for each place at which some of the `wanted` ones are, and the number of that for each of them."""
    described: list[Any] = []
    numbers: dict[tuple[object, ...], int] = {}
    like: list[int] = []
    for frame in wanted:
        line = frames.frame_id_to_lineno.get(id(frame), frame.f_lineno)
        # A traceback tells columns, too.
        columns: Any = frames.frame_id_to_line_col_info.get(id(frame))
        told: dict[str, object] = {} if columns is None else columns.__dict__
        current = frame is frames.current_frame
        place = (id(frame.f_code), line, current, *told.values())
        if place not in numbers:
            numbers[place] = len(described)
            described.append(frame)
        like.append(numbers[place])
    return described, like


def numbers_of(body: dict[str, Any]) -> list[int]:
    """Return the numbers of the frames of an answer."""
    folded: dict[str, list[int]] = body.get(FRAMES) or {}
    return folded.get("ids") or [each["id"] for each in body.get("stackFrames", ())]


def of_levels(stock: Callable[..., Any], command: Any, number_of: Any) -> Callable[..., Any]:
    """Return pydevd's function that answers `stackTrace`, which is then told only of the frames that were asked for."""

    def make(
        self: Any,
        debugger: Any,
        seq: int,
        thread_id: str,
        *given: Any,
        start_frame: int = 0,
        levels: int = 0,
        **named: Any,
    ) -> Any:
        frames = debugger.suspended_frames_manager.get_frames_list(thread_id)
        whole = frames is None or frames.chained_frames_list or debugger.is_files_filter_enabled
        shown = [] if whole or not levels else listed(debugger, frames)
        if len(shown) <= min(levels, FEW):
            named.update(start_frame=start_frame, levels=levels)
            return stock(self, debugger, seq, thread_id, *given, **named)
        part: Any = copy.copy(frames)
        wanted = shown[start_frame : start_frame + levels]
        folds = len(wanted) > FEW
        part._frames, like = places(frames, wanted) if folds else (wanted, [])
        made = stock(self, Part(debugger, part), seq, thread_id, *given, **named)
        body: dict[str, Any] = made.as_dict["body"]
        body["totalFrames"] = len(shown)
        if folds:
            body[FRAMES] = {"ids": [number_of(id(frame)) for frame in wanted], "like": like}
        return command(made.id, 0, made.as_dict, is_json=True)

    return make


def improve(*, prints: bool) -> None:
    """Replace pydevd's function.

    Raises:
        AttributeError: pydevd has another structure.
    """
    answers: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command_factory_json")
    command: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command")
    lists: Any = importlib.import_module("_pydevd_bundle.pydevd_frame_utils")
    ids: Any = importlib.import_module("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    factory, frames = answers.NetCommandFactoryJson, lists.FramesList()
    stock = factory.make_get_thread_stack_message
    known = (
        frames._frames, frames.chained_frames_list, frames.current_frame,
        frames.frame_id_to_lineno, frames.frame_id_to_line_col_info,
    )  # fmt: skip
    if known != ([], None, None, {}, {}) or tuple(inspect.signature(stock).parameters) != ASKED:
        raise AttributeError
    if not {"PYDEV_FILE", "get_file_type"} <= {
        *factory._iter_visible_frames_info.__code__.co_names
    }:
        raise AttributeError
    number_of = ids.BaseSchema._translate_id_to_dap
    if number_of("*") != "*":  # pydevd's name of all
        raise AttributeError
    factory.make_get_thread_stack_message = of_levels(stock, command.NetCommand, number_of)
