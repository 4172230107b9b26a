"""What the assistant does with a person's consent only, whatever tool it does it with."""

import json.decoder as decoder
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.e2e.test_tasks import project
from tests.harness import ask, connect, evaluate, read, refusal
from tests.neovim.consenting import ALLOW, ANSWERS, DENY
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.programs import program

STEPS = program("steps.py")
CHANGES = {"approve": {"evaluate": True, "write": True}}


@asynccontextmanager
async def guarded(
    tmp_path: Path, setup: dict[str, Any]
) -> AsyncGenerator[tuple[Client, Editor, str]]:
    """Give a client at a Neovim where nobody sits, so that every question means no, and an expression that leaves a file."""
    trace = tmp_path / "trace"
    async with (
        neovim(tmp_path, dap=False, setup=setup) as editor,
        attached(editor) as (c, _),
    ):
        yield c, editor, f"open({str(trace)!r}, 'w').close()"
    assert not trace.exists()


async def not_allowed(c: Client, tool: str, **arguments: object) -> None:
    told = await refusal(c, tool, **arguments)
    name = tool.replace("nvim_dap_", "dap_")
    assert told.startswith(
        f"The person did not allow {name} (No person can answer in this Neovim"
    ), told


async def stopped(c: Client) -> None:
    """Stop a program without a breakpoint of the assistant's."""
    await ask(c, "dap_run", program=str(STEPS), stop_on_entry=True)


async def test_code_that_the_assistant_writes_runs_with_consent_to_evaluate(tmp_path: Path) -> None:
    async with guarded(tmp_path, {"approve": {"evaluate": True}}) as (c, _, evil):
        await not_allowed(c, "dap_run", code=evil)
        await not_allowed(c, "dap_run", code=evil, where="direct")
        for option in ("condition", "hit_condition", "log_message", "collect"):
            given = {**STEPS.at("add"), option: f"{{{evil}}}"}
            await not_allowed(c, "dap_run", program=str(STEPS), breakpoints=[given])
            await not_allowed(c, "dap_set_breakpoint", **given)
        await not_allowed(c, "dap_set_exception_breakpoints", filters=[f"raised: {evil}"])
        for given in ({"function": "add", "collect": [evil]}, {"calls": ["add"]}):
            await not_allowed(c, "dap_set_breakpoint", **given)
            await not_allowed(c, "dap_run", program=str(STEPS), breakpoints=[given])
        assert (await ask(c, "dap_status"))["sessions"] == []
        await stopped(c)
        await not_allowed(c, "dap_set_variable", path="a", value=evil)
        await not_allowed(c, "dap_run_until", expression=evil)
        for tool in ("dap_step_over", "dap_continue", "dap_wait_until_paused"):
            await not_allowed(c, tool, evaluate=[evil])
        await not_allowed(c, "dap_request", command="evaluate", arguments={"expression": evil})
        given = {"variablesReference": 1, "name": "a", "value": evil}
        await not_allowed(c, "dap_request", command="setVariable", arguments=given)
        # Arguments packed into a text, and a tool by an older name, are the same.
        await not_allowed(
            c,
            "dap_run",
            program=str(STEPS),
            breakpoints=f'[{{"filename": "{STEPS}", "line": 5, "condition": "1"}}]',
        )
        await not_allowed(c, "nvim_dap_set_breakpoint", **STEPS.at("add"), condition=evil)
        # Nothing else is asked about.
        await ask(c, "dap_set_breakpoint", **STEPS.at("add"))
        await ask(c, "dap_continue")


async def test_a_script_is_asked_about_with_its_code_and_its_calls_obey_the_same_rules(
    tmp_path: Path,
) -> None:
    async with (
        neovim(
            tmp_path, dap=False, rc=ANSWERS, setup={"approve": {"run": True}}, ui=True
        ) as editor,
        attached(editor) as (c, _),
    ):
        await editor.lua("vim.g.answer = ...", DENY)
        told = await refusal(c, "dap_script", code="print('is', 6 * 7)")
        assert told.startswith("The person did not allow dap_script")
        [lines] = await editor.wait_for_notification("asked")
        assert "print('is', 6 * 7)" in "\n".join(lines)


async def test_a_step_by_a_raw_request_needs_consent_to_run(tmp_path: Path) -> None:
    async with guarded(tmp_path, {"approve": {"run": True}}) as (c, _, _evil):
        await not_allowed(c, "dap_run", program=str(STEPS))
    async with guarded(tmp_path, {"approve": {}}) as (c, editor, _evil):
        await stopped(c)
        await editor.lua("require('dapeer').setup({ approve = { run = true } })")
        # By the time of its answer the core has heard of the new rules.
        await read(c, "nvim_buffers_list")
        before = await read(c, "dap_current_location")
        await not_allowed(c, "dap_request", command="next", arguments={"threadId": 1})
        await not_allowed(c, "dap_evaluate", expression="continue", context="repl")
        await ask(c, "dap_request", command="threads")
        assert await read(c, "dap_current_location") == before


async def test_writing_by_a_raw_request_needs_consent_to_write(tmp_path: Path) -> None:
    async with guarded(tmp_path, {"approve": {"write": True}}) as (c, _, _evil):
        await stopped(c)
        await not_allowed(
            c, "dap_request", command="setExceptionBreakpoints", arguments={"filters": ["raised"]}
        )
        await not_allowed(c, "dap_request", command="setVariable", arguments={})
        await not_allowed(c, "dap_goto", line=5)
        assert await evaluate(c, "1 + 1") == "2"


@pytest.mark.parametrize("kind", ["run", "evaluate", "write"])
async def test_leaving_the_neovim_of_a_person_who_wants_to_be_asked_needs_their_consent(
    tmp_path: Path, kind: str
) -> None:
    async with guarded(tmp_path, {"approve": {kind: True}}) as (c, _, _evil):
        await not_allowed(c, "nvim_disconnect")
        # Where nothing is guarded, nobody is asked.
    async with guarded(tmp_path, {}) as (c, _, _evil):
        await ask(c, "nvim_disconnect")


async def test_what_was_asked_about_is_refused_after_the_neovim_was_left_until_it_is_gone(
    tmp_path: Path,
) -> None:
    async with (
        neovim(tmp_path, dap=False, rc=ANSWERS, setup=CHANGES, ui=True) as editor,
        attached(editor) as (c, _),
    ):
        await editor.lua("vim.g.answer = ...", ALLOW)
        await stopped(c)
        await ask(c, "nvim_disconnect")
        [[prompt, *_]] = await editor.wait_for_notification("asked")
        assert prompt.endswith("(run, evaluate, write):")
        refused = await refusal(c, "dap_evaluate", expression="1")
        assert refused.startswith(
            f"The person at the Neovim at {editor.socket}, which was detached, wants to be asked"
        )
        await refusal(c, "dap_run", code="print()", where="direct")
        # What was free is free, and what was asked about is asked about again once it is back.
        await ask(c, "dap_step_over")
        await connect(c, editor.socket)
        assert await evaluate(c, "1 + 1") == "2"
        await editor.wait_for_notification("asked")
        await ask(c, "nvim_disconnect")
        await editor.kill()
        assert await evaluate(c, "1 + 1") == "2"


async def test_a_rule_of_the_person_reads_an_expression_to_its_end(tmp_path: Path) -> None:
    rule = """
    require('dapeer').setup({ approve = { evaluate = function(action)
      return not action.arguments:find('os%.')
    end } })
    """
    async with neovim(tmp_path, dap=False, rc=rule) as editor, attached(editor) as (c, _):
        await stopped(c)
        assert await evaluate(c, "1 + 1") == "2"
        refused = await refusal(c, "dap_evaluate", expression=f"{' ' * 1000}os.getpid()")
        assert "The function approve.evaluate of Neovim refused." in refused


async def test_a_file_outside_of_the_project_is_shown_with_consent_to_read(tmp_path: Path) -> None:
    outside = tmp_path / "notes.txt"
    outside.write_text("buy milk\n", "utf-8")
    async with (
        neovim(tmp_path, dap=False, rc=ANSWERS, setup={}, ui=True) as editor,
        attached(editor) as (c, _),
    ):
        await editor.lua("vim.g.answer = ...", DENY)
        told = await refusal(c, "dap_source", filename=str(outside))
        assert told.startswith("The person did not allow dap_source")
        [[prompt, *_]] = await editor.wait_for_notification("asked")
        assert prompt.endswith("(read):")
        await editor.lua("vim.g.answer = ...", ALLOW)
        assert "buy milk" in await read(c, "dap_source", filename=str(outside))
        await editor.wait_for_notification("asked")
        # Nobody is left to ask.
        await ask(c, "nvim_disconnect")
        assert "is neither in the project" in await refusal(c, "dap_source", filename=str(outside))


async def test_a_look_that_has_to_evaluate_needs_the_consent_for_it(tmp_path: Path) -> None:
    async with guarded(tmp_path, {"approve": {"evaluate": True}}) as (c, _, _evil):
        await stopped(c)
        await not_allowed(c, "dap_variables", path="__builtins__.abs")
        await not_allowed(c, "dap_completions", text="__builtins__.")
        await read(c, "dap_variables")


async def test_the_persons_list_of_secret_files_counts_for_debugging_too(tmp_path: Path) -> None:
    (tmp_path / "a.private").write_text("t0p\n", "utf-8")
    (tmp_path / ".env").write_text("A=1\n", "utf-8")
    async with (
        neovim(tmp_path, dap=False, setup={"secrets": ["*.private"]}) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        assert "may hold secrets" in await refusal(c, "dap_source", filename="a.private")
        assert "A=1" in await read(c, "dap_source", filename=".env")
        await editor.lua("require('dapeer').setup({ secrets = { '.env' } })")
        await read(c, "nvim_buffers_list")
        assert "may hold secrets" in await refusal(c, "dap_source", filename=".env")


async def test_a_buffer_of_a_file_outside_of_the_project_is_read_with_consent(
    tmp_path: Path,
) -> None:
    outside, opened = tmp_path / "notes.txt", tmp_path / "opened.txt"
    outside.write_text("buy milk\n", "utf-8")
    opened.write_text("buy bread\n", "utf-8")
    async with guarded(tmp_path, {}) as (c, editor, _):
        await not_allowed(c, "nvim_buffer_read", filename=str(outside))
        await not_allowed(c, "nvim_buffer_read", filename=outside.as_uri())
        # What the person has open, what is in the project, and libraries are shown.
        await editor.lua("vim.cmd.edit(...)", str(opened))
        assert "buy bread" in await read(c, "nvim_buffer_read", filename=str(opened))
        assert "buy bread" in await read(c, "nvim_buffer_read")
        assert "def add" in await read(c, "nvim_buffer_read", filename=str(STEPS))
        assert "JSONDecoder" in await read(c, "nvim_buffer_read", filename=decoder.__file__)


async def says(editor: Editor, command: str) -> str:
    """Return the one line that a command answers."""
    code = "return vim.api.nvim_exec2('Dapeer ' .. ..., { output = true }).output"
    return str(await editor.lua(code, command))


async def test_a_person_pauses_what_assistants_do_and_ends_it_by_one_command(
    tmp_path: Path,
) -> None:
    summary = "return require('dapeer').status().summary"
    async with (
        neovim(tmp_path, dap=False, setup={}, ui=True) as editor,
        attached(editor) as (c, _),
    ):
        await stopped(c)
        for command, held, why in (
            ("pause", "paused: no assistant may act", "has paused assistants in this Neovim"),
            ("stop", "no assistant may act", "has ended what assistants may do"),
        ):
            told = await says(editor, command)
            assert told.startswith(f"dapeer: {command}")
            assert "no assistant may act" in told
            await read(c, "nvim_buffers_list")
            told = await refusal(c, "dap_step_over")
            assert told.startswith("The person did not allow dap_step_over (The person " + why)
            assert why in await refusal(c, "dap_run", program=str(STEPS), where="direct")
            assert why in await refusal(c, "dap_set_breakpoint", **STEPS.at("add"))
            # Who looks, looks.
            await ask(c, "dap_snapshot")
            assert (await editor.lua(summary)).startswith(held)
            await editor.lua("require('dapeer.person.approvals').hold(nil)")
            await read(c, "nvim_buffers_list")
            await ask(c, "dap_step_over")
        assert "attached; by a core of its own" in await editor.lua(summary)
        assert await editor.lua("return require('dapeer').status().state") == "attached"
        assert (await says(editor, "pause")).startswith("dapeer: paused")
        assert await says(editor, "resume") == "dapeer: resumed: assistants may act again"
        await read(c, "nvim_buffers_list")
        await ask(c, "dap_step_over")


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ([], {}),
        ([], {"compounds": [{"name": "A", "configurations": ["B"]}]}),
        ([{"name": "A", "type": "node", "preLaunchTask": "none"}], {}),
    ],
)
async def test_a_refused_person_has_no_task_run_and_reads_each_ones_command(
    first: list[object], others: dict[str, object], tmp_path: Path
) -> None:
    task = {"label": "leaves", "command": "touch trace.txt"}
    # A configuration is started before a compound of its name.
    project(
        tmp_path,
        *first,
        {"name": "A", "preLaunchTask": "leaves"},
        {"name": "B"},
        tasks=[task],
        **others,
    )
    async with (
        neovim(
            tmp_path, dap=False, rc=ANSWERS, setup={"approve": {"run": True}}, ui=True
        ) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        await editor.lua("vim.g.answer = ...", DENY)
        told = await refusal(c, "dap_run", configuration="A")
        assert told.startswith("The person did not allow dap_run")
        [lines] = await editor.wait_for_notification("asked")
        assert "touch trace.txt" in "\n".join(lines)
        assert not (tmp_path / "trace.txt").exists()
        assert (await ask(c, "dap_status"))["sessions"] == []
