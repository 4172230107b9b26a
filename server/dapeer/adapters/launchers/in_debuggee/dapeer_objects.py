"""Lists the members of an object without running code of the program or of a library."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator
from typing import Any

DESCRIPTORS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MemberDescriptorType, types.GetSetDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType,
    staticmethod, classmethod, type,
)  # fmt: skip
"""Types of class members whose access runs no code of the program."""
BOOKKEEPING = frozenset({"_sa_instance_state"})
"""Attributes that libraries add to objects of the program: SQLAlchemy's in mapped ones."""
MRO: Any = type.__dict__["__mro__"]
NAMESPACE: Any = type.__dict__["__dict__"]
NAME: Any = type.__dict__["__name__"]
MODULE: Any = type.__dict__["__module__"]
"""Read these attributes of a class, even if its metaclass redefines them."""


class Property:
    """Shown in place of a property's value, which is computed only when asked for."""

    def __repr__(self) -> str:
        return "(property: ask for it by its path)"


def is_one_of(kind: Any, kinds: Iterable[Any]) -> bool:
    """Whether a class is one of several; `in` would ask a metaclass whether it is equal."""
    return any(each is kind for each in kinds)


def name_of(kind: Any) -> str:
    """Return the name of a class."""
    return str(NAME.__get__(kind))


def module_of(kind: Any) -> str:
    """Return the name of a class's module; empty if it is no text."""
    name = MODULE.__get__(kind)
    return name if type(name) is str else ""


def namespaces(kind: Any) -> Iterator[Any]:
    """Yield the namespaces of a class and of its bases, in the order of method resolution."""
    for klass in MRO.__get__(kind):
        yield NAMESPACE.__get__(klass)


def found(kind: Any, name: str) -> Any:
    """Return the member of a class or of its bases with a name; None if there is none."""
    return next((each[name] for each in namespaces(kind) if name in each), None)


def written_in(function: Any, *files: str) -> bool:
    """Whether a function comes from one of these files of Python's library, as generated methods do."""
    code = getattr(function, "__code__", None) if type(function) is types.FunctionType else None
    return code is not None and code.co_filename.replace("\\", "/").endswith(files)


def own(value: Any) -> dict[str, Any]:
    """Return an object's own attributes and slots, public names first."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    held: dict[str, Any] = {}
    for each in namespaces(kind):
        for name, member in each.items():
            if type(member) is types.MemberDescriptorType and name not in held:
                try:
                    held[name] = member.__get__(value)
                except AttributeError:
                    continue
    held.update(attributes_of(value))
    return dict(
        sorted(
            (
                (name, each)
                for name, each in held.items()
                if not name.startswith("__") and name not in BOOKKEEPING
            ),
            key=lambda item: item[0].startswith("_"),
        )
    )


def attributes_of(value: Any) -> dict[str, Any]:
    """Return an object's `__dict__`; empty if it has none, or if its class computes it."""
    descriptor = found(type(value), "__dict__")
    if type(descriptor) is not types.GetSetDescriptorType:
        return {}
    attributes = descriptor.__get__(value)
    if type(attributes) is not dict:
        return {}
    return {name: each for name, each in attributes.items() if type(name) is str}  # type: ignore[reportUnknownVariableType]


def names_of(value: Any) -> list[str]:
    """Return the names that `dir` would return without a `__dir__` of the program."""
    parts: list[Iterable[Any]] = []
    if not isinstance(value, type):
        parts.append(attributes_of(value))
    # A module has all its names itself; other objects also have those of their class.
    if not isinstance(value, types.ModuleType):
        parts += namespaces(value if isinstance(value, type) else type(value))
    return sorted({name for part in parts for name in part if isinstance(name, str)})


def attributes(value: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object without running code.

    A value in the object itself wins over a property of its class.
    """
    mine = attributes_of(value)
    for name in names:
        if name in mine:
            yield name, mine[name]
        elif runs(value, name):
            yield name, Property()
        else:
            try:
                yield name, getattr(value, name)
            except AttributeError:
                continue
            except Exception as error:
                yield name, error


def runs(value: Any, name: str) -> bool:
    """Whether code of the program or of a library computes an attribute."""
    for klass in type(value).__mro__ + (value.__mro__ if isinstance(value, type) else ()):
        if name in klass.__dict__:
            there: Any = klass.__dict__[name]
            return hasattr(there, "__get__") and not isinstance(there, DESCRIPTORS)
    return not isinstance(value, types.ModuleType)


DATA = frozenset(map(id, (int, float, bool, type(None), str, bytes, list, tuple, dict, set)))
"""The ids of types of data, which most values have. Not the types: the search for one calls the `__hash__` of its metaclass."""


def kind_of(value: Any) -> str:
    """Return what kind of non-data a module's name is, such as a function; empty for data."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if id(kind) in DATA:
        return ""
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    return "function" if inspect.isroutine(value) else ""
