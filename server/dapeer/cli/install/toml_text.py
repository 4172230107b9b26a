"""Set and remove one table in the text of a TOML file, and leave every other character as it is. Pure.

A new table goes to the end of the text, as one piece that can be cut out again: an empty line, the header, the keys. The line
ends that the text ends with stay behind it. In a file that was empty, a line's end is before it.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any, Final, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from dapeer.base.json_types import is_array, is_object
from dapeer.cli.install.edits import Keys, MalformedText, cut_ranges, newline_of

# The statements of a TOML text: where each is, and which key it sets. Pure.

_TOKEN: Final = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<comment>#[^\r\n]*)|(?P<line>\r?\n)|(?P<space>[ \t]+)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<equals>=)|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A header, or a key with its value; from `start` to the end of its last line, exclusive."""

    start: int
    end: int
    path: Keys
    """The full path of the table or key."""
    value: tuple[int, int] | None
    """From where to where its value goes; a header has none."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a TOML text holds.

    Raises:
        MalformedText: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise MalformedText(str(error)) from error


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a text that is valid TOML, in their order: headers, and keys with values.

    Each has its start in `text` and its end, which is behind its last token or the comment on its last line,
    before the line end. Its path has all keys, with those of the header above it first. Its value is a pair:
    from where to where in `text` the value goes; for a header it is None. Members of inline tables are not
    yielded.
    """
    table: Keys = ()
    for start, marks in _statement_tokens(text):
        end = marks[-1].end()
        equals = next((mark.start() for mark in marks if mark["equals"]), None)
        last = next(mark.end() for mark in reversed(marks) if not mark["comment"])
        if text[start] == "[":
            table = _path(text[start:last])
            yield Statement(start, end, table, None)
        elif equals is not None:
            path = (*table, *_path(f"{text[start:equals]} = 0"))
            value = (
                equals + 1 + len(text[equals + 1 : last]) - len(text[equals + 1 : last].lstrip())
            )
            yield Statement(start, end, path, (value, last))


def inline_members(text: str, outer: Statement) -> Iterator[Statement]:
    """Yield each member of the inline table that is a statement's value, and of the inline tables in it.

    Nothing is yielded if the value is no inline table, or if there is no value; tables within arrays are not
    looked into. `text` is valid TOML, and `outer` a statement of it. Each member comes with its full path, and
    with indices into `text`, before the members of a table that is its own value.
    """
    if outer.value is None or text[outer.value[0]] != "{":
        return
    depth, marks = 0, list[re.Match[str]]()
    for match in _TOKEN.finditer(text, *outer.value):
        depth += bool(match["open"]) - bool(match["close"])
        if depth == 0 or (depth == 1 and match[0] == ","):
            if marks:
                yield from _member_statements(text, outer, marks)
            marks = []
        elif not (
            match["space"] or match["line"] or match["comment"] or match.start() == outer.value[0]
        ):
            marks.append(match)


def _member_statements(
    text: str, outer: Statement, marks: list[re.Match[str]]
) -> Iterator[Statement]:
    """Yield a member of an inline table, given as its tokens `marks`, and those of an inline table in it.

    `outer` is the statement in `text` that has the table as its value: its path begins theirs. Starts and ends are
    indices into `text`. `marks` have no white space and comments.
    """
    start, end = marks[0].start(), marks[-1].end()
    at = next(at for at, mark in enumerate(marks) if mark["equals"])
    path = (*outer.path, *_path(f"{text[start : marks[at].start()]} = 0"))
    one = Statement(start, end, path, (marks[at + 1].start(), end))
    yield one
    yield from inline_members(text, one)


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield (index, text) of each comment."""
    for match in _TOKEN.finditer(text):
        if match["comment"]:
            yield match.start(), match["comment"].rstrip()


def _statement_tokens(text: str) -> Iterator[tuple[int, list[re.Match[str]]]]:
    """Yield (start, tokens) of each statement in a text of TOML: a header, or a key with its value.

    `start` is the index in `text` of the statement's first character. A statement may take several lines. Its
    tokens are without white space; comments within the statement, and behind it on its line, are among them.
    Lines that have only a comment yield nothing.
    """
    depth, marks = 0, list[re.Match[str]]()
    for match in _TOKEN.finditer(text):
        depth += bool(match["open"]) - bool(match["close"])
        if match["line"] and not depth:
            if any(not mark["comment"] for mark in marks):
                yield marks[0].start(), marks
            marks = []
        elif not (match["space"] or match["line"]):
            marks.append(match)
    if any(not mark["comment"] for mark in marks):
        yield marks[0].start(), marks


def _path(text: str) -> Keys:
    """Return the keys that a line of TOML names: of a header such as `[a.b]`, or of `a.b = 0`.

    `text` has that one line, and the value behind a key must be 0, which the caller puts there. A key in quotes
    is returned without them. An empty text gives an empty tuple.

    Raises:
        TOMLDecodeError: `text` is no valid TOML.
    """
    found: dict[str, Any] | list[Any] = tomllib.loads(text)
    path: list[str] = []
    while found:
        if isinstance(found, dict):
            path.append(next(iter(found)))
            found = found[path[-1]]
        else:
            found = found[0]
    return tuple(path)


def with_value(text: str | None, path: Keys, value: object) -> Iterator[str]:
    """Yield proposals for a text in which `value` is set at the path, the best first.

    `text` must be valid TOML; None: there is no file. A dict as `value` becomes a table, and at least one
    proposal is yielded; any other value is set in a table that is there already, and nothing is yielded if
    no way is known, such as without that table. A proposal may be no TOML, or change something else, too:
    the caller checks each.

    >>> print(next(with_value(None, ("a", "b"), {"c": 1})), end="")
    [a.b]
    c = 1
    """
    table = _as_table(value)
    if table is not None:
        yield from _with_table_appended(text, path, table)
    else:
        yield from _with_value_replaced(text or "", path, value)
    yield from _by_library(text or "", path, value)
    yield from _with_inline(text or "", path, value)


def without_value(text: str, path: Keys) -> Iterator[str | None]:
    """Yield proposals for a text without the table at the path, the best first.

    `text` must be valid TOML, in which this table is. None stands for removing the file, which was made for the
    table. A proposal may be no TOML, or change something else, too: the caller checks each.

    Raises:
        MalformedText: Something on the path is no table.
    """
    whole = list(statements(text))
    if text[: whole[0].start] == "" and all(_is_ours(one, path) for one in whole):
        yield None if text[whole[-1].end :] in ("\n", "\r\n") else ""
    yield cut_ranges(text, _ranges(text, path))
    yield from _out_of_inline(text, path)
    yield from _by_library(text, path, None)
    yield from _with_inline(text, path, None)


def value_at(text: str, path: Sequence[str]) -> object:
    """Return the value at the path; None: there is none. An empty path gives the whole.

    Raises:
        MalformedText: The text is no TOML, or something on the path, before its end, is no table.
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
    """Return what a TOML text holds apart from the value at a path, as an object to compare by `==` only.

    Values and comments count, the order of keys does not. Left out are the value at `path`, comments in and
    between its lines, and tables around it that hold nothing else. If nothing is there, all is
    compared, except a key on the path whose value is an empty table or no table.

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
    """Return the lines that a person adds to a file to have the table `value` at the path.

    >>> print(by_hand(("servers", "my own"), {"a key": 1}))
    [servers."my own"]
    "a key" = 1
    """
    return _table(path, cast("Mapping[str, object]", value), "\n")


def _with_table_appended(
    text: str | None, path: Keys, table: Mapping[str, object]
) -> Iterator[str]:
    """Yield candidates of a TOML text with a new table: first at its end, then in inline tables.

    `path` are the table's keys, the outermost first; `table` has its values. None as `text`: there is no file, and
    only the new table is yielded. Else `text` must be valid TOML: it is yielded with the table before the line ends
    at its end, and once more for each inline table that is a statement's value, at `path` without its last key: with
    the new table as a last member of that. Nothing is checked: a candidate may be no valid TOML.
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


def _with_value_replaced(text: str, path: Keys, value: object) -> Iterator[str]:
    """Yield the text with another value at the path, for each place where the path is set."""
    for outer in statements(text):
        for one in (outer, *inline_members(text, outer)):
            if one.path == path and one.value:
                start, end = one.value
                yield text[:start] + _written(value) + text[end:]


def _out_of_inline(text: str, path: Keys) -> Iterator[str]:
    """Yield candidates of the text without the table at `path`, where `with_value` wrote an inline table.

    `with_value` writes ` KEY = {…}` into an inline table, behind a comma unless it is the first member. The first
    candidate is the text without that member and the comma before it, the second is without the member alone; each
    is only yielded if what it leaves out stands in `text` exactly once. So there are two, one, or none: the table
    is not there, or was written in another way. A candidate may be invalid TOML, so the caller checks it.

    Raises:
        MalformedText: The text is no TOML, or something on the way is no table.
    """
    table = _as_table(value_at(text, path))
    if table is not None:
        for mark in (",", ""):
            member = _member(path[-1], table, mark)
            if text.count(member) == 1:
                yield text.replace(member, "")


def _with_inline(text: str, path: Keys, value: object) -> Iterator[str]:
    """Yield texts in which the inline table around the path is written anew; value None removes the path.

    `text` is valid TOML. There is one text for each statement whose value is an inline table around the path,
    also if it lacks the path; none where a key between leads to no table. Other members keep their values, but
    comments and format of that table are lost. It is for files that tomlkit reads in another way than Python,
    or not at all.

    Raises:
        MalformedText: The value of such a statement is no TOML.
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
    return f"{mark} {_key(key)} = {_written(table)}"


def _table(path: Keys, table: Mapping[str, object], line: str) -> str:
    keys = (f"{_key(key)} = {_written(value)}" for key, value in table.items())
    return line.join([f"[{'.'.join(map(_key, path))}]", *keys])


def _written(value: object) -> str:
    """Return a value in TOML, on one line: tables become inline tables, dates and times stay such.

    `value` is what `tomllib` or JSON gives. None must not be in it, since TOML has no null and this is not
    checked.
    """
    table = _as_table(value)
    if table is not None:
        pairs = (f"{_key(key)} = {_written(each)}" for key, each in table.items())
        return f"{{ {', '.join(pairs)} }}"
    if is_array(value):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, date | time):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else _as_json(value)


def _as_json(value: object) -> str:
    r"""Return a text, whole number or truth value as JSON that is TOML, too: DEL is written as an escape.

    >>> print(_as_json("a" + chr(127) + "é"))
    "a\u007fé"
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _as_json(key)


def _ranges(text: str, path: Keys) -> Iterator[tuple[int, int]]:
    """Yield the ranges to cut out: each run of statements at a path, with line ends before it.

    A range is (start, end), indexes of characters in `text`, the end exclusive. `path` has the keys. A range
    begins up to two line ends before its run, and has the blanks and tabs between. Where only blanks and tabs,
    or nothing, are before the run in the text, they stay, and all line ends after the run are cut out instead.
    Without a statement at the path nothing is yielded.
    """
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
    """Yield at most one text: `text`, a TOML document, with `value` put at a path by tomlkit.

    `path` has the keys to the value, outermost first. None as value: what is at the path is removed. The rest
    of the document keeps its form. Nothing is yielded if tomlkit fails, the table around the path is not
    there, or there is nothing to remove.
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
    """Return a copy of tables without the value at a path, nor tables around it that hold nothing else.

    `whole` is the outermost table, which stays unchanged; the result may be empty, and shares what is off the
    path. `path` has at least one key. Where the path leads nowhere, an equal copy is returned, with one
    exception: if the path goes on behind a key whose value is an empty table or no table, that key is left out,
    too.
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
