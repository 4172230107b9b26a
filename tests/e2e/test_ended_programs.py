"""What is kept of programs that have ended: the last ones, each with all its processes."""

import asyncio
from pathlib import Path

import pytest

from dapeer.sessions.debugger import registry
from tests.harness import ask, client, needs, read
from tests.processes import LIMIT
from tests.programs import Program, program

ADDS_TWICE = """\
function add(a, b) {
  return a + b;  // @sum
}
console.log(add(1, 2));
console.log(add(3, 4));
"""
STARTS_TWO = """\
import multiprocessing


def work(value):
    print(value)  # @child


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    for value in range(2):
        child = context.Process(target=work, args=(value,))
        child.start()
        child.join()
"""


@pytest.fixture(autouse=True)
def one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep one program, for which a person would have to run 20."""
    monkeypatch.setattr(registry, "KEPT_PROGRAMS", 1)


@pytest.mark.parametrize(
    ("name", "text", "mark", "adapter"),
    [("adds.cjs", ADDS_TWICE, "sum", "js-debug"), ("starts.py", STARTS_TWO, "child", "debugpy")],
    ids=["javascript", "python"],
)
async def test_what_child_sessions_have_hit_stays_until_their_program_has_made_room(
    name: str, text: str, mark: str, adapter: str, tmp_path: Path
) -> None:
    """js-debug runs each program in a child session. It ends before its program."""
    needs(adapter)
    (tmp_path / name).write_text(text)
    p = Program(tmp_path / name, tmp_path / name)
    ends = str(program("quick.py"))
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for _ in range(2):
            assert (await ask(c, "dap_run", program=ends))["state"] == "ended"
        first = await ask(c, "dap_run", program=name, breakpoints=[p.at(mark)])
        second = await ask(c, "dap_continue")
        assert [first["state"], second["state"]] == ["stopped", "stopped"]
        sessions = {first["session_id"], second["session_id"]}
        end = await read(c, "dap_continue")
        assert "Ended" in end
        assert "ever bound" not in end
        assert "ot hit" not in end
        for stopped in sessions:
            history = await read(c, "dap_history", session_id=stopped)
            assert f"{name}:{p.line(mark)}" in history


async def test_a_history_without_stops_names_the_processes_that_have_stopped(
    tmp_path: Path,
) -> None:
    (tmp_path / "starts.py").write_text(STARTS_TWO)
    p = Program(tmp_path / "starts.py", tmp_path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        first = await ask(c, "dap_run", program="starts.py", breakpoints=[p.at("child")])
        second = await ask(c, "dap_continue")
        assert (await ask(c, "dap_continue"))["state"] == "ended"
        stopped = f"session_id={first['session_id']} or {second['session_id']}"
        said = f"No stops.\n(other processes of this program have stopped: {stopped})"
        assert await read(c, "dap_history", session_id=1) == said


async def test_the_program_that_has_ended_last_is_kept_though_it_was_started_first(
    tmp_path: Path,
) -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner_return")])
        for _ in range(2):
            await ask(c, "dap_run", program=str(program("quick.py")))
        await ask(c, "dap_terminate", session_id=1)
        history = await read(c, "dap_history", session_id=1)
        assert f"loop.py:{p.line('inner_return')}" in history
