"""What a client has asked at a stop is answered with the next one."""

import re
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate
from tests.programs import program

LOOK = re.compile(
    r'/handling #(\d+) request "(stackTrace|scopes|variables|dapeerDrain)" from Client\[1\]/'
)


def looks(folder: Path) -> list[str]:
    """Return what the adapter was asked, as its own log tells: when it passes a request on, and at its answer."""
    (log,) = folder.glob("debugpy.adapter-*.log")
    return [command for _, command in dict.fromkeys(LOOK.findall(log.read_text()))]


async def test_the_program_is_asked_for_a_look_at_the_first_stop_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUGPY_LOG_DIR", str(tmp_path))
    p = program("loop.py")
    async with client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        for how in ("continue", "step_over", "step_out"):
            stop = await ask(c, f"dap_{how}")
        assert sorted(looks(tmp_path)) == ["dapeerDrain", "scopes", "stackTrace", "variables"]
        assert stop["locals"]["value"] == "1"
        # What has not been asked before goes to the program.
        caller = (await ask(c, "dap_stacktrace"))["frames"][1]["frame_id"]
        assert (await ask(c, "dap_variables", frame_id=caller))["variables"]
        assert looks(tmp_path)[4:] == ["scopes", "variables"]


async def test_a_deep_stack_is_one_question_and_answered_ahead_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUGPY_LOG_DIR", str(tmp_path))
    p = program("recursion.py")
    async with client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("bottom")])
        for depth in ("1", "2"):
            stop = await ask(c, "dap_step_out")
            assert stop["locals"]["depth"] == depth
        assert sorted(looks(tmp_path)) == ["dapeerDrain", "scopes", "stackTrace", "variables"]
        assert "(599 times)" in stop["stack"][-2]
        caller = (await ask(c, "dap_stacktrace", start_frame=300))["frames"][0]["frame_id"]
        assert await evaluate(c, "depth", frame_id=caller) == "302"
