"""What an object consists of, found in the debuggee without running any code of the program or of a library."""

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
"""What is found in a class and runs no code of the program when it is read from an object."""
BOOKKEEPING = frozenset({"_sa_instance_state"})
"""What libraries keep in objects of the program: SQLAlchemy in mapped ones."""
MRO: Any = type.__dict__["__mro__"]
NAMESPACE: Any = type.__dict__["__dict__"]
"""How a class's own are read, whatever its metaclass makes of these names."""


class Property:
    """Stands for the value of a property that nobody has asked for."""

    def __repr__(self) -> str:
        return "(property: ask for it by its path)"


def namespaces(kind: Any) -> Iterator[Any]:
    """Yield what a class defines, then what those above it do."""
    for klass in MRO.__get__(kind):
        yield NAMESPACE.__get__(klass)


def found(kind: Any, name: str) -> Any:
    """Return what a class or one above it defines by a name; None: nothing."""
    return next((each[name] for each in namespaces(kind) if name in each), None)


def written_in(function: Any, *files: str) -> bool:
    """Whether a function stands in one of these files of Python's library, which has made it for a class."""
    code = getattr(function, "__code__", None) if type(function) is types.FunctionType else None
    return code is not None and code.co_filename.replace("\\", "/").endswith(files)


def own(value: Any) -> dict[str, Any]:
    """Return what an object itself holds, in its attributes and slots: public names first."""
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
    """Return an object's `__dict__`; empty where it has none, or its class makes it up."""
    descriptor = found(type(value), "__dict__")
    if type(descriptor) is not types.GetSetDescriptorType:
        return {}
    attributes = descriptor.__get__(value)
    if type(attributes) is not dict:
        return {}
    return {name: each for name, each in attributes.items() if type(name) is str}  # type: ignore[reportUnknownVariableType]


def names_of(value: Any) -> list[str]:
    """Return the names of an object's attributes, as `dir` does where the program has no `__dir__` of its own."""
    parts: list[Iterable[Any]] = []
    if not isinstance(value, type):
        parts.append(attributes_of(value))
    # What a module has is its own; of the others their classes have the rest.
    if not isinstance(value, types.ModuleType):
        parts += namespaces(value if isinstance(value, type) else type(value))
    return sorted({name for part in parts for name in part if isinstance(name, str)})


def attributes(value: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object, without running any code to get them.

    What an object holds itself is what it is, even where its class would compute it.
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
            except Exception as error:  # noqa: BLE001
                yield name, error


def runs(value: Any, name: str) -> bool:
    """Whether an attribute is computed by code of the program or a library."""
    for klass in type(value).__mro__ + (value.__mro__ if isinstance(value, type) else ()):
        if name in klass.__dict__:
            there: Any = klass.__dict__[name]
            return hasattr(there, "__get__") and not isinstance(there, DESCRIPTORS)
    return not isinstance(value, types.ModuleType)


def kind_of(value: Any) -> str:
    """Return what a name of a module stands for that is no data; empty: it is data."""
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    return "function" if inspect.isroutine(value) else ""
