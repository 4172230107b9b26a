"""What a Neovim runs when the core attaches to it."""

from __future__ import annotations

from typing import Final

# A Neovim without the plugin gets dapeer's, until it ends.
ATTACH: Final = """
local folder, channel, opts = ...
if not pcall(require, 'dapeer.core.attach') then vim.opt.runtimepath:append(folder) end
return require('dapeer.core.attach').attach(channel, opts)
"""
