"""Functions by name: `shop.cart.total`, `Order.total`, `shop.cart.*`, whenever their module is imported."""

from __future__ import annotations

import fnmatch
import functools
import importlib
import os
import re
import sys
import types
from collections.abc import Iterator
from types import CodeType
from typing import Any

sources: Any = importlib.import_module("in_debuggee.dapeer_sources")

OWN = ("in_debuggee", "pydevd", "_pydevd", "_pydev", "debugpy")
"""Beginnings of the names of the debugger's modules."""
METHODS = (staticmethod, classmethod)
OF_CLASS = 0x1 | 0x2
"""Flags (`CO_OPTIMIZED`, `CO_NEWLOCALS`) that a function's code has and a class's body has not."""


@functools.lru_cache(maxsize=1000)
def pattern(name: str) -> Any:
    """Return what the whole name of a function is matched with; `*` stands for anything, and a comma parts names."""
    every = "|".join(map(fnmatch.translate, named_in(name)))
    return re.compile(rf"(?:.*\.)?(?:{every})")


def named_in(names: str) -> list[str]:
    """Return the names in a text that has commas between them."""
    return [each.strip() for each in names.split(",")]


def matches(name: str, frame: Any) -> bool:
    """Whether a frame is of a function of that name."""
    code = frame.f_code
    if code.co_name.startswith("<") or code.co_flags & OF_CLASS != OF_CLASS:
        return False
    return any(pattern(name).match(each) for each in whole_names(code, frame.f_globals))


def whole_names(code: CodeType, namespace: Any) -> Iterator[str]:
    """Yield the names of a function with its module's, and with that of its file where it is the program itself."""
    module = str(namespace.get("__name__", ""))
    if module.startswith(OWN):
        return
    name = qualified(code)
    yield f"{module}.{name}"
    if module == "__main__":
        yield f"{os.path.splitext(os.path.basename(code.co_filename))[0]}.{name}"


def qualified(code: CodeType) -> str:
    """Return the name of a function with those of the classes and functions around it; Python knows it since 3.11."""
    name: str | None = getattr(code, "co_qualname", None)
    if name is None:
        names = names_of(code.co_filename)
        name = names.get((code.co_name, code.co_firstlineno), code.co_name)
    return name


@functools.lru_cache(maxsize=1000)
def names_of(file: str) -> dict[tuple[str, int], str]:
    """Return the qualified names of a file's functions by name and line; none where it cannot be read."""
    try:
        return dict(named(sources.compiled(file), ""))
    except Exception:
        return {}


def named(code: CodeType, around: str) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield the functions in a code, and their qualified names."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            name = f"{around}{each.co_name}"
            yield (each.co_name, each.co_firstlineno), name
            of_class = not each.co_flags & OF_CLASS
            yield from named(each, f"{name}." if of_class else f"{name}.<locals>.")


def loaded(name: str) -> tuple[str, int]:
    """Return file and line of a loaded function of that name; none is loaded yet: "" and 0."""
    for module in list(sys.modules.values()):
        if type(module) is types.ModuleType and not str(module.__name__).startswith(OWN):
            for code in functions(vars(module), str(module.__name__), []):
                if any(pattern(name).match(each) for each in whole_names(code, vars(module))):
                    return code.co_filename, code.co_firstlineno
    return "", 0


def functions(namespace: Any, module: str, seen: list[Any]) -> Iterator[CodeType]:
    """Yield the codes of the functions that a module has made, and those of its classes; nothing is run for it."""
    for each in list(namespace.values()):
        function = each.__func__ if type(each) in METHODS else each
        function = each.fget if type(each) is property else function
        if type(function) is types.FunctionType:
            if function.__module__ == module:
                yield function.__code__
        elif isinstance(each, type) and not any(each is known for known in seen):
            held = type.__dict__["__dict__"].__get__(each)
            seen.append(each)
            if held.get("__module__") == module:
                yield from functions(held, module, seen)
