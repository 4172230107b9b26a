"""A value is set in the text of a person's file, and all else of it stays."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dapeer.cli.install.json_text import Malformed, value_at, with_value, without_value
from tests.json_types import Json

OURS = {"command": "dapeer", "args": ["stdio"]}

COMMENTED = """\
// mine
{
\t"theme": "dark", // not too bright
\t/* servers */
\t"mcpServers": {
\t\t"other": {"command": "x", "args": ["a", "b"]}, // another one
\t},
}
"""


def test_a_server_goes_behind_those_that_are_there() -> None:
    text = with_value(COMMENTED, ["mcpServers", "dapeer"], OURS)
    assert text == COMMENTED.replace(
        "// another one\n",
        '// another one\n\t\t"dapeer": {\n\t\t\t"command": "dapeer",\n\t\t\t"args": [\n'
        '\t\t\t\t"stdio"\n\t\t\t]\n\t\t},\n',
    )
    assert without_value(text, ["mcpServers", "dapeer"]) == COMMENTED


def test_a_file_that_is_empty_gets_all_that_is_needed() -> None:
    text = with_value("", ["mcpServers", "dapeer"], OURS)
    assert json.loads(text) == {"mcpServers": {"dapeer": OURS}}
    assert without_value(text, ["mcpServers", "dapeer"]) == "{}\n"


def test_an_object_that_holds_a_comment_is_left() -> None:
    text = '{"mcpServers": {\n  // put yours here\n}}'
    assert (
        without_value(with_value(text, ["mcpServers", "dapeer"], OURS), ["mcpServers", "dapeer"])
        == text
    )


def test_comments_around_the_only_member_stay_apart() -> None:
    assert without_value('{ // a\n"mcp": {} // b\n}', ["mcp"]) == "{ // a\n // b\n}"


@pytest.mark.parametrize(
    "text",
    ["[]", '{"a" 1}', "{", '{"a": }', "nonsense", '{"mcpServers": []}', '{"a": 1} x', '{"a": 1 2}'],
)
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="line 1"):
        with_value(text, ["mcpServers", "dapeer"], OURS)


KEYS = st.sampled_from(["a", "b", "c", "mcp", 'q"}', "//"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab{}[],:/* "\\', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SPACE = st.sampled_from(
    ["", " ", "\n", "\n  ", " // line\n", " /* block */ ", "\n\t// {\n\t", "\r\n"]
)


@st.composite
def texts(draw: st.DrawFn, value: Json) -> str:
    """Write a value as a person might: with comments, trailing commas and any white space."""

    def written(item: Json | list[Json] | str | int | None) -> str:
        match item:
            case dict():
                return (
                    "{"
                    + joined([f"{json.dumps(k)}{s()}:{s()}{written(v)}" for k, v in item.items()])
                    + "}"
                )
            case list():
                return "[" + joined([written(each) for each in item]) + "]"
            case _:
                return json.dumps(item)

    def s() -> str:
        return draw(SPACE)

    def joined(parts: list[str]) -> str:
        trailing = "," if parts and draw(st.booleans()) else ""
        return s() + ",".join(f"{s()}{part}{s()}" for part in parts) + trailing + s()

    return s() + written(value) + s()


def comments(text: str) -> list[str]:
    found = re.finditer(r'"(?:\\.|[^"\\])*"|(?P<comment>//[^\n]*|/\*.*?\*/)', text, re.DOTALL)
    return sorted(each["comment"].strip() for each in found if each["comment"])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_only_the_value_changes_whatever_is_around_it(data: st.DataObject) -> None:
    before = data.draw(st.dictionaries(KEYS, VALUES, max_size=3))
    before["mcp"] = data.draw(st.dictionaries(KEYS, VALUES, max_size=3))
    text = data.draw(texts(before))
    added = with_value(text, ["mcp", "dapeer"], OURS)
    assert value_at(added, []) == before | {"mcp": before["mcp"] | {"dapeer": OURS}}
    assert comments(added) == comments(text)
    assert with_value(added, ["mcp", "dapeer"], OURS) == added
    taken = without_value(added, ["mcp", "dapeer"])
    assert comments(taken) == comments(text)
    left = value_at(taken, [])
    assert left == before or (
        not before["mcp"] and left == {k: v for k, v in before.items() if k != "mcp"}
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_value_can_be_taken_out(data: st.DataObject) -> None:
    before = data.draw(st.dictionaries(KEYS, VALUES, min_size=2, max_size=4))
    key = data.draw(st.sampled_from(sorted(before)))
    text = data.draw(texts(before))
    taken = without_value(text, [key])
    assert value_at(taken, []) == {name: value for name, value in before.items() if name != key}
