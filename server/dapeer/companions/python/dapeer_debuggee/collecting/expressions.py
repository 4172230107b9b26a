"""Expressions of a collecting point: parsed once, and the names that they read from a frame."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

OF_A_FRAME = frozenset({"locals", "vars", "dir", "eval", "exec", "globals", "super"})
"""What tells of the frame that it is called in."""
OURS = "_dapeer_"
"""Begins the names that a recorder uses itself."""
SLOW_SECONDS = 0.001
"""Seconds: to fail may take so long, and is never held against an expression."""
MIN_FAILURES = 3
"""So often an expression may fail slowly, whatever its share is."""
MAX_SHARE = 0.1
"""Of the time since it was evaluated first: what fails slowly may take it."""
SHARE_IN_WORDS = "a tenth"


class InvalidExpression(Exception):
    """An expression cannot be evaluated anywhere; the text says why."""


class Expression:
    """One expression of a point, and what its failures have cost."""

    def __init__(self, text: str) -> None:
        """Parse and compile an expression, and find the names that it reads.

        Raises:
            InvalidExpression: It does not parse.
        """
        self.text = text.strip()
        self.code = compile_expression(self.text)
        tree = ast.parse(self.text, mode="eval").body
        nodes = list(ast.walk(tree))
        named = [each for each in nodes if isinstance(each, ast.Name)]
        self.names = {each.id for each in named}
        self.bound = {each.id for each in named if not isinstance(each.ctx, ast.Load)}
        self.bound |= {each.arg for each in nodes if isinstance(each, ast.arg)}
        self.runs_code = not isinstance(tree, (ast.Name, ast.Constant))
        self.is_name = isinstance(tree, ast.Name)
        self.asks_frame = bool(self.names & OF_A_FRAME) or any(
            each.startswith(OURS) for each in self.names
        )
        self._certain_names = sorted({*names_always_read(tree)} - self.bound)
        self._failure_count = 0
        self._seconds_spent = 0.0
        self._first_failure_time = 0.0

    def record_failure(self, since: float, now: float) -> None:
        """Note that an evaluation from `since` to `now` (`perf_counter`) has failed; only slow ones count."""
        if now - since > SLOW_SECONDS:
            self._first_failure_time = self._first_failure_time or since
            self._failure_count += 1
            self._seconds_spent += now - since

    def waits(self, now: float) -> bool:
        """Return whether it is not to be evaluated at a time (`perf_counter`).

        That is while its slow failures have taken more than `MAX_SHARE` of all time.
        """
        return self._failure_count >= MIN_FAILURES and self._seconds_spent > MAX_SHARE * (
            now - self._first_failure_time
        )

    def unknown(self, frame: Any) -> tuple[str, ...]:
        """Return the names that it always reads and that are in no scope of a frame's code."""
        code, found = frame.f_code, ()
        if code.co_flags & inspect.CO_OPTIMIZED:
            found = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        names = (each for each in self._certain_names if each not in found)
        return tuple(each for each in names if lacks((each,), frame))

    def reads(self, code: CodeType, *, one_namespace: bool) -> list[str]:
        """Return statements that read the expression's names from a frame, each into a variable of its name.

        In a function, each local name that the expression uses is read from `$locals`; one that the expression
        itself binds is read only if it is there. In a class's body, each name that the expression does not bind,
        even a global or built-in one, is read by `$find(name, $frame)`, which raises NameError if there is none. In
        a module the list is empty, since all names are global where the statements run. The caller replaces `$` by
        the beginning of dapeer's own names.

        Args:
            code: The code of the frame.
            one_namespace: Whether the frame's local names are those of its module; it does not count in a function.
        """
        if code.co_flags & inspect.CO_OPTIMIZED:
            names = sorted(self.names & {*code.co_varnames, *code.co_cellvars, *code.co_freevars})
            return [
                f"if {each!r} in $locals: {each} = $locals[{each!r}]"
                if each in self.bound
                else f"{each} = $locals[{each!r}]"
                for each in names
            ]
        if one_namespace:
            return []
        return [f"{each} = $find({each!r}, $frame)" for each in sorted(self.names - self.bound)]


def names_always_read(tree: ast.AST) -> Iterator[str]:
    """Yield the names that an expression reads whenever its evaluation ends without an error.

    `tree` is the expression's `ast` node. Names that are read only sometimes, such as those behind `or` or in the
    body of a comprehension, are left out. A lambda is left out as a whole, with the defaults of its parameters,
    although those are always read. A name may be yielded several times; the target of a `:=` is yielded, too.
    """
    if isinstance(tree, ast.Name):
        yield tree.id
        return
    parts: Iterable[ast.AST] = ast.iter_child_nodes(tree)
    if isinstance(tree, ast.BoolOp):
        parts = tree.values[:1]
    elif isinstance(tree, ast.IfExp):
        parts = [tree.test]
    elif isinstance(tree, ast.Compare):
        parts = [tree.left, tree.comparators[0]]
    elif isinstance(tree, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        parts = [tree.generators[0].iter]
    elif isinstance(tree, ast.Lambda):
        parts = []
    for each in parts:
        yield from names_always_read(each)


def lacks(names: tuple[str, ...], frame: Any) -> bool:
    """Return whether one of `names` is neither local to a frame's module or class, global, nor built-in.

    False also if looking there might run code of the program. The names must be no variables of a function's code.
    """
    places: list[Any] = [frame.f_globals, frame.f_builtins]
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        places.append(frame.f_locals)
    if any(type(each) is not dict for each in places):
        # To look there may run code of the program's.
        return False
    return any(all(name not in place for place in places) for name in names)


def compile_expression(text: str) -> CodeType:
    """Return the compiled code of an expression, for `eval`.

    `text` has no space before it, since that does not parse; it is not evaluated here. Python's warnings on it
    (`SyntaxWarning`) are not suppressed.

    Raises:
        InvalidExpression: The text does not parse, has a NUL, or is nested too deeply; the error says why.
    """
    try:
        return compile(text, "<collect>", "eval", dont_inherit=True)
    except SyntaxError as error:
        raise InvalidExpression(f"`{text}` does not parse: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidExpression(f"`{text}` does not parse: {error}") from None


def find(name: str, frame: Any) -> Any:
    """Return the value of a name in a class's body: local, global or built-in.

    Raises:
        NameError: It has none.
    """
    for place in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if name in place:
            return place[name]
    raise NameError(f"name {name!r} is not defined")
