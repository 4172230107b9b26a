"""Describes only those frames of a stack that a client asks for.

A client asks for the innermost 20 frames, say. pydevd describes all frames of the stack, and sends those 20.

Of many frames, those at one place are described once: a deep stack is a recursion, and has few places.
"""

from __future__ import annotations

import copy
import importlib
from typing import Any

from .. import patching

MAKE = "_pydevd_bundle.pydevd_net_command_factory_json:NetCommandFactoryJson.make_get_thread_stack_message"
FRAMES = "dapeerFrames"
"""Key of an answer with one frame for each place: all frames' `ids`, and whose each is `like`."""
MAX_DESCRIBED_FRAMES = 50
"""Frames that are described one by one."""


class DebuggerWithFrames:
    """pydevd's debugger, except that a suspended thread has only some frames."""

    def __init__(self, debugger: Any, frames: Any) -> None:
        self._debugger = debugger
        self._frames = frames

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the debugger."""
        return getattr(self._debugger, name)

    @property
    def suspended_frames_manager(self) -> DebuggerWithFrames:
        """What knows the frames."""
        return self

    def get_frames_list(self, _: str) -> Any:
        """Return these frames, whatever thread is asked for."""
        return self._frames


def listed_frames(debugger: Any, frames: Any) -> list[Any]:
    """Return the frames of a stack that pydevd lists: those of all files but its own.

    `debugger` is pydevd's `PyDB`; `frames` are the frames of the program, the innermost first, whose order is kept.
    """
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


def distinct_places(frames: Any, selected: list[Any]) -> tuple[list[Any], list[int]]:
    """Return one frame for each distinct place of the `selected` frames, and which of these each is like.

    The second list is as long as `selected`; its numbers are indices in the first one. A place is code object, line, whether it is the
    current frame and, in a traceback, columns. `frames` is pydevd's `FramesList`, which knows the lines.
    """
    described: list[Any] = []
    numbers: dict[tuple[object, ...], int] = {}
    like: list[int] = []
    for frame in selected:
        line = frames.frame_id_to_lineno.get(id(frame), frame.f_lineno)
        # A traceback tells columns, too.
        columns: Any = frames.frame_id_to_line_col_info.get(id(frame))
        positions: dict[str, object] = {} if columns is None else columns.__dict__
        current = frame is frames.current_frame
        place = (id(frame.f_code), line, current, *positions.values())
        if place not in numbers:
            numbers[place] = len(described)
            described.append(frame)
        like.append(numbers[place])
    return described, like


LISTED = "_pydevd_bundle.pydevd_frame_utils:FramesList"
LEVELS = patching.Row(
    "stack-levels",
    "debugpy",
    "A deep stack is listed more slowly, since all of its frames are described.",
    replaces={
        MAKE: "self py_db seq thread_id topmost_frame fmt must_be_suspended= start_frame= levels="
    },
    uses=(
        f"{LISTED}#_frames",
        f"{LISTED}#chained_frames_list",
        f"{LISTED}#current_frame",
        f"{LISTED}#frame_id_to_lineno",
        f"{LISTED}#frame_id_to_line_col_info",
        "_pydevd_bundle.pydevd_net_command_factory_json:NetCommandFactoryJson._iter_visible_frames_info",
        "_pydevd_bundle._debug_adapter.pydevd_base_schema:BaseSchema._translate_id_to_dap",
        "_pydevd_bundle.pydevd_net_command:NetCommand",
        "pydevd:PyDB.get_file_type",
    ),
)


@LEVELS
def describe_few(patch: Any) -> None:
    """Patch pydevd so that it describes only the frames that a `stackTrace` request asks for.

    If these are more than `MAX_DESCRIBED_FRAMES`, one is described for each place, and the response has the key `FRAMES`: `ids` of all
    requested frames, and `like`, for each of them the index of its place in `stackFrames`. `patch` is this patch's `patching.Row`: it calls
    this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: pydevd numbers frames in another way.
    """
    command: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NetCommand
    ids: Any = importlib.import_module("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    number_of = ids.BaseSchema._translate_id_to_dap
    if number_of("*") != "*":  # pydevd's name of all
        raise patching.Misfit("frames are numbered in another way")

    @patch.replace(MAKE, again=True)
    def make(
        stock: Any,
        self: Any,
        py_db: Any,
        seq: int,
        thread_id: str,
        topmost_frame: Any,
        fmt: Any,
        must_be_suspended: bool = False,
        start_frame: int = 0,
        levels: int = 0,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Return pydevd's response to `stackTrace`, with the frames from `start_frame` on, `levels` of them.

        pydevd's own function does it where all frames are asked for (0), where there are no more than `levels` and `MAX_DESCRIBED_FRAMES`,
        with a filter of files, and where the stack has causes of exceptions.
        """

        def of(debugger: Any, first: int, most: int) -> Any:
            """Return pydevd's own response with the frames of `debugger`, from `first` on, `most` of them."""
            about = (seq, thread_id, topmost_frame, fmt, must_be_suspended, first, most)
            return stock(self, debugger, *about, *rest, **named)

        frames = py_db.suspended_frames_manager.get_frames_list(thread_id)
        whole = frames is None or frames.chained_frames_list or py_db.is_files_filter_enabled
        shown = [] if whole or not levels else listed_frames(py_db, frames)
        if len(shown) <= min(levels, MAX_DESCRIBED_FRAMES):
            return of(py_db, start_frame, levels)
        part: Any = copy.copy(frames)
        selected = shown[start_frame : start_frame + levels]
        folds = len(selected) > MAX_DESCRIBED_FRAMES
        part._frames, like = distinct_places(frames, selected) if folds else (selected, [])
        made = of(DebuggerWithFrames(py_db, part), 0, 0)
        body: dict[str, Any] = made.as_dict["body"]
        body["totalFrames"] = len(shown)
        if folds:
            body[FRAMES] = {"ids": [number_of(id(frame)) for frame in selected], "like": like}
        return command(made.id, 0, made.as_dict, is_json=True)
