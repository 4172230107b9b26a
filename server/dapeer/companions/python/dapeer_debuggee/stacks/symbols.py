"""Reads what instructions have put on the stack as expressions: names, attributes, items, calls."""

from __future__ import annotations

import ast
import sys
from typing import Any

NULL = ast.Constant(value=...)
"""What some instructions put beside a function that is called."""
NAMES = (
    "LOAD_FAST",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_BORROW",
    "LOAD_NAME",
    "LOAD_GLOBAL",
    "LOAD_DEREF",
    "LOAD_CLASSDEREF",
)
PAIRS = ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
STORES = ("STORE_", "DELETE_")
SILENT = (
    *("CACHE", "RESUME", "NOP", "EXTENDED_ARG", "PRECALL", "KW_NAMES", "COPY_FREE_VARS"),
    *("MAKE_CELL", "GET_AWAITABLE", "TO_BOOL", "NOT_TAKEN", "GEN_START"),
)
"""Instructions that leave what is known of the stack as it is."""
POPS = ("POP_TOP", "STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "%": ast.Mod,
    "//": ast.FloorDiv,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
    ">>": ast.RShift,
}
OLD_OPERATORS = {
    "BINARY_ADD": "+",
    "BINARY_SUBTRACT": "-",
    "BINARY_MULTIPLY": "*",
    "BINARY_MODULO": "%",
    "BINARY_FLOOR_DIVIDE": "//",
    "BINARY_AND": "&",
    "BINARY_OR": "|",
    "BINARY_XOR": "^",
    "BINARY_RSHIFT": ">>",
}
"""Instructions of Python up to 3.10."""


def stacks(steps: list[Any]) -> list[list[Any]]:
    """Return for each instruction what is known of the value stack before it.

    The result has one list for each of `steps`, in their order. It is a list of expressions, the top last:
    each is a tree of `ast`, None for an unknown value, or `NULL` for one that is not the program's. A list
    may be shorter than the stack: what is below is unknown; it is empty at the target of a jump. Several
    instructions may share one list, so the caller must not change them. `steps` are the `dis.Instruction`s of
    a function.
    """
    found: list[list[Any]] = []
    stack: list[Any] = []
    for step in steps:
        stack = [] if step.is_jump_target else stack
        found.append(stack)
        stack = stack_after(step, stack)
    return found


def stack_after(step: Any, stack: list[Any]) -> list[Any]:
    """Return what is known of the value stack behind an instruction; `stack` is what is known before it.

    Both are lists of expressions, the top last: trees of `ast`, None for an unknown value, or `NULL`. What is below them is unknown; so is
    all behind an instruction that is not known, where the list is empty. `step` is a `dis.Instruction`.
    """
    name = step.opname
    if name in SILENT:
        return stack
    if name in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SPECIAL"):
        return stack_after_attribute(step, stack)
    if name == "BINARY_SLICE":  # the container, and two ends
        return [*stack[:-3], None]
    if name.startswith("BINARY_"):
        return [*stack[:-2], binary(step, stack)]
    if name.startswith("CALL"):
        return [*stack[: max(len(stack) - size_of(step), 0)], ast_call(step, stack)]
    if name in POPS:
        return stack[:-1]
    pushed = pushed_expressions(step)
    return [*stack, *pushed] if pushed else stack_after_move(step, stack)


def pushed_expressions(step: Any) -> list[Any]:
    """Return the names and constants that an instruction loads on the stack; empty if it loads none.

    The expressions are nodes of `ast`, several for an instruction that loads several. `NULL`, for the empty
    place beside a function that is to be called, comes before the function's name, also where Python pushes it
    behind. An instruction that takes something from the stack, such as `LOAD_ATTR`, gives an empty list. `step`
    is a `dis.Instruction`.
    """
    name, arg = step.opname, step.argval
    if name == "PUSH_NULL":
        return [NULL]
    if name in NAMES:
        both = name == "LOAD_GLOBAL" and "NULL" in str(step.argrepr)
        return [*[NULL] * both, ast.Name(id=arg)]
    if name in PAIRS:
        return [ast.Name(id=each) for each in arg]
    return [ast.Constant(value=arg)] if name in ("LOAD_CONST", "LOAD_SMALL_INT") else []


def stack_after_move(step: Any, stack: list[Any]) -> list[Any]:
    """Return what is known of the stack behind a `COPY` or `SWAP` of its values; empty: nothing is known.

    It is empty behind any other instruction, also `DUP_TOP` and `ROT_TWO` of older versions of Python, and if the
    instruction reaches deeper than what is known. `step` is a `dis.Instruction`, `stack` what is known of the stack
    before it, the top last; `stack` is not changed.
    """
    arg = step.argval
    if step.opname == "COPY" and len(stack) >= arg:
        return [*stack, stack[-arg]]
    if step.opname == "SWAP" and len(stack) >= arg:
        swapped = [*stack]
        swapped[-1], swapped[-arg] = swapped[-arg], swapped[-1]
        return swapped
    return []


def stack_after_attribute(step: Any, stack: list[Any]) -> list[Any]:
    """Return the stack behind an instruction that replaces its top by an attribute or a method.

    `step` is a `dis.Instruction`, `stack` what is known of the stack before it.
    """
    name = str(step.argval if step.opname != "LOAD_SPECIAL" else step.argrepr)
    owner = stack[-1] if stack else None
    found = None if owner is None else ast.Attribute(value=owner, attr=name)
    both = step.opname != "LOAD_ATTR" or (sys.version_info >= (3, 12) and bool(step.arg & 1))
    return [*stack[:-1], *[NULL] * both, found]


def binary(step: Any, stack: list[Any]) -> Any:
    """Return the expression of an item (`a[b]`) or of an operator, which an instruction computes.

    The expression is a node of `ast`. It is None if one of the two operands is unknown, or the operator is
    none of `OPERATORS`. `step` is a `dis.Instruction`. `stack` has the expression of each value on the stack
    before the instruction, the top last, None for one that is unknown; it stays unchanged.
    """
    left, right = stack[-2:] if len(stack) > 1 else (None, None)
    if left is None or right is None:
        return None
    sign = OLD_OPERATORS.get(step.opname, str(step.argrepr))
    if step.opname == "BINARY_SUBSCR" or sign == "[]":
        known: Any = ast
        # Python 3.8 wraps it.
        wrapped = known.Index(value=right) if sys.version_info < (3, 9) else right
        return ast.Subscript(value=left, slice=wrapped)
    return ast.BinOp(left=left, op=OPERATORS[sign](), right=right) if sign in OPERATORS else None


def has_names(step: Any) -> bool:
    """Return whether a call instruction has the names of keyword arguments on the stack."""
    return step.opname.endswith("_KW") and step.opname != "CALL_INTRINSIC_KW"


def size_of(step: Any) -> int:
    """Return how many elements of the stack a call instruction removes; 1000, so all, if unknown.

    `step` is a `dis.Instruction`.
    """
    if step.opname in ("CALL_FUNCTION_EX", "CALL_FINALLY") or "INTRINSIC" in step.opname:
        return 1000
    twice = step.opname in ("CALL", "CALL_METHOD", "CALL_KW")
    return int(step.arg or 0) + has_names(step) + 1 + twice


def ast_call(step: Any, stack: list[Any]) -> Any:
    """Return an `ast.Call` for the call that an instruction makes, with all arguments as positional ones.

    `step` is a `dis.Instruction` of a call. `stack` is what is known of the stack before the call, the top last; it
    stays as it is. Values of keyword arguments are among the positional ones, without their names; an unknown
    argument is None. The result is None if `stack` is too short, the function is unknown, or the call unpacks its
    arguments, as `f(*x)`.
    """
    size = size_of(step)
    if len(stack) < size:
        return None
    taken = stack[-size:]
    count = int(step.arg or 0)
    arguments = taken[size - count - has_names(step) :][:count]
    function = next(
        (each for each in taken[: size - count - has_names(step)] if each is not NULL), None
    )
    return None if function is None else ast.Call(func=function, args=arguments, keywords=[])


def without_time_limit(node: Any) -> Any:
    """Return the awaitable that a call of `asyncio.wait_for` gets; any other expression unchanged."""
    if isinstance(node, ast.Call) and node.args and source_text(node.func).endswith("wait_for"):
        return node.args[0]
    return node


def receiver(node: Any, method: str) -> Any:
    """Return the expression before `.METHOD(…)` if `node` is a call of the method with the name `method`.

    `node` is a tree of `ast` or None. None: it calls another method, or is no such call.
    """
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
    ):
        return node.func.value
    return None


def is_changed(node: Any, step: Any) -> bool:
    """Return whether an instruction stores or deletes a name, attribute or item of an expression.

    `node` is a tree of `ast`; for None it is False. `step` is a `dis.Instruction`. A variable counts by its
    name alone, whatever its scope, and an attribute, whatever object has it; any stored or deleted item counts
    if the expression has an item or a slice.
    """
    if node is None or not step.opname.startswith(STORES):
        return False
    arg: Any = step.argval
    several = issubclass(type(arg), tuple)
    names: Any = arg if several else (arg,)
    if step.opname.endswith("_LOAD_FAST"):  # it stores the first one, and loads the other
        names = names[:1]
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and step.opname.endswith(("_SUBSCR", "_SLICE")):
            return True
        if isinstance(each, ast.Attribute) and step.opname.endswith("_ATTR") and each.attr in names:
            return True
        if isinstance(each, ast.Name) and not step.opname.endswith("_ATTR") and each.id in names:
            return True
    return False


def line_of(step: Any, before: Any) -> Any:
    """Return the line of a `dis.Instruction`; if it has none of its own, the line `before`."""
    if hasattr(step, "line_number"):
        return step.line_number or before
    return step.starts_line or before


def source_text(node: Any) -> str:
    """Return the source text of an expression of names, attributes, items, constants and binary operators.

    Any other part of the expression, such as a call or an operator with one operand, becomes `?`. Each
    operation is in parentheses, and a constant is written as its `repr`; an operator that is not in
    `OPERATORS` is written as `?`. `node` is a node of `ast`; None, for an unknown value, gives `?`.
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{source_text(node.value)}.{node.attr}"
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Subscript):
        inner: Any = node.slice
        inner = getattr(inner, "value", inner) if type(inner).__name__ == "Index" else inner
        return f"{source_text(node.value)}[{source_text(inner)}]"
    if isinstance(node, ast.BinOp):
        sign = next((sign for sign, kind in OPERATORS.items() if isinstance(node.op, kind)), "?")
        return f"({source_text(node.left)} {sign} {source_text(node.right)})"
    return "?"
