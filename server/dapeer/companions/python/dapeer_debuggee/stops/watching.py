"""Stops at the line that makes an expression true or changes a value, or tells every such line.

After each line of the scope a watch is looked at; the line that is told is the one that the function has executed just before. A row is
written for it (`row_format.WATCH_COLUMNS`, and the point's expressions), and where that is wanted pydevd suspends the thread there.
"""

from __future__ import annotations

import ast
import functools
import importlib
import itertools
import os
import sys
import sysconfig
import threading
import types
from collections.abc import Callable
from typing import Any

from .. import functions, sources
from ..collecting import contexts, expressions
from ..values import cells, objects, states
from . import breaking, deadline

# Values that are watched: how they are read without running any code of the program.

NOTHING = object()
"""Stands for a value that is not there."""
KINDS: tuple[Any, ...] = (dict, list)
"""Containers whose items can be watched."""
HOLDERS = (types.GetSetDescriptorType, types.MemberDescriptorType)
"""What gives what an object holds: an instance, a class, a module."""


def text_of(value: Any) -> str:
    """Return a value as the text of a cell; empty for `NOTHING`."""
    return "" if value is NOTHING else str(cells.cell(value))


def evaluate_part(tree: ast.expr, known: dict[str, Any]) -> Any:
    """Return the value of a part of an expression with these names; it may run code of the program."""
    code = compile(
        ast.Expression(getattr(tree, "value", tree) if is_index(tree) else tree), "<watch>", "eval"
    )
    return eval(code, known)


def is_index(tree: ast.expr) -> bool:
    """Return whether a tree is the `ast.Index` that Python 3.8 puts around a key."""
    return type(tree).__name__ == "Index"


def attribute_reader(owner: Any, name: str) -> Callable[[], Any]:
    """Return a function that reads an attribute which an object (`owner`) holds, without running any code.

    The function returns `NOTHING` while the object itself has no such attribute, also if it never had one; what
    only its class has does not count.

    Raises:
        InvalidExpression: It is a property, or the object holds no attributes itself.
    """
    _refuse_property(owner, name)
    for each in () if issubclass(type(owner), type) else objects.namespaces(type(owner)):
        if type(each.get(name)).__name__ == "member_descriptor":
            member = each[name]
            return lambda: slot(member, owner)
    descriptor = objects.class_member(type(owner), "__dict__")
    if type(descriptor) not in HOLDERS:
        raise expressions.InvalidExpression(f"{type(owner).__name__} holds no attribute {name}")
    held = descriptor.__get__
    return lambda: held(owner).get(name, NOTHING)


def _refuse_property(owner: Any, name: str) -> None:
    """Raise an error if an attribute of an object is a property, whose value its class computes.

    `name` is the attribute's name, `owner` the object. Otherwise nothing happens and nothing is returned;
    descriptors of other types pass, too. No code of the program runs.

    Raises:
        InvalidExpression: It is a property; the text names the attributes of `owner` that the property
            reads.
    """
    computed = objects.class_member(type(owner), name)
    if type(computed) is not property:
        return
    code = getattr(computed.fget, "__code__", None)
    held = objects.own_attributes(owner)
    reads = [each for each in getattr(code, "co_names", ()) if each in held]
    instead = f"; it reads {', '.join(reads)}: watch that" if reads else ""
    raise expressions.InvalidExpression(
        f"{name} is a property of {objects.name_of(type(owner))}, which holds no value{instead}"
    )


def slot(member: Any, owner: Any) -> Any:
    """Return what the slot `member` of an object holds; `NOTHING` if it is not set."""
    try:
        return member.__get__(owner)
    except AttributeError:
        return NOTHING


def item_reader(container: Any, key: Any) -> Callable[[], Any]:
    """Return a function that reads the item `key` of a dict, list or NumPy array.

    The function returns `NOTHING` while there is no such item; what a key of a wrong type raises leaves it. For a
    subclass of dict or list it uses the methods of these, so no code of the subclass runs, and a `defaultdict`
    stays as it is.

    Raises:
        InvalidExpression: It is another kind of container, or of a subclass of NumPy's array.
    """
    get: Any = None
    get_of_dict: Any = None
    for kind in KINDS:
        if issubclass(type(container), kind):
            get, get_of_dict = kind.__getitem__, getattr(kind, "get", None)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and type(container) is getattr(numpy, "ndarray", None):
        get = numpy.ndarray.__getitem__
    if get is None:
        raise expressions.InvalidExpression(
            f"items of {type(container).__name__} cannot be watched"
        )

    def read() -> Any:
        try:
            return get(container, key)
        except LookupError:
            return NOTHING

    if get_of_dict is not None:
        # `__getitem__` would call a subclass's `__missing__`.
        return lambda: get_of_dict(container, key, NOTHING)
    return read


# Rows of `LOOK_COLUMNS` about what is watched: where it could be read, and where not.


MAX_ROWS = 500
"""Rows."""


class Looks:
    """Writes rows about the watching of an expression: its first value in each function, and each error."""

    def __init__(self, point: int) -> None:
        """Create it; `point` is the number of the point for these rows; 0: none are written."""
        self._point = point
        self._codes: dict[int, Any] = {}
        """By number, since codes are compared slowly."""
        self._hits = itertools.count(1)

    def first(self, rows: Any, frame: Any, value: Any) -> None:
        """Write a row with a value of the expression, if it is the first one in this frame's code.

        `rows` is the `recording.Rows`.
        """
        code = frame.f_code
        if self._point and id(code) not in self._codes:
            self._codes[id(code)] = code
            self._write(rows, frame, text_of(value))

    def error_writer(self, rows: Any, frame: Any) -> Callable[[str], None]:
        """Return a function that writes a row for each new error of the expression in one frame's code.

        That function gets the error as a text that is ready to be a cell of a row, and writes each different text
        only once. `rows` is the `recording.Rows` to write to; `frame` gives the row its place and, at each call,
        its line. Nothing is written if this object has no point (the place that collects; number 0), or has
        numbered `MAX_ROWS` rows.
        """
        reported: set[str] = set()

        def missed(error: str) -> None:
            if self._point and error not in reported:
                reported.add(error)
                self._write(rows, frame, error)

        return missed

    def _write(self, rows: Any, frame: Any, cell: str) -> None:
        """Write a row for a frame with the text `cell`; behind `MAX_ROWS` rows nothing is written.

        `rows` is the `recording.Rows`.
        """
        hit = next(self._hits)
        if hit <= MAX_ROWS:
            head = f"{self._point}\t{hit}\t{rows.now()}\t\t\t"
            write(rows, f"{head}\t{place_of(frame.f_code)}\t{frame.f_lineno}\t{cell}\n")


def place_of(code: Any) -> str:
    """Return the columns of a code's function and file, with a tab between them."""
    return f"{functions.qualified(code)}\t{cells.escaped(code.co_filename)}"


def write(rows: Any, text: str) -> None:
    """Write a row to a `recording.Rows`, in its next chunk if this one is full.

    `text` is the row, with its line end; `rows` may count it as lost.
    """
    try:
        rows.write(text.encode())
    except ValueError:
        rows.write_to_next_chunk(text.encode())


EXPRESSIONS = (breaking.EXPRESSION, deadline.RECORDER)
"""Files of the code of conditions, and of what collects."""
HELD = (False, "", "it holds already")
"""What is known of an expression that holds already in a frame that runs; compared by identity."""
LIBRARIES = tuple(
    os.path.join(path, "")
    for path in {
        os.path.realpath(path) for path in sysconfig.get_paths().values() if path != sys.prefix
    }
    - {
        os.path.realpath(sysconfig.get_path("data")),
        os.path.realpath(sysconfig.get_path("scripts")),
    }
)


class WatchScope:
    """The code in which a watch looks: some files and functions, or all that is no library."""

    def __init__(self, spec: dict[str, Any] | None) -> None:
        """Create it from `files` and `functions` of `spec`.

        None or none of both: all code that is no library's.
        """
        spec = spec or {}
        files: list[str] = spec.get("files") or []
        self._files = {sources.normalized_path(sources.debuggee_path(each)) for each in files}
        self._functions: list[str] = spec.get("functions") or []

    def holds(self, frame: Any) -> bool:
        """Return whether a frame's code is in one of the scope's files or functions.

        A file that is made up, such as `<string>`, is never in the scope. A scope without files and functions
        holds all code that is neither the debugger's nor a library's.
        """
        file = frame.f_code.co_filename
        if file.startswith("<") and file.endswith(">"):
            return False
        if self._files or self._functions:
            return sources.normalized_path(file) in self._files or any(
                functions.matches(each, frame) for each in self._functions
            )
        ours = functions.is_own(frame.f_code, frame.f_globals)
        return not ours and not sources.normalized_path(file).startswith(LIBRARIES)


class PointWatch:
    """A watch of a point: `until` an expression holds (or changes), or who `writes` a value."""

    def __init__(self, point: Any, spec: dict[str, Any], frame: Any) -> None:
        """Parse what a point watches, and read it once; nothing is watched yet.

        `spec` is the point's part of the specification, `frame` the one in which its names are looked up. `point` is a
        `points.SpecifiedPoint`.

        Raises:
            InvalidExpression: What is watched does not parse, or does not exist in the frame.
        """
        self.point = point
        self.scope = WatchScope(spec.get("scope"))
        self.stops = bool(spec.get("stop", True))
        self.on_change = bool(spec.get("writes")) or spec.get("on") == "change"
        self.looks = Looks(spec.get("looks") or 0)
        self.code: Any = None
        self.expression = expressions.Expression(spec.get("until") or spec["writes"])
        self.read: Callable[[], Any] | None = None
        if spec.get("writes"):
            self._find(frame)
        self._known_state: Any = NOTHING if self.read is None else states.state(self.read())
        self._text = "" if self.read is None else text_of(self.read())

    def _find(self, frame: Any) -> None:
        """Find what the expression writes to, and set `read`, a function that reads it, or `code`.

        `code` is set for a local variable that has a value: the code of the function in whose calls it is looked at.
        Any other name counts as a global variable. `frame` is where names are looked up; code of the program may run
        to find the owner of an attribute or an item. A global variable, an attribute or an item that does not exist
        raises nothing: `read` then returns `NOTHING`.

        Raises:
            InvalidExpression: The expression is no variable, attribute or item, or its owner or key cannot be
                evaluated. Or what it names cannot be watched: a property, an attribute of an object that holds
                none, an item of another kind of container.
        """
        tree = ast.parse(self.expression.text, mode="eval").body
        known = {**frame.f_globals, **frame.f_locals}
        if isinstance(tree, ast.Name):
            there = stopped_frame(frame) or frame
            if there.f_locals is not there.f_globals and tree.id in there.f_locals:
                # A local variable: in each call of the function it is another one.
                self.code = getattr(there, "f_code", None)
            else:
                self.read = item_reader(there.f_globals, tree.id)
            return
        if not isinstance(tree, (ast.Attribute, ast.Subscript)):
            raise expressions.InvalidExpression(
                f"`{self.expression.text}` is no variable, attribute or item"
            )
        try:
            owner = evaluate_part(tree.value, known)
            if isinstance(tree, ast.Attribute):
                self.read = attribute_reader(owner, tree.attr)
            else:
                self.read = item_reader(owner, evaluate_part(tree.slice, known))
        except expressions.InvalidExpression:
            raise
        except Exception as error:
            raise expressions.InvalidExpression(
                f"`{self.expression.text}`: {type(error).__name__}: {error}"
            ) from None

    def concerns(self, frame: Any) -> bool:
        """Return whether a frame's code is one in which this watch looks, and its point wants more hits."""
        here = self.code is None or self.code is frame.f_code
        return here and not self.point.has_ended and self.scope.holds(frame)

    def looker(self, maker: Any, frame: Any) -> Any:
        """Return a function of a frame that gives the watched value; `NOTHING` where it has none there.

        For an `until` expression it gives a tuple, whether it is true and the value, or `NOTHING` itself. `maker` is a
        `recorders.Maker`, `frame` one of the code.
        """
        if self.read is not None:
            return functools.partial(ignoring, self.read)
        missed = self.looks.error_writer(maker.rows, frame)
        return maker.value(self.expression, frame, NOTHING, missed, holds=not self.on_change)

    def record_change(self, value: Any, seen: dict[Any, Any]) -> str | None:
        """Return the text from before, if the value has changed or the expression has come to hold; else None.

        The text is empty if there was no value before. The new value is remembered: in `seen`, or for a global
        variable, an attribute or an item in this watch. The first value in a call counts as no change, for a
        local variable and an `until` expression; but one that is true at once counts, with an empty text, if
        the watch stops the thread and `on` is not `change`.

        Args:
            value: The value that `looker`'s function has given.
            seen: What is known in this call of the function, by watch; it is changed.
        """
        if not self.on_change:
            return self._text_before_true(value, seen)
        now = states.state(value)
        if self.read is not None:
            if now == self._known_state:
                return None
            before, self._known_state, self._text = self._text, now, text_of(value)
            return before
        known = seen.get(self)
        if known is not None and known[0] == now:
            return None
        seen[self] = now, text_of(value)
        return None if known is None else str(known[1])

    def first(self, rows: Any, frame: Any, value: Any, seen: dict[Any, Any]) -> None:
        """Remember in `seen` what a value is in a frame that runs already; nothing is reported here.

        `value` is what `looker`'s function has given, but not `NOTHING`: for a watch on changes the value itself, for
        an `until` expression a pair, whether it is true and its value. `seen` is what is known in this call, by watch.
        A watch on changes takes the value for its first, so it is no change, and an `until` expression that is not true
        is remembered as such. If it is true already and its watch stops the thread, `HELD` is remembered: the next
        `look` reports that at line 0, if the expression still holds, and stops. If its watch only records, it counts as
        true before, so it has not come true. For the first value in a function, a row is written to `rows` (a
        `recording.Rows`), if the watch has a point.
        """
        if self.on_change:
            self.looks.first(rows, frame, value)
            seen[self] = states.state(value), text_of(value)
            return
        self.looks.first(rows, frame, value[1])
        if not value[0]:
            self._text_before_true(value, seen)
        elif self.stops:
            seen[self] = HELD
        else:
            seen[self] = True, ""

    def _text_before_true(self, value: Any, seen: dict[Any, Any]) -> str | None:
        """Remember a value in `seen`; return the text before it if the expression came true, else None.

        An expression comes true if it is true now and was not at the last look in this call of the function. The text
        is empty if there was no value before. Where the watch does not stop the thread, a value that is true at the
        first look gives None. `value` is `NOTHING`, or a tuple: whether the expression is true, and its value. `seen`
        is what is known in this call, by watch.
        """
        known = seen.get(self)
        if value is NOTHING:
            if known is None or known is HELD or known[0]:
                seen[self] = False, ""
            return None
        holds, now = value
        if known is None or known[0] is not holds or known[1] is not now:
            seen[self] = holds, now if type(now) is bool else cells.cell(now)
        if known is None:
            return "" if holds and self.stops else None
        return None if known[0] or not holds else str(known[1])


def ignoring(read: Callable[[], Any], _frame: Any) -> Any:
    """Return what `read` returns: it needs no frame."""
    return read()


def stopped_frame(evaluation_frame: Any) -> Any:
    """Return this thread's innermost frame whose locals are all in `evaluation_frame`; None: none is.

    The function is called from within an evaluation, to find the frame in which that is made:
    `evaluation_frame` is the evaluation's frame, whose `f_globals` and `f_locals` are copies of that frame's.
    Values are compared by identity. Frames of the debugger and of evaluations are passed by. A frame without
    local variables, or with only such as the frame in question has, too, counts as well: an evaluation in a
    caller of the innermost frame may get a wrong one.
    """
    frame: Any = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    known = {**evaluation_frame.f_globals, **evaluation_frame.f_locals}
    while frame is not None:
        local: dict[str, Any] = frame.f_locals
        if not is_own(frame) and all(
            known.get(each, NOTHING) is local[each] for each in list(local)
        ):
            return frame
        frame = frame.f_back
    return None


def is_own(frame: Any) -> bool:
    """Return whether a frame is the debugger's, or that of an evaluation."""
    module = str(frame.f_globals.get("__name__", ""))
    evaluated = frame.f_code.co_filename == "<string>" and frame.f_back is not None
    return module.startswith(functions.OWN) or (evaluated and is_own(frame.f_back))


class CodeWatches:
    """Looks at the watches of one code after each line; it can be a code's `watching`."""

    def __init__(self, watches: list[Any], lookers: list[Any], maker: Any) -> None:
        """Create it; `lookers` are what `PointWatch.looker` gave for each watch, `maker` makes cells."""
        self._watches = list(zip(watches, lookers))
        self._maker = maker
        self._cell_functions: dict[int, Any] = {}

    @property
    def over(self) -> bool:
        """Whether no watch wants more hits."""
        return all(watch.point.has_ended for watch, _look in self._watches)

    def look(self, frame: Any, line: int, seen: dict[Any, Any], _event: str) -> bool:
        """Write a row for each watch that has changed by the line that has ended; return whether to stop.

        A watch has changed if its value has, or if its `until` expression has become true; each such row counts
        as a hit of its point, which ends when it stops or has enough hits. `line` is the line that has ended,
        0: the function begins. `seen` is what is known in this call of the function, by watch, and is changed.
        Expressions are evaluated in `frame`, so code of the program may run. Passed by are watches whose point
        has ended, and those on changes of a local variable or expression that has no value there. The row of an
        expression that held when `begin` looked, of a watch that stops, has line 0. The result is True if one
        of these watches stops the thread; the caller stops it. `_event` is ignored.
        """
        stop = False
        for watch, look in self._watches:
            if watch.point.has_ended:
                continue
            value = look(frame)
            if value is NOTHING and watch.read is None and watch.on_change:
                continue
            if watch not in seen and watch.read is None and value is not NOTHING:
                watch.looks.first(self._maker.rows, frame, value if watch.on_change else value[1])
            at = 0 if seen.get(watch) is HELD else line
            before = watch.record_change(value, seen)
            if before is not None:
                after = value if watch.on_change else value[1]
                stop |= self._record(watch, frame, at, before, after)
        return stop

    def begin(self, frame: Any) -> tuple[int, dict[Any, Any]]:
        """Look at all watches in a frame that runs already; return its line, and what is known then.

        The second is a dict by watch, which later calls of `look` get as `seen`; it lacks watches of a value
        outside of calls (`read`), those whose point has ended, and those without a value here. Code of the program
        may run. No change is reported: an expression that holds already, of a watch that stops, is reported by the
        next `look`. Rows may be written of an expression's first value in this code, and of its errors.
        """
        seen: dict[Any, Any] = {}
        for watch, look in self._watches:
            value = NOTHING if watch.read is not None or watch.point.has_ended else look(frame)
            if value is not NOTHING:
                watch.first(self._maker.rows, frame, value, seen)
        return frame.f_lineno, seen

    def _record(self, watch: Any, frame: Any, line: int, before: str, value: Any) -> bool:
        """Write the row of a change, which counts as a hit of the point; return whether the thread is to stop.

        The row has the point's id, hit, time, context, function and file, line, the text before, that of the value now,
        and the values of the point's own expressions, which are evaluated in the frame. `watch` is a `PointWatch`; if
        it is to stop the thread, or if this hit is the last of `max_hits`, its point is ended first. `line` is the line
        that made the change (0: the value was so at the beginning), `before` the text from before (empty: there was
        none), `value` the value now.
        """
        point, rows, code = watch.point, self._maker.rows, frame.f_code
        hit = next(point.hits)
        if watch.stops or (point.max_hits and hit >= point.max_hits):
            point.end()
        if point.id not in self._cell_functions and point.expressions:
            self._cell_functions[point.id] = self._maker.cells(point, frame)
        more = self._cell_functions[point.id](frame, "") if point.expressions else ""
        head = (
            f"{point.id}\t{hit}\t{rows.now()}\t{contexts.context(frame)}\t{place_of(code)}\t{line}"
        )
        write(rows, f"{head}\t{before}\t{text_of(value)}{more}\n")
        return bool(watch.stops)


def stop_at(breakpoint_: Any, frame: Any) -> None:
    """Have pydevd stop this thread at the beginning of a function, and return when the thread is resumed.

    `frame` is the function's frame; `breakpoint_` is pydevd's `LineBreakpoint` or `FunctionBreakpoint`, whose
    condition and hit condition are evaluated in the frame, which may run code of the program, and must hold; a
    hit is counted where the condition does and there is a hit condition. One that raises counts as false, and
    is reported as a failure. Nothing is evaluated, and the thread does not stop, if an evaluation or a recorder
    has called the function. Without a debugger it does not stop.
    """
    thread: Any = threading.current_thread()
    constants: Any = importlib.import_module("_pydevd_bundle.pydevd_constants")
    state = getattr(thread, "additional_info", None)
    evaluates = state is not None and state.pydev_state == constants.STATE_SUSPEND
    outer = frame.f_back
    while outer is not None and not evaluates:
        evaluates = outer.f_code.co_filename in EXPRESSIONS
        outer = outer.f_back
    if not evaluates and breaking.conditions_hold(breakpoint_, frame):
        suspend(frame, "line", None, breakpoint_)


def suspend(frame: Any, event: str, argument: Any, at_function: Any = None) -> None:
    """Have pydevd stop this thread in a frame, as at a breakpoint, and return when it is resumed.

    `event` and `argument` are those of a trace function; `at_function` is pydevd's breakpoint of a function, if it is one. Nothing happens
    without a debugger, or in a thread of the debugger's.
    """
    pydevd: Any = importlib.import_module("pydevd")
    comm: Any = importlib.import_module("_pydevd_bundle.pydevd_comm_constants")
    info: Any = importlib.import_module("_pydevd_bundle.pydevd_additional_thread_info")
    debugger = pydevd.get_global_debugger()
    thread = threading.current_thread()
    if debugger is None or getattr(thread, "pydev_do_not_trace", False):
        return
    state = info.set_additional_thread_info(thread)
    # debugpy has that since 1.8.22.
    if at_function is not None and hasattr(state, "hit_breakpoint_ids"):
        state.hit_breakpoint_ids = [at_function.breakpoint_id]
    reason = comm.CMD_SET_BREAK if at_function is None else comm.CMD_SET_FUNCTION_BREAK
    debugger.set_suspend(thread, reason)
    debugger.do_wait_suspend(thread, frame, event, argument)
