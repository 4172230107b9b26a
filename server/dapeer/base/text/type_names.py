"""Names of types, as short as a reader wants them. Pure."""

from __future__ import annotations

import re

from dapeer.base.text.fitting import shortened

TYPE_CHARS = 100
"""Characters of a type that is shown whole."""
_PLAIN = re.compile(
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

    `name` is the type, `value` the text of the value, both as the adapter writes them. Basic types and values in `<…>` count as shown.

    >>> type_if_not_obvious("int", "5"), type_if_not_obvious("Item", "Item(name='cup')"), type_if_not_obvious("PosixPath", "Path('a')")
    ('', '', '')
    >>> type_if_not_obvious("int8", "5"), type_if_not_obvious("SafeString", "'<b>'")
    ('int8', 'SafeString')
    >>> type_if_not_obvious("struct track *", "0x55d0"), type_if_not_obvious("char *", '0x55d0 "a"')
    ('struct track *', '')
    """
    words = _WORD.findall(name.partition("<")[0].partition("[")[0])
    head = _WORD.match(value)
    if not words or not value or value.startswith("<") or _PLAIN.fullmatch(name):
        return ""
    written = words[-1] in value or (head is not None and head[0] in name)
    characters = _CHARACTERS.search(name) and value.endswith(('"', "'"))
    return "" if written or characters else type_name(name)
