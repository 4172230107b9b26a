"""Expressions: whether those of a breakpoint parse, before it is set, and which values one compares.

An adapter tells of a mistake only when the line is reached, if it does, and the run is lost.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import ArgumentError
from dapeer.base.text.fitting import quoted
from dapeer.companions.python.dapeer_debuggee.stops.breaking import parts_of
from dapeer.sessions.debugger.debugger import Debugger

CORRECT: Final = "Nothing was changed; correct it."
_NEWER = re.compile(r"""\b(?:f|fr|rf|t|tr|rt)["']""", re.IGNORECASE)
"""A text whose grammar later versions of Python have widened: the program's own may read it."""
_UNFINISHED = re.compile(r"(?<![$:])(?:&&|\|\||[=!<>]=|(?<=[\w\])] )[+<>])\s*$")
"""The end of an expression that lacks an operand; Perl has a variable `$=`, Ruby a symbol `:==`."""
_BRACES = re.compile(r"(?<![$#\\])\{([^{}]*)\}")
"""An expression in a log message, in any language but shells, with `${…}`, and Ruby, with `#{…}`."""
MAX_OPERANDS = 5
"""Values of one expression."""


def check_breakpoint(
    debugger: Debugger, path: str, requested: Mapping[str, Any], adapter: str = ""
) -> None:
    """Check that all expressions of a breakpoint parse, as far as dapeer knows the language of its file.

    Expressions of Python are parsed. Of all other languages, known or not, only an operator without operand at
    the end is found, and in `collect` a brace without the other. With `expect`, the expressions of `collect`
    are not checked. The hit condition is compared with the patterns of the adapters. Nothing is changed or
    returned.

    Args:
        debugger: Its definitions tell the languages and adapters, and its sessions which adapters are live.
        path: The file of the breakpoint.
        requested: The breakpoint, in DAP's terms, with `expect` and `collect` of dapeer.
        adapter: The id of the adapter that gets the breakpoint; empty: those of live sessions. Where none of
            these takes such files, any that does.

    Raises:
        ArgumentError: An expression does not parse, `expect` is used outside of Python, or no adapter
            understands the hit condition.
    """
    python = is_python(debugger, path)
    if (expect := requested.get("expect")) and not python:
        raise ArgumentError(
            "`expect` works in Python.",
            f'Elsewhere give the opposite as condition="!({quoted(expect)})".',
        )
    check_expressions([expect] if expect else requested.get("collect", ()), python=python)
    if condition := requested.get("condition"):
        check_condition(condition, python=python)
    message = requested.get("logMessage", "")
    if python:
        for _, expression in parts_of(message):
            if expression:
                _check_python(expression, "`log_message`: ")
    else:
        for expression in _BRACES.findall(message):
            _check_finished(expression, "`log_message`: ")
    check_hits(requested.get("hitCondition"), adapters_of(debugger, path, adapter))


def adapters_of(debugger: Debugger, path: str, adapter: str = "") -> list[Definition]:
    """Return the definitions of the adapters that may get a breakpoint in a file.

    They are those that accept the file: of these the one with the id `adapter`, or those of live sessions where it is empty; all of them
    where there is none.
    """
    fit = {each.id: each for each in debugger.definitions.values() if each.accepts(path)}
    live = {each.adapter for each in debugger.sessions.live}
    chosen = [fit[name] for name in fit if name in ({adapter} if adapter else live)]
    return chosen or [*fit.values()]


def check_condition(condition: str, *, python: bool) -> None:
    """Raise an error if a breakpoint's condition does not parse.

    `python`: it is Python's; of other languages only a missing operand at the end is found.

    Raises:
        ArgumentError: The condition does not parse.
    """
    if python:
        _check_python(condition, "`condition`: ")
    else:
        _check_finished(condition, "`condition`: ")


def check_hits(hits: str | None, adapters: Sequence[Definition | None]) -> None:
    """Raise an error if no adapter understands a hit condition.

    `hits` is the hit condition, matched without space around it; `adapters` are the definitions of the
    adapters that may get it. An adapter understands what its definition's pattern `hit_conditions` matches as
    a whole. Everything is accepted without a condition (None or an empty text), without adapters, and where
    one of the adapters has no definition (None) or no pattern.

    Raises:
        ArgumentError: None of the adapters understands the condition.
    """
    forms = [each.quirks.hit_conditions if each is not None else "" for each in adapters]
    if hits and forms and all(form and not re.fullmatch(form, hits.strip()) for form in forms):
        names = " or ".join(each.id for each in adapters if each is not None)
        raise ArgumentError(
            f"`hit_condition`: {names} does not understand `{quoted(hits)}`.",
            "Nothing was changed; give the number of the hit, such as 3.",
        )


def check_expressions(expressions: Iterable[str], *, python: bool) -> None:
    """Raise an error if an expression to be collected does not parse.

    `python`: they are Python's, where a syntax error in one with an f-string or t-string passes; of other languages
    only unmatched braces and a missing operand at the end are found.

    Raises:
        ArgumentError: An expression does not parse.
    """
    for each in expressions:
        if python:
            _check_python(each)
        elif each.count("{") != each.count("}"):
            raise ArgumentError(f"The braces of `{quoted(each)}` do not match.", CORRECT)
        else:
            _check_finished(each)


def is_python(debugger: Debugger, path: str) -> bool:
    """Return whether expressions at a file are Python's, by the adapters that accept the file.

    `path` is that of a source file or of a program; the first line may be read if it has no suffix. For a
    path with a suffix one adapter for Python is enough; without a suffix, which may be a compiled program,
    all that accept it must be for Python. The result is False if no adapter accepts the path.
    """
    python = [
        each.collect.syntax == "python"
        for each in debugger.definitions.values()
        if each.accepts(path)
    ]
    return any(python) if Path(path).suffix else bool(python) and all(python)


def _check_finished(expression: str, argument: str = "") -> None:
    """Raise `ArgumentError` if an expression of any language ends with an operator that lacks an operand.

    `argument` is what the error's text begins with, such as "`condition`: ".
    """
    if _UNFINISHED.search(expression):
        raise ArgumentError(f"{argument}`{quoted(expression)}` is not complete.", CORRECT)


def _check_python(expression: str, argument: str = "") -> None:
    """Raise `ArgumentError` if an expression does not parse as Python.

    In an expression with an f-string or t-string a syntax error passes: the program's Python may be newer than
    dapeer's. Blanks around the expression do not count, and `await` is allowed. `argument` is what the error's
    text begins with.
    """
    try:
        # What a parser lets pass, such as `:=` in what is iterated, the compiler may not.
        with warnings.catch_warnings(action="ignore"):
            compile(
                expression.strip(), "", "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
            )
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SyntaxError) and _NEWER.search(expression):
            return
        what = getattr(error, "msg", None) or "it cannot be read"
        raise ArgumentError(
            f"{argument}`{quoted(expression)}` does not parse: {what}.", CORRECT
        ) from error


def operands(expression: str) -> list[str]:
    """Return the parts of a Python expression whose values explain its result, as source text.

    These are both sides of comparisons, arguments of calls, and what is iterated; constants and names of builtins are left out. At most
    `MAX_OPERANDS`, each once; empty if the expression does not parse.

    >>> operands("total >= 0 and len(items) == count"), operands("all(each.paid for each in orders)")
    (['total', 'len(items)', 'count'], ['orders'])
    >>> operands("check(*found, last)")
    ['found', 'last']
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(dict.fromkeys(map(ast.unparse, _operands(tree))))[:MAX_OPERANDS]


def _operands(tree: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an expression's tree whose values explain its result; may yield one twice.

    Of a comparison these are its sides that are no constants, not divided further. Of `and`, `or`, unary
    operators, `*x`, calls (the object of a method, and positional arguments) and comprehensions of lists
    and generators (what the first `for` runs over) they are the operands of those parts. Any other node
    is yielded itself; a constant and a name of `builtins` yield nothing.
    """
    if isinstance(tree, ast.Constant) or (
        isinstance(tree, ast.Name) and hasattr(builtins, tree.id)
    ):
        return
    if isinstance(tree, ast.Compare):
        yield from (
            each for each in (tree.left, *tree.comparators) if not isinstance(each, ast.Constant)
        )
    elif type(tree) in _PARTS:
        yield from (found for each in _PARTS[type(tree)](tree) for found in _operands(each))
    else:
        yield tree


def _called(tree: ast.Call) -> Sequence[ast.expr]:
    """Return the parts of a call to look into: the object of a method, and the positional arguments."""
    owner = [tree.func.value] if isinstance(tree.func, ast.Attribute) else []
    return [*owner, *tree.args]


_PARTS: Final[Mapping[type[ast.expr], Callable[[Any], Sequence[ast.expr]]]] = {
    ast.BoolOp: lambda tree: tree.values,
    ast.UnaryOp: lambda tree: [tree.operand],
    ast.Call: _called,
    ast.Starred: lambda tree: [tree.value],
    ast.GeneratorExp: lambda tree: [tree.generators[0].iter],
    ast.ListComp: lambda tree: [tree.generators[0].iter],
}
