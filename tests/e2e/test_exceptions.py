"""Programs that end by an exception, and how to stop at one."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.harness import ask, call, client, data, needs, read, refusal, text
from tests.processes import LIMIT
from tests.programs import PROGRAMS, compiled, program
from tests.pythons import python_of


async def test_an_unhandled_exception_stops_where_it_was_raised_and_then_ends_the_program() -> None:
    p = program("crash.py")
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(p))
        stop = data(result)
        assert stop["state"] == "stopped"
        assert stop["reason"].startswith("exception")
        assert stop["line"] == p.line("reraise")
        assert "RuntimeError" in stop["exception"]
        assert "cannot load 'forty-two'" in stop["exception"]
        assert "cannot load 'forty-two'" in text(result)
        assert stop["locals"]["text"] == "'forty-two'"
        # In full it is told with its cause.
        info = await read(c, "dap_exception_info")
        assert "RuntimeError" in info
        assert "ValueError" in info
        assert f"line {p.line('raise')}" in info
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        assert "RuntimeError" in (await ask(c, "dap_program_output", category="stderr"))["text"]


@pytest.mark.real
@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_an_unhandled_exception_stops_where_pydevd_has_no_tracing_of_its_own(
    version: str,
) -> None:
    """Python monitors for it since 3.12, and pydevd tells by the names of frames what is unhandled."""
    python = python_of(version)
    p = program("crash.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), python=python)
        assert (stop["state"], stop["line"]) == ("stopped", p.line("reraise"))
        stop = await ask(c, "dap_run", code="number = 0\n1 / number", python=python)
        assert (stop["state"], stop["line"]) == ("stopped", 2)


async def test_without_filters_an_exception_stops_nowhere() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(program("crash.py")), exception_filters=[])
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        assert "cannot load" in end["output"]


async def test_raised_exceptions_stop_where_they_are_raised() -> None:
    p = program("crash.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), exception_filters=["raised"])
        assert stop["reason"].startswith("exception")
        assert stop["line"] == p.line("raise")
        assert "ValueError" in stop["exception"]


async def test_filters_that_are_known_can_be_changed_while_the_program_is_stopped() -> None:
    p = program("crash.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("call")], exception_filters=[])
        # There is no exception yet.
        assert "breakpoint" in await refusal(c, "dap_exception_info")
        message = await refusal(c, "dap_set_exception_breakpoints", filters=["sometimes"])
        assert "sometimes" in message
        assert "uncaught" in message
        await read(c, "dap_set_exception_breakpoints", filters=["raised"])
        assert (await ask(c, "dap_continue"))["line"] == p.line("raise")


async def test_an_ended_session_gets_no_filters() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        ended = await ask(c, "dap_run", code="1")
        assert ended["state"] == "ended"
        told = await refusal(
            c, "dap_set_exception_breakpoints", filters=["raised"], session_id=ended["session_id"]
        )
        assert "has ended" in told
        assert (await ask(c, "dap_breakpoints"))["exception_filters"] == []
        await ask(c, "dap_set_exception_breakpoints", filters=["raised"])
        assert (await ask(c, "dap_breakpoints"))["exception_filters"] == ["raised"]


async def test_a_message_without_end_is_cut_in_each_place() -> None:
    code = "try:\n    raise ValueError('v' * 9999)\nexcept ValueError as error:\n    raise KeyError('k' * 9999) from error"
    async with asyncio.timeout(LIMIT), client() as c:
        assert len(await read(c, "dap_run", code=code)) < 1500
        told = await read(c, "dap_exception_info")
        assert len(told) < 4000
        assert told.count("… (") == 2


async def test_sys_exit_is_an_end_and_no_crash() -> None:
    """By itself, debugpy stops at SystemExit under every filter."""
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(program("exit3.py")))
        assert (data(result)["state"], data(result)["exit_code"]) == ("ended", 3)
        assert text(result).startswith("Ended, exit code 3")


async def test_a_failing_test_stops_at_its_assertion() -> None:
    p = program("failing_test.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", module="unittest", args=["failing_test"], cwd=str(PROGRAMS),
            exception_filters=["userUnhandled"],
        )  # fmt: skip
        assert stop["reason"].startswith("exception")
        assert "AssertionError" in stop["exception"]
        stack = "\n".join(stop["stack"])
        assert f"failing_test.py:{p.line('assert')}" in stack


async def test_a_segmentation_fault_under_gdb_is_a_stop_at_the_line(tmp_path: Path) -> None:
    p = compiled("crash.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p))
        assert stop["state"] == "stopped"
        assert stop["line"] == p.line("fault")
        assert "signal" in stop["reason"] or "SIGSEGV" in str(stop)


async def test_a_segmentation_fault_under_debugpy_is_an_end_that_names_the_signal() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(program("segfault.py")))
        assert data(result)["state"] == "ended"
        assert "SIGSEGV" in text(result)


@pytest.mark.parametrize("filters", [["nobody"], ["raised", "nobody"]])
async def test_a_filter_that_the_adapter_does_not_have_is_told_by_dap_run(
    filters: list[str],
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(
            c, "dap_run", program=str(program("crash.py")), exception_filters=filters
        )
        assert "nobody" in text(result)


async def test_filters_set_without_a_session_are_sent_when_one_starts() -> None:
    p = program("crash.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_exception_breakpoints", filters=["raised"])
        assert (await ask(c, "dap_run", program=str(p)))["line"] == p.line("raise")


@pytest.mark.parametrize(
    ("adapter", "name", "kind", "marker"),
    [
        ("debugpy", "kinds.py", "KeyError", "key"),
        ("debugpy", "kinds.py", "raised: LookupError", "key"),
        ("debugpy", "kinds.py", "CartError", "own"),
        ("debugpy", "kinds.py", "__main__.CartError", "own"),
        ("debugpy", "imports_errors.py", "CartError", "cart"),
        ("debugpy", "imports_errors.py", "uncaught: package.errors.CartError", "empty"),
        ("debugpy", "imports_errors.py", "json.JSONDecodeError", "json"),
        ("js-debug", "kinds.js", "TypeError", "type"),
        ("js-debug", "kinds.js", "CartError", "own"),
        ("js-debug", "kinds.js", "all: error.message == 'too much: 3'", "own"),
    ],
)
async def test_the_program_stops_at_exceptions_of_one_type_only(
    adapter: str, name: str, kind: str, marker: str
) -> None:
    needs(adapter)
    p = program(name)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), exception_filters=[kind])
        assert (stop["reason"], stop["line"]) == ("exception", p.line(marker))


async def test_an_uncaught_error_of_a_library_tells_where_it_was_raised(tmp_path: Path) -> None:
    script = tmp_path / "reads.py"
    script.write_text("import json\njson.loads('{')\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(script))
        assert stop["line"] == 2
        assert re.search(r"\n  raised in json/decoder.py:\d+ raw_decode$", stop["exception"])


async def test_a_type_that_no_exception_of_the_program_had_is_told_at_its_end() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        p = program("kinds.py")
        end = await ask(c, "dap_run", program=str(p), exception_filters=["CartEror", "OSError"])
        assert end["state"] == "ended"
        assert end["notes"] == [
            "exception filter `CartEror` failed: no class with this name was found"
        ]


async def test_a_type_that_is_wanted_without_a_session_holds_for_the_next_one() -> None:
    p = program("kinds.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_exception_breakpoints", filters=["KeyError"])
        assert (await ask(c, "dap_run", program=str(p)))["line"] == p.line("key")
        # And can be another one from here on.
        await read(c, "dap_set_exception_breakpoints", filters=[])
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_members_of_a_group_have_frames_and_an_error_without_a_message_has_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "group.py").write_text(
        "def fail(n):\n    limit = n * 10\n    raise ValueError(limit)\n\n\nfound = []\nfor n in (1, 2):\n    try:\n"
        "        fail(n)\n    except ValueError as error:\n        found.append(error)\n"
        "raise ExceptionGroup('both', found)\n"
    )
    (tmp_path / "cause.py").write_text(
        "try:\n    int('x')\nexcept ValueError as error:\n    raise RuntimeError from error\n"
    )
    (tmp_path / "ends.py").write_text("class Done(SystemExit):\n    pass\n\n\nraise Done(0)\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="group.py")
        frames = (await ask(c, "dap_stacktrace"))["frames"]
        members = [each for each in frames if each["function"] == "fail"]
        assert [each["line"] for each in members] == [3, 3]
        held = await ask(c, "dap_variables", frame_id=members[-1]["frame_id"])
        assert {"name": "limit", "value": "20", "type": "int"} in held["variables"]
        stop = await ask(c, "dap_run", program="cause.py", fresh=True)
        assert stop["exception"] == "RuntimeError"
        assert (await ask(c, "dap_run", program="ends.py", fresh=True))["state"] == "ended"
