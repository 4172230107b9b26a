"""What a definition file says, and what becomes of it."""

from pathlib import Path

import pytest

from dapeer.adapters.definition.definition import Definition, load, load_all, shipped, user_folder
from dapeer.base.errors import ArgumentError, DefinitionError

SMALL = """
id = "toy"
languages = ["toy"]
extensions = [".toy"]
adapter_id = "toy"
[detect]
any = [{ executable = ["toy-dap", "toy-dap-2"] }]
[transport]
command = ["${toy-dap}"]
"""


def written(folder: Path, text: str, name: str = "toy.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def toy(folder: Path, rest: str = "") -> Definition:
    return load(written(folder, SMALL + rest))


def launch(definition: Definition, **inputs: object) -> dict[str, object]:
    return definition.arguments("launch", inputs, {})


@pytest.mark.parametrize("path", sorted(shipped().glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_definition_loads_and_says_how_to_get_it(path: Path) -> None:
    definition = load(path)
    assert definition.id == path.stem
    assert definition.install


def test_lists_that_a_definition_shares_come_first_and_its_own_keys_count(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    written(
        tmp_path / "shared",
        'hint = [{ at = "output", pattern = "b", say = "two" }]\ntitle = "Shared"\n',
        "some.toml",
    )
    own = '[[hint]]\nat = "output"\npattern = "a"\nsay = "one"\n'
    both = load(written(tmp_path, f'title = "Own"\nshares = ["some", "native"]\n{SMALL}{own}'))
    assert (both.title, [hint.say for hint in both.hints][-2:]) == ("Own", ["two", "one"])
    # What the user's folder lacks is dapeer's own.
    assert [each.of for each in both.stopping.foreign][-1] == "headers"
    with pytest.raises(DefinitionError, match=r"shared/none\.toml"):
        load(written(tmp_path, f'shares = ["none"]\n{SMALL}'))


def test_tables_that_a_definition_shares_are_joined_with_its_own(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    shared = '[launch]\nmode = "theirs"\nargs = ["-a"]\n[launch.inner]\na = 1\n'
    written(tmp_path / "shared", shared, "some.toml")
    own = '[launch]\nmode = "own"\nargs = ["-b"]\n[launch.inner]\nb = 2\n'
    both = load(written(tmp_path, f'shares = ["some"]\n{SMALL}{own}'))
    assert both.launch == {"mode": "own", "args": ["-a", "-b"], "inner": {"a": 1, "b": 2}}


def test_lists_that_are_added_to_grow_by_variants_and_by_the_users_config(tmp_path: Path) -> None:
    own = """
    [launch]
    flags = ["${args...}"]
    other = ["-o"]
    [[launch_variant]]
    when = { unless = { hidden = false } }
    flags = ["--hidden"]
    say = "nobody sees it"
    [quirks]
    added = ["flags"]
    """
    definition = toy(tmp_path, own)
    shown = {"hidden": False, "flags": ["-c"], "other": []}
    hidden = definition.arguments("launch", {"args": ["-a"]}, {"flags": ["-c"]})
    assert hidden == {"flags": ["-a", "--hidden", "-c"], "other": ["-o"]}
    assert definition.arguments("launch", {"args": ["-a"]}, shown) == {
        "hidden": False, "flags": ["-a", "-c"], "other": [],
    }  # fmt: skip
    assert definition.remark("launch", {}, {}) == "nobody sees it"
    assert definition.remark("launch", {}, shown) == ""


def test_there_are_shipped_definitions() -> None:
    assert {"bash-dap", "debugpy", "gdb"} <= load_all(shipped()).keys()


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("prgram = 1", "unknown key `prgram` in [transport]"),
        ("[launhc]", "unknown key `launhc` in the file's top"),
        ("[attach.pidd]", "unknown key `pidd` in [attach]"),
        ("[quirks]\nfast = true", "unknown key `fast` in [quirks]"),
        ("[timeouts]\nlunch = 1", "unknown key `lunch` in [timeouts]"),
        ("[timeouts]\nlaunch = true", "key `timeouts.launch` must be a number of seconds above 0"),
        ("[timeouts]\nlaunch = 0", "key `timeouts.launch` must be a number of seconds above 0"),
        ("[launch]\nx = '${foo}'", "unknown placeholder ${foo} in launch.x"),
        ("[launch]\nx = { y = ['a', '${foo}'] }", "unknown placeholder ${foo} in launch.x.y"),
        ("[attach.tcp]\nx = 'at ${prt}'", "unknown placeholder ${prt} in attach.tcp.x"),
        ("[[frames]]\nof = 'x'", "`frames[0].path` or `function` is missing"),
        (
            "[[frames]]\nof = 'x'\npath = '('",
            "key `frames[0].path` is not a valid regular expression",
        ),
        ("[launch_env]\nX = 1", "key `launch_env.X` must be a string, not 1"),
        ("[quirks]\nexit_code = 'odd'", "key `quirks.exit_code` is 'odd'; it can be plain"),
        ("[quirks]\ndetach_launched = 1", "key `quirks.detach_launched` must be true or false"),
        ("[[install]]\nmanager = 'pip'", "key `install[0].command` is missing"),
        ("[install]\nmanager = 'pip'", "key `install` must be a list"),
        (
            "[attach.tcp]\ntransport = { kind = 'connect', command = ['x'] }",
            "`attach.tcp.transport.command` is required for every kind but `connect`, and not allowed for that one",
        ),
        ("[attach.tcp]\nlisten = 'x'", "key `attach.tcp.listen` needs `usual_ports`"),
        ("[attach.tcp]\nusual_ports = ['x']", "key `attach.tcp.usual_ports` must be a list of"),
        ("[attach.tcp]\ntransport = { kind = 'udp' }", "key `attach.tcp.transport.kind` is 'udp'"),
        ("[launch]\nx = [2026-11-21]", "a value in [launch] cannot be sent"),
        ("[launch]\nx = ", "Invalid value (at "),
    ],
)
def test_an_error_names_file_and_key(tmp_path: Path, rest: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        toy(tmp_path, rest)
    assert message in caught.value.problem
    assert str(tmp_path / "toy.toml") in caught.value.problem
    assert caught.value.hint


def test_a_value_that_is_nested_too_deeply_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(f"id = {'[' * 2000}{']' * 2000}\n")
    with pytest.raises(DefinitionError, match=r"odd\.toml: a value is nested too deeply"):
        load(path)


def test_an_unknown_placeholder_of_the_command_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL.replace("${toy-dap}", "${foo}"))
    with pytest.raises(
        DefinitionError, match=r"unknown placeholder \$\{foo\} in transport.command"
    ):
        load(path)


def test_a_value_that_is_one_placeholder_keeps_its_type(tmp_path: Path) -> None:
    definition = toy(
        tmp_path,
        "[launch]\nprogram='${program}'\nstop='${stop_on_entry}'\nargs='${args}'\nenv='${env}'",
    )
    arguments = launch(
        definition, program="a.toy", stop_on_entry=True, args=["x", "y"], env={"A": "1"}
    )
    assert arguments == {
        "program": "a.toy",
        "stop": True,
        "args": ["x", "y"],
        "env": {"A": "1"},
    }


def test_a_placeholder_inside_a_longer_text_becomes_text(tmp_path: Path) -> None:
    definition = toy(tmp_path, "[attach.tcp]\ntarget = '${host}:${port}'")
    assert definition.arguments("attach", {"port": 99}, {}) == {"target": "127.0.0.1:99"}


def test_what_is_unset_is_dropped_with_all_that_needs_it(tmp_path: Path) -> None:
    definition = toy(
        tmp_path,
        "[launch]\nprogram = '${program}'\ncwd = '${cwd}'\nargv = ['${python}']\n"
        "nested = { cwd = '${cwd}', more = 'in ${cwd}' }\nkept = { cwd = '${cwd}', x = 1 }\nno = []",
    )
    assert launch(definition, program="a", cwd=None) == {"program": "a", "kept": {"x": 1}, "no": []}


def test_false_and_empty_values_are_not_unset(tmp_path: Path) -> None:
    definition = toy(tmp_path, "[launch]\nstop = '${stop_on_entry}'\nargs = '${args}'")
    assert launch(definition, stop_on_entry=False, args=[]) == {"stop": False, "args": []}


def test_the_users_config_wins_and_is_passed_through_untouched(tmp_path: Path) -> None:
    definition = toy(tmp_path, "[launch]\nprogram = '${program}'\njustMyCode = true")
    config = {"justMyCode": False, "custom": ["${program}"]}
    assert definition.arguments("launch", {"program": "a"}, config) == {"program": "a", **config}


def test_the_users_environment_wins_over_that_of_the_definition(tmp_path: Path) -> None:
    definition = toy(tmp_path, "[launch]\nenv = '${env}'\n[launch_env]\nA = 'ours'\nB = 'ours'")
    assert launch(definition, env={"A": "theirs"}) == {"env": {"A": "theirs", "B": "ours"}}
    assert launch(definition) == {"env": {"A": "ours", "B": "ours"}}


def test_gdb_gets_the_whole_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_OUTSIDE", "1")
    gdb = load_all(shipped())["gdb"]
    environment = launch(gdb, program="/bin/true", env={"MORE": "2"})["env"]
    assert isinstance(environment, dict)
    assert {"FROM_OUTSIDE": "1", "MORE": "2"}.items() <= environment.items()


@pytest.mark.parametrize(
    ("adapter", "inputs", "message"),
    [
        ("gdb", {"module": "x"}, "gdb does not support `module` in launch requests."),
        ("gdb", {}, "There is nothing to run: gdb needs `program`."),
        ("debugpy", {}, "debugpy needs `program`, `module` or `code`."),
        ("debugpy", {"program": "a", "module": "b"}, "`program` and `module` exclude each other."),
        (
            "debugpy",
            {"program": "a", "pid": 3},
            "debugpy does not support `pid` in launch requests.",
        ),
    ],
)
def test_inputs_of_a_launch_are_checked(
    adapter: str, inputs: dict[str, object], message: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        load_all(shipped())[adapter].arguments("launch", inputs, {})
    assert message in caught.value.problem


@pytest.mark.parametrize(
    ("adapter", "inputs", "message"),
    [
        ("bash-dap", {"pid": 3}, "bash-dap cannot attach by pid."),
        ("gdb", {"pid": 3, "port": 4}, "Both `pid` and `port` are given."),
        ("gdb", {"host": "h"}, "`host` is given without `port`."),
        (
            "debugpy",
            {"pid": 3, "args": ["x"]},
            "debugpy does not support `args` in attach requests.",
        ),
    ],
)
def test_inputs_of_an_attach_are_checked(
    adapter: str, inputs: dict[str, object], message: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        load_all(shipped())[adapter].arguments("attach", inputs, {})
    assert message in caught.value.problem


def test_debugpy_attaches_by_pid_through_its_adapter_and_by_port_straight() -> None:
    debugpy = load_all(shipped())["debugpy"]
    by_pid = debugpy.arguments("attach", {"pid": 42}, {})
    by_port = debugpy.arguments("attach", {"port": 5678}, {"justMyCode": False})
    assert by_pid["processId"] == 42
    assert by_port["connect"] == {"host": "127.0.0.1", "port": 5678}
    assert by_port["justMyCode"] is False
    assert debugpy.transport_of("attach", {"pid": 42}).kind == "stdio"
    assert debugpy.transport_of("attach", {"port": 5678}).kind == "connect"


def test_an_attach_can_be_said_by_config_alone() -> None:
    config = {"listen": {"host": "127.0.0.1", "port": 5678}}
    debugpy = load_all(shipped())["debugpy"]
    assert debugpy.arguments("attach", {}, config) == config
    assert debugpy.transport_of("attach", {}).kind == "stdio"


def test_a_target_may_come_from_the_config() -> None:
    debugpy = load_all(shipped())["debugpy"]
    assert debugpy.arguments("launch", {}, {"module": "x"})["module"] == "x"


def test_a_users_definition_wins_by_id_and_comes_first(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    written(ours, SMALL)
    written(ours, SMALL.replace('"toy"', '"another"'), "another.toml")
    written(theirs, f'title = "mine"\n{SMALL}')
    definitions = load_all(ours, theirs)
    assert list(definitions) == ["toy", "another"]
    assert definitions["toy"].title == "mine"


def test_one_folder_cannot_define_an_id_twice(tmp_path: Path) -> None:
    written(tmp_path, SMALL, "a.toml")
    written(tmp_path, SMALL, "b.toml")
    with pytest.raises(DefinitionError, match=r"id `toy` is defined by a\.toml too"):
        load_all(tmp_path)


def test_a_folder_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert load_all(tmp_path / "nowhere") == {}


def test_the_users_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_folder() == tmp_path / "dapeer" / "adapters"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert user_folder() == Path("/home/someone/.config/dapeer/adapters")


def test_breakpoints_go_where_the_source_belongs(tmp_path: Path) -> None:
    definitions = load_all(shipped())
    script = tmp_path / "tool"
    script.write_text("#!/usr/bin/env python3\n")
    assert definitions["debugpy"].accepts("/x/a.py")
    assert definitions["debugpy"].accepts(str(script))
    assert not definitions["bash-dap"].accepts(str(script))
    assert not definitions["debugpy"].accepts("/x/a.c")
    assert definitions["gdb"].accepts("/x/a.C")
    assert definitions["gdb"].accepts("/x/no-such-file")
