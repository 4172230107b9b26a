"""How a debuggee writes the values that it sends."""

import inspect
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

import pytest

from dapeer.companions.python.dapeer_debuggee.values.forms import (
    MAX_COLUMNS,
    columns,
    elements_text,
)
from dapeer.companions.python.dapeer_debuggee.values.values import value_text

LIST: list[Any] = [1]
LIST.append(LIST)
DEQUE: deque[Any] = deque([1])
DEQUE.append(DEQUE)
DICT: dict[str, Any] = {"n": 1}
DICT["me"] = DICT
DIRECT: defaultdict[str, Any] = defaultdict(None, n=1)
DIRECT["me"] = DIRECT
DEEP: defaultdict[str, Any] = defaultdict(None)
DEEP["list"] = [DEEP]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (LIST, "[1, [...]]"),
        (DEQUE, "deque([1, deque([...])])"),
        (DICT, "{'n': 1, 'me': {...}}"),
        (DIRECT, "defaultdict(None, {'n': 1, 'me': {...}})"),
        (DEEP, "defaultdict(None, {'list': [{...}]})"),
        (defaultdict[str, int](None), "defaultdict(None, {})"),
    ],
    ids=["list", "deque", "dict", "defaultdict", "defaultdict in a list", "empty"],
)
def test_a_container_that_contains_itself_is_written_once(value: object, text: str) -> None:
    assert value_text(value) == text


def numbers(first: int) -> Iterator[int]:
    """Yield a number, and then another."""

    def made() -> Iterator[int]:
        yield first
        yield first + 1

    return made()


def test_a_generator_that_has_not_begun_says_so_until_it_has() -> None:
    generator = numbers(1)
    line = inspect.getsourcelines(numbers)[1] + 3
    assert value_text(generator) == f"<generator made not begun, test_values.py:{line}>"
    next(generator)
    assert value_text(generator) == f"<generator made at test_values.py:{line + 1}>"
    assert [*generator] == [2]
    assert value_text(generator) == "<generator made that is over>"


def shown(value: object, _room: int) -> str:
    return repr(value)


def test_the_texts_of_an_array_are_as_they_are() -> None:
    numpy = pytest.importorskip("numpy")
    written = ["a  b", "[ 1 ]", "x...,", "0"]
    array = numpy.array([written, written[::-1]], object)
    text = elements_text(array, 1000, shown, numpy)
    assert text == str([written, written[::-1]])
    assert elements_text(numpy.array([1, 10]), 1000, shown, numpy) == "[1, 10]"


def test_columns_that_are_left_out_at_the_end_have_their_mark() -> None:
    names = [f"c{number}" for number in range(MAX_COLUMNS + 1)]
    lost = [1] * MAX_COLUMNS + [0]
    texts = [*columns(names, ["int"] * len(names), lost, shown, named=True)]
    assert texts[-2:] == [f"c{MAX_COLUMNS - 1} int (1 missing)", "…"]
