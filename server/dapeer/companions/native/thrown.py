"""Names a C++ exception that is being thrown: its type, and its text where memory has that.

Only memory is read; no code of the program runs. What a class's own `what()` would say is not known so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

WORD = 8
"""Bytes of a pointer."""
MAX_BASES = 20
"""Classes that are followed from a type to its bases."""
WITH_TEXT = frozenset({"St13runtime_error", "St11logic_error"})
"""Standard classes with a text, by their names in type information.

The pointer to it lies behind that to their functions."""
OWN_WHAT = frozenset({"std::runtime_error::what() const", "std::logic_error::what() const"})
"""The functions that return that text."""
WHAT_SLOT = 2
"""The place of `what()` in a class's table of functions: two destructors come first."""
SINGLE_BASE = "__si_class_type_info"
"""Is in the name of the table of type information of a class with one base, at its beginning."""


@dataclass(frozen=True)
class Memory:
    """How a debugger reads the program."""

    pointer: Callable[[int], int]
    """Reads a pointer at an address."""
    text: Callable[[int], str]
    """Reads a text that ends with a zero byte."""
    symbol: Callable[[int], str]
    """Returns the name of a function or table at an address, as C++ writes it; empty: there is none."""
    demangled: Callable[[str], str]
    """Returns a symbol as C++ writes it."""


def describe(memory: Memory, thrown: int, type_info: int) -> str:
    """Return a thrown object's type, and behind a colon its text, where that is the library's own.

    `thrown` is the address of the object, `type_info` that of its type information; both are arguments of
    `__cxa_throw`. The text is only read of `std::runtime_error`, `std::logic_error` and classes that derive from
    one, by single bases alone, and keep its `what()`. Empty: the type cannot be read.

    >>> symbols = {64: "vtable for __cxxabiv1::__class_type_info"}
    >>> int_ = {72: 80}
    >>> describe(Memory(lambda at: int_.get(at, 0), {80: "i"}.get, lambda at: symbols.get(at, ""), lambda _: "typeinfo name for int"), 8, 64)
    'int'
    """
    name = memory.text(memory.pointer(type_info + WORD)).lstrip("*")
    if not name:
        return ""
    shown = memory.demangled(f"_ZTS{name}").removeprefix("typeinfo name for ")
    if not _has_text(memory, type_info):
        return shown
    what = memory.pointer(memory.pointer(thrown) + WHAT_SLOT * WORD)
    if memory.symbol(what) not in OWN_WHAT:
        return shown
    return f"{shown}: {memory.text(memory.pointer(thrown + WORD))}"


def _has_text(memory: Memory, type_info: int) -> bool:
    """Return whether a type is `std::runtime_error` or `std::logic_error`, or derives from one.

    `type_info` is the address of its type information; `memory` reads the program, in which no code is run.
    Only single bases are followed, over `MAX_BASES` types in all: False also for a class with several bases, or
    too many above each other.
    """
    for _ in range(MAX_BASES):
        if memory.text(memory.pointer(type_info + WORD)).lstrip("*") in WITH_TEXT:
            return True
        if SINGLE_BASE not in memory.symbol(memory.pointer(type_info)):
            return False
        type_info = memory.pointer(type_info + 2 * WORD)
    return False
