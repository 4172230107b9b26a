"""Masks secrets in results and logs: what `forms` finds, in texts and in data. Pure."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from dapeer.base.json_types import is_array, is_object
from dapeer.base.secrets.forms import WORDS, spans

NOTE: Final = "(<redacted: …> is masked here, not in the program. A person shows it with `dapeer … --no-redact`.)"

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)")
_NAMING: Final = ("name", "path", "expression")
"""Keys of an object whose value names the object's other values."""
_VALUES: Final = frozenset({"value", "result", "was"})
_BESIDE: Final = {"value": "name", "val": "key", "1": "0"}
"""Names of variables that hold a value, and of those beside them that name it."""


def redacted(text: str, found: dict[str, str] | None = None) -> str:
    """Return a text with its secrets replaced by placeholders such as `<redacted: password>`.

    Each secret is also added to `found`, if that is given, with its placeholder, so that the caller can mask it elsewhere. Escape
    sequences of a terminal do not hide a secret. Without secrets `text` itself is returned.

    >>> redacted("DB_PASSWORD=hunter2 and token = tokens[3]")
    'DB_PASSWORD=<redacted: password> and token = tokens[3]'
    """
    plain = _ANSI.sub("", text) if "\x1b" in text else text
    secrets = sorted(spans(plain))
    if not secrets:
        return text
    places = _places(text) if plain is not text else None
    pieces: list[str] = []
    done = 0
    for first, last, label in secrets:
        start, end = (
            (first, last) if places is None else (places.of(first), places.of(last - 1) + 1)
        )
        if start >= done:
            pieces += text[done:start], mask(label)
            if found is not None:
                found[plain[first:last]] = mask(label)
        done = max(done, end)
    return "".join(pieces) + text[done:]


def mask(label: str) -> str:
    """Return the placeholder for a secret that `label` names, such as `<redacted: password>`."""
    return f"<redacted: {label}>"


@dataclass(slots=True)
class Redaction:
    """Masks one answer: its text, and its data, in which a value is known by its name."""

    found: dict[str, str] = field(default_factory=dict[str, str])
    """Values that were masked by their name, each with its placeholder; they are masked everywhere."""

    def data(self, value: Any, name: str = "") -> Any:
        """Return a copy of JSON data with its secrets masked; `name` is the name of the variable that it is.

        Secrets that are found are masked in all later data and texts of this object, too.
        """
        if not may_hold_secrets(name, value):
            return self._walk(value, "") if self.found else value
        masked = self._walk(value, name)
        return self._walk(masked, "") if self.found else masked

    def text(self, text: str) -> str:
        """Return a text with its secrets and all those found before masked.

        Secrets that are found are masked in later data and texts of this object, too.
        """
        return redacted(self._known(text), self.found)

    def _known(self, text: str) -> str:
        """Return a text in which the secrets that were found before are masked where they are whole words."""
        for secret, instead in self.found.items():
            if secret in text:
                # A short one may be a part of a number or of a word.
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", lambda _, it=instead: it, text)
        return text

    def _walk(self, value: Any, name: str) -> Any:
        """Return a copy of JSON data in which the secrets of all texts are masked; it adds them to `found`.

        `name` is the name under which the data stands (empty: none). Within an object it is replaced by the key, or by the object's
        own `name`, `path` or `expression` for its `value`, `result` and `was`.
        """
        match value:
            case str():
                return self.text(self._named(value, name) if name else value)
            case _ if is_array(value):
                beside = _named_beside(value)
                return [
                    self._walk(one, beside if isinstance(one, dict) and beside else name)
                    for one in value
                ]
            case _ if is_object(value):
                own = next((str(value[key]) for key in _NAMING if value.get(key)), name)
                whose = name if _BESIDE.get(own.strip("'\"")) and name else own
                return {
                    key: self._walk(one, whose if key in _VALUES else key)
                    for key, one in value.items()
                }
            case _:
                return value

    def _named(self, value: str, name: str) -> str:
        """Return a value as `redacted` masks it behind `NAME = `."""
        head = f"{name[-80:]} = "
        masked = redacted(f"{head}{value}", self.found)
        return masked.removeprefix(head) if masked.startswith(head) else value


def _named_beside(items: list[Any]) -> str:
    """Return the text of the variable in a list that names the value of another one; empty without one.

    Such are `name` beside `value`, `key` beside `val`, and the first beside the second of a pair; only the first 20 variables are
    looked at.
    """
    entries = [one for one in items[:20] if is_object(one)]
    held = {str(one.get("name", "")).strip("'\""): str(one.get("value", "")) for one in entries}
    return next((held[name] for value, name in _BESIDE.items() if {value, name} <= held.keys()), "")


def may_hold_secrets(text: str, data: object = None) -> bool:
    """Return whether a text or JSON data can contain anything to mask; a quick check before the search."""
    all_of_it = text if data is None else f"{text}{data!r}"
    escaped = "\x1b" in all_of_it or "\\x1b" in all_of_it
    return escaped or any(map(all_of_it.lower().__contains__, WORDS))


class _Places(NamedTuple):
    """Where the characters of a text without escape sequences are in the text with them."""

    plain: list[int]
    shift: list[int]

    def of(self, position: int) -> int:
        """Return the position in the text with escape sequences of a position in the text without them."""
        return position + self.shift[bisect.bisect_right(self.plain, position) - 1]


def _places(text: str) -> _Places:
    """Return the table that converts positions without a terminal's escape sequences to those in `text`."""
    places = _Places([0], [0])
    removed = 0
    for code in _ANSI.finditer(text):
        removed += code.end() - code.start()
        places.plain.append(code.end() - removed)
        places.shift.append(removed)
    return places


def field_names(arguments: Mapping[str, Any]) -> str:
    """Return the name or expression that a tool call's arguments ask for; empty if they name none."""
    return next((str(arguments[key]) for key in _NAMING if arguments.get(key)), "")
