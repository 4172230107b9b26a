"""How a debuggee writes the values that it sends."""

from collections import defaultdict, deque
from typing import Any

import pytest

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
