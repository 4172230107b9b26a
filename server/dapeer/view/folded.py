"""Answers of several members of a group, of which equal ones fold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dapeer.base.text.lines import indented

ASSIGNED = " = "
"""Between an expression and its value."""


def ranges(labels: Sequence[str], order: Sequence[str]) -> str:
    """Return labels as short text in the order of `order`; three or more numbers in a row become a range.

    The last is joined by `and`, others by commas. `order` has all labels, those of `labels` among them; `labels` must not be empty.

    >>> ranges(["0", "1", "5"], ["0", "1", "2", "3", "5"]), ranges(["web", "api"], ["api", "web"])
    ('0, 1 and 5', 'api and web')
    """
    places = sorted(order.index(each) for each in labels)
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    parts: list[str] = []
    for run in runs:
        first, last = order[run[0]], order[run[-1]]
        if len(run) > 2 and first.isdigit() and last.isdigit():
            parts.append(f"{first}\N{EN DASH}{last}")
        else:
            parts += [order[place] for place in run]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def fold_answers(answers: Mapping[str, str]) -> str:
    r"""Return the answers of several members of a group as one text, in which equal lines are written once.

    `answers` has each member's text by its label, and must not be empty. Where all have the same number of lines, they are compared line by
    line, else as a whole.

    >>> print(fold_answers({"0": "x = 3\n(in f a.py:3)", "1": "x = 3\n(in f a.py:3)", "2": "x = nan\n(in f a.py:3)"}))
    x = 3 in 0 and 1; nan in 2
    (in f a.py:3)
    >>> print(fold_answers({"0": "one", "1": "two\nlines", "2": "one"}))
    In 0 and 2:
      one
    In 1:
      two
      lines
    """
    order = [*answers]
    lines = [text.split("\n") for text in answers.values()]
    if len({*map(len, lines)}) == 1:
        rows = zip(*lines, strict=True)
        return "\n".join(_line(dict(zip(order, row, strict=True)), order) for row in rows)
    blocks = [
        f"In {ranges(labels, order)}:\n{indented(text)}" for text, labels in _alike(answers).items()
    ]
    return "\n".join(blocks)


def _line(row: Mapping[str, str], order: Sequence[str]) -> str:
    """Return one line that says the texts of all members, equal ones once with their labels.

    `row` has the members' texts by label, `order` all labels in the order in which they are named. Texts with the same `NAME = ` begin
    with it only once, and those that are indented with their indentation.

    >>> _line({"0": "  x: int = 3", "1": "  x: float = nan"}, ["0", "1"])
    '  x: int = 3 in 0; x: float = nan in 1'
    """
    alike = _alike(row)
    if len(alike) == 1:
        return next(iter(alike))
    head, sign, _ = next(iter(alike)).partition(ASSIGNED)
    same = sign and all(text.startswith(f"{head}{sign}") for text in alike)
    start = f"{head}{sign}" if same else head[: len(head) - len(head.lstrip())]
    parts = (
        f"{text.removeprefix(start)} in {ranges(labels, order)}" for text, labels in alike.items()
    )
    return f"{start}{'; '.join(parts)}"


def _alike(answers: Mapping[str, str]) -> dict[str, list[str]]:
    """Return each different text with the labels of the members that have it."""
    found: dict[str, list[str]] = {}
    for label, text in answers.items():
        found.setdefault(text, []).append(label)
    return found
