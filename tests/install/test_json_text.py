"""A value is set in the text of a person's file, and all else of it stays."""

import json

import pytest

from dapeer.cli.install import json_text
from dapeer.cli.install.edits import MalformedText, with_entry, without_entry

PATH = ("mcpServers", "dapeer")
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


def added(text: str | None) -> str:
    """Return a text with our entry."""
    return with_entry(json_text, text, PATH, OURS)


def taken(text: str) -> str | None:
    """Return a text without it."""
    return without_entry(json_text, text, PATH)


def test_a_server_goes_behind_those_that_are_there() -> None:
    text = added(COMMENTED)
    assert text == COMMENTED.replace(
        "// another one\n",
        '// another one\n\t\t"dapeer": {\n\t\t\t"command": "dapeer",\n\t\t\t"args": [\n'
        '\t\t\t\t"stdio"\n\t\t\t]\n\t\t},\n',
    )
    assert taken(text) == COMMENTED


def test_a_file_on_one_line_stays_on_one_line() -> None:
    text = '{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}'
    ours = '"dapeer": {"command": "dapeer", "args": ["stdio"]}'
    assert added(text) == f"{text[:-2]}, {ours}}}}}"
    assert added('{"theme": "dark"}') == f'{{"theme": "dark", "mcpServers": {{{ours}}}}}'


@pytest.mark.parametrize(
    "text", [None, "", "\n", "{}", "{}\n", "{\n}\n", "{ }", '{"mcpServers": {}}']
)
def test_the_text_shows_what_was_there_before(text: str | None) -> None:
    assert json.loads(added(text)) == {"mcpServers": {"dapeer": OURS}}
    assert taken(added(text)) == text


def test_an_object_that_holds_a_comment_is_left() -> None:
    text = '{"mcpServers": {\n  // put yours here\n}}'
    assert taken(added(text)) == text


def test_comments_around_the_only_member_stay_apart() -> None:
    text = '{ // a\n"mcpServers": {"dapeer": 1} // b\n}'
    assert taken(text) == "{ // a\n // b\n}"


def test_a_key_that_is_there_twice_is_taken_out_twice() -> None:
    assert (
        taken('{"mcpServers": {"dapeer": 1, "b": 2, "dapeer": 3}}') == '{"mcpServers": { "b": 2}}'
    )


@pytest.mark.parametrize(
    "text",
    ["[]", '{"a" 1}', "{", '{"a": }', "nonsense", '{"mcpServers": []}', '{"a": 1} x', '{"a": 1 2}'],
)
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(MalformedText, match="line 1"):
        added(text)


@pytest.mark.parametrize("wrong", ["[,]", "[1 2]", "{,}", "[1,,]", "01"])
def test_the_line_of_what_is_no_json_is_named(wrong: str) -> None:
    with pytest.raises(MalformedText, match="line 2 is no JSON"):
        added(f'{{ // mine\n"a": {wrong},\n}}')
