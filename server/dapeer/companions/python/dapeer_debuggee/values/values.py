"""Shows values whole if they fit, else with their length, and without running code of the program."""

from __future__ import annotations

import functools
import re
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any

from . import exact, fields, forms, objects, reprs

MAX_VALUE_CHARS = 4000
"""Characters of a value; the core cuts it further."""
MAX_INNER_CHARS = 200
"""Characters of an object inside another one."""
MIN_CHARS = 12
"""Characters of room that an element needs at least."""
SHARING_ELEMENTS = 4
"""Elements that share the remaining room."""
LAST_ELEMENTS = 3
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
SCALARS = frozenset(map(id, (float, bool, type(None))))
"""The ids of these types. The search for a type itself would call the `__hash__` of its metaclass."""
ARGUMENTS: Any = BaseException.__dict__["args"]
MAX_UNCUT_CHARS = 60
"""Characters of a `repr` that is never cut."""
WHERE = re.compile(r"(?: object)? at 0x[0-9a-f]+(?=>)")
"""An address in memory, as a `repr` shows it."""


class Inside:
    """The containers and objects around a value that is being shown."""

    def __init__(self, ids: tuple[int, ...] = (), objects: int = 0) -> None:
        self.ids = ids
        self.objects = objects
        """How many of them are objects."""

    def of(self, value: Any, *, opened: bool = False) -> Inside:
        """Return an `Inside` for the parts of a value: this one and the value; `opened`: it is an object."""
        return Inside((*self.ids, id(value)), self.objects + opened)


OUTSIDE = Inside()
"""A value by itself: it is shown with its address where its `repr` does that."""


def shown(value: Any, room: int = MAX_VALUE_CHARS, inside: Inside = OUTSIDE) -> str:
    """Return a value like its `repr` in about `room` characters, without code of the program.

    An object with a `repr` that was not called is shown with its members, as `<Order: id=1, name='Ada'>`. A text that is cut says how long
    it is. `inside` is what the value is in; leave it out for a value by itself.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is bytes:
        return exact.string(value, max(room, MIN_CHARS))
    if kind is int:
        return exact.integer(value, max(3 * room, MIN_CHARS * MIN_CHARS))
    # Of these nothing else has to be found out.
    if id(kind) in SCALARS:
        return repr(value)
    text = contained(value, kind, room, inside)
    if text is None:
        text = recognized(value, kind, room, inside)
    if len(text) <= max(2 * room, MAX_UNCUT_CHARS):
        return text
    # Among other values a text that is cut anywhere could not be told from these.
    alone = not inside.ids and not inside.objects
    more = f"({len(text)} chars)"
    return f"{text[:room]}… {more}" if alone else f"<{objects.name_of(kind)} {more}>"


def recognized(value: Any, kind: Any, room: int, inside: Inside) -> str:
    """Return the text of a value that is no container: in its own form, with its members, or its `repr`.

    `kind` is the type of the value, as everywhere here.
    """
    alone = room if not inside.ids else min(room, MAX_INNER_CHARS)
    within = functools.partial(shown, inside=inside.of(value, opened=True))
    text: str | None = forms.described(value, kind, alone, within)
    if text is not None:
        return text
    text = opened(value, kind, room, inside)
    if text is None:
        return represented(value, kind, room, inside)
    # Only the outermost object shows its address, as its `repr` does.
    bare = inside is OUTSIDE and objects.found(kind, "__repr__") is object.__repr__
    return f"{text} at {id(value):#x}" if bare else text


def represented(value: Any, kind: Any, room: int, inside: Inside) -> str:
    """Return the `repr` of a value if it runs no code of the program and is short.

    Else its contents or type. `kind` is the value's type, `room` how many characters it may have, `inside` what it is in.
    """
    bare = objects.found(kind, "__repr__") is object.__repr__ and inside is not OUTSIDE
    if not bare and reprs.is_safe(value):
        text = by_itself(value, kind)
        text = text if inside is OUTSIDE else WHERE.sub("", text)
        if len(text) <= max(room, MAX_UNCUT_CHARS):
            return text
    else:
        text = f"<{objects.name_of(kind)}>"
    return contents_text(value, kind, room, inside) or text


def contained(value: Any, kind: Any, room: int, inside: Inside) -> str | None:
    """Return the text of a container or a plain exception.

    None for all else, and for one with a `repr` of its own.
    """
    if kind is defaultdict:
        factory = shown(value.default_factory, room, inside)
        return f"defaultdict({factory}, {contained(dict(value), dict, room, inside)})"
    shows_itself = objects.found(kind, "__repr__")
    if shows_itself is BaseException.__repr__:
        given, around = ARGUMENTS.__get__(value), (f"{objects.name_of(kind)}(", ")")
        if not given or id(value) in inside.ids:
            return ("..." * bool(given)).join(around)
        return container(given, tuple, around, room, inside.of(value))
    for known, opening, closing in BRACKETS:
        if shows_itself is known.__repr__ and issubclass(kind, known):
            if id(value) in inside.ids:
                return f"{opening}...{closing}"
            return container(value, known, (opening, closing), room, inside.of(value))
    return None


def container(value: Any, known: Any, around: tuple[str, str], room: int, inside: Inside) -> str:
    """Return a container with the elements at its ends that fit, and its length if some are left out.

    `known` is the built-in class whose methods read it; `around` are the texts before and behind the elements; `inside` is what the
    container is in; `room` is how many characters it may have.
    """
    opening, closing = around
    size = known.__len__(value)
    if not size:
        return repr(known())
    room -= len(opening) + len(closing)
    parts = fitting(elements(value, known, inside), size, room)
    if len(parts) == size:
        comma = "," if size == 1 and opening == "(" else ""
        return f"{opening}{', '.join(parts)}{comma}{closing}"
    ending = fitting(backwards(value, known, inside), LAST_ELEMENTS, room // 4)[::-1]
    parts = fitting(elements(value, known, inside), size, room - sum(map(len, ending)))
    if not parts:
        return f"{opening}… {size} items{closing}"
    left_out = ["…"] if len(parts) + len(ending) < size else []
    ending = ending[-max(size - len(parts), 0) :] if ending and size > len(parts) else []
    # The length of a record inside another value is of no interest.
    count = "" if known in MAPPINGS and len(inside.ids) > 1 else f" ({size} items)"
    return f"{opening}{', '.join([*parts, *left_out, *ending])}{closing}{count}"


def elements(value: Any, known: Any, inside: Inside) -> Iterator[tuple[Any, ...]]:
    """Yield each element of a container as `(inside, value)` or `(inside, key, value)`.

    The methods of the built-in class `known` are used, even if a subclass of the program redefines them.
    """
    if known in MAPPINGS:
        yield from ((inside, *item) for item in known.items(value))
    else:
        for each in known.__iter__(value):
            yield inside, each


def backwards(value: Any, known: Any, inside: Inside) -> Iterator[tuple[Any, ...]]:
    """Yield the elements of a container from its end, as `elements` does; of a sequence only the last few.

    It yields nothing for a set, or if an old Python does not know the order of a dict.
    """
    if known in MAPPINGS and hasattr(dict, "__reversed__"):
        yield from ((inside, *item) for item in reversed(known.items(value)))
    elif known in SEQUENCES:
        size: int = known.__len__(value)
        for index in range(size - 1, max(size - LAST_ELEMENTS, 0) - 1, -1):
            yield inside, known.__getitem__(value, index)


def fitting(parts: Iterable[tuple[Any, ...]], size: int, room: int) -> list[str]:
    """Return the texts of the first elements that fit into `room` characters, `size` at most.

    `parts` are tuples as `elements` yields them.
    """
    texts: list[str] = []
    for inside, *part in parts:
        # Fewer elements, rather than elements of which nothing is visible.
        small = not texts or len(texts[-1]) <= 2 * MIN_CHARS
        if room < (MIN_CHARS if small else 2 * SHARING_ELEMENTS * MIN_CHARS):
            break
        left = size - len(texts)
        share = max(room // max(min(left, SHARING_ELEMENTS), 1), min(room, MIN_CHARS))
        text = shown(part[0], share, inside)
        if len(part) > 1:
            text = f"{text}: {shown(part[1], max(share - len(text), MIN_CHARS), inside)}"
        if texts and len(text) > room:
            break
        texts.append(text)
        room -= len(text) + 2
        if len(texts) == size:
            break
    return texts


def opened(value: Any, kind: Any, room: int, inside: Inside) -> str | None:
    """Return an object with its members if its `repr` shows those or nothing; else None.

    None also means that it has no members.
    """
    held = members(value, kind)
    if not held:
        return None
    return written(value, held, room, inside, (f"{objects.name_of(kind)}(", ")"))


def contents_text(value: Any, kind: Any, room: int, inside: Inside) -> str | None:
    """Return the text of what an object holds whose own `repr` is not called; None if it holds nothing.

    It begins with the type: `<Order: id=1>`. `room` is how many characters it may have, `inside` what it is in.
    """
    name = objects.name_of(kind)
    within = inside.of(value, opened=True)
    if inside.objects <= 1 and id(value) not in inside.ids:
        for known, opening, closing in reversed(BRACKETS):
            if issubclass(kind, known):
                return f"<{name}: {container(value, known, (opening, closing), min(room, MAX_INNER_CHARS), within)}>"
        plain = exact.plain_value(value, kind)
        if plain is not None:
            return f"<{name}: {shown(plain, min(room, MAX_INNER_CHARS), within)}>"
    held = objects.own(value)
    if issubclass(kind, BaseException):
        held = {"args": ARGUMENTS.__get__(value), **held}
    elif objects.is_proxy(kind):
        others = reprs.stood_for(value)
        held = {"holds": others} if others else {}
    own = not reprs.is_known(objects.found(kind, "__repr__"), kind) or objects.is_proxy(kind)
    around = (f"<{name}: ", ">") if own else (f"{name}(", ")")
    return written(value, held, room, inside, around) if held else None


def written(
    value: Any, held: dict[str, Any], room: int, inside: Inside, around: tuple[str, str]
) -> str:
    """Return the names and values of `held` between the two texts `around`, in about `room` characters.

    Where they do not all fit, those that say most come first, and their number follows. `inside` is what the object `value` is in: within
    two other objects only its type is named, within itself `TYPE(...)`.
    """
    name = objects.name_of(type(value))
    if id(value) in inside.ids:
        return f"{name}(...)"
    if inside.objects > 1:
        return f"<{name}>"
    room = room if not inside.objects else min(room, MAX_INNER_CHARS)
    within = inside.of(value, opened=True)
    left = room - sum(map(len, around))
    parts = named(held, left, within)
    if len(parts) < len(held):
        parts = named(dict(sorted(held.items(), key=sort_key)), left, within)
    more = [f"… ({len(held)} attributes)"] if len(parts) < len(held) else []
    return f"{around[0]}{', '.join(parts + more)}{around[1]}"


def named(held: dict[str, Any], left: int, within: Inside) -> list[str]:
    """Return the first items of `held` as a list of `NAME=VALUE`, as many as fit into `left` characters.

    The first one is always there. `within` is the `Inside` for the values.
    """
    parts: list[str] = []
    for attribute, each in held.items():
        rest = len(held) - len(parts)
        share = max(left // min(rest, SHARING_ELEMENTS) - len(attribute), MIN_CHARS)
        parts.append(f"{attribute}={shown(each, share, within)}")
        left -= len(parts[-1]) + 2
        if left < MIN_CHARS:
            break
    return parts


def sort_key(item: tuple[str, Any]) -> int:
    """Return a key to sort attributes by: 0 a number or text, 1 an object, 2 a container, 3 None.

    `item` is name and value.
    """
    kind: Any = type(item[1])  # pyright: ignore[reportUnknownVariableType]
    if objects.is_one_of(kind, (str, int, float, bool, bytes)):
        return 0
    if item[1] is None:
        return 3
    return 2 if any(issubclass(kind, known) for known, *_ in BRACKETS) else 1


def members(value: Any, kind: Any) -> dict[str, Any]:
    """Return the names and values by which a class's `repr` shows an object; empty: it shows it otherwise.

    That holds for classes without a `repr`, and for generated ones: named tuples, dataclasses, attrs, pydantic. What an object of
    pydantic keeps beside its fields is among them.
    """
    shows = objects.found(kind, "__repr__")
    if shows is object.__repr__:
        return {} if issubclass(kind, type) else objects.own(value)
    names: Any = objects.found(kind, "_fields")
    if issubclass(kind, tuple) and objects.written_in(shows, "/collections/__init__.py"):
        return dict(zip(names, tuple.__iter__(value)))  # type: ignore[reportUnknownArgumentType]
    chosen = fields.names_of(kind, shows)
    if chosen is None:
        return {}
    held = objects.own(value)
    chosen += objects.kept_in(value, objects.EXTRAS)
    return {name: held[name] for name in chosen if name in held}


def by_itself(value: Any, kind: Any) -> str:
    """Return a value's own `repr`, which may run code; if that raises, a text that says so."""
    try:
        return repr(value)
    except Exception:
        return f"<no repr of {objects.name_of(kind)}>"
