"""Expressions of SQLAlchemy in the debuggee, with their parameters in their places.

What would run code of the program, or take long, shows itself: constructs and types that the program has defined, and what is large.
"""

from __future__ import annotations

import importlib
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

objects: Any = importlib.import_module("in_debuggee.dapeer_objects")

MOST = 300
"""Parts of an expression: their text is made in some ten milliseconds."""
HOOKS = ("bind_expression", "column_expression", "_compiler_dispatcher")
"""What a type or construct defines by which it takes part in writing SQL."""
PARAMETER = re.compile(r"\(__\[POSTCOMPILE_(\w+)\]\)|(?<!:):([A-Za-z_]\w*)")

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in as many characters."""


def described(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return an expression of SQL with its parameters in their places; None: it is none, or shows itself."""
    attributes = sys.modules.get("sqlalchemy.orm.attributes")
    if attributes is not None and isinstance(value, attributes.QueryableAttribute):
        return str(value)
    if not is_expression(value):
        return None
    if not is_small(value):
        return f"<{kind.__name__} of more than {MOST} parts>"
    if not all(map(is_known, parts(value))):
        return None
    compiled = value.compile()
    held: dict[str, Any] = compiled.params

    def parameter(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in held:
            return match[0]
        if not match[1]:
            return show(held[name], room)
        told = show(tuple(held[name]), room)
        return told.replace(",)", ")")

    return PARAMETER.sub(parameter, " ".join(str(compiled).split()))


def is_expression(value: Any) -> bool:
    """Whether something is written as SQL; a table, for one, is not."""
    elements = sys.modules.get("sqlalchemy.sql.elements")
    if elements is None or not isinstance(value, elements.ClauseElement):
        return False
    return not isinstance(value, sys.modules["sqlalchemy.sql.schema"].SchemaItem)


def parts(value: Any) -> Iterator[Any]:
    """Yield what an expression consists of."""
    yield from sys.modules["sqlalchemy.sql.visitors"].iterate(value)


def is_small(value: Any) -> bool:
    """Whether the text of an expression is made soon."""
    rows = sum(map(len, getattr(value, "_multi_values", None) or ()))
    return rows + sum(1 for _ in itertools.islice(parts(value), MOST + 1)) <= MOST


def is_known(part: Any) -> bool:
    """Whether a part of an expression is SQLAlchemy's own, and what it is mapped to is ready.

    SQLAlchemy gets mapped classes ready when the first text is made of one. If others are still to be
    defined, that fails, and the program fails with it later on.
    """
    mapper = getattr(getattr(part, "_annotations", {}).get("parententity"), "mapper", None)
    if mapper is not None and not mapper.configured:
        return False
    return is_own(type(part)) and is_own(type(getattr(part, "type", None)))


def is_own(kind: Any) -> bool:
    """Whether a class takes no code of the program into the making of SQL."""
    for name in HOOKS:
        hook: Any = objects.found(kind, name)
        module = getattr(hook, "__module__", None) or type(hook).__module__
        if hook is not None and (name == HOOKS[-1] or module.partition(".")[0] != "sqlalchemy"):
            return False
    package = kind.__module__.partition(".")[0]
    return package in ("sqlalchemy", "builtins") or hasattr(kind, "impl")
