"""Which known word was meant by a mistyped one. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MIN_LIKENESS: Final = 0.6
"""From 0 to 1: how like two words are of which one may be the other, mistyped."""


def nearest(typed: str, candidates: Iterable[str]) -> str:
    """Return the word of `candidates` that a mistyped word may mean, ignoring case; empty if none is near.

    >>> nearest("instal", ["install", "stdio"]), nearest("x", ["install"])
    ('install', '')
    """
    by_letters = {each.casefold(): each for each in candidates}
    return next(
        (by_letters[each] for each in get_close_matches(typed.casefold(), by_letters, 1, MIN_LIKENESS)), ""
    )  # fmt: skip


def did_you_mean(typed: str, candidates: Iterable[str]) -> str:
    """Return ``Did you mean `WORD`?`` with the nearest of `candidates`; empty if none is near."""
    found = nearest(typed, candidates)
    return f"Did you mean `{found}`?" if found else ""
