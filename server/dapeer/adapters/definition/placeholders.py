"""Placeholders in a definition's values: `${program}`, `${port}`, … Pure.

`${args...}` in a list inserts all items of a list; `${args|join}` joins them in one text, quoted for a shell.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, TypeGuard

_PLACEHOLDER = re.compile(r"\$\{([^{}]*?)(\.\.\.|\|join)?\}")
_NAMED = re.compile(r"\$\{([^{}]*)\}")


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = 0


UNSET: Final = Unset.UNSET
"""The result for a value with a placeholder that has no value."""

UnsetType: TypeAlias = Literal[Unset.UNSET]


def placeholders(value: object, key: str) -> Iterator[tuple[str, str]]:
    """Yield (dotted key, name) for each placeholder in a value; the dotted key is where it is.

    `key` is the key of the value itself. Items of a list have the key of the list.

    >>> list(placeholders({"connect": {"port": "${port}"}}, "attach"))
    [('attach.connect.port', 'port')]
    """
    if isinstance(value, str):
        yield from ((key, found[1]) for found in _PLACEHOLDER.finditer(value))
    elif _is_table(value):
        for name, item in value.items():
            yield from placeholders(item, f"{key}.{name}")
    elif _is_list(value):
        for item in value:
            yield from placeholders(item, key)


def fill(value: object, values: Mapping[str, object]) -> object:
    """Return the value with its placeholders replaced; `UNSET` when one has no value.

    A placeholder is `${NAME}`; `${NAME|join}` makes one shell command line of a list, and an item
    `${NAME...}` of a list becomes all items of the value; for both, what is no list counts as an empty one. A
    text that is exactly one `${NAME}` becomes its value, of whatever type; inside a longer text the value
    becomes text. A text in which one placeholder has no value is unset as a whole. What is unset is dropped from
    its table or list, and a table or list of which nothing is left is unset itself; one that is empty in
    `value` stays. Other values than texts, tables and lists are returned as they are. `value` is not changed.
    `values` are by name; None counts as no value.

    >>> fill({"stop": "${stop}", "at": "${host}:${port}", "pid": "${pid}"},
    ...      {"stop": True, "host": "localhost", "port": 1234})
    {'stop': True, 'at': 'localhost:1234'}
    >>> fill(["ruby", "${args...}", "--all=${args|join}"], {"args": ["a b", "c"]})
    ['ruby', 'a b', 'c', "--all='a b' c"]
    """
    if isinstance(value, str):
        return _filled_text(value, values)
    if _is_table(value):
        kept = fill_table(value, values)
        return kept if kept or not value else UNSET
    if _is_list(value):
        filled_items = itertools.chain.from_iterable(_items(item, values) for item in value)
        rest = [item for item in filled_items if item is not UNSET]
        return rest if rest or not value else UNSET
    return value


def fill_known(text: str, values: Mapping[str, object]) -> str:
    """Return a text in which each `${NAME}` whose NAME is in `values` is replaced by its value, as text.

    Other text like `${…}` stays, and so does what a value itself contains.

    >>> fill_known("${a} ${b} ${c}", {"a": "${b}", "b": 2})
    '${b} 2 ${c}'
    """

    def filled(found: re.Match[str]) -> str:
        return str(values[found[1]]) if found[1] in values else found[0]

    return _NAMED.sub(filled, text)


def fill_table(table: Mapping[str, object], values: Mapping[str, object]) -> dict[str, Any]:
    """Return a table with its placeholders replaced, without what is unset.

    >>> fill_table({"cwd": "${cwd}"}, {})
    {}
    """
    filled = {name: fill(item, values) for name, item in table.items()}
    return {name: item for name, item in filled.items() if item is not UNSET}


def fill_texts(texts: Sequence[str], values: Mapping[str, object]) -> list[str]:
    """Return a list of texts with its placeholders replaced, without those that have no value."""
    return [str(item) for _, item in fill_list(texts, values) if item is not UNSET]


def fill_list(texts: Sequence[str], values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield each item of a filled list with its template; one without a value is `UNSET`.

    A template like `${args...}` yields as many items as its value has.
    """
    for text in texts:
        yield from ((text, item) for item in _items(text, values))


def _items(item: object, values: Mapping[str, object]) -> Iterator[object]:
    """Yield the items that an item of a list becomes: all of a list for `${args...}`, else one."""
    found = _PLACEHOLDER.fullmatch(item) if isinstance(item, str) else None
    if found and found[2] == "...":
        yield from _listed(values.get(found[1]))
    else:
        yield fill(item, values)


def _filled_text(text: str, values: Mapping[str, object]) -> object:
    """Return a text with its placeholders replaced; `UNSET` if one has no value.

    A placeholder is `${name}`, or `${name|join}` for the items of a list as one command line, quoted for a shell;
    `${name...}` counts as `${name}` here. `values` are by name; None counts as no value. A text that is exactly
    one placeholder becomes its value, of whatever type, with `|join` a text; inside a longer text the value is
    inserted as by `str`. A text without placeholders is returned as it is.
    """
    found = list(_PLACEHOLDER.finditer(text))
    if any(values.get(each[1]) is None for each in found):
        return UNSET
    if found and text == found[0][0]:
        return _value(found[0], values)
    return _PLACEHOLDER.sub(lambda each: str(_value(each, values)), text)


def _value(found: re.Match[str], values: Mapping[str, object]) -> object:
    value = values[found[1]]
    return shlex.join(map(str, _listed(value))) if found[2] == "|join" else value


def _is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _listed(value: object) -> Sequence[object]:
    return value if _is_list(value) else ()


def joined_lists(
    keys: Iterable[str], lower: Mapping[str, object], upper: Mapping[str, object]
) -> dict[str, object]:
    """Return, for these keys, the lists of two tables joined, the lower's items first, if both have one.

    A key for which one of the tables has no list is left out. The tables stay as they are.

    >>> joined_lists(["args"], {"args": ["-a"], "env": []}, {"args": ["-b"]})
    {'args': ['-a', '-b']}
    """
    both = {key: (lower.get(key), upper.get(key)) for key in keys}
    return {
        key: [*first, *second]
        for key, (first, second) in both.items()
        if _is_list(first) and _is_list(second)
    }


def as_choice(names: list[str]) -> str:
    """Return names as a sentence offers them: `a`, `b` or `c`."""
    return f"`{'`, `'.join(names[:-1])}` or `{names[-1]}`" if names[1:] else f"`{names[0]}`"
