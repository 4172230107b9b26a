"""Exception types in the debuggee, known by their names: pydevd would import them before the program has begun.

A type of the program's own is not there then, and a name of `__main__` leaves pydevd's request without an answer. Nor is
it for a debugger to say when the modules of a program run first.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterator
from typing import Any


class Named(type):
    """The type of what stands for the types of one name: each class that has it, and each below, is a subclass."""

    wanted: str

    def __subclasscheck__(cls, subclass: type) -> bool:
        """Whether a class or one above it has the name, or is what a module has by this name."""
        module, _, name = cls.wanted.rpartition(".")
        there = getattr(sys.modules.get(module), "__dict__", {}).get(name)
        above = getattr(subclass, "__mro__", ())
        return any(each is there or has_name(each, cls.wanted) for each in above)


def has_name(kind: type, wanted: str) -> bool:
    """Whether a class has a name, which may tell its module, or a part of that.

    >>> has_name(KeyError, "KeyError"), has_name(KeyError, "builtins.KeyError"), has_name(KeyError, "Error")
    (True, True, False)
    """
    return f".{kind.__module__}.{kind.__qualname__}".endswith(f".{wanted}")


def type_of(name: str) -> type:
    """Return the built-in exception of a name, or what stands for all others that have it."""
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return known
    return Named(name, (), {"wanted": name})


def below(kind: type) -> Iterator[type]:
    """Yield all classes below one."""
    for each in type.__subclasses__(kind):
        yield each
        yield from below(each)


def unknown(debugger: Any) -> set[str]:
    """Return the names to stop at that no exception of the program has."""
    wanted = (
        *debugger.break_on_caught_exceptions.values(),
        *debugger.break_on_uncaught_exceptions.values(),
        *debugger.break_on_user_uncaught_exceptions.values(),
    )
    named = {each.type for each in wanted if isinstance(each.type, Named)}
    there = tuple(below(BaseException)) if named else ()
    return {kind.wanted for kind in named if not any(issubclass(each, kind) for each in there)}


def improve(*, prints: bool) -> None:
    """Know types by their names, and tell at the end of the first process which of them nothing had.

    Args:
        prints: Whether this is the first process; another need not know all types.

    Raises:
        AttributeError: pydevd is not the one we know.
    """
    breakpoints: Any = importlib.import_module("_pydevd_bundle.pydevd_breakpoints")
    debugger: Any = importlib.import_module("pydevd").PyDB
    told: Any = importlib.import_module("in_debuggee.dapeer_breaking")
    breakpoints.get_exception_class  # noqa: B018 - is it there?
    told_of: set[str] = set()
    stock = debugger.dispose_and_kill_all_pydevd_threads

    def dispose(self: Any, *arguments: Any, **named: Any) -> None:
        if not self.pydb_disposed and not self.terminate_requested:
            # pydevd may do this twice.
            news = unknown(self) - told_of
            told_of.update(news)
            for name in news:
                told.failures.add(
                    ("", 0), "exception filter", name, "no class with this name was found"
                )
        stock(self, *arguments, **named)

    breakpoints.get_exception_class = type_of
    if prints:
        debugger.dispose_and_kill_all_pydevd_threads = dispose
