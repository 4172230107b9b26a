-- Runs nvim-dap's own specs inside this Neovim, with dapeer's plugin and a core: `nvim -l` in a clone.
-- busted and what it needs is Debian's lua-busted, for Lua 5.1.
local given = vim.json.decode(vim.env.DAPEER_TEST_GIVEN)

package.path = '/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;' .. package.path
local compiled = vim.fn.glob('/usr/lib/*/lua/5.1', false, true)[1]
package.cpath = (compiled or '') .. '/?.so;' .. package.cpath
package.path = './lua/?.lua;./lua/?/init.lua;./?.lua;' .. package.path
vim.opt.runtimepath:prepend(vim.fn.getcwd())
vim.cmd.runtime('plugin/dap.lua')

vim.opt.runtimepath:prepend(given.root)
vim.cmd.runtime('plugin/dapeer.lua')
require('dapeer').setup({ bridge = { command = given.command } })
vim.fn.serverstart()
require('dapeer').start()
assert(
  vim.wait(30000, function()
    return #require('dapeer.rpc').attached() > 0
  end),
  'no core has attached itself'
)

_G.arg = { [0] = 'busted', '--ignore-lua', '-o', 'plainTerminal', unpack(given.specs) }
require('busted.runner')({ standalone = false })
