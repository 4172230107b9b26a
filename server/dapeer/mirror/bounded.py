"""A table that an adapter fills with ids of its own choice. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_ENTRIES = 10_000
"""Entries; a program of thousands of threads, or of modules, has room."""
MAX_ENTRY_CHARS = 16_384
"""Characters of an entry."""


class Bounded(dict[K, V]):
    """Takes new entries while there is room for them, and remembers that some found none.

    >>> table = Bounded("threads", {1: "main"}, max_entries=2); table[2] = "second"; table[3] = "third"
    >>> table, table.left_out_note
    ({1: 'main', 2: 'second'}, 'It sent too many threads: the first 2 are kept.')
    """

    def __init__(
        self, what: str, entries: Mapping[K, V] | None = None, max_entries: int = MAX_ENTRIES
    ) -> None:
        """Begin with `entries`; more than `max_entries` are not taken.

        `what` names the entries in the sentence `left_out_note`, such as `threads`.
        """
        super().__init__()
        self._entries_name, self._max_entries = what, max_entries
        self.left_out_note: str | None = None
        """Says that entries were left out; None: none was."""
        self.take(entries or {})

    def take(self, entries: Mapping[K, V]) -> None:
        """Set several entries."""
        for key, value in entries.items():
            self[key] = value

    def __setitem__(self, key: K, value: V) -> None:
        """Set an entry; drop it and set `left_out_note` if the table is full or the entry is too long."""
        if key not in self and len(self) >= self._max_entries:
            self.left_out_note = self.left_out_note or (
                f"It sent too many {self._entries_name}: the first {self._max_entries} are kept."
            )
        elif len(repr(key)) + len(repr(value)) > MAX_ENTRY_CHARS:
            self.left_out_note = self.left_out_note or (
                f"It sent {self._entries_name} of such length that some are left out."
            )
        else:
            super().__setitem__(key, value)
