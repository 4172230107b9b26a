"""Values cut to the room that there is, so that as much of their structure is seen as possible. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

# Reads how a value is nested from its text: brackets, and the commas in them. Pure.
#
# Adapters show values as text, in many languages; but nearly all write nested data with brackets and commas.

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
    is_whole: bool = True
    """Whether all elements are shown, though some may be cut."""
    items: list[Item] = field(default_factory=list["Item"])

    @property
    def text(self) -> str:
        """The content of the brackets, including them."""
        return self.source[self.start : self.end]

    def record_shown(self, count: int) -> None:
        """Set `is_whole`: whether `count`, the number of elements that are shown, is that of all elements."""
        self.is_whole = count == len(self.items)


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


def parse_brackets(text: str) -> Item:
    """Return the structure of a value's text: its bracketed parts, and the elements between their commas.

    The result stands for the whole text, which commas outside brackets do not split; `groups` of an element are the
    brackets in it, and `items` of brackets their elements, without an empty last one if they are closed. `<` is a
    bracket only before a name, as in `<Cart …>`. Brackets that are not closed end with the text. Brackets and
    commas in quoted strings do not count, nor do notes on a size such as `(3)`.
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
    return main_group(parse_brackets(text[:MAX_READ_CHARS]), len(text)) is not None


MIN_NESTED_CHARS = 8
"""Characters without which nothing of a nested value is shown."""
MIN_CUT_CHARS = 10_000
"""Characters from which on an ellipsis in a value is taken for one of the adapter's."""
MAX_QUOTED_CHARS = 200
"""Characters of what a caller has sent that an answer repeats."""
AT_ONCE = 2
"""Elements that share the room that is left."""

MAX_UNCUT_CHARS = 24
"""Characters of a number, a word or a text that is shown whole or not at all."""
MIN_LAST_CHARS = 24
"""Characters without which the last element of a list is not cut."""

_ORIGINAL_LENGTH = re.compile(r"(?:…\W*|[\])}]) \(((?:at least )?[\d,]+ (?:chars|items))\)\Z")
_LONGEST_ORIGINAL_LENGTH = 80
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
    """Return a text cut to `limit` characters, followed by its original length if it was cut.

    The note of the length comes on top of `limit`. A text that already ends with such a note keeps the original
    length that it names. A text in quotes counts without them, and an escape as one character. If a text of more
    than `MIN_CUT_CHARS` has `…`, the note says `at least`.

    >>> shortened("x" * 20, 10)
    'xxxxxxxxxx… (20 chars)'
    >>> shortened(shortened("x" * 2000, 100), 10)
    'xxxxxxxxxx… (2000 chars)'
    >>> shortened(repr("x" * 20), 10)
    "'xxxxxxxxx… (20 chars)"
    """
    if len(text) <= limit:
        return text
    original = original_length(text)
    # js-debug, for one, takes the middle out of a long string without a word.
    least = "at least " if len(text) > MIN_CUT_CHARS and "…" in text else ""
    return f"{text[:limit]}… ({original or f'{least}{_length(text)} chars'})"


def original_length(text: str) -> str | None:
    """Return the length that a note at a cut value's end names, such as `2000 chars`; None without a note.

    >>> original_length("xxx… (2000 chars)"), original_length("[0, …, 999] (1000 items)")
    ('2000 chars', '1000 items')
    """
    # All of a long text would take long.
    found = _ORIGINAL_LENGTH.search(text, max(0, len(text) - _LONGEST_ORIGINAL_LENGTH))
    return found[1] if found else None


def quoted(text: str) -> str:
    """Return a caller's text, shortened to `MAX_QUOTED_CHARS`, for an answer that repeats it."""
    return shortened(text, MAX_QUOTED_CHARS)


def _length(text: str) -> int:
    """Return how many characters a text has; for a string in quotes, how many are between the quotes."""
    if _QUOTED.fullmatch(text) is None:
        return len(text)
    start = text.index(text[-1])
    return len(_ESCAPED.sub("x", text[start + 1 : -1]))


def fitted(text: str, limit: int, preferred: Collection[str] = ()) -> str:
    """Return an adapter's text of a value, cut to about `limit` characters where its brackets allow it.

    A list keeps its beginning, and its end if it fits; an object first shows the members whose names are in
    `preferred`, then, if they are written `name=value`, numbers and texts, and containers and None last.
    The number of elements is added where some are left out, if the text does not have it and is read whole.
    A text that fits is returned without repeated sizes and the addresses of Ruby's objects, else as it is;
    notes of a capacity go if it fits without them. One with no brackets, or with too much text outside of
    them, is cut by `shortened`.

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
    >>> fitted("Cart(name='a long name', more='a long text', total=3)", 40, preferred={"total"})
    "Cart(total=3, name='a long name', …) (3 items)"
    >>> fitted("{id = 17, gross = 2599, net = 2123, tax = 476}", 40)  # no part of a number
    '{id = 17, gross = 2599, net = 2123, …} (4 items)'
    >>> fitted("Order(parent=None, lines=[1, 2, 3, 4, 5], id=7, name='tea')", 40)
    "Order(id=7, name='tea', lines=…, …) (4 items)"
    >>> fitted("Order(id=7, name='tea and more of it', city='Rome', … (18 attributes))", 60)
    "Order(id=7, name='tea and more of it', … (18 attributes))"
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
    original = original_length(text)
    value = parse_brackets(text[:MAX_READ_CHARS])
    group = main_group(value, limit)
    if group is None:
        return shortened(text, limit)
    count = original or _count(group)
    left_out = len(text) > MAX_READ_CHARS
    cut = _fitted_group(group, limit - (len(value.text) - len(group.text)), preferred)
    head = value.text[: group.start - value.start]
    tail = "" if original or left_out else value.text[group.end - value.start :]
    if not original and (group.is_whole or left_out or f"({len(group.items)})" in head):
        count = ""
    return f"{head}{cut}{tail}" + (f" ({count})" if count else "")


def fitted_table(lines: Sequence[str], limit: int) -> str:
    """Return a table as one line of about `limit` characters, rows separated by ` | `.

    `lines` are the header and the rows; a row `…` among them stands for rows that were left out there. If all
    do not fit, the header is cut to half of `limit`, and the first rows that fit follow, up to the row `…`.
    If any rows are left out there, `…` comes next, and behind it the last row, if `lines` have a row `…`;
    without one the text ends with `…`. If all rows fit behind the cut header, no `…` follows them.

    >>> fitted_table(["(9, 1) id int64", "id", "0 4", "1 4", "…", "8 4"], 30)
    '(9, 1) id int64 | id | … | 8 4'
    >>> fitted_table(["(9, 4) id int64, name object, kind category", "0 4"], 40)
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


def _columns(head: str, max_chars: int) -> str:
    """Return the header of a table, cut to `max_chars` behind its last column that fits."""
    fit = head[:max_chars].rpartition(", ")[0]
    if len(head) > max_chars and ") " in fit:
        return f"{fit}, …"
    return shortened(head, max_chars)


def _count(group: Group) -> str:
    """Return the number of elements as `N items`; empty where it is unknown because some are left out."""
    known = group.items and not any(_is_left_out(item) for item in group.items)
    return f"{len(group.items)} items" if known and group.source[group.end - 1] in ")]}" else ""


def _is_left_out(item: Item) -> bool:
    """Return whether an element stands for others that were left out, as `…` and `...+936 more` do."""
    return item.text in LEFT_OUT or item.text.startswith(("...+", "… ("))


def _name(item: Item) -> str:
    """Return the name of the member that an element of brackets is, as in `name=value`; empty without one."""
    found = _KEY.match(item.text)
    return found[1].lstrip("@$") if found else ""


def _display_rank(item: Item) -> int:
    """Return the rank by which members of an object are shown: the lowest first.

    0: a number, a truth value, a text, or no named member; 1: other values; 2: what begins with a bracket; 3: None.
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


def _fitted_group(group: Group, max_chars: int, preferred: Collection[str]) -> str:
    """Return the text of a bracketed part, cut to about `max_chars`, with the brackets.

    A text that fits is returned as it is. Else elements whose names are in `preferred` come first, a list
    of more than `AT_ONCE` elements keeps its last one if that fits, and `…` stands for those that are left
    out, alone if none fits. For a text that is too long, `group.is_whole` is set, to whether all elements
    are shown, each perhaps cut.
    """
    if len(group.text) <= max_chars:
        return group.text
    opening = group.source[group.start]
    space = " " if group.source[group.start + 1 : group.start + 2] == " " else ""
    last = group.items[-1] if group.items else None
    # How many attributes there are is said at the place of those that are left out.
    left_out = last.text if last is not None and last.text.startswith("… (") else "…"
    max_chars -= 2 + len(f", {left_out}") + 2 * len(space)
    ending = _fitted_last_item(group, max_chars // 3, preferred)
    items = sorted(
        group.items, key=lambda item: -1 if _name(item) in preferred else _display_rank(item)
    )
    parts = list(_fitted_items(items, max_chars - len(ending) - 2 * bool(ending), preferred))
    group.record_shown(len(parts))
    if not parts:
        return f"{opening}…{group.closing}"
    if len(parts) + bool(ending) < len(items):
        parts.append(left_out)
    if ending and not group.is_whole:
        parts.append(ending)
    return (
        f"{opening}{space}{', '.join(parts)}{space if parts[-1] != left_out else ''}{group.closing}"
    )


def _fitted_last_item(group: Group, max_chars: int, preferred: Collection[str]) -> str:
    """Return the last element of a list, cut to `max_chars`; empty if it should not be shown.

    That is so if there are at most `AT_ONCE` elements, it has a name or stands for elements left out, the list's end is unknown, or
    nothing of it fits. With less than `MIN_LAST_CHARS` it is whole or empty. Members whose names are in `preferred` come first in it.
    """
    last = group.items[-1] if len(group.items) > AT_ONCE else None
    if last is None or _name(last) or _is_left_out(last) or last.text.endswith("..."):
        return ""
    # Of a longer text only the beginning is read.
    if group.source[group.end - 1] != group.closing:
        return ""
    # A few characters of the last element say less than one more of the first.
    text = (
        last.text
        if len(last.text) <= max_chars or max_chars < MIN_LAST_CHARS
        else _fitted_item(last, max_chars, preferred)
    )
    return "" if len(text) > max_chars or text == "…" or text in _NOTHING else text


def _fitted_items(
    items: Sequence[Item], max_chars: int, preferred: Collection[str]
) -> Iterator[str]:
    """Yield the texts of the first elements that fit into `max_chars`, each cut to its share.

    It ends at the first element that has no room, or that stands for others that were left out. The room counts two characters between
    elements. `preferred` are names of members that come first in the objects within the elements; the order of `items` stays.
    """
    for number, item in enumerate(items):
        if _is_left_out(item):
            return
        left = len(items) - number
        share = (
            max_chars
            if left == 1
            else max(max_chars // min(left, AT_ONCE), min(max_chars, MIN_NESTED_CHARS))
        )
        if (max_chars < MIN_NESTED_CHARS or _is_uncut(item)) and len(item.text) > max_chars:
            return
        part = item.text if _is_uncut(item) else _fitted_item(item, share, preferred)
        if len(part) > max_chars or part == "…" or (number and part in _NOTHING):
            return
        yield part
        max_chars -= len(part) + 2


def _is_uncut(item: Item) -> bool:
    """Return whether an element's value is a number, a word or a text so short that it is not cut."""
    sign = _SIGN.match(item.text)
    return not item.groups and len(item.text) - (sign.end() if sign else 0) <= MAX_UNCUT_CHARS


def _fitted_item(item: Item, max_chars: int, preferred: Collection[str]) -> str:
    """Return the text of one element, cut to about `max_chars`.

    A text that fits is returned as it is. Of a longer one, the text outside of its brackets is kept, and the
    brackets share the rest. Where even that is too long, or there are no brackets, the text is cut at its
    end, where `…` stands. `preferred` are the names of members that come first within the brackets.
    """
    text = item.text
    if len(text) <= max_chars:
        return text
    start = item.source.index(text, item.start) if text else item.start
    nested = sum(len(group.text) for group in item.groups)
    left, parts, place = max_chars - (len(text) - nested), list[str](), start
    if not item.groups or left < len("{…}"):
        return f"{text[: max(max_chars - 1, 0)].rstrip(' [({<')}…"
    for number, group in enumerate(item.groups):
        parts.append(item.source[place : group.start])
        cut = _fitted_group(group, left // (len(item.groups) - number), preferred)
        left -= len(cut)
        parts.append(cut)
        place = group.end
    return "".join(parts) + item.source[place : start + len(text)]


# Values that an adapter shows folded (`[{…}, {…}]`), and how they read with their elements. Pure.


_FOLDED = re.compile(
    r"\{…\}|\A\{\.\.\.\}\Z|\[…\]|\[\.\.\]|\{\.\.\}|, \.\.\.\}\Z|\bArray\(\d+\)|\A\(\d+\) \[([A-Z]\w*)[],]"
)
_CUT = re.compile(r".{1000}.*\.\.\.\Z", re.DOTALL)
"""A long value that an adapter has cut at its end."""
_POINTER = re.compile(r"\{?0x0*[1-9a-f][0-9a-f]*\}?")
_KEYED = re.compile(r"(?:Weak)?(?:Map|Set)\(")
"""JavaScript's maps and sets: their children are not their elements."""
_SIGN = re.compile(r"""['"]?[\w$@.-]+['"]?(\s*(?:=>|[:=])\s*)""")
"""Separators between a name and its value."""
_SIZE = re.compile(r"\w*\((\d+)\) ")


def is_folded(text: str) -> bool:
    """Return whether the text of a value shows that the adapter left out its elements, or cut it.

    >>> is_folded("(2) [{…}, {…}]"), is_folded("{a: Array(2)}"), is_folded("[1, 2, …]")
    (True, True, False)
    >>> is_folded("{...}"), is_folded("(2) [Item, Item]"), is_folded("(2) ['A', 'B']")
    (True, True, False)
    """
    hides = _FOLDED.search(text[:MAX_READ_CHARS]) and not (
        _KEYED.match(text) or original_length(text)
    )
    return bool(hides or _CUT.match(text))


def says_nothing(text: str, kind: str) -> bool:
    """Return whether the text of a value is only its type (`kind`), or the address of a typed pointer.

    >>> says_nothing("Worker", "Worker"), says_nothing("0x7f10", "Node *"), says_nothing("0x7f10", "void *")
    (True, True, False)
    """
    return text == kind or bool(_POINTER.fullmatch(text) and "*" in kind and "void" not in kind)


def is_list(text: str) -> bool:
    """Return whether a value's text has square brackets as its main part, so its elements have no names."""
    group = main_group(parse_brackets(text[:MAX_READ_CHARS]), len(text))
    return group is not None and group.source[group.start] == "["


def with_elements(text: str, elements: Sequence[tuple[str, str]]) -> str:
    """Return a folded value's text with its first elements filled in.

    `elements` are the names and texts of the first children, as the adapter gives them in `variables`; without any,
    the text is unchanged. They replace all that is in the value's longest brackets, with names where its own text
    or the names show that it is no list. `, …` ends a list that has more elements than were given, or whose text
    ended so; names are not followed by it. A text that is mostly outside of brackets stays, and gets them with
    names, in braces, behind it, and behind ` →` if it begins with an address.

    >>> with_elements("(1000) [{…}, {…}, …]", [("0", "{id: 1}"), ("1", "{id: 2}")])
    '(1000) [{id: 1}, {id: 2}, …]'
    >>> with_elements("Cart {items: Array(1)}", [("items", "(1) ['cup']")])
    "Cart {items: (1) ['cup']}"
    >>> with_elements("{0: [...]}", [("0", "[[1]]")]), with_elements("(1, (...))", [("0", "1"), ("1", "(2,)")])
    ('{0: [[1]]}', '(1, (2,))')
    >>> with_elements("Cart", [("total", "3")]), with_elements("0x7f10", [("next", "0x0")])
    ('Cart {total: 3}', '0x7f10 → {next: 0x0}')
    """
    group = main_group(parse_brackets(text[:MAX_READ_CHARS]), len(text))
    if not elements:
        return text
    if group is None:
        shown = ", ".join(f"{name}: {value}" for name, value in elements)
        return f"{text}{' →' * text.startswith('0x')} {{{shown}}}"
    key = _SIGN.match(group.items[0].text) if group.items else None
    named = group.source[group.start] != "[" and (key or not elements[0][0].strip("[]").isdecimal())
    sign = key[1] if key else ": "
    shown = [(name, _closed(value)) for name, value in elements]
    parts = [f"{name}{sign}{value}" if named else value for name, value in shown]
    size = _SIZE.match(text)
    folded = group.items[-1].text in LEFT_OUT if group.items else False
    more = folded or len(parts) < max(len(group.items), int(size[1]) if size else 0)
    end = text[group.end - 1 :] if text[group.end - 1] == group.closing else group.closing
    rest = ", …" if more and not named else "," if text[group.end - 2] == "," else ""
    return f"{text[: group.start + 1]}{', '.join(parts)}{rest}{end}"


def _closed(text: str) -> str:
    """Return a value's text that the adapter cut at its end, with its brackets closed at a whole element.

    Its open brackets would swallow the text that follows. A text that was not cut is returned as it is.
    """
    group = main_group(parse_brackets(text), len(text)) if _CUT.match(text) else None
    first = ", ".join(item.text for item in group.items[:-1][:AT_ONCE]) if group else ""
    return f"{text[: group.start + 1]}{first}, …{group.closing}" if group else text


# Names of types, as short as a reader wants them. Pure.


TYPE_CHARS = 100
"""Characters of a type that is shown whole."""
_TYPE_NAMES_PLAIN = re.compile(
    r"int|integer|long|number|int64|float|float64|double|bool(ean)?|(true|false|nil|null|none_?type)(class)?|undefined"
    r"|str(ing)?|symbol|list|tuple|dict|set|array|hash|object|func(tion)?|type|module",
    re.IGNORECASE,
)
"""Types that are recognizable from how their values are written."""
_WORD = re.compile(r"\w+")
_CHARACTERS = re.compile(r"\bchar\b")


def type_name(name: str) -> str:
    """Return a type's name, at most about `TYPE_CHARS` long.

    In a longer one the arguments of template arguments are replaced by `…`, and what is still too long is cut.

    >>> type_name("std::vector<int>")
    'std::vector<int>'
    >>> type_name("map<basic_string<char, char_traits<char>, allocator<char> >, int, less<basic_string<char, char_traits<char> > > >")
    'map<basic_string<…>, int, less<…>>'
    """
    if len(name) <= TYPE_CHARS:
        return name
    shown: list[str] = []
    depth = 0
    for piece in re.split("([<>])", name):
        depth -= piece == ">"
        if depth <= 1:
            shown.append("<…" if piece == "<" and depth == 1 else piece)
        depth += piece == "<"
    return shortened(re.sub(" +>", ">", "".join(shown)), TYPE_CHARS)


def type_if_not_obvious(name: str, value: str) -> str:
    """Return the type's name if the value's text does not already show its type; else an empty string.

    `name` is the type, `value` the text of the value, both as the adapter writes them. Basic types, empty values,
    values that begin with `<`, and quoted ones of a `char` type count as shown. A long name is shortened.

    >>> type_if_not_obvious("int", "5"), type_if_not_obvious("Item", "Item(name='cup')"), type_if_not_obvious("PosixPath", "Path('a')")
    ('', '', '')
    >>> type_if_not_obvious("int8", "5"), type_if_not_obvious("SafeString", "'<b>'")
    ('int8', 'SafeString')
    >>> type_if_not_obvious("struct track *", "0x55d0"), type_if_not_obvious("char *", '0x55d0 "a"')
    ('struct track *', '')
    """
    words = _WORD.findall(name.partition("<")[0].partition("[")[0])
    head = _WORD.match(value)
    if not words or not value or value.startswith("<") or _TYPE_NAMES_PLAIN.fullmatch(name):
        return ""
    written = words[-1] in value or (head is not None and head[0] in name)
    characters = _CHARACTERS.search(name) and value.endswith(('"', "'"))
    return "" if written or characters else type_name(name)
