"""Change one value in the text of a person's file, and prove that all else of it stays. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from dapeer.base.json_types import is_object

Keys = tuple[str, ...]
"""The keys that lead to a value."""


class MalformedText(ValueError):
    """A text that cannot be read; the message says where."""


def newline_of(text: str) -> str:
    """Return the line end that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def cut_ranges(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return the text without the characters of some ranges, each from its start up to its end, exclusive.

    The ranges do not overlap, and may come in any order.

    >>> cut_ranges("abcdef", [(4, 5), (1, 2)])
    'acdf'
    """
    for start, end in sorted(ranges, reverse=True):
        text = text[:start] + text[end:]
    return text


BOM = "\ufeff"
"""May be the first character of a file; it stays."""


class TextEditor(Protocol):
    """Edits texts of one format. Where it yields several ways, one of them may harm the text: see `_safe`."""

    def with_value(self, text: str | None, path: Keys, value: object, /) -> Iterator[str]:
        """Yield texts in which the value at the path is set, best first.

        None as `text`: there is no file.
        """
        ...

    def without_value(self, text: str, path: Keys, /) -> Iterator[str | None]:
        """Yield texts without the value at the path, best first.

        None stands for removing the file, which was made for the value.
        """
        ...

    def value_at(self, text: str, path: Sequence[str], /) -> object:
        """Return the value at a path of keys; None: there is none."""
        ...

    def everything_but(self, text: str, path: Keys, /) -> object:
        """Return all that a text holds but the value at a path, in a form that can be compared."""
        ...

    def by_hand(self, path: Keys, value: object, /) -> str:
        """Return the text that a person adds to a file to have the value at the path."""
        ...


class UnsafeEdit(ValueError):
    """Every known way to change a text would change something else in it, too."""


def with_entry(
    editor: TextEditor, text: str | None, path: Keys, entry: Mapping[str, object]
) -> str:
    """Return a configuration's text with an entry at a path of keys; nothing is written.

    An object that is at `path` keeps its other members: a member of `entry` replaces the one of the same key.
    Any other value there is replaced by `entry` as a whole. The text comes back unchanged if all members are
    there already. `text` is the file's; None: there is no file. A byte order mark at its beginning stays.
    `editor` is the editor of the text's format.

    Raises:
        MalformedText: The text cannot be read, or something on the way to the end of `path` holds no
            members.
        UnsafeEdit: No edit is found that changes nothing else.
    """
    if text is not None and text.startswith(BOM):
        return BOM + with_entry(editor, text.removeprefix(BOM), path, entry)
    there = editor.value_at(text or "", path)
    if text is None or not is_object(there):
        return _set(editor, text, path, entry)
    for key, value in entry.items():
        if there.get(key) != value:
            text = _set(editor, text, (*path, key), value)
    return text


def without_entry(editor: TextEditor, text: str, path: Keys) -> str | None:
    """Return the text without the entry at the path; a text without the entry comes back as it is.

    `path` are the keys that lead to the entry; an entry that is there several times is removed each time. None:
    nothing else is in the file, as it was made for the entry, so the caller is to remove the file. A text that
    begins with a byte order mark never gives None: the mark stays, then alone.

    Raises:
        MalformedText: The text cannot be read, or something on the path holds no members.
        UnsafeEdit: There is no way to remove the entry that changes nothing else.
    """
    if text.startswith(BOM):
        return BOM + (without_entry(editor, text.removeprefix(BOM), path) or "")
    # A key of JSON may be there several times.
    while editor.value_at(text, path) is not None:
        shorter = _safe(editor, text, path, editor.without_value(text, path))
        if shorter is None:
            return None
        text = shorter
    return text


def _set(editor: TextEditor, text: str | None, path: Keys, value: object) -> str:
    """Return the text with a value at the path, and nothing else changed.

    It is the first of the texts which `editor` proposes that reads as this value and is safe. None as `text`:
    there is no file. Nothing is written. The caller looks first whether the value is there already.

    Raises:
        MalformedText: The text cannot be read, or something on the path holds no members.
        UnsafeEdit: No proposed text differs from `text` by this alone.
    """
    ways = (
        after
        for after in editor.with_value(text, path, value)
        if _reads(editor, after, path) == value
    )
    after = _safe(editor, text or "", path, ways)
    assert after is not None  # noqa: S101 - no editor takes a file away to set a value
    return after


def _safe(editor: TextEditor, before: str, path: Keys, ways: Iterable[str | None]) -> str | None:
    """Return the first of some texts that differs from `before` at the path and nowhere else.

    `ways` are those texts; one that cannot be read is passed over. None among them, and as result, means that the file is removed.

    Raises:
        MalformedText: `before` cannot be read.
        UnsafeEdit: None of them does.
    """
    kept = editor.everything_but(before, path)
    for after in ways:
        try:
            if after != before and editor.everything_but(after or "", path) == kept:
                return after
        except MalformedText:
            continue
    raise UnsafeEdit


def _reads(editor: TextEditor, text: str, path: Keys) -> object:
    """Return the value at a path of a text; None: there is none, or the text cannot be read."""
    try:
        return editor.value_at(text, path)
    except MalformedText:
        return None
