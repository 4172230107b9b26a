"""What is used of nvim-dap's inside is checked, named, and told by `:checkhealth dapeer`."""

from pathlib import Path

import pytest

from tests.harness import ask, read
from tests.neovim.editor import neovim
from tests.neovim.joint import together
from tests.programs import program

REPORT = """
  vim.cmd('checkhealth dapeer')
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
"""


async def test_every_internal_of_nvim_dap_is_as_the_plugin_needs_it(tmp_path: Path) -> None:
    async with neovim(tmp_path, setup={}) as editor:
        report = "\n".join(await editor.lua("require('dap')\n" + REPORT))
        assert "is left alone" not in report
        assert "package.preload.dap" in report
        assert "Session._request_scopes" in report


async def test_an_internal_that_is_missing_is_named_with_what_is_lost(tmp_path: Path) -> None:
    async with neovim(tmp_path, setup={}) as editor:
        report = "\n".join(
            await editor.lua(
                """
              require('dap.breakpoints').clear = nil
              require('dap.session')._request_scopes = nil
              require('dap')
            """
                + REPORT
            )
        )
        assert (
            "no function _request_scopes; effect: Neovim does not show values that the assistant"
            in report
        )
        assert (
            "no function clear; effect: the assistant sees Neovim's breakpoints only when" in report
        )


async def test_an_nvim_dap_that_somebody_else_preloads_is_followed_too(tmp_path: Path) -> None:
    preload = """
      for name in pairs(package.loaded) do
        if name == 'dap' or vim.startswith(name, 'dap.') then package.loaded[name] = nil end
      end
      package.preload['dap'] = function()
        PRELOADED = true
        return dofile(vim.api.nvim_get_runtime_file('lua/dap.lua', false)[1])
      end
    """
    async with neovim(tmp_path, rc=preload, setup={}) as editor:
        seen = "return { PRELOADED, (require('dapeer.nvim_dap.tap').possible()) }"
        assert await editor.lua("require('dap')\n" + seen) == [True, True]


FAILS = "require('dapeer.nvim_dap.breakpoints').changed = function() error('no hearing') end"
CHANGED = "for _, each in ipairs({ 'dap.breakpoints' }) do require(each).clear = nil end"


@pytest.mark.parametrize(
    ("rc", "why"), [(FAILS, "no hearing"), (CHANGED, "there is no function clear")]
)
async def test_a_session_says_once_which_patch_of_nvim_dap_is_off_and_nvim_dap_goes_on(
    rc: str, why: str, tmp_path: Path
) -> None:
    loop = program("loop.py")
    stop = loop.line("inner_return")
    async with together(tmp_path, {}, rc=rc) as (c, person):
        await person.breaks_at(loop.source, stop)
        await person.run(loop)
        await person.sees_stop(stop)
        notes = (await ask(c, "dap_wait_until_paused"))["notes"]
        told = (
            "dapeer's patch `nvim-breakpoints` is off: The assistant sees Neovim's breakpoints only"
        )
        named = [note for note in notes if note.startswith(told)]
        assert [why in note for note in named] == [True], notes
        assert told not in await read(c, "dap_step_over")


async def test_a_session_of_neovim_is_debugged_without_any_patch_of_nvim_dap(
    tmp_path: Path,
) -> None:
    loop = program("loop.py")
    stop = loop.line("inner_return")
    off = {"DAPEER_PATCHES": "off"}
    async with together(tmp_path, {}, rc="require('dap')", environment=off) as (c, person):
        await person.breaks_at(loop.source, stop)
        await person.run(loop)
        await person.sees_stop(stop)
        assert (await ask(c, "dap_wait_until_paused"))["line"] == stop
        report = "\n".join(await person.editor.lua(REPORT))
        assert report.count("switched off by DAPEER_PATCHES") > 10
