"""Which of a stopped function's locals are shown, and which are only counted."""

import re
from pathlib import Path

import pytest

from tests.harness import ask, client, needs, read
from tests.programs import Program, compiled, program

MANY = "\n".join(f"    a{number:03} = [{number}] * 50" for number in range(300))
"""Locals that come first in the alphabet, and that nobody asks for."""
PYTHON = f"""
def look(zone, basket):
{MANY}
    total = 0
    for item in basket:


        total = total + item  # stop
        a250 = total


    return total

look(5, [1, 2])
"""


def line_of(path: Path, word: str) -> dict[str, object]:
    lines = path.read_text().splitlines()
    found = next(number for number, line in enumerate(lines, 1) if word in line)
    return {"filename": str(path), "line": found}


async def test_of_hundreds_of_locals_those_are_shown_that_matter_at_the_stop(
    tmp_path: Path,
) -> None:
    """What the line names, what the lines around it name, the arguments, what has changed; the rest is counted."""
    path = tmp_path / "many.py"
    path.write_text(PYTHON)
    async with client(tmp_path) as c:
        first = await ask(c, "dap_run", program=str(path), breakpoints=[line_of(path, "# stop")])
        assert list(first["locals"]) == ["item", "total", "a250", "basket", "zone"]
        assert first["notes"] == ["299 more locals: dap_variables"]
        again = await ask(c, "dap_continue")
        assert again["changed"] == {
            "a250": ["[250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, …, 250] (50 items)", "1"],
            "item": ["1", "2"],
            "total": ["0", "1"],
        }  # fmt: skip


async def test_hundreds_that_are_not_shown_are_counted_by_type(tmp_path: Path) -> None:
    path = tmp_path / "kinds.py"
    made = "\n".join(f"    n{i} = {i}\n    l{i} = [{i}]" for i in range(60))
    path.write_text(
        f"OWN = 1\ndef look(own):\n{made}\n    s = 'a'\n    return own  # stop\nlook(7)\n"
    )
    async with client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(path), breakpoints=[line_of(path, "# stop")])
        # The frame's own come first, and those of its line before all.
        assert next(iter(stop["locals"])) == "own"
        assert "OWN" not in stop["locals"]
        (note,) = stop["notes"]
        assert re.fullmatch(r"118 more locals \(\d+ int, \d+ list\): dap_variables", note)


async def test_what_changed_elsewhere_is_shown_among_hundreds(tmp_path: Path) -> None:
    path = tmp_path / "moved.py"
    body = "\n".join(f"    b{number} = {number}" for number in range(30))
    path.write_text(
        f"def look():\n{body}\n    seen = 1\n    b29 = 'new'\n    pass  # stop\n\n\n\n\n    pass  # later\n\nlook()\n"
    )
    breakpoints = [line_of(path, "# stop"), line_of(path, "# later")]
    async with client(tmp_path) as c:
        first = await ask(c, "dap_run", program=str(path), breakpoints=breakpoints)
        assert {"seen", "b29"} <= first["locals"].keys()
        later = await ask(c, "dap_continue")
        assert "b0" in later["locals"], "at least a few are shown"
        assert later["notes"] == ["27 more locals: dap_variables"]


async def test_javascripts_folded_values_are_opened_where_they_are_used(tmp_path: Path) -> None:
    needs("js-debug")
    many = "\n".join(
        f"  const a{number:03} = {{id: {number}, sub: {{}}}};" for number in range(100)
    )
    path = tmp_path / "many.js"
    path.write_text(
        f"function look() {{\n{many}\n\n\n\n\n  const zone = [{{id: 1}}];\n  console.log(zone); // stop\n}}\nlook();\n"
    )
    async with client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(path), breakpoints=[line_of(path, "// stop")])
        assert stop["locals"]["zone"] == "(1) [{id: 1}]"
        assert "a050" not in stop["locals"]


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled("members.cpp", tmp_path_factory.mktemp("members"), options=("-std=c++17",))


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_what_this_points_to_shows_first_the_members_that_the_code_uses(
    members: Program, adapter: str
) -> None:
    needs(adapter)
    place = members.at("work")
    async with client() as c:
        stop = await ask(c, "dap_run", program=str(members), type=adapter, breakpoints=[place])
        this = stop["locals"]["this"]
        # They are declared last.
        assert 0 < this.index("queue") < this.index("title") < this.index("first")
        assert '"a title"' in this
        step = await ask(c, "dap_step_over")
        assert step["changed"].keys() == {"total"}


async def test_what_javascripts_this_holds_is_shown_and_small_values_whole(tmp_path: Path) -> None:
    needs("js-debug")
    path = tmp_path / "members.js"
    path.write_text(MEMBERS)
    async with client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(path), breakpoints=[line_of(path, "// stop")])
        assert stop["locals"].get("nested") == "{a: (2) [(2) [1, 2], (2) [3, 4]]}", stop
        this = stop["locals"]["this"]
        assert this.startswith("Worker {queue: (2) [1, 2], title: 'a title', first: '111")
        end = await ask(c, "dap_continue")
        assert "was computed" not in end.get("output", "")


MEMBERS = """
class Worker {
  constructor() { this.first = '1'.repeat(90); this.second = '2'.repeat(90); this.queue = [1, 2]; this.title = 'a title'; }
  get total() { console.log('total was computed'); return 1; }

  work() {
    const nested = {a: [[1, 2], [3, 4]]};
    return this.queue.length + this.title + nested; // stop
  }
}


new Worker().work();
"""


async def test_small_values_of_perl_are_shown_whole(tmp_path: Path) -> None:
    needs("perl")
    path = tmp_path / "nested.pl"
    path.write_text(
        "sub look {\n  my $nested = {a => [[1, 2], [3, 4]]};\n  return $nested; # stop\n}\nlook();\n"
    )
    async with client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(path), breakpoints=[line_of(path, "# stop")])
        assert stop["locals"]["$nested"] == "{a=>[[1,2], [3,4]]}"


async def test_a_small_stop_is_told_in_700_bytes_and_a_step_in_500() -> None:
    p = program("loop.py")
    async with client() as c:
        stop = await read(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert len(stop.encode()) < 700
        step = await read(c, "dap_step_over")
        assert len(step.encode()) < 500
        assert "doubled = 0" in step
