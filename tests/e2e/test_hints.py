"""What went wrong is told with what to do about it, where it went wrong."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from dapeer.adapters.definition.definition import load_all, shipped
from tests.harness import ask, call, client, read, refusal, text
from tests.processes import LIMIT
from tests.programs import program

HERE = {"python": sys.executable}
LIBRARY = str(json.__file__)
CALLS_LIBRARY = "import json\ntext = json.dumps({1: [2]}, sort_keys=True)\nprint(text)\n"


def line_in_library() -> int:
    """Return a line of `json.dumps` that is run when keys are sorted."""
    lines = Path(LIBRARY).read_text().splitlines()
    return max(n for n, line in enumerate(lines, 1) if line.strip() == "cls = JSONEncoder")


@pytest.mark.parametrize("filters", [None, []], ids=["stopped", "ended"])
async def test_a_missing_module_tells_which_interpreter_lacks_it_and_so_does_the_status_of_a_living_session(
    filters: list[str] | None, tmp_path: Path
) -> None:
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        asked = {"code": "import no_such_module", "exception_filters": filters}
        said = await read(c, "dap_run", **HERE, **asked)
        assert "No module named 'no_such_module'" in said
        assert said.count(f"The interpreter is {sys.executable}; `python` chooses another.") == 1
        status = await ask(c, "dap_status")
        assert status["sessions"][0]["interpreter"] == sys.executable
        # A session that has ended is told in few words.
        ended = filters == []
        assert (sys.executable in await read(c, "dap_status")) is not ended


async def test_a_module_to_run_that_is_missing_tells_the_interpreter(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", module="no_such_module", **HERE)
        assert "No module named no_such_module" in said
        assert f"The interpreter is {sys.executable}" in said


async def test_a_program_that_needs_a_terminal_is_told_to_be_given_one(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text("import os\nprint(os.get_terminal_size(0))\n")
    hint = "The program has no terminal; terminal=true gives it one."
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert hint in await read(c, "dap_run", program="asks.py", **HERE)
        assert "os.terminal_size(" in await read(
            c, "dap_run", program="asks.py", terminal=True, **HERE
        )


async def test_library_code_that_is_passed_by_tells_the_argument_that_enters_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(CALLS_LIBRARY)
    wanted = [
        {"filename": "main.py", "line": 2},
        {"filename": LIBRARY, "line": line_in_library()},
    ]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="main.py", breakpoints=wanted, **HERE)
        refused = "library code is skipped: dap_run with just_my_code=false stops there"
        assert refused in await read(c, "dap_breakpoints")
        into = await read(c, "dap_step_into")
        assert "dap_run with just_my_code=false steps into it" in into
        assert "launch.json" not in into
        await ask(c, "dap_terminate")
        asked = {"program": "main.py", "just_my_code": False}
        assert (await ask(c, "dap_run", **asked, **HERE))["line"] == 2
        stop = await ask(c, "dap_continue")
        assert (stop["file"], stop["line"]) == (LIBRARY, line_in_library())


async def test_an_adapter_that_knows_no_libraries_refuses_the_argument() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        asked = {"program": str(program("hello.sh")), "just_my_code": False, "type": "bash-dap"}
        assert "does not support `just_my_code`" in await refusal(c, "dap_run", **asked)


def test_node_has_code_of_its_own_that_is_not_passed_by_then() -> None:
    definition = load_all(shipped())["js-debug"]
    asked: dict[str, object] = {"program": "/x.js", "project": "/"}
    assert definition.arguments("launch", asked, {})["skipFiles"] != []
    asked["just_my_code"] = False
    assert definition.arguments("launch", asked, {})["skipFiles"] == []


async def test_a_program_that_finds_no_input_tells_of_the_terminal(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", code="input('name? ')", **HERE)
        assert "EOFError" in said
        assert "with terminal=true it has a terminal" in said


async def test_a_statement_tells_the_context_that_runs_it() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")], **HERE)
        assert "context=repl" in await refusal(c, "dap_evaluate", expression="value = 3")
        assert "context=repl" not in await refusal(c, "dap_evaluate", expression="nowhere")
        wrong = await call(c, "dap_evaluate", expression="value = = 3", context="repl")
        assert "context=repl" not in text(wrong)


async def test_a_file_of_tests_that_ran_as_a_program_tells_how_its_tests_run(
    tmp_path: Path,
) -> None:
    path = tmp_path / "test_cart.py"
    path.write_text("def test_total():\n    assert 1 == 2\n", encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program=str(path), type="python", **HERE)
        assert said.startswith("Ended, exit code 0\n")
        assert "program=FILE:: runs the tests of a file" in said


TEMPLATE = """
class Template:
    filename, _debug_info, debug_info = "page.html", "2=8", [(2, 8)]
made = "\\n" * 5 + "def root(context):\\n    l_0_item = 'tea'\\n    yield l_0_item\\n"
names = {"__jinja_template__": Template, "__name__": "made"}
exec(compile(made, "page.html", "exec"), names)
print(*names["root"]({}))
"""


async def test_a_line_of_a_template_stops_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>\n{{ item }}\n</p>\n" * 3)
    (tmp_path / "shop.py").write_text(TEMPLATE)
    at = {"filename": "page.html", "line": 2}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        # The code that is made of the template has a line 8, and the template has nothing there that runs.
        wanted = [at, {"filename": "page.html", "line": 8}]
        stop = await ask(c, "dap_run", program="shop.py", breakpoints=wanted, **HERE)
        assert (stop["line"], stop["locals"]["item"], stop.get("notes")) == (2, "'tea'", None)
        end = await ask(c, "dap_continue")
        assert end["exit_code"] == 0
        rows = {"program": "shop.py", "breakpoints": [{**at, "collect": ["item"]}], "fresh": True}
        end = await ask(c, "dap_run", **rows, **HERE)
        assert "in a template of Jinja a `log_message`" in end["breakpoints"]["never bound"][0]
        (tmp_path / "shop.py").write_text("print()\n")
        asked = {"program": "shop.py", "breakpoints": [at], "fresh": True}
        end = await ask(c, "dap_run", **asked, **HERE)
        assert 'one of Django stops with config={"django": true}' in str(end["breakpoints"])
