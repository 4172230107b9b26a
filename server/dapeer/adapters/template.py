"""Placeholders in a definition's values: `${program}`, `${port}`, … Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, cast

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = 0


UNSET: Final = Unset.UNSET
"""What a value becomes when a placeholder in it has no value."""

UnsetType: TypeAlias = Literal[Unset.UNSET]


def placeholders(value: object, key: str) -> Iterator[tuple[str, str]]:
    """Yield each placeholder in a value, behind the dotted key it stands at.

    >>> list(placeholders({"connect": {"port": "${port}"}}, "attach"))
    [('attach.connect.port', 'port')]
    """
    match value:
        case str():
            yield from ((key, found[1]) for found in _PLACEHOLDER.finditer(value))
        case Mapping():
            for name, item in cast("Mapping[str, Any]", value).items():
                yield from placeholders(item, f"{key}.{name}")
        case list() | tuple():
            for item in cast("list[Any]", value):
                yield from placeholders(item, key)
        case _:
            return


def fill(value: object, values: Mapping[str, object]) -> object:
    """Return the value with its placeholders replaced; `UNSET` when one has no value.

    A text that is exactly one placeholder becomes its value, of whatever type; inside a longer text
    the value becomes text. What is unset is dropped from its table or list, and a table or list
    that lost everything so is unset itself.

    >>> fill({"stop": "${stop}", "at": "${host}:${port}", "pid": "${pid}"},
    ...      {"stop": True, "host": "localhost", "port": 1234})
    {'stop': True, 'at': 'localhost:1234'}
    """
    match value:
        case str():
            return _filled_text(value, values)
        case Mapping():
            table = cast("Mapping[str, Any]", value)
            filled = {name: fill(item, values) for name, item in table.items()}
            kept = {name: item for name, item in filled.items() if item is not UNSET}
            return kept if kept or not table else UNSET
        case list() | tuple():
            items = cast("list[Any]", value)
            rest = [item for item in (fill(item, values) for item in items) if item is not UNSET]
            return rest if rest or not items else UNSET
        case _:
            return value


def _filled_text(text: str, values: Mapping[str, object]) -> object:
    names: list[str] = _PLACEHOLDER.findall(text)
    if any(values.get(name) is None for name in names):
        return UNSET
    if names and text == f"${{{names[0]}}}":
        return values[names[0]]
    return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), text)
