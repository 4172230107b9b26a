"""Lists a value's contents: a container's elements, then attributes. Runs no code of the program."""

from __future__ import annotations

import itertools
import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from types import WrapperDescriptorType
from typing import Any

from . import objects, values

FIRST_ELEMENTS = 100
"""Elements that are listed; the others are below a child `more`."""
PART_ELEMENTS = 1000
"""Elements below each child of that."""
LEAVES = (type(None), int, float, complex, str)
"""Types whose values hold nothing."""
LITERALS = (type(None), bool, int, float, complex, str, bytes)
"""Types of keys that can be written in an expression."""
THEIRS = ("_pydevd_bundle", "_pydev_bundle", "numpy", "pandas")
"""Packages whose values pydevd lists: its own, and those that it has a resolver for."""
SIZE = "len()"
"""The name of the child that tells how many elements there are."""

NamedChild = Any
"""A tuple: a child's name, its value, and what follows the container's expression for it; None: none."""


class MoreItemsRange:
    """Stands for some elements of a container, under the name that pydevd has for it."""

    def __init__(self, value: Any, known: Any, first: int, last: int) -> None:
        self._of, self._known, self._first, self._last = value, known, first, last

    def __repr__(self) -> str:
        return f"[{self._first}:{self._last}]"

    def entries(self) -> list[NamedChild]:
        """Return the elements that it stands for, as `elements` yields them."""
        return [*elements(self._of, self._known, self._first, self._last)]


class MoreItems:
    """Stands for the elements of a container but the first, under the name that pydevd has for it."""

    def __init__(self, value: Any, known: Any) -> None:
        self._of, self._known = value, known

    def __repr__(self) -> str:
        return "..."

    def entries(self) -> list[NamedChild]:
        """Return a `MoreItemsRange` for each part of `PART_ELEMENTS` elements, behind the first elements."""
        size = self._known.__len__(self._of)
        parts = (
            MoreItemsRange(self._of, self._known, first, min(first + PART_ELEMENTS, size))
            for first in range(FIRST_ELEMENTS, size, PART_ELEMENTS)
        )
        return [(repr(each), each, None) for each in parts]


def is_theirs(value: Any) -> bool:
    """Return whether pydevd lists the contents of a value itself, as of NumPy's and pandas' types."""
    return objects.module_of(type(value)).partition(".")[0] in THEIRS


def is_leaf(value: Any) -> bool:
    """Return whether a value is a number, a string, None or a property, so that it has no children."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    return kind is objects.Property or any(issubclass(kind, each) for each in LEAVES)


def named_children(value: Any) -> list[NamedChild]:
    """Return the children of a value: attributes, elements and the size of a container.

    Each is a `NamedChild`. Behind the first `FIRST_ELEMENTS`, the others are below one child `more`.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is MoreItems or kind is MoreItemsRange:
        return list(value.entries())
    held: list[NamedChild] = [
        (name, each, f".{name}")
        for name, each in objects.attributes(value, objects.names_of(value))
        if not objects.is_bookkeeping(name, each)
    ]
    known = container_of(kind)
    if known is None:
        return held
    size: int = known.__len__(value)
    named = fields_of(kind, size)
    if named:
        # Each stands there as a property, too.
        held = [each for each in held if each[0] not in named]
        of_fields = zip(named, elements(value, known, 0, size))
        held += [(name, each, f".{name}") for name, (_, each, _) in of_fields]
        return [*held, (SIZE, size, length)]
    held += elements(value, known, 0, FIRST_ELEMENTS)
    if size > FIRST_ELEMENTS:
        rest: Any = MoreItemsRange(value, known, FIRST_ELEMENTS, size)
        held.append(
            (
                "more",
                rest if size <= FIRST_ELEMENTS + PART_ELEMENTS else MoreItems(value, known),
                None,
            )
        )
    return [*held, (SIZE, size, length)]


def fields_of(kind: Any, size: int) -> tuple[str, ...]:
    """Return the names of the elements of a named tuple of `size` elements.

    It is empty if the class `kind` is none.
    """
    names: Any = objects.found(kind, "_fields") if issubclass(kind, tuple) else None
    if type(names) is not tuple or len(names) != size or size > FIRST_ELEMENTS:  # pyright: ignore[reportUnknownArgumentType]
        return ()
    listed: list[Any] = [*names]
    return tuple(listed) if all(type(each) is str for each in listed) else ()


def length(parent: str) -> str:
    """Return the expression of a container's size."""
    return f"len({parent})"


def container_of(kind: Any) -> Any:
    """Return the built-in class of containers from which a class derives; None if it is no container."""
    arrays: Any = getattr(sys.modules.get("ctypes"), "Array", None)
    of_ctypes = (arrays,) if type(arrays).__module__ == "_ctypes" else ()
    numbers: Any = getattr(sys.modules.get("array"), "array", None)
    # A file of the program may have that module's name.
    in_c = isinstance(getattr(numbers, "__len__", None), WrapperDescriptorType)
    of_numbers = (numbers,) if in_c else ()
    every: tuple[Any, ...] = (
        OrderedDict, dict, list, tuple, deque, set, frozenset, *of_numbers, *of_ctypes,
    )  # fmt: skip
    return next((each for each in every if issubclass(kind, each)), None)


def elements(value: Any, known: Any, first: int, last: int) -> Iterator[NamedChild]:
    """Yield the elements of a container from index `first` up to `last` as `NamedChild`s.

    `known` is the built-in class whose methods read it. Elements of a set have no expression.
    """
    if objects.is_one_of(known, (dict, OrderedDict)):
        yield from pairs(itertools.islice(known.items(value), first, last))
    elif objects.is_one_of(known, (set, frozenset)):
        for each in itertools.islice(known.__iter__(value), first, last):
            yield str(id(each)), each, None
    else:
        size: int = known.__len__(value)
        for index in range(first, min(last, size)):
            yield f"[{index}]", known.__getitem__(value, index), f"[{index}]"


def pairs(items: Iterator[tuple[Any, Any]]) -> Iterator[NamedChild]:
    """Yield the values of a dictionary as `NamedChild`s, named by their keys.

    Of keys that look alike, all but the first have their id. A key that cannot be written has no expression.
    """
    seen: set[str] = set()
    for key, each in items:
        name = str(values.shown(key))
        if name in seen:
            name = f"{name} (id: {id(key)})"
        seen.add(name)
        yield name, each, f"[{key!r}]" if is_literal(key) else None


def is_literal(key: Any) -> bool:
    """Return whether the `repr` of a dictionary's key can be written in an expression."""
    kind: Any = type(key)  # pyright: ignore[reportUnknownVariableType]
    if kind is tuple:
        return all(map(is_literal, key))
    return bool(objects.is_one_of(kind, LITERALS))
