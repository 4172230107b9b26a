"""Values cut to the room that there is, so that as much of their structure is seen as possible. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from dapeer.base.text.structure import LEFT_OUT, MAX_READ_CHARS, Group, Item, main_group, read

MIN_NESTED_CHARS = 8
"""Characters without which nothing of a nested value is shown."""
MIN_CUT_CHARS = 10_000
"""Characters from which on an ellipsis in a value is taken for one of the adapter's."""
MAX_QUOTED_CHARS = 200
"""Characters of what a caller has sent that an answer repeats."""
AT_ONCE = 2
"""Elements that share the room that is left."""

MIN_LAST_CHARS = 24
"""Characters without which the last element of a list is not cut."""

ORIGINAL_LENGTH = re.compile(r"(?:…\W*|[\])}]) \(((?:at least )?[\d,]+ (?:chars|items))\)\Z")
"""An original length, as adapters write it: `… (2000 chars)`, `…, 999] (1000 items)`."""
LONGEST_ORIGINAL_LENGTH = 80
"""Characters of an original length, with what stands before it."""
_KEY = re.compile(r"""['"]?([\w$@.-]+)['"]?\s*(?:=>|[:=](?!=))""")
"""The name of a member, or the key of an element."""
_MEMBER = re.compile(r"[^\W\d]\w*=(?!=)")
"""The name of a member, as Python writes it; elsewhere members keep their order."""
_PLAIN = re.compile(r"""[bru]{0,2}["']|[-+.]?\d|(?:True|False|nan|inf)\b""")
"""The beginning of a number or a text."""
_QUOTED = re.compile(r"""[bru]{0,2}(["'`]).*\1""", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{4,6}\}?|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_CAPACITY = re.compile(r", capacity \d+(?= =)")
_TWICE = re.compile(r"(\((\d+)\) [\[{])(?:size|length): \2(?:, |(?=[\]}]))")
"""A size that is also among the members, as in `Map(2) {size: 2, a => 1, b => 2}`."""
_PLACE = re.compile(r"(?<=#<)([A-Z][\w:]*):0x[0-9a-f]+(?= @)")
"""The address of a Ruby object that is shown by its members."""
_NOTHING = frozenset({"…", "(…)", "[…]", "{…}"})


def shortened(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, and add its original length.

    >>> shortened("x" * 20, 10)
    'xxxxxxxxxx… (20 chars)'
    >>> shortened(shortened("x" * 2000, 100), 10)
    'xxxxxxxxxx… (2000 chars)'
    >>> shortened(repr("x" * 20), 10)
    "'xxxxxxxxx… (20 chars)"
    """
    if len(text) <= limit:
        return text
    # It stands at the end; all of a long text would take long.
    original = ORIGINAL_LENGTH.search(text, max(0, len(text) - LONGEST_ORIGINAL_LENGTH))
    # js-debug, for one, takes the middle out of a long string without a word.
    least = "at least " if len(text) > MIN_CUT_CHARS and "…" in text else ""
    return f"{text[:limit]}… ({original[1] if original else f'{least}{_length(text)} chars'})"


def quoted(text: str) -> str:
    """Return a text that a caller has sent, as far as an answer repeats it."""
    return shortened(text, MAX_QUOTED_CHARS)


def _length(text: str) -> int:
    """Return how many characters a text has; of a string in quotes, how many are in it."""
    if _QUOTED.fullmatch(text) is None:
        return len(text)
    start = text.index(text[-1])
    return len(_ESCAPED.sub("x", text[start + 1 : -1]))


def fitted(text: str, limit: int, used: Collection[str] = ()) -> str:
    """Cut a value to about `limit` characters, inside where it is nested, and show its number of elements.

    A list keeps its beginning and end, an object first the members that are `used`, then numbers and texts; containers and None come last.

    >>> fitted("{0: [[1, 2], [3]], 1: [[4, 5]]}", 40)
    '{0: [[1, 2], [3]], 1: [[4, 5]]}'
    >>> fitted(str([{"id": n, "name": "cup"} for n in range(1000)]), 60)
    "[{'id': 0, 'name': 'cup'}, {'id': 1, …}, …] (1000 items)"
    >>> fitted(str(list(range(1000))), 30)
    '[0, 1, 2, 3, 4, 5, 6, …, 999] (1000 items)'
    >>> fitted(str(list(range(100_000))), 30)  # only the beginning of a longer text is read
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, …]'
    >>> fitted("Point { x: 1, y: [" + "0, " * 50 + "9] }", 40)
    'Point { x: 1, y: [0, 0, 0, 0, …, 9] }'
    >>> fitted("Cart(name='a long name', more='a long text', total=3)", 40, used={"total"})
    "Cart(total=3, name='a lo…, more='a…)"
    >>> fitted("Order(parent=None, lines=[1, 2, 3, 4, 5], id=7, name='tea')", 40)
    "Order(id=7, name='tea', lines=…, …) (4 items)"
    >>> fitted("Order(id=7, name='tea and more of it', city='Rome', … (18 attributes))", 60)
    "Order(id=7, name='tea and…, city='R…, … (18 attributes))"
    """
    # Most values have neither.
    if "size: " in text or "length: " in text:
        text = _TWICE.sub(r"\1", text)
    if "#<" in text:
        text = _PLACE.sub(r"\1", text)
    if len(text) <= limit:
        return text
    if len(small := _CAPACITY.sub("", text)) <= limit:
        return small
    original = ORIGINAL_LENGTH.search(text[-80:])
    value = read(text[:MAX_READ_CHARS])
    group = main_group(value, limit)
    if group is None:
        return shortened(text, limit)
    count = original[1] if original else _count(group)
    left_out = len(text) > MAX_READ_CHARS
    cut = _group(group, limit - (len(value.text) - len(group.text)), used)
    head = value.text[: group.start - value.start]
    tail = "" if original or left_out else value.text[group.end - value.start :]
    if not original and (group.whole or left_out or f"({len(group.items)})" in head):
        count = ""
    return f"{head}{cut}{tail}" + (f" ({count})" if count else "")


def rows(lines: Sequence[str], limit: int) -> str:
    """Return a table as one line: its header, its first rows and its last one.

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
    """Return the header of a table: its shape, and as many columns as fit."""
    fit = head[:room].rpartition(", ")[0]
    if len(head) > room and ") " in fit:
        return f"{fit}, …"
    return shortened(head, room)


def _count(group: Group) -> str:
    """Return how many elements something has; empty where the adapter has left some out."""
    known = group.items and not any(_is_left_out(item) for item in group.items)
    return f"{len(group.items)} items" if known and group.source[group.end - 1] in ")]}" else ""


def _is_left_out(item: Item) -> bool:
    """Whether a text stands for elements that were left out: `…`, `...+936 more`, `… (18 attributes)`."""
    return item.text in LEFT_OUT or item.text.startswith(("...+", "… ("))


def _name(item: Item) -> str:
    """Return the name of a member; empty: it has none."""
    found = _KEY.match(item.text)
    return found[1].lstrip("@$") if found else ""


def _tells(item: Item) -> int:
    """Return how late a member of an object is shown, as Python's own reader of values has it.

    A number or a text comes first, None last.
    """
    member = _MEMBER.match(item.text)
    if member is None:
        return 0
    value = item.text[member.end() :]
    if value == "None":
        return 3
    if _PLAIN.match(value):
        return 0
    return 2 if value.startswith(("[", "{", "(")) else 1


def _group(group: Group, room: int, used: Collection[str]) -> str:
    """Return the content of brackets, with as many elements as fit."""
    if len(group.text) <= room:
        return group.text
    opening = group.source[group.start]
    space = " " if group.source[group.start + 1 : group.start + 2] == " " else ""
    last = group.items[-1] if group.items else None
    # How many attributes there are is said at the place of those that are left out.
    left_out = last.text if last is not None and last.text.startswith("… (") else "…"
    room -= 2 + len(f", {left_out}") + 2 * len(space)
    ending = _ending(group, room // 3, used)
    items = sorted(group.items, key=lambda item: -1 if _name(item) in used else _tells(item))
    parts = list(_items(items, room - len(ending) - 2 * bool(ending), used))
    group.whole = len(parts) == len(items)
    if not parts:
        return f"{opening}…{group.closing}"
    if len(parts) + bool(ending) < len(items):
        parts.append(left_out)
    if ending and not group.whole:
        parts.append(ending)
    return (
        f"{opening}{space}{', '.join(parts)}{space if parts[-1] != left_out else ''}{group.closing}"
    )


def _ending(group: Group, room: int, used: Collection[str]) -> str:
    """Return the last element of a list, cut to the room; empty: there is no room, or it is not the last."""
    last = group.items[-1] if len(group.items) > AT_ONCE else None
    if last is None or _name(last) or _is_left_out(last) or last.text.endswith("..."):
        return ""
    # Of a longer text only the beginning is read.
    if group.source[group.end - 1] != group.closing:
        return ""
    # A few characters of the last element say less than one more of the first.
    text = last.text if len(last.text) <= room or room < MIN_LAST_CHARS else _item(last, room, used)
    return "" if len(text) > room or text == "…" or text in _NOTHING else text


def _items(items: Sequence[Item], room: int, used: Collection[str]) -> Iterator[str]:
    """Yield the first elements, each cut to its share of the room."""
    for number, item in enumerate(items):
        if _is_left_out(item):
            return
        left = len(items) - number
        share = room if left == 1 else max(room // min(left, AT_ONCE), min(room, MIN_NESTED_CHARS))
        if room < MIN_NESTED_CHARS and len(item.text) > room:
            return
        part = _item(item, share, used)
        if len(part) > room or part == "…" or (number and part in _NOTHING):
            return
        yield part
        room -= len(part) + 2


def _item(item: Item, room: int, used: Collection[str]) -> str:
    """Return one element: its text outside of brackets first, then as much of their content as fits."""
    text = item.text
    if len(text) <= room:
        return text
    start = item.source.index(text, item.start) if text else item.start
    nested = sum(len(group.text) for group in item.groups)
    left, parts, place = room - (len(text) - nested), list[str](), start
    if not item.groups or left < len("{…}"):
        return f"{text[: max(room - 1, 0)].rstrip(' [({<')}…"
    for number, group in enumerate(item.groups):
        parts.append(item.source[place : group.start])
        cut = _group(group, left // (len(item.groups) - number), used)
        left -= len(cut)
        parts.append(cut)
        place = group.end
    return "".join(parts) + item.source[place : start + len(text)]
