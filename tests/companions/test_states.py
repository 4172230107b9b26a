"""Whether a watched value is still the same, as `==` would say, without running the program's code."""

import array
import collections
import dataclasses
import datetime as dt
import decimal
import fractions
import importlib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pytest

np: Any = pytest.importorskip("numpy", reason="needs numpy: uv sync --group dev")
objects: Any = importlib.import_module("dapeer_debuggee.values.objects")
states: Any = importlib.import_module("dapeer_debuggee.values.states")
watched: Any = importlib.import_module("dapeer_debuggee.stops.watching")


class Compared:
    """Compares by code of the program, which must not run."""

    def __init__(self, number: object) -> None:
        self.number = number
        self.seen: Any = None

    def __eq__(self, other: object) -> bool:
        raise SystemExit

    __hash__ = None  # type: ignore[assignment]

    @property
    def doubled(self) -> object:
        """What it holds."""
        return self.number


@dataclasses.dataclass
class Data:
    """Compares by its fields."""

    number: float
    more: list[float]


MADE: dict[str, Callable[[float], Any]] = {
    "tuple": lambda n: (n,),
    "list": lambda n: [n, "a", None],
    "nested": lambda n: {"a": [Compared((n,)), {n}]},
    "dict": lambda n: {"k": n},
    "items": lambda n: {"k": n}.items(),
    "set": lambda n: {n},
    "deque": lambda n: collections.deque([n]),
    "object": Compared,
    "data": lambda n: Data(n, [n]),
    "decimal": decimal.Decimal,
    "fraction": fractions.Fraction,
    "complex": complex,
    "range": lambda n: range(int(n)),
    "time": lambda n: dt.datetime(2026, 1, int(n) + 1, tzinfo=dt.UTC),
    "span": dt.timedelta,
    "path": lambda n: PurePosixPath(f"{n}"),
    "bytes": lambda n: bytearray(f"{n}".encode()),
    "array": lambda n: array.array("d", [n]),
    "numpy": lambda n: np.array([n, 1])[:1],
    "large numpy": lambda n: np.zeros((100, 100)) + n,
    "numpy of objects": lambda n: np.array([n], dtype=object),
    "number of numpy": np.float64,
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_what_is_equal_is_the_same_and_what_differs_is_not(made: Callable[[float], Any]) -> None:
    one, same, other = made(1.0), made(1.0), made(2.0)
    assert states.state(one) == states.state(same) != states.state(other)


def test_what_is_changed_in_place_is_not_the_same() -> None:
    values: list[tuple[Any, Callable[[Any], object]]] = [
        (np.zeros(4), lambda a: a[1:3].__iadd__(5)),
        ({"a": {"b": [1]}}, lambda d: d["a"]["b"].append(2)),
        ([3, 1, 2], lambda s: s.reverse()),
        ([float("nan")], lambda f: f.append(1)),
    ]
    for value, change in values:
        before = states.state(value)
        assert states.state(value) == before
        change(value)
        assert states.state(value) != before


def test_what_compares_by_identity_is_the_same_only_if_it_is_that_very_object() -> None:
    one, other = object(), object()
    assert states.state(one) == states.state(one) != states.state(other)
    around: list[Any] = []
    around.append(around)
    assert states.state(around) == states.state(around)
    assert states.state(1) != states.state(True)  # noqa: FBT003


def test_a_property_is_refused_with_the_attribute_that_it_reads() -> None:
    with pytest.raises(
        watched.expressions.InvalidExpression, match=r"doubled is a property .* reads number"
    ):
        watched.attribute_reader(Compared(1), "doubled")
    read = watched.item_reader(np.array([1, 2]), 1)
    assert read() == 2


def test_a_method_that_cython_has_compiled_is_a_function_and_no_property() -> None:
    shown = objects.of_class(np.random.default_rng(1), "integers")
    assert type(shown).__name__ == "cython_function_or_method"
    assert objects.kind_of(shown) == "function"


def test_what_a_class_does_not_have_is_nothing_and_no_none() -> None:
    assert objects.of_class(Compared(1), "absent") is objects.NOTHING
    assert dict(objects.attributes(Compared(1), ["absent"])) == {}


def test_a_look_at_a_missing_key_adds_nothing_to_a_defaultdict() -> None:
    orders: collections.defaultdict[str, list[int]] = collections.defaultdict(list)
    read = watched.item_reader(orders, "x")
    assert read() is watched.NOTHING
    assert not orders
    orders["x"].append(1)
    assert read() == [1]
