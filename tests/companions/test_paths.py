"""Which values the path of a lock or a pool reads in a frame, and that it runs none of the program's code."""

import inspect
from collections import defaultdict
from typing import Any

import pytest

from dapeer.companions.python.dapeer_debuggee import guard
from dapeer.companions.python.dapeer_debuggee.stacks import awaiting
from dapeer.companions.python.dapeer_debuggee.stacks.paths import NeedsCodeError, value_at


class Base:
    unset = None
    limit = 3

    def __init__(self) -> None:
        self.__rate = 5

    @property
    def made(self) -> int:
        raise AssertionError("code of the program ran")


class Cart(Base):
    def __init__(self) -> None:
        super().__init__()
        self.items: Any = defaultdict(list, {"cup": [1]})
        # It ends as the other class's private name does.
        self._A__y__rate = 7


def read(path: str) -> object:
    cart = Cart()
    assert cart is not None
    try:
        return value_at(path, inspect.currentframe())
    finally:
        assert [*cart.items] == ["cup"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("cart.items['cup'][0]", 1),
        ("cart.limit", 3),
        ("cart.unset", None),
        ("cart.__rate", 5),
        ("cart._A__y__rate", 7),
    ],
)
def test_a_path_reads_items_attributes_class_attributes_and_private_names(
    path: str, value: object
) -> None:
    assert read(path) == value


@pytest.mark.parametrize("path", ["cart.items['tea']", "cart.items['cup'][1]", "cart.missing"])
def test_what_is_not_there_is_not_made(path: str) -> None:
    with pytest.raises(LookupError, match="is not there"):
        read(path)


def test_a_property_is_not_run() -> None:
    with pytest.raises(NeedsCodeError):
        read("cart.made")


class Asked:
    """Runs code of the program at each attribute."""

    def __call__(self) -> None: ...

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} was asked for")


def test_a_callback_and_a_handler_of_signals_are_told_by_their_types() -> None:
    assert list(awaiting.callback_owners(Asked())) == []
    assert guard.code_of(Asked()) is None
    assert guard.code_of(Base().__init__) is Base.__init__.__code__


@pytest.mark.parametrize("path", ["cart.", "cart\0", "(" * 1000 + ")" * 1000])
def test_what_is_no_expression_is_not_there(path: str) -> None:
    with pytest.raises(LookupError, match="does not parse"):
        value_at(path, inspect.currentframe())


@pytest.mark.parametrize("path", ["await cart", "(yield)"])
def test_what_is_an_expression_only_in_a_coroutine_or_generator_is_not_evaluated(path: str) -> None:
    with pytest.raises(LookupError, match="does not parse"):
        value_at(path, inspect.currentframe(), runs=True)
