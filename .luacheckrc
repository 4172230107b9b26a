-- What luacheck finds in Lua here; `python -m tools.lua_style` runs it.
std = 'luajit'
cache = false
-- Neovim's: what is assigned to `vim.bo` and the like is an option.
globals = { 'vim' }
-- Descriptions of tools, and annotations, are sentences.
max_line_length = false
-- What a callback is given, it need not use.
unused_args = false
exclude_files = { 'lua/dapeer/types.lua' }
