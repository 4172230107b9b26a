"""A process and its descendants are attached to in one call, and are one program."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.running import needs_ptrace
from tests.e2e.test_attach import needs_gdb
from tests.harness import ask, client, data, has_all, read, refusal, text
from tests.harness import call as call_tool
from tests.processes import LIMIT
from tests.programs import compiled

POOL = """
import os, subprocess, time
from concurrent.futures import ProcessPoolExecutor

def work(job):
    state = {"id": job, "step": 0}
    while True:
        state["step"] += 1
        time.sleep(0.02)

if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(work, number) for number in range(2)]
        subprocess.Popen(["sleep", "600"])
        print("ready", flush=True)
        [job.result() for job in jobs]
"""
FULL = """
import multiprocessing, threading

def draw(events):
    for number in range(3):
        events.put(number)
    print("ready", flush=True)
    events.put(3)

class Reader:
    def __init__(self, events):
        self.queue, self.lock = events, threading.Lock()

    def take(self):
        while True:
            self.queue.get()
            with self.lock:
                pass

def main():
    reader = Reader(multiprocessing.Queue(2))
    child = multiprocessing.Process(target=draw, args=(reader.queue,))
    child.start()
    threading.Thread(target=reader.take, name="reader", daemon=True).start()
    with reader.lock:
        child.join()

if __name__ == "__main__":
    main()
"""
FORKS = """
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int serve(int number) {
  int handled = 0;
  for (;;) { handled++; usleep(20000 + number); }
}
int main(void) {
  for (int n = 0; n < 2; n++) if (fork() == 0) return serve(n);
  puts("ready"); fflush(stdout);
  while (wait(NULL) > 0) {}
}
"""


@asynccontextmanager
async def serving(*command: object) -> AsyncGenerator[Process]:
    """Run a server of several processes in a process group of its own, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command), stdout=PIPE, start_new_session=True
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@needs_gdb
@needs_ptrace
async def test_a_script_reads_a_value_of_each_process_of_a_pool(tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    code = """
workers = d.attach(pid={pid}, tree=True)
print(workers[0].answer)
for worker in workers[1:]:
    worker.pause()
    where = next(each for each in worker.stacktrace().data["frames"] if each.get("function") == "work")
    print("job", worker.evaluate(["state['id']"], frame_id=where["frame_id"]).data["result"])
"""
    async with (
        asyncio.timeout(LIMIT),
        serving(sys.executable, tmp_path / "pool.py") as server,
        client(tmp_path) as c,
    ):
        answer = await read(c, "dap_script", code=code.format(pid=server.pid), timeout_ms=100_000)
        assert server.returncode is None
    lines = [line.strip() for line in answer.splitlines()]
    assert lines[1] == "3 processes are attached to, as one program:"
    assert lines[2].startswith(f"session 1: pid {server.pid}, running: ")
    assert ", child of 1, running: " in lines[3]
    assert ", child of 1, running: " in lines[4]
    assert "(sleep 600): it is of another language" in lines[5]
    assert sorted(each for each in lines if each.startswith("job ")) == ["job 0", "job 1"]


@needs_gdb
@needs_ptrace
@pytest.mark.parametrize("paused", [False, True])
async def test_a_hang_names_what_another_process_waits_for_and_who_has_the_same_queue(
    tmp_path: Path, *, paused: bool
) -> None:
    (tmp_path / "full.py").write_text(FULL)
    async with (
        asyncio.timeout(LIMIT),
        serving(sys.executable, tmp_path / "full.py") as server,
        client(tmp_path) as c,
    ):
        how = {"request": "attach", "pid": server.pid, "tree": True}
        answer = await read(c, "dap_run", **how)
        child = data(await call_tool(c, "dap_status"))["sessions"][1]["pid"]
        if paused:
            answer = await read(c, "dap_pause", session_id=1)
        lines = [line.strip() for line in answer.splitlines()]
        assert (
            "thread reader waits for Lock self.lock, held by thread MainThread since full.py:25"
            in lines
        )
        end = f"thread MainThread waits for Process child, for the end of process {child}"
        assert paused or end in lines
        other = (
            f"process {child} (session 2): thread MainThread waits for multiprocessing Queue events, for room; it is full, 2 of 2, "
            f"thread MainThread of process {server.pid} (session 1) has it: reader.queue, full.py:26 in main; "
            f"thread reader of process {server.pid} (session 1) has it: self.queue, full.py:17 in take"
        )
        assert other in lines


@needs_gdb
@needs_ptrace
async def test_the_processes_of_a_pool_are_a_group_with_one_answer_for_equal_values(
    tmp_path: Path,
) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    async with (
        asyncio.timeout(LIMIT),
        serving(sys.executable, tmp_path / "pool.py") as server,
        client(tmp_path) as c,
    ):
        await read(c, "dap_run", request="attach", pid=server.pid, tree=True)
        group = f"pid {server.pid}"
        assert f"group {group}: 1\N{EN DASH}3 running" in await read(c, "dap_status")
        paused = await read(c, "dap_pause", group=group)
        assert has_all(paused, "Stopped (pause) at pool.py:", "in work")
        one = await read(c, "dap_evaluate", expressions=["__name__"], group=group)
        assert has_all(one, "__name__ = '__main__'\n", "not asked: 1 running")
        assert (await read(c, "dap_stacktrace", group=group)).count("pool.py:7") == 1
        assert await read(c, "dap_disconnect", session_id=1)
        assert server.returncode is None


@needs_gdb
@needs_ptrace
async def test_a_server_in_c_that_forks_is_stopped_by_a_breakpoint_in_any_child(
    tmp_path: Path,
) -> None:
    (tmp_path / "forks.c").write_text(FORKS)
    built = compiled("forks.c", tmp_path, tmp_path / "forks.c").path
    breakpoints = [{"filename": "forks.c", "line": 7}]
    async with (
        asyncio.timeout(LIMIT),
        serving(built) as server,
        client(tmp_path) as c,
    ):
        how = {"request": "attach", "pid": server.pid, "tree": True, "breakpoints": breakpoints}
        result = await call_tool(c, "dap_run", **how)
        assert "3 processes are attached to" in text(result)
        assert "forks.c:7 in serve" in text(result)
        assert len(data(result)["members"]) == 3
        # They end together, and the server lives on.
        await read(c, "dap_disconnect", session_id=1)
        rows = (await ask(c, "dap_status"))["sessions"]
        assert {row["state"] for row in rows} == {"ended"}
        assert server.returncode is None


@needs_gdb
@needs_ptrace
async def test_a_process_that_cannot_be_attached_to_is_named_and_the_others_stay(
    tmp_path: Path,
) -> None:
    (tmp_path / "forks.c").write_text(FORKS)
    built = compiled("forks.c", tmp_path, tmp_path / "forks.c").path
    async with asyncio.timeout(LIMIT), serving(built) as server, client(tmp_path) as c:
        folder = Path(f"/proc/{server.pid}/task/{server.pid}")
        held = int((folder / "children").read_text().split()[0])
        async with client(tmp_path) as other:
            await read(other, "dap_run", request="attach", pid=held)
            result = await call_tool(c, "dap_run", request="attach", pid=server.pid, tree=True)
            assert "2 processes are attached to" in text(result)
            assert text(result).count(f"not attached: {held} (") == 1
            assert len(data(result)["members"]) == 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"program": "pool.py"}, "Give the `pid` of the process."),
        ({"pid": 1, "where": "nvim"}, "Leave `where` out, or `tree`."),
    ],
)
async def test_a_tree_of_no_process_is_refused(
    how: dict[str, object], said: str, tmp_path: Path
) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    async with client(tmp_path) as c:
        assert said in await refusal(c, "dap_run", tree=True, **how)
