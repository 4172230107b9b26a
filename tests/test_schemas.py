"""JSON Schemas that others have written, and arguments for them."""

from typing import Any

import pytest

from dapeer.schemas import flaw_of, problem_of, unpacked

NAME = {"type": "string", "maxLength": 5}


def an(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "flaw"),
    [
        ([], "its schema is no object"),
        ({"type": "array"}, "its schema must have the type `object`"),
        (an(a={"type": "strin"}), "its schema is none: properties.a.type: 'strin' is not valid"),
        ({**an(), "required": True}, "its schema is none: required: True is not of type 'array'"),
        (an(a={"$ref": "https://x.org/s"}), "refers to https://x.org/s, which clients cannot read"),
        (an(a={"$dynamicRef": "https://x.org/s"}), "refers to https://x.org/s, which clients"),
        (an(a={"$ref": "#/$defs/none"}), "its schema refers to #/$defs/none, which is not there"),
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


def test_a_schema_that_never_ends_is_told_when_it_is_used() -> None:
    endless = {**an(a={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert flaw_of(endless) is None
    assert "never end" in (problem_of({"a": 1}, endless) or "")


@pytest.mark.parametrize(
    ("given", "schema", "sentence"),
    [
        ({}, {**an(a={}), "required": ["a"]}, "Argument `a` is required."),
        ({"n": "hello " * 50}, an(n=NAME), "hello hell… is too long."),
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
