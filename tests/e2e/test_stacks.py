"""What a stack shows: who awaits, the outermost frame of the user's, how many are between, and ids."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.e2e.running import go_built
from tests.harness import ask, client, evaluate, needs, read
from tests.processes import LIMIT
from tests.programs import Program, compiled, program

TASKS = """
import asyncio


async def store(item):
    await asyncio.sleep(0)
    return item  # @store


async def handle(item):
    return await store(item)  # @handle


async def both(first):
    second = asyncio.create_task(handle(first + 1), name="second")
    return await asyncio.gather(asyncio.create_task(handle(first), name="first"), second)  # @both


async def main():
    told = "by main"
    return await asyncio.wait_for(asyncio.create_task(both(1), name="both"), 60)  # @main


asyncio.run(main())  # @run
"""


def written(folder: Path, name: str, text: str) -> Program:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Program(path, path)


async def test_the_stack_of_a_task_goes_on_where_it_is_awaited_and_counts_the_event_loop(
    tmp_path: Path,
) -> None:
    p = written(tmp_path, "tasks.py", TASKS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program=str(p), breakpoints=[p.at("store", condition="item == 1")]
        )
        lines = [re.sub(r" \[\d+\]$", "", line) for line in stop["stack"]]
        assert lines == [
            f"store tasks.py:{p.line('store')}",
            f"handle tasks.py:{p.line('handle')}",
            "(task first, awaited by task both)",
            f"both tasks.py:{p.line('both')}",
            "(task both, awaited by task Task-1)",
            lines[5],
            f"main tasks.py:{p.line('main')}",
            lines[7],
            f"<module> tasks.py:{p.line('run')}",
        ]
        assert re.fullmatch(r"wait_for asyncio/tasks.py:\d+", lines[5])
        assert re.fullmatch(r"\d+ frames of Python's library", lines[7])
        main = int(stop["stack"][6].rpartition("[")[2].rstrip("]"))
        assert await evaluate(c, "told", frame_id=main) == "'by main'"
        shown = await read(c, "dap_snapshot")
        assert "Called by [id]:\n  handle :" in shown


GROUPS = """
import anyio


async def load(item):
    await anyio.sleep(0)
    return item  # @load


async def pages(first):
    for item in (first, first + 1):
        yield await load(item)


async def feed():
    async for item in pages(1):
        await anyio.sleep(0)


async def opened():
    async with anyio.create_task_group() as group:  # @group
        group.start_soon(feed, name="feeding")
        yield group


async def main():
    async for group in opened():
        group.start_soon(anyio.sleep_forever, name="idle")


class Main:
    def __await__(self):
        return main().__await__()


async def start():
    await Main()


anyio.run(start)
"""


async def test_a_task_of_anyio_goes_on_where_its_group_was_opened_and_through_async_generators(
    tmp_path: Path,
) -> None:
    p = written(tmp_path, "groups.py", GROUPS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program=str(p), python=sys.executable,
            breakpoints=[p.at("load", condition="item == 2")],
        )  # fmt: skip
        listed = (await ask(c, "dap_stacktrace", levels=100))["frames"]
        # At the second page its parent waits already, at the end of the group's block.
        functions = [each["function"] for each in listed if each.get("file") == str(p)]
        assert functions == ["load", "pages", "feed", "opened", "main", "start", "<module>"]
        assert "(task feeding, awaited by task __main__.start)" in stop["stack"]
        rows = {row.split()[0]: row for row in (await ask(c, "dap_threads"))["tasks"]}
        assert f" at groups.py:{p.line('load')} in load [frame_id" in rows["feeding"]
        for task in ("feeding", "idle"):
            assert rows[task].endswith("; awaited by __main__.start")
        assert f" at groups.py:{p.line('group')} in opened, inside " in rows["__main__.start"]
        assert "awaited" not in rows["__main__.start"]


async def test_frames_of_libraries_are_counted_in_a_stack_and_listed_when_they_are_asked_for(
    tmp_path: Path,
) -> None:
    text = "import re\n\n\ndef change(found):\n    return '!'  # @change\n\n\n"
    text += "import contextlib\nstack = contextlib.ExitStack()\n"
    text += "stack.callback(re.sub, 'a', change, 'a')\nstack.close()  # @close\n"
    p = written(tmp_path, "exits.py", text)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("change")])
        listed = (await read(c, "dap_stacktrace")).splitlines()
        assert [line.split(" [")[0] for line in (listed[0], listed[-1])] == [
            f"#0 change exits.py:{p.line('change')}",
            f"#{listed[-1].split()[0][1:]} <module> exits.py:{p.line('close')}",
        ]
        (folded,) = listed[1:-1]
        number = int(folded.split()[3])
        assert folded == f"#1 to #{number} {number} frames of Python's library: start_frame=1"
        unfolded = (await read(c, "dap_stacktrace", start_frame=1)).splitlines()
        assert unfolded[0] == f"{number} frames of Python's library:"
        assert unfolded[1].startswith("#1 sub ")
        frame = int(unfolded[1].rpartition("frame_id ")[2].rstrip("]"))
        assert await evaluate(c, "pattern", frame_id=frame) == "'a'"


async def test_source_without_a_line_shows_the_place_while_the_program_is_stopped_in_that_file(
    tmp_path: Path,
) -> None:
    text = "\n" * 200 + "def inner():\n    return 1  # @inner\n" + "\n" * 200
    text += "inner()  # @call\n"
    p = written(tmp_path, "long.py", text)
    other = written(tmp_path, "other.py", "first = 1\n" * 90)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "   1 first" in await read(c, "dap_source", filename=str(other))
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        for asked in ({}, {"filename": "long.py"}, {"line": p.line("inner") - 3}):
            shown = await read(c, "dap_source", count=9, **asked)
            assert f"→ {p.line('inner')}     return 1" in shown
        assert "→" not in await read(c, "dap_source", filename=str(other))
        # While it runs, a file is shown from its beginning.
        await read(c, "dap_continue")
        assert "\n  1" in await read(c, "dap_source", filename=str(p), count=3)


@pytest.mark.parametrize("how", ["script", "spawn"])
async def test_child_processes_tell_whole_stacks_and_nothing_of_what_has_started_them(
    how: str,
) -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=[how], breakpoints=[p.at("child")])
        own, *others = stop["stack"]
        assert own == f"child fixtures/programs/children.py:{p.line('child')}"
        if how == "spawn":
            (library,) = others
            assert re.fullmatch(r"\d+ frames of Python's library", library)
        else:
            assert [line.split()[0] for line in others] == ["main", "<module>"]
        assert "'dapeer_debuggee.stacks.stacks'" in await evaluate(
            c, "[m for m in __import__('sys').modules if m.startswith('dapeer_debuggee')]"
        )
        await read(c, "dap_terminate")


DEEP_C = """
static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) {
    if (n == 0)
        return 1; // @bottom
    return odd(n - 1);
}
int main(void) {
    return even(300); // @main
}
"""
DEEP_GO = """package main

func odd(n int) int {
	return even(n - 1)
}

func even(n int) int {
	if n == 0 {
		return 1 // @bottom
	}
	return odd(n - 1)
}

func main() {
	even(300) // @main
}
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "delve"])
async def test_a_stack_that_is_cut_shows_the_outermost_frame_and_says_how_many_are_left_out(
    tmp_path: Path, adapter: str
) -> None:
    needs(adapter)
    if adapter == "delve":
        source = written(tmp_path, "deep.go", DEEP_GO).path
        p = Program(source, Path(go_built(source, tmp_path)))
    else:
        p = compiled("", tmp_path, written(tmp_path, "deep.c", DEEP_C).path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=[p.at("bottom")])
        *inner, gap, outermost = stop["stack"]
        assert len(inner) == 5
        assert inner[0].endswith(f":{p.line('bottom')}")
        assert re.search(rf"main {p.source.name}:{p.line('main')} \[\d+\]$", outermost)
        # What runs main is left out, too.
        left = int(gap.split()[1])
        listed = await ask(c, "dap_stacktrace", start_frame=296, levels=100)
        assert left == listed["total_frames"] - 6
        assert gap.endswith(" more: dap_stacktrace start_frame=5")
