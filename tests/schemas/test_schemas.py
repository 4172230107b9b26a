"""JSON Schemas that others have written, and arguments for them."""

from typing import Any

import pytest

from dapeer.base.schemas import flaw_of, problem_of, unpacked
from dapeer.base.schemas.judge import Judge

NAME = {"type": "string", "maxLength": 5}


def an(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "flaw"),
    [
        ([], "its schema must be an object"),
        ({"type": "array"}, "its schema must have the type `object`"),
        (an(a={"type": "strin"}), "its schema is invalid: properties.a.type: 'strin' is not valid"),
        (
            {**an(), "required": True},
            "its schema is invalid: required: True is not of type 'array'",
        ),
        (an(a={"$ref": "https://x.org/s"}), "refers to https://x.org/s, which clients cannot read"),
        (an(a={"$dynamicRef": "https://x.org/s"}), "refers to https://x.org/s, which clients"),
        (an(a={"$ref": "#/$defs/none"}), "its schema refers to #/$defs/none, which does not exist"),
    ],
)
def test_what_is_no_schema_is_told_in_a_clause(schema: object, flaw: str) -> None:
    assert flaw in (flaw_of(schema) or "")


def test_references_within_a_schema_are_fine() -> None:
    tree = {"$anchor": "tree", "type": "object", "properties": {"left": {"$ref": "#tree"}}}
    schema = {**an(root={"$ref": "#/$defs/tree"}), "$defs": {"tree": tree}}
    assert flaw_of(schema) is None
    assert problem_of({"root": {"left": {"left": {}}}}, schema) is None
    wrong = problem_of({"root": {"left": {"left": 3}}}, schema)
    assert wrong == "Argument `root.left.left`: should be of type object, not 3."


def test_a_schema_that_refers_to_itself_for_ever_asks_for_nothing() -> None:
    endless = {**an(a={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert flaw_of(endless) is None
    assert problem_of({"a": 1}, endless) is None


@pytest.mark.parametrize(
    ("given", "schema", "sentence"),
    [
        ({"a": "a" * 40 + "!"}, an(a={"pattern": "^(a+)+$"}), "does not match '^(a+)+$'"),
        ({"a": "x" * 40}, an(a={"pattern": r"(x+x+)+\1y"}), "Argument `a`: Error executing regex"),
        (
            {"a": [{"x": [n % 2999]} for n in range(3000)]},
            an(a={"uniqueItems": True}),
            "non-unique",
        ),
        ({"a": "\udcff"}, an(a={"type": "integer"}), "hold invalid text"),
        ({"a": 10**40}, an(a={"maximum": 1}), "is greater than the maximum of 1"),
        (
            {"b": 1},
            {"items": [{"a": 1}], "$schema": "http://json-schema.org/draft-07/schema#"},
            None,
        ),
        (
            {"b": 1},
            {"items": [{"a": 1}]},
            "The arguments cannot be checked: its schema is invalid: items",
        ),
    ],
)
def test_arguments_that_are_costly_to_compare_or_odd_are_judged_at_once(
    given: dict[str, Any], schema: dict[str, Any], sentence: str | None
) -> None:
    said = problem_of(given, schema)
    assert said == sentence if sentence is None else sentence in (said or "")


def chain(length: int) -> dict[str, Any]:
    """Return a schema that leads the engine deeper than its stack is."""
    links = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(length)}
    return {**an(a={"$ref": "#/$defs/d0"}), "$defs": {**links, f"d{length}": {"type": "string"}}}


async def test_a_schema_that_asks_for_too_much_costs_one_answer() -> None:
    judge = Judge()
    good = an(a={"type": "integer"})
    try:
        assert await judge.problem_of({"a": 1}, chain(50_000)) == (
            "The arguments cannot be checked: that takes too much time or memory."
        )
        assert await judge.problem_of({"a": "x"}, good) == (
            'Argument `a`: should be of type integer, not "x".'
        )
        patterns = {f"a{n}": {"pattern": f"(\\w{{1,20}}){{1,9}}{n}"} for n in range(20_000)}
        assert await judge.flaw_of(an(**patterns)) == (
            "checking its schema takes too much time or memory"
        )
        assert await judge.flaw_of(good) is None
    finally:
        await judge.aclose()


@pytest.mark.parametrize(
    ("given", "schema", "sentence"),
    [
        ({}, {**an(a={}), "required": ["a"]}, "Argument `a` is required."),
        ({"n": "hello " * 50}, an(n=NAME), "hello… (300 chars) is too long."),
        ({"n": 1}, an(n={"enum": list(range(2, 99))}), "one of 2, 3, 4,"),
        (
            {"x_1": 1, "zz": 1},
            {**an(), "patternProperties": {"^x_": {}}, "additionalProperties": False},
            "Unknown argument `zz`; allowed are: none.",
        ),
        ({"n": [1, "a"] * 999}, an(n={"items": {"type": "integer"}}), "Argument `n.1`: should be"),
    ],
)
def test_what_is_wrong_is_told_in_one_short_sentence(
    given: dict[str, Any], schema: dict[str, Any], sentence: str
) -> None:
    said = problem_of(given, schema) or ""
    assert sentence in said
    assert len(said) < 300


def test_arguments_are_taken_as_models_write_them() -> None:
    schema = an(
        n={"type": "integer"},
        s={"type": "string"},
        l={"type": "array"},
        b={"type": "boolean"},
        maybe={"type": ["string", "null"]},
    )
    given = {"n": "3", "s": 7, "l": "[1]", "b": "true", "maybe": None, "x": None}
    assert unpacked(given, schema) == {"n": 3, "s": "7", "l": [1], "b": True, "maybe": None}
    odd = {"n": "three", "s": True, "l": "[" * 100_000}
    assert unpacked(odd, schema) == odd
