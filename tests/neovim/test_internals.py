"""What is used of nvim-dap's inside is checked, named, and told by `:checkhealth dapeer`."""

from pathlib import Path

from tests.neovim.editor import needs_nvim_dap, neovim

REPORT = """
  vim.cmd('checkhealth dapeer')
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
"""


@needs_nvim_dap
async def test_every_internal_of_nvim_dap_is_as_the_plugin_needs_it(tmp_path: Path) -> None:
    async with neovim(tmp_path, setup={}) as editor:
        report = "\n".join(await editor.lua("require('dap')\n" + REPORT))
        assert "is left alone" not in report
        assert "package.preload.dap" in report
        assert "Session._request_scopes" in report


@needs_nvim_dap
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
            "no function _request_scopes; effect: you do not see values that the assistant has"
            in report
        )
        assert (
            "no function clear; effect: the assistant sees your breakpoints only when the" in report
        )


@needs_nvim_dap
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
