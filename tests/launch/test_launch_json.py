"""What a launch.json says, and what it cannot say."""

import json
from typing import Any

import pytest

from dapeer.launch.launch_json import (
    Compound,
    MalformedJson,
    VariableValues,
    fill_variables,
    for_platform,
    parse,
)

HERE = VariableValues("/srv/shop", "/home/ada", {"TOKEN": "secret"}, "linux")

COMMENTED = rb"""// Made by hand.
{
  "version": "0.2.0", /* a comment, with "quotes" and a , */
  "configurations": [
    {
      "name": "Serve // not a comment /* nor this */",
      "type": "debugpy", "request": "launch",
      "args": ["a,]", "b\"// \\",],  // a ] comment, with }
    },
    /* nothing
       here */
  ],
}
"""


def launch_file(*configurations: object, **more: object) -> bytes:
    return json.dumps({"configurations": configurations, **more}).encode()


def one(**keys: object) -> dict[str, Any]:
    return {"name": "one", "type": "debugpy", "request": "launch", **keys}


def filled(value: object, **inputs: object) -> tuple[object, list[str]]:
    values, asks = fill_variables({"program": value}, HERE, inputs)
    return values["program"], [str(ask) for ask in asks]


def test_comments_and_last_commas_are_no_mistakes_and_texts_stay_as_they_are() -> None:
    (configuration,) = parse(COMMENTED).configurations
    assert configuration["name"] == "Serve // not a comment /* nor this */"
    assert configuration["args"] == ["a,]", 'b"// \\']


def test_a_mark_at_the_start_and_windows_line_ends_are_no_mistakes() -> None:
    data = b"\xef\xbb\xbf" + COMMENTED.replace(b"\n", b"\r\n")
    assert len(parse(data).configurations) == 1


def test_a_file_without_configurations_has_none() -> None:
    assert parse(b"{}").configurations == ()


@pytest.mark.parametrize(
    ("text", "what", "line", "column"),
    [
        (b"", "Expecting value", 1, 1),
        (b"// only this", "Expecting value", 1, 13),
        (b'{\n  "a": /* x */ oops}', "Expecting value", 2, 16),
        (b'{\n  "a": 1\n  "b": 2}', "Expecting ',' delimiter", 3, 3),
        (b'{"a": /* without end', "Expecting value", 1, 7),
        (b'{"a": "without end\n}', "Invalid control character at", 1, 19),
        (b'{\n"a": "\xff"}', "this is not UTF-8", 2, 7),
        (b'\xef\xbb\xbf{"a": "\xff"}', "this is not UTF-8", 1, 8),
        (b"[]", "this must be an object", 1, 1),
        (b"[" * 100_000, "this is nested too deeply", 1, 1),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number has too many digits", 1, 1),
        (b'{\n "configurations": {}}', "`configurations` must be a list", 2, 2),
        (b'{\n "configurations": [\n  7]}', "configurations[0] must be an object", 3, 3),
        (b'{"inputs": [{}, 7]}', "inputs[1] must be an object", 1, 17),
    ],
)
def test_a_mistake_is_told_with_its_place(text: bytes, what: str, line: int, column: int) -> None:
    with pytest.raises(MalformedJson) as caught:
        parse(text)
    assert (caught.value.problem, caught.value.line, caught.value.column) == (what, line, column)


def test_a_configuration_without_a_type_is_told_with_the_place_where_it_starts() -> None:
    text = b"""{
  "inputs": [ { "configurations": [1, 2] } ],
  // {
  "configurations": [
    { "name": "a", "type": "debugpy", "request": "launch", "env": {"A": "{"}, "args": ["[", 1] },
    // another
      { "name": "b", "request": "launch" },
  ]
}"""
    with pytest.raises(MalformedJson) as caught:
        parse(text)
    assert caught.value.problem == "configurations[1] needs a string at `type`"
    assert (caught.value.line, caught.value.column) == (7, 7)


@pytest.mark.parametrize(
    ("platform", "program"), [("linux", "b"), ("osx", "a"), ("windows", "c.exe")]
)
def test_the_keys_of_the_platform_win_and_those_of_others_vanish(
    platform: str, program: str
) -> None:
    written = one(program="a", linux={"program": "b"}, windows={"program": "c.exe"}, osx={})
    assert for_platform(written, platform) == one(program=program)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("${workspaceFolder}/a.py", "/srv/shop/a.py"),
        ("${workspaceFolder:shop}", "/srv/shop"),
        ("${workspaceRoot}", "/srv/shop"),
        ("${workspaceFolderBasename}", "shop"),
        ("${cwd}", "/srv/shop"),
        ("${userHome}${pathSeparator}x${/}y", "/home/ada/x/y"),
        ("${env:TOKEN}-${env:NOBODY}", "secret-"),
        ("$HOME ${ ${}", "$HOME ${ ${}"),
        ("${whatever}", "${whatever}"),
    ],
)
def test_a_variable_that_can_be_known_is_filled_in(text: str, meant: str) -> None:
    assert filled(text) == (meant, [])


def test_the_separator_is_that_of_the_platform() -> None:
    there = VariableValues("C:\\shop", "C:\\ada", {}, "windows")
    values, _ = fill_variables({"program": "${pathSeparator}"}, there, {})
    assert values == {"program": "\\"}


def test_variables_are_found_at_any_depth_and_other_values_stay() -> None:
    written = {"env": {"A": "${env:TOKEN}"}, "args": ["${cwd}", 1, True, None], "port": 5678}
    values, asks = fill_variables(written, HERE, {})
    assert values == {"env": {"A": "secret"}, "args": ["/srv/shop", 1, True, None], "port": 5678}
    assert asks == ()


@pytest.mark.parametrize(
    "variable",
    ["file", "relativeFile", "fileBasenameNoExtension", "lineNumber", "selectedText",
     "command:other", "config:python.path", "workspaceFolder:other"],
)  # fmt: skip
def test_what_only_an_editor_knows_is_asked_for_and_stays_as_it_is(variable: str) -> None:
    text = f"${{{variable}}}"
    assert filled(f"{text}/x") == (f"{text}/x", [f"program: {text}"])


def test_a_process_is_asked_for_by_the_argument_that_names_it() -> None:
    asked = "${command:pickProcess} (give `pid`: the process to attach to)"
    assert filled("${command:pickProcess}") == ("${command:pickProcess}", [f"program: {asked}"])


def test_an_ask_names_the_place_of_its_value() -> None:
    written = {"env": {"T": "${input:a}"}, "args": ["x", "${file}"], "a.b": "${file}"}
    asks = fill_variables(written, HERE, {})[1]
    assert [(ask.field, ask.key, ask.variable) for ask in asks] == [
        ("env.T", "env", "input:a"),
        ("args[1]", "args", "file"),
        ("a.b", "a", "file"),
    ]


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"type": "promptString", "description": "Which port?", "default": "80"},
         "${input:x} (Which port?; default 80)"),
        ({"type": "promptString", "description": None, "default": "80"},
         "${input:x} (default 80)"),
        ({"type": "pickString", "options": ["a", {"label": "B", "value": "b"}]},
         "${input:x} (one of a, b)"),
        ({"type": "command", "command": "c"}, "${input:x} (inputs of type `command` are not supported)"),
        (None, "${input:x} (not among the file's inputs)"),
    ],
)  # fmt: skip
def test_an_input_is_asked_for_in_its_own_words(about: object, said: str) -> None:
    assert filled("${input:x}", x=about) == ("${input:x}", [f"program: {said}"])


def test_inputs_and_compounds_are_read() -> None:
    file = parse(
        launch_file(
            one(),
            inputs=[{"id": "x", "type": "promptString"}],
            compounds=[
                {
                    "name": "both",
                    "configurations": ["one", {"name": "two", "folder": "shop"}],
                    "stopAll": True,
                    "preLaunchTask": "build",
                },
                {"configurations": ["nameless"]},
            ],
        )
    )
    assert file.inputs["x"]["type"] == "promptString"
    assert file.compounds == {"both": Compound("both", ("one", "two"), stop_all=True, task="build")}


def test_answers_fill_in_inputs_and_the_variables_of_a_file() -> None:
    answers = {"port": "80", "file": "src/app.py"}
    around = VariableValues("/srv/shop", "/home/ada", {}, "linux", answers)
    texts = ["${input:port}", "${file}", "${fileBasenameNoExtension}", "${relativeFileDirname}"]
    values, asks = fill_variables({"args": texts}, around, {})
    assert (values["args"], asks) == (["80", "/srv/shop/src/app.py", "app", "src"], ())
