"""In a copy of other software that has changed, `dapeer doctor` names the patches that are off, and a session says so."""

import asyncio
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dapeer.adapters.choice.detection import detect
from dapeer.cli.doctor import rows_of_nvim_dap, rows_off
from dapeer.cli.main import main
from tests.harness import ask, client, read
from tests.languages import named, program_of, ready
from tests.mutation.mutants import Mutant
from tests.mutation.targets import Target
from tests.neovim.editor import copy_of_nvim_dap
from tests.processes import LIMIT

Setting = Callable[[str, str], None]
"""Sets an environment variable."""


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def first_on_path(folder: Path, name: str, *arguments: str) -> str:
    """Make a script that runs a program with more arguments; return a PATH that begins with it."""
    real = shutil.which(name)
    assert real is not None
    script = folder / name
    words = " ".join(f"'{each}'" for each in arguments)
    script.write_text(f'#!/bin/sh\nexec {real} {words} "$@"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def change_ruby(folder: Path, set_variable: Setting) -> None:
    """Have one method of Ruby's debugger take one more argument."""
    asks = "s = Gem::Specification.find_by_name('debug'); puts s.full_gem_path, s.loaded_from, s.extension_dir, s.extensions_dir"
    told = subprocess.run(["ruby", "-e", asks], capture_output=True, text=True, check=True)
    gem, specification, extension, extensions = map(Path, told.stdout.split())
    copy = folder / "gems" / gem.name
    shutil.copytree(gem, copy)
    shutil.copytree(extension, folder / "extensions" / "/".join(extensions.parts[-2:]) / gem.name)
    (folder / "specifications").mkdir()
    shutil.copy(specification, folder / "specifications")
    edit(copy / "lib/debug/server_dap.rb", "def process_dap args", "def process_dap args, more = 1")
    set_variable("GEM_HOME", str(folder))
    set_variable("GEM_PATH", str(folder))


def change_perl(folder: Path, set_variable: Setting) -> None:
    """Have the function by which Perl::LanguageServer opens its port take one more argument."""
    asks = "print $INC{'Perl/LanguageServer.pm'}"
    command = ["perl", "-MPerl::LanguageServer", "-e", asks]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    (folder / "Perl").mkdir()
    copy = folder / "Perl" / "LanguageServer.pm"
    shutil.copy(told.stdout, copy)
    more = "BEGIN { no warnings; my $s = \\&tcp_server; *tcp_server = sub ($$$;$$) { goto &$s } }"
    edit(copy, "use AnyEvent::Socket ;", f"use AnyEvent::Socket ; {more}")
    set_variable("PERL5LIB", str(folder))


def change_js_debug(folder: Path, set_variable: Setting) -> None:
    """Have js-debug add an option of Node.js by another method."""
    found = Path(detect(named("js-debug").definition).found["file"])
    copy = folder / "js-debug"
    shutil.copytree(found.parent, copy, copy_function=os.link)
    file = copy / found.name
    text = file.read_text(encoding="utf-8")
    file.unlink()
    file.write_text(
        text.replace('addNodeOption("--inspect-publish', 'addNodeOption(""+"--inspect-publish')
    )
    set_variable("JS_DEBUG_SERVER", str(file))


def change_gdb(folder: Path, set_variable: Setting) -> None:
    """Have one method of GDB's DAP take one more argument."""
    more = (
        "python import gdb.dap.varref as v; b = v.BaseReference; old = b.fetch_children; "
        "b.fetch_children = lambda self, start, count, more=1: old(self, start, count)"
    )
    set_variable("PATH", first_on_path(folder, "gdb", "-iex", more))


def change_debugpy(folder: Path, set_variable: Setting) -> None:
    target = Target("adapter/servers.py", "", "wait_for_connection")
    assert Mutant("one more parameter, optional", target).make(folder)
    set_variable("PYTHONPATH", str(folder))


CHANGES = [
    ("rdbg", "ruby-evaluation", change_ruby),
    ("perl", "perl-port-for-us", change_perl),
    ("js-debug", "js-inspector-address", change_js_debug),
    ("gdb", "gdb-values", change_gdb),
    ("debugpy", "replaced-processes", change_debugpy),
]


@pytest.mark.parametrize(("adapter", "row", "change"), CHANGES, ids=[each[0] for each in CHANGES])
async def test_a_patch_that_does_not_fit_is_named_by_the_doctor_and_once_by_the_session(
    adapter: str,
    row: str,
    change: Callable[[Path, Setting], None],
    build: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ready(named(adapter))
    change(tmp_path, monkeypatch.setenv)
    program = program_of(named(adapter), build)
    async with asyncio.timeout(LIMIT), client() as c:
        at = program.at("inner")
        stop = await ask(c, "dap_run", type=adapter, program=str(program), breakpoints=[at])
        assert stop["state"] == "stopped"
        told = f"dapeer's patch `{row}` is off: "
        assert [told in note for note in stop["notes"]].count(True) == 1
        assert told not in await read(c, "dap_step_over")
    assert await asyncio.to_thread(main, ["doctor", adapter]) == 0
    assert f"not changed: {row}: " in capsys.readouterr().out


OPEN = [
    ("debugpy", "ports-for-us", "Other users of this machine can connect to debugpy's ports"),
    ("debugpy", "port-for-children", "Whoever can connect to debugpy's port for child processes"),
    ("debugpy", "no-token", "The access token of a debugged program is on a command line"),
    ("perl", "perl-port-for-us", "Other users of this machine can connect to the port"),
    ("js-debug", "js-inspector-address", "Other users of this machine can learn the address"),
]


@pytest.mark.parametrize(("adapter", "row", "lost"), OPEN, ids=[each[1] for each in OPEN])
async def test_a_start_says_what_others_can_do_where_nothing_keeps_them_out(
    adapter: str, row: str, lost: str, build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(named(adapter))
    monkeypatch.setenv("DAPEER_PATCHES", f"-{row}")
    program = program_of(named(adapter), build)
    async with asyncio.timeout(LIMIT), client() as c:
        at = program.at("inner")
        stop = await ask(c, "dap_run", type=adapter, program=str(program), breakpoints=[at])
        [told] = [note for note in stop["notes"] if note.startswith("dapeer's patch")]
        assert told.startswith(f"dapeer's patch `{row}` is off: {lost}")
        assert told.endswith("(switched off by DAPEER_PATCHES)")


def test_a_place_of_nvim_dap_that_has_changed_is_named_by_the_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copy_of_nvim_dap(tmp_path)
    edit(copy / "lua/dap/breakpoints.lua", "function M.clear", "function M.clear_all")
    monkeypatch.setenv("DAPEER_NVIM_DAP", str(copy))
    found = [str(each) for each in rows_off("nvim-dap", rows_of_nvim_dap()[0])]
    assert len(found) == 1
    assert "not changed: nvim-breakpoints: The assistant sees Neovim's breakpoints only" in found[0]


NO_RACE = "-ruby-start -ruby-end -ruby-evaluation -ruby-exits -ruby-tests -ruby-postmortem -ruby-bare-objects -ruby-children"
"""Without the row `ruby-requests` version 1.4 of Ruby's debugger sometimes misses a start."""
WITHOUT = {
    "rdbg": NO_RACE, "perl": "off", "bash-dap": "off", "js-debug": "off", "gdb": "off", "lldb-dap": "off", "debugpy": "off",
}  # fmt: skip


@pytest.mark.parametrize("adapter", WITHOUT)
async def test_a_program_is_debugged_without_any_patch(
    adapter: str, build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ready(named(adapter))
    monkeypatch.setenv("DAPEER_PATCHES", WITHOUT[adapter])
    program = program_of(named(adapter), build)
    async with asyncio.timeout(LIMIT), client() as c:
        at = program.at("inner")
        stop = await ask(c, "dap_run", type=adapter, program=str(program), breakpoints=[at])
        assert stop["state"] == "stopped"
    await asyncio.to_thread(main, ["doctor", adapter])
    said = capsys.readouterr().out
    assert "not changed: " in said
    assert said.count("not changed: ") == said.count("(switched off by DAPEER_PATCHES)")
