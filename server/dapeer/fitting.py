"""Values cut to the room that there is, so that as much of their structure is seen as possible. Pure.

What adapters show is text, in many languages; but nearly all of them write nested data with brackets and commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LEAST = 8
"""Characters without which nothing of a nested value is shown."""
READ = 100_000
"""Characters of a value whose structure is read."""
LONG = 10_000
"""Characters from which on an ellipsis in a value is taken for one of the adapter's."""
AT_ONCE = 2
"""Elements that share the room that is left."""

_TOKEN = re.compile(
    r"""(?<!\w)[bruf]{0,2}"(?:[^"\\]|\\.)*"|(?<![\w&<])[bruf]{0,2}'(?:[^'\\]|\\.)*'|[][(){},]|\n""",
    re.DOTALL | re.IGNORECASE,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_TOLD = re.compile(r"…\W* \(((?:at least )?[\d,]+ \w+)\)\Z")
"""How long something was before anybody cut it: `… (2000 chars)`, `…] (1000 items)`."""
_QUOTED = re.compile(r"""[bru]{0,2}(["'`]).*\1""", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{4,6}\}?|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_LEFT_OUT = frozenset({"…", "..."})
_NOTHING = frozenset({"…", "(…)", "[…]", "{…}"})


def shortened(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, and say how many there were before anybody cut it.

    >>> shortened("x" * 20, 10)
    'xxxxxxxxxx… (20 chars)'
    >>> shortened(shortened("x" * 2000, 100), 10)
    'xxxxxxxxxx… (2000 chars)'
    >>> shortened(repr("x" * 20), 10)
    "'xxxxxxxxx… (20 chars)"
    """
    if len(text) <= limit:
        return text
    told = _TOLD.search(text)
    # js-debug, for one, takes the middle out of a long string without a word.
    least = "at least " if len(text) > LONG and "…" in text else ""
    return f"{text[:limit]}… ({told[1] if told else f'{least}{_length(text)} chars'})"


def _length(text: str) -> int:
    """Return how many characters a text has; of a string in quotes, how many are in it."""
    if _QUOTED.fullmatch(text) is None:
        return len(text)
    start = text.index(text[-1])
    return len(_ESCAPED.sub("x", text[start + 1 : -1]))


def fitted(text: str, limit: int) -> str:
    """Cut a value to about `limit` characters: where it is nested, inside; and say how many elements it has.

    >>> fitted("{0: [[1, 2], [3]], 1: [[4, 5]]}", 40)
    '{0: [[1, 2], [3]], 1: [[4, 5]]}'
    >>> fitted(str([{"id": n, "name": "cup"} for n in range(1000)]), 60)
    "[{'id': 0, 'name': 'cup'}, {'id': 1, …}, …] (1000 items)"
    >>> fitted("Point { x: 1, y: [" + "0, " * 50 + "0] }", 40)
    'Point { x: 1, y: [0, 0, 0, 0, 0, …] }'
    """
    if len(text) <= limit:
        return text
    told = _TOLD.search(text[-80:])
    value = _read(text[:READ])
    group = _main(value, limit)
    if group is None:
        return shortened(text, limit)
    count = told[1] if told else _count(group)
    left_out = len(text) > READ
    cut = _group(group, limit - (len(value.text) - len(group.text)))
    head = value.text[: group.start - value.start]
    tail = "" if told or left_out else value.text[group.end - value.start :]
    all_there = not cut.endswith(f", …{group.closing}")
    if not told and (all_there or left_out or f"({len(group.items)})" in head):
        count = ""
    return f"{head}{cut}{tail}" + (f" ({count})" if count else "")


_FOLDED = re.compile(r"\{…\}|\A\{\.\.\.\}\Z|\[…\]|\bArray\(\d+\)")


_KEYED = re.compile(r"(?:Weak)?(?:Map|Set)\(")
"""JavaScript's maps and sets: their children are not their elements."""


def is_folded(text: str) -> bool:
    """Whether an adapter has left out what the elements of a value are.

    >>> is_folded("(2) [{…}, {…}]"), is_folded("{a: Array(2)}"), is_folded("[1, 2, …]")
    (True, True, False)
    >>> is_folded("{...}")
    True
    """
    return _KEYED.match(text) is None and _FOLDED.search(text[:READ]) is not None


def is_list(text: str) -> bool:
    """Whether the elements of a value have no names."""
    group = _main(_read(text[:READ]), len(text))
    return group is not None and group.source[group.start] == "["


def unfolded(text: str, elements: Sequence[tuple[str, str]]) -> str:
    """Return a folded value with its first elements, names and values, in their place.

    >>> unfolded("(1000) [{…}, {…}, …]", [("0", "{id: 1}"), ("1", "{id: 2}")])
    '(1000) [{id: 1}, {id: 2}, …]'
    >>> unfolded("Cart {items: Array(1)}", [("items", "(1) ['cup']")])
    "Cart {items: (1) ['cup']}"
    """
    group = _main(_read(text[:READ]), len(text))
    if group is None or not elements:
        return text
    named = group.source[group.start] != "["
    parts = [f"{name}: {value}" if named else value for name, value in elements]
    size = _SIZE.match(text)
    folded = group.items[-1].text in _LEFT_OUT if group.items else False
    more = (
        folded or len(parts) < len(group.items) or (size is not None and len(parts) < int(size[1]))
    )
    return f"{text[: group.start + 1]}{', '.join(parts)}{', …' if more and not named else ''}{text[group.end - 1 :]}"


_SIZE = re.compile(r"\w*\((\d+)\) ")


def is_nested(text: str) -> bool:
    r"""Whether a value is written as what it consists of.

    >>> is_nested("Cart(items=[1, 2])"), is_nested("(2, 3) a int64\n   a\n0  1")
    (True, False)
    """
    return _main(_read(text[:READ]), len(text)) is not None


def _main(value: _Item, limit: int) -> _Group | None:
    """Return the brackets that hold most of a value; None: it is prose, or written in another way."""
    group = max(value.groups, key=lambda group: len(group.text), default=None)
    apart = len(value.text) - len(group.text) if group else 0
    return group if group and apart <= min(limit, len(value.text)) // 2 else None


@dataclass(slots=True)
class _Group:
    """Something in brackets; the whole value is one without."""

    source: str
    start: int
    end: int
    closing: str
    items: list[_Item] = field(default_factory=list["_Item"])

    @property
    def text(self) -> str:
        return self.source[self.start : self.end]


@dataclass(slots=True)
class _Item:
    """What stands between two commas, and what of it is in brackets."""

    source: str
    start: int
    end: int
    groups: list[_Group] = field(default_factory=list[_Group])

    @property
    def text(self) -> str:
        return self.source[self.start : self.end].strip()


def _read(text: str) -> _Item:
    """Read the structure of a value; brackets that nobody closes end where it ends."""
    whole = _Item(text, 0, len(text))
    open_groups: list[_Group] = []
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _PAIRS:
            group = _Group(text, token.start(), len(text), _PAIRS[sign])
            group.items.append(_Item(text, token.end(), len(text)))
            (open_groups[-1].items[-1] if open_groups else whole).groups.append(group)
            open_groups.append(group)
        elif open_groups and sign == open_groups[-1].closing:
            group = open_groups.pop()
            group.end, group.items[-1].end = token.end(), token.start()
            if not group.items[-1].text:
                group.items.pop()
        elif open_groups and sign == ",":
            group = open_groups[-1]
            group.items[-1].end = token.start()
            group.items.append(_Item(text, token.end(), len(text)))
    return whole


def _count(group: _Group) -> str:
    """Return how many elements something has; empty where the adapter has left some out."""
    known = group.items and not any(item.text in _LEFT_OUT for item in group.items)
    return f"{len(group.items)} items" if known and group.source[group.end - 1] in ")]}" else ""


def _group(group: _Group, room: int) -> str:
    """Return what is in brackets, with as many elements as fit."""
    if len(group.text) <= room:
        return group.text
    opening = group.source[group.start]
    space = " " if group.source[group.start + 1 : group.start + 2] == " " else ""
    parts = list(_items(group, room - 2 - len(", …") - 2 * len(space)))
    if not parts:
        return f"{opening}…{group.closing}"
    rest = ", …" if len(parts) < len(group.items) and parts[-1] not in _LEFT_OUT else ""
    return f"{opening}{space}{', '.join(parts)}{rest}{space if not rest else ''}{group.closing}"


def _items(group: _Group, room: int) -> Iterator[str]:
    """Yield the first elements, each cut to its share of the room."""
    for number, item in enumerate(group.items):
        left = len(group.items) - number
        share = room if left == 1 else max(room // min(left, AT_ONCE), min(room, LEAST))
        if room < LEAST and len(item.text) > room:
            return
        part = _item(item, share)
        if len(part) > room or part == "…" or (number and part in _NOTHING):
            return
        yield part
        room -= len(part) + 2


def _item(item: _Item, room: int) -> str:
    """Return one element: what is not in brackets first, and what is as far as there is room."""
    text = item.text
    if len(text) <= room:
        return text
    start = item.source.index(text, item.start) if text else item.start
    nested = sum(len(group.text) for group in item.groups)
    left, parts, place = room - (len(text) - nested), list[str](), start
    if not item.groups or left < len("{…}"):
        return f"{text[: max(room - 1, 0)].rstrip()}…"
    for number, group in enumerate(item.groups):
        parts.append(item.source[place : group.start])
        cut = _group(group, left // (len(item.groups) - number))
        left -= len(cut)
        parts.append(cut)
        place = group.end
    return "".join(parts) + item.source[place : start + len(text)]
