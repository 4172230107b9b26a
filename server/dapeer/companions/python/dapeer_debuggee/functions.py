"""Functions by name, whenever imported: `shop.cart.total`, `Order.total`, `shop.cart.*`.

A name without its module is one of the program's own code: `add` and `Cart.add` would otherwise be found all over Python's
library. A library's function has its whole name: `json.dumps`, `*.dumps`.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import sys
import types
from collections.abc import Iterator
from types import CodeType
from typing import Any

from . import sources
from .exceptions import tracebacks

OWN = ("dapeer_debuggee", "pydevd", "_pydevd", "_pydev", "debugpy")
"""Beginnings of the names of the debugger's modules."""
METHODS = (staticmethod, classmethod)
OF_CLASS = 0x1 | 0x2
"""Flags (`CO_OPTIMIZED`, `CO_NEWLOCALS`) that a function's code has and a class's body has not."""


LAMBDA = "<lambda>"


@functools.lru_cache(maxsize=1000)
def pattern(name: str, *, of_library: bool = False) -> Any:
    """Return a compiled pattern for a function's qualified name; `*` stands for anything.

    `name` may have several names between commas. With `of_library` it must match from the module's name on, and names without a dot match
    nothing; else any module may come before.
    """
    names = [each for each in named_in(name) if "." in each or not of_library]
    every = "|".join(map(fnmatch.translate, names)) or "(?!)"
    return re.compile(f"(?:{every})" if of_library else rf"(?:.*\.)?(?:{every})")


def named_in(names: str) -> list[str]:
    """Return the names in a text that has commas between them, stripped."""
    return [each.strip() for each in names.split(",")]


def matches(name: str, frame: Any) -> bool:
    """Return whether a frame runs a function that has `name`, as the user has given it (see `pattern`)."""
    return is_called(name, frame.f_code, frame.f_globals)


def is_called(name: str, code: CodeType, namespace: Any) -> bool:
    """Return whether a code object is that of a function that has `name`, as the user has given it.

    `namespace` is the module's dict, in which a lambda's variable is looked for. A class's body and a comprehension are no functions; a
    library's function must be named with its module.
    """
    hidden = code.co_name.startswith("<") and code.co_name != LAMBDA
    if hidden or code.co_flags & OF_CLASS != OF_CLASS:
        return False
    expression = pattern(name, of_library=not is_programs(code.co_filename))
    return any(expression.match(each) for each in whole_names(code, namespace))


def is_programs(file: str) -> bool:
    """Return whether a file is no library's; what the program has made of a text (`<string>`) is its own."""
    made = file.startswith("<") and not file.startswith("<frozen ")
    return made or bool(tracebacks.is_users(file))


def serves_debugger(frame: Any) -> bool:
    """Return whether the debugger has called a library's function, perhaps by other library functions.

    `frame` is the frame of that function; False if it is one of the program's.
    """
    while frame is not None and not is_programs(frame.f_code.co_filename):
        if is_own(frame.f_code, frame.f_globals):
            return True
        frame = frame.f_back
    return False


def whole_names(code: CodeType, namespace: Any) -> Iterator[str]:
    """Yield a function's names, each behind its module's name, as `shop.cart.Order.total`.

    `code` is the function's code object, `namespace` its module's dict. For code of the main script each comes once more, behind the name
    of its file without extension. It yields nothing for code of the debugger.
    """
    if is_own(code, namespace):
        return
    module = str(namespace.get("__name__", ""))
    for name in names_in(code, namespace):
        yield f"{module}.{name}"
        if module == "__main__":
            yield f"{os.path.splitext(os.path.basename(code.co_filename))[0]}.{name}"


def names_in(code: CodeType, namespace: Any) -> list[str]:
    """Return the names of a function within its module; a `lambda` has those of what holds it.

    These are variables and class attributes; a lambda that none of them holds is `<lambda>:LINE`. `namespace` is the module's dict.
    """
    found = [*lambdas(code, namespace, "")] if code.co_name == LAMBDA else []
    return found or [qualified(code)]


def lambdas(code: CodeType, namespace: Any, around: str) -> Iterator[str]:
    """Yield the names in a module, and in its classes, whose value is the function with this code object.

    `namespace` is the dict of the module or class, `around` the class's name with a dot, empty for the module.
    """
    for name, each in list(namespace.items()):
        if type(each) is types.FunctionType and each.__code__ is code:
            yield f"{around}{name}"
        elif not around and issubclass(type(each), type):
            yield from lambdas(code, type.__dict__["__dict__"].__get__(each), f"{name}.")


def is_own(code: CodeType, namespace: Any) -> bool:
    """Return whether a code object is of the debugger, or of what runs the program for it."""
    module = str(namespace.get("__name__", ""))
    return module.startswith(OWN) or code.co_filename.startswith(folders())


@functools.lru_cache(maxsize=1)
def folders() -> tuple[str, ...]:
    """Return the folders of our modules and of pydevd, each with a separator at its end.

    Modules that arrived as text have no folder.
    """
    debugger: str | None = getattr(sys.modules.get("pydevd"), "__file__", None)
    # Modules that arrived as text have no folder: theirs would be the program's own.
    ours = os.path.dirname(os.path.dirname(__file__)) if os.path.isabs(__file__) else None
    found = (ours, debugger and os.path.dirname(debugger))
    return tuple(os.path.join(each, "") for each in found if each)


def qualified(code: CodeType) -> str:
    """Return a function's name with the classes and functions around it.

    A lambda's is followed by its line. Before Python 3.11 the file is read for it; where that fails, the bare name is returned.
    """
    name: str | None = getattr(code, "co_qualname", None)
    if name is None:
        names = names_of(code.co_filename)
        name = names.get((code.co_name, code.co_firstlineno), code.co_name)
    return f"{name}:{code.co_firstlineno}" if code.co_name == LAMBDA else name


@functools.lru_cache(maxsize=1000)
def names_of(file: str) -> dict[tuple[str, int], str]:
    """Return a file's functions as a dict of qualified names by (name, first line).

    It is empty where it cannot be compiled.
    """
    try:
        return dict(qualified_names(sources.compile_file(file), ""))
    except Exception:
        return {}


def qualified_names(code: CodeType, around: str) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield ((name, first line), qualified name) of each code object within `code`, at any depth.

    These are functions, classes, lambdas and, if Python compiles them apart, comprehensions, each before those
    within it; `code` itself is not among them. A qualified name is as in `__qualname__`, such as
    `total.<locals>.add`. `around` is put before each, with its dot, such as `Order.`; it is empty for a
    module's code.
    """
    for each in code.co_consts:
        if isinstance(each, CodeType):
            name = f"{around}{each.co_name}"
            yield (each.co_name, each.co_firstlineno), name
            of_class = not each.co_flags & OF_CLASS
            yield from qualified_names(each, f"{name}." if of_class else f"{name}.<locals>.")


def find_loaded(name: str) -> tuple[str, int, str]:
    """Return file and line of a loaded function that has `name`, and an empty text.

    `name` is what the user has given (see `pattern`); the first match counts. If none is loaded, file and line
    are "" and 0, and the text is the whole name of a library's function that `name` would match if it were
    given with its module, or empty. Functions and methods at any depth of classes are searched, but not functions
    within functions or behind a decorator's object; in all modules but dapeer's, the debugger's, and those of a
    subclass of `ModuleType`. No code of the program runs.
    """
    in_library = ""
    for module in list(sys.modules.values()):
        if type(module) is types.ModuleType and not str(module.__name__).startswith(OWN):
            for code in function_codes(vars(module), str(module.__name__), []):
                if is_called(name, code, vars(module)):
                    return code.co_filename, code.co_firstlineno, ""
                if not in_library and not is_programs(code.co_filename):
                    names = whole_names(code, vars(module))
                    in_library = next(filter(pattern(name).match, names), "")
    return "", 0, in_library


def function_codes(namespace: Any, module: str, seen: list[Any]) -> Iterator[CodeType]:
    """Yield the code objects of the functions and methods of a module's namespace, or of a class's.

    Classes within are gone through, too. Of a property only the getter is yielded; functions within
    functions, and those behind a decorator's object, are not. No code of the program runs. `namespace` is the
    dict of the module or class, `module` the module's name: what it has imported is left out. `seen` is a
    list of classes that are done; classes are appended to it.
    """
    for each in list(namespace.values()):
        function = each.__func__ if type(each) in METHODS else each
        function = each.fget if type(each) is property else function
        if type(function) is types.FunctionType:
            if function.__module__ == module:
                yield function.__code__
        elif issubclass(type(each), type) and not any(each is known for known in seen):
            held = type.__dict__["__dict__"].__get__(each)
            seen.append(each)
            if held.get("__module__") == module:
                yield from function_codes(held, module, seen)
