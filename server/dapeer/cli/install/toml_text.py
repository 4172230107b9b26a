"""Set and remove one table in the text of a TOML file, and leave every other character as it is. Pure.

A new table goes to the end of the text, as one piece that can be cut out again: an empty line, the header, the keys. The line
ends that the text ends with stay behind it. In a file that was empty, a line's end is before it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from dapeer.base.json_types import is_array, is_object
from dapeer.cli.install.edits import Keys, MalformedText, cut_ranges, newline_of
from dapeer.cli.install.toml_statements import Statement, comments, members, parse_toml, statements


def with_value(text: str | None, path: Keys, value: object) -> Iterator[str]:
    """Yield texts with the table, or a value in it, set at the path, best first.

    None as `text`: there is no file.

    >>> print(next(with_value(None, ("a", "b"), {"c": 1})), end="")
    [a.b]
    c = 1

    Raises:
        MalformedText: The text is no TOML, or something on the path is no table.
    """
    table = _as_table(value)
    if table is not None:
        yield from _appended(text, path, table)
    else:
        yield from _replaced(text or "", path, value)
    yield from _by_library(text or "", path, value)
    yield from _with_inline(text or "", path, value)


def without_value(text: str, path: Keys) -> Iterator[str | None]:
    """Yield texts without the table at the path, best first.

    None stands for removing the file, which was made for the table.

    Raises:
        MalformedText: The text is no TOML, or something on the path is no table.
    """
    whole = list(statements(text))
    if text[: whole[0].start] == "" and all(_is_ours(one, path) for one in whole):
        yield None if text[whole[-1].end :] in ("\n", "\r\n") else ""
    yield cut_ranges(text, _ranges(text, path))
    yield from _out_of_inline(text, path)
    yield from _by_library(text, path, None)
    yield from _with_inline(text, path, None)


def value_at(text: str, path: Sequence[str]) -> object:
    """Return the value at the path; None: there is none.

    Raises:
        MalformedText: The text is no TOML, or something on the path is no table.
    """
    found: object = parse_toml(text)
    for depth, key in enumerate(path):
        if not is_object(found):
            raise MalformedText(f"`{'.'.join(path[:depth])}` is no table")
        found = found.get(key)
        if found is None:
            return None
    return found


def everything_but(text: str, path: Keys) -> object:
    """Return all that a text holds but the value at the path, with its comments, in a form to be compared.

    Raises:
        MalformedText: The text is no TOML.
    """
    spans = list(_runs(text, path))
    kept = [
        comment
        for at, comment in comments(text)
        if not any(start <= at < end for start, end in spans)
    ]
    return _comparable(_pruned(parse_toml(text), path)), kept


def by_hand(path: Keys, value: object) -> str:
    """Return the lines that a person adds to a file to have the table `value` at the path."""
    return _table(path, cast("Mapping[str, object]", value), "\n")


def _appended(text: str | None, path: Keys, table: Mapping[str, object]) -> Iterator[str]:
    """Yield the text with a new table at its end.

    Then, for each inline table that is around the path, yield the text with a member in that.
    """
    if text is None:
        yield _table(path, table, "\n") + "\n"
        return
    line = newline_of(text)
    head = text.rstrip("\r\n")
    space = line * 2 if head else line
    yield f"{head}{space}{_table(path, table, line)}{text[len(head) :]}"
    for one in statements(text):
        if one.path == path[:-1] and one.value and text[one.value[1] - 1] == "}":
            at = len(text[: one.value[1] - 1].rstrip())
            mark = "" if text[at - 1] == "{" else ","
            yield text[:at] + _member(path[-1], table, mark) + text[at:]


def _replaced(text: str, path: Keys, value: object) -> Iterator[str]:
    """Yield the text with another value at the path, for each place where the path is set."""
    for outer in statements(text):
        for one in (outer, *members(text, outer)):
            if one.path == path and one.value:
                start, end = one.value
                yield text[:start] + _written(value) + text[end:]


def _out_of_inline(text: str, path: Keys) -> Iterator[str]:
    """Yield the text without a table at the path that `with_value` has put into an inline table."""
    table = _as_table(value_at(text, path))
    if table is not None:
        for mark in (",", ""):
            member = _member(path[-1], table, mark)
            if text.count(member) == 1:
                yield text.replace(member, "")


def _with_inline(text: str, path: Keys, value: object) -> Iterator[str]:
    """Yield the text with the inline table around the path written anew; None as value: without the path.

    The library reads some valid files in another way, or not at all.
    """
    for one in statements(text):
        depth = len(one.path)
        if one.value and one.path == path[:depth] and (inside := path[depth:]):
            start, end = one.value
            outer = _as_table(parse_toml(f"value = {text[start:end]}")["value"])
            holder = outer
            for key in inside[:-1]:
                holder = _as_table((holder or {}).get(key))
            if holder is not None:
                holder.pop(inside[-1], None)
                holder |= {} if value is None else {inside[-1]: value}
                yield text[:start] + _written(outer) + text[end:]


def _member(key: str, table: Mapping[str, object], mark: str) -> str:
    return f"{mark} {key} = {_written(table)}"


def _table(path: Keys, table: Mapping[str, object], line: str) -> str:
    keys = (f"{key} = {_written(value)}" for key, value in table.items())
    return line.join([f"[{'.'.join(path)}]", *keys])


def _written(value: object) -> str:
    """Return a value in TOML, on one line."""
    table = _as_table(value)
    if table is not None:
        pairs = (f"{_key(key)} = {_written(each)}" for key, each in table.items())
        return f"{{ {', '.join(pairs)} }}"
    if is_array(value):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, date | time):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else json.dumps(key, ensure_ascii=False)


def _ranges(text: str, path: Keys) -> Iterator[tuple[int, int]]:
    """Yield the ranges to cut out: each run of statements at the path, with up to two line ends before it."""
    for start, end in _runs(text, path):
        head = text[:start].rstrip(" \t")
        before = re.search(r"(?:\r?\n){0,2}\Z", head)
        cut = len(before[0]) if before else 0
        if head:
            yield len(head) - cut, end
        else:
            after = re.match(r"(?:\r?\n)*", text[end:])
            yield start, end + (len(after[0]) if after else 0)


def _runs(text: str, path: Keys) -> Iterator[tuple[int, int]]:
    """Yield start and end of statements at the path that follow each other, with what is between them."""
    for is_ours, group in itertools.groupby(statements(text), lambda one: _is_ours(one, path)):
        if is_ours:
            run = list(group)
            yield run[0].start, run[-1].end


def _is_ours(one: Statement, path: Keys) -> bool:
    return one.path[: len(path)] == path


def _by_library(text: str, path: Keys, value: object) -> Iterator[str]:
    """Yield the text as tomlkit changes it; None as value: without the value at the path.

    Nothing is yielded if tomlkit fails.
    """
    try:
        document = tomlkit.parse(text)
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        if value is None:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value
        yield tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError):
        return


def _pruned(whole: dict[str, object], path: Sequence[str]) -> dict[str, object]:
    """Return tables without what is at the path, nor tables that hold nothing else.

    `whole` is the outermost table, which stays unchanged.
    """
    key, *further = path
    inner = _as_table(whole.get(key)) if further else None
    left = _pruned(inner, further) if inner else None
    return {
        name: left if name == key else each for name, each in whole.items() if left or name != key
    }


def _comparable(value: object) -> str:
    """Return a value as text to be compared, in which the order of keys means nothing.

    The text of a NaN equals that of another NaN.
    """
    table = _as_table(value)
    if table is not None:
        return f"{{{', '.join(f'{key!r}: {_comparable(table[key])}' for key in sorted(table))}}}"
    if is_array(value):
        return f"[{', '.join(map(_comparable, value))}]"
    return repr(value)


def _as_table(value: object) -> dict[str, object] | None:
    return value if is_object(value) else None
