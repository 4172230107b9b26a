"""Tells whether a value is still the same, as `==` would, without running any code of the program.

What has no `==` of its own is the same for as long as it is that very object; all else by what it holds.
"""

from __future__ import annotations

import array
import collections
import sys
import types
import zlib
from collections.abc import Callable, Iterable
from typing import Any

from . import objects

PLAIN = (int, str, bool, bytes, type(None))
"""Types whose values are compared by Python itself."""
MAX_PARTS = 300
"""Parts of a value that are looked at one by one; plain elements of a list are no parts."""
MAX_KEPT_BYTES = 4096
"""Bytes that are kept; of more a sum is."""
MAX_LEVELS = 40
"""Parts within each other."""
DICT: Any = dict
NO_KEYS: dict[Any, Any] = {}
LISTS: tuple[Any, ...] = (
    list,
    tuple,
    collections.deque,
    type(NO_KEYS.keys()),
    type(NO_KEYS.items()),
    type(NO_KEYS.values()),
)
SETS: tuple[Any, ...] = (set, frozenset)
REDUCED_IN_C = ("datetime", "decimal", "builtins")
"""Modules whose values Python's own C code takes apart by `__reduce__`."""
TAKEN_APART = 2
"""Parts of what `__reduce__` returns: a function, and what it is given."""
IDENTITY: Any = object.__dict__["__eq__"]
REDUCES: Any = object.__dict__["__reduce__"]


def state(value: Any) -> Any:
    """Return a state of a value: it equals a later state for as long as the value is the same.

    States are of plain values only, so comparing them runs no code of the program. An object without `==` of its own is the same for as
    long as it is that very object, everything else by what it holds, `MAX_PARTS` parts at most.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is int or kind is str or kind is bool or value is None:
        return kind.__name__, value
    return Parts().state_of(value)


class Parts:
    """Makes the state of one value from those of its parts, of which it counts how many are left."""

    def __init__(self) -> None:
        self._parts_left = MAX_PARTS
        self._enclosing_ids: set[int] = set()

    def state_of(self, value: Any) -> Any:
        """Return the state of a part: a tuple that is equal to a later one while the part is the same.

        `value` is the part itself, of any type. A part beyond the limits (`MAX_LEVELS`, `MAX_PARTS` in all), one inside
        of itself, and an object whose class has no `==` of its own or which has no attributes, is known only by its
        identity, so changes in it do not show; nor do attributes of a subclass of a built-in type. Each part that is no
        plain value, `float` or `complex` counts as one towards `MAX_PARTS`.
        """
        kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
        if objects.is_one_of(kind, PLAIN):
            return kind.__name__, value
        if kind is float or kind is complex:
            # Not a number is the same as before, and 0.0 is another than -0.0.
            return kind.__name__, repr(value)
        self._parts_left -= 1
        here = id(value) in self._enclosing_ids
        if self._parts_left < 0 or here or len(self._enclosing_ids) > MAX_LEVELS:
            return id(kind), id(value)
        self._enclosing_ids.add(id(value))
        try:
            return (id(kind), *self._states_inside(value, kind))
        finally:
            self._enclosing_ids.discard(id(value))

    def _states_inside(self, value: Any, kind: Any) -> tuple[Any, ...]:
        """Return the states of what a value of the type `kind` holds, as one tuple for comparing only.

        Of a subclass of a built-in container, text or real number type only what that type holds is compared, not its
        attributes. An object whose class has no `==` of its own, or which has no attributes, is known by its identity.
        `state_of`, which calls this method for the value itself, is called here for its parts, and counts them.
        """
        for each in LISTS:
            if issubclass(kind, each):
                return self._element_states(value, each.__iter__)
        if issubclass(kind, dict):
            keys: Any = DICT.keys(value)
            return (
                *self._element_states(keys, iter),
                *self._element_states(DICT.values(value), iter),
            )
        for each in SETS:
            if issubclass(kind, each):
                elements = list(each.__iter__(value))
                return (frozenset(map(self.state_of, elements)),)
        if issubclass(kind, (bytearray, bytes, str, int)):
            return (plain(value, kind),)
        if issubclass(kind, float):
            return (float.__repr__(value),)
        return _of_library(value, kind, self.state_of) or self._of_object(value, kind)

    def _element_states(
        self, value: Any, iterate: Callable[[Any], Iterable[Any]]
    ) -> tuple[Any, ...]:
        """Return the state of the elements that `iterate(value)` yields, as a tuple.

        Two such tuples are equal if the elements are the same, in the same order. If all are floats, the tuple
        has their bytes; if all are of `PLAIN` types (or there are none), it has the elements and what tells their
        types; else what `state_of` returns for each element, which uses up `MAX_PARTS`. `iterate` is called once,
        with `value`; it must not run code of the program.
        """
        every = list(iterate(value))
        # A class may have a metaclass that hashes it by code of the program, so its number is taken.
        found = set(map(id, map(type, every)))
        if found == {id(float)}:
            return (array.array("d", every).tobytes(),)
        if found <= PLAIN_IDS:
            kinds = tuple(type(each).__name__ for each in every) if len(found) > 1 else ()
            return (tuple(every), kinds, next(iter(found), 0))
        return (tuple(map(self.state_of, every)),)

    def _of_object(self, value: Any, kind: Any) -> tuple[Any, ...]:
        """Return the names and states of an object's attributes if its class compares; else its identity."""
        compares = objects.class_member(kind, "__eq__")
        held: Any = None if compares is IDENTITY else objects.own_attributes(value)
        if not held:
            return (id(value),)
        return (tuple((name, self.state_of(each)) for name, each in held.items()),)


PLAIN_IDS = frozenset(map(id, PLAIN))


def plain(value: Any, kind: Any) -> Any:
    """Return the plain `bytes`, `str` or `int` of a value of a class that derives from one.

    Of a `bytearray` it returns bytes.
    """
    if issubclass(kind, bytearray):
        return bytes(bytearray.__getitem__(value, slice(None)))
    of: Any = next(each for each in (bytes, str, int) if issubclass(kind, each))
    return of.__index__(value) if of is int else of.__getitem__(value, slice(None))


def _of_library(value: Any, kind: Any, of: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return the state of an array, a path, a date or another value of Python's own or of NumPy's.

    Empty: it is none of these, and has to be compared in another way. `kind` is the type of `value`. `of` returns the state of a part.
    """
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "ndarray"):
        if issubclass(kind, numpy.ndarray):
            return _of_array(numpy.ndarray.view(value, numpy.ndarray), numpy.ndarray, of)
        if issubclass(kind, numpy.generic) and objects.module_of(kind) == "numpy":
            return (numpy.generic.tobytes(value),)
    module = objects.module_of(kind)
    if kind is array.array:
        return (value.typecode, value.tobytes())
    if module == "pathlib" or module.startswith("pathlib."):
        return (str(value),)
    if module == "datetime" and objects.name_of(kind) == "timezone":
        return (repr(value),)
    reduce = objects.class_member(kind, "__reduce__")
    if (
        module not in REDUCED_IN_C
        or reduce is REDUCES
        or objects.class_member(kind, "__eq__") is IDENTITY
    ):
        return ()
    reduced: Any = reduce(value) if type(reduce) is types.MethodDescriptorType else None
    return tuple(map(of, reduced[1])) if reduced is not None and len(reduced) == TAKEN_APART else ()


def _of_array(value: Any, kind: Any, of: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return type, shape and contents of a NumPy array, of many bytes a checksum.

    `of` returns the state of a list.
    """
    head = str(value.dtype), tuple(value.shape)
    if value.dtype.hasobject:
        return (*head, of(kind.tolist(value)))
    data = kind.tobytes(value)
    return (*head, data if len(data) <= MAX_KEPT_BYTES else zlib.crc32(data))
