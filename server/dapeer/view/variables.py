"""The variables of a stop: a selection, each in one short line, and the changes. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from dapeer.base.errors import ArgumentError
from dapeer.base.text.fitting import (
    LEFT_OUT,
    MAX_READ_CHARS,
    fitted,
    fitted_table,
    main_group,
    parse_brackets,
    shortened,
)
from dapeer.dap.types import Variable
from dapeer.mirror.stops import Stop
from dapeer.view.relevance import DEFINITIONS, choose_locals, has_locals, names_around

# Readable paths to variables: `order.items[3].price`. Pure.

_PLAIN = re.compile(r"\w+|'[^'\\]*'|\"[^\"\\]*\"")
_SEGMENT = re.compile(r"\.?([^.\[\]]+)|\[([^\[\]]*)\]")


def parse_path(path: str) -> list[str]:
    """Return the segments of a path to a variable: names, and the contents of brackets with their quotes.

    >>> parse_path("order.items[3].price")
    ['order', 'items', '3', 'price']
    >>> parse_path("prices['a.b']")
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


def find_child(children: Iterable[Variable], segment: str) -> Variable | None:
    """Return the variable among `children` that a segment of a path names, or None.

    Adapters show an index as `3`, `[3]` or `03`, and a key with or without quotes; each of them is found.

    >>> find_child([{"name": "[3]", "value": "x", "variablesReference": 0}], "3")["value"]
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


VALUE_CHARS = 120
"""Characters of one value."""
MAX_CHANGES = 8
MAX_MEMBERS = 2
"""Members beyond which both values are shown whole instead."""

_MEMBER = re.compile(r"(@?[A-Za-z_]\w*)\s*(?:=|:(?!:))\s*(?!=)")
"""A name and what parts it from its value; a type's name, as Rust's `alloc::Global`, has none."""


def locals_of(stop: Stop, changed: Collection[str], notes: list[str]) -> dict[str, str]:
    """Return the texts of the locals to show at a stop, by name.

    `changed` are the names of changed locals, which matter more. Notes on how many are not shown, or why there are none, are
    appended to `notes`.
    """
    choice = choose_locals(stop, changed)
    if stop.found.withheld:
        notes.append(f"no locals: {shortened(stop.found.withheld, VALUE_CHARS)}")
    elif stop.top is not None and not has_locals(stop, stop.top["id"]):
        notes.append("locals did not arrive (a slow repr?): ask again with dap_variables")
    if choice.hidden_count:
        kinds = [f"{number} {each}" for each, number in choice.types.items()]
        of = f" ({', '.join(kinds)})" if kinds else ""
        notes.append(f"{_count_with_noun(choice.hidden_count, 'more local')}{of}: dap_variables")
    if kinds := [
        _count_with_noun(n, kind) for kind in DEFINITIONS if (n := choice.definitions[kind])
    ]:
        notes.append(f"also {', '.join(kinds)}: dap_variables")
    return _texts_by_name(
        [Variable({**v, "value": stop.values.shown(v)}) for v in choice.shown_locals],
        names_around(stop),
    )


def _count_with_noun(number: int, what: str) -> str:
    """Return a number with a noun in its singular or plural."""
    plural = "es" if what.endswith("s") else "s"
    return f"{number} {what}{plural if number > 1 else ''}"


def changes_in(
    changed: Mapping[str, tuple[str | None, str]], notes: list[str]
) -> dict[str, list[str | None]]:
    """Return a list of the values before and now by name, for at most `MAX_CHANGES` changed variables.

    `changed` is as in `ActivationComparison.changes`; None before says that the variable is new. For an object only the changed members are
    returned, under names such as `cart.total`, if they are known. Each value is on one short line. A note on how many more have changed is
    appended to `notes`.
    """
    if len(changed) > MAX_CHANGES:
        notes.append(f"{len(changed) - MAX_CHANGES} more changed: dap_variables")
    changes: dict[str, list[str | None]] = {}
    for name, (old, new) in list(changed.items())[:MAX_CHANGES]:
        parts = {} if old is None else differences(_ADDRESS.sub(")", old), _ADDRESS.sub(")", new))
        of_members = {f"{name}.{member}": pair for member, pair in parts.items()}
        for each, (before, now) in (of_members or {name: (old, new)}).items():
            changes[each] = [None if before is None else one_line(before), one_line(now)]
    return changes


def _texts_by_name(
    variables: Sequence[Variable], preferred: Collection[str] = ()
) -> dict[str, str]:
    """Return the values of variables by name, each on one short line, members named in `preferred` first.

    A name that occurs again, because an inner variable hides an outer one, gets an apostrophe.
    """
    values: dict[str, str] = {}
    for variable in variables:
        name = variable["name"]
        while name in values:
            name += "'"
        values[name] = one_line(variable["value"], preferred)
    return values


def one_line(value: str, preferred: Collection[str] = ()) -> str:
    r"""Return a value as one line of about `VALUE_CHARS` characters, without the object's address.

    Line ends are shown as spaces, those between the rows of a table as ` | `. Members whose names are in `preferred` come first.

    >>> one_line("(2,) a int64\n0  1\n1  2")
    '(2,) a int64 | 0 1 | 1 2'
    >>> one_line("Cart(total=3) at 0x7fcedb7f1190")
    'Cart(total=3)'
    """
    if "\n" not in value:
        return fitted(_ZEROS.sub("0x", _ADDRESS.sub(")", value)), VALUE_CHARS, preferred)
    lines = [" ".join(line.split()) for line in value.split("\n")]
    return (
        fitted_table(lines, VALUE_CHARS)
        if value.startswith("(")
        else fitted(" ".join(lines), VALUE_CHARS)
    )


_ADDRESS = re.compile(r"\) at 0x[0-9a-f]+\Z")
"""The address of an object, after its members."""
_ZEROS = re.compile(r"\b0x(?=[0-9a-f]{16}\b)0+(?=[0-9a-f])")
"""The beginning of an address that is written in full."""


def differences(before: str, now: str) -> dict[str, tuple[str | None, str]]:
    """Return the changed members of an object, each with its text before and after.

    `before` and `now` are the texts of the object's value. None before says that the member is new. The result is empty if the texts do not
    show the changes: a member is gone, elements were left out, or more than `MAX_MEMBERS` have changed.

    >>> differences("Cart(total=3, name='a')", "Cart(total=4, name='a')")
    {'total': ('3', '4')}
    >>> differences("{'total': 3}", "{'total': 4}"), differences("Cart(total=3)", "0x1")
    ({}, {})
    >>> differences("{value = M<Vec<u32>, alloc::Global>> {s}}", "{value = M<Vec<u32>, alloc::Global>> {t}}")
    {}
    """
    old, new = _members(before), _members(now)
    if old is None or new is None or old.keys() - new.keys() or old[""] != new[""]:
        return {}
    changed = {name: (old.get(name), text) for name, text in new.items() if old.get(name) != text}
    whole = all("…" not in f"{was}{text}" for was, text in changed.values())
    return changed if whole and len(changed) <= MAX_MEMBERS else {}


def _members(text: str) -> dict[str, str] | None:
    """Return the members in the text of a value by name, and under "" the text before them.

    None if the text has no members, or if an element has no name.
    """
    value = parse_brackets(text[:MAX_READ_CHARS])
    group = main_group(value, len(text))
    if group is None or not group.items:
        return None
    found = [_MEMBER.match(item.text) for item in group.items if item.text not in LEFT_OUT]
    members = {each[1]: each.string[each.end() :] for each in found if each is not None}
    return {"": text[: group.start], **members} if len(members) == len(found) else None
