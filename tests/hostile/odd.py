"""Values from JSON Schemas, fitting and wrong ones, in an order that a seed decides."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeVar, cast

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from tests.json_types import Json

Strategy = st.SearchStrategy[Any]
T = TypeVar("T")

DEEPEST = 4
"""Objects in objects with fields that may be left out; below that they are."""
MUTATIONS = 3

# Few of these letters make the name of a program, and none the name of a file that matters.
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Nd"]), max_size=8)

ODD_TEXT: list[str] = [
    "", " ", "\0", "a\0b", "\n", "\r\n\r\n", "x" * 300, "x" * 5000, "\ud800", "\udcff", "é" * 9, "💥",
    "../" * 40, "/", ".", "//nowhere//x", "~", "${workspaceFolder}", "${port}", "{x}", "%s%n", "-1",
    "1e999", "null", "~nobody-of-this-name/x", "file:///nowhere/x.py", "\x1b[31m", "<script>", "\u202e", "a,b", "Content-Length: 5\r\n\r\n",
]  # fmt: skip
ODD_NUMBERS: list[object] = [
    0, -1, 1, 2**31, -(2**31), 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308,
]  # fmt: skip
ODD_SHAPES: list[object] = [
    None, True, False, [], {}, [[]], [{}], [None], {"": None}, {"a": {"b": []}}, [1] * 50, ["x", 1, {}],
]  # fmt: skip


def deep(levels: int) -> object:
    value: object = 0
    for level in range(levels):
        value = [value] if level % 2 else {"variables": value}
    return value


ODD: Strategy = st.one_of(
    st.sampled_from(ODD_TEXT),
    st.sampled_from(ODD_NUMBERS),
    st.sampled_from(ODD_SHAPES),
    st.sampled_from([30, 300]).map(deep),
)
"""Any JSON value that a careful program would not send."""


def examples(strategy: st.SearchStrategy[T], count: int, seed: int) -> list[T]:
    """Return values of a strategy: always the same ones for one seed."""
    found: list[T] = []
    # Hypothesis varies what it has found; of its neighbours only some are of interest.
    spare = 4

    @seeded(seed)
    @settings(
        max_examples=count * spare,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.large_base_example,
        ],
    )
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return Random(seed).sample(found, min(count, len(found)))


class Schema:
    """A JSON Schema, as far as tools and the debug adapter protocol use it."""

    def __init__(self, definitions: Mapping[str, Json] | None = None) -> None:
        self._definitions = definitions or {}

    def fitting(self, schema: Json, depth: int = 0) -> Strategy:
        """Return a strategy of values that fit a schema."""
        schema = self.whole(schema)
        if values := schema.get("enum") or schema.get("_enum"):
            return st.sampled_from(values)
        for several in ("oneOf", "anyOf"):
            if several in schema:
                return st.one_of([self.fitting(each, depth) for each in schema[several]])
        kind = schema.get("type")
        kinds = cast("list[str]", kind if isinstance(kind, list) else [kind or "null"])
        return st.one_of([self._of_type(each, schema, depth) for each in kinds])

    def whole(self, schema: Json) -> Json:
        """Return a schema with what it refers to and inherits in its place."""
        if "$ref" in schema:
            return self.whole(self._definitions[str(schema["$ref"]).rpartition("/")[2]])
        if "allOf" not in schema:
            return schema
        merged: Json = {"type": "object", "properties": {}, "required": []}
        for each in cast("list[Json]", schema["allOf"]):
            part = self.whole(each)
            merged["properties"] |= part.get("properties", {})
            merged["required"] += part.get("required", [])
        return merged

    def _of_type(self, kind: str, schema: Json, depth: int) -> Strategy:
        make: Mapping[str, Callable[[], Strategy]] = {
            "object": lambda: self._object(schema, depth),
            "array": lambda: st.lists(self.fitting(schema.get("items", {}), depth + 1), max_size=4),
            "string": lambda: TEXT,
            "integer": lambda: _integers(schema),
            "number": lambda: _integers(schema),
            "boolean": st.booleans,
            "null": st.none,
        }
        return make[kind]()

    def _object(self, schema: Json, depth: int) -> Strategy:
        properties: Json = schema.get("properties", {})
        required = set(schema.get("required", ()))
        fields = {
            name: st.deferred(lambda each=each: self.fitting(each, depth + 1))
            for name, each in properties.items()
            if name in required or depth < DEEPEST
        }
        if not properties:
            return st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), ODD), max_size=3)
        return st.fixed_dictionaries(
            {name: each for name, each in fields.items() if name in required},
            optional={name: each for name, each in fields.items() if name not in required},
        )


def _integers(schema: Json) -> Strategy:
    low, high = schema.get("minimum", 0), schema.get("maximum", 2**31)
    return st.one_of(st.integers(low, min(low + 12, high)), st.integers(low, high))


@st.composite
def mutated(draw: st.DrawFn, fitting: Strategy) -> Any:  # noqa: ANN401 - any JSON value
    """Draw a fitting value, and spoil it at up to `MUTATIONS` places."""
    value = copy.deepcopy(draw(fitting))
    for _ in range(draw(st.integers(1, MUTATIONS))):
        value = _spoilt(draw, value)
    return value


def _spoilt(draw: st.DrawFn, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case dict() if value and draw(st.integers(0, 9)):
            fields = cast("Json", value)
            name = draw(st.sampled_from(sorted(fields)))
            match draw(st.integers(0, 5)):
                case 0:
                    return {key: each for key, each in fields.items() if key != name}
                case 1:
                    return {**fields, draw(st.sampled_from(ODD_TEXT)): fields[name]}
                case _:
                    return {**fields, name: _spoilt(draw, fields[name])}
        case list() if value and draw(st.integers(0, 4)):
            items = cast("list[Any]", value)
            at = draw(st.integers(0, len(items) - 1))
            return [*items[:at], _spoilt(draw, items[at]), *items[at : at + 1], *items[at + 1 :]]
        case _:
            return draw(ODD)
