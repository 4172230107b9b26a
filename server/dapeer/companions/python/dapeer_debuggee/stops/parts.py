"""Splits log messages, in the program and where they are checked before it runs."""

from __future__ import annotations


def parts_of(log_message: str) -> list[tuple[str, str]]:
    """Split a log message into literal texts, each with the expression after it, and return these pairs.

    The last pair has an empty expression. An expression is what stands between `{` and its `}`, without spaces around; a `{` without a `}`
    is literal.

    >>> parts_of("a={a}, {{1: 2}} {b")
    [('a=', 'a'), (', ', '{1: 2}'), (' {b', '')]
    """
    parts: list[tuple[str, str]] = []
    depth, text, start = 0, 0, 0
    for place, character in enumerate(log_message):
        if character == "{":
            depth += 1
            start = place if depth == 1 else start
        elif character == "}" and depth:
            depth -= 1
            if not depth:
                parts.append((log_message[text:start], log_message[start + 1 : place].strip()))
                text = place + 1
    return [*parts, (log_message[text:], "")]
