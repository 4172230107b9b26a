"""Reads how a value is nested from its text: brackets, and the commas in them. Pure.

Adapters show values as text, in many languages; but nearly all write nested data with brackets and commas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_READ_CHARS = 100_000
"""Characters of a value whose structure is read."""

_TOKEN = re.compile(
    r"""len: \d+, cap: \d+, (?=\[)|, capacity \d+ =|(?<!\w)[bruf]{0,2}"(?:[^"\\]|\\.)*"|(?<![\w&<])[bruf]{0,2}'(?:[^'\\]|\\.)*'|\((?:size )?\d+\)|#<(?:struct )?[A-Z][\w:]*(?: (?=@|\w+=))?|(?<![\w#])<[A-Z_][\w.]*:?[ ]?|(?<![=-])>|[][(){},]|\n""",
    re.DOTALL | re.IGNORECASE,
)
"""A string, a bracket, or a comma; sizes whose commas separate nothing; and the class of an object.

Such sizes are the notes of GDB and Delve on a container's capacity, and others. After the class of a Ruby or Python
object its bracket opens.
"""
_OPENING = re.compile(r"[(\[{<]")
"""What every bracketed part begins with; found faster than tokens, which a long string has none of."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}
LEFT_OUT = frozenset({"…", "..."})
"""A placeholder for elements that an adapter has left out."""


@dataclass(slots=True)
class Group:
    """Something in brackets; the whole value is one without."""

    source: str
    start: int
    end: int
    closing: str
    whole: bool = True
    """Whether all elements are shown, though some may be cut."""
    items: list[Item] = field(default_factory=list["Item"])

    @property
    def text(self) -> str:
        """The content of the brackets, including them."""
        return self.source[self.start : self.end]

    def show(self, count: int) -> None:
        """Set `whole`: whether `count`, the number of elements that are shown, is that of all elements."""
        self.whole = count == len(self.items)


@dataclass(slots=True)
class Item:
    """The text between two commas, and its bracketed parts."""

    source: str
    start: int
    end: int
    groups: list[Group] = field(default_factory=list[Group])

    @property
    def text(self) -> str:
        """The text, without surrounding space."""
        return self.source[self.start : self.end].strip()


def read(text: str) -> Item:
    """Return the structure of a value's text: its bracketed parts, and the elements between their commas.

    The result stands for the whole text; `groups` of an element are the brackets in it, and `items` of brackets their elements.
    Brackets that are not closed end with the text. Brackets and commas in quoted strings do not count.
    """
    whole = Item(text, 0, len(text))
    open_groups: list[Group] = []
    if _OPENING.search(text) is None:
        return whole
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _PAIRS or sign.startswith(("#<", "<")):
            start = token.start() if sign in _PAIRS else token.end() - 1
            group = Group(text, start, len(text), _PAIRS.get(sign, ">"))
            group.items.append(Item(text, token.end(), len(text)))
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
            group.items.append(Item(text, token.end(), len(text)))
    return whole


def main_group(value: Item, limit: int) -> Group | None:
    """Return the longest brackets of a value; None if too much of the value is outside of them.

    That is more than half of the value, or half of `limit` characters: then it is prose, or written in another way.
    """
    group = max(value.groups, key=lambda group: len(group.text), default=None)
    apart = len(value.text) - len(group.text) if group else 0
    return group if group and apart <= min(limit, len(value.text)) // 2 else None


def is_nested(text: str) -> bool:
    r"""Return whether a value's text consists mainly of brackets with its elements or members.

    >>> is_nested("Cart(items=[1, 2])"), is_nested("(2, 3) a int64\n   a\n0  1")
    (True, False)
    """
    return main_group(read(text[:MAX_READ_CHARS]), len(text)) is not None
