"""Breakpoints that do not become what was asked for: the answer in which it matters says so, once."""

import asyncio
import json.decoder
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dapeer.sessions.outcomes import UNFOLLOWED, UNMET
from tests.harness import ask, client, has_all, needs, read
from tests.processes import LIMIT
from tests.programs import PROGRAMS, program

C_FILE = {"filename": str(PROGRAMS / "loop.c"), "line": 9}


async def test_the_end_names_the_breakpoints_that_were_not_hit() -> None:
    p, other = program("loop.py"), program("shop.py")
    wanted = [p.at("inner", condition="value == 3"), p.at("inner_return", condition="value == 99")]
    wanted += [other.at("order_ready"), p.at("call", log_message="round")]
    wanted += [p.at("middle", condition="value == 99", log_message="never")]
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=wanted)
        assert (stop["line"], "breakpoints" in stop) == (p.line("inner"), False)
        end = await ask(c, "dap_continue")
        missed = [f"loop.py:{p.line(name)}" for name in ("inner_return", "middle")]
        missed += [f"shop.py:{other.line('order_ready')}"]
        assert end["breakpoints"] == {"not hit": missed}
        assert f"\nNot hit: {', '.join(missed)}" in await read(c, "dap_snapshot")


FORKS = """\
#include <sys/wait.h>
#include <unistd.h>
int child(int n) {
  return n * 2;
}
int main(void) {
  int status;
  if (fork() == 0) _exit(child(4));
  wait(&status);
  return WEXITSTATUS(status) == 8 ? system("./other") : 1;
}
"""


IN_LIBRARY = """\
int spawn(int (*what)(int)) {
  int status;
  if (fork() == 0) _exit(what(4));
  wait(&status);
  return WEXITSTATUS(status);
}
"""


def compile_forks(folder: Path, *, in_library: bool) -> None:
    """Compile a program that forks, itself or in a library, to run line 5 of `forks.c`."""
    text, libraries = "#include <stdlib.h>\n" + FORKS, list[str]()
    if in_library:
        head, _, rest = FORKS.partition("int child")
        (folder / "spawns.c").write_text(head + IN_LIBRARY)
        own, libraries = rest.partition("int main")[0], [str(folder / "spawns.so")]
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "spawns.c", "-o", *libraries], cwd=folder, check=True
        )
        text = f"int spawn(int (*)(int));\n\n\nint child{own}int main(void) {{ return spawn(child) != 8; }}\n"
    (folder / "forks.c").write_text(text)
    (folder / "inner.c").write_text("int main(void) { return 0; }\n")
    for name, more in (("forks", ["forks", *libraries]), ("inner", ["other"])):
        subprocess.run(["gcc", "-g", f"{name}.c", "-o", *more], cwd=folder, check=True)


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb", "bash-dap", "perl"])
async def test_where_another_process_may_have_come_to_it_the_answer_says_so(
    tmp_path: Path, adapter: str
) -> None:
    needs(adapter)
    beside, started = " (or in a process that it started: {} follows none)", "inner.c:1"
    if adapter == "bash-dap":
        (tmp_path / "inner.sh").write_text("echo inner\n")
        (tmp_path / "main.sh").write_text("bash inner.sh\n")
        wanted, program = ["inner.sh:1"], "main.sh"
    elif adapter == "perl":
        (tmp_path / "inner.pl").write_text("print 1;\nprint 2;\n")
        (tmp_path / "main.pl").write_text("system('perl', 'inner.pl');\nprint 3;\n")
        wanted, program, started = [], "main.pl", "inner.pl:2"
    else:
        await asyncio.to_thread(compile_forks, tmp_path, in_library=adapter != "codelldb")
        wanted, program = ["forks.c:5"], "forks"
    points = [each.split(":") for each in [*wanted, *([] if adapter == "bash-dap" else [started])]]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(
            c,
            "dap_run",
            type=adapter,
            program=program,
            breakpoints=[{"filename": file, "line": int(line)} for file, line in points],
        )
        unmet = f"{started} ({adapter} {UNMET}{UNFOLLOWED})"
        assert end["breakpoints"].get("not hit", []) == [
            each + beside.format(adapter) for each in wanted
        ]
        assert end["breakpoints"].get("never bound", [unmet]) == [unmet]


async def test_who_terminates_a_program_is_told_what_it_has_not_come_to() -> None:
    p = program("loop.py")
    wanted = [p.at("inner"), p.at("after_loop"), p.at("middle_return", log_message="m")]
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=wanted)
        missed = f"loop.py:{p.line('middle_return')}, loop.py:{p.line('after_loop')}"
        assert await read(c, "dap_terminate") == f"Session 1 ended.\nNot hit: {missed}"
        assert await read(c, "dap_snapshot") == "Ended by dap_terminate"
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")], fresh=True)
        assert await read(c, "dap_terminate") == "Session 2 ended."


async def test_an_error_that_ends_the_program_names_them_before_its_end(tmp_path: Path) -> None:
    path = tmp_path / "fails.py"
    path.write_text("def later():\n    return 1\n\n1 / 0\nlater()\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        wanted = [{"filename": str(path), "line": 2}]
        stop = await ask(c, "dap_run", program=str(path), breakpoints=wanted)
        assert (stop["reason"], stop["breakpoints"]) == ("exception", {"not hit": ["fails.py:2"]})
        # An error of another thread, or of a test, ends no program.
        path.write_text(
            "import threading\n\ndef fail():\n    1 / 0\n\nthread = threading.Thread(target=fail)\n"
            "thread.start()\nthread.join()\nprint('later')\n"
        )
        wanted = [{"filename": str(path), "line": 9}]
        stop = await ask(c, "dap_run", program=str(path), breakpoints=wanted, fresh=True)
        assert (stop["reason"], "breakpoints" in stop) == ("exception", False)
        assert (await ask(c, "dap_continue"))["line"] == 9


async def test_one_in_a_file_that_the_adapter_does_not_debug_is_rejected_at_once() -> None:
    p = program("loop.py")
    place = "loop.c:9 (debugpy debugs no such files; debug the program that they are of by itself)"
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        wanted = [p.at("after_loop"), C_FILE]
        start = {"program": str(p), "breakpoints": wanted, "follow_children": False}
        stop = await ask(c, "dap_run", **start)
        assert stop["breakpoints"] == {"rejected": [place]}
        assert "breakpoints" not in await ask(c, "dap_step_over")
        # The reason was told.
        assert (await ask(c, "dap_continue"))["breakpoints"] == {"never bound": ["loop.c:9"]}


async def test_one_in_a_file_of_another_language_waits_for_a_child_of_it() -> None:
    needs("gdb")
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("after_loop"), C_FILE])
        place = "loop.c:9 (no child of that language is debugged yet)"
        assert stop["breakpoints"] == {"pending": [place]}
        assert "breakpoints" not in await ask(c, "dap_step_over")
        (never,) = (await ask(c, "dap_continue"))["breakpoints"]["never bound"]
        assert never.startswith("loop.c:9")


async def test_one_that_the_adapter_refuses_is_told_with_its_reason() -> None:
    library = {"filename": json.decoder.__file__, "line": 350}
    async with asyncio.timeout(LIMIT), client() as c:
        code = "import json\njson.loads('{}')"
        python = sys.executable
        end = await ask(c, "dap_run", code=code, python=python, breakpoints=[library])
        assert end["state"] == "ended"
        (said,) = end["breakpoints"]["never bound"]
        assert said.startswith(f"{json.decoder.__file__}:350 (")


async def test_one_on_a_line_without_code_is_told_to_have_moved_once() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        wanted = [p.at("inner"), p.at("comment")]
        stop = await ask(c, "dap_run", program=str(p), breakpoints=wanted)
        moved = f"loop.py:{p.line('comment')} → {p.line('main')}"
        assert stop["breakpoints"] == {"moved": [moved]}
        assert "breakpoints" not in await ask(c, "dap_continue")


async def test_one_above_the_first_statement_goes_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "late.py").write_text("\nimport os\nprint(os.sep)\n", "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = [{"filename": "late.py", "line": 1}]
        stop = await ask(c, "dap_run", program="late.py", breakpoints=at)
        assert (stop["line"], stop["breakpoints"]) == (2, {"moved": ["late.py:1 → 2"]})


async def test_what_was_set_before_the_start_is_meant_and_what_is_left_of_another_is_not() -> None:
    one, two = program("loop.py"), program("shop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=str(one), breakpoints=[one.at("inner", condition="False")])
        end = await ask(c, "dap_run", code="print(1)")
        assert "breakpoints" not in end
        await ask(c, "dap_set_breakpoint", **two.at("order_ready"))
        end = await ask(c, "dap_run", code="print(2)")
        assert end["breakpoints"] == {"not hit": [f"shop.py:{two.line('order_ready')}"]}
        # A program that is started again means the same.
        assert (await ask(c, "dap_restart"))["breakpoints"] == end["breakpoints"]


async def test_one_in_a_file_that_is_never_loaded_is_pending_and_never_bound(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    (tmp_path / "never.js").write_text("console.log(1);\n")
    (tmp_path / "main.js").write_text("console.log(2);\nconsole.log(3);\n")
    wanted = [{"filename": "never.js", "line": 1}, {"filename": "main.js", "line": 1}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="main.js", breakpoints=wanted)
        told = "never.js:1 (js-debug has reported no code of it yet)"
        assert stop["breakpoints"] == {"pending": [told]}
        assert "breakpoints" not in await ask(c, "dap_step_over")
        never = ["never.js:1 (js-debug has reported no code of it)"]
        assert (await ask(c, "dap_continue"))["breakpoints"] == {"never bound": never}


ENDS = """
import atexit, threading
class Left:
    def __del__(self):
        x = 1  # never_seen
left = Left()
def at_end():
    y = 2  # at_end
atexit.register(at_end)
def steps():
    yield 1
    yield 2
def works():
    begun.set()
    threading.Event().wait()
def idle():
    z = 3  # idle
begun = threading.Event()
half = steps(); next(half)
threading.Thread(target=works, daemon=True).start()
begun.wait()
"""


async def test_what_was_called_and_goes_on_or_runs_at_the_very_end_is_not_said_to_have_been_left_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ends.py"
    path.write_text(ENDS)
    lines = [n for n, each in enumerate(ENDS.splitlines(), 1) if "  # " in each]
    points = [{"filename": "ends.py", "line": each} for each in lines]
    points += [{"calls": ["steps", "works", "idle", "Left.__del__"]}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="ends.py", breakpoints=points)
        assert stop["line"] == lines[1]
        told = (await ask(c, "dap_continue"))["breakpoints"]
        assert told["never ended"] == ["steps", "works"]
        assert told["never called"][0].startswith("idle")
        assert told["never called"][1].startswith(
            "Left.__del__ (unless while the interpreter ended"
        )
        assert ["unless while" in each for each in told["not hit"]] == [True, False]


TRACES = """
import sys
from importlib.util import find_spec
def called():
    return 1
sys.settrace(lambda *_: None)
called()
"""


async def test_a_tracer_of_the_programs_own_is_the_cause_of_what_is_not_seen(
    tmp_path: Path,
) -> None:
    if sys.version_info >= (3, 12):
        pytest.skip("needs Python 3.11: later ones have room for both")
    (tmp_path / "traces.py").write_text(TRACES)
    points = [{"filename": "traces.py", "line": 5}, {"calls": ["called"]}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await read(
            c, "dap_run", program="traces.py", breakpoints=points, python=sys.executable
        )
        assert has_all(
            end, "traces.py:5 (or not seen: tracing failed)", "called (or not seen",
            "sys.settrace or coverage took the debugger's place",
        )  # fmt: skip
        # debugpy's own warning is no output of the program.
        assert "PYDEV DEBUGGER WARNING" not in end


LATE = "package Late;\nsub double {\n    my $n = shift;\n    my $twice = $n * 2;\n    return $twice;\n}\n1;\n"


@pytest.mark.parametrize("loads", ["use lib 'lib'; use Late;", "require './lib/Late.pm';"])
async def test_a_module_that_perl_loads_by_a_relative_name_is_found_by_its_breakpoints(
    loads: str, tmp_path: Path
) -> None:
    needs("perl")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/Late.pm").write_text(LATE)
    (tmp_path / "main.pl").write_text(
        f"my $begins = 1;\n{loads}\nmy $sum = Late::double(1);\nprint join(',', __FILE__, $ENV{{PERL5OPT}} // 'none'), \"\\n\";\n"
    )
    at = {"filename": "lib/Late.pm", "line": 4}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="main.pl", breakpoints=[at])
        assert (stop["file"], stop["line"]) == (str(tmp_path / "lib/Late.pm"), 4)
        assert "→ 4     my $twice = $n * 2;" in stop["source"]
        # A later one is set in a file that is loaded.
        told = await read(c, "dap_set_breakpoint", filename="lib/Late.pm", line=5)
        assert told == "lib/Late.pm:5 verified | return $twice;"
        assert (await ask(c, "dap_continue"))["line"] == 5
        end = await ask(c, "dap_continue")
        assert end["output"].strip().endswith("main.pl,none")


def compiled_line() -> tuple[Path, int, str]:
    """Return a compiled file of SQLAlchemy, a line of a function in it, and the name of its extension."""
    built = find_spec("sqlalchemy") and find_spec("sqlalchemy.util._collections_cy")
    if built is None or not str(built.origin).endswith(".so"):
        pytest.skip("needs SQLAlchemy as it is built for this system: uv sync --group dev")
    source = Path(str(built.origin).partition(".cpython-")[0] + ".py")
    lines = source.read_text().splitlines()
    at = next(n for n, line in enumerate(lines, 1) if line.startswith("    def add(")) + 1
    return source, at, Path(str(built.origin)).name


async def test_a_module_that_is_compiled_is_named_where_its_lines_are_not_hit(
    tmp_path: Path,
) -> None:
    source, line, name = compiled_line()
    (tmp_path / "part.pyx").write_text("def one():\n    return 1\n")
    text = "from sqlalchemy.util import OrderedSet\nheld = OrderedSet()\nheld.add(1)\n"
    (tmp_path / "main.py").write_text(text)
    points = [{"filename": str(source), "line": line}, {"filename": "part.pyx", "line": 2}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await read(c, "dap_run", program="main.py", just_my_code=False, breakpoints=points)
        assert f"{name} beside it is what Python imports: it is compiled" in end
        assert "part.pyx:2 (Cython compiles this file: nothing stops at its lines)" in end
