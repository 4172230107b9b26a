"""Expressions of a collecting point: parsed once, and the names that they read from a frame."""

from __future__ import annotations

import ast
import inspect
from types import CodeType
from typing import Any

OF_A_FRAME = frozenset({"locals", "vars", "dir", "eval", "exec", "globals", "super"})
"""What tells of the frame that it is called in."""
OURS = "_dapeer_"
"""Begins the names that a recorder uses itself."""


class Refused(Exception):
    """An expression cannot be evaluated anywhere; the text says why."""


class Expression:
    """One expression of a point, and how often it was cut off."""

    def __init__(self, text: str) -> None:
        """Take its text.

        Raises:
            Refused: It does not parse.
        """
        self.text = text.strip()
        self.code = checked(self.text)
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
        self.cut_off = 0

    def reads(self, code: CodeType, *, one_namespace: bool) -> list[str]:
        """Return the statements that read its names of a frame of a code; what is not read is global.

        Args:
            code: Whose frame it is.
            one_namespace: Its local names are those of its module.
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


def checked(text: str) -> CodeType:
    """Return an expression, compiled.

    Raises:
        Refused: It does not parse.
    """
    try:
        return compile(text, "<collect>", "eval", dont_inherit=True)
    except SyntaxError as error:
        raise Refused(f"`{text}` does not parse: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"`{text}` does not parse: {error}") from None


def find(name: str, frame: Any) -> Any:
    """Return what a name stands for in the body of a class.

    Raises:
        NameError: It stands for nothing.
    """
    for place in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if name in place:
            return place[name]
    raise NameError(f"name {name!r} is not defined")
