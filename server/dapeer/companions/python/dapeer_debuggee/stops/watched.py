"""Values that are watched: how they are read without running any code of the program."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable
from typing import Any

from ..collecting import expressions
from ..values import cells, objects

NOTHING = object()
"""Stands for a value that is not there."""
KINDS: tuple[Any, ...] = (dict, list)
"""Containers whose items can be watched."""
HOLDERS = (types.GetSetDescriptorType, types.MemberDescriptorType)
"""What gives what an object holds: an instance, a class, a module."""


def text_of(value: Any) -> str:
    """Return a value as the text of a cell; empty for `NOTHING`."""
    return "" if value is NOTHING else str(cells.cell(value))


def valued(tree: ast.expr, known: dict[str, Any]) -> Any:
    """Return the value of a part of an expression with these names; it may run code of the program."""
    code = compile(
        ast.Expression(getattr(tree, "value", tree) if is_index(tree) else tree), "<watch>", "eval"
    )
    return eval(code, known)


def is_index(tree: ast.expr) -> bool:
    """Return whether a tree is the `ast.Index` that Python 3.8 puts around a key."""
    return type(tree).__name__ == "Index"


def attribute_of(owner: Any, name: str) -> Callable[[], Any]:
    """Return a function that reads an attribute which an object (`owner`) holds, without running any code.

    The function returns `NOTHING` once the attribute is gone.

    Raises:
        InvalidExpression: The object does not hold it: it is computed.
    """
    _refuse_property(owner, name)
    for each in () if issubclass(type(owner), type) else objects.namespaces(type(owner)):
        if type(each.get(name)).__name__ == "member_descriptor":
            member = each[name]
            return lambda: slot(member, owner)
    descriptor = objects.found(type(owner), "__dict__")
    if type(descriptor) not in HOLDERS:
        raise expressions.InvalidExpression(f"{type(owner).__name__} holds no attribute {name}")
    held = descriptor.__get__
    return lambda: held(owner).get(name, NOTHING)


def _refuse_property(owner: Any, name: str) -> None:
    """Check that an object's attribute is no property.

    Raises:
        InvalidExpression: It is one; the text names the attributes that it reads.
    """
    computed = objects.found(type(owner), name)
    if type(computed) is not property:
        return
    code = getattr(computed.fget, "__code__", None)
    held = objects.own(owner)
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


def reader_of(container: Any, key: Any) -> Callable[[], Any]:
    """Return a function that reads the item `key` of a dict, list or NumPy array.

    The function returns `NOTHING` once the item is gone.

    Raises:
        InvalidExpression: It is another kind of container.
    """
    get: Any = None
    for kind in KINDS:
        if issubclass(type(container), kind):
            get = kind.__getitem__
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

    return read
