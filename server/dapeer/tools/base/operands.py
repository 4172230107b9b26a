"""The values of an expression that tell why it does not hold. Pure."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

MAX_OPERANDS = 5
"""Values of one expression."""


def operands(expression: str) -> list[str]:
    """Return what an expression compares, or asks.

    >>> operands("total >= 0 and len(items) == count"), operands("all(each.paid for each in orders)")
    (['total', 'len(items)', 'count'], ['orders'])
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(dict.fromkeys(map(ast.unparse, _operands(tree))))[:MAX_OPERANDS]


def _operands(tree: ast.expr) -> Iterator[ast.expr]:
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
    owner = [tree.func.value] if isinstance(tree.func, ast.Attribute) else []
    return [*owner, *tree.args]


_PARTS: Final[Mapping[type[ast.expr], Callable[[Any], Sequence[ast.expr]]]] = {
    ast.BoolOp: lambda tree: tree.values,
    ast.UnaryOp: lambda tree: [tree.operand],
    ast.Call: _called,
    ast.GeneratorExp: lambda tree: [tree.generators[0].iter],
    ast.ListComp: lambda tree: [tree.generators[0].iter],
}
