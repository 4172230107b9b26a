"""What `dap_run` takes, and what it says when it cannot use it."""

import asyncio
import gc
import sys
import venv
from pathlib import Path

import pytest

from tests.harness import (
    FAKE_PROGRAM,
    ask,
    call,
    client,
    data,
    evaluate,
    fake,
    needs,
    printed,
    read,
    refusal,
    text,
)
from tests.processes import LIMIT, process_gone
from tests.programs import PROGRAMS, copied, program


async def test_arguments_directory_and_environment_reach_the_program(tmp_path: Path) -> None:
    p = program("surroundings.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p), args=["one", "two words"], cwd=str(tmp_path),
            env={"GREETING": "żółw"}, breakpoints=[p.at("look")],
        )  # fmt: skip
        assert stop["locals"]["arguments"] == "['one', 'two words']"
        assert stop["locals"]["directory"] == repr(str(tmp_path))
        assert stop["locals"]["greeting"] == "'żółw'"


async def test_a_module_is_started_by_name() -> None:
    greeting = program("package/greeting.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", module="package", cwd=str(PROGRAMS), args=["ada"],
            breakpoints=[greeting.at("greet")],
        )  # fmt: skip
        assert (stop["file"], stop["locals"]["name"]) == (str(greeting), "'ada'")


async def test_code_is_started_without_a_file() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", code="print(6 * 7)")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert "42" in end["output"]


async def test_a_session_may_stop_on_entry() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(program("steps.py")), stop_on_entry=True)
        assert (stop["state"], stop["reason"]) == ("stopped", "entry")


async def test_a_program_by_its_bare_name_is_found_and_told_where(tmp_path: Path) -> None:
    script = tmp_path / ".venv" / "bin" / "acme"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{sys.executable}\nprint('acme')\n")
    script.chmod(0o755)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="acme")
        assert (end["exit_code"], end["notes"][0]) == (0, f"acme is {script}")
        needs("gdb")
        end = await ask(c, "dap_run", program="env", args=["true"])
        assert "; env starts other programs, which " in end["notes"][0]


async def test_a_command_that_builds_a_program_and_starts_it_names_what_to_give(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    for name in ("go", "cargo", "project/go"):
        (tmp_path / name).write_text(f"#!{sys.executable}\nprint('own')\n")
    async with asyncio.timeout(LIMIT), client(tmp_path / "project") as c:
        told = await refusal(c, "dap_run", program=str(tmp_path / "go"), args=["run", "."])
        assert "`go run` builds a program" in told
        assert "a folder or a file, as `program`" in told
        args = ["+stable", "run", "--example", "demo"]
        told = await refusal(c, "dap_run", program=str(tmp_path / "cargo"), args=args)
        assert "examples are in target/debug/examples" in told
        # One of the project's own of this name is a program as any other.
        assert (await ask(c, "dap_run", program="go", args=["run"]))["output"] == "own\n"


async def test_a_relative_program_is_looked_for_in_the_given_directory() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program="exit3.py", cwd=str(PROGRAMS), exception_filters=[])
        assert end["exit_code"] == 3


async def test_a_relative_program_is_looked_for_in_the_project() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program="fixtures/programs/exit3.py", exception_filters=[])
        assert end["exit_code"] == 3


async def test_a_program_with_blanks_and_unicode_in_its_path(tmp_path: Path) -> None:
    folder = tmp_path / "mein größtes Projekt 🐢"
    folder.mkdir()
    p = copied("loop.py", folder)
    async with asyncio.timeout(LIMIT), client(folder) as c:
        result = await call(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert data(result)["file"] == str(p)
        assert "loop.py:" in text(result)


async def test_config_reaches_the_adapter_untouched(settings: Path) -> None:
    adapter = fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        config = {"justForMe": {"deep": [1, None, "x"]}, "stopOnEntry": "perhaps"}
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake", config=config)
        launch = next(r for r in adapter.requests() if r["command"] == "launch")
        assert launch["arguments"]["justForMe"] == {"deep": [1, None, "x"]}
        assert launch["arguments"]["stopOnEntry"] == "perhaps"


async def test_the_adapter_is_guessed_from_the_program(settings: Path) -> None:
    fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM)
        assert "fake" in await read(c, "dap_status")


async def test_a_start_that_does_not_wait_returns_at_once_and_loses_nothing() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        started = await ask(
            c, "dap_run", program=str(p), breakpoints=[p.at("inner")], wait_until_paused=False
        )
        assert started["state"] in ("starting", "running", "stopped")
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["state"], stop["line"]) == ("stopped", p.line("inner"))


async def test_a_time_out_is_a_result_and_waiting_again_loses_nothing() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(program("endless_loop.py")), timeout_ms=3000)
        assert data(result)["state"] == "running"
        assert text(result).startswith("Still running")
        result = await call(c, "dap_wait_until_paused", timeout_ms=10)
        assert data(result)["state"] == "running"
        stop = await ask(c, "dap_pause")
        assert stop["state"] == "stopped"


async def test_a_program_that_ends_at_once_is_told_as_ended() -> None:
    """Pitfall 12: a program that is over before anybody looks."""
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(program("quick.py")))
        assert (end["state"], end["exit_code"]) == ("ended", 0)


async def test_the_focus_moves_to_the_new_session_and_its_name_is_told() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("quick.py")), name="first")
        await ask(c, "dap_run", program=str(program("steps.py")), name="second", stop_on_entry=True)
        status = await read(c, "dap_status")
        assert "first" in status
        assert "second" in status
        assert (await ask(c, "dap_snapshot"))["session_id"] == 2


# What cannot be used.


async def test_a_missing_program_is_refused_and_named(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.py"
    async with asyncio.timeout(LIMIT), client() as c:
        assert str(missing) in await refusal(c, "dap_run", program=str(missing))
        assert (await ask(c, "dap_status"))["sessions"] == []


async def test_a_directory_is_no_program(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=str(tmp_path), type="python")
        assert str(tmp_path) in message
        assert "directory" in message


async def test_a_directory_that_does_not_exist_is_refused_and_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere")
    async with asyncio.timeout(LIMIT), client() as c:
        assert missing in await refusal(c, "dap_run", program=str(program("loop.py")), cwd=missing)


async def test_a_syntax_error_is_told_with_its_traceback() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(program("syntax_error.py")))
        end = data(result)
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        assert "SyntaxError" in end["output"]
        assert "SyntaxError" in text(result)


async def test_a_missing_module_is_told_with_its_name() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", module="no_such_module_anywhere")
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        assert "no_such_module_anywhere" in end["output"]


async def test_a_failing_import_stops_or_ends_with_its_cause() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(program("import_error.py")))
        assert "no_such_module_anywhere" in text(result)


@pytest.mark.parametrize("python", ["/nowhere/python", "no-such-python-at-all"])
async def test_a_bad_interpreter_is_refused_and_named(python: str) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=str(program("loop.py")), python=python)
        assert python in message


async def test_a_file_that_is_no_interpreter_is_refused_and_named(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("not a program")
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=str(program("loop.py")), python=str(python))
        assert str(python) in message


async def test_the_program_runs_in_the_given_interpreter_without_debugpy_in_it(
    tmp_path: Path,
) -> None:
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", code="import sys; print(sys.prefix)", python=str(python))
        assert str(tmp_path / "env") in end["output"]


async def test_the_environment_of_the_project_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    venv.create(tmp_path / ".venv", with_pip=False, symlinks=True)
    p = tmp_path / "which.py"
    p.write_text("import sys; print(sys.prefix)")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p))
        assert str(tmp_path / ".venv") in end["output"]


async def test_an_unknown_type_is_refused_and_the_known_ones_are_listed() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=str(program("loop.py")), type="cobol")
        assert "cobol" in message
        assert "debugpy" in message


async def test_a_program_of_no_known_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.xyz"
    path.write_text("nothing to run")
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=str(path))
        assert "debugpy" in message


async def test_c_source_is_refused_with_a_hint_to_compile_it() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=str(program("loop.c")))
        assert "ompile" in message


async def test_nothing_to_run_is_refused() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await refusal(c, "dap_run")
        await refusal(c, "dap_run", type="python")


async def test_two_things_to_run_are_refused() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=str(program("loop.py")), module="package")
        assert "module" in message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"programm": "x.py"}, "programm"),
        ({"program": 7}, "program"),
        ({"program": "x.py", "args": {"a": 1}}, "args"),
        ({"program": "x.py", "request": "start"}, "request"),
        ({"program": "x.py", "timeout_ms": "soon"}, "timeout_ms"),
        ({"program": "x.py", "timeout_ms": -1}, "timeout_ms"),
        ({"program": "x.py", "breakpoints": [{"line": 3}]}, "filename"),
        ({"program": "x.py", "breakpoints": [{"filename": "x.py", "line": 0}]}, "line"),
        ({"program": "x.py", "breakpoints": [{"filename": "x.py", "line": "x"}]}, "line"),
        ({"program": "x.py", "breakpoints": [{"filename": "x.py", "line": 1, "if": 1}]}, "if"),
        ({"program": "x.py", "env": {"A": [1]}}, "env"),
        ({"program": "x.py", "config": [1]}, "config"),
    ],
)
async def test_wrong_arguments_are_refused_by_name_before_anything_happens(
    arguments: dict[str, object], named: str
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        assert named in await refusal(c, "dap_run", **arguments)
        assert (await ask(c, "dap_status"))["sessions"] == []


async def test_lists_and_objects_may_come_as_json_texts() -> None:
    p = program("surroundings.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p), args='["a", "b"]', env='{"GREETING": "hi"}',
            breakpoints=f'[{{"filename": "{p.source}", "line": {p.line("look")}}}]',
        )  # fmt: skip
        assert stop["locals"]["arguments"] == "['a', 'b']"


NOT_INSTALLED = """
id = "cobol"
extensions = [".cob"]
adapter_id = "cobol"
detect = { all = [{ executable = "no-such-cobol-adapter" }] }
install = [{ manager = "pip", command = "pip install no-such-cobol-adapter" }]
transport = { kind = "stdio", command = ["${executable}"] }
launch = { program = "${program}" }
"""


async def test_an_adapter_that_is_not_installed_is_named_with_how_to_get_it(
    settings: Path, tmp_path: Path
) -> None:
    folder = settings / "dapeer" / "adapters"
    folder.mkdir(parents=True)
    (folder / "cobol.toml").write_text(NOT_INSTALLED)
    path = tmp_path / "payroll.cob"
    path.write_text("STOP RUN.")
    async with asyncio.timeout(LIMIT), client() as c:
        for told in (await read(c, "dap_adapters"), await refusal(c, "dap_run", program=str(path))):
            assert "cobol" in told
            assert "dapeer adapters install cobol" in told


async def test_a_definition_of_the_user_wins_over_ours(settings: Path) -> None:
    adapter = fake(settings, name="debugpy")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="debugpy")
        assert "launch" in adapter.commands()


async def test_a_program_is_restarted_with_what_the_file_says_now(tmp_path: Path) -> None:
    """Pitfall 25: restart after an edit."""
    p = copied("steps.py", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        first = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("print")])
        assert first["locals"]["answer"] == "42"
        p.source.write_text(p.source.read_text().replace("twice(21)", "twice(50)"))
        again = await ask(c, "dap_restart")
        assert (again["state"], again["locals"]["answer"]) == ("stopped", "100")
        assert again["line"] == p.line("print")


async def test_an_ended_session_can_be_restarted() -> None:
    p = program("exit3.py")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(p), exception_filters=[])
        assert end["exit_code"] == 3
        await ask(c, "dap_set_breakpoint", **p.at("exit"))
        assert (await ask(c, "dap_restart"))["line"] == p.line("exit")


async def test_a_running_program_is_restarted_and_the_old_one_is_gone() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("sleeper.py")), wait_until_paused=False)
        first = int((await printed(c, "\n")).split()[1])
        again = await ask(c, "dap_restart", timeout_ms=1)
        assert again["state"] in ("starting", "running")
        second = int((await printed(c, "\n")).split()[1])
        assert second != first
        await process_gone(first)


async def test_a_console_that_we_do_not_have_hangs_nobody() -> None:
    """Pitfall 15: debugpy asks its client to run the program in a terminal."""
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(
            c, "dap_run", program=str(program("exit3.py")), exception_filters=[],
            config={"console": "integratedTerminal"},
        )  # fmt: skip
        assert result.is_error or data(result)["exit_code"] == 3


async def test_three_python_sessions_start_at_once() -> None:
    """One adapter process cannot serve them."""
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        async with asyncio.TaskGroup() as tasks:
            runs = [
                tasks.create_task(ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")]))
                for _ in range(3)
            ]
        stops = [run.result() for run in runs]
        assert [each.get("line") for each in stops] == 3 * [p.line("inner")], stops
        assert {each["session_id"] for each in stops} == {1, 2, 3}


async def test_a_cmake_script_is_run_by_itself_not_the_project_around_it(tmp_path: Path) -> None:
    needs("cmake")
    (tmp_path / "CMakeLists.txt").write_text('message(FATAL_ERROR "configured")\n')
    script = tmp_path / "greet.cmake"
    script.write_text('set(name ${CMAKE_ARGV3})\nmessage("Hello ${name}")\n')
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program=str(script), args=["Ada"],
            breakpoints=[{"filename": str(script), "line": 2}],
        )  # fmt: skip
        assert stop["line"] == 2
        assert await evaluate(c, "name") == "Ada"
        end = await ask(c, "dap_continue")
        assert (end["exit_code"], end["output"]) == (0, "Hello Ada\n")


@pytest.mark.parametrize(
    "point", ["shop.py:2", {"file": "shop.py", "line": 2}, {"filename": "shop.py:2"}]
)
async def test_a_breakpoint_may_name_its_file_as_the_programs_folder_has_it(
    point: object, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "shop.py").write_text("x = 1\ny = x\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for breakpoints in ([point], point):
            stop = await ask(c, "dap_run", program="src/shop.py", breakpoints=breakpoints)
            assert (stop["reason"], stop["line"]) == ("breakpoint", 2)


async def test_a_wrong_exception_filter_leaves_nothing_that_was_never_awaited(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    (tmp_path / "shop.py").write_text("x = 1\ny = x\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [{"filename": "shop.py", "line": 2}, {"function": "f"}]
        told = await refusal(
            c, "dap_run", program="shop.py", breakpoints=points, exception_filters=["all"]
        )
        assert "has no exception filter 'all'" in told
    gc.collect()
    assert not [each for each in recwarn.list if "never awaited" in str(each.message)]
