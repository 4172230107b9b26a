"""Names of types, as short as a reader wants them. Pure."""

from __future__ import annotations

import re

from dapeer.fitting import shortened

TYPE = 100
"""Characters of a type that is shown whole."""


def type_name(name: str) -> str:
    """Return a type, without the arguments of its templates' arguments where it is long.

    >>> type_name("std::vector<int>")
    'std::vector<int>'
    >>> type_name("map<basic_string<char, char_traits<char>, allocator<char> >, int, less<basic_string<char, char_traits<char> > > >")
    'map<basic_string<…>, int, less<…>>'
    """
    if len(name) <= TYPE:
        return name
    shown: list[str] = []
    depth = 0
    for piece in re.split("([<>])", name):
        depth -= piece == ">"
        if depth <= 1:
            shown.append("<…" if piece == "<" and depth == 1 else piece)
        depth += piece == "<"
    return shortened(re.sub(" +>", ">", "".join(shown)), TYPE)
