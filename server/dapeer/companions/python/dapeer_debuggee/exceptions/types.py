"""Matches exception types by name. pydevd would import them before the program starts.

Types of the program do not exist then, importing runs the program's modules too early, and for a name in `__main__`
pydevd never answers the request.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from typing import Any

from .. import patching


class NamedType(type):
    """A metaclass whose class stands for all classes with a name: they and their subclasses are its own."""

    name_of_type: str

    def __subclasscheck__(cls, subclass: type) -> bool:
        """Return whether a class or one of its bases has the name of this type.

        It may also be bound to that name in the module.
        """
        module, _, name = cls.name_of_type.rpartition(".")
        there = getattr(sys.modules.get(module), "__dict__", {}).get(name)
        above = getattr(subclass, "__mro__", ())
        return any(each is there or has_name(each, cls.name_of_type) for each in above)


def has_name(kind: type, name: str) -> bool:
    """Whether a class has a name, with or without its module or the last part of that.

    >>> has_name(KeyError, "KeyError"), has_name(KeyError, "builtins.KeyError"), has_name(KeyError, "Error")
    (True, True, False)
    """
    return f".{kind.__module__}.{kind.__qualname__}".endswith(f".{name}")


def type_of(name: str) -> type:
    """Return the built-in exception `name`, or a new `NamedType`: all classes of that name are below it."""
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return known
    return NamedType(name, (), {"name_of_type": name})


def subclasses_of(kind: type) -> Iterator[type]:
    """Yield all subclasses of a class, also indirect ones."""
    for each in type.__subclasses__(kind):
        yield each
        yield from subclasses_of(each)


def unknown_names(debugger: Any) -> set[str]:
    """Return those names of exceptions to stop at that no class of the program has.

    `debugger` is pydevd's `PyDB`, whose filters have the names. Only classes that exist by now are known.
    """
    filters = (
        *debugger.break_on_caught_exceptions.values(),
        *debugger.break_on_uncaught_exceptions.values(),
        *debugger.break_on_user_uncaught_exceptions.values(),
    )
    named = {each.type for each in filters if isinstance(each.type, NamedType)}
    there = tuple(subclasses_of(BaseException)) if named else ()
    return {
        kind.name_of_type for kind in named if not any(issubclass(each, kind) for each in there)
    }


CLASS = "_pydevd_bundle.pydevd_breakpoints:get_exception_class"
DISPOSE = "pydevd:PyDB.dispose_and_kill_all_pydevd_threads"
BY_NAME = patching.Row(
    "exception-types",
    "debugpy",
    "A breakpoint at exceptions of a type of the program imports its module before the program starts.",
    replaces={CLASS: "kls"},
)
UNKNOWN = patching.Row(
    "unknown-exception-types",
    "debugpy",
    "A name of an exception that no class has is not told.",
    replaces={DISPOSE: "self wait= timeout="},
    uses=("pydevd:PyDB#break_on_caught_exceptions", "pydevd:PyDB#break_on_uncaught_exceptions"),
)


@BY_NAME
def match_by_name(patch: Any) -> None:
    """Patch pydevd so that it matches exceptions to stop at by the names of their types.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(CLASS)
    def get_exception_class(stock: Any, kls: str, *rest: Any, **named: Any) -> type:
        return type_of(kls)


@UNKNOWN
def report_unknown(patch: Any) -> None:
    """Have names of exceptions reported, at the end of the first process, that no class has had.

    They are reported as failures, each once, unless the client has asked for the end. A child may not import all types, so nothing is
    reported there. `patch` is this patch's `patching.Row`: it calls this function when it is
    applied, and its `undo` puts back what was replaced by it.
    """
    if not patching.first_process[0]:
        return
    from ..stops import breaking

    reported: set[str] = set()

    @patch.replace(DISPOSE)
    def dispose(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Report the names that no class has by now, then end the debugger as pydevd does.

        They are reported as failures, each once; none is if the client ends the debugger.
        """
        if not self.pydb_disposed and not self.terminate_requested:
            # pydevd may do this twice.
            news = unknown_names(self) - reported
            reported.update(news)
            for name in news:
                breaking.failures.add(
                    ("", 0), "exception filter", name, "no class with this name was found"
                )
        return stock(self, *rest, **named)
