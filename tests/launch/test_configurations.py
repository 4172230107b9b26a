"""What stands in a configuration, in dap_run's terms and in its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from dapeer.base.errors import ArgumentError
from dapeer.launch.configurations import (
    Configuration,
    KnownConfigurations,
    argument_for,
    configurations_of_neovim,
    merge_configurations,
)
from dapeer.launch.launch_json import PersonVariable
from tests.json_types import Json

PROJECT = Path("/srv/shop")


def made(*asks: PersonVariable, **values: object) -> Configuration:
    return Configuration("one", "debugpy", "launch", "launch.json", values, asks)


def told(name: str = "one", *, asks: list[str] | None = None, **config: object) -> Json:
    facts = {"name": name, "type": "python", "request": "launch"}
    return {**facts, "filetype": "python", "asks": asks or [], "config": {**facts, **config}}


@pytest.mark.parametrize(
    ("values", "inputs"),
    [
        ({"program": "a", "stopOnEntry": True}, {"program": "a", "stop_on_entry": True}),
        ({"stopAtEntry": False}, {"stop_on_entry": False}),
        ({"args": "a 'b c'"}, {"args": ["a", "b c"]}),
        (
            {"env": {"A": "1", "B": None, "C": 2, "D": True}},
            {"env": {"A": "1", "C": "2", "D": "true"}},
        ),
        (
            {"environment": [{"name": "A", "value": "1"}, {"name": None, "value": "2"}]},
            {"env": {"A": "1"}},
        ),
        ({"pythonPath": "/p"}, {"python": "/p"}),
        ({"processId": "12"}, {"pid": 12}),
        ({"connect": {"host": "h", "port": 1}}, {"host": "h", "port": 1}),
        ({"connect": {"host": "h", "port": "1"}}, {"host": "h", "port": 1}),
    ],
)
def test_keys_that_mean_an_argument_become_it(values: Json, inputs: Json) -> None:
    assert made(**values).split({}, {}) == (inputs, {})


@pytest.mark.parametrize(
    ("target", "inputs"),
    [
        ({"host": "h", "port": "2331"}, {"host": "h", "port": 2331}),
        ({"type": "remote", "parameters": ["localhost:2"]}, {"host": "localhost", "port": 2}),
        ({"parameters": ["/dev/ttyUSB0"], "host": "h"}, {}),
        ({}, {}),
    ],
)
def test_a_target_of_gdbtarget_is_where_to_attach_and_nothing_to_a_launch(
    target: Json, inputs: Json
) -> None:
    one = made(target=target)
    assert one.split({}, {}) == ({}, {})
    assert replace(one, request="attach").split({}, {}) == (inputs, {})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"args": 7}, "`args` of the configuration must be a list"),
        ({"args": "a 'b"}, "`args` of the configuration: No closing quotation"),
        ({"env": "A=1"}, "`env` of the configuration must be an object"),
    ],
)
def test_what_is_no_argument_is_told_with_its_name(values: Json, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        made(**values).split({}, {})


def test_other_keys_stay_the_adapters_own_and_terminals_are_left_out() -> None:
    one = made(justMyCode=False, console="integratedTerminal", externalConsole=True)
    assert one.split({}, {"django": True}) == ({}, {"justMyCode": False, "django": True})


def test_a_python_that_only_an_editor_knows_is_looked_for_instead() -> None:
    one = made(
        PersonVariable("python", "${command:x}", "command:x"), python="${command:x}", program="a"
    )
    assert one.left_to_ask({}, {}, in_neovim=False) == ()
    assert len(one.left_to_ask({}, {}, in_neovim=True)) == 1
    assert one.split({}, {}) == ({"program": "a"}, {})


@pytest.mark.parametrize(
    ("field", "argument", "inputs", "config"),
    [
        ("program", "`program`", {"program": "a"}, {}),
        ("args[1]", "`args`", {"args": []}, {}),
        ("env.TOKEN", "`env`", {"env": {"TOKEN": "x"}}, {}),
        ("processId", "`pid`", {"pid": 1}, {}),
        ("connect.port", "`port`", {"port": 1}, {}),
        ("django", "`config` with django", {}, {"django": True}),
    ],
)
def test_an_ask_is_answered_by_the_argument_that_it_names(
    field: str, argument: str, inputs: Json, config: Json
) -> None:
    asked = PersonVariable(field, "${input:x}", "input:x")
    assert argument_for(asked) == argument
    assert made(asked).left_to_ask({"env": {"OTHER": "x"}}, {}, in_neovim=False) == (asked,)
    assert made(asked).left_to_ask(inputs, config, in_neovim=False) == ()


def test_arguments_become_the_keys_that_the_configuration_has() -> None:
    one = made(pythonPath="/p", environment=[{"name": "A", "value": "1"}], connect={"host": "h"})
    given = {"python": "/q", "env": {"B": "2"}, "port": 1, "pid": 2}
    assert one.as_adapter_keys(given, {"x": 1}) == {
        "pythonPath": "/q",
        "environment": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "connect": {"host": "h", "port": 1},
        "processId": 2,
        "x": 1,
    }


def test_what_neovim_tells_is_filled_in_and_says_what_it_asks() -> None:
    sent = told(asks=["args: a function"], program="${file}", cwd="${workspaceFolder}", env=[])
    computed = told("two", asks=["(computed)"])
    one, two = configurations_of_neovim([sent, computed], PROJECT)
    assert one.values == {
        "program": "${file}",
        "cwd": "/srv/shop",
        "env": {},
    }
    assert [str(ask) for ask in one.person_variables] == ["args: a function", "program: ${file}"]
    assert [ask.field for ask in one.left_to_ask({}, {}, in_neovim=True)] == ["args"]
    assert [str(ask) for ask in two.person_variables] == ["(computed)"]
    assert len(two.left_to_ask({"program": "a"}, {}, in_neovim=True)) == 1


def test_what_neovim_has_copied_from_launch_json_or_lists_twice_counts_once() -> None:
    mine = Configuration("one", "python", "launch", "launch.json", {"program": "a"})
    theirs = configurations_of_neovim(
        [told(), told("two"), told("two"), told("two", program="b")], PROJECT
    )
    found = merge_configurations(KnownConfigurations((mine,), {}), theirs)
    assert [(each.name, each.origin) for each in found.configurations] == [
        ("one", "launch.json"),
        ("two", "nvim"),
        ("two", "nvim"),
    ]
