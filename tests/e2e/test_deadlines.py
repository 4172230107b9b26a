"""Whatever an adapter sends, and whatever it leaves unanswered: no tool outlives its deadline by more than a second."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, note, seed
from hypothesis import settings as bounded
from hypothesis import strategies as st
from mcp import Client

from dapeer.tools.base.call import TIMEOUTS
from tests.harness import FAKE_PROGRAM, ask, call, client, fake, refusal, text
from tests.processes import LIMIT

Script = Mapping[str, Sequence[Any]]
"""What the adapter does at each request: see tests/fake_adapter.py."""
Work = tuple[str, Mapping[str, Any]]
"""A tool and its arguments."""
Story = tuple[Script, Sequence[Work]]

TALK, ENDING, START = 0.5, 1.0, 3.0
"""Seconds: deadlines of ours, made short; START is that of the fake definition, launch included, and a terminal end."""
LATE = 1.0

STOPPED = {"event": ["stopped", {"reason": "step", "threadId": 1, "allThreadsStopped": True}]}
NAMELESS: Mapping[str, Any] = {"event": ["stopped", {"reason": {}, "threadId": {}, "text": []}]}
CONTINUED = {"event": ["continued", {"threadId": 1}]}
ACTIONS: st.SearchStrategy[Any] = st.sampled_from(
    [
        "default",
        "ok",
        "hold",
        {"respond": None},
        {"fail": {"message": "no"}},
        STOPPED,
        NAMELESS,
        CONTINUED,
        {"times": [300, CONTINUED]},
        {"event": ["thread", {"reason": "exited", "threadId": 1}]},
        {"event": ["output", {"category": "stdout", "output": "x\n"}]},
        {"event": ["terminated", {}]},
        {"ignore": "eof"},
        {"raw": "Content-Length: 3\r\n\r\n{{{"},
        {"release": "threads"},
        {"exit": 3},
    ]
)
ASKED = [
    *("launch", "configurationDone", "threads", "stackTrace", "scopes", "variables", "evaluate"),
    *("next", "continue", "pause", "terminate", "disconnect"),
]
SCRIPTS: st.SearchStrategy[Script] = st.dictionaries(
    st.sampled_from(ASKED), st.lists(ACTIONS, max_size=4), max_size=5
)
TOOLS: Sequence[Work] = (
    ("dap_snapshot", {}),
    ("dap_threads", {}),
    ("dap_stacktrace", {}),
    ("dap_variables", {}),
    ("dap_history", {}),
    ("dap_status", {}),
    ("dap_evaluate", {"expression": "1", "timeout_ms": 100}),
    ("dap_step_over", {"timeout_ms": 100}),
    ("dap_continue", {"timeout_ms": 0}),
    ("dap_run_to", {"filename": FAKE_PROGRAM, "line": 5, "timeout_ms": 100}),
    ("dap_pause", {"timeout_ms": 100}),
    ("dap_wait_until_paused", {"timeout_ms": 100}),
    ("dap_program_output", {"wait_ms": 100}),
    ("dap_disconnect", {}),
)
WORK: st.SearchStrategy[Sequence[Work]] = st.lists(st.sampled_from(TOOLS), min_size=2, max_size=4)
STORIES: st.SearchStrategy[Sequence[Story]] = st.lists(
    st.tuples(SCRIPTS, WORK), min_size=1, max_size=4
)
"""Several at once: each waits most of its time."""
ENDLESS: Sequence[Script] = (
    {"threads": ["default", STOPPED]},
    {"threads": ["default", NAMELESS]},
    {"variables": ["default", CONTINUED, STOPPED], "threads": ["default", CONTINUED, STOPPED]},
    {each: ["hold"] for each in ("threads", "variables", "next", "terminate", "disconnect")},
)
"""Each look causes the next stop, or is never answered."""
BOUNDED = bounded(
    max_examples=3,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SEED = secrets.randbits(32)


def deadline(tool: str, arguments: Mapping[str, Any]) -> float:
    """Return the seconds that a tool has."""
    if tool == "dap_terminate":
        return ENDING
    given = [arguments[name] / 1000 for name in TIMEOUTS if name in arguments]
    return next(iter(given), TALK) + (START if tool == "dap_run" else 0)


async def done_in_time(c: Client, tool: str, arguments: Mapping[str, Any]) -> None:
    seconds = deadline(tool, arguments)
    try:
        async with asyncio.timeout(seconds + LATE):
            result = await call(c, tool, **arguments)
    except TimeoutError:
        pytest.fail(f"{tool} has a deadline of {seconds:g} s")
    assert "Internal error" not in text(result)


async def story(kind: str, work: Sequence[Work]) -> None:
    async with client() as c:
        run = {"program": FAKE_PROGRAM, "type": kind, "timeout_ms": 100}
        for tool, arguments in (("dap_run", run), *work, ("dap_terminate", {})):
            await done_in_time(c, tool, arguments)


def keep_deadlines(folder: Path, stories: Sequence[Story], patch: pytest.MonkeyPatch) -> None:
    async def all_at_once() -> None:
        async with asyncio.TaskGroup() as tasks:
            for number, (script, work) in enumerate(stories):
                name = f"fake{number}"
                fake(folder, script, name=name, timeouts="request = 5\ncontrol = 5\nlaunch = 1")
                tasks.create_task(story(name, work))

    with patch.context() as patched:
        patched.setattr("dapeer.tools.base.call.SECONDS_WITHOUT_TIMEOUT", TALK)
        patched.setattr("dapeer.sessions.debugger.debugger.SECONDS_TO_END", ENDING)
        patched.setattr("dapeer.tools.base.report.SECONDS_TO_LOOK", TALK / 2)
        asyncio.run(all_at_once())


@bounded(BOUNDED, derandomize=True)
@example(stories=[(script, TOOLS[1::3]) for script in ENDLESS])
@given(stories=STORIES)
def test_no_tool_outlives_its_deadline(
    settings: Path, monkeypatch: pytest.MonkeyPatch, stories: Sequence[Story]
) -> None:
    keep_deadlines(settings, stories, monkeypatch)


@seed(SEED)
@BOUNDED
@given(stories=STORIES)
def test_nor_does_one_with_scripts_that_nobody_has_tried_before(
    settings: Path, monkeypatch: pytest.MonkeyPatch, stories: Sequence[Story]
) -> None:
    note(f"seed {SEED}")
    keep_deadlines(settings, stories, monkeypatch)


async def test_what_is_not_done_in_time_says_so_and_kills_nothing(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dapeer.tools.base.call.SECONDS_WITHOUT_TIMEOUT", 0.2)
    fake(settings, {"source": ["hold"], "scopes": ["default", {"release": "source"}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        said = await refusal(c, "dap_source", source_reference=1)
        assert said.startswith("dap_source timed out after 0.2 s: the adapter has not answered.")
        assert "dap_terminate" in said
        assert (await ask(c, "dap_step_over"))["line"] == 2


async def test_a_stop_is_told_soon_after_the_time_out_of_who_waited_for_it(settings: Path) -> None:
    """What is slow to come, such as a value whose `repr` takes long, is named instead."""
    fake(settings, {"variables": ["hold"]}, timeouts="request = 60\ncontrol = 5")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake", wait_until_paused=False)
        await ask(c, "dap_wait_until_paused", timeout_ms=500)
        async with asyncio.timeout(0.1 + LATE):
            step = await ask(c, "dap_step_over", timeout_ms=100)
        assert (step["line"], step["locals"]) == (2, {})
        assert any("locals did not arrive" in note for note in step["notes"])
