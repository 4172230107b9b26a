"""The last that a program does, in each Python: `DAPEER_PYTHONS=all uv run pytest tests/matrix`."""

import asyncio
from pathlib import Path

from tests.harness import ask, client
from tests.matrix.interpreters import story
from tests.matrix.test_stories import written
from tests.processes import LIMIT
from tests.pythons import python_of

AT_EXIT = """
import atexit
import weakref


class Box:
    def __del__(self):
        print("gone")  # @teardown


def emptied(left):
    print("left", left)  # @finalized


def closed():
    print("closed")  # @closed
    raise ValueError("too late")


box = Box()
atexit.register(closed)
weakref.finalize(box, emptied, 3)
print("end")
"""


@story()
async def test_functions_at_exit_stop_at_breakpoints_and_the_program_ends_as_it_does(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "ends.py", AT_EXIT), python_of(version)
    seen = version != "3.8"  # Python 3.8 has no place for it
    points = [p.at("teardown"), p.at("finalized"), p.at("closed")]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = await ask(c, "dap_run", program=str(p), breakpoints=points, python=python)
        if seen:
            assert (told["line"], told["locals"]) == (p.line("finalized"), {"left": "3"})
            told = await ask(c, "dap_continue")
            # Python itself calls it.
            assert told["stack"] == [f"closed ends.py:{p.line('closed')}"]
            told = await ask(c, "dap_continue")
        assert (told["state"], told["exit_code"]) == ("ended", 0)
        unseen = [each for each in told["breakpoints"]["not hit"] if "unless while" in each]
        assert len(unseen) == (1 if seen else 3)
        printed = await ask(c, "dap_program_output", category="stdout")
        assert printed["text"] == "end\nleft 3\nclosed\ngone\n"
        complained = await ask(c, "dap_program_output", category="stderr")
        assert "too late" in complained["text"]
        assert "dapeer" not in complained["text"]


CRASHING = """
import ctypes


def crash(address):
    ctypes.string_at(address)  # @crash


crash(0)
"""


@story()
async def test_a_crash_in_c_code_says_where_python_was(tmp_path: Path, version: str) -> None:
    p = written(tmp_path, "crashing.py", CRASHING)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), python=python_of(version))
        # Who reaps the process first decides whether its exit code is all that dapeer has of it.
        assert end["cause"] in {"killed by SIGSEGV", "probably killed by SIGSEGV"}
        at = f"{p.source}:{p.line('crash')} in crash."
        assert end["notes"] == [f"It crashed in C code that was called at {at}"]


SPAWNED = """
import atexit
import multiprocessing


def closed():
    print("closed")  # @closed


def work():
    atexit.register(closed)


if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
"""


@story()
async def test_functions_at_the_exit_of_a_spawned_process_stop_at_breakpoints(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "spawns.py", SPAWNED), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("closed")], python=python)
        if version != "3.8":
            assert told["line"] == p.line("closed")
            told = await ask(c, "dap_continue")
        assert (told["state"], told["exit_code"]) == ("ended", 0)
        assert (await ask(c, "dap_program_output", category="stdout"))["text"] == "closed\n"
