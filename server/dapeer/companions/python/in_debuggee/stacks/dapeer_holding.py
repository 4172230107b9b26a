"""Finds which lock a frame waits for, and which locks its lines hold. Runs no code of the program.

Python does not tell who holds a lock. Who is inside of `with lock:`, or between `lock.acquire()` and `lock.release()` of one
function, holds it.
"""

from __future__ import annotations

import ast
import collections
import dis
import importlib
import itertools
import os
import threading
import tokenize
import types
from collections.abc import Iterator
from typing import Any

held: Any = importlib.import_module("in_debuggee.held")
paths: Any = importlib.import_module("in_debuggee.stacks.dapeer_paths")

LIBRARY = os.path.join(os.path.dirname(threading.__file__), "")
MAX_PARSED_BYTES = 4_000_000
"""Bytes of a file that is parsed."""
LOCKS = ("lock", "RLock", "_RLock", "Lock", "Condition")
ENTERS = ("BEFORE_WITH", "SETUP_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL")
"""Instructions that enter an item of a `with`; the last comes twice, once with the exit's name."""
AWAITED_BY_METHOD = {"get": "an item", "receive": "an item", "put": "room", "send": "room"}
"""What one waits for in methods of queues and channels."""
WITHS = (ast.With, ast.AsyncWith)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
TREES: dict[str, Any] = {}
"""By file: what its text parses to; None if it does not."""


def is_library(frame: Any) -> bool:
    """Whether a frame runs code of Python's library, or of a library of tasks."""
    if (frame.f_globals.get("__name__") or "").startswith(("trio.", "anyio.")):
        return True
    folder = os.path.dirname(frame.f_code.co_filename)
    is_inside = os.path.join(folder, "").startswith(LIBRARY)
    return (is_inside and "-packages" not in folder) or folder == ""


def waited_for(frame: Any) -> tuple[Any, str, bool]:
    """Return the lock for which a frame waits in C code, its name, whether it has a limit; None: none."""
    line, runs = frame.f_lineno, running(frame)
    found = within(frame)
    for node in found:
        if is_with(node) and (runs in ENTERS or runs.startswith("CALL")):
            here = [each for each in node.items if lines(each.context_expr, line)]
            entered = number_entered(frame)
            for each in here[max(entered - 1, 0) : max(entered, 1)]:
                lock = lock_at(each.context_expr, frame)
                if is_taken(lock):
                    return lock, text_of(each.context_expr), False
        elif is_call(node, "acquire") and lines(node, line) and "CALL" in runs:
            lock = lock_at(node.func.value, frame)
            if is_taken(lock):
                return lock, text_of(node.func.value), bool(node.args or node.keywords)
    return None, "", False


def taken(frames: list[Any]) -> Iterator[tuple[Any, str]]:
    """Yield the locks that the lines of frames hold, each with the file and line that has taken it."""
    for frame in itertools.filterfalse(is_library, frames):
        for node, line in held_by(frame):
            lock = lock_at(node, frame)
            if lock is not None:
                yield lock, f"{os.path.basename(frame.f_code.co_filename)}:{line}"


def held_by(frame: Any) -> Iterator[tuple[Any, int]]:
    """Yield the expressions whose locks a frame holds at its line, each with the line that has taken it."""
    found = within(frame)
    for node in found:
        if is_with(node):
            for each in node.items[: entered_of(node, frame)]:
                yield each.context_expr, each.context_expr.lineno
    yield from between_calls(found, frame.f_lineno)


def entered_of(node: Any, frame: Any) -> int:
    """Return how many items of a `with` a frame has entered, and not left."""
    line = frame.f_lineno
    # The body may begin on the line of the items.
    if not any(lines(each.context_expr, line) for each in node.items):
        inside = node.body[0].lineno <= line <= node.body[-1].end_lineno
        return len(node.items) if inside else 0
    before = sum(each.context_expr.lineno < line for each in node.items)
    return min(before + number_entered(frame) - enters(frame), len(node.items))


def enters(frame: Any) -> bool:
    """Whether a frame is still entering the item of a `with` that it has begun last."""
    last = ""
    since: list[str] = []
    for each in dis.get_instructions(frame.f_code):
        if each.offset > frame.f_lasti:
            break
        last, since = (each.opname, []) if each.opname in ENTERS else (last, [*since, each.opname])
    called = since[:1] == ["CALL"] and last == "LOAD_SPECIAL"
    awaits = since.count("GET_AWAITABLE") == 1 and last in ENTERS[2:]
    return bool(last) and (since == ["CALL"] * called or awaits)


def between_calls(found: list[Any], line: int) -> Iterator[tuple[Any, int]]:
    """Yield the expressions that one function acquires before a line and releases behind it."""
    acquired: dict[str, Any] = {}
    for node in found:
        if is_call(node, "acquire") and node.lineno < line:
            acquired[text_of(node.func.value)] = node
        elif is_call(node, "release"):
            taken = acquired.pop(text_of(node.func.value), None)
            if taken is not None and node.lineno > line:
                yield taken.func.value, taken.lineno


def running(frame: Any) -> str:
    """Return the name of the instruction at which a frame is."""
    found = (
        each.opname for each in dis.get_instructions(frame.f_code) if each.offset == frame.f_lasti
    )
    return next(found, "")


def is_taken(lock: Any) -> bool:
    """Whether it is a lock that somebody holds now."""
    return lock is not None and "unlocked" not in repr(lock)


def number_entered(frame: Any) -> int:
    """Return how many items of a `with` on its line a frame enters or has entered."""
    count, line = 0, None
    for each in dis.get_instructions(frame.f_code):
        line = line_of(each, line)
        exits = each.opname == "LOAD_SPECIAL" and "exit" in str(each.argrepr)
        if each.opname in ENTERS and not exits and line == frame.f_lineno:
            count += each.offset <= frame.f_lasti
    return count


def line_of(instruction: Any, before: Any) -> Any:
    """Return the line of an instruction; `before` is that of the one before."""
    if hasattr(instruction, "line_number"):
        return instruction.line_number
    return instruction.starts_line or before


def within(frame: Any) -> list[Any]:
    """Return the nodes of a frame's function, in the order of lines, without those of functions in it."""
    code = frame.f_code
    tree = parsed(code.co_filename)
    own = tree if code.co_name == "<module>" else None
    for node in ast.walk(tree) if tree is not None and own is None else ():
        first = min(
            [
                getattr(node, "lineno", 0),
                *(each.lineno for each in getattr(node, "decorator_list", ())),
            ]
        )
        if getattr(node, "name", "") == code.co_name and first == code.co_firstlineno:
            own = node
    found: Any = [*nodes(own)] if own is not None else []
    return sorted(found, key=lambda each: each.lineno)


def nodes(node: Any) -> Iterator[Any]:
    """Yield the nodes below one that have lines, without those of other functions and classes."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, DEFINITIONS):
            if hasattr(each, "lineno"):
                yield each
            yield from nodes(each)


def parsed(file: str) -> Any:
    """Return what a file of Python's parses to; None if it cannot be read."""
    if file not in TREES:
        TREES[file] = None
        try:
            if os.path.isfile(file) and os.path.getsize(file) < MAX_PARSED_BYTES:
                with tokenize.open(file) as text:
                    TREES[file] = ast.parse(text.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            pass
    return TREES[file]


def lines(node: Any, line: int) -> bool:
    """Whether an expression is on a line."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def is_with(node: Any) -> bool:
    """Whether a node is a `with`."""
    return isinstance(node, WITHS)


def is_call(node: Any, name: str) -> bool:
    """Whether a node calls a method of that name."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
    )


def text_of(node: Any) -> str:
    """Return an expression as text; Python 3.8 cannot."""
    if hasattr(ast, "unparse"):
        return ast.unparse(node)
    if isinstance(node, ast.Attribute):
        return f"{text_of(node.value)}.{node.attr}"
    return getattr(node, "id", "")


def lock_at(node: Any, frame: Any) -> Any:
    """Return the lock that an expression stands for, or the one of its condition; None if it is none."""
    try:
        found = paths.resolved(node, frame)
    except LookupError:
        return None
    module, kind = paths.kind_of(found)
    if module not in ("_thread", "threading", "asyncio.locks", "trio") or kind not in LOCKS:
        return None
    return plain(found).get("_lock", found) if kind == "Condition" else found


# -- objects of Python's library


def plain(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, without code of its class."""
    return held.attributes(value, type(value))


def name_of(value: Any, frame: Any) -> str:
    """Return how a frame's code may call a value: a variable, or an attribute of one."""
    spaces = [{**frame.f_locals}, frame.f_globals]
    for space in spaces:
        for name, each in [*space.items()]:
            if each is value:
                return name
    for name, each in [*spaces[0].items()]:
        for inner, one in plain(each).items():
            if one is value:
                # A library's object around it is known by its own name.
                return name if f"{type(each).__name__}__" in inner else f"{name}.{inner}"
    return ""


def size_of(queue: dict[str, Any]) -> int:
    """Return how many items the attributes of a queue hold."""
    items: Any = queue.get("queue", queue.get("_queue", queue.get("data")))
    kind: Any = type(items)  # pyright: ignore[reportUnknownVariableType]
    return len(items) if kind is list or kind is collections.deque else 0


def state_of(kind: str, function: str, mine: dict[str, Any]) -> str:
    """Return why one waits for an object of a library, as far as it shows."""
    if "Queue" in kind or "Channel" in kind:
        queue = plain(mine["_state"]) if "_state" in mine else mine
        size, limits = size_of(queue), ("maxsize", "_maxsize", "max_buffer_size")
        limit = next((queue[each] for each in limits if each in queue), 0)
        what = AWAITED_BY_METHOD.get(function, "its items to be done")
        return f"for {what}; it holds {size}" + (
            f" of {limit}" if limit or "_state" in mine else ""
        )
    if "Semaphore" in kind:
        return f"its value is {mine.get('_value')}"
    if kind == "CapacityLimiter":
        return f"all of its {mine.get('_total_tokens')} tokens are borrowed"
    if kind == "Barrier":
        return f"{mine.get('_count')} of {mine.get('_parties')} have come"
    if kind == "Popen":
        return f"for the end of process {mine.get('pid')}"
    return {"Event": "it is not set", "Condition": "to be notified"}.get(kind, "")


def called(function: Any) -> str:
    """Return the name of a function; `a function` where it has none of its own."""
    known = type(function) is types.FunctionType
    return function.__qualname__ if known else "a function"
