"""Shows SQL expressions of SQLAlchemy with their parameters filled in.

Expressions with constructs or types of the program's own, and large ones, are not compiled: that would run code of the
program, or take long.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import objects

MAX_PARTS = 300
"""Parts of the largest expression that is compiled, which takes some ten milliseconds."""
HOOKS = ("bind_expression", "column_expression", "_compiler_dispatcher")
"""Methods by which a type or construct takes part in compiling SQL."""
PARAMETER = re.compile(r"\(__\[POSTCOMPILE_(\w+)\]\)|(?<!:):([A-Za-z_]\w*)")

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in at most that many characters."""


def describe_statement(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return an SQL expression of SQLAlchemy with its parameters filled in, in one line.

    It is None for all else. A large one, or one with types of the program, is only named. `show` makes the text of a parameter in `room`
    characters.
    """
    attributes = sys.modules.get("sqlalchemy.orm.attributes")
    if attributes is not None and issubclass(kind, attributes.QueryableAttribute):
        return str(value)
    if not is_expression(value):
        return None
    if not is_small(value):
        return f"<{kind.__name__} of more than {MAX_PARTS} parts>"
    if not all(map(is_known_part, statement_parts(value))):
        return f"<{objects.name_of(kind)}, not compiled>"
    compiled = value.compile()
    held: dict[str, Any] = compiled.params

    def parameter(match: re.Match[str]) -> str:
        """Return the text of a parameter's value, or the match itself if it is none."""
        name = match[1] or match[2]
        if name not in held:
            return match[0]
        if not match[1]:
            return show(held[name], room)
        shown = show(tuple(held[name]), room)
        return shown.replace(",)", ")")

    return PARAMETER.sub(parameter, " ".join(str(compiled).split()))


def is_expression(value: Any) -> bool:
    """Return whether an object is an SQL expression of SQLAlchemy; a table or column of a schema is not."""
    elements = sys.modules.get("sqlalchemy.sql.elements")
    if elements is None or not isinstance(value, elements.ClauseElement):
        return False
    return not isinstance(value, sys.modules["sqlalchemy.sql.schema"].SchemaItem)


def statement_parts(value: Any) -> Iterator[Any]:
    """Yield all parts of an SQL expression of SQLAlchemy, at any depth, itself among them."""
    yield from sys.modules["sqlalchemy.sql.visitors"].iterate(value)


def is_small(value: Any) -> bool:
    """Return whether an expression has `MAX_PARTS` parts and rows at most, so that it compiles fast."""
    rows = sum(map(len, getattr(value, "_multi_values", None) or ()))
    return rows + sum(1 for _ in itertools.islice(statement_parts(value), MAX_PARTS + 1)) <= MAX_PARTS


def is_known_part(part: Any) -> bool:
    """Return whether a part of an expression is SQLAlchemy's own, and its mapped class is configured.

    SQLAlchemy configures mapped classes when it first compiles one. If a related class is not defined yet, that fails, and the program
    fails with it later on.
    """
    mapper = getattr(getattr(part, "_annotations", {}).get("parententity"), "mapper", None)
    if mapper is not None and not mapper.configured:
        return False
    return is_own(type(part)) and is_own(type(getattr(part, "type", None)))


def is_own(kind: Any) -> bool:
    """Return whether compiling an object of a class to SQL runs no code of the program."""
    for name in HOOKS:
        hook: Any = objects.found(kind, name)
        module = getattr(hook, "__module__", None) or type(hook).__module__
        if hook is not None and (name == HOOKS[-1] or module.partition(".")[0] != "sqlalchemy"):
            return False
    package = kind.__module__.partition(".")[0]
    return package in ("sqlalchemy", "builtins") or hasattr(kind, "impl")
