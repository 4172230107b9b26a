"""The plugin as a person meets it: setup, commands, help, health."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness import has_all
from tests.neovim.editor import Editor, neovim, nvim_dap
from tests.neovim.joint import together
from tests.neovim.wire import NeovimError
from tests.programs import ROOT, program
from tests.real.software import package

HELP = (ROOT / "doc" / "dapeer.txt").read_text(encoding="utf-8")

# On a screen that is wide enough for them: a warning is one line.
WARNED = """
vim.o.columns = 2000
vim.g.warnings = {}
vim.notify = function(text) vim.g.warnings = vim.list_extend(vim.g.warnings, { text }) end
"""
CORE = {"command": [sys.executable, "-m", "dapeer"]}


async def setup(editor: Editor, options: str) -> list[str]:
    """Call setup with a Lua table; return the warnings that it gave."""
    await editor.lua("vim.g.warnings = {}")
    await editor.lua(f"require('dapeer').setup({options})")
    return await editor.lua("return vim.g.warnings")


async def in_force(editor: Editor, option: str) -> object:
    return await editor.lua(f"return require('dapeer.config').get().{option}")


async def shown(editor: Editor, command: str) -> list[str]:
    """Return the text of the window in which a command puts the person."""
    await editor.lua("vim.cmd(...)", command)
    return await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")


async def completed(editor: Editor, line: str) -> list[str]:
    return await editor.lua("return vim.fn.getcompletion(..., 'cmdline')", line)


async def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    loaded = """
      local names = vim.tbl_filter(function(name) return name:match('^dap') end, vim.tbl_keys(package.loaded))
      table.sort(names)
      return names
    """
    after_setup = [
        "dapeer",
        "dapeer.config",
        "dapeer.core.knock",
        "dapeer.kept",
        "dapeer.needs",
        "dapeer.nvim_dap",
        "dapeer.nvim_dap.internals",
        "dapeer.nvim_dap.internals.frames",
        "dapeer.nvim_dap.internals.guards",
        "dapeer.nvim_dap.internals.loading",
        "dapeer.nvim_dap.internals.places",
        "dapeer.nvim_dap.internals.terminals",
    ]
    async with neovim(tmp_path, dap=False) as editor:
        assert await editor.lua("return vim.fn.exists(':Dapeer')") == 2
        assert await editor.lua(loaded) == []
    async with neovim(tmp_path, dap=False, setup={}) as editor:
        assert await editor.lua(loaded) == after_setup
        assert not await editor.lua("return require('dapeer').is_running()")
        assert await editor.lua(loaded) == after_setup


async def test_the_first_require_of_nvim_dap_loads_three_modules_more(tmp_path: Path) -> None:
    loads = """
      local before, new = vim.tbl_keys(package.loaded), {}
      require('dap')
      for name in pairs(package.loaded) do
        if not vim.list_contains(before, name) then table.insert(new, name) end
      end
      return new
    """
    rc = f"vim.opt.rtp:append('{nvim_dap()}')"
    async with neovim(tmp_path, dap=False, rc=rc) as editor:
        alone = {*await editor.lua(loads)}
    async with neovim(tmp_path, dap=False, rc=rc, setup={}) as editor:
        more = {*await editor.lua(loads)} - alone
    assert more == {"dap.breakpoints", "dapeer.nvim_dap.breakpoints", "dapeer.rpc"}


async def test_what_is_wrong_with_the_options_is_told_once_and_breaks_nothing(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, dap=False, rc=WARNED) as editor:
        [warning] = await setup(
            editor,
            "{ brige = {}, notify = 'yes', bridge = { port = 1.5, prot = 1, log_level = 'info' } }",
        )
        assert warning.startswith("dapeer: setup: `bridge.port` must be an integer from 0 to 65535")
        assert "`notify` must be boolean" in warning
        assert "unknown option `bridge.prot` (known: bridge.command, bridge.log_file," in warning
        assert "unknown option `brige` (known: approve, auto_start, bridge, " in warning
        assert await in_force(editor, "bridge") == {
            "port": 0,
            "log_level": "info",
            "tool_timeout": 300000,
        }
        assert await setup(editor, "{ notify = 'yes', brige = {} }") == []
        [warning] = await setup(editor, "{ approve = true, bridge = { command = {} } }")
        assert "`approve` must be a table" in warning
        assert "`bridge.command` must be a command" in warning
        for nothing in ("'x'", "{ 1 }"):
            assert "unknown option" in (await setup(editor, nothing))[0]
        assert await setup(editor, "") == []


async def test_a_second_setup_changes_only_what_it_names(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=WARNED) as editor:
        assert await setup(editor, "{ notify = true, bridge = { port = 4711 }, tap = false }") == []
        assert await setup(editor, "{ tap = true, bridge = { log_level = 'warn' } }") == []
        assert [await in_force(editor, name) for name in ("notify", "tap", "bridge.port")] == [
            True,
            True,
            4711,
        ]


async def test_tools_in_lua_are_kept_by_name_and_faults_are_named(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False) as editor:
        found: Any = await editor.lua("""
          local dapeer = require('dapeer')
          local function tool(name, description)
            return { name = name, description = description, execute = function() end }
          end
          dapeer.register(tool('two', 'old'))
          dapeer.register(tool('two', 'new'))
          dapeer.register(tool('one', 'first'))
          local function names()
            return vim.iter(dapeer.list_tools()):filter(function(t) return not t.group end):map(function(t)
              return t.name .. ' ' .. t.description
            end):totable()
          end
          return { names(), dapeer.unregister('two'), dapeer.unregister('two'), names() }
        """)
        assert found == [["one first", "two new"], True, False, ["one first"]]
        for tool, fault in {
            "nil": "A tool is a table",
            "{ name = 'a b' }": "A tool's name is",
            "{ name = 'a' }": "The tool a needs a description",
            "{ name = 'a', description = 'b' }": "needs execute = function",
        }.items():
            with pytest.raises(NeovimError, match=fault):
                await editor.lua(f"require('dapeer').register({tool})")


async def test_the_command_completes_and_says_what_there_is(tmp_path: Path) -> None:
    names = [
        "accept",
        "allow",
        "answer",
        "claude",
        "deny",
        "diffs",
        "follow",
        "live",
        "log",
        "pause",
        "reject",
        "restart",
        "resume",
        "start",
        "status",
        "stop",
    ]
    async with neovim(tmp_path, dap=False, rc=WARNED) as editor:
        assert await completed(editor, "Dapeer ") == names
        assert await completed(editor, "silent Dapeer st") == ["start", "status", "stop"]
        assert await completed(editor, "Dapeer log ") == []
        assert await completed(editor, "Dapeer allow ") == ["session"]
        assert await completed(editor, "Dapeer allow session ") == []
        await editor.lua("vim.o.columns = 80")
        for wrong in ("begin", "deny now", "status extra", "STATUS", "status|echo 5"):
            await editor.lua("vim.cmd('Dapeer ' .. ...)", wrong)
            (said,) = await editor.lua("local all = vim.g.warnings vim.g.warnings = {} return all")
            assert said.startswith(f"dapeer: there is no :Dapeer {wrong}; there is: accept, allow")
            # A longer line would make Neovim wait for a key.
            assert len(said) <= await editor.lua("return vim.v.echospace")
        said = await editor.lua("return vim.api.nvim_exec2('Dapeer', { output = true }).output")
        assert said == "dapeer: stopped"
        for name in names:
            assert f"*:Dapeer-{name}*" in HELP


async def test_the_help_has_valid_tags_and_names_every_option(tmp_path: Path) -> None:
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "dapeer.txt").write_text(HELP, encoding="utf-8")
    async with neovim(tmp_path, dap=False) as editor:
        await editor.lua("vim.cmd.helptags(...)", str(tmp_path / "doc"))
        names = await editor.lua("return vim.tbl_keys(require('dapeer'))")
        tops = await editor.lua("return vim.tbl_keys(require('dapeer.config').get())")
        await editor.lua("vim.opt.runtimepath:prepend(...)", str(tmp_path))
        text = "\n".join(await shown(editor, "help dapeer"))
    for name in names:
        assert name.startswith("_") or f"*dapeer.{name}()*" in text
    for option in tops:
        assert f"{option} = " in text


async def test_the_help_is_found_without_a_plugin_manager(tmp_path: Path) -> None:
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "dapeer.txt").write_text(HELP, encoding="utf-8")
    async with neovim(tmp_path, dap=False) as editor:
        await editor.lua("vim.cmd.helptags(...)", str(tmp_path / "doc"))
        # nvim --clean -es -c 'helptags doc' -c q
        assert (ROOT / "doc" / "tags").read_text() == (tmp_path / "doc" / "tags").read_text()
        assert "*dapeer.txt*" in "\n".join(await shown(editor, "help dapeer"))


async def test_without_a_core_and_without_uv_one_sentence_says_what_to_install(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "clone"
    for folder in ("lua", "plugin"):
        shutil.copytree(ROOT / folder, copy / folder)
    shutil.copy(ROOT / "pyproject.toml", copy)
    rc = f"vim.opt.runtimepath:remove({str(ROOT)!r}) vim.opt.runtimepath:prepend({str(copy)!r})"
    async with neovim(tmp_path, dap=False, rc=rc, setup={}, environment={"PATH": ""}) as editor:
        await editor.lua("pcall(require('dapeer').start)")
        failure = await editor.lua("return require('dapeer').status().failure")
    assert has_all(
        failure, "dapeer is not on your PATH", copy, "pipx install uv", "bridge = { command"
    )


@pytest.mark.parametrize(
    "command", ["Dapeer start", "lua require('dapeer').setup{}", "checkhealth dapeer"]
)
def test_a_neovim_that_is_too_old_is_told_so_in_one_sentence(tmp_path: Path, command: str) -> None:
    old = package("neovim")
    version = subprocess.check_output([old, "--version"], text=True).split()[1]
    if not re.match(r"v0\.[0-9]\.", version):
        pytest.skip("needs a Neovim before 0.10, which Debian 12 has: apt-get install neovim")
    start = [old, "--clean", "--headless", "-u", "NONE", "--cmd", f"set runtimepath^={ROOT}"]
    steps = [
        "runtime plugin/dapeer.lua",
        command,
        "if &ft == 'checkhealth' | %print | endif",
        "qa!",
    ]
    words = [word for step in steps for word in ("-c", step)]
    told = subprocess.run(
        [*start, *words], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    sentence = f"dapeer needs Neovim 0.10 or newer; this is NVIM {version}. Install a newer Neovim."
    assert sentence in told.stderr + told.stdout
    assert "stack traceback" not in told.stderr


async def test_the_health_report_tells_what_is_there(tmp_path: Path) -> None:
    async with neovim(tmp_path, setup={"bridge": CORE}) as editor:
        report = "\n".join(await shown(editor, "checkhealth dapeer"))
        summary = await editor.lua("return require('dapeer').status().summary")
    assert "ERROR" not in report
    for line in (
        "OK Neovim 0.",
        f"OK dapeer 0.1.0: `{sys.executable} -m dapeer`",
        "Python on PATH: ",
        "- stopped",
        f"- {summary}",
        "0 core(s) attached",
        "OK nvim-dap; its sessions answer the assistant also while",
        "In force: {",
    ):
        assert line in report


async def test_the_health_report_warns_of_a_session_that_is_heard_by_listeners_only(
    tmp_path: Path,
) -> None:
    loop = program("loop.py")
    async with together(tmp_path, {"tap": False}) as (_, person):
        await person.breaks_at(loop.source, loop.line("inner"))
        await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        report = "\n".join(await shown(person.editor, "checkhealth dapeer"))
        status = await person.editor.lua("return require('dapeer').status()")
    assert "1 running session(s) do not answer while Neovim waits for a key" in report
    assert "1 core(s) attached" in report
    assert status["summary"] in report
    assert "is attached" in status["summary"]


async def test_the_health_report_tells_what_is_missing(tmp_path: Path) -> None:
    options = {"bridge": {"command": ["/no/such/dapeer"]}, "oops": 1}
    async with neovim(tmp_path, dap=False, rc=WARNED, setup=options) as editor:
        await editor.lua("require('dapeer').start()")
        report = "\n".join(await shown(editor, "checkhealth dapeer"))
        warnings = await editor.lua("return vim.g.warnings")
    for line in (
        "ERROR `/no/such/dapeer` does not run: ENOENT",
        "ERROR The core cannot be started: ENOENT",
        "WARNING nvim-dap is not installed",
        "WARNING setup: unknown option `oops`",
    ):
        assert line in report
    assert len(warnings) == 2
