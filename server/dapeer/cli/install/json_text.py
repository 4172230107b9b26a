"""Set and remove one value in the text of a JSON file, and leave every other character as it is. Pure.

The files belong to people: they hold comments and trailing commas (JSONC), and a formatting of their own,
which a library that reads and writes values would lose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

INDENT: Final = "  "
_TOKEN: Final = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*+")'
    r"|(?P<mark>[{}\[\],:])"
    r"|(?P<atom>[^\s{}\[\],:\"/]+)",
    re.DOTALL,
)


class Malformed(ValueError):
    """A text that is no JSON, even with comments and trailing commas allowed; the message tells the line."""


@dataclass(slots=True)
class _Node:
    """A value: from `start` up to and without `end`."""

    start: int
    end: int = 0
    members: dict[str, _Member] | None = None
    """By key; `None` if the value is no object."""


@dataclass(slots=True)
class _Member:
    """A key with its value. `before` is where the previous member or the brace ends."""

    before: int
    start: int
    value: _Node = field(default_factory=lambda: _Node(0))


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with the value at the path, which is made where it is missing.

    >>> print(with_value('{"a": 1}', ["b"], 2))
    {"a": 1,
      "b": 2
    }

    Raises:
        Malformed: The text is no JSON object, or something on the path is none.
    """
    if not text.strip():
        text = "{}\n"
    node = _document(text)
    for depth, key in enumerate(path):
        members = _members(node, path[:depth], text)
        if key not in members:
            return _inserted(text, node, path[depth:], value)
        node = members[key].value
    if _read(text[node.start : node.end]) == value:
        return text
    written = _written(value, text, _margin(text, node.start))
    return text[: node.start] + written + text[node.end :]


def without_value(text: str, path: Sequence[str]) -> str:
    """Return the text without the value at the path, nor an object on the way that is empty then.

    Raises:
        Malformed: The text is no JSON object, or something on the path is none.
    """
    if not text.strip():
        return text
    found: list[tuple[_Node, _Member]] = []
    node = _document(text)
    for depth, key in enumerate(path):
        members = _members(node, path[:depth], text)
        if key not in members:
            return text
        found.append((node, members[key]))
        node = members[key].value
    while len(found) > 1 and _is_bare(text, found[-2][1], found[-1][1]):
        found.pop()
    return _removed(text, *found[-1])


def value_at(text: str, path: Sequence[str]) -> object:
    """Return the value at the path, or `None`.

    Raises:
        Malformed: The text is no JSON object, or something on the path is none.
    """
    if not text.strip():
        return None
    node = _document(text)
    for depth, key in enumerate(path):
        members = _members(node, path[:depth], text)
        if key not in members:
            return None
        node = members[key].value
    return _read(text[node.start : node.end])


def _read(text: str) -> object:
    kept = [match[0] for match in _TOKEN.finditer(text) if match.lastgroup != "space"]
    closed = [
        part
        for part, following in zip(kept, [*kept[1:], ""], strict=True)
        if not (part == "," and following in ("}", "]"))
    ]
    return json.loads("".join(closed))


def _document(text: str) -> _Node:
    tokens = _tokens(text)
    node = _value(text, tokens, next(tokens, None))
    if following := next(tokens, None):
        raise _malformed(text, following.start())
    _members(node, (), text)
    try:
        _read(text)
    except ValueError as error:
        raise _malformed(text, getattr(error, "pos", 0)) from error
    return node


def _tokens(text: str) -> Iterator[re.Match[str]]:
    at = len(text) - len(text.removeprefix("\ufeff"))
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _malformed(text, at)
        at = match.end()
        if match.lastgroup != "space":
            yield match


def _value(text: str, tokens: Iterator[re.Match[str]], first: re.Match[str] | None) -> _Node:
    if first is None:
        raise _malformed(text, len(text))
    node = _Node(first.start(), first.end())
    if first[0] == "{":
        node.members = {}
        node.end = _filled(text, tokens, node)
    elif first[0] == "[":
        node.end = _skipped(text, tokens)
    elif first.lastgroup == "mark":
        raise _malformed(text, first.start())
    return node


def _filled(text: str, tokens: Iterator[re.Match[str]], node: _Node) -> int:
    """Read the members of an object behind its brace; return where the object ends."""
    before = node.end
    assert node.members is not None  # noqa: S101 - the caller has just set them
    for token in tokens:
        if token[0] == "}":
            return token.end()
        if token[0] == ",":
            before = token.start()
            continue
        colon = next(tokens, None)
        if token.lastgroup != "string" or colon is None or colon[0] != ":":
            raise _malformed(text, token.start())
        member = _Member(before, token.start(), _value(text, tokens, next(tokens, None)))
        node.members[json.loads(token[0])] = member
        before = member.value.end
    raise _malformed(text, len(text))


def _skipped(text: str, tokens: Iterator[re.Match[str]]) -> int:
    """Read the rest of an array; return where it ends."""
    for token in tokens:
        if token[0] == "]":
            return token.end()
        if token[0] != ",":
            _value(text, tokens, token)
    raise _malformed(text, len(text))


def _members(node: _Node, path: Sequence[str], text: str) -> dict[str, _Member]:
    if node.members is None:
        where = f"`{'.'.join(path)}`" if path else "the file"
        raise Malformed(f"line {_line(text, node.start)}: {where} is no object")
    return node.members


def _inserted(text: str, node: _Node, keys: Sequence[str], value: object) -> str:
    """Return the text with the keys behind the last member of an object."""
    for key in reversed(keys[1:]):
        value = {key: value}
    margin = _margin(text, node.start)
    unit = _unit(text)
    written = f"{json.dumps(keys[0])}: {_written(value, text, margin + unit)}"
    members = node.members or {}
    if not members:
        inside = text[node.start + 1 : node.end - 1].rstrip()
        return f"{text[: node.start + 1]}{inside}\n{margin}{unit}{written}\n{margin}{text[node.end - 1 :]}"
    last = max(member.value.end for member in members.values())
    tail = text[last : node.end - 1]
    comma = next((match.start() for match in _tokens(tail) if match[0] == ","), None)
    if comma is None:
        head, rest = text[:last] + ",", tail
    else:
        head, rest = text[: last + comma + 1], tail[comma + 1 :]
    kept = rest.rstrip()
    trailing = "," if comma is not None else ""
    return f"{head}{kept}\n{margin}{unit}{written}{trailing}\n{margin}{text[node.end - 1 :]}"


def _removed(text: str, node: _Node, member: _Member) -> str:
    members = node.members or {}
    end = member.value.end
    if len(members) == 1:
        rest = text[end : node.end - 1]
        # A comment to the end of a line keeps its end.
        before = text[node.start + 1 : member.start].rstrip(" \t")
        kept = (before + _without_comma(rest)).rstrip()
        closing = "\n" + _margin(text, node.start) if kept.strip() else ""
        return text[: node.start + 1] + kept + closing + text[node.end - 1 :]
    rest = text[end : node.end - 1]
    if any(match[0] == "," for match in _tokens(rest)):
        return _joined(text[: member.start], _without_comma(rest) + text[node.end - 1 :])
    # It is the last one: the comma before it goes instead.
    between = _without_comma(text[member.before : member.start])
    return _joined(text[: member.before] + between, text[end:])


def _joined(head: str, tail: str) -> str:
    """Put together what is left around a member: a comment to the end of a line keeps its end."""
    on_same_line = not re.match(r"[ \t]*(\r?\n|$)", tail)
    if not on_same_line:
        return head.rstrip() + tail
    shortened = head.rstrip(" \t")
    return (head if shortened.endswith("\n") else shortened) + tail.lstrip(" \t")


def _without_comma(text: str) -> str:
    comma = next((match.start() for match in _tokens(text) if match[0] == ","), None)
    return text if comma is None else text[:comma] + text[comma + 1 :]


def _is_bare(text: str, outer: _Member, inner: _Member) -> bool:
    """Tell whether a member holds nothing but another one: no second member, and no comment of the person's."""
    around = text[outer.start : inner.start] + text[inner.value.end : outer.value.end]
    commented = any(match["space"] and match["space"].strip() for match in _TOKEN.finditer(around))
    return len(outer.value.members or ()) == 1 and not commented


def _written(value: object, text: str, margin: str) -> str:
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", f"\n{margin}")


def _unit(text: str) -> str:
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else INDENT


def _margin(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _malformed(text: str, at: int) -> Malformed:
    return Malformed(f"line {_line(text, at)} is no JSON")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
