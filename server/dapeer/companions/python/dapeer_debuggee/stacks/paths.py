"""Reads names, attributes and items in a frame, without running code of the program."""

from __future__ import annotations

import _thread
import ast
import importlib
import sys
import types
from typing import Any

from .. import held
from . import symbols

operator: Any = importlib.import_module("operator")

MODULE: Any = type.__dict__["__module__"]
MAX_MEMBERS = 100
"""Members of a value."""
MAX_VARIABLE_CHARS = 200
"""Characters of a variable."""
LARGEST_OPERAND = 2**63
"""Operands of an operator are smaller."""
OPERATORS: dict[Any, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
MISSING: Any = object()
"""What no value of the program is."""
DIVISIONS: Any = (operator.mod, operator.floordiv)
SECONDS_TO_EVALUATE = 2
"""An expression that runs code may take so long."""


def variables_of(frame: Any) -> list[tuple[str, Any]]:
    """Return the local variables of a frame, as pairs of name and value.

    Names that begin with `__` or `@`, and keys that are no strings, are left out; in a module's frame modules,
    classes, Python functions and built-in functions are left out, too. The list is a snapshot; the values are
    the program's own objects.
    """
    named = [*dict(frame.f_locals).items()]
    if frame.f_code.co_name == "<module>":
        known = (type, types.FunctionType, types.ModuleType, types.BuiltinFunctionType)
        named = [each for each in named if not issubclass(type(each[1]), known)]
    # A program can put other keys than names there.
    named = [each for each in named if type(each[0]) is str]
    return [(name, value) for name, value in named if not name.startswith(("__", "@"))]


def variable_texts(name: str, value: Any, max_chars: int = MAX_VARIABLE_CHARS) -> list[str]:
    """Return name, value (in about `max_chars` characters) and type of a variable, as texts."""
    return [name, held.value_text(value, max_chars, ()), held.NAME.__get__(type(value))]


def kind_of(value: Any) -> tuple[str, str]:
    """Return the module and the name of an object's class; neither the class nor its metaclass is asked."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    return str(MODULE.__get__(kind)), str(held.NAME.__get__(kind))


def first_members(value: Any) -> list[tuple[str, Any]]:
    """Return the first `MAX_MEMBERS` members of a dict, list, tuple or object, as (label, value) pairs.

    Labels are a dictionary's keys as texts of about 40 characters at most, indices such as `[0]` of a list or
    tuple, or, for any other object, the names of its attributes, public ones first, without those that
    begin with two underscores. The list is empty for an object without attributes, such as a set or a
    number, and for one whose class has a slot or property `__wrapped__`. No code of the program runs.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if issubclass(kind, dict):
        known: Any = dict
        items = [*known.items(value)][:MAX_MEMBERS]
        return [(held.value_text(key, 40, ()), each) for key, each in items]
    sequences: Any = (list, tuple)
    for known in sequences:
        if issubclass(kind, known):
            elements = known.__getitem__(value, slice(MAX_MEMBERS))
            return [(f"[{number}]", each) for number, each in enumerate(elements)]
    return [*held.attributes(value, kind).items()][:MAX_MEMBERS]


class NeedsCodeError(LookupError):
    """Code of the program would have to run."""


def value_at(path: str, frame: Any, *, runs: Any = False) -> Any:
    """Return a value in a frame: of a path such as `self.orders[3].price`, or any expression if it `runs`.

    Without `runs` no code of the program is run; with it, a thread of the debugger evaluates
    what needs code, which may run on there after `SECONDS_TO_EVALUATE`.

    Raises:
        LookupError: There is no such value, it does not parse, it raises, it takes longer than
            `SECONDS_TO_EVALUATE`, or (`NeedsCodeError`, without `runs`) code of the program would have to run.
    """
    try:
        tree = ast.parse(path.strip(), mode="eval")
        # `await x` parses, but does not compile.
        code: Any = compile(tree, "<dapeer>", "eval") if runs else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise LookupError(f"`{path}` does not parse") from None
    try:
        return read_expression(tree.body, frame)
    except NeedsCodeError:
        if not runs:
            raise
    return evaluate_aside(code, frame)


def evaluate_aside(code: types.CodeType, frame: Any) -> Any:
    """Return what a compiled expression gives with a frame's names, in a new thread that is not debugged.

    `code` is compiled for `eval`, and runs in the program; what it assigns to locals does not reach the
    frame. The call blocks for `SECONDS_TO_EVALUATE` at most; an expression that takes longer runs on in that
    thread.

    Raises:
        LookupError: The expression raises anything, or is not over in time; the message says which.
    """
    done = _thread.allocate_lock()
    done.acquire()
    ends: list[tuple[str, Any]] = []

    def run() -> None:
        """Evaluate the code; append the error (empty: none) and the value to `ends`, and release the lock."""
        try:
            ends.append(("", eval(code, frame.f_globals, dict(frame.f_locals))))
        except BaseException as error:
            ends.append((f"{held.NAME.__get__(type(error))}: {error}", None))
        finally:
            done.release()

    daemon: Any = importlib.import_module("_pydevd_bundle.pydevd_daemon_thread")
    debugger: Any = importlib.import_module("pydevd").get_global_debugger()
    daemon.run_as_pydevd_daemon_thread(debugger, run)
    if not done.acquire(timeout=SECONDS_TO_EVALUATE):
        raise LookupError(
            f"it is not over after {SECONDS_TO_EVALUATE} s, and runs on in a thread of the debugger's"
        )
    error, value = ends[0]
    if error:
        raise LookupError(error)
    return value


def read_expression(node: Any, frame: Any) -> Any:
    """Return the value of an expression in a frame, if it needs no code of the program.

    The expression may have names, attributes, items, constants, and operators of whole numbers. `node` is its
    tree, of the module `ast`: the expression itself, such as the `body` of what `ast.parse` returns in mode
    `eval`.

    Raises:
        LookupError: There is no such name, or a list, tuple or dictionary has no such item.
        NeedsCodeError: Code of the program would have to run; also for an attribute that is not found,
            a division by zero, and an operand of more than 63 bits. It is a kind of LookupError.
    """
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return compute_operation(node, frame)
    text = symbols.source_text(node)
    if isinstance(node, ast.Name):
        for space in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in space:
                return space[node.id]
        raise LookupError(f"no variable `{node.id}` in this frame")
    if isinstance(node, ast.Attribute):
        return attribute(read_expression(node.value, frame), node.attr, text)
    if isinstance(node, ast.Subscript):
        return item(read_expression(node.value, frame), read_expression(index(node), frame), text)
    if isinstance(node, ast.Constant):
        return node.value
    raise NeedsCodeError(f"`{text}` would run code: names, attributes and items can be read")


def compute_operation(node: Any, frame: Any) -> Any:
    """Return the result of an operator with whole numbers, or of a minus sign before one.

    `node` is an `ast.BinOp` or `ast.UnaryOp`, whose operands `read_expression` reads with the names of `frame`.
    `OPERATORS` are the operators that are computed. No code of the program runs.

    Raises:
        NeedsCodeError: Another operator, a division by 0, or an operand that needs code, or is no `int` (a
            `bool` is none) between -`LARGEST_OPERAND` and `LARGEST_OPERAND`, both exclusive.
        LookupError: An operand has a name or item that does not exist.
    """
    minus = isinstance(node, ast.UnaryOp)
    left = 0 if minus else read_expression(node.left, frame)
    right = read_expression(node.operand if minus else node.right, frame)
    operate = OPERATORS.get(ast.Sub if type(node.op) is ast.USub else type(node.op))
    small = all(type(each) is int and abs(each) < LARGEST_OPERAND for each in (left, right))
    if operate is None or not small or (not right and operate in DIVISIONS):
        raise NeedsCodeError(f"`{symbols.source_text(node)}` would run code")
    return operate(left, right)


def index(node: Any) -> Any:
    """Return the tree of the index of an `ast.Subscript`, which Python 3.8 wraps."""
    return getattr(node.slice, "value", node.slice) if sys.version_info < (3, 9) else node.slice


def attribute(value: Any, name: str, text: str) -> Any:
    """Return the attribute `name` of a value, read without code of the program.

    The attribute is looked for among the object's own (as `held.attributes` returns them; all of a
    module's), then in its class and the bases of that; for a class as `value`, in this class and its bases.
    `text` is the expression, for errors. A name with two leading underscores is also found in its mangled
    form, among the object's own attributes only.

    Raises:
        NeedsCodeError: There is no such attribute, or it is found in a class and is a method, descriptor or
            property.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    mine = held.attributes(value, kind)
    if kind is types.ModuleType:
        mine = object.__getattribute__(value, "__dict__")
    if name in mine:
        return mine[name]
    if name.startswith("__"):
        classes = (held.NAME.__get__(each).lstrip("_") for each in held.MRO.__get__(kind))
        mangled = next((each for each in (f"_{own}{name}" for own in classes) if each in mine), "")
        if mangled:
            return mine[mangled]
    of_class = held.class_member(value if issubclass(kind, type) else kind, name, MISSING)
    if of_class is MISSING or held.class_member(type(of_class), "__get__") is not None:
        raise NeedsCodeError(f"`{text}` is not there, or would run code")
    return of_class


def item(value: Any, key: Any, text: str) -> Any:
    """Return the item of a list, tuple or dictionary at a plain key; `text` is the expression, for errors.

    A plain key is a number, text, bytes or None, no slice; of a list or tuple, it is an index, which may be
    negative. A subclass of these containers is read as its base does: no `__missing__` or `__getitem__` of it
    runs.

    Raises:
        LookupError: There is no such item, or a list or tuple has a key that is no whole number.
        NeedsCodeError: The container or the key is of another kind, so code would have to run.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    plain = type(key) in (int, str, bytes, bool, float, type(None))
    containers: Any = (dict, list, tuple)
    for known in containers:
        if issubclass(kind, known) and plain:
            # `__getitem__` of a dict would call a subclass's `__missing__`.
            get: Any = getattr(known, "get", None)
            try:
                found = get(value, key, MISSING) if get else known.__getitem__(value, key)
            except (IndexError, TypeError):
                found = MISSING
            if found is MISSING:
                raise LookupError(f"`{text}` is not there")
            return found
    raise NeedsCodeError(f"`{text}` would run code")
