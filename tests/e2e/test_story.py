"""The main story, under three real adapters: start, stop, look, step, change, finish, look back."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, call, client, data, read, refusal, text
from tests.processes import LIMIT
from tests.programs import Program, compiled, program


@dataclass(frozen=True)
class Story:
    """A program in a language, and what is known about it."""

    type: str
    source: str
    stop: str
    next: str
    function: str
    caller: str
    variable: str
    values: tuple[str, str]
    """At the first stop and at the second."""
    expression: str
    result: str
    output: str
    exit_code: int

    def program(self, folder: Path) -> Program:
        return compiled(self.source, folder) if self.source.endswith(".c") else program(self.source)


STORIES = [
    Story(
        type="debugpy", source="loop.py", stop="inner", next="inner_return", function="inner",
        caller="middle", variable="value", values=("0", "1"), expression="value + 41", result="41",
        output="round 0\n", exit_code=0,
    ),
    Story(
        type="bash-dap", source="hello.sh", stop="greet_echo", next="count", function="greet",
        caller="main", variable="name", values=("ada", "grace"), expression="$name", result="ada",
        output="hello ada\n", exit_code=3,
    ),
    Story(
        type="gdb", source="loop.c", stop="inner", next="inner_return", function="inner",
        caller="middle", variable="value", values=("0", "1"), expression="value + 41", result="41",
        output="round 0\n", exit_code=0,
    ),
]  # fmt: skip


@pytest.fixture(params=STORIES, ids=lambda story: story.type)
def story(request: pytest.FixtureRequest) -> Story:
    return request.param


async def test_the_whole_story_is_told_under_every_adapter(story: Story, tmp_path: Path) -> None:
    p = story.program(tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await one_call_leads_from_nothing_to_a_stop_with_all_that_matters(c, story, p)
        await an_expression_is_evaluated_where_the_program_is(c, story)
        await the_next_stop_shows_what_is_another_now(c, story)
        await a_step_shows_the_new_place(c, story, p)
        await the_end_is_a_result_with_its_exit_code(c, story)
        await output_and_history_are_there_after_the_end(c, story, p)
        await nothing_can_be_inspected_any_more_and_the_answer_says_why(c)


async def one_call_leads_from_nothing_to_a_stop_with_all_that_matters(
    c: Client, story: Story, p: Program
) -> None:
    result = await call(c, "dap_run", program=str(p), breakpoints=[p.at(story.stop)])
    stop = data(result)
    assert stop["state"] == "stopped"
    assert stop["reason"].startswith("breakpoint")
    assert (stop["file"], stop["line"]) == (str(p.source), p.line(story.stop))
    assert stop["function"] == story.function
    assert f"@{story.stop}" in stop["source"]
    assert story.function in stop["stack"][0]
    assert story.caller in stop["stack"][1]
    assert stop["locals"][story.variable].strip('"') == story.values[0]

    place = f"fixtures/programs/{story.source}:{p.line(story.stop)} in {story.function}"
    first = text(result).splitlines()[0]
    assert first.startswith("Stopped (breakpoint)")
    assert place in first
    for part in (f"@{story.stop}", story.caller, story.variable):
        assert part in text(result)


async def an_expression_is_evaluated_where_the_program_is(c: Client, story: Story) -> None:
    assert story.result in await read(c, "dap_evaluate", expression=story.expression)


async def the_next_stop_shows_what_is_another_now(c: Client, story: Story) -> None:
    result = await call(c, "dap_continue")
    stop = data(result)
    assert stop["locals"][story.variable].strip('"') == story.values[1]
    assert story.values[1] in text(result)
    # It is another call of the function; where the adapter tells so, nothing is compared.
    compared = [value.strip('"') for value in stop.get("changed", {}).get(story.variable, ())]
    assert compared == list(story.values) or "not compared" in text(result)


async def a_step_shows_the_new_place(c: Client, story: Story, p: Program) -> None:
    stop = await ask(c, "dap_step_over")
    assert stop["reason"].startswith("step")
    assert stop["line"] == p.line(story.next)


async def the_end_is_a_result_with_its_exit_code(c: Client, story: Story) -> None:
    await ask(c, "dap_clear_breakpoints")
    result = await call(c, "dap_continue")
    end = data(result)
    assert (end["state"], end["exit_code"]) == ("ended", story.exit_code)
    assert text(result).startswith(f"Ended, exit code {story.exit_code}")


async def output_and_history_are_there_after_the_end(c: Client, story: Story, p: Program) -> None:
    output = await ask(c, "dap_program_output", category="stdout")
    assert story.output in output["text"]
    assert output["exit_code"] == story.exit_code
    history = await read(c, "dap_history")
    assert history.count(f"{story.source}:{p.line(story.stop)}") == 2
    first = await read(c, "dap_history", number=1)
    assert story.variable in first
    assert story.values[0] in first


async def nothing_can_be_inspected_any_more_and_the_answer_says_why(c: Client) -> None:
    for tool in ("dap_continue", "dap_step_over", "dap_stacktrace", "dap_pause"):
        assert "ended" in await refusal(c, tool)
    assert "ended" in await refusal(c, "dap_evaluate", expression="1")


@pytest.mark.parametrize("kind", ["debugpy", "gdb"])
async def test_a_variable_that_was_set_has_the_new_value_everywhere(
    kind: str, tmp_path: Path
) -> None:
    p = program("loop.py") if kind == "debugpy" else compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "50" in await read(c, "dap_set_variable", path="value", value="50")
        assert (await ask(c, "dap_snapshot"))["locals"]["value"] == "50"
        assert "100" in await read(c, "dap_evaluate", expression="value * 2")
        stop = await ask(c, "dap_step_over")
        assert stop["locals"]["doubled"] == "100"


async def test_what_an_adapter_cannot_do_is_refused_by_name() -> None:
    p = program("hello.sh")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("greet_echo")])
        assert "bash-dap" in await refusal(c, "dap_set_variable", path="name", value="eve")
        # The session has not suffered.
        assert (await ask(c, "dap_snapshot"))["state"] == "stopped"
