"""Readable paths to variables: `order.items[3].price`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dapeer.base.errors import ArgumentError
from dapeer.dap.types import Variable

_PLAIN = re.compile(r"\w+|'[^'\\]*'|\"[^\"\\]*\"")
_SEGMENT = re.compile(r"\.?([^.\[\]]+)|\[([^\[\]]*)\]")


def parse(path: str) -> list[str]:
    """Return the segments of a path to a variable: names, and the contents of brackets with their quotes.

    >>> parse("order.items[3].price")
    ['order', 'items', '3', 'price']
    >>> parse("prices['a.b']")
    ['prices', "'a.b'"]

    Raises:
        ArgumentError: It is no path.
    """
    segments: list[str] = []
    position = 0
    for match in _SEGMENT.finditer(path):
        if match.start() != position:
            break
        segments.append((match[1] or match[2]).strip())
        position = match.end()
    if position != len(path) or not segments or not all(segments):
        raise ArgumentError(
            f"`path`: {path!r} is not a path to a variable.",
            "Write it as in order.items[3].price; dap_evaluate takes any expression.",
        )
    return segments


def is_plain(segments: Iterable[str]) -> bool:
    """Return whether the segments of a path are only names, numbers and quoted keys, which call nothing.

    >>> is_plain(["order", "items", "3", "'a b'"]), is_plain(["f()"]), is_plain(["x=5"])
    (True, False, False)
    """
    return all(_PLAIN.fullmatch(segment) for segment in segments)


def child(children: Iterable[Variable], segment: str) -> Variable | None:
    """Return the variable among `children` that a segment of a path names, or None.

    Adapters show an index as `3`, `[3]` or `03`, and a key with or without quotes; each of them is found.

    >>> child([{"name": "[3]", "value": "x", "variablesReference": 0}], "3")["value"]
    'x'
    """
    known = list(children)
    names = {segment, f"[{segment}]", f"'{segment}'", f'"{segment}"'}
    named = next(
        (v for v in known if v["name"] in names or _unquoted(v["name"]) == _unquoted(segment)), None
    )
    if named is None and segment.isdigit():
        return next(
            (v for v in known if v["name"].isdigit() and int(v["name"]) == int(segment)), None
        )
    return named


def _unquoted(name: str) -> str:
    """Return a name without the quotes around it."""
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name
