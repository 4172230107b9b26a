"""What a look tells of a stock program's variables, and that it runs none of the program's code."""

import json
from collections import OrderedDict, defaultdict, deque
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

import pytest

from dapeer.companions.python.dapeer_debuggee.held import members_of


class Cart:
    def __init__(self, **held: object) -> None:
        self.__dict__ |= held


class Slots:
    __slots__ = ("one", "unset")

    def __init__(self) -> None:
        self.one = 1


class Point(NamedTuple):
    x: int


ITSELF: list[Any] = []
ITSELF.append(ITSELF)


CASES: list[tuple[Any, str]] = [
    (Cart(total=3, items=["cup"], _rate=Decimal("1.5")), "Cart(total=3, items=['cup'], _rate=Decimal('1.5'))"),
    (Cart(), "<Cart>"),
    (Slots(), "Slots(one=1)"),
    (Point(1), "<Point: (1,)>"),
    ([[1, (2,)], {"a": {3}}], "[[1, (2,)], {'a': {3}}]"),
    ((set[int](), frozenset[int](), dict[int, int]()), "(set(), frozenset(), {})"),
    (OrderedDict[str, Any](a=deque([1])), "OrderedDict({'a': deque([1])})"),
    (defaultdict[str, list[int]](list, a=[1]), "defaultdict({'a': [1]})"),
    (list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (100 items)]"),
    ([[[[[1]]]]], "[[[[[… 1 items]]]]]"),
    (["a" * 200], f"['{'a' * 100}…' (200 chars)]"),
    (1 << 2000, "0x8000000000000000… (2001 bits)"),
    ([Cart, len, pytest], "[<class Cart>, <builtin_function_or_method>, <module pytest>]"),
    (ITSELF, "[[...]]"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "told"), CASES)
def test_a_variable_is_told_as_python_writes_it_with_what_objects_hold(
    value: object, told: str
) -> None:
    assert json.loads(repr(members_of(["v"], {"v": value}))) == {"v": told}


def test_it_is_short_whatever_is_there() -> None:
    wide = {f"{n}" * 50: [{f"{m}": "text" * 1000 for m in range(100)}] * 100 for n in range(100)}
    assert len(repr(members_of(["v"], {"v": Cart(**wide)}))) < 2500


def test_it_runs_no_code_of_the_program() -> None:
    def runs(*_: object, **__: object) -> NoReturn:
        raise AssertionError("it was run")

    names = ("__repr__", "__getattribute__", "__eq__", "__hash__", "__len__", "__iter__", "items")
    meta: Any = type(
        "Meta", (type,), dict.fromkeys(("__getattribute__", "__eq__", "__hash__"), runs)
    )
    bases: tuple[Any, ...] = (object, list, dict, tuple)
    for base in bases:
        kind: Any = type.__new__(
            meta, "Trap", (base,), {**dict.fromkeys(names, runs), "__dict__": property(runs)}
        )
        trap = base.__new__(kind)
        told = json.loads(repr(members_of(["v"], {"v": [trap]})))
        assert told["v"].startswith("[<Trap"), told
