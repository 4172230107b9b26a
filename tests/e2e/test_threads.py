"""Programs of more than one thread."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.harness import FAKE_PROGRAM, ask, client, fake, has_all, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import Program, compiled, program

# Each thread waits for the other: the worker stops within the step, always.
TWO_C = """
#include <pthread.h>
#include <unistd.h>
static volatile int begun, seen;
static void *work(void *argument) {
    while (!begun) usleep(1000);
    seen = 1; // @worker
    return argument;
}
static int slow(void) {
    begun = 1;
    while (!seen) usleep(1000);
    return seen;
}
int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    int got = slow(); // @step
    got++; // @after
    return pthread_join(worker, 0) + got - 2;
}
"""
TWO_JAVA = """
public class Two {
    static volatile boolean begun, seen;
    static void work() {
        while (!begun) Thread.onSpinWait();
        seen = true; // @worker
    }
    static int slow() {
        begun = true;
        while (!seen) Thread.onSpinWait();
        return 1;
    }
    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(Two::work, "worker");
        worker.start();
        int got = slow(); // @step
        got++; // @after
        worker.join();
    }
}
"""
TWO_GO = """package main

import "time"

func slow(begun, seen chan int) int {
	begun <- 1
	time.Sleep(time.Millisecond)
	return <-seen
}

func main() {
	begun, seen := make(chan int), make(chan int)
	go func() {
		got := <-begun
		seen <- got // @worker
	}()
	got := slow(begun, seen) // @step
	got++ // @after
	println(got)
}
"""
TWO_THREADS = [("gdb", "two.c", TWO_C), ("jdi", "Two.java", TWO_JAVA), ("delve", "two.go", TWO_GO)]


async def test_a_stop_in_a_worker_is_shown_in_the_worker() -> None:
    """Pitfall 13: thread 1 is not taken for granted."""
    p = program("worker.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("work")])
        assert (stop["line"], stop["function"]) == (p.line("work"), "work")
        stepped = await ask(c, "dap_step_over")
        assert (stepped["line"], stepped["thread_id"]) == (
            p.line("work_next"),
            stop["thread_id"],
        )
        assert stepped["locals"]["square"] == "49"
        assert (await ask(c, "dap_evaluate", expression="square"))["result"] == "49"
        assert "worker" in await read(c, "dap_threads")
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_another_thread_can_be_looked_at_by_its_id() -> None:
    p = program("worker.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("work")])
        threads = (await ask(c, "dap_threads"))["threads"]
        main = next(t for t in threads if t["thread_id"] != stop["thread_id"])
        frames = (await ask(c, "dap_stacktrace", thread_id=main["thread_id"]))["frames"]
        assert "main" in [frame["function"] for frame in frames]
        assert "work" not in [frame["function"] for frame in frames]


WAITS = """
import threading

threading.Thread(target=threading.Event().wait, daemon=True, name="idle").start()
raise ValueError("no number")
"""


async def test_an_exception_is_that_of_its_thread_alone() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", code=WAITS)
        assert stop["exception"] == "ValueError: no number"
        threads = (await ask(c, "dap_threads"))["threads"]
        (idle,) = (t["thread_id"] for t in threads if t["thread_id"] != stop["thread_id"])
        said = await refusal(c, "dap_exception_info", thread_id=idle)
        assert f"The stop is that of thread {stop['thread_id']}, not of thread {idle}." in said
        known = await ask(c, "dap_exception_info", thread_id=stop["thread_id"])
        assert known["exception"] == "ValueError: no number"


async def test_a_deadlock_of_cpp_is_told_thread_by_thread_in_one_call(tmp_path: Path) -> None:
    needs("gdb")
    p = compiled("deadlock.cpp", tmp_path, options=("-pthread",))
    held = [p.line("blocked"), p.line("blocked"), p.line("waiting")]
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), type="gdb", wait_until_paused=False)
        places: list[int] = []
        while places != held:
            await ask(c, "dap_pause")
            assert (await ask(c, "dap_wait_until_paused"))["state"] == "stopped"
            threads = (await ask(c, "dap_threads"))["threads"]
            places = sorted(thread.get("line", 0) for thread in threads)
            await ask(c, "dap_continue", wait_until_paused=False)
        await ask(c, "dap_terminate")


async def test_two_threads_that_stop_are_each_stepped_by_their_id() -> None:
    """Pitfall 13: two threads stopped; the step goes to the right one."""
    p = program("threads.py")
    async with asyncio.timeout(LIMIT), client() as c:
        first = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("work")])
        name = first["locals"]["name"]
        stepped = await ask(c, "dap_step_over", thread_id=first["thread_id"])
        seen = {first["thread_id"]: name}
        while stepped["thread_id"] != first["thread_id"] or stepped["line"] == p.line("work"):
            seen[stepped["thread_id"]] = stepped["locals"]["name"]
            stepped = await ask(c, "dap_step_over", thread_id=first["thread_id"])
        assert stepped["locals"]["name"] == name
        assert len(set(seen.values())) == len(seen)


async def test_thread_id_zero_is_a_thread(settings: Path) -> None:
    stopped = {"reason": "pause", "threadId": 0}
    adapter = fake(
        settings,
        {
            "configurationDone": ["ok", {"event": ["stopped", stopped]}],
            "threads": [{"respond": {"threads": [{"id": 0, "name": "zero"}]}}],
            "launch": [{"event": ["initialized"]}, "ok"],
        },
    )
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (stop["thread_id"], stop["line"]) == (0, 1)
        await ask(c, "dap_step_over")
        step = next(r for r in adapter.requests() if r["command"] == "next")
        assert step["arguments"]["threadId"] == 0


async def test_a_stop_that_names_no_thread_takes_the_first_one(settings: Path) -> None:
    adapter = fake(
        settings,
        {
            "configurationDone": ["ok", {"event": ["stopped", {"reason": "pause"}]}],
            "threads": [{"respond": {"threads": [{"id": 42, "name": "only"}]}}],
            "launch": [{"event": ["initialized"]}, "ok"],
        },
    )
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (stop["state"], stop["line"]) == ("stopped", 1)
        await ask(c, "dap_step_over")
        step = next(r for r in adapter.requests() if r["command"] == "next")
        assert step["arguments"]["threadId"] == 42


async def test_a_thread_that_does_not_exist_is_refused_before_anything_is_sent(
    settings: Path,
) -> None:
    adapter = fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "77" in await refusal(c, "dap_step_over", thread_id=77)
        assert "next" not in adapter.commands()


async def test_gdb_s_words_on_threads_are_not_told_as_what_the_program_prints(
    tmp_path: Path,
) -> None:
    needs("gdb")
    p = compiled("deadlock.cpp", tmp_path, options=("-pthread",))
    async with asyncio.timeout(LIMIT), client() as c:
        places = [{"filename": str(p.source), "line": p.line("blocked")}]
        stop = await ask(c, "dap_run", program=str(p.path), type="gdb", breakpoints=places)
        assert stop["reason"] == "breakpoint"
        other = await ask(c, "dap_continue")
        assert other["thread_id"] != stop["thread_id"]
        assert "output" not in other
        assert "hread" not in (await ask(c, "dap_program_output"))["text"]


@pytest.mark.parametrize(("adapter", "name", "text"), TWO_THREADS)
async def test_a_step_that_another_thread_interrupts_names_both_and_the_call_that_goes_on(
    tmp_path: Path, adapter: str, name: str, text: str
) -> None:
    needs(adapter)
    source = tmp_path / name
    source.write_text(text)
    p = (
        compiled(name, tmp_path, source, ["-pthread"])
        if adapter == "gdb"
        else Program(source, source)
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        places = [p.at("step"), p.at("worker")]
        first = await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=places)
        assert first["line"] == p.line("step")
        other = await ask(c, "dap_step_over")
        main, worker = first["thread_id"], other["thread_id"]
        assert (other["line"], worker == main) == (p.line("worker"), False)
        (note,) = (each for each in other["notes"] if "is not done" in each)
        goes_on = f"dap_step_over(thread_id={main}) goes on"
        assert has_all(note, f"the step of thread {main} ", f"for thread {worker} ", goes_on)
        done = await ask(c, "dap_step_over", thread_id=main)
        assert (done["line"], done["thread_id"]) == (p.line("after"), main)


async def test_a_frame_of_a_waiting_task_is_read_at_a_stop_by_the_id_that_is_listed(
    tmp_path: Path,
) -> None:
    (tmp_path / "tasks.py").write_text(
        "import asyncio\n\nasync def child(n):\n    mine = n * 10\n    await asyncio.sleep(30)\n\n"
        "async def main():\n    task = asyncio.create_task(child(4))\n    await asyncio.sleep(0.01)\n    print(task.done())\n\n"
        "asyncio.run(main())\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "tasks.py", "line": 10}
        await ask(c, "dap_run", program="tasks.py", breakpoints=[at])
        listed = await read(c, "dap_threads")
        (frame,) = re.findall(r"child\(\) at .* \[frame_id (\d+)\]", listed)
        told = await read(c, "dap_evaluate", expressions=["mine"], frame_id=int(frame))
        assert told.split()[0] == "40"
        assert "mine = 40" in await read(c, "dap_variables", frame_id=int(frame))
        scopes = await read(c, "dap_scopes", frame_id=int(frame))
        assert scopes.strip() == f"Locals: dap_variables(frame_id={frame})"
        # The stop itself is what is looked at without an id.
        assert "task: Task" in await read(c, "dap_variables")


ROOMS = """\
import threading

door, begun = threading.Event(), threading.Barrier(3)

def wait(number):
    double = number * 2
    begun.wait()
    door.wait()

threads = [threading.Thread(target=wait, args=(n,), name=f"room {n}") for n in (1, 2)]
for each in threads:
    each.start()
begun.wait()
print("all are there")
door.set()
"""
ROOMS_IN_C = """\
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *wait_there(void *p) { int twice = *(int *)p * 2; sleep(60); return p + twice; }
int main(void) {
  pthread_t t; int n = 2; pthread_create(&t, 0, wait_there, &n); usleep(200000);
  puts("all are there");
  return 0;
}
"""


async def test_a_stopped_threads_frame_is_named_and_evaluated_without_another_call(
    tmp_path: Path,
) -> None:
    (tmp_path / "rooms.py").write_text(ROOMS, "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="rooms.py", breakpoints=["rooms.py:14"])
        rows = (await ask(c, "dap_threads"))["threads"]
        waiting = next(row for row in rows if row["name"] == "room 2")
        assert f" [frame_id {waiting['frame_id']}]" in await read(c, "dap_threads")
        given = {"expression": "double", "frame_id": waiting["frame_id"]}
        assert (await ask(c, "dap_evaluate", **given))["result"] == "4"


async def test_a_stopped_threads_frame_is_named_under_gdb(tmp_path: Path) -> None:
    needs("gdb")
    source = tmp_path / "rooms.c"
    source.write_text(ROOMS_IN_C, "utf-8")
    p = compiled("rooms.c", tmp_path, source, ("-pthread",))
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "rooms.c", "line": 7}
        await ask(c, "dap_run", program=str(p), type="gdb", breakpoints=[at])
        rows = (await ask(c, "dap_threads"))["threads"]
        other = next(row for row in rows if row.get("function") == "wait_there")
        given = {"expression": "twice", "frame_id": other["frame_id"]}
        assert (await ask(c, "dap_evaluate", **given))["result"] == "4"
