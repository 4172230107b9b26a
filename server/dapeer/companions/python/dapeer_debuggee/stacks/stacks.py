"""Stacks: described as far as they are asked for, with libraries' frames and those that await a task.

With `justMyCode`, pydevd silently leaves out frames of libraries; here they are `subtle`. Below the frames of an
asyncio task pydevd shows the event loop, but not the awaiting tasks. Their frames follow here, with variables, after
a frame with DAP's hint `label`. That runs no code of the program.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import os
import types
from pathlib import Path
from typing import Any

from .. import patching
from ..exceptions import tracebacks
from . import awaiting as awaits

# Only those frames of a stack are described that a client asks for.
#
# A client asks for the innermost 20 frames, say; pydevd describes all frames of the stack, and sends those 20. Of many frames, those at one place are described once: a deep stack is a recursion, and has few places.

MAKE = "_pydevd_bundle.pydevd_net_command_factory_json:NetCommandFactoryJson.make_get_thread_stack_message"
PLACES = "dapeerFrames"
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

    A frame without code, or whose code has no name, is left out, too. `debugger` is pydevd's `PyDB`; `frames` are the
    frames of the program, the innermost first, whose order is kept.
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

    If these are more than `MAX_DESCRIBED_FRAMES`, one is described for each place, and the response has the key
    `PLACES`: `ids` of all requested frames, and `like`, for each of them the index of its place in `stackFrames`.
    pydevd's own function still describes the frames where a request asks for all, the stack has neither more
    frames than are asked for nor more than `MAX_DESCRIBED_FRAMES`, a filter of files is on, the thread is not
    suspended, or the stack has causes of exceptions. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced or numbers frames in another way; `Row.apply` catches
            this.
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

        def stock_response(debugger: Any, first: int, most: int) -> Any:
            """Return pydevd's own response with the frames of `debugger`, from `first` on, `most` of them."""
            about = (seq, thread_id, topmost_frame, fmt, must_be_suspended, first, most)
            return stock(self, debugger, *about, *rest, **named)

        frames = py_db.suspended_frames_manager.get_frames_list(thread_id)
        whole = frames is None or frames.chained_frames_list or py_db.is_files_filter_enabled
        shown = [] if whole or not levels else listed_frames(py_db, frames)
        if len(shown) <= min(levels, MAX_DESCRIBED_FRAMES):
            return stock_response(py_db, start_frame, levels)
        part: Any = copy.copy(frames)
        selected = shown[start_frame : start_frame + levels]
        folds = len(selected) > MAX_DESCRIBED_FRAMES
        part._frames, like = distinct_places(frames, selected) if folds else (selected, [])
        made = stock_response(DebuggerWithFrames(py_db, part), 0, 0)
        body: dict[str, Any] = made.as_dict["body"]
        body["totalFrames"] = len(shown)
        if folds:
            body[PLACES] = {"ids": [number_of(id(frame)) for frame in selected], "like": like}
        return command(made.id, 0, made.as_dict, is_json=True)


LABEL = "<dapeer label>"
"""The file of a frame that is a label."""
AT_END = ("_shutdown", "<lambda>")
"""Functions of `threading` in which Python ends."""
OWN = str(Path(__file__).absolute().parents[2]) + os.sep


# -- pydevd

JSON = "_pydevd_bundle.pydevd_net_command_factory_json"
LISTS = "_pydevd_bundle.pydevd_frame_utils"
FROM_FRAME = f"{LISTS}:create_frames_list_from_frame"
FROM_TRACEBACK = f"{LISTS}:create_frames_list_from_traceback"
FROM_CAUSE = f"{LISTS}:create_frames_list_from_exception_cause"
FRAMES = (f"{LISTS}:FCode", f"{LISTS}:Frame", f"{LISTS}:FramesList#_frames")

ALL_FRAMES = patching.Row(
    "frames-of-libraries",
    "debugpy",
    "With just_my_code, frames of libraries are left out of stacks.",
    replaces={
        MAKE: "self py_db seq thread_id topmost_frame fmt must_be_suspended= start_frame= levels="
    },
    uses=("_pydevd_bundle.pydevd_net_command:NetCommand",),
)
TASKS = patching.Row(
    "awaiting-tasks",
    "debugpy",
    "Stacks do not go on with the tasks that await, and may show frames that only start the program.",
    replaces={
        FROM_FRAME: "frame",
        FROM_TRACEBACK: "trace_obj frame exc_type exc_desc exception_type=",
    },
    uses=FRAMES,
)
CAUSES = patching.Row(
    "labelled-causes",
    "debugpy",
    "The frames of an exception's cause are not behind a label with its name.",
    replaces={FROM_CAUSE: "trace_obj frame exc_type exc_desc memo"},
    uses=FRAMES,
)


LIST = f"{JSON}:NetCommandFactoryJson.make_list_threads_message"
THREADS = patching.Row(
    "thread-names",
    "debugpy",
    "A thread whose class has a property for its name is named by the program's code.",
    replaces={LIST: "self py_db seq"},
    uses=(
        *(f"{JSON}:{each}" for each in ("get_non_pydevd_threads", "is_thread_alive", "CMD_RETURN")),
        f"{JSON}:get_thread_id(thread)",
        f"{JSON}:pydevd_schema.Thread",
        f"{JSON}:pydevd_schema.ThreadsResponse",
        f"{JSON}:pydevd_schema.ThreadsResponseBody",
        "_pydevd_bundle.pydevd_net_command_factory_xml:NetCommandFactory#_additional_thread_id_to_thread_name",
    ),
)


@THREADS
def name_threads(patch: Any) -> None:
    """Patch pydevd so that its answer to `threads` has the names that Python keeps.

    A property `name` of a thread's class is not called, as that is code of the program. Names that pydevd
    itself has given to further threads win. `patch` is this patch's `patching.Row`: it calls this function
    when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    lists: Any = importlib.import_module(JSON)

    @patch.replace(LIST)
    def make(stock: Any, self: Any, py_db: Any, seq: int, *rest: Any, **named: Any) -> Any:
        """Return pydevd's response to `threads`; threads that are new are reported as pydevd does.

        Names that pydevd itself has given to further threads win.
        """
        names: dict[Any, str] = {}
        for each in filter(lists.is_thread_alive, lists.get_non_pydevd_threads()):
            number = lists.get_thread_id(each)
            py_db.notify_thread_created(number, each)
            names[number] = awaits.raw_attribute(each, "_name")
        names.update(self._additional_thread_id_to_thread_name)
        schema = lists.pydevd_schema
        threads = [schema.Thread(id=number, name=name).to_dict() for number, name in names.items()]
        body = schema.ThreadsResponseBody(threads)
        made = schema.ThreadsResponse(request_seq=seq, success=True, command="threads", body=body)
        return lists.NetCommand(lists.CMD_RETURN, 0, made, is_json=True)


TRACK = f"{JSON}:ModulesManager.track_module"
VERSIONS = patching.Row(
    "module-versions",
    "debugpy",
    "A module whose version or package is an object of the program has that made a text by its own code.",
    replaces={TRACK: "self filename_in_utf8 module_name frame"},
)
REPORTED_OF_MODULES = ("__version__", "__package__")
"""What pydevd reports of a module, besides its name and file."""


@VERSIONS
def report_versions(patch: Any) -> None:
    """Patch pydevd so that it reports a module's version and package only where they are strings.

    Values of other types are left out, so no code of theirs runs. `patch` is this patch's `patching.Row`: it calls
    this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(TRACK)
    def track(
        stock: Any,
        self: Any,
        filename_in_utf8: str,
        module_name: str,
        frame: Any,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Call the stock function with a frame that has only these strings as global names."""
        found = {each: frame.f_globals.get(each) for each in REPORTED_OF_MODULES}
        texts = {name: value for name, value in found.items() if type(value) is str}
        plain = types.SimpleNamespace(f_globals=texts)
        return stock(self, filename_in_utf8, module_name, plain, *rest, **named)


SOURCE = (
    "_pydevd_bundle.pydevd_process_net_command_json:PyDevJsonCommandProcessor.on_source_request"
)
FRAME_OF = "pydevd_file_utils:get_frame_id_from_source_reference"
TEXTS = patching.Row(
    "texts-without-a-file",
    "debugpy",
    "Stops in code that has no file, such as that of `-c`, show no source.",
    replaces={SOURCE: "self py_db request"},
    uses=(f"{FRAME_OF}(source_reference)", "_pydevd_bundle.pydevd_net_command:NetCommand"),
)
PYTHON = "text/x-python"
"""Of a text that is a source, and no list of instructions."""


@TEXTS
def report_texts(patch: Any) -> None:
    """Patch pydevd so that `source` gets the source of code without a file, where that is known.

    pydevd lists instructions instead, and still does where the source is not known. A text that is a source has the
    `mimeType` of Python. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its
    `undo` puts back what was replaced by it.

    Raises:
        Misfit: What is to be replaced in pydevd is not as the row states.
    """
    command: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NetCommand
    files: Any = importlib.import_module("pydevd_file_utils")
    from .. import sources

    @patch.replace(SOURCE)
    def source(stock: Any, self: Any, py_db: Any, request: Any, *rest: Any, **named: Any) -> Any:
        """Return pydevd's response to `source`, with the source in place of instructions where it is known.

        It stays as it is where pydevd has no content or the source is not known.
        """
        made = stock(self, py_db, request, *rest, **named)
        body: dict[str, Any] = made.as_dict["body"]
        if not body["content"]:
            return made
        frame = files.get_frame_id_from_source_reference(request.arguments.sourceReference)
        if frame is not None:
            code = py_db.suspended_frames_manager.get_variable(int(frame)).value.f_code
            text = sources.text_of(code)
            if not text:
                return made
            body["content"] = text
        body["mimeType"] = PYTHON
        return command(made.id, made.seq, made.as_dict, is_json=True)


@TASKS
def follow_tasks(patch: Any) -> None:
    """Patch pydevd so that, below a task's frames, a stack lists those of the tasks that await it.

    The frames of each of these tasks follow behind a frame that is a label. Frames of dapeer's, and those that only
    start the program, are left out. In a traceback, the frames of an exception group's members follow, too. `patch`
    is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was
    replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    lists: Any = importlib.import_module(LISTS)

    def create(stock: Any, *given: Any, **named: Any) -> Any:
        """Return pydevd's `FramesList` without frames that start the program, with those of awaiting tasks.

        `stock` is pydevd's function, `given` and `named` are its arguments. What classes of the program raise leaves the list as it is by
        then.
        """
        frames = stock(*given, **named)
        with contextlib.suppress(Exception):  # classes of the program
            known: list[Any] = frames._frames
            known[:] = [each for each in known if not each.f_code.co_filename.startswith(OWN)]
            while known and is_starter(known[-1]):
                del known[-1]
            insert_awaiting_frames(known, lists)
        return frames

    patch.replace(FROM_FRAME)(create)

    @patch.replace(FROM_TRACEBACK)
    def of_error(stock: Any, *given: Any, **named: Any) -> Any:
        frames = create(stock, *given, **named)
        with contextlib.suppress(Exception):  # classes of the program
            add_members(frames, frames.exc_desc, lists)
        return frames


def add_members(frames: Any, error: Any, lists: Any) -> None:
    """Append the frames of an exception group's members, and of groups in it, to a chain of frames.

    The frames of each member follow a label that names it, in a list of its own, at the end of `frames`, pydevd's `FramesList`, which is
    changed. `error` is the exception; nothing happens if it is no group. At most `tracebacks.MAX_MEMBERS` of a group are added. `lists` is
    pydevd's module of frames, whose function the patch `CAUSES` must have replaced: else none is added.
    """
    for member in tracebacks.group_of(error)[: tracebacks.MAX_MEMBERS]:
        # pydevd lists the frames of what it takes for a cause.
        holder = types.SimpleNamespace(__cause__=member)
        listed = lists.create_frames_list_from_exception_cause(None, None, None, holder, set())
        last = frames
        while last.chained_frames_list is not None:
            last = last.chained_frames_list
        if listed is not None and listed.exc_desc is LABEL:
            label = f"in the group: {tracebacks.error_text(member)}"
            listed._frames[0] = lists.Frame(None, 0, lists.FCode(label, LABEL), {})
            last.chained_frames_list = listed
            add_members(frames, member, lists)


@CAUSES
def label_causes(patch: Any) -> None:
    """Patch pydevd so that a label with the cause's type and message precedes the frames of a cause.

    The cause is that of a shown exception. The label is a frame of its own, named `before it: TYPE: MESSAGE`; where
    making the label fails, the frames come without one. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.
    """
    lists: Any = importlib.import_module(LISTS)

    @patch.replace(FROM_CAUSE)
    def create(stock: Any, *given: Any, **named: Any) -> Any:
        """Return pydevd's list of a cause's frames, the label first; unlabeled where naming the cause fails."""
        frames = stock(*given, **named)
        with contextlib.suppress(Exception):  # classes of the program
            error: Any = frames.exc_desc
            label = f"before it: {tracebacks.error_text(error)}"
            frames._frames.insert(0, lists.Frame(None, 0, lists.FCode(label, LABEL), {}))
            # pydevd puts this in front of the name of each frame.
            frames.exc_desc = LABEL
        return frames


def is_starter(frame: Any) -> bool:
    """Return whether an outermost frame only starts a module or a child process, or ends the program.

    Such frames belong to Python, and are not shown. A frame is told by its file and function.
    """
    path, name = frame.f_code.co_filename, frame.f_code.co_name
    return (
        path == "<frozen runpy>"
        or os.path.basename(path) == "runpy.py"
        or (os.path.basename(path) == "threading.py" and name in AT_END)
        or (path == "<string>" and name == "<module>" and "spawn_main" in frame.f_code.co_names)
    )


def insert_awaiting_frames(known: list[Any], lists: Any) -> None:
    """Insert the frames of tasks that await this thread's task into `known`, behind the task's own.

    Each task's frames follow a frame that is a label; if no task awaits this one, a label with its name alone is
    inserted. `known` is a list of frames, the innermost first, which is changed in place; frames that it already has
    are not inserted again. It stays unchanged where this thread runs no task, or where the frame of its task's
    coroutine is not in it. `lists` is pydevd's module of frames, for labels.
    """
    task = awaits.current_task()
    root = getattr(task and awaits.coroutine_of(task), "cr_frame", None)
    place = next((n for n, each in enumerate(known) if each is root), None)
    if place is None:
        return
    ids = set(map(id, known))
    waits = [each for each in awaits.awaiting_frames(task) if id(each) not in ids]
    known[place + 1 : place + 1] = [
        lists.Frame(None, 0, lists.FCode(each, LABEL), {}) if isinstance(each, str) else each
        for each in waits
    ]


class Whole:
    """Passes on pydevd's `PyDB`, but with no filter of files, so that no frame is left out."""

    is_files_filter_enabled = False

    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the debugger."""
        return getattr(self._debugger, name)


@ALL_FRAMES
def show_all(patch: Any) -> None:
    """Patch pydevd so that it lists stacks with all frames, also those of libraries with `justMyCode`.

    Frames that dapeer has put into a stack as labels, such as headings of an exception's causes, get DAP's
    `presentationHint` `label`, line 0 and no source. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError: pydevd is not as expected; `Row.apply` reports that as a failure.
    """
    command: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NetCommand

    @patch.replace(MAKE, again=True)
    def make(stock: Any, self: Any, py_db: Any, *rest: Any, **named: Any) -> Any:
        """Return pydevd's response to `stackTrace`, with libraries' frames, and labels as DAP has them."""
        made = stock(self, Whole(py_db), *rest, **named)
        if made is None or LABEL.encode() not in made._as_bytes:
            return made
        message = made.as_dict
        message["body"]["stackFrames"] = [as_label(each) for each in message["body"]["stackFrames"]]
        return command(made.id, 0, message, is_json=True)


def as_label(frame: dict[str, Any]) -> dict[str, Any]:
    """Return a DAP stack frame; one of the file `LABEL` becomes a new frame with the hint `label`.

    The new frame has the `id` and `name` of the given one, line and column 0, and no source. Any other frame is
    returned itself. In both cases the prefix that pydevd gives to the frames of a label's list is removed from the
    `name`, also in the given `frame`.
    """
    source: dict[str, Any] = frame.get("source") or {}
    frame["name"] = frame["name"].replace(f"[Chained Exc: {LABEL}] ", "")
    if source.get("path") != LABEL:
        return frame
    place = {"line": 0, "column": 0, "presentationHint": "label"}
    return {"id": frame["id"], "name": frame["name"], **place}
