"""Set and remove one value in the text of a JSON file, and leave every other character as it is. Pure.

The files belong to people: they hold comments and trailing commas (JSONC), and a formatting of their own, which a library
that reads and writes values would lose. What is added is one piece of text, or two if a comma is needed, which can be
cut out again:

* In an object that has members, it looks like its last member.
* In an object that was empty, the value stands on one line, behind a space or on a line of its own.
* An object that is made for the value has no space before it, or is spread over several lines.

So the text shows whether an object was there before, and whether the file was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, cast

from dapeer.cli.install.edits import Keys, MalformedText, cut_ranges, newline_of

# Where the values of a JSON text are, with comments and trailing commas allowed (JSONC). Pure.

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*+")'
    r"|(?P<mark>[{}\[\],:])"
    r"|(?P<atom>[^\s{}\[\],:\"/]+)",
    re.DOTALL,
)


@dataclass(slots=True)
class Node:
    """A value: from `start` up to and without `end`."""

    start: int
    end: int
    members: list[JsonMember] | None = None
    """In their order; `None` if the value is no object."""


@dataclass(slots=True)
class JsonMember:
    """A key with its value."""

    key: str
    start: int
    value: Node


@lru_cache(maxsize=4)
def parse_document(text: str) -> Node:
    """Return where the object in a text, and all members outside of arrays, are; cached for latest texts.

    A file of Claude's may have megabytes, and is read often. Indexes are those of characters in `text`. The
    result is shared: the caller must not change it.

    Raises:
        MalformedText: It is no JSON object, or nested too deeply.
    """
    found = tokens(text)
    try:
        node = _value(text, found, next(found, None))
        if following := next(found, None):
            raise _malformed(text, following.start())
        read_value(text)
    except RecursionError as error:
        raise MalformedText("it is nested too deeply") from error
    if node.members is None:
        raise MalformedText(f"line {line_of(text, node.start)}: the file is no object")
    return node


def read_value(text: str, *, pairs: bool = False) -> object:
    """Return the value of a JSON text, in which comments and trailing commas are ignored.

    With `pairs`, to compare texts exactly, each object is a tuple of (key, value), and each number a text:
    a NUL character, then the number as it is written. Arrays are lists in either case, and `NaN` and
    `Infinity` are numbers.

    Raises:
        MalformedText: The text is no JSON.
        RecursionError: The text is nested too deeply.
    """
    try:
        return _decode_json(text, pairs=pairs)
    except ValueError:
        kept = list(tokens(text))
    # Blanks stand for what is ignored, so that an error's index is one of `text`.
    closed, end, before = list[str](), 0, "["
    for part, following in zip(kept, [*kept[1:], None], strict=True):
        is_trailing = part[0] == "," and following and following[0] in ("}", "]")
        ignored = is_trailing and before not in ("{", "[")
        closed += (" " * (part.start() - end), " " if ignored else part[0])
        end, before = part.end(), part[0]
    try:
        return _decode_json("".join(closed), pairs=pairs)
    except ValueError as error:
        raise _malformed(text, getattr(error, "pos", 0)) from error


def _decode_json(text: str, *, pairs: bool) -> object:
    """Decode a JSON text without comments and trailing commas, and return its value.

    Without `pairs` this is `json.loads`, which also accepts `NaN` and `Infinity`. With `pairs`, for comparing two
    texts exactly, each object is a tuple of its (key, value) pairs in order, and each number is a text: a NUL
    character and the number as it is written, to tell it from a string.

    Raises:
        ValueError: The text is no JSON.
        RecursionError: The text is nested too deeply.
    """
    if not pairs:
        return json.loads(text)
    return json.loads(
        text,
        object_pairs_hook=tuple,
        parse_int=_as_written,
        parse_float=_as_written,
        parse_constant=_as_written,
    )


def tokens(
    text: str, start: int = 0, end: int | None = None, *, spaces: bool = False
) -> Iterator[re.Match[str]]:
    """Yield the tokens of a part of a text; white space and comments only if `spaces` is set.

    The `lastgroup` of each match is its kind: `string`, `mark` (a bracket, `:` or `,`), `atom` (any other word), `space` or `comment`. The
    part is from index `start` up to `end`, exclusive; None: to the end of the text.

    Raises:
        MalformedText: Something is no token; raised after the tokens before it were yielded.
    """
    end = len(text) if end is None else end
    for match in _TOKEN.finditer(text, start, end):
        if match.start() != start:
            break
        start = match.end()
        if spaces or match.lastgroup not in ("space", "comment"):
            yield match
    if start < end:
        raise _malformed(text, start)


def line_of(text: str, index: int) -> int:
    """Return the number of the line that a character is in, counted from 1."""
    return text.count("\n", 0, index) + 1


def _as_written(written: str) -> str:
    """Return a number as text: 1.0 is not 1, and NaN not equal to itself."""
    return f"\0{written}"


def _value(text: str, found: Iterator[re.Match[str]], first: re.Match[str] | None) -> Node:
    """Read a value from the tokens `found`, of which `first` is taken already; return where it is.

    The result has the offsets of the value in `text`, the end excluded, and for an object its members. The
    tokens of the value, and no more, are taken from `found`. `text` is the whole text. `first` None: there is
    no token any more.

    Raises:
        MalformedText: There is no value, or something inside of an object or array is not valid.
    """
    if first is None:
        raise _malformed(text, len(text))
    node = Node(first.start(), first.end())
    if first[0] == "{":
        node.members = []
        node.end = _read_members(text, found, node.members)
    elif first[0] == "[":
        node.end = _skip_array(text, found)
    elif first.lastgroup == "mark":
        raise _malformed(text, first.start())
    return node


def _read_members(text: str, found: Iterator[re.Match[str]], members: list[JsonMember]) -> int:
    """Read the members of an object behind its brace into `members`; return the index after its `}`.

    `found` are the tokens that follow, of which those of the object are taken; `text` is the whole text.
    Commas are not checked: they may be missing, or too many.

    Raises:
        MalformedText: Something else is not valid, or the object does not end; the members before stay in
            `members`.
    """
    for token in found:
        if token[0] == "}":
            return token.end()
        if token[0] == ",":
            continue
        colon = next(found, None)
        if token.lastgroup != "string" or colon is None or colon[0] != ":":
            raise _malformed(text, token.start())
        value = _value(text, found, next(found, None))
        members.append(JsonMember(_key(text, token), token.start(), value))
    raise _malformed(text, len(text))


def _key(text: str, token: re.Match[str]) -> str:
    """Return the text that a string token stands for; raise `MalformedText` if it has an invalid escape."""
    try:
        return json.loads(token[0])
    except ValueError as error:
        raise _malformed(text, token.start()) from error


def _skip_array(text: str, found: Iterator[re.Match[str]]) -> int:
    """Read the rest of an array from the tokens `found`; return the index after its `]` in `text`.

    `text` is the whole JSON text. `found` stands after the `[`, and afterwards behind the `]`. Whether there
    is a comma between two elements is not checked.

    Raises:
        MalformedText: The array does not end, or something in it is no value.
    """
    for token in found:
        if token[0] == "]":
            return token.end()
        if token[0] != ",":
            _value(text, found, token)
    raise _malformed(text, len(text))


def _malformed(text: str, index: int) -> MalformedText:
    return MalformedText(f"line {line_of(text, index)} is no JSON")


INDENT: Final = "  "


def with_value(text: str | None, path: Keys, value: object) -> Iterator[str]:
    """Yield one text: `text` with the value at the path, where it replaces the one that is there.

    `path` are the keys, the outermost first; objects that are missing on it are made. If `text` is None (there is
    no file) or blank, the object is new. The format and comments of `text` stay outside of a replaced value.

    >>> print(next(with_value('{"a": 1}', ("b",), 2)))
    {"a": 1, "b": 2}

    Raises:
        MalformedText: By `next`, not by the call: `text` is no JSON object, or a key before the last one leads
            to none.
    """
    if text is None or not text.strip():
        whole = _nested(path, value)
        yield _written(whole, INDENT) + "\n" if text is None else _written(whole) + text
        return
    node = parse_document(text)
    for depth, key in enumerate(path):
        member = _object(node, path[:depth], text).get(key)
        if member is None:
            yield _inserted(text, node, path[depth], _nested(path[depth + 1 :], value))
            return
        node = member.value
    there = text[node.start : node.end]
    unit = _unit(text) if "\n" in there else None
    written = _written(value, unit, newline_of(text) + _margin(text, node.start))
    yield text[: node.start] + written + text[node.end :]


def without_value(text: str, path: Keys) -> Iterator[str | None]:
    """Yield texts without the value at the path and the objects that were made for it, the best first.

    `text` is JSON with comments; `path` has at least one key. Objects around the value are removed, too, where they
    are written as `with_value` writes them for this value alone. If `path` has several keys and the file is nothing
    but such objects, the first proposal is None (the file is to be removed), or, if they are on one line, the text
    without them. Each text is a proposal, which the caller checks. Errors are raised when the first one is taken.

    Raises:
        MalformedText: The text is no JSON object, is nested too deeply, or something on the path is no object.
        KeyError: The value is not there.
    """
    way: list[tuple[Node, JsonMember]] = []
    node = parse_document(text)
    for depth, key in enumerate(path):
        member = _object(node, path[:depth], text)[key]
        way.append((node, member))
        node = member.value
    while len(way) > 1 and _is_made(text, way[-2][1], way[-1][1]):
        way.pop()
    if len(way) == 1 and len(path) > 1:
        value = value_at(text, path)
        whole, around = _nested(path, value), text.strip()
        if around == _written(whole, INDENT):
            yield None
        if around == _written(whole):
            yield text.replace(around, "")
    for keeps_space in (False, True):
        yield cut_ranges(text, _ranges(text, *way[-1], keeps_space=keeps_space))


def value_at(text: str, path: Sequence[str]) -> object:
    """Return the value at a path of keys in a text of JSON, decoded; None: there is none, or it is null.

    None is also the answer for a blank text. An empty `path` gives the whole object. Comments and trailing commas are
    allowed, and of equal keys the last counts.

    Raises:
        MalformedText: The text is no JSON object, is nested too deeply, or has no object where the path goes on.
    """
    if not text.strip():
        return None
    node = parse_document(text)
    for depth, key in enumerate(path):
        member = _object(node, path[:depth], text).get(key)
        if member is None:
            return None
        node = member.value
    return read_value(text[node.start : node.end])


def everything_but(text: str, path: Keys) -> object:
    """Return all of a JSON text except the value at a path, in a form that can be compared.

    Two results are equal if nothing else differs: the pair has the keys and values in their order, and the
    list of comments. Left out are the member at `path` with its comments, and objects on the path that hold
    nothing else. A blank text gives a pair of an empty tuple and an empty list.

    Raises:
        MalformedText: The text is not blank, and is no JSON object, or is nested too deeply.
    """
    if not text.strip():
        return (), list[str]()
    node = parse_document(text)
    ours = [_span(each) for each in _members_at(node, path)]
    comments = [
        match[0].strip()
        for match in tokens(text, spaces=True)
        if match["comment"] and not any(start <= match.start() < end for start, end in ours)
    ]
    return _pruned(read_value(text, pairs=True), path), comments


def by_hand(path: Keys, value: object) -> str:
    """Return what a person adds to a file to have the value at the path."""
    return json.dumps(_nested(path, value), ensure_ascii=False)


def _members_at(node: Node, path: Sequence[str]) -> Iterator[JsonMember]:
    """Yield the members at a path below a value; a key may be there several times.

    `path` has at least one key. Where `node` is no object, or lacks the path, nothing is yielded.
    """
    for member in node.members or ():
        if member.key == path[0]:
            if len(path) == 1:
                yield member
            else:
                yield from _members_at(member.value, path[1:])


def _span(member: JsonMember) -> tuple[int, int]:
    return member.start, member.value.end


def _pruned(value: object, path: Sequence[str]) -> object:
    """Return a JSON object without the member at a path, and without objects that have nothing else.

    `value` is an object as a tuple of (key, value) pairs, as `read_value` gives with `pairs`; a value of
    another type is returned as it is. `path` has the keys that lead to the member, at least one. Only objects
    on the path are left out if nothing remains in them; of `value` itself `()` remains then.
    """
    if not isinstance(value, tuple):
        return value
    kept: list[tuple[str, object]] = []
    for key, each in cast("tuple[tuple[str, object], ...]", value):
        if key != path[0]:
            kept.append((key, each))
        elif len(path) > 1 and (left := _pruned(each, path[1:])) != ():
            kept.append((key, left))
    return tuple(kept)


def _nested(keys: Sequence[str], value: object) -> object:
    """Return objects within each other, one for each key, with the value in the innermost."""
    for key in reversed(keys):
        value = {key: value}
    return value


def _object(node: Node, path: Sequence[str], text: str) -> dict[str, JsonMember]:
    """Return the members of an object by key; of equal keys the last counts, as for JSON's readers.

    `path` leads to the object, for the error.

    Raises:
        MalformedText: The value is no object.
    """
    if node.members is None:
        where = f"`{'.'.join(path)}`" if path else "the file"
        raise MalformedText(f"line {line_of(text, node.start)}: {where} is no object")
    return {member.key: member for member in node.members}


def _inserted(text: str, node: Node, key: str, value: object) -> str:
    """Return the text with a new member behind the last one of the object `node`, formatted as that is.

    `text` is valid JSON, perhaps with comments; `node` is where an object lies in it. `key` is the member's
    name, `value` what it is to be, which is written as JSON. A comma is added where one is needed. In an object
    without members, the new one stands on one line: behind a space, or, if the braces are on different lines,
    on a line of its own. Whether the object has the key already is not checked.
    """
    if not node.members:
        inside = text[node.start + 1 : node.end - 1]
        at = node.start + 1 + len(inside.rstrip())
        space = " " if not re.search(r"[\r\n]", inside) else _line(text, node) + _unit(text)
        return f"{text[:at]}{space}{json.dumps(key)}: {_written(value)}{text[at:]}"
    last = node.members[-1]
    end = last.value.end
    tail = text[end : node.end - 1]
    at = end + len(tail.rstrip())
    comma = _comma(text, end, node.end)
    space = _space_before(text, last, must_break="//" in tail)
    unit = _unit(text) if "\n" in space else None
    member = f"{space}{json.dumps(key)}: {_written(value, unit, space)}"
    if comma is None:
        return f"{text[:end]},{text[end:at]}{member}{text[at:]}"
    return f"{text[:at]}{member},{text[at:]}"


def _space_before(text: str, member: JsonMember, *, must_break: bool) -> str:
    """Return the space for a new member, as it is before `member`: a line end, or a blank.

    After a line end comes the indentation. `must_break`: it is a line end in any case.
    """
    head = text[: member.start]
    space = head[len(head.rstrip()) :]
    if "\n" in space or must_break:
        return newline_of(text) + _margin(text, member.start)
    return " "


def _ranges(
    text: str, node: Node, member: JsonMember, *, keeps_space: bool
) -> Iterator[tuple[int, int]]:
    """Yield the ranges to cut out so that a member is gone: it, the space before it, and one comma.

    A range is a pair of indexes in `text`: its start, and its end behind the last character. The first range is the
    member's; the comma is that behind the member, or for the last member that before it, and there is no second
    range for an only member without a comma. The space stays with `keeps_space`. `node` is the object that has
    `member`.
    """
    start, end = _span(member)
    yield (start if keeps_space else len(text[:start].rstrip())), end
    members = node.members or []
    comma = _comma(text, end, node.end)
    if comma is None and len(members) > 1:
        # It is the last one: the comma before it goes.
        comma = _comma(text, members[-2].value.end, start)
    if comma is not None:
        yield comma, comma + 1


def _comma(text: str, start: int, end: int) -> int | None:
    """Return the index of the first comma between two indexes of the text; None: there is none.

    Commas in strings and comments do not count.
    """
    return next((match.start() for match in tokens(text, start, end) if match[0] == ","), None)


def _is_made(text: str, outer: JsonMember, inner: JsonMember) -> bool:
    """Whether the value of `outer` is written as `with_value` makes it for its only member `inner`."""
    there = text[outer.value.start : outer.value.end]
    whole = {inner.key: read_value(text[inner.value.start : inner.value.end])}
    line = newline_of(text) + _margin(text, outer.start)
    return there in (_written(whole), _written(whole, _unit(text), line))


def _written(value: object, unit: str | None = None, line: str = "\n") -> str:
    """Return a value as JSON on one line, or on several with a `unit` of indentation.

    Each of several lines begins with `line`: a line end, and the indentation of the whole.
    """
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line)


def _unit(text: str) -> str:
    """Return the indentation of the first indented line of a text; the usual one if there is none."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else INDENT


def _line(text: str, node: Node) -> str:
    """Return a line end and the indentation of the line in which a value begins."""
    return newline_of(text) + _margin(text, node.start)


def _margin(text: str, index: int) -> str:
    """Return the indentation of the line that a character is in."""
    line = text[text.rfind("\n", 0, index) + 1 : index]
    return line[: len(line) - len(line.lstrip(" \t"))]
