"""The command line for people: where to begin, names that are nearly right, data, completion."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from dapeer.adapters.choice.choice import require_definition
from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.cli.command_line import command_parser
from dapeer.cli.debugging import options, table
from dapeer.cli.install.arguments import target_of
from dapeer.cli.main import main
from tests.debugging.project import Shell, shell
from tests.processes import LIMIT

__all__ = ["shell"]

COLUMNS = 80


def test_dapeer_alone_shows_where_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^  dapeer (\w+)", out, re.MULTILINE) == ["demo", "install", "run", "doctor"]
    assert max(map(len, out.splitlines())) <= COLUMNS


@pytest.mark.parametrize(
    ("name", "adapter"),
    [
        ("python", "debugpy"), ("Python", "debugpy"), ("node", "js-debug"), ("js", "js-debug"), ("ts", "js-debug"),
        ("go", "delve"), ("java", "jdi"), ("ruby", "rdbg"),
    ],
)  # fmt: skip
def test_an_adapter_has_the_name_of_its_language(name: str, adapter: str) -> None:
    assert require_definition(load_all(shipped()), name).id == adapter


@pytest.mark.parametrize("name", ["c++", "C++", "cpp", "c", "rust"])
def test_native_languages_name_an_adapter_for_them(name: str) -> None:
    assert name.lower() in require_definition(load_all(shipped()), name).languages


@pytest.mark.parametrize("name", ["claude", "Claude", "claude-code", "Claude Code"])
def test_a_client_has_several_names(name: str) -> None:
    assert target_of(name) == "claude"


def test_lists_are_data_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adapters", "--json"]) == 0
    adapters = json.loads(capsys.readouterr().out)
    assert {"adapter": "debugpy", "ready": True}.items() <= next(
        each for each in adapters["adapters"] if each["adapter"] == "debugpy"
    ).items()
    assert main(["adapters", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == adapters


def test_help_has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    tool = "dap_run"
    parser = options.add_parser(options.single_parser, table.name_of(tool), tool)
    for help_text in (parser.format_help(), command_parser().format_help()):
        assert max(map(len, help_text.splitlines())) <= COLUMNS


def test_bash_completes_commands_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    assert main(["completion", "bash"]) == 0
    typed = [("dapeer", "ins"), ("dapeer", "run", "--stop")]
    asked = "".join(
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_dapeer; echo ${{COMPREPLY[@]}}\n"
        for words in typed
    )
    script = f"{capsys.readouterr().out}\n{asked}"
    done = subprocess.run([bash], input=script, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["install", "--stop-on-entry"], done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_completed_too(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "set-breakpoint" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_stdio_at_a_terminal_says_what_it_is_for(tmp_path: Path) -> None:
    person, terminal = pty.openpty()
    command = [sys.executable, "-m", "dapeer", "stdio", "--nvim", "none"]
    with subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as server:
        assert server.stderr is not None
        assert "is what an MCP client starts" in server.stderr.readline()
        os.close(terminal)
        os.close(person)
        server.wait(LIMIT)


def test_an_answer_at_a_terminal_has_colour_and_its_width(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shell.says("run", "shop.py", "-b", "shop.py:6")
    person, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 40))
    command = [sys.executable, "-m", "dapeer", "call", "dap_status"]
    # Readline, which pytest loads, has put $COLUMNS into the environment behind Python's back.
    subprocess.run(
        command, stdout=terminal, cwd=shell.folder, check=True, timeout=LIMIT, env={**os.environ}
    )
    seen = os.read(person, 4096).decode()
    os.close(terminal)
    os.close(person)
    assert "\x1b[1m1 shop.py" in seen, seen
    plain = re.sub(r"\x1b\[\d*m", "", seen)
    assert max(map(len, plain.splitlines())) <= 40 < len(shell.says("status").splitlines()[0])
