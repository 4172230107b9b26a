"""Commands as they are typed: what they print, their exit codes, and the server that stays between them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.debugging.project import Shell, shell
from tests.harness import needs
from tests.processes import LIMIT

__all__ = ["shell"]


def test_commands_one_after_the_other_debug_one_program(shell: Shell) -> None:
    first = shell.says("run", "shop.py", "-b", "shop.py:6", "--if", "price > 1")
    assert first.startswith("Stopped (breakpoint) at shop.py:6 in total\n")
    assert shell.says("eval", "amount", "price").startswith("amount = 1\nprice = 2\n")
    # Nothing counts as seen before: the second stop is as whole as the first.
    assert "prices = [1, 2, 3]" in shell.says("continue")
    assert "#1 <module> shop.py:11" in shell.says("stack")
    ended = shell.dapeer("continue")
    assert ended.returncode == 0
    assert "6" in ended.stdout
    assert ended.stderr == ""
    assert "[default]" in shell.says("status")


def test_a_program_gets_folder_and_environment_of_its_command(shell: Shell) -> None:
    shell.says("status")
    below = shell.folder / "below"
    below.mkdir()
    below.joinpath("here.py").write_text("import sys\nsys.path[0] = '..'\n" + SHOWN, "utf-8")
    done = Shell(below).dapeer("run", "here.py", "--", "a", "--b", env={"SHOP": "open"})
    assert f"{below} open ['a', '--b']" in done.stdout, done
    again = Shell(below).dapeer("restart", env={"SHOP": "closed"})
    assert f"{below} open ['a', '--b']" in again.stdout, again


SHOWN = "import os\nprint(os.getcwd(), os.environ.get('SHOP', '?'), sys.argv[1:])\n"


def test_each_at_behind_a_breakpoint_is_a_place_of_its_line(shell: Shell) -> None:
    needs("js-debug")
    bundle = "function f(a){return a+1};function g(b){return b*2};console.log(f(1),g(3))\n"
    shell.folder.joinpath("app.min.js").write_text(bundle, "utf-8")
    places = ["--at", "return a", "--collect", "a", "--at", "return b", "--collect", "b"]
    shown = shell.says("run", "app.min.js", "-b", "app.min.js:1", *places)
    first, second = (bundle.index(text) + 1 for text in ("return a", "return b"))
    assert f"#1 app.min.js:1:{first} a = 1" in shown
    assert f"#2 app.min.js:1:{second} b = 3" in shown
    assert "app.min.js:1:" in shell.says("remove-breakpoint", "app.min.js:1", "--at", "return a")
    assert shell.says("breakpoints").startswith(f"app.min.js:1:{second} ")


def test_an_expression_that_a_shell_has_cut_at_an_arrow_is_named(shell: Shell) -> None:
    for words in (["eval", "row-"], ["run", "a.c", "-b", "a.c:3", "--collect", "row-"]):
        refused = shell.dapeer(*words)
        assert refused.returncode == 1
        assert "`row-` is not complete: a shell reads `>` as a redirect." in refused.stderr
    assert "redirect" not in shell.dapeer("eval", "i--").stderr


def test_exit_codes_say_what_became_of_the_program(shell: Shell) -> None:
    assert shell.dapeer("run", "shop.py").returncode == 0
    assert shell.dapeer("run", "shop.py", "--exception-filters", "", "--", "fail").returncode == 3
    assert shell.dapeer("run", "shop.py", "--timeout-ms", "1", "--", "sleep").returncode == 124
    assert shell.dapeer("eval", "amount", "-s", "99").returncode == 1
    assert shell.dapeer("eval").returncode == 2
    wrong = shell.dapeer("stack", "-s", "99")
    assert (wrong.stdout, wrong.returncode) == ("", 1)
    assert "There is no session 99." in wrong.stderr


def test_data_is_what_structured_content_has(shell: Shell) -> None:
    shell.says("run", "shop.py", "-b", "shop.py:6")
    data = json.loads(shell.says("snapshot", "--json"))
    assert (data["line"], data["state"]) == (6, "stopped")
    assert json.loads(shell.says("call", "dap_status", "{}", "--json"))["focused"] == 1


def test_a_command_as_typed_is_run(shell: Shell) -> None:
    shell.folder.joinpath("test_shop.py").write_text("def test_it():\n    assert 0\n", "utf-8")
    done = shell.dapeer("run", "--", sys.executable, "-m", "pytest", "test_shop.py", "-k", "it")
    assert done.returncode in {0, 3}, done
    assert "AssertionError" in done.stdout, done


def test_colour_is_for_terminals_unless_it_is_asked_for(shell: Shell) -> None:
    shell.says("status")
    assert "\x1b[" not in shell.says("status")
    assert "\x1b[" in shell.says("status", "--color", "always")
    forced = {"FORCE_COLOR": "1"}
    assert "\x1b[" in shell.dapeer("status", env=forced).stdout
    assert "\x1b[" not in shell.dapeer("status", env={**forced, "NO_COLOR": "1"}).stdout


def test_answers_and_errors_name_commands(shell: Shell) -> None:
    assert shell.dapeer("eval", "amount").stderr == (
        "There is no debug session. Start one with dapeer run.\n"
    )
    shell.folder.joinpath("named.py").write_text("a = 'dap_run'\nprint('dap_run', a)\n", "utf-8")
    stop = shell.says("run", "named.py", "-b", "named.py:2")
    assert "print('dap_run', a)" in stop
    assert "a = 'dap_run'" in stop
    assert "dap_run dap_run" in shell.says("continue")
    assert shell.says("output").startswith("  dap_run dap_run\n")


def test_a_script_runs_in_the_foreground_and_leaves_no_server(tmp_path: Path) -> None:
    tmp_path.joinpath("shop.py").write_text("a = 1\nprint(a)\n", encoding="utf-8")
    shell = Shell(tmp_path)
    script = "import sys\nwith d.run('shop.py', breakpoints=['shop.py:2']) as s:\n    print(s.value('a') + 1, sys.argv[1:])\n"
    done = shell.dapeer("script", "-", "x", text=script)
    assert (done.stdout, done.returncode) == ("2 ['x']\n", 0), done
    failed = shell.dapeer("script", "-", text="d.nothing()")
    assert failed.returncode == 1
    assert failed.stderr.startswith("Traceback")
    assert "Nothing that commands have started runs here." in shell.says("end", "--all")


def test_a_command_loads_no_library_of_the_server(shell: Shell) -> None:
    shell.says("status")
    code = (
        "import sys; from dapeer.cli.main import main; main(['status']); "
        "print(*sorted({'mcp', 'pydantic', 'anyio', 'argparse', 'asyncio', 'pathlib', 'subprocess', 'typing'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, timeout=LIMIT, check=True, cwd=shell.folder,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "", done


def test_a_runtime_folder_may_have_any_length(
    shell: Shell, tmp_path_factory: pytest.TempPathFactory
) -> None:
    long = tmp_path_factory.mktemp("r" * 120)
    env = {"XDG_RUNTIME_DIR": str(long), "TMPDIR": str(long)}
    assert "Stopped" in shell.dapeer("run", "shop.py", "-b", "shop.py:6", env=env).stdout
    assert shell.dapeer("eval", "price", env=env).stdout.startswith("  1\n")
    assert shell.dapeer("end", "--all", env=env).returncode == 0
    assert not list(long.rglob("*.sock"))
