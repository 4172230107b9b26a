"""What each call counts as, of which a person may want to be asked: for every tool and every argument."""

from collections.abc import Mapping
from typing import Any

import pytest

from dapeer.peers import read_tools
from dapeer.peers.consent_kinds import kinds_of
from dapeer.tools.base.tool import Tool
from tools import known_answers
from tools.consent_table import BEGIN, END, HELP, TABLE, lines
from tools.pages import lua_tools

EVERY = {tool.name: tool for tool in known_answers.EVERY}
ALL = {"run", "evaluate", "write"}

WITHOUT_MORE = {
    # Which program, session, thread, frame or line is meant, and how long to wait.
    "session_id", "thread_id", "thread_ids", "frame_id", "filename", "line", "more_lines", "function", "timeout_ms", "wait_until_paused", "target",
    "granularity", "show", "on", "scope", "every", "to_breakpoint", "remove", "max_hits", "access", "offset", "data", "text", "enter", "value", "expressions",
    "terminate_debuggee", "detached", "force", "n", "at", "column", "max_chars",
    # A start runs a program anyway.
    "program", "module", "type", "request", "pid", "host", "port", "core", "name", "args", "cwd", "env", "python",
    "stop_on_entry", "where", "terminal", "stdin", "follow_children", "just_my_code", "repeat", "until", "ready", "group", "inputs", "processes", "tree",
    # OpenCode's tools count as everything anyway, and so does nvim_lua_call's tool.
    "directory", "title", "agent", "model", "prompt", "command", "arguments", "request_id", "message", "answers",
    "wait", "decision",
    # A script counts as everything anyway.
    "code",
}  # fmt: skip
"""Arguments that make no call count as more than its tool does; in `dap_set_variable` the path does not either."""

RESUMING = (
    "continue",
    "step_over",
    "step_into",
    "step_out",
    "step_back",
    "restart_frame",
    "run_to",
    "pause",
)
CALLS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("dap_run", {"program": "a.py", "args": ["x"], "env": {"A": "1"}}, {"run"}),
    ("dap_run", {"code": "f()"}, {"run", "evaluate"}),
    ("dap_run", {"config": {"initCommands": ["p f()"]}}, ALL),
    ("dap_run", {"configuration": "App"}, ALL),
    ("dap_run", {"breakpoints": [{"filename": "a.py", "line": 1}]}, {"run", "write"}),
    ("dap_run", {"breakpoints": [{"line": 1}, {"line": 2, "condition": "f()"}]}, ALL),
    ("dap_run", {"breakpoints": [{"line": 2, "hit_condition": "f()"}]}, ALL),
    ("dap_run", {"breakpoints": [{"line": 2, "log_message": "{f()}"}]}, ALL),
    ("dap_run", {"breakpoints": [{"line": 2, "collect": ["f()"]}]}, ALL),
    ("dap_run", {"breakpoints": [{"line": 2, "expect": "f()"}]}, ALL),
    ("dap_run", {"breakpoints": [{"calls": ["f"]}]}, ALL),
    ("dap_run", {"exception_filters": ["raised:ValueError"]}, {"run", "write"}),
    ("dap_run", {"program": "a.py", "fresh": True}, {"run", "write"}),
    ("dap_run", {"exception_filters": ["raised:f() > 1"]}, ALL),
    ("dap_run", {"evaluate": ["x"]}, {"run", "evaluate"}),
    ("dap_run", {"evaluate": [], "show": "brief"}, {"run"}),
    ("dap_run", {"then": [{"request": "GET /"}]}, {"run"}),
    ("dap_run", {"then": [{"command": ["curl"]}]}, {"run"}),
    ("dap_run", {"then": [{"input": "1"}]}, {"run", "evaluate"}),
    ("dap_continue", {"then": [{"request": "/"}, {"evaluate": "f()"}]}, {"run", "evaluate"}),
    ("dap_restart", {"then": [{"evaluate": "f()"}]}, {"run", "evaluate"}),
    ("dap_script", {"code": "1"}, ALL),
    ("dap_restart", {}, {"run"}),
    ("dap_restart", {"evaluate": ["x"]}, {"run", "evaluate"}),
    *((f"dap_{tool}", {"evaluate": ["x"]}, {"run", "evaluate"}) for tool in RESUMING),
    ("dap_run_until", {"expression": "x", "evaluate": ["x"]}, {"run", "evaluate"}),
    ("dap_run_until", {"expression": "x", "on": "write", "last": True}, ALL),
    ("dap_goto", {"line": 1, "evaluate": ["x"]}, ALL),
    ("dap_send_input", {"text": "1", "evaluate": ["x"]}, {"run", "evaluate"}),
    ("dap_call", {"n": 3, "at": "f"}, {"run"}),
    ("dap_terminate", {}, {"run"}),
    ("dap_disconnect", {"terminate_debuggee": True}, {"run"}),
    ("dap_continue", {}, {"run"}),
    ("dap_step_over", {}, {"run"}),
    ("dap_step_into", {"target": "f"}, {"run"}),
    ("dap_step_out", {}, {"run"}),
    ("dap_step_back", {}, {"run"}),
    ("dap_restart_frame", {}, {"run"}),
    ("dap_run_to", {"filename": "a.py", "line": 1}, {"run"}),
    ("dap_goto", {"line": 1}, {"run", "write"}),
    ("dap_pause", {}, {"run"}),
    ("dap_send_input", {"text": "f()"}, {"run", "evaluate"}),
    ("dap_evaluate", {"expression": "x", "context": "watch"}, {"evaluate"}),
    ("dap_evaluate", {"expression": "continue", "context": "repl"}, ALL),
    ("dap_set_variable", {"path": "x", "value": "f()"}, {"write", "evaluate"}),
    ("dap_set_breakpoint", {"line": 1, "condition": ""}, {"write"}),
    ("dap_set_breakpoint", {"line": 1, "condition": "f()"}, {"write", "evaluate"}),
    ("dap_set_breakpoint", {"line": 1, "hit_condition": "3"}, {"write", "evaluate"}),
    ("dap_set_breakpoint", {"line": 1, "log_message": "{f()}"}, {"write", "evaluate"}),
    ("dap_set_breakpoint", {"line": 1, "collect": ["f()"]}, {"write", "evaluate"}),
    ("dap_set_breakpoint", {"line": 1, "expect": "f()"}, {"write", "evaluate"}),
    ("dap_set_breakpoint", {"calls": ["f"]}, {"write", "evaluate"}),
    ("dap_remove_breakpoint", {"line": 1}, {"write"}),
    ("dap_clear_breakpoints", {}, {"write"}),
    ("dap_set_exception_breakpoints", {"filters": []}, {"write"}),
    ("dap_set_exception_breakpoints", {"filters": ["uncaught"]}, {"write"}),
    ("dap_set_exception_breakpoints", {"filters": ["raised:std::bad"]}, {"write"}),
    ("dap_set_exception_breakpoints", {"filters": ["raised: f()"]}, {"write", "evaluate"}),
    ("dap_set_function_breakpoints", {"names": ["ns::f", "main.f"]}, {"write"}),
    ("dap_set_function_breakpoints", {"names": ["f", "f if g()"]}, {"write", "evaluate"}),
    ("dap_set_data_breakpoint", {"path": "total"}, {"write"}),
    ("dap_set_data_breakpoint", {"path": "f(1)"}, {"write", "evaluate"}),
    ("dap_set_data_breakpoint", {"path": "total", "condition": "f()"}, {"write", "evaluate"}),
    ("dap_set_data_breakpoint", {"path": "total", "hit_condition": "2"}, {"write", "evaluate"}),
    ("dap_set_instruction_breakpoint", {"address": "0x401136"}, {"write"}),
    ("dap_set_instruction_breakpoint", {"address": "v[3]"}, {"write", "evaluate"}),
    ("dap_set_instruction_breakpoint", {"address": "main", "condition": "f()"}, {"write", "evaluate"}),
    ("dap_set_instruction_breakpoint", {"address": "main", "hit_condition": "2"}, {"write", "evaluate"}),
    ("dap_write_memory", {"address": "&total", "data": "00"}, {"write"}),
    ("dap_write_memory", {"address": "*it", "data": "00"}, {"write", "evaluate"}),
    ("dap_request", {"command": "threads"}, set()),
    ("dap_request", {"command": "next"}, {"run"}),
    ("dap_request", {"command": "pause"}, {"run"}),
    ("dap_request", {"command": "goto"}, {"run", "write"}),
    ("dap_request", {"command": "evaluate", "arguments": {"context": "watch"}}, {"evaluate"}),
    ("dap_request", {"command": "evaluate", "arguments": {"context": "repl"}}, ALL),
    ("dap_request", {"command": "setVariable"}, {"write", "evaluate"}),
    ("dap_request", {"command": "setExceptionBreakpoints"}, {"write", "evaluate"}),
    ("dap_request", {"command": "writeMemory"}, {"write", "evaluate"}),
    ("dap_request", {"command": "variables"}, {"evaluate"}),
    ("dap_request", {"command": "completions"}, {"evaluate"}),
    ("dap_request", {"command": "dataBreakpointInfo"}, {"evaluate"}),
    ("dap_request", {"command": "pydevdSystemInfo"}, ALL),
    ("nvim_connect", {}, {"run"}),
    ("nvim_disconnect", {}, ALL),
    ("nvim_lua_call", {"name": "add"}, set()),
    ("opencode_session_create", {}, {"run"}),
    ("opencode_prompt", {}, ALL),
    ("opencode_command", {}, ALL),
    ("opencode_reply", {}, ALL),
    ("opencode_tool_call", {}, ALL),
    ("opencode_abort", {}, {"run"}),
]  # fmt: skip

LUA: dict[str, set[str]] = {
    "buffer_write": {"write"},
    "quickfix_set": {"write"},
    "save_document": {"write"},
    "undo_goto": {"write"},
    "lsp_code_actions": {"run", "write"},
    "lsp_rename": {"write"},
    "lsp_format": {"write"},
    "exec_lua": ALL,
    # It shows a file in the person's window.
    "open_file": set(),
}  # fmt: skip
"""The plugin's own tools that do more than look."""


@pytest.mark.parametrize(("tool", "arguments", "kinds"), CALLS)
def test_a_call_counts_as_what_it_can_do(
    tool: str, arguments: Mapping[str, Any], kinds: set[str]
) -> None:
    assert set(kinds_of(TABLE.get(tool), arguments, read_only=False)) == kinds


def test_no_argument_is_called_harmless_that_there_is_not() -> None:
    arguments = {name for tool in TABLE for name in EVERY[tool].input_schema["properties"]}
    assert arguments >= WITHOUT_MORE


def test_every_tool_that_does_something_is_in_the_table_and_no_other() -> None:
    acting = {name for name, tool in EVERY.items() if not tool.read_only}
    assert set(TABLE) == acting == {tool for tool, _, _ in CALLS}


@pytest.mark.parametrize("tool", [EVERY[name] for name in TABLE], ids=list(TABLE))
def test_of_every_argument_it_is_known_whether_it_makes_a_call_more(tool: Tool) -> None:
    named = {case.argument.partition(".")[0].removesuffix("[]") for case in TABLE[tool.name].cases}
    arguments = set(tool.input_schema["properties"])
    assert named <= arguments
    if tool.name == "dap_set_variable":
        arguments.discard("path")
    assert arguments - named <= WITHOUT_MORE


@pytest.mark.parametrize(
    ("tool", "case"),
    [(name, case) for name, counts in TABLE.items() for case in counts.cases],
    ids=lambda each: each if isinstance(each, str) else each.argument,
)
def test_every_row_of_the_table_has_a_call_that_shows_it(tool: str, case: Any) -> None:  # noqa: ANN401
    alone = [kinds_of(TABLE.get(tool), {}, read_only=False)]
    shown = [
        set(kinds) >= {*case.adds, *alone[0]}
        for name, arguments, kinds in CALLS
        if name == tool and case.argument.partition(".")[0].removesuffix("[]") in arguments
    ]
    assert any(shown)


def test_a_tool_that_nobody_has_put_into_the_table_counts_as_everything() -> None:
    assert set(kinds_of(None, {}, read_only=False)) == ALL
    assert kinds_of(None, {}, read_only=True) == ()


def test_what_the_tools_of_the_plugin_count_as() -> None:
    acting = {one.name: set(one.kinds) for one in lua_tools() if not one.read_only}
    assert acting == LUA


def test_a_kind_that_is_not_known_counts_as_everything() -> None:
    told = (
        '[{"name": "new", "description": "New.", "input_schema": {}, "action": ["write", "fly"]}]'
    )
    assert set(read_tools(told)[0].kinds) == ALL


def test_the_help_has_the_table() -> None:
    """`uv run python -m tools.consent_table` writes it."""
    text = HELP.read_text("utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0].splitlines() == [*lines()]
