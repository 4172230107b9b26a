"""`python -m dapeer.base.system.search_worker`: searches texts by regular expressions, for `matching`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dapeer.base.system.limited_answers import answer_lines


def find_pattern(pattern: str, text: str | Sequence[str]) -> Sequence[str] | Sequence[int] | None:
    """Return what a pattern finds in a text, then its groups, or None; of several texts, which have it.

    >>> find_pattern("a(b)?", "xa"), find_pattern("a", "x"), find_pattern("a", ["xa", "b", "a"])
    (['a', ''], None, [0, 2])
    """
    search = re.compile(pattern).search
    if not isinstance(text, str):
        return [index for index, each in enumerate(text) if search(each)]
    match = search(text)
    return match and [match[0], *match.groups("")]


if __name__ == "__main__":
    answer_lines(find_pattern)
