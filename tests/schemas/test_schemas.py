"""JSON Schemas that others have written, and arguments for them."""

import asyncio
from typing import Any

import pytest

from dapeer.base.schema_judge import Judge
from dapeer.base.schemas import convert_arguments, flaw_of, problem_of, split_argument_notes

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
        (an(a={"pattern": "("}), "its schema is invalid: properties.a.pattern: '(' is not a"),
        (an(a={"$ref": "#none"}), "its schema refers to #none, which does not exist"),
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


def test_a_schema_that_refers_to_itself_for_ever_is_told_as_that() -> None:
    endless = {**an(a={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert problem_of({}, endless) is None
    said = "The arguments cannot be checked: they or the tool's schema are nested without end."
    assert problem_of({"a": 1}, endless) == said


@pytest.mark.parametrize(
    ("given", "schema", "sentence"),
    [
        ({"a": "b"}, an(a={"pattern": "^a+$"}), "Argument `a`: 'b' does not match '^a+$'."),
        ({"a": [{"x": 1}, {"x": 1}]}, an(a={"uniqueItems": True}), "non-unique"),
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
def test_odd_arguments_and_schemas_are_judged(
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
        backtracks = an(a={"pattern": "^(a+)+$"})
        assert await judge.problem_of({"a": "a" * 40 + "!"}, backtracks) == (
            "The arguments cannot be checked: that takes too much time or memory."
        )
        patterns = {f"a{n}": {"pattern": f"(\\w{{1,20}}){{1,9}}{n}"} for n in range(20_000)}
        assert await judge.flaw_of(an(**patterns)) == (
            "checking its schema takes too much time or memory"
        )
        assert await judge.flaw_of(good) is None
    finally:
        await judge.aclose()


async def test_who_ends_while_a_schema_is_checked_is_not_blamed_on_the_schema() -> None:
    good = an(a={"type": "integer"})
    for started in (False, True):
        judge = Judge()
        if started:
            assert await judge.flaw_of(good) is None
        async with asyncio.TaskGroup() as tasks:
            checking = tasks.create_task(judge.flaw_of(good))
            judging = tasks.create_task(judge.problem_of({"a": 1}, good))
            await asyncio.sleep(0)
            await judge.aclose()
        assert checking.result() is None
        assert judging.result() == "The arguments cannot be checked: dapeer ends."


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
    assert convert_arguments(given, schema) == {
        "n": 3,
        "s": "7",
        "l": [1],
        "b": True,
        "maybe": None,
    }
    odd = {"n": "three", "s": True, "l": "[" * 100_000}
    assert convert_arguments(odd, schema) == odd


BREAKPOINT = an(
    filename={"type": "string"}, line={"type": "integer"}, hit_condition={"type": "string"}
)
TEXTS = {"type": "array", "items": {"type": "string"}}
RUN = an(
    program={"type": "string"},
    args=TEXTS,
    expressions=TEXTS,
    env={"type": "object", "additionalProperties": {"type": "string"}},
    breakpoints={"type": "array", "items": BREAKPOINT},
    stop_on_entry={"type": "boolean"},
    timeout_ms={"type": "integer"},
)
AT = {"filename": "a.py", "line": 12}


@pytest.mark.parametrize(
    ("given", "schema", "understood"),
    [
        ({"breakpoints": ["a.py:12"]}, RUN, {"breakpoints": [AT]}),
        ({"breakpoints": "a.py:12:5"}, RUN, {"breakpoints": [AT]}),
        ({"breakpoint": AT}, RUN, {"breakpoints": [AT]}),
        ({"breakpoints": '[{"file": "a.py", "line": "12"}]'}, RUN, {"breakpoints": [AT]}),
        ({"breakpoints": [{"path": "a.py:12"}]}, RUN, {"breakpoints": [AT]}),
        ({"filename": "a.py:12"}, BREAKPOINT, AT),
        ({"file": "a.py", "line": "12", "hitCondition": 3}, BREAKPOINT, {**AT, "hit_condition": "3"}),
        ({"filename": "odd:12", "line": 3}, BREAKPOINT, {"filename": "odd:12", "line": 3}),
        ({"args": "--x 1 'b c'"}, RUN, {"args": ["--x", "1", "b c"]}),
        ({"args": ["--x", 1]}, RUN, {"args": ["--x", "1"]}),
        ({"args": "it's"}, RUN, {"args": ["it's"]}),
        ({"expression": "[x for x in y]"}, RUN, {"expressions": ["[x for x in y]"]}),
        ({"expression": "{1: 2}", "expressions": ["x"]}, RUN, {"expressions": ["x"], "expression": "{1: 2}"}),
        ({"stopOnEntry": "true", "file": "a.py"}, RUN, {"stop_on_entry": True, "program": "a.py"}),
        ({"timeout-ms": "5", "env": {"Port": 8080}}, RUN, {"timeout_ms": 5, "env": {"Port": "8080"}}),
        ({"path": "a.b", "line": "x"}, an(path={"type": "string"}), {"path": "a.b", "line": "x"}),
    ],
)  # fmt: skip
def test_what_can_mean_only_one_thing_is_understood(
    given: dict[str, Any], schema: dict[str, Any], understood: dict[str, Any]
) -> None:
    assert convert_arguments(given, schema) == understood


def test_arguments_that_were_split_are_told() -> None:
    for text, told in (
        ("a 'b c'", ['`args` was split as a shell does: ["a", "b c"]']),
        ('["a"]', []),
    ):
        given = {"args": text}
        assert [*split_argument_notes(given, convert_arguments(given, RUN))] == told


@pytest.mark.parametrize(
    ("name", "meant"),
    [("timeout", "timeout_ms"), ("stop_at_entry", "stop_on_entry"), ("seconds", "")],
)
def test_an_unknown_argument_names_the_one_that_may_be_meant(name: str, meant: str) -> None:
    said = problem_of({name: 1}, {**RUN, "additionalProperties": False})
    hint = f"did you mean `{meant}`?" if meant else f"allowed are: {', '.join(RUN['properties'])}."
    assert said == f"Unknown argument `{name}`; {hint}"
