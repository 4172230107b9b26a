--- Opens the page that shows, in a browser, what programs collect.
local M = {}

---Readable by the person only.
local PRIVATE = tonumber('600', 8)

---Open the page of this Neovim's core.
---@return string? problem
function M.open()
  local core = require('dapeer.core.supervisor')
  local url, token = core.url(), core.token()
  if not url then
    return 'only a core that Neovim runs has a page: :Dapeer start'
  end
  -- Everybody on the machine can read a command line. So the browser gets the token by a file, which goes with Neovim.
  local path = vim.fn.tempname() .. '.html'
  local file, problem = vim.uv.fs_open(path, 'wx', PRIVATE)
  if not file then
    return 'cannot write ' .. problem
  end
  local page = url:gsub('/mcp$', '/live') .. (token and '#' .. token or '')
  vim.uv.fs_write(file, ('<meta http-equiv="refresh" content="0;url=%s">\n'):format(page))
  vim.uv.fs_close(file)
  local _, failed = vim.ui.open(path)
  return failed
end

return M
