"""Lists the members of an object without running code of the program or of a library."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any

ROUTINES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType, types.MethodWrapperType,
)  # fmt: skip
"""Types of functions and methods."""
OF_CYTHON = ("cython_function_or_method", "fused_cython_function")
"""Names of such types that each version of Cython has itself."""
READ = (types.MemberDescriptorType, types.GetSetDescriptorType)
"""Types of class members by which C code reads an attribute."""
BOOKKEEPING = {"_sa_instance_state": "sqlalchemy.", "_state": "django.", "_abc_impl": "_abc"}
"""Attributes that libraries add, and how the modules of their types begin."""
EXTRAS = ("__pydantic_extra__", "__pydantic_private__")
"""Slots in which objects of pydantic keep attributes: those beside their fields, and private ones."""
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
    """Return whether a class is one of several, by identity.

    `in` would ask a metaclass whether it is equal.
    """
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


def class_member(kind: Any, name: str, missing: Any = None) -> Any:
    """Return what a class or the first of its bases defines by a name; `missing` if none does.

    A descriptor is returned as it is, and not asked.
    """
    return next((each[name] for each in namespaces(kind) if name in each), missing)


def written_in(function: Any, *files: str) -> bool:
    """Return whether a function of Python comes from a file whose path ends with one of `files`."""
    code = getattr(function, "__code__", None) if type(function) is types.FunctionType else None
    return code is not None and code.co_filename.replace("\\", "/").endswith(files)


def own_attributes(value: Any) -> dict[str, Any]:
    """Return an object's own attributes and slots by name, public names first, without code of its class.

    Names that begin with two underscores, keys that are no `str`, and what libraries keep for themselves, are left
    out; so is what the class only computes. It is a new dict; the values are the program's.
    """
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
                if not name.startswith("__") and not is_bookkeeping(name, each)
            ),
            key=lambda item: item[0].startswith("_"),
        )
    )


def is_bookkeeping(name: str, value: Any) -> bool:
    """Return whether an attribute is one that a library, such as SQLAlchemy, keeps for itself.

    `name` and `value` are those of the attribute.
    """
    return name in BOOKKEEPING and module_of(type(value)).startswith(BOOKKEEPING[name])


def is_proxy(kind: Any) -> bool:
    """Return whether a class stands for another object, as wrapt's: even its C code may run the program's.

    Those of lazy_object_proxy do so, too.
    """
    each: Any = class_member(kind, "__wrapped__")
    # Python's own `staticmethod` has one, too.
    return is_one_of(type(each), (*READ, property)) and module_of(kind) != "builtins"


def attributes_of(value: Any) -> dict[str, Any]:
    """Return a copy of an object's `__dict__`, with what pydantic keeps elsewhere.

    It is empty if its class computes it.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    descriptor = class_member(kind, "__dict__")
    if not is_one_of(type(descriptor), READ) or is_proxy(kind):
        return {}
    return {**named_in(descriptor.__get__(value)), **slot_contents(value, EXTRAS)}


def named_in(attributes: Any) -> dict[str, Any]:
    """Return a copy of a dictionary with only its keys of type `str`.

    It is empty if it is of a class of the program.
    """
    if type(attributes) is not dict:
        return {}
    return {name: each for name, each in list(attributes.items()) if type(name) is str}  # type: ignore[reportUnknownVariableType]


def slot_contents(value: Any, slots: Iterable[str]) -> dict[str, Any]:
    """Return what an object keeps in dictionaries in these slots of its class, as one new dict.

    `slots` are names of slots, such as `EXTRAS`; of equal keys that in a later slot wins. Keys that are not
    of type `str`, and values that are not of type `dict` itself, are left out. The result is empty if the
    class has no such slots, or they are not set. No code of the program runs.
    """
    kept: dict[str, Any] = {}
    for slot in slots:
        descriptor = class_member(type(value), slot)
        if type(descriptor) is types.MemberDescriptorType:
            try:
                kept.update(named_in(descriptor.__get__(value)))
            except AttributeError:  # it is not set yet
                continue
    return kept


def inherited_names(value: Any) -> set[str]:
    """Return the names of functions and classes that a value has from its class or its bases, not itself.

    It is empty for a module. No code of the program runs.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if issubclass(kind, types.ModuleType):
        return set()
    if issubclass(kind, type):
        mine: Any = NAMESPACE.__get__(value)
    else:
        mine = attributes_of(value)
    others = (name for name in names_of(value) if name not in mine)
    return {name for name, each in attributes(value, others) if kind_of(each) in INHERITED}


def names_of(value: Any) -> list[str]:
    """Return the sorted names that `dir` has without the program's `__dir__`, and those pydantic hides.

    For a class these are its own names and those of its bases, for a module only its own. No code of the
    program runs.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    is_class = issubclass(kind, type)
    parts: list[Iterable[Any]] = [] if is_class else [attributes_of(value)]
    # A module has all its names itself; other objects also have those of their class.
    if not issubclass(kind, types.ModuleType):
        parts += namespaces(value if is_class else kind)
    return sorted({name for part in parts for name in part if type(name) is str})


def attributes(value: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield name and value of those of `names` that an object has, without running code.

    A value in the object itself wins over a property of its class; a property is a `Property` in place of its value.
    """
    mine = attributes_of(value)
    for name in names:
        each = mine[name] if name in mine else of_class(value, name)
        if each is not NOTHING:
            yield name, each


def of_class(value: Any, name: str) -> Any:
    """Return what a class gives its instance, or itself, by a name, without running code of the program.

    `value` is the instance, or the class itself; what stands in an instance's `__dict__` is not looked at. Of
    an instance a slot is read; of a class the slot's descriptor is returned. Of a static or class method the
    function is returned. A `Property` stands for what code computes. `NOTHING` stands for what is not there, a
    slot without a value, and an attribute with two leading underscores that C code reads.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    is_class = issubclass(kind, type)
    each: Any = class_member(value if is_class else kind, name, NOTHING)
    if each is NOTHING:
        return NOTHING
    how: Any = type(each)  # pyright: ignore[reportUnknownVariableType]
    if is_one_of(how, READ):
        # What has such a name is computed, or is of no interest.
        if name.startswith("__"):
            return NOTHING
        try:
            return each if is_class else each.__get__(value)
        except Exception:  # it has no value
            return NOTHING
    if how is staticmethod or how is classmethod:
        return each.__func__
    if is_routine(how) or issubclass(how, type) or class_member(how, "__get__") is None:
        return each
    return Property()


INHERITED = ("function", "class")
"""Kinds of what an object has from its class that is not its own data."""
NOTHING = object()
"""Stands for an attribute that is not there."""
DATA = frozenset(map(id, (int, float, bool, type(None), str, bytes, list, tuple, dict, set)))
"""The ids of types of data, which most values have; a type's search calls its metaclass's `__hash__`."""


def kind_of(value: Any) -> str:
    """Return `module`, `class` or `function` for a value that is one; empty for any other, which is data.

    Methods and built-in functions are functions.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if id(kind) in DATA:
        return ""
    if issubclass(kind, types.ModuleType):
        return "module"
    if issubclass(kind, type):
        return "class"
    return "function" if is_routine(kind) else ""


def is_routine(kind: Any) -> bool:
    """Whether a class is one of functions or methods, also of those that Cython has compiled, as lxml's."""
    return is_one_of(kind, ROUTINES) or name_of(kind) in OF_CYTHON
