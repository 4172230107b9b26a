"""Says which values' `repr` may be called: it is C or of Python's library, as for all that they hold."""

from __future__ import annotations

import gc
import os
import re
import sys
import threading
import types
import weakref
from typing import Any

from . import objects

MAX_OBJECTS = 100
"""Objects that are looked at."""
MAX_TEXT_CHARS = 10_000
"""Characters of a text; of a longer one the `repr` would take more than is shown."""
PLAIN = (
    int, float, complex, bool, type(None), type(Ellipsis), type(NotImplemented), range, bytearray, type(re.compile("")),
    type(threading.Lock()), type(threading.RLock()), types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
    types.BuiltinFunctionType, types.FunctionType, types.ModuleType, types.CodeType, types.FrameType, weakref.ProxyType,
    weakref.CallableProxyType,
)  # fmt: skip
"""Types whose `repr` shows nothing of what they hold, or nothing but numbers."""
OURS = ("dapeer", "dapeer_debuggee.values.objects", "dapeer_debuggee.values.contents")
"""Modules whose classes are dapeer's."""
PACKAGES = ("numpy", "pandas")
"""Packages whose own values may be asked."""
LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
FOREIGN = tuple(os.path.join(LIBRARY, each, "") for each in ("site-packages", "dist-packages"))
OF_MODULES: Any = types.ModuleType
CONTENTS: Any = OF_MODULES.__dict__["__dict__"]


def is_safe(value: Any) -> bool:
    """Return whether the `repr` of a value, and of all that it holds, runs no code of the program."""
    return _is_safe(value, [MAX_OBJECTS])


def _is_safe(value: Any, left: list[int]) -> bool:
    """Return whether the `repr` of a value, and of all that it holds, runs no code of the program.

    `left` has one number: how many objects may still be looked at. It is counted down; when none is left, the answer is False.
    """
    left[0] -= 1
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is bytes:
        return len(value) <= MAX_TEXT_CHARS
    if objects.is_one_of(kind, PLAIN) or objects.module_of(kind) in OURS:
        return True
    shows = objects.found(kind, "__repr__")
    if issubclass(kind, type):
        reads = objects.found(kind, "__getattribute__"), objects.found(kind, "__getattr__")
        return shows is type.__repr__ and reads == (type.__getattribute__, None)
    if shows is object.__repr__:
        return True
    if issubclass(kind, weakref.ref) or objects.is_proxy(kind) or not is_known(shows, kind):
        return False
    if objects.module_of(kind).partition(".")[0] == "numpy" and holds_objects(value):
        return False
    inside = referents(value)
    return len(inside) <= left[0] and all(_is_safe(each, left) for each in inside)


def referents(value: Any) -> list[Any]:
    """Return the objects that a value refers to, but its type."""
    return [each for each in gc.get_referents(value) if each is not type(value)]


def stood_for(value: Any) -> list[Any]:
    """Return what a proxy refers to: what it stands for, or the dictionaries of what makes that.

    Empty: nothing.
    """
    others = referents(value)
    return [each for each in others if type(each) is not dict] or [each for each in others if each]


def is_known(shows: Any, kind: Any) -> bool:
    """Return whether a class's `__repr__` is its own in C, or of Python's library, NumPy or pandas.

    `shows` is that `__repr__`, `kind` the class.
    """
    if type(shows) is types.FunctionType:
        return all(map(is_of_library, objects.MRO.__get__(kind)))
    if type(shows) is not types.WrapperDescriptorType:
        return False
    for namespace in objects.namespaces(kind):
        if namespace.get("__repr__") is shows:
            return True
        if any(map(is_code, namespace.values())):
            return False
    return False


def holds_objects(value: Any) -> bool:
    """Whether an array of NumPy holds objects, of which the garbage collector knows nothing."""
    return getattr(getattr(value, "dtype", None), "hasobject", False) is True


def is_code(member: Any) -> bool:
    """Return whether a class's member is code that C code would run, so written in Python or a descriptor."""
    how: Any = type(member)  # pyright: ignore[reportUnknownVariableType]
    if how is types.FunctionType:
        return True
    in_c = objects.is_one_of(how, (*objects.READ, *objects.ROUTINES))
    return not in_c and objects.found(how, "__get__") is not None


def is_of_library(kind: Any) -> bool:
    """Return whether a class is the one of its name in Python's library, NumPy or pandas.

    A class of the program may only have such a module's name: it is not found in that module.
    """
    name = objects.module_of(kind)
    module: Any = sys.modules.get(name)
    if type(module) is not types.ModuleType:
        return False
    held = CONTENTS.__get__(module)
    if held.get(objects.name_of(kind)) is not kind:
        return False
    if name in sys.builtin_module_names or name.partition(".")[0] in PACKAGES:
        return True
    file = held.get("__file__")
    return type(file) is str and file.startswith(LIBRARY) and not file.startswith(FOREIGN)
