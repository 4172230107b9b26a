"""Shows values whole if they fit, else with their length, and without running code of the program."""

from __future__ import annotations

import functools
import importlib
import re
import sys
import threading
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

forms: Any = importlib.import_module("in_debuggee.dapeer_forms")
objects: Any = importlib.import_module("in_debuggee.dapeer_objects")

ROOM = 4000
"""Characters of a value; the core cuts it further."""
INSIDE = 200
"""Characters of an object inside another one."""
LEAST = 12
"""Characters of room that an element needs at least."""
TOGETHER = 4
"""Elements that share the remaining room."""
ENDING = 3
"""Elements that are shown at the end of a long container."""

BRACKETS: tuple[tuple[Any, str, str], ...] = (
    (tuple, "(", ")"),
    (list, "[", "]"),
    (set, "{", "}"),
    (frozenset, "frozenset({", "})"),
    (deque, "deque([", "])"),
    (dict, "{", "}"),
    (OrderedDict, "OrderedDict({", "})"),
)
SEQUENCES: tuple[Any, ...] = (list, tuple, deque)
MAPPINGS: tuple[Any, ...] = (dict, OrderedDict)
PLAIN = (
    int, float, complex, bool, type(None), type(Ellipsis), range, bytearray, type(re.compile("")),
    type(threading.Lock()), type(threading.RLock()), types.GeneratorType, types.CoroutineType, types.BuiltinFunctionType,
)  # fmt: skip
"""Built-in types whose `repr` runs no code of the program."""
SCALARS = frozenset(map(id, (int, float, bool, type(None))))
"""The ids of these types. The search for a type itself would call the `__hash__` of its metaclass."""
ARGUMENTS: Any = BaseException.__dict__["args"]
PLAIN_TOO = (("decimal", "Decimal"), ("fractions", "Fraction"), ("uuid", "UUID"))
"""More of these, by module and name. They are not imported: the program may have a file of that name."""


WHERE = re.compile(r"(?: object)? at 0x[0-9a-f]+(?=>)")
"""An address in memory, as a `repr` shows it."""


class Inside:
    """The containers and objects around a value that is being shown."""

    def __init__(self, ids: tuple[int, ...] = (), objects: int = 0) -> None:
        self.ids = ids
        self.objects = objects
        """Within an object no `repr` of the program's is run: nobody has asked for what it holds."""

    def of(self, value: Any, *, opened: bool = False) -> Inside:
        """Return what is around the parts of a value."""
        return Inside((*self.ids, id(value)), self.objects + opened)


OUTSIDE = Inside()


def shown(value: Any, room: int = ROOM, inside: Inside = OUTSIDE) -> str:
    """Return a value like its `repr`, in about that many characters; an object without a `repr` with its members."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is bytes:
        return string(value, room)
    # Of these nothing else has to be found out.
    text = represented(value) if id(kind) in SCALARS else contained(value, kind, room, inside)
    if text is None:
        alone = room if not inside.ids else min(room, INSIDE)
        # Its members are shown as those of an object: no `repr` of the program is run.
        within = functools.partial(shown, inside=inside.of(value, opened=True))
        text = forms.described(value, kind, alone, within)
    if text is None:
        text = opened(value, kind, room, inside)
        # Only the outermost object shows its address, as its `repr` does.
        if (
            text is not None
            and inside is OUTSIDE
            and objects.found(kind, "__repr__") is object.__repr__
        ):
            text = f"{text} at {id(value):#x}"
    if text is None and inside.objects and not is_plain(kind):
        text = f"<{objects.name_of(kind)}>"
    if text is None:
        text = represented(value)
        text = WHERE.sub("", text) if inside.objects else text
    return text if len(text) <= 2 * room else f"{text[:room]}… ({len(text)} chars)"


def is_plain(kind: Any) -> bool:
    """Whether the `repr` of a type runs no code of the program."""
    return objects.is_one_of(kind, PLAIN) or any(
        getattr(sys.modules.get(module), name, None) is kind for module, name in PLAIN_TOO
    )


def contained(value: Any, kind: Any, room: int, inside: Inside) -> str | None:
    """Return the text of a container; None for all else, and for a container with a `repr` of its own."""
    if kind is defaultdict:
        factory = shown(value.default_factory, room, inside)
        return f"defaultdict({factory}, {contained(dict(value), dict, room, inside)})"
    shows_itself = objects.found(kind, "__repr__")
    for known, opening, closing in BRACKETS:
        if shows_itself is known.__repr__ and issubclass(kind, known):
            if id(value) in inside.ids:
                return f"{opening}...{closing}"
            return container(value, known, (opening, closing), room, inside.of(value))
    return None


def string(value: Any, room: int) -> str:
    """Return a string as Python writes it; of a long one the beginning and the length."""
    room = max(room, LEAST)
    if len(value) <= room:
        return repr(value)
    text = repr(value[:room])
    return f"{text[:-1]}…{text[-1]} ({len(value)} chars)"


def container(value: Any, known: Any, around: tuple[str, str], room: int, inside: Inside) -> str:
    """Return a container with the elements at its ends that fit, and its length if some are left out."""
    opening, closing = around
    size = known.__len__(value)
    if not size:
        return represented(value)
    room -= len(opening) + len(closing)
    parts = fitting(elements(value, known, inside), size, room)
    if len(parts) == size:
        comma = "," if size == 1 and opening == "(" else ""
        return f"{opening}{', '.join(parts)}{comma}{closing}"
    ending = fitting(backwards(value, known, inside), ENDING, room // 4)[::-1]
    parts = fitting(elements(value, known, inside), size, room - sum(map(len, ending)))
    if not parts:
        return f"{opening}… {size} items{closing}"
    left_out = ["…"] if len(parts) + len(ending) < size else []
    ending = ending[-max(size - len(parts), 0) :] if ending and size > len(parts) else []
    # The length of a record inside another value is of no interest.
    count = "" if known in MAPPINGS and len(inside.ids) > 1 else f" ({size} items)"
    return f"{opening}{', '.join([*parts, *left_out, *ending])}{closing}{count}"


if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Part = tuple[Any, ...]
    """An element, or a key with its value, and the containers around it."""


def elements(value: Any, known: Any, inside: Inside) -> Iterator[Part]:
    """Yield the elements of a container, even if a subclass of the program redefines its iterator."""
    if known in MAPPINGS:
        yield from ((inside, *item) for item in known.items(value))
    else:
        for each in known.__iter__(value):
            yield inside, each


def backwards(value: Any, known: Any, inside: Inside) -> Iterator[Part]:
    """Yield the elements of a container from its end; none for a set, or if an old Python lacks the order."""
    if known in MAPPINGS and hasattr(dict, "__reversed__"):
        yield from ((inside, *item) for item in reversed(known.items(value)))
    elif known in SEQUENCES:
        size: int = known.__len__(value)
        for index in range(size - 1, max(size - ENDING, 0) - 1, -1):
            yield inside, known.__getitem__(value, index)


def fitting(parts: Iterable[Part], size: int, room: int) -> list[str]:
    """Return the first elements as strings, each with its share of the room."""
    texts: list[str] = []
    for inside, *part in parts:
        # Fewer elements, rather than elements of which nothing is visible.
        small = not texts or len(texts[-1]) <= 2 * LEAST
        if room < (LEAST if small else 2 * TOGETHER * LEAST):
            break
        left = size - len(texts)
        share = max(room // max(min(left, TOGETHER), 1), min(room, LEAST))
        text = shown(part[0], share, inside)
        if len(part) > 1:
            text = f"{text}: {shown(part[1], max(share - len(text), LEAST), inside)}"
        if texts and len(text) > room:
            break
        texts.append(text)
        room -= len(text) + 2
        if len(texts) == size:
            break
    return texts


def opened(value: Any, kind: Any, room: int, inside: Inside) -> str | None:
    """Return the members of an object without a `repr` of its own; None if it has one, or has no members."""
    held = members(value, kind, inside)
    if not held:
        return None
    name = objects.name_of(kind)
    if id(value) in inside.ids:
        return f"{name}(...)"
    if inside.objects > 1:
        return f"<{name}>"
    room = room if not inside.objects else min(room, INSIDE)
    within = inside.of(value, opened=True)
    parts: list[str] = []
    left = room - len(name) - 2
    for attribute, each in held.items():
        rest = len(held) - len(parts)
        share = max(left // min(rest, TOGETHER) - len(attribute), LEAST)
        parts.append(f"{attribute}={shown(each, share, within)}")
        left -= len(parts[-1]) + 2
        if left < LEAST:
            break
    more = [f"… ({len(held)} attributes)"] if len(parts) < len(held) else []
    return f"{name}({', '.join(parts + more)})"


def members(value: Any, kind: Any, inside: Inside) -> dict[str, Any]:
    """Return the names and values by which an object is shown; empty: by its own `repr`."""
    shows_itself = objects.found(kind, "__repr__")
    if shows_itself is object.__repr__:
        return {} if issubclass(kind, type) else objects.own(value)
    fields: Any = objects.found(kind, "__dataclass_fields__")
    if fields is not None and objects.written_in(shows_itself, "/dataclasses.py", "/reprlib.py"):
        held = objects.own(value)
        return {name: held[name] for name in fields if fields[name].repr and name in held}
    names: Any = objects.found(kind, "_fields")
    if issubclass(kind, tuple) and objects.written_in(shows_itself, "/collections/__init__.py"):
        return dict(zip(names, tuple.__iter__(value)))  # type: ignore[reportUnknownArgumentType]
    if (
        inside.objects
        and issubclass(kind, BaseException)
        and shows_itself is BaseException.__repr__
    ):
        return {"args": ARGUMENTS.__get__(value)}
    return {}


def represented(value: Any) -> str:
    """Return a value's own `repr`, or a text without it if that fails."""
    try:
        return repr(value)
    except Exception:
        try:
            return object.__repr__(value)
        except Exception:
            return f"<no repr of {objects.name_of(type(value))}>"
