-- The tests' Neovim: nvim-dap with an adapter for Python, what the test adds, and dapeer's plugin.
local given = vim.json.decode(vim.env.DAPEER_TEST_GIVEN, { luanil = { object = true } })

-- The file type plugin for Python asks for it, and looking for it takes seconds.
vim.g.loaded_python3_provider = 0

local function configure()
  if given.dap then
    require('person').adapters(given.python)
  end
  if given.rc then
    dofile(given.rc)
  end
  if given.setup then
    require('dapeer').setup(given.setup)
  end
end

local ok, failure = xpcall(configure, debug.traceback)
if not ok then
  -- A Neovim that starts half is of no use to a test.
  io.stderr:write(failure, '\n')
  vim.cmd('cquit')
end

vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    -- Neovim calls the test when it is ready, so that nobody has to look for its socket.
    vim.g.test_channel = vim.fn.sockconnect('pipe', given.test, { rpc = true })
  end,
})
