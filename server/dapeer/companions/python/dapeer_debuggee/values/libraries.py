"""Shows what holds other values in Python's library and lxml, without a call.

Such are references, views, mocks, tasks, elements of XML.
"""

from __future__ import annotations

import gc
import re
import sys
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import objects

EMPTY: dict[Any, Any] = {}
VIEWS: tuple[Any, ...] = (type(EMPTY.keys()), type(EMPTY.values()), type(EMPTY.items()))
PROXIES: tuple[Any, ...] = (weakref.ProxyType, weakref.CallableProxyType)
REFERENCE: Any = weakref.ref
LIST: Any = list
TUPLE: Any = tuple
TARGET = re.compile(r" to (?:'.*?)?(\w+)'? at 0x")
"""Names a type in the `repr` of a proxy; since Python 3.13 with its module."""
MAX_LISTED_ITEMS = 1000
"""Items of a view that are not listed."""
SHOWN_CALLS = 3
"""Calls of a mock that are shown: the last ones."""

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in at most that many characters."""


def describe_library_value(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return the text of a reference, view, cell, mock, task or XML element; None for all other values.

    `kind` is the type of `value`; `room` is about how many characters it may have; `show` makes the text of a value inside of it.
    """
    text = referring(value, kind)
    if text is not None:
        return text
    if kind is types.MappingProxyType:
        return f"mappingproxy({show(gc.get_referents(value)[0], room)})"
    if kind is types.CellType:
        held = gc.get_referents(value)
        return f"<cell: {show(held[0], room)}>" if held else "<cell: empty>"
    if objects.is_one_of(kind, VIEWS):
        items = f"{len(value)} items" if len(value) > MAX_LISTED_ITEMS else show(list(value), room)
        return f"{objects.name_of(kind)}({items})"
    for path, describe in KNOWN:
        if issubclass(kind, known_class(path)):
            return describe(value, known_class(path), room, show)
    return None


def referring(value: Any, kind: Any) -> str | None:
    """Return the text of a weak reference or proxy, with the type that it refers to; None for all else."""
    if issubclass(kind, weakref.ref):
        target: Any = REFERENCE.__call__(value)
        return f"<weakref to {'nothing' if target is None else objects.name_of(type(target))}>"
    if not objects.is_one_of(kind, PROXIES):
        return None
    # Its `repr` names the type of the other object, without asking that.
    found = TARGET.search(repr(value))
    name = found[1] if found else "NoneType"
    return f"<weakproxy to {'nothing' if name == 'NoneType' else name}>"


def known_class(path: str) -> Any:
    """Return the class `MODULE.NAME` if that module is imported, else `()`.

    Nothing is a subclass of `()`.
    """
    module, _, name = path.rpartition(".")
    found = getattr(sys.modules.get(module), name, ())
    return found if isinstance(found, type) else ()


def mock(value: Any, of: Any, room: int, show: Show) -> str:
    """Return the text of a mock: its class, its name, the class that it stands for, and its last calls.

    `of` is not used; `room` and `show` are as for `described`.
    """
    name = objects.name_of(type(value))
    held = objects.attributes_of(value)
    parts: list[str] = []
    if type(held.get("_mock_name")) is str:
        parts.append(f"name={held['_mock_name']!r}")
    if held.get("_spec_class") is not None:
        parts.append(f"spec={objects.name_of(held['_spec_class'])}")
    calls: Any = held.get("_mock_mock_calls") or ()
    if LIST.__len__(calls) if calls else 0:
        last = [
            call(each, room, show) for each in LIST.__getitem__(calls, slice(-SHOWN_CALLS, None))
        ]
        more = LIST.__len__(calls) - len(last)
        parts.append(f"calls=[{'…, ' * bool(more)}{', '.join(last)}]")
    return f"<{name}{': ' * bool(parts)}{', '.join(parts)}>"


def call(one: Any, room: int, show: Show) -> str:
    """Return the text of one call of a mock; `one` is its tuple of name, arguments and named arguments."""
    name, given, named = TUPLE.__iter__(one)
    parts = [show(each, room // 8) for each in given]
    parts += [f"{each}={show(held, room // 8)}" for each, held in named.items()]
    return f"{name}({', '.join(parts)})"


def future(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return the text of a future or task of asyncio with its state; a task also has name and coroutine.

    `kind` is `asyncio.Task` or `asyncio.Future`.
    """
    asyncio: Any = sys.modules["asyncio"]
    is_task = issubclass(kind, asyncio.Task)
    of: Any = asyncio.Task if is_task else asyncio.Future
    parts = [objects.name_of(kind)]
    if is_task:
        named = (
            objects.of_class(value, "_name") if not hasattr(of, "get_name") else of.get_name(value)
        )
        parts += [show(named, room)]
    if not of.done(value):
        parts.append("pending")
    elif of.cancelled(value):
        parts.append("cancelled")
    else:
        error = objects.of_class(value, "_exception")
        result = objects.of_class(value, "_result")
        parts.append(
            f"result={show(result, room // 2)}" if error is None else show(error, room // 2)
        )
    if is_task:
        parts.append(show(of.get_coro(value), room))
    return f"<{' '.join(parts)}>"


def describe_element(value: Any, of: Any, room: int, show: Show) -> str:
    """Return the text of an XML element: its tag, attributes, text, and how many elements are in it.

    `of` is the element class of lxml or of Python's library, whose own methods read it.
    """
    parts = [show(of.tag.__get__(value), room // 4)]
    parts += [f"{name}={show(each, room // 4)}" for name, each in of.items(value)]
    text = of.text.__get__(value)
    if type(text) is str and text.strip():
        parts.append(f"text={show(text.strip(), room // 2)}")
    if count := of.__len__(value):
        parts.append(f"{count} element{'s' * (count > 1)} in it")
    return f"Element({', '.join(parts)})"


KNOWN = (
    ("unittest.mock.NonCallableMock", mock),
    ("asyncio.Task", future),
    ("asyncio.Future", future),
    ("lxml.etree._Element", describe_element),
    ("xml.etree.ElementTree.Element", describe_element),
)
"""Classes by their modules and names, and what tells values of theirs."""
