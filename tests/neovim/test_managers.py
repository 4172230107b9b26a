"""The plugin as real plugin managers load it, by what docs/neovim.md says word for word."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.neovim.editor import NVIM, NVIM_DAP, installed, nvim_dap, version
from tests.neovims import NEOVIMS
from tests.processes import LIMIT
from tests.programs import ROOT

LAZY = installed("lazy.nvim", "DAPEER_LAZY")
MINI_DEPS = installed("mini.deps", "DAPEER_MINI_DEPS")

needs_lazy = pytest.mark.skipif(
    LAZY is None,
    reason="needs lazy.nvim: git clone https://github.com/folke/lazy.nvim "
    "~/.local/share/nvim/site/pack/dapeer/opt/lazy.nvim",
)

needs_mini_deps = pytest.mark.skipif(
    MINI_DEPS is None,
    reason="needs mini.deps: git clone https://github.com/nvim-mini/mini.deps "
    "~/.local/share/nvim/site/pack/dapeer/opt/mini.deps",
)

REPORT = """
vim.api.nvim_create_autocmd('VimEnter', { callback = function()
  vim.schedule(function()
    local found = { vim.fn.exists(':Dapeer'), tostring(package.loaded['dapeer.config'] ~= nil) }
    local messages = vim.api.nvim_exec2('messages', { output = true }).output
    io.stdout:write(table.concat(found, ' '), '\\n', messages)
    vim.cmd('qall!')
  end)
end })
"""


def of_the_page(manager: str, folder: Path) -> str:
    """Return what the page has a person give a plugin manager, for a folder of theirs."""
    page = (ROOT / "docs" / "neovim.md").read_text(encoding="utf-8")
    begin = rf"^{re.escape(manager)}[^\n]*:\n\n```lua\n"
    found = re.search(rf"{begin}(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert found
    return found[1].replace("/path/to/dapeer", str(folder))


def repositories() -> dict[str, str]:
    """Return variables by which git takes nvim-dap from this machine, where the page names GitHub."""
    given = {
        f"url.file://{NVIM_DAP}.insteadOf": "https://github.com/mfussenegger/nvim-dap",
        "safe.directory": "*",
    }
    named = {
        f"GIT_CONFIG_{what}_{n}": text
        for n, pair in enumerate(given.items())
        for what, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    return {**named, "GIT_CONFIG_COUNT": str(len(given))}


def neovim_with(tmp_path: Path, init: str, program: Path = NVIM) -> str:
    """Start Neovim with a person's configuration; return what it reports, and all that it prints."""
    folders = {name: tmp_path / name for name in ("config", "data", "state", "cache")}
    (folders["config"] / "nvim").mkdir(parents=True, exist_ok=True)
    (folders["config"] / "nvim" / "init.lua").write_text(init + REPORT, encoding="utf-8")
    done = subprocess.run(
        [program, "--headless", "-n"],
        env=os.environ
        | repositories()
        | {f"XDG_{name.upper()}_HOME": str(at) for name, at in folders.items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        check=True,
        cwd=tmp_path,
    )
    return done.stdout


def with_lazy(tmp_path: Path, spec: str) -> str:
    plugins = tmp_path / "data" / "nvim" / "lazy"
    for name, folder in {"lazy.nvim": LAZY, "nvim-dap": nvim_dap()}.items():
        # Not links, which it does not take for plugins.
        shutil.copytree(str(folder), plugins / name, ignore=shutil.ignore_patterns(".git"))
    return f"""
      vim.opt.rtp:prepend('{plugins / "lazy.nvim"}')
      require('lazy').setup({{ {spec} }}, {{ rocks = {{ enabled = false }} }})
    """


def linked(tmp_path: Path) -> None:
    """Put the link that `dapeer install nvim` makes."""
    start = tmp_path / "data" / "nvim" / "site" / "pack" / "dapeer" / "start"
    start.mkdir(parents=True)
    (start / "dapeer").symlink_to(ROOT, target_is_directory=True)


@needs_lazy
@pytest.mark.parametrize("clone", ["dapeer", "other"])
def test_lazy_nvim_takes_the_spec_of_the_page_without_a_word(tmp_path: Path, clone: str) -> None:
    folder = tmp_path / clone
    folder.symlink_to(ROOT, target_is_directory=True)
    init = with_lazy(tmp_path, of_the_page("lazy.nvim", folder))
    # At the first start it collects the specs that plugins have in a `lazy.lua`, and uses them from then on.
    for _ in range(2):
        assert neovim_with(tmp_path, init) == "2 true\n"


@needs_lazy
def test_lazy_nvim_takes_the_rest_of_a_spec_from_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "dapeer").symlink_to(ROOT, target_is_directory=True)
    init = with_lazy(tmp_path, f"{{ dir = '{tmp_path / 'dapeer'}' }}")
    for _ in range(2):
        assert neovim_with(tmp_path, init) == "2 true\n"


@needs_lazy
def test_setup_alone_defines_the_commands_beside_lazy_nvim(tmp_path: Path) -> None:
    linked(tmp_path)
    init = with_lazy(tmp_path, "{ 'mfussenegger/nvim-dap' }")
    assert neovim_with(tmp_path, f"{init}\nrequire('dapeer').setup({{}})") == "2 true\n"


def test_a_link_in_the_package_path_is_enough(tmp_path: Path) -> None:
    linked(tmp_path)
    assert neovim_with(tmp_path, "require('dapeer').setup({})") == "2 true\n"
    # Who does not call `setup` has the commands all the same.
    assert neovim_with(tmp_path, "") == "2 false\n"


def test_vim_pack_takes_what_the_page_says_and_says_nothing_at_later_starts(tmp_path: Path) -> None:
    # The wheel's Neovim may be older than it: CI's other one has it.
    newer = NEOVIMS / "0.12" / "nvim"
    program = NVIM if version() >= (0, 12) else newer
    if not program.exists():
        pytest.skip("needs Neovim 0.12: uv run python -m tests.neovims 0.12")
    nvim_dap()
    init = of_the_page("vim.pack", ROOT)
    assert "2 true" in neovim_with(tmp_path, init, program)
    assert neovim_with(tmp_path, init, program) == "2 true\n"


@needs_mini_deps
def test_mini_deps_takes_what_the_page_says_and_says_nothing_at_later_starts(
    tmp_path: Path,
) -> None:
    nvim_dap()
    own = f"vim.opt.rtp:prepend('{MINI_DEPS}')\nrequire('mini.deps').setup()\n"
    init = own + of_the_page("mini.deps", ROOT)
    assert "2 true" in neovim_with(tmp_path, init)
    assert neovim_with(tmp_path, init) == "2 true\n"
