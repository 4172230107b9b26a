"""Commands are made from the table of tools: their names, options, and the arguments that they give."""

import argparse

import pytest

from dapeer.cli.command_line import command_parser
from dapeer.cli.debugging import options, table
from dapeer.cli.debugging.calls import as_commands, error_as_commands
from dapeer.tools.base.known_tools import known_tools

COMMANDS = table.tools_by_command()


def typed(command: str, *words: str) -> dict[str, object]:
    """Return the arguments of the tool that a command calls."""
    tool = COMMANDS[command]
    known = known_tools()[tool]
    parser = options.add_parser(options.single_parser, command, tool)
    return options.arguments_of(vars(parser.parse_intermixed_args(words)), tool, known)


def test_no_two_commands_have_one_name() -> None:
    parsers = next(
        each.choices
        for each in command_parser()._actions
        if each.nargs == argparse.PARSER and each.choices
    )
    others = {"adapters", "install", "serve", "demo", "doctor", "opencode", "stdio", "rtp"}
    assert others <= {*parsers}
    assert not others & {*COMMANDS, table.CALL, table.SCRIPT}
    names = [table.name_of(tool) for tool in known_tools() if table.name_of(tool)]
    assert len(names) == len({*names, *table.SHORT}) - len(table.SHORT)
    assert not {table.CALL, table.SCRIPT} & {*COMMANDS}


def test_every_debugging_tool_has_a_command_and_no_other() -> None:
    without = {tool for tool in known_tools() if not table.name_of(tool)}
    assert {tool for tool in without if tool.startswith("dap_")} == {"dap_adapters", "dap_script"}
    assert {*COMMANDS.values()} == {*known_tools()} - without


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_every_argument_of_its_tool(command: str) -> None:
    tool = COMMANDS[command]
    properties = known_tools()[tool]["arguments"].get("properties", {})
    parser = options.add_parser(options.single_parser, command, tool)
    dests = {each.dest for each in parser._actions}
    if table.PLACE in dests:
        dests |= {"filename", "line", "function"}
    assert {*properties} <= dests
    assert parser.format_help()


def test_options_of_a_breakpoint_belong_to_the_one_before_them() -> None:
    words = "app.py -b app.py:27 --if n>3 --collect order.total --collect n -b shop.total"
    assert typed("run", *words.split()) == {
        "program": "app.py",
        "breakpoints": [
            {"filename": "app.py", "line": 27, "condition": "n>3", "collect": ["order.total", "n"]},
            {"function": "shop.total"},
        ],
    }


def test_an_option_of_no_breakpoint_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        typed("run", "app.py", "--if", "n > 3")
    assert "--if belongs to the -b before it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "words", "arguments"),
    [
        ("break", "shop.py:7 --if n>3", {"filename": "shop.py", "line": 7, "condition": "n>3"}),
        ("break", "shop.total", {"function": "shop.total"}),
        ("run-to", "shop.py:7 -s 2", {"filename": "shop.py", "line": 7, "session_id": 2}),
        ("goto", "9", {"line": 9}),
        ("history", "", {}),
        ("history", "2", {"number": 2}),
        ("disassemble", "", {}),
        ("vars", "", {}),
        ("source", "shop.py", {"filename": "shop.py"}),
        ("eval", "a b --frame-id 3", {"expressions": ["a", "b"], "frame_id": 3}),
        ("set-variable", "order.n 5", {"path": "order.n", "value": "5"}),
        ("collected-call", "7", {"n": 7}),
        ("run", "--env A=1 --env B=", {"env": {"A": "1", "B": ""}}),
        ("run", "a.py --no-just-my-code", {"program": "a.py", "just_my_code": False}),
        ("set-exception-breakpoints", "raised uncaught", {"filters": ["raised", "uncaught"]}),
        ("request", "threads --arguments {}", {"command": "threads", "arguments": {}}),
    ],
)
def test_words_become_arguments(command: str, words: str, arguments: dict[str, object]) -> None:
    assert typed(command, *words.split()) == arguments


@pytest.mark.parametrize("tool", known_tools())
def test_every_tool_that_a_text_names_becomes_a_command_that_exists(tool: str) -> None:
    named = as_commands(f"Try {tool}, or `{tool}(session_id=3)`.")
    command = named.removeprefix("Try dapeer ").partition(",")[0]
    if tool.startswith("dap_"):
        assert command in {*COMMANDS, table.SCRIPT, "adapters"}
        assert named == f"Try dapeer {command}, or `dapeer {command} -s 3`."
    else:
        assert named == f"Try {tool}, or `{tool}(session_id=3)`."


@pytest.mark.parametrize(
    ("call", "command"),
    [
        ("dap_evaluate(expressions=['a + 1'])", "dapeer eval 'a + 1'"),
        ("dap_variables(path=prices, start=3)", "dapeer vars prices --start 3"),
        ("dap_run_to(filename='a.py', line=3)", "dapeer run-to a.py:3"),
        ("dap_run_to(filename='my app.py', line=3)", "dapeer run-to 'my app.py:3'"),
        ("dap_run(stop_on_entry=true)", "dapeer run --stop-on-entry"),
        ("dap_run(breakpoints=[…])", "dapeer run -b …"),
        (
            """dap_run(then=[{"request": "GET /"}, true])""",
            """dapeer run --then '{"request": "GET /"}' --then true""",
        ),
        ("my_dap_run, 'dap_run' and dap_nothing", "my_dap_run, 'dap_run' and dap_nothing"),
    ],
)
def test_a_call_in_a_text_becomes_a_command_line(call: str, command: str) -> None:
    assert as_commands(f"({call})") == f"({command})"


def test_a_process_is_attached_to_by_its_number() -> None:
    assert typed("attach", "4242", "--tree") == {"pid": 4242, "tree": True}
    assert typed("attach", "--port", "9229") == {"port": 9229}


@pytest.mark.parametrize(
    ("tool", "text", "shown"),
    [
        ("dap_run", "(from before: a.py:3; fresh=true starts without)", "(from before: a.py:3; --fresh starts without)"),
        ("dap_status", "dap_run with repeat=7 goes on.", "dapeer run with --repeat 7 goes on."),
        ("dap_stacktrace", "#3 to #9 folded: start_frame=3", "#3 to #9 folded: --start-frame 3"),
        ("dap_evaluate", "more, or dap_evaluate max_chars=9 shows it", "more, or dapeer eval --max-chars 9 shows it"),
        # What the program shows is its own.
        ("dap_run", "  total(fresh=true) shop.py:3", "  total(fresh=true) shop.py:3"),
        ("dap_run", "  config = Config(fresh=true)", "  config = Config(fresh=true)"),
    ],
)  # fmt: skip
def test_arguments_in_an_answer_are_options(tool: str, text: str, shown: str) -> None:
    assert as_commands(text, tool) == shown


def test_arguments_in_an_error_are_options_and_names_of_the_program_stay() -> None:
    said = error_as_commands(
        "`at`: line 1 does not have `column`; `hit_condition` does.", "dap_run"
    )
    assert said == "`--at`: line 1 does not have `column`; `--hit-condition` does."
