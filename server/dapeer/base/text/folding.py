"""Values that an adapter shows folded (`[{…}, {…}]`), and how they read with their elements. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dapeer.base.text.fitting import (
    AT_ONCE,
    LEFT_OUT,
    MAX_READ_CHARS,
    main_group,
    original_length,
    read,
)

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
    group = main_group(read(text[:MAX_READ_CHARS]), len(text))
    return group is not None and group.source[group.start] == "["


def unfolded(text: str, elements: Sequence[tuple[str, str]]) -> str:
    """Return a folded value's text with its first elements filled in.

    `elements` are the names and texts of the first children, as the adapter gives them in `variables`. Names are written where the value's
    own text or the names show that it is no list. `, …` ends a list that has more elements than were given; names are not followed by it.
    Without `elements` the text is unchanged.

    >>> unfolded("(1000) [{…}, {…}, …]", [("0", "{id: 1}"), ("1", "{id: 2}")])
    '(1000) [{id: 1}, {id: 2}, …]'
    >>> unfolded("Cart {items: Array(1)}", [("items", "(1) ['cup']")])
    "Cart {items: (1) ['cup']}"
    >>> unfolded("{0: [...]}", [("0", "[[1]]")]), unfolded("(1, (...))", [("0", "1"), ("1", "(2,)")])
    ('{0: [[1]]}', '(1, (2,))')
    >>> unfolded("Cart", [("total", "3")]), unfolded("0x7f10", [("next", "0x0")])
    ('Cart {total: 3}', '0x7f10 → {next: 0x0}')
    """
    group = main_group(read(text[:MAX_READ_CHARS]), len(text))
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
    group = main_group(read(text), len(text)) if _CUT.match(text) else None
    first = ", ".join(item.text for item in group.items[:-1][:AT_ONCE]) if group else ""
    return f"{text[: group.start + 1]}{first}, …{group.closing}" if group else text
