"""Values cut to the room that there is, so that as much of their structure is seen as possible. Pure.

What adapters show is text, in many languages; but nearly all of them write nested data with brackets and commas.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

LEAST = 8
"""Characters without which nothing of a nested value is shown."""
READ = 100_000
"""Characters of a value whose structure is read."""
LONG = 10_000
"""Characters from which on an ellipsis in a value is taken for one of the adapter's."""
AT_ONCE = 2
"""Elements that share the room that is left."""

ENDING = 24
"""Characters without which the last element of a list is not cut."""

_TOKEN = re.compile(
    r"""len: \d+, cap: \d+, (?=\[)|, capacity \d+ =|(?<!\w)[bruf]{0,2}"(?:[^"\\]|\\.)*"|(?<![\w&<])[bruf]{0,2}'(?:[^'\\]|\\.)*'|\((?:size )?\d+\)|#<(?:struct )?[A-Z][\w:]*(?: (?=@|\w+=))?|(?<![=-])>|[][(){},]|\n""",
    re.DOTALL | re.IGNORECASE,
)
"""A string, a bracket, a comma; what GDB and Delve say of a container's room, and others of its size, which parts nothing; and the class of an object of Ruby's, behind which its bracket is taken to open."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_TOLD = re.compile(r"(?:…\W*|[\])}]) \(((?:at least )?[\d,]+ (?:chars|items))\)\Z")
"""How long something was before anybody cut it: `… (2000 chars)`, `…, 999] (1000 items)`."""
_KEY = re.compile(r"""['"]?([\w$@.-]+)['"]?\s*(?:=>|[:=](?!=))""")
"""The name of a member, or the key of an element."""
_SIGN = re.compile(r"""['"]?[\w$@.-]+['"]?(\s*(?:=>|[:=])\s*)""")
"""What stands between a name and its value."""
_QUOTED = re.compile(r"""[bru]{0,2}(["'`]).*\1""", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{4,6}\}?|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_LEFT_OUT = frozenset({"…", "..."})
_CAPACITY = re.compile(r", capacity \d+(?= =)")
_TWICE = re.compile(r"(\((\d+)\) [\[{])(?:size|length): \2(?:, |(?=[\]}]))")
"""A size that stands among the members, too, as in `Map(2) {size: 2, a => 1, b => 2}`."""
_PLACE = re.compile(r"(?<=#<)([A-Z][\w:]*):0x[0-9a-f]+(?= @)")
"""Where an object of Ruby lies, of one that is told by its members."""
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


def fitted(text: str, limit: int, used: Collection[str] = ()) -> str:
    """Cut a value to about `limit` characters: where it is nested, inside; and say how many elements it has.

    Of a list its beginning and end are kept, of what has members first those that are `used`.

    >>> fitted("{0: [[1, 2], [3]], 1: [[4, 5]]}", 40)
    '{0: [[1, 2], [3]], 1: [[4, 5]]}'
    >>> fitted(str([{"id": n, "name": "cup"} for n in range(1000)]), 60)
    "[{'id': 0, 'name': 'cup'}, {'id': 1, …}, …] (1000 items)"
    >>> fitted(str(list(range(1000))), 30)
    '[0, 1, 2, 3, 4, 5, 6, …, 999] (1000 items)'
    >>> fitted("Point { x: 1, y: [" + "0, " * 50 + "9] }", 40)
    'Point { x: 1, y: [0, 0, 0, 0, …, 9] }'
    >>> fitted("Cart(name='a long name', more='a long text', total=3)", 40, used={"total"})
    "Cart(total=3, name='a lo…, more='a…)"
    """
    text = _PLACE.sub(r"\1", _TWICE.sub(r"\1", text))
    if len(text) <= limit:
        return text
    if len(small := _CAPACITY.sub("", text)) <= limit:
        return small
    told = _TOLD.search(text[-80:])
    value = _read(text[:READ])
    group = _main(value, limit)
    if group is None:
        return shortened(text, limit)
    count = told[1] if told else _count(group)
    left_out = len(text) > READ
    cut = _group(group, limit - (len(value.text) - len(group.text)), used)
    head = value.text[: group.start - value.start]
    tail = "" if told or left_out else value.text[group.end - value.start :]
    if not told and (group.whole or left_out or f"({len(group.items)})" in head):
        count = ""
    return f"{head}{cut}{tail}" + (f" ({count})" if count else "")


def rows(lines: Sequence[str], limit: int) -> str:
    """Return a table as one line: what it says of itself, its first rows and its last one.

    >>> rows(["(9, 1) id int64", "id", "0 4", "1 4", "…", "8 4"], 30)
    '(9, 1) id int64 | id | … | 8 4'
    >>> rows(["(9, 4) id int64, name object, kind category", "0 4"], 40)
    '(9, 4) id int64, … | 0 4'
    """
    whole = " | ".join(lines)
    if len(whole) <= limit:
        return whole
    head, *body = lines
    ending = [f"… | {body[-1]}"] if "…" in body else []
    shown = [_columns(head, limit // 2)]
    for row in body:
        if row == "…" or len(" | ".join([*shown, row, *ending])) > limit:
            break
        shown.append(row)
    else:
        return " | ".join(shown)
    return " | ".join([*shown, *(ending or ["…"])])


def _columns(head: str, room: int) -> str:
    """Return what a table says of itself: its shape, and as many of its columns as fit."""
    fit = head[:room].rpartition(", ")[0]
    if len(head) > room and ") " in fit:
        return f"{fit}, …"
    return shortened(head, room)


_FOLDED = re.compile(
    r"\{…\}|\A\{\.\.\.\}\Z|\[…\]|\[\.\.\]|\{\.\.\}|, \.\.\.\}\Z|\bArray\(\d+\)|\A\(\d+\) \[([A-Z]\w*)[],]"
)
_CUT = re.compile(r".{1000}.*\.\.\.\Z", re.DOTALL)
"""A long value that an adapter has cut at its end, in the middle of what is in it."""
_POINTER = re.compile(r"\{?0x0*[1-9a-f][0-9a-f]*\}?")


_KEYED = re.compile(r"(?:Weak)?(?:Map|Set)\(")
"""JavaScript's maps and sets: their children are not their elements."""


def is_folded(text: str) -> bool:
    """Whether an adapter has left out what the elements of a value are.

    >>> is_folded("(2) [{…}, {…}]"), is_folded("{a: Array(2)}"), is_folded("[1, 2, …]")
    (True, True, False)
    >>> is_folded("{...}"), is_folded("(2) [Item, Item]"), is_folded("(2) ['A', 'B']")
    (True, True, False)
    """
    hides = _FOLDED.search(text[:READ]) and not (_KEYED.match(text) or _TOLD.search(text[-80:]))
    return bool(hides or _CUT.match(text))


def says_nothing(text: str, kind: str) -> bool:
    """Whether a value is told by the name of its type, or by where it lies.

    >>> says_nothing("Worker", "Worker"), says_nothing("0x7f10", "Node *"), says_nothing("0x7f10", "void *")
    (True, True, False)
    """
    return text == kind or bool(_POINTER.fullmatch(text) and "*" in kind and "void" not in kind)


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
    >>> unfolded("{0: [...]}", [("0", "[[1]]")]), unfolded("(1, (...))", [("0", "1"), ("1", "(2,)")])
    ('{0: [[1]]}', '(1, (2,))')
    >>> unfolded("Cart", [("total", "3")]), unfolded("0x7f10", [("next", "0x0")])
    ('Cart {total: 3}', '0x7f10 → {next: 0x0}')
    """
    group = _main(_read(text[:READ]), len(text))
    if not elements:
        return text
    if group is None:
        told = ", ".join(f"{name}: {value}" for name, value in elements)
        return f"{text}{' →' * text.startswith('0x')} {{{told}}}"
    key = _SIGN.match(group.items[0].text) if group.items else None
    named = group.source[group.start] != "[" and (key or not elements[0][0].strip("[]").isdecimal())
    sign = key[1] if key else ": "
    told = [(name, _closed(value)) for name, value in elements]
    parts = [f"{name}{sign}{value}" if named else value for name, value in told]
    size = _SIZE.match(text)
    folded = group.items[-1].text in _LEFT_OUT if group.items else False
    more = folded or len(parts) < max(len(group.items), int(size[1]) if size else 0)
    end = text[group.end - 1 :] if text[group.end - 1] == group.closing else group.closing
    rest = ", …" if more and not named else "," if text[group.end - 2] == "," else ""
    return f"{text[: group.start + 1]}{', '.join(parts)}{rest}{end}"


def _closed(text: str) -> str:
    """Return a value that an adapter has cut without what is not whole: open brackets would hold all that follows."""
    group = _main(_read(text), len(text)) if _CUT.match(text) else None
    first = ", ".join(item.text for item in group.items[:-1][:AT_ONCE]) if group else ""
    return f"{text[: group.start + 1]}{first}, …{group.closing}" if group else text


_SIZE = re.compile(r"\w*\((\d+)\) ")


def is_nested(text: str) -> bool:
    r"""Whether a value is written as what it consists of.

    >>> is_nested("Cart(items=[1, 2])"), is_nested("(2, 3) a int64\n   a\n0  1")
    (True, False)
    """
    return _main(_read(text[:READ]), len(text)) is not None


def differences(before: str, now: str) -> dict[str, tuple[str | None, str]]:
    """Return the members of a value that differ, each as it was and as it is; empty where that cannot be told.

    >>> differences("Cart(total=3, name='a')", "Cart(total=4, name='a')")
    {'total': ('3', '4')}
    >>> differences("{'total': 3}", "{'total': 4}"), differences("Cart(total=3)", "0x1")
    ({}, {})
    """
    old, new = _members(before), _members(now)
    if old is None or new is None or old.keys() - new.keys() or old[""] != new[""]:
        return {}
    changed = {name: (old.get(name), text) for name, text in new.items() if old.get(name) != text}
    whole = all("…" not in f"{was}{text}" for was, text in changed.values())
    return changed if whole and len(changed) <= AT_ONCE else {}


_MEMBER = re.compile(r"(@?[A-Za-z_]\w*)\s*[:=]\s*(?!=)")


def _members(text: str) -> dict[str, str] | None:
    """Return the members of a value by name, and what is before them by none; None: it has none."""
    value = _read(text[:READ])
    group = _main(value, len(text))
    if group is None or not group.items:
        return None
    found = [_MEMBER.match(item.text) for item in group.items if item.text not in _LEFT_OUT]
    told = {each[1]: each.string[each.end() :] for each in found if each is not None}
    return {"": text[: group.start], **told} if len(told) == len(found) else None


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
    whole: bool = True
    """Whether all elements are shown, though some may be cut."""
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
        if sign in _PAIRS or sign.startswith("#<"):
            start = token.start() if sign in _PAIRS else token.end() - 1
            group = _Group(text, start, len(text), _PAIRS.get(sign, ">"))
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
    known = group.items and not any(_is_left_out(item) for item in group.items)
    return f"{len(group.items)} items" if known and group.source[group.end - 1] in ")]}" else ""


def _is_left_out(item: _Item) -> bool:
    """Whether something stands for the elements that an adapter has left out: `…`, `...+936 more`."""
    return item.text in _LEFT_OUT or item.text.startswith("...+")


def _name(item: _Item) -> str:
    """Return the name of a member; empty: it has none."""
    found = _KEY.match(item.text)
    return found[1].lstrip("@$") if found else ""


def _group(group: _Group, room: int, used: Collection[str]) -> str:
    """Return what is in brackets, with as many elements as fit."""
    if len(group.text) <= room:
        return group.text
    opening = group.source[group.start]
    space = " " if group.source[group.start + 1 : group.start + 2] == " " else ""
    room -= 2 + len(", …") + 2 * len(space)
    ending = _ending(group, room // 3, used)
    items = sorted(group.items, key=lambda item: _name(item) not in used)
    parts = list(_items(items, room - len(ending) - 2 * bool(ending), used))
    group.whole = len(parts) == len(items)
    if not parts:
        return f"{opening}…{group.closing}"
    if len(parts) + bool(ending) < len(items):
        parts.append("…")
    if ending and not group.whole:
        parts.append(ending)
    return f"{opening}{space}{', '.join(parts)}{space if parts[-1] != '…' else ''}{group.closing}"


def _ending(group: _Group, room: int, used: Collection[str]) -> str:
    """Return the last element of a list, cut to the room; empty: there is no room, or it is not the last."""
    last = group.items[-1] if len(group.items) > AT_ONCE else None
    if last is None or _name(last) or _is_left_out(last) or last.text.endswith("..."):
        return ""
    # A few characters of the last element say less than one more of the first.
    text = last.text if len(last.text) <= room or room < ENDING else _item(last, room, used)
    return "" if len(text) > room or text == "…" or text in _NOTHING else text


def _items(items: Sequence[_Item], room: int, used: Collection[str]) -> Iterator[str]:
    """Yield the first elements, each cut to its share of the room."""
    for number, item in enumerate(items):
        if _is_left_out(item):
            return
        left = len(items) - number
        share = room if left == 1 else max(room // min(left, AT_ONCE), min(room, LEAST))
        if room < LEAST and len(item.text) > room:
            return
        part = _item(item, share, used)
        if len(part) > room or part == "…" or (number and part in _NOTHING):
            return
        yield part
        room -= len(part) + 2


def _item(item: _Item, room: int, used: Collection[str]) -> str:
    """Return one element: what is not in brackets first, and what is as far as there is room."""
    text = item.text
    if len(text) <= room:
        return text
    start = item.source.index(text, item.start) if text else item.start
    nested = sum(len(group.text) for group in item.groups)
    left, parts, place = room - (len(text) - nested), list[str](), start
    if not item.groups or left < len("{…}"):
        return f"{text[: max(room - 1, 0)].rstrip(' [({')}…"
    for number, group in enumerate(item.groups):
        parts.append(item.source[place : group.start])
        cut = _group(group, left // (len(item.groups) - number), used)
        left -= len(cut)
        parts.append(cut)
        place = group.end
    return "".join(parts) + item.source[place : start + len(text)]
