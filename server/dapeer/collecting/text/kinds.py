"""Of what kind collected values are: type, sign, shape, whether there is nothing in them. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from dapeer.collecting.rows.table import FAILED

MAX_TEXT_SHAPES = 4
"""Different shapes of texts that are told apart; where there are more, texts are of any shape."""

_NUMBER = re.compile(r"(-?)(?:(\d+)|\d*\.?\d+(?:[eE][-+]?\d+)?|inf|nan)", re.IGNORECASE)
_NOTHING = frozenset({"None", "null", "nil", "undefined", "NULL", "<nil>", "nullptr", "0x0"})
NUMERIC = frozenset(
    {"whole", "negative whole", "fraction", "negative fraction", "zero", "nan", "inf", "-inf"}
)
_LOGICAL = frozenset({"True", "False", "true", "false"})
_EMPTY = re.compile(r"""(\w*)(?:\[\]|\{\}|\(\)|''|""|set\(\))""")
_NAME = re.compile(r"<?([A-Za-z_][\w.:]*)")
_QUOTES = {"'": "text", '"': "text", "[": "list", "{": "map", "(": "tuple"}


def kind(text: str) -> str:
    """Return a value's kind: its type as far as that shows, its sign, whether there is nothing in it.

    `text` is the value as its language writes it. An error gives "error" and its class.

    >>> kind("3"), kind("-2.5"), kind("nan"), kind("None"), kind("''"), kind("Cart(total=3)")
    ('whole', 'negative fraction', 'nan', 'None', 'empty text', 'Cart')
    """
    if text.startswith(FAILED):
        return f"error {text[1:].partition(':')[0].strip()}"
    if text in _NOTHING:
        return text
    if text in _LOGICAL:
        return "bool"
    if number := _NUMBER.fullmatch(text):
        return _of_number(text, number)
    what = _QUOTES.get(text[:1])
    named = _NAME.match(text)
    what = what or (named[1] if named else "value")
    return f"empty {what}" if _EMPTY.fullmatch(text) else what


def of_whole(numbers: Sequence[int], *, many: bool) -> Sequence[str]:
    """Return the kind of each whole number: "whole", "negative whole" or "zero".

    With `many` different numbers, zero counts as "whole".
    """
    least, greatest = min(numbers), max(numbers)
    if least > 0 or (many and least == 0):
        return ["whole"] * len(numbers)
    if greatest < 0:
        return ["negative whole"] * len(numbers)
    zero = "whole" if many else "zero"
    return ["whole" if each > 0 else "negative whole" if each else zero for each in numbers]


def of_numbers(numbers: Sequence[float], texts: Sequence[str], *, many: bool) -> Sequence[str]:
    """Return the kind of each number: "fraction", "zero", "nan", …, by the number and its text.

    With `many` different numbers, zero counts as "fraction".
    """
    zero = "fraction" if many else "zero"
    return [
        ("fraction" if number > 0 else "negative fraction" if number else zero)
        if "." in text
        else kind(text)
        for number, text in zip(numbers, texts, strict=True)
    ]


def _of_number(text: str, number: re.Match[str]) -> str:
    """Return "zero", "whole", "negative fraction", "nan" or the like for a text that writes a number.

    `number` is the match of the pattern `_NUMBER`.
    """
    low = text.lower()
    if "n" in low:
        return low
    if float(text) == 0:
        return "zero"
    return f"{'negative ' * bool(number[1])}{'whole' if number[2] else 'fraction'}"


def kinds(values: Sequence[str], counts: Counter[str] | None) -> Sequence[str]:
    """Return the kind of each value ("whole", "empty text", "Cart", …).

    Texts of a few shapes are told apart. `counts` has how often each value comes; None: there are too many different ones, and values of
    one shape (`'ab-12'` has `'a-9'`) get the kind of the first of them.
    """
    if counts is None:
        return _of_shapes(values)
    of = {text: kind(text) for text in counts}
    texts = [text for text in counts if of[text] == "text"]
    shapes = dict(zip(texts, shaped("\n".join(texts)), strict=False))
    if 1 < len(set(shapes.values())) <= MAX_TEXT_SHAPES:
        of |= {text: f"text like {shape}" for text, shape in shapes.items()}
    return list(map(of.__getitem__, values))


def _of_shapes(values: Sequence[str]) -> Sequence[str]:
    """Return the kind of each value.

    Values of one shape (`'ab-12'` has `'a-9'`) get the kind of the first. Texts of a few shapes are told apart by their shape. If a value
    has a line end, all are of the kind "value".
    """
    shapes = shaped("\n".join(values))
    if len(shapes) != len(values):  # a value has a line end
        return ["value"] * len(values)
    example = dict(zip(shapes, values, strict=True))
    of = {shape: kind(text) for shape, text in example.items()}
    texts = [shape for shape in of if of[shape] == "text"]
    if 1 < len(texts) <= MAX_TEXT_SHAPES:
        of |= {shape: f"text like {shape}" for shape in texts}
    return list(map(of.__getitem__, shapes))


_CLASSES = str.maketrans(
    "bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ012345678", "a" * 25 + "A" * 25 + "9" * 9
)
_RUNS = re.compile("a{2,}|A{2,}|9{2,}")


def shaped(text: str) -> list[str]:
    """Return the shape of each line: small letters as one `a`, capitals as one `A`, digits as one `9`.

    >>> shaped("'ab-12'")
    ["'a-9'"]
    """
    return _RUNS.sub(lambda run: run[0][0], text.translate(_CLASSES)).split("\n")
